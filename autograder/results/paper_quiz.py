"""``autograder sitting``: paper quizzes of half an hour, in versions, with the key.

They ask about right answers of the catalogs what `autograder check --ask` asks students
about their own. Each key comes from running the code on the paper.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from typing import NamedTuple

from autograder.checks.catalog import Catalog
from autograder.code_questions import Asked, questions
from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import at_least_one, describe
from autograder.release.validation import catalog_of
from autograder.results.templates import render
from autograder.text import lines_of, one_line

MINUTES, READING = 30, 3  # of a paper, and of a question
LEAST = 5  # questions of a paper


class Item(NamedTuple):
    """A question about code, and where the code comes from."""

    code: str
    asked: Asked
    source: str


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder sitting`."""
    describe(
        verb,
        "The paper may show right answers to the assignments, so hold the "
        "sitting after their deadlines.",
        "autograder sitting 01-means 02-roots --versions 6",
    )
    words = "folder names in solutions/"
    verb.add_argument("assignments", nargs="+", metavar="ASSIGNMENT", help=words)
    words = "number of versions, one for each row of the classroom (default: 2)"
    verb.add_argument("--versions", type=at_least_one, default=2, help=words)
    words = "number on the key, to print the same papers again (default: new)"
    verb.add_argument("--seed", type=int, help=words)
    words = "output folder (default: sitting/)"
    verb.add_argument("--output", type=Path, metavar="FOLDER", help=words)


def run(options: argparse.Namespace) -> None:
    """Write the papers and the key."""
    course = Course.find()
    # whoever has the repository could draw the same papers from a fixed seed
    drawn = random.SystemRandom().randrange(10**9)
    seed = drawn if options.seed is None else options.seed
    assignments = course.chosen(options.assignments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # changed lines divide by 0, and overflow
        papers = versions(assignments, seed, options.versions)
    folder = options.output or course.root / "sitting"
    names = ", ".join(assignment.name for assignment in assignments)
    for page in ("paper", "key"):
        path = folder / f"{page}.html"
        text = render(f"sitting-{page}.html", papers=papers, names=names, seed=seed)
        write_whole(path, text)
        print(f"wrote {one_line(str(path))}")
    most = len(papers[0])
    print(f"{len(papers)} versions of {MINUTES} minutes, {most} points; seed {seed}")


def versions(assignments: list[Assignment], seed: int, number: int) -> list[list[Item]]:
    """The questions of each version, all with the same number of them."""
    papers = []
    known = [found for one in assignments if (found := catalog_of(one.notebook))]
    for version in range(number):
        draw = Random(f"{seed}/{version}")
        turns = by_turns([about_catalog(catalog, draw) for catalog in known])
        papers.append(list(islice(turns, MINUTES // READING)))
    most = min(map(len, papers))
    if most < LEAST:
        listed = ", ".join(assignment.name for assignment in assignments)
        raise CourseError(
            f"There are {most} questions about {listed}, and a paper has at "
            f"least {LEAST}. Add assignments, or right answers to catalogs."
        )
    return [items[:most] for items in papers]


def about_catalog(catalog: Catalog, draw: Random) -> Iterator[Item]:
    """Questions about the right answers of a catalog; its exercises take turns."""
    names = draw.sample(list(catalog.entries), len(catalog.entries))
    return by_turns([about_exercise(catalog, name, draw) for name in names])


def about_exercise(catalog: Catalog, name: str, draw: Random) -> Iterator[Item]:
    """Questions about right answers to one exercise, each about another answer."""
    styles = catalog.entries[name].styles
    question = catalog.assignment.questions[name]
    for style in draw.sample(styles, len(styles)):
        code = style.code.strip("\n")
        seed = draw.randrange(10**6)
        if found := questions(question, code, catalog.prelude_names, seed):
            one = draw.choice(found)
            numbered = enumerate(lines_of(code), 1)
            text = one.text.replace("your code", "this code")
            code = "\n".join(f"{n:2}  {line}" for n, line in numbered)
            yield Item(code, replace(one, text=text), f"{style.id}, {one.kind}")


def by_turns(sources: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """One from each source, then another one, until all are used up."""
    return (item for turn in zip_longest(*sources) for item in turn if item)
