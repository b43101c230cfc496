"""``autograder history``: print how students' points changed, a sentence a change."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import expect_writable, write_whole
from autograder.grading import point_history
from autograder.grading.point_history import Line
from autograder.options import add_file, describe
from autograder.text import listed, nearest, one_line


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder history`."""
    describe(
        verb,
        "The command also lists the feedback pages that you have to send: those that "
        "are out of date, and those of students who had none yet.",
        "autograder history ada 01-means",
    )
    verb.add_argument(
        "names",
        nargs="*",
        metavar="STUDENT or ASSIGNMENT",
        help="only about these (default: all)",
    )
    add_file(verb, "--json", "write the lines to FILE as well")


def run(options: argparse.Namespace) -> None:
    """Print what is asked for."""
    course = Course.find()
    if options.json:
        expect_writable(options.json)
    found = up_to_date(course)
    if not found:
        raise CourseError("Nothing is graded yet, so there is no history.")
    there = dict.fromkeys(line["assignment"] for line in found)
    names = [name for name in options.names if name in there]
    who = [name for name in options.names if name not in there]
    known = {line["student"] for line in found}
    for name in who:
        if name not in known:
            near = nearest(name, [*known, *there])
            hint = f"; did you mean {one_line(near)}?" if near else "."
            raise CourseError(
                f"{one_line(name)} is not in {point_history.RECORD}{hint}"
            )
    names, who = names or list(there), who or list(known)
    shown: list[Line] = []
    for name in names:
        for student, mine in sorted(point_history.states(found, name).items()):
            if student in who:
                shown += mine
                for line in sentences(mine):
                    print(f"{one_line(student)}, {name}: {line}")
    for name in names:
        pages = point_history.to_send(found, name)
        if listing := [words for student, words in pages.items() if student in who]:
            print(f"feedback pages of {name} to send: {listed(listing)}")
    if options.json:
        write_whole(options.json, json.dumps(shown, indent=1) + "\n")


def up_to_date(course: Course) -> list[Line]:
    """The record with what has come since it was written, such as points by hand."""
    from autograder.grading.store import Store

    if (course.root / point_history.RECORD).exists():
        with Store(course) as store:
            for assignment in store.assignments():
                store.results(assignment)
    return point_history.lines(course)


def sentences(mine: list[Line]) -> Iterator[str]:
    """What a student had, a sentence for each line."""
    before: dict[str, Any] = {}
    for line in mine:
        when = line["time"][:16].replace("T", " ")
        if line["held"]:
            yield f"{when} UTC, held: {one_line(line['held'])}"
        else:
            why = ", ".join(line["why"]) or "changed"
            yield f"{when} UTC, {points(line)} ({why}){moved(before, line)}"
        before = line["questions"]


def points(line: Line) -> str:
    """The points of a line, and whether they are final."""
    late = f", {line['penalty']:g} less for lateness" if line["penalty"] else ""
    so_far = "" if line["final"] else " so far"
    return f"{line['score']:g} of {line['max_score']:g}{so_far}{late}"


def moved(before: dict[str, float | None], line: Line) -> str:
    """The questions whose points are others than before."""
    now = line["questions"]
    changed = [
        f"{name.removeprefix('test_')} {number(before[name])} -> {number(now[name])}"
        for name in now
        if name in before and before[name] != now[name]
    ]
    return f": {'; '.join(map(one_line, changed))}" if changed else ""


def number(value: float | None) -> str:
    """Points, or that there are none yet."""
    return "none" if value is None else f"{value:g}"
