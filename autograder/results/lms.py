"""Export to Canvas and Moodle: points in the file that the platform imports.

The platform's own file is filled in: only cells of students whose points are final and
differ are replaced, and every other byte stays. So nothing that the platform holds is
cleared, and a blank is not a zero.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.intake.columns import NUMBER, parse_columns
from autograder.intake.roster import Roster, read_roster
from autograder.intake.sheet import Sheet
from autograder.release.times import course_zone
from autograder.text import Left

NOTHING = "Nothing is graded yet, so there is nothing to export."
TITLE = re.compile(r".+ \(\d+\)")  # Canvas: "Homework 1 (4711)"
TITLED = re.compile(r" \(\d+\)$")
POSSIBLE = "Points Possible"
KEPT = ("EX", "N/A")  # Canvas: excused, and not assigned to this student


def export_lms(
    course: Course, assignments: list[Assignment], wishes: argparse.Namespace
) -> tuple[list[Path], list[str]]:
    """Write the file for Canvas or Moodle; its path, and lines about the rest.

    ``wishes`` are the options of ``autograder export``.
    """
    from autograder.grading.store import Store

    if wishes.roster is None:
        raise CourseError(
            f"{wishes.format.title()} identifies students by its own numbers; with "
            "--roster, pass the list that it exports (Canvas: the gradebook, Moodle: "
            "the grading worksheet)."
        )
    roster = read_roster(
        wishes.roster, parse_columns(wishes.columns), course_zone(course)
    )
    if roster.columns.platform != wishes.format:
        kind = {"canvas": "Canvas's gradebook", "moodle": "Moodle's grading worksheet"}
        raise CourseError(f"{wishes.roster} is not {kind[wishes.format]}.")
    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
    results = {name: verdicts for name, verdicts in results.items() if verdicts}
    if not results:
        raise CourseError(NOTHING)
    if wishes.format == "moodle" and len(results) > 1:
        raise CourseError(
            "A grading worksheet of Moodle is for one assignment; say which one: "
            f"{', '.join(results)}."
        )
    lines = Left("not exported")
    wanted, filled = list(results), False
    for name, verdicts in results.items():
        try:
            column = column_of(roster, name, wishes, results)
        except NoColumn as why:
            if name == wanted[-1] and not filled:
                raise
            lines.add(f"{name}:", str(why))
            continue
        filled = True
        fill(roster, column, name, verdicts, lines, wishes.scale)
    path = wishes.folder / (
        "canvas.csv" if wishes.format == "canvas" else f"moodle-{name}.csv"
    )
    write_whole(path, roster.sheet.text())
    return [path], lines.lines()


class NoColumn(CourseError):
    """The gradebook has no column for an assignment; the others have theirs."""


def column_of(
    roster: Roster, name: str, wishes: argparse.Namespace, results: Mapping[str, object]
) -> int:
    """The column of an assignment: as told, Moodle's grade, or Canvas's title."""
    for wish in wishes.column:
        head, _, title = wish.partition("=")
        if head.strip() == name:
            return roster.sheet.find(title)
    for wish in wishes.column:
        if wish.partition("=")[0].strip() in results:
            continue  # it is about another one
        if len(results) == 1 and len(wishes.column) == 1:
            return roster.sheet.find(wish)
        raise CourseError(
            f"--column {wish!r} does not name an assignment: write one of "
            f"{', '.join(results)}, or write "
            f'--column "{same_number(wish, results)}={wish}".'
        )
    if wishes.format == "moodle":
        if (grade := roster.columns["grade"]) is not None:
            return grade
        raise CourseError(
            f"{roster.sheet.name} has no column Grade; choose the right column with "
            f"--column: {', '.join(roster.sheet.columns)}."
        )
    titles = [column for column in roster.sheet.columns if TITLE.fullmatch(column)]
    for title in titles:
        if title.rpartition(" (")[0] == name:
            return roster.sheet.find(title)
    if name in roster.sheet.columns:
        return roster.sheet.find(name)
    if not titles:
        raise NoColumn(f"{roster.sheet.name} has no column for an assignment.")
    raise NoColumn(
        f"Canvas's gradebook has no column for {name}; name the column, for example "
        f'--column "{name}={same_number(name, titles)}". It has: {", ".join(titles)}.'
    )


def same_number(name: str, others: Iterable[str]) -> str:
    """The first that has the same number, as 02-roots and Homework 2; else the first.

    A guess for the line that a person may paste.
    """

    def number_in(text: str) -> int:
        return int((re.findall(r"\d+", TITLED.sub("", text)) or ["0"])[0])

    found = list(others)
    same = (other for other in found if number_in(other) == number_in(name))
    return next(same, found[0])


def fill(
    roster: Roster,
    column: int,
    name: str,
    verdicts: Mapping[str, Verdict],
    lines: Left,
    scale: bool,
) -> None:
    """Put the points of one assignment into the sheet."""
    sheet = roster.sheet
    points = points_of(roster, verdicts, lines)
    if not any(roster.of_student(student) for student in verdicts):
        raise CourseError(
            f"No student who handed in {name} is in {sheet.name}; is it the list of "
            "another course?"
        )
    highest = next((v.max_score for v in verdicts.values() if v.max_score), 0.0)
    row, place = most_cell(roster, column)
    most = sheet.value(row, place) if row else ""
    comma = any("," in value for value in (*sheet.values(column), most))
    factor = 1.0
    if NUMBER.fullmatch(most) and highest and number(most) != highest:
        if not scale:
            raise CourseError(
                f"{name} has {highest:g} points here and {most} in {sheet.name}: make "
                "them equal there, or convert the points with --scale."
            )
        factor = number(most) / highest
    elif row and not most and roster.columns.platform == "canvas":
        sheet.change(row, column, written(highest, comma))
    for person in roster.people:
        if person.student not in points:
            continue
        given = round(points[person.student] * factor, 2)
        before = sheet.value(person.row, column)
        if before in KEPT:
            lines.add(person.student, f"has {before} there")
        elif not NUMBER.fullmatch(before) or number(before) != given:
            sheet.change(person.row, column, written(given, comma))


def most_cell(roster: Roster, column: int) -> tuple[int, int]:
    """Where the highest grade of a column stands; row 0 when it does not."""
    if roster.columns.platform == "canvas":
        rows = (r for r in roster.sheet.rows if possible(roster.sheet, r))
        return next(rows, 0), column
    place = roster.columns["most"]
    if place is None or not roster.people:
        return 0, 0
    return roster.people[0].row, place


def possible(sheet: Sheet, row: int) -> bool:
    """Whether this is Canvas's row with the highest points."""
    return sheet.value(row, 0) == POSSIBLE


def points_of(
    roster: Roster, results: Mapping[str, Verdict], lines: Left
) -> dict[str, float]:
    """Points by the roster's student id, of those whose points are final."""
    points = {}
    for student, verdict in results.items():
        person = roster.of_student(student)
        if person is None:
            lines.add(student, "is not in the roster")
        elif verdict.score is None or verdict.unfinished:
            lines.add(student, verdict.unfinished or "")
        else:
            points[person.student] = verdict.score
    return points


def number(text: str) -> float:
    """A number with a point or a comma."""
    return float(text.replace(",", "."))


def written(value: float, comma: bool) -> str:
    """A number as the sheet writes them."""
    return str(value).replace(".", ",") if comma else str(value)
