"""Due dates, extensions and late penalties: read, resolved, written to the gradebook.

Due dates are in nbgrader_config.py, ``c.Autograder.due = {"01-means": "2026-03-09
23:59"}``, or in nbgrader's gradebook; extensions in extensions.csv, as dates or as
``+3 days``. The time of a submission is in its timestamp.txt. Penalties are those of
nbgrader's late-submission plugin.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from nbgrader.api import Assignment, SubmittedAssignment
from sqlalchemy import select

from autograder.course import Course, Submission
from autograder.errors import CourseError
from autograder.grading.gradebook import OpenGradebook
from autograder.intake.sheet import Sheet
from autograder.release.dates import course_zone, due_dates, meant, moment, read_stamp
from autograder.text import listed, one_line

EXTENSIONS = "extensions.csv"
COLUMNS = ("student_id", "assignment", "due")
EVERY = "*"  # assignment
RULE = re.compile(r"\+\s*(\d+(?:[.,]\d+)?)\s*(minute|hour|day|week)s?")
Extension = datetime | timedelta  # until a moment, or so much longer


def extension(text: str, zone: tzinfo) -> Extension:
    """From ``2026-03-12 23:59`` or ``+3 days``."""
    if rule := RULE.fullmatch(text.strip()):
        return timedelta(**{f"{rule[2]}s": float(rule[1].replace(",", "."))})
    try:
        return moment(text, zone).astimezone(UTC)
    except CourseError as error:
        raise CourseError(f"{error} You can also write +3 days.") from None


@dataclass(frozen=True)
class Deadlines:
    """What the course says: due dates by assignment, and by student and assignment.

    ``extended`` is None where there is no table of extensions; the assignment ``*`` in
    it is every one.
    """

    due: Mapping[str, datetime]
    extended: Mapping[tuple[str, str], Extension] | None
    zone: tzinfo

    @classmethod
    def of(cls, course: Course) -> Deadlines:
        """From configuration and extensions.csv; CourseError when they are wrong."""
        zone = course_zone(course)
        path = course.root / EXTENSIONS
        extended = None
        if path.exists():
            names = [assignment.name for assignment in course.assignments()]
            extended = read_extensions(Sheet.read(path), str(path), names, zone)
        return cls(due_dates(course), extended, zone)

    def until(self, student: str, name: str, due: datetime | None) -> datetime | None:
        """When a student has to hand in; CourseError when that cannot be told.

        A line for this assignment counts more than one for all of them.
        """
        extended = self.extended or {}
        if due is None:
            if (student, name) in extended:
                raise CourseError(
                    f"{one_line(student)} has an extension for {name}, which has no "
                    "due date; set one in c.Autograder.due."
                )
            return None
        more = extended.get((student, name), extended.get((student, EVERY)))
        if not isinstance(more, timedelta):
            return more or due
        days = timedelta(days=more.days)  # those of the calendar
        return (due.astimezone(self.zone) + days).astimezone(UTC) + (more - days)

    def ends(self, name: str, due: datetime) -> list[datetime]:
        """When the students with extensions have to hand in."""
        students = {who for who, which in self.extended or () if which in (name, EVERY)}
        return [end for who in students if (end := self.until(who, name, due))]

    def unused(self, course: Course, known: set[str]) -> Iterator[str]:
        """Due dates of assignments and extensions of students that are not there.

        ``known`` are the students of the gradebook.
        """
        if to_come := set(self.due) - {a.name for a in course.assignments()}:
            yield f"due dates of assignments to come: {listed(sorted(to_come))}"
        students = {student for student, _ in self.extended or ()} - known
        unknown = sorted(s for s in students if not (course.submitted / s).is_dir())
        if unknown:
            yield f"extensions for unknown students: {listed(unknown)}"

    def enter(self, store: OpenGradebook, submissions: list[Submission]) -> None:
        """Write due dates, times and extensions of submissions into the gradebook.

        Of a student without a row there, nothing is written: they have no verdict.
        """
        with store.transaction() as session:
            for name in {submission.assignment for submission in submissions}:
                students = {s.student: s for s in submissions if s.assignment == name}
                self.enter_assignment(session, name, students)

    def enter_assignment(
        self, session: Any, name: str, students: Mapping[str, Submission]
    ) -> None:
        """The same for one assignment."""
        assignment = session.scalar(select(Assignment).filter_by(name=name))
        if assignment is None:
            return
        set_by_hand = assignment.duedate and assignment.duedate.replace(tzinfo=UTC)
        due = self.due.get(name, set_by_hand)
        assignment.duedate = naive(due)
        mine = SubmittedAssignment.student_id.in_(students)
        every = select(SubmittedAssignment).filter_by(assignment_id=assignment.id)
        for submission in session.scalars(every.where(mine)):
            student = submission.student_id
            stamp = read_stamp(students[student].folder, self.zone)
            submission.timestamp = naive(stamp)
            if self.extended is not None:
                until = self.until(student, name, due)
                more = until - due if until and due else timedelta()
                submission.extension = more or None


def read_extensions(
    sheet: Sheet, path: str, names: list[str], zone: tzinfo
) -> dict[tuple[str, str], Extension]:
    """``student_id,assignment,due`` by student and assignment."""
    headings = [heading.strip().lower() for heading in sheet.columns]
    if missing := [heading for heading in COLUMNS if heading not in headings]:
        raise CourseError(
            f"{path} has no column {missing[0]}; it needs the columns "
            f"{', '.join(COLUMNS)}."
        )
    extended: dict[tuple[str, str], Extension] = {}
    for row in sheet.rows:
        student, name, due = (sheet.value(row, headings.index(h)) for h in COLUMNS)
        line = f"{path}, line {row + 1}"
        if not student and not name:
            continue
        if name not in (*names, EVERY) and (near := meant(name, names)):
            raise CourseError(
                f"{line}: there is no assignment {one_line(name)}; did you mean {near}?"
            )
        try:
            until = extension(due, zone)
        except CourseError as error:
            raise CourseError(f"{line}, {one_line(student)}: {error}") from None
        if extended.setdefault((student, name), until) != until:
            raise CourseError(
                f"{line}: {one_line(student)} has another extension for {name} in a "
                "line above; keep one of them."
            )
    return extended


class Penalties:
    """What nbgrader's late-submission plugin of this course takes off."""

    def __init__(self, course: Course) -> None:
        from nbgrader.preprocessors import AssignLatePenalties

        sys.path.insert(0, str(course.root))  # nbgrader finds plugins there, too
        try:
            assign = AssignLatePenalties(config=course.nbgrader())
            assign.init_plugin()
        except Exception as error:
            raise CourseError(
                f"The plugin for late work cannot start: {error}"
            ) from None
        finally:
            sys.path.remove(str(course.root))
        self.plugin = assign.plugin_inst

    def of(self, student: str, score: float, late: float) -> float:
        """The points for so many seconds: never below 0, never above the score."""
        try:
            penalty = self.plugin.late_submission_penalty(student, score, late)
            points = float(penalty or 0.0)
        except Exception as error:
            raise CourseError(
                f"The plugin for late work failed on {one_line(student)}: "
                f"{type(error).__name__}: {error}."
            ) from None
        return min(max(points, 0.0), score)


def naive(time: datetime | None) -> datetime | None:
    """As nbgrader stores times: in UTC, without saying so."""
    return time and time.astimezone(UTC).replace(tzinfo=None)


def lateness(
    handed_in: datetime | None, due: datetime | None, extension: timedelta | None
) -> float | None:
    """How many seconds late, and 0 when in time; None where a moment is not known."""
    if handed_in is None or due is None:
        return None
    return max((handed_in - due - (extension or timedelta())).total_seconds(), 0.0)
