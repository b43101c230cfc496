"""``autograder try``: release an assignment and test its checks, in about a minute."""

from __future__ import annotations

import argparse

from autograder.course import Course
from autograder.options import describe
from autograder.release.students import name_mistakes, release
from autograder.tools import catalog_table, mutants
from autograder.wall import Grader, available


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder try`."""
    describe(
        verb,
        "The command also lists the mistakes that the assignment's messages can name. "
        "The exit code is 1 when a check or an entry needs to be changed.",
        "autograder try 01-means",
    )
    verb.add_argument("assignments", nargs="+", metavar="ASSIGNMENT")
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
            name_mistakes(part)
            failed |= bool(catalog_table.run(part, options.seeds))
            failed |= bool(mutants.report(part))
    return int(failed)
