"""Which submissions are alike. For a person to look at; it never changes points."""

from __future__ import annotations

import argparse
import io
import keyword
import tokenize
from itertools import combinations

from rapidfuzz.distance import Indel

from autograder.course import Assignment, Course
from autograder.errors import Held
from autograder.intake.opening import open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.options import describe
from autograder.release.plan import plan
from autograder.text import one_line

SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
Answer = tuple[str, ...]


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder similarity`."""
    describe(
        verb,
        "Short answers are alike without copying: the list is for a person to look "
        "at, and changes no points.",
        "autograder similarity 01-attention --least 0.95",
    )
    verb.add_argument("assignment", metavar="ASSIGNMENT")
    verb.add_argument(
        "--least",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="of the tokens of both (default: 0.9)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the pairs."""
    course = Course.find()
    pairs = similar(course, course.chosen([options.assignment])[0], options.least)
    for share, one, other in pairs:
        print(f"{share:.0%}  {one_line(one)}  {one_line(other)}")
    print(f"Alike pairs: {len(pairs)}. No points were changed.")


def shape(source: str) -> Answer:
    """The tokens of code with every name alike, so that renaming hides nothing."""
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in SKIPPED:
                continue
            name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
            tokens.append("name" if name else token.string)
    except (tokenize.TokenError, SyntaxError):
        return tuple(source.split())
    return tuple(tokens)


def similar(
    course: Course, assignment: Assignment, least: float
) -> list[tuple[float, str, str]]:
    """Pairs of students whose answers are alike, the most alike first.

    Only answers that differ from the students' notebook are compared, each with the
    same answer of the other; 1 means that all are the same but for names.
    """
    release = plan(course, assignment)
    answers = {}
    for submission in course.submissions([assignment]):
        try:
            data, _ = open_submission(submission, release)
            cells = match(release, read(data)).cells
        except Held:
            continue
        own = {
            cell.grade_id: shape(cell.source)
            for cell in cells
            if cell.kind == "answer" and cell.grade_id and not cell.unanswered
        }
        if own:
            answers[submission.student] = own
    pairs = []
    for one, other in combinations(sorted(answers), 2):
        share = likeness(answers[one], answers[other])
        if share >= least:
            pairs.append((share, one, other))
    return sorted(pairs, key=lambda pair: (-pair[0], *pair[1:]))


def likeness(one: dict[str, Answer], other: dict[str, Answer]) -> float:
    """The share of tokens in the same order, over the answers that both gave."""
    both = one.keys() & other.keys()
    total = sum(len(one[name]) + len(other[name]) for name in both)
    apart = sum(Indel.distance(one[name], other[name]) for name in both)
    return 1 - apart / total if total else 0.0
