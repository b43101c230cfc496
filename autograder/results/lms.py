"""Export to Canvas and Moodle: points in the file that the platform imports.

The platform's own file is filled in: only cells of students whose points are final and
differ are replaced. Moodle gets the rows that change, Canvas its whole file. So nothing
that the platform holds is cleared, what was changed there stays, and a blank is not a
zero.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading import point_history
from autograder.grading.verdict import Verdict
from autograder.intake.columns import NUMBER, parse_columns
from autograder.intake.roster import Person, Roster, read_roster
from autograder.intake.versions import other_work
from autograder.release.dates import course_zone
from autograder.results.worksheet import Worksheet
from autograder.text import Left, listed, one_line

NOTHING = "Nothing is graded yet, so there is nothing to export."
TITLE = re.compile(r".+ \(\d+\)")  # Canvas: "Homework 1 (4711)"
POSSIBLE = "Points Possible"
KEPT = ("EX", "N/A")  # Canvas: excused, and not assigned to this student


def export_lms(
    course: Course, assignments: list[Assignment], wishes: argparse.Namespace
) -> tuple[list[Path], list[str], list[str]]:
    """Write the file for Canvas or Moodle; paths, lines about the rest, and what to do.

    ``wishes`` are the options of ``autograder export``.
    """
    from autograder.grading.store import Store

    moodle = wishes.format == "moodle"
    kind = "Moodle's grading worksheet" if moodle else "Canvas's gradebook"
    if wishes.roster is None:
        raise CourseError(
            f"{wishes.format.title()} identifies students by its own numbers; with "
            f"--roster, pass the list that it exports, which is {kind}."
        )
    columns = parse_columns(wishes.columns)
    roster = read_roster(wishes.roster, columns, course_zone(course))
    if roster.columns.platform != wishes.format:
        raise CourseError(f"{wishes.roster} is not {kind}.")
    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
    results = {name: verdicts for name, verdicts in results.items() if verdicts}
    if not results:
        raise CourseError(NOTHING)
    if moodle and len(results) > 1:
        raise CourseError(
            "A grading worksheet of Moodle is for one assignment; say which one: "
            f"{', '.join(results)}."
        )
    if wishes.comments and not moodle:
        raise CourseError("--comments is for --format moodle.")
    if unknown := [who for who in wishes.replace if not roster.of_student(who)]:
        raise CourseError(f"{roster.sheet.name} has no student {listed(unknown)}.")
    left = Left("not exported")
    filled: list[Worksheet] = []
    there: list[str] = []
    for name, verdicts in results.items():
        try:
            column = column_of(roster, name, wishes, results)
        except NoColumn as why:
            left.add(f"{name}:", str(why))
            continue
        filled.append(Worksheet(course, roster, name))
        there += fill(filled[-1], column, verdicts, left, wishes)
    said = left.lines() + there
    if not filled:
        raise CourseError(said[0])
    if not moodle:
        path = wishes.folder / "canvas.csv"
        write_whole(path, roster.sheet.text())
        return [path], said, []
    (worksheet,) = filled
    if worksheet.kept:
        said.append(
            "another comment is there, and kept (--replace ID writes the one from "
            f"here): {listed(worksheet.kept)}"
        )
    path = wishes.folder / f"moodle-{worksheet.assignment}.csv"
    files = worksheet.files(path, wishes.comments)
    for path, text in files.items():
        write_whole(path, text)
    return list(files), [*said, *worksheet.skipped()], list(worksheet.steps([*files]))


class NoColumn(CourseError):
    """The gradebook has no column for an assignment; others may have theirs."""


def column_of(
    roster: Roster, name: str, wishes: argparse.Namespace, results: Mapping[str, object]
) -> int:
    """The column of an assignment: as told, Moodle's grade, or Canvas's title."""
    sheet = roster.sheet
    for wish in wishes.column:
        head, _, title = wish.partition("=")
        if head.strip() == name:
            return sheet.find(title)
        if head.strip() not in results:
            if len(results) == len(wishes.column) == 1:
                return sheet.find(wish)
            raise CourseError(
                f"--column {wish!r} does not name an assignment: write, for example, "
                f'--column "{name}={wish}".'
            )
    if wishes.format == "moodle":
        if (grade := roster.columns["grade"]) is not None:
            return grade
        raise CourseError(
            f"{sheet.name} has no column Grade; choose the right column with "
            f"--column: {', '.join(sheet.columns)}."
        )
    titles = [column for column in sheet.columns if TITLE.fullmatch(column)]
    for title in (*titles, name):
        if name == title.rpartition(" (")[0] or title == name in sheet.columns:
            return sheet.find(title)
    raise NoColumn(
        f"Canvas's gradebook has no column for {name}; say which one it is: "
        f'--column "{name}=TITLE". It has: {", ".join(titles) or "no such column"}.'
    )


def fill(
    worksheet: Worksheet,
    column: int,
    verdicts: Mapping[str, Verdict],
    left: Left,
    wishes: argparse.Namespace,
) -> list[str]:
    """Put the points of one assignment into the sheet; lines on what was there."""
    course, roster, name = worksheet.course, worksheet.roster, worksheet.assignment
    sheet = roster.sheet
    points = points_of(roster, verdicts, left)
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
        if not wishes.scale:
            raise CourseError(
                f"{name} has {highest:g} points here and {most} in {sheet.name}: make "
                "them equal there, or convert the points with --scale."
            )
        factor = number(most) / highest
    elif row and not most and not roster.moodle:
        sheet.change(row, column, written(highest, comma))
    replace = [roster.of_student(student) for student in wishes.replace]
    earlier = point_history.states(point_history.lines(course), name)
    comments = comments_of(course, name) if wishes.comments else {}
    kept: list[str] = []
    replaced: list[str] = []
    for person in roster.people:
        if person.student not in points:
            continue
        student, score = points[person.student]
        given = round(score * factor, 2)
        before = sheet.value(person.row, column)
        there = number(before) if NUMBER.fullmatch(before) else None
        lines = earlier.get(student, ())
        ours = {round(line["score"] * factor, 2) for line in lines if line["final"]}
        told = person in replace
        stays = there not in (None, given) and there not in ours and not told
        why = other_work(course, roster, student, name) if roster.moodle else ""
        if before in KEPT:
            why = f"has {before} there"
        elif told or not why:
            changes = roster.moodle and there != given and not stays
            why = refused(roster, person, given) if changes else ""
        if why:
            left.add(person.student, why)
            continue
        if there not in (None, given):
            line = f"{one_line(person.student)}: {there:g} there, {given:g} here"
            (kept if stays else replaced).append(line)
        if there != given and not stays:
            sheet.change(person.row, column, written(given, comma))
            worksheet.changed.append(person)
        if wishes.comments:
            worksheet.comment(person, comments.get(student, {}), told)
    words = "changed there, and kept (--replace ID writes the points from here)"
    pairs = ("replaced", replaced), (words, kept)
    return [f"{name}, {text}: {'; '.join(found)}" for text, found in pairs if found]


def refused(roster: Roster, person: Person, given: float) -> str:
    """Why Moodle would skip a row without a word; empty where it would not."""
    most = roster.sheet.value(person.row, roster.columns["most"])
    if roster.is_locked(person):
        return "has a locked or overridden grade there; unlock it, or change it there"
    if NUMBER.fullmatch(most) and given > number(most):
        return (
            f"has more than {number(most):g} points, and Moodle takes no grade above "
            "the maximum; enter it in Moodle's gradebook, or raise the maximum"
        )
    return ""


def comments_of(course: Course, assignment: str) -> dict[str, dict[str, str]]:
    """What people wrote, by student and question."""
    from autograder.grading.store import Store

    with Store(course) as store:
        found = store.comments(assignment)
    return {
        student: {
            name.rpartition("/")[2].removeprefix("test_"): text
            for name, text in mine.items()
        }
        for student, mine in found.items()
    }


def most_cell(roster: Roster, column: int) -> tuple[int, int]:
    """Where the highest grade of a column stands; row 0 when it does not."""
    sheet, place = roster.sheet, roster.columns["most"]
    if roster.moodle:
        known = place is not None and roster.people
        return (roster.people[0].row, place or 0) if known else (0, 0)
    rows = (row for row in sheet.rows if sheet.value(row, 0) == POSSIBLE)
    return next(rows, 0), column


def points_of(
    roster: Roster, results: Mapping[str, Verdict], left: Left
) -> dict[str, tuple[str, float]]:
    """By the roster's student id: the id here and points, where these are final."""
    points = {}
    for student, verdict in results.items():
        person = roster.of_student(student)
        if person is None:
            left.add(student, "is not in the roster")
        elif verdict.score is None or verdict.unfinished:
            left.add(student, verdict.unfinished or "")
        else:
            points[person.student] = student, verdict.score
    return points


def number(text: str) -> float:
    """A number with a point or a comma."""
    return float(text.replace(",", "."))


def written(value: float, comma: bool) -> str:
    """A number as the sheet writes them."""
    return str(value).replace(".", ",") if comma else str(value)
