"""``autograder export``: scores as CSV, one table by student and one by question."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import (
    add_assignments,
    add_columns,
    add_file,
    add_flag,
    add_several,
    describe,
)
from autograder.results.lms import NOTHING, export_lms
from autograder.text import one_line

SCORES = (
    *("status", "score", "max_score", "final score", "waiting", "late", "penalty"),
    "reason",
)
QUESTIONS = ("id", "score", "max_score", "misconception", "message")
# where a field begins, or may begin; NFKC makes the second four of the first
FORMULA = re.compile(r"(^|[;\t\r\n|])(?=[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20])")
Value = str | float | None
Row = Sequence[Value]


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder export`."""
    describe(
        verb,
        "For Canvas and Moodle, the command fills in the file that they export and "
        "import. The command leaves out points that are not final, and lists them. "
        "It also lists and keeps what was changed there. Moodle's file has only the "
        "rows that change. Import it before you upload feedback pages.",
        "autograder export --format canvas --roster gradebook-of-canvas.csv",
    )
    add_assignments(verb)
    formats = ("csv", "canvas", "moodle")
    words = "output format (default: csv, for spreadsheets)"
    verb.add_argument("--format", choices=formats, default="csv", help=words)
    words = "the exported file: Canvas's gradebook or Moodle's grading worksheet"
    add_file(verb, "--roster", words)
    words = (
        'the column to fill in, such as "Homework 1 (4711)"; for several assignments, '
        'repeat "01-means=Homework 1 (4711)" (default: the assignment\'s name)'
    )
    add_several(verb, "--column", "TITLE", words)
    add_columns(verb)
    add_flag(verb, "--scale", "convert points to the platform's highest grade")
    words = "for Moodle: also write comments by hand into the column of comments"
    add_flag(verb, "--comments", words)
    words = "replace what was changed there for this student; may be repeated"
    add_several(verb, "--replace", "ID", words)
    words = "output folder (default: the current one)"
    verb.add_argument("--folder", type=Path, default=Path(), help=words)


def run(options: argparse.Namespace) -> None:
    """Write the files that were asked for."""
    course = Course.find()
    assignments = course.chosen(options.assignments)
    lines: list[str] = []
    steps: list[str] = []
    if options.format == "csv":
        paths = export(course, assignments, options.folder)
    else:
        paths, lines, steps = export_lms(course, assignments, options)
    for line in (*lines, *(f"wrote {path}" for path in paths), *steps):
        print(one_line(line))


def export(course: Course, assignments: list[Assignment], folder: Path) -> list[Path]:
    """Write scores.csv and questions.csv; their paths. CourseError without points."""
    from autograder.grading.store import Store

    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
        people = store.names()
    if not any(results.values()):
        raise CourseError(NOTHING)
    head = ["student", "name", "assignment"]
    scores: list[Row] = [[*head, *SCORES]]
    questions: list[Row] = [[*head, *QUESTIONS, "by hand"]]
    for assignment, verdicts in results.items():
        for student, verdict in verdicts.items():
            who = [student, people.get(student), assignment]
            final = verdict.score if verdict.final else None
            late = [verdict.open_points, verdict.lateness, verdict.penalty]
            why = verdict.reason or verdict.unfinished
            points = [verdict.status, verdict.score, verdict.max_score, final]
            scores.append([*who, *points, *late, why])
            for question in verdict.questions:
                values = [getattr(question, column) for column in QUESTIONS]
                by_hand = "waiting" if question.waiting else ""
                questions.append([*who, *values, by_hand])
    tables = {folder / "scores.csv": scores, folder / "questions.csv": questions}
    for path, rows in tables.items():
        write_whole(path, table(rows))
    return list(tables)


def table(rows: Iterable[Row]) -> str:
    """CSV with the mark that tells spreadsheets that it is UTF-8."""
    text = io.StringIO()
    csv.writer(text).writerows([cell(value) for value in row] for row in rows)
    return "\ufeff" + text.getvalue()


def cell(value: Value) -> str | float:
    """A value that a spreadsheet shows and does not take for a formula.

    Whatever it takes for a separator: many programs split a line at semicolons.
    """
    if isinstance(value, str):
        return FORMULA.sub(r"\1'", value)
    return "" if value is None else value
