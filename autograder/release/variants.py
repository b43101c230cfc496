"""Whose variant of the exercises is whose.

The code of a variant follows from the student's id and from the course's secret, so
that nobody can compute another student's.
"""

from __future__ import annotations

import csv
import hmac
import io
from collections.abc import Iterable, Mapping

from autograder.course import Course
from autograder.files import write_whole
from autograder.intake.sheet import Sheet

FOLDER = "variants"
TABLE = "codes.csv"
LENGTH = 12  # hexadecimal digits


def code_of(secret: str, student: str) -> str:
    """The code of a student's variant, by the name in submitted/; "" without a secret.

    It is the same on every machine.
    """
    if not secret:
        return ""
    name = student.encode("utf-8", "surrogateescape")
    return hmac.new(secret.encode(), name, "sha256").hexdigest()[:LENGTH]


def enter(course: Course, names: Mapping[str, str]) -> None:
    """Add students, by id, to the table of those who were given a variant."""
    secret, file = course.variants(), io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("student_id", "name", "code"))
    for student, name in sorted((given(course) | dict(names)).items()):
        writer.writerow((student, name, code_of(secret, student)))
    write_whole(course.root / FOLDER / TABLE, file.getvalue())


def given(course: Course) -> dict[str, str]:
    """The students who were given a variant, with their names.

    CourseError when a spreadsheet has made something else of the table: what it says
    would be lost.
    """
    path = course.root / FOLDER / TABLE
    if not path.exists():
        return {}
    sheet = Sheet.read(path)
    student, name = sheet.find("student_id"), sheet.find("name")
    found = {sheet.value(n, student): sheet.value(n, name) for n in sheet.rows}
    return {student: name for student, name in found.items() if student}


def owners(course: Course, students: Iterable[str]) -> dict[str, str]:
    """Whose variant a code is, of these students and of those who were given one."""
    secret = course.variants()
    if not secret:
        return {}
    return {code_of(secret, name): name for name in {*given(course), *students}}
