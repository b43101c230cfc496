"""``autograder sitting``: paper quizzes of half an hour, in versions, with the key."""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import at_least_one, describe
from autograder.release.validation import catalog_of
from autograder.results.templates import render
from autograder.sitting.items import (
    PREDICTION,
    READING,
    Item,
    code_questions,
    has_puzzles,
    of_same_worth,
    predictions,
    puzzle,
    puzzle_names,
)
from autograder.text import one_line

MINUTES = 30
MOST_PUZZLES, MOST_ON_CODE = 2, 4  # then predictions, and more on code
LEAST = 5  # questions of a paper
T = TypeVar("T")


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder sitting`."""
    describe(
        verb,
        "The paper may show right answers to the assignments, so hold the "
        "sitting after their deadlines.",
        "autograder sitting 01-means 02-roots --versions 6",
    )
    verb.add_argument(
        "assignments",
        nargs="+",
        metavar="ASSIGNMENT",
        help="folder names in solutions/",
    )
    verb.add_argument(
        "--versions",
        type=at_least_one,
        default=2,
        help="number of versions, one for each row of the classroom (default: 2)",
    )
    verb.add_argument(
        "--seed",
        type=int,
        help="number on the key, to print the same papers again (default: new)",
    )
    verb.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="output folder (default: sitting/)",
    )


def run(options: argparse.Namespace) -> None:
    """Write the papers and the key."""
    course = Course.find()
    seed = options.seed
    if seed is None:  # whoever has the repository could draw the same from a fixed one
        seed = random.SystemRandom().randrange(10**9)
    assignments = course.chosen(options.assignments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wrong functions divide by 0, and overflow
        papers = [
            paper(course, assignments, seed, version)
            for version in range(options.versions)
        ]
    folder = options.output or course.root / "sitting"
    names = ", ".join(assignment.name for assignment in assignments)
    for page in ("paper", "key"):
        path = folder / f"{page}.html"
        text = render(f"sitting-{page}.html", papers=papers, names=names, seed=seed)
        write_whole(path, text)
        print(f"wrote {one_line(str(path))}")
    most = ", ".join(sorted({str(points(items)) for items in papers}))
    print(f"{len(papers)} versions of {MINUTES} minutes, {most} points; seed {seed}")


def points(items: list[Item]) -> int:
    """The sum of the points."""
    return sum(item.points for item in items)


def paper(
    course: Course, assignments: list[Assignment], seed: int, version: int
) -> list[Item]:
    """The questions of one version, the short ones first.

    ``shared`` draws the same in each version: in what order assignments take turns, and
    the kinds of the puzzles. So all versions have as many questions of each kind.
    """
    shared, rng = Random(seed), Random(f"{seed}/{version}")
    texts: list[Iterator[Item]] = []
    codes: list[Iterator[Item]] = []
    names: list[Iterator[str]] = []
    about = course.about()
    for assignment in shared.sample(assignments, len(assignments)):
        pages = about.pages(assignment.name[:2]) if about else []
        texts += [predictions(path, rng) for path in pages]
        known = has_puzzles(course.exercises)
        shown = puzzle_names(assignment.name) if known else []
        names.append(iter(shared.sample(shown, len(shown))))
        if catalog := catalog_of(assignment.notebook):
            codes.append(code_questions(catalog, rng))
    puzzles = []
    pool = list(dict.fromkeys(by_turns(names)))  # 00-puzzles has those of the others
    for name in pool[:MOST_PUZZLES]:
        chosen = rng.choice(of_same_worth(name, pool, course.exercises))
        pool.remove(chosen)
        puzzles.append(puzzle(chosen, rng, course.exercises))
    left = MINUTES - sum(item.minutes for item in puzzles)
    more = by_turns(codes)
    reading = list(islice(more, MOST_ON_CODE))
    left -= READING * len(reading)
    short = list(islice(by_turns(texts), left // PREDICTION))
    left -= PREDICTION * len(short)
    found = [*short, *reading, *islice(more, left // READING), *puzzles]
    if len(found) < LEAST:
        listed = ", ".join(assignment.name for assignment in assignments)
        raise CourseError(
            f"There are {len(found)} questions about {listed}, and a paper has at "
            f"least {LEAST}. Add assignments, or right and wrong answers to catalogs."
        )
    return found


def by_turns(sources: list[Iterator[T]]) -> Iterator[T]:
    """One from each source, then another one, until all are used up."""
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)
