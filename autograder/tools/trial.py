"""``autograder try``: release an assignment and test its checks, in about a minute.

The catalog of an assignment has known wrong answers and right ones in other styles;
each is graded. Then the checks are tried on solutions with small errors.
"""

from __future__ import annotations

import argparse
from types import ModuleType

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.options import add_assignments, describe
from autograder.release.students_version import name_mistakes, release
from autograder.release.validation import checks_of
from autograder.tools import mutants
from autograder.tools.judging import catalog_of, judge
from autograder.wall import Grader, available

ROW = "{:32}{:>8}{:>8}{:>7}{:>8}"


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder try`."""
    describe(
        verb,
        "The command also lists the mistakes that the assignment's messages can name. "
        "The exit code is 1 when a check or an entry needs to be changed.",
        "autograder try 01-means",
    )
    add_assignments(verb)
    seeds = "number of seeds for hidden inputs (default: 5)"
    verb.add_argument("--seeds", type=int, default=5, help=seeds)


def run(options: argparse.Namespace) -> int:
    """Try the chosen assignments; the exit code."""
    course, failed = Course.find(), False
    for assignment in course.chosen(options.assignments):
        for part in assignment.parts:
            with Grader(wall="none" if available() else None) as grader:
                path = release(course, part, grader)
            print(f"{part.name}: released to {path.relative_to(course.root)}")
            name_mistakes(course, part)
            failed |= bool(try_catalog(part, options.seeds))
            failed |= bool(mutants.run(part)[2])
    return int(failed)


def try_catalog(assignment: Assignment, seeds: int) -> set[str]:
    """Print how each question's entries are judged; the ids of those that fail.

    A wrong answer fails when, for any seed, it gets all points or goes without its
    name, a right one when it loses a point.
    """
    package = checks_of(assignment.notebook)
    if package is None or package.assignment.catalog is None:
        raise CourseError(f"{assignment.name} has no catalog.")
    print(ROW.format("name", "entries", "visible", "named", "styles"))
    wrong: set[str] = set()
    for name in package.assignment.questions:
        numbers, bad = row(package, name, range(seeds))
        wrong |= bad
        print(ROW.format(name, *numbers), flush=True)
    listed = ", ".join(sorted(wrong))
    said = f"these entries fail: {listed}" if wrong else "all entries pass"
    print(f"{assignment.name}, {seeds} seeds: {said}")
    return wrong


def row(package: ModuleType, name: str, seeds: range) -> tuple[list[int], set[str]]:
    """The numbers of one question, and the ids that are not as they should be."""
    catalog, points = catalog_of(package), package.assignment.questions[name].points
    visible = named = 0
    wrong = set()
    entries = catalog.every(name)
    for entry in entries:
        answer = catalog.answer(entry)
        runs = [judge(package, name, answer, seed) for seed in seeds]
        visible += runs[0][0] == 0
        named += (right := all(run[2] == entry.id for run in runs))
        if not right or any(earned >= points for earned, *_ in runs):
            wrong.add(entry.id)
    styles = [style for style in catalog.styles if style.question == name]
    for style in [catalog.references[name], *styles]:
        answer = catalog.answer(style)
        if any(judge(package, name, answer, seed)[0] != points for seed in seeds):
            wrong.add(style.id)
    return [len(entries), visible, named, len(styles)], wrong
