"""Print, for every graded name, how well its misconceptions are caught and named.

    python -m autograder.tools.catalog_table [--seeds 200] [ASSIGNMENT ...]

The catalog of an assignment has known wrong answers and right ones in other styles;
each is graded. Exit code 1 when, for any seed, a wrong one gets all points or goes
without its name, or a right one loses a point.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.release.rules import checks_of
from autograder.tools.judging import catalog_of, judge

HEADINGS = ("name", "entries", "visible", "hidden", "named", "styles")


def row(package: ModuleType, name: str, seeds: range) -> tuple[list[int], set[str]]:
    """The numbers of one question, and the ids that are not as they should be."""
    catalog, points = catalog_of(package), package.assignment.questions[name].points
    visible = hidden = named = 0
    wrong = set()
    entries = catalog.every(name)
    for entry in entries:
        answer = catalog.answer(entry)
        runs = [judge(package, name, answer, seed) for seed in seeds]
        visible += runs[0][0] == 0
        hidden += all(hidden_alone(package, name, answer, s) < points for s in seeds)
        named += (right := all(run[2] == entry.id for run in runs))
        if not right or any(earned >= points for earned, *_ in runs):
            wrong.add(entry.id)
    styles = [style for style in catalog.styles if style.question == name]
    for style in [catalog.references[name], *styles]:
        answer = catalog.answer(style)
        if any(judge(package, name, answer, seed)[0] != points for seed in seeds):
            wrong.add(style.id)
    return [len(entries), visible, hidden, named, len(styles)], wrong


def hidden_alone(package: ModuleType, name: str, answer: Any, seed: int) -> float:
    """Points that the hidden half gives without the visible one."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        score = getattr(package.hidden, name)(answer, seed)
    plt.close("all")
    return score


def run(assignment: Assignment, seeds: int) -> set[str]:
    """Print the numbers of an assignment; the ids that are not as they should be."""
    package = checks_of(assignment.notebook)
    if package is None or package.assignment.catalog is None:
        raise CourseError(f"{assignment.name} has no catalog.")
    print("{:32}{:>8}{:>8}{:>8}{:>7}{:>8}".format(*HEADINGS))
    wrong: set[str] = set()
    for name in package.assignment.questions:
        numbers, bad = row(package, name, range(seeds))
        wrong |= bad
        print("{:32}{:8}{:8}{:8}{:7}{:8}".format(name, *numbers), flush=True)
    listed = ", ".join(sorted(wrong))
    said = f"these entries fail: {listed}" if wrong else "all entries pass"
    print(f"{assignment.name}, {seeds} seeds: {said}")
    return wrong


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    options.add_argument("--seeds", type=int, default=5)
    given = options.parse_args()
    chosen = Course.find().chosen(given.assignments)
    found = [run(assignment, given.seeds) for assignment in chosen]
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main())
