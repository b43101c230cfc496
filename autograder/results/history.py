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
    words, kinds = "only about these (default: all)", "STUDENT or ASSIGNMENT"
    verb.add_argument("names", nargs="*", metavar=kinds, help=words)
    add_file(verb, "--json", "write the lines to FILE as well")


def run(options: argparse.Namespace) -> None:
    """Print what is asked for."""
    course = Course.find()
    if options.json:
        expect_writable(options.json)
    found = up_to_date(course)
    if not found:
        raise CourseError("Nothing is graded yet, so there is no history.")
    there = list(dict.fromkeys(line["assignment"] for line in found))
    known = {line["student"] for line in found}
    names = [name for name in options.names if name in there] or there
    who = [name for name in options.names if name not in there] or known
    for name in who:
        if name not in known:
            near = nearest(name, [*known, *there])
            hint = f"; did you mean {one_line(near)}?" if near else "."
            raise CourseError(
                f"{one_line(name)} is not in {point_history.RECORD}{hint}"
            )
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
            late = line["penalty"]
            points = f"{line['score']:g} of {line['max_score']:g}"
            points += "" if line["final"] else " so far"
            points += f", {late:g} less for lateness" if late else ""
            yield f"{when} UTC, {points} ({why}){moved(before, line['questions'])}"
        before = line["questions"]


def moved(before: dict[str, float | None], now: dict[str, float | None]) -> str:
    """The questions whose points are others than before."""

    def shown(value: float | None) -> str:
        return "none" if value is None else f"{value:g}"

    changed = [
        f"{name.removeprefix('test_')} {shown(before[name])} -> {shown(now[name])}"
        for name in now
        if name in before and before[name] != now[name]
    ]
    return f": {'; '.join(map(one_line, changed))}" if changed else ""
