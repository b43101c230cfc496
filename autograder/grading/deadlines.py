"""Due dates, extensions and late penalties: read, resolved, written to the gradebook.

Due dates are in nbgrader_config.py, ``c.Autograder.due = {"01-means": "2026-03-09
23:59"}``, or in nbgrader's gradebook; extensions in extensions.csv, as dates or as
rules. The time of a submission is in its timestamp.txt. Penalties are those of
nbgrader's late-submission plugin.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, SubmittedAssignment
from sqlalchemy import select, update

from autograder.course import Course, Submission
from autograder.errors import CourseError
from autograder.grading.gradebook import OpenGradebook
from autograder.intake.sheet import Sheet
from autograder.release.dates import course_zone, due_dates, meant, moment, read_stamp
from autograder.text import listed, one_line

EXTENSIONS = "extensions.csv"
EVERY = "*"  # assignment
RULE = re.compile(
    r"\+\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>minute|hour|day|week)s?"
    r"|[x×]\s*(?P<factor>\d+(?:[.,]\d+)?)"
)
ASSIGNMENT, SUBMITTED = Assignment.__table__, SubmittedAssignment.__table__


@dataclass(frozen=True)
class Extension:
    """Until when somebody may hand in: a moment, so much longer, or a longer period."""

    moment: datetime | None = None
    longer: timedelta = timedelta()
    factor: float = 1.0

    @classmethod
    def of(cls, text: str, zone: tzinfo) -> Extension:
        """From ``2026-03-12 23:59``, ``+3 days`` or ``x1.5``."""
        rule = RULE.fullmatch(text.strip())
        if rule is None:
            try:
                return cls(moment(text, zone).astimezone(UTC))
            except CourseError as error:
                raise CourseError(
                    f"{error} You can also write +3 days or x1.5."
                ) from None
        number = float((rule["number"] or rule["factor"]).replace(",", "."))
        if rule["unit"]:
            return cls(longer=timedelta(**{f"{rule['unit']}s": number}))
        if number < 1:
            raise CourseError(
                f"{one_line(text)!r} would shorten the time; write x1.5, for example, "
                "to extend it."
            )
        return cls(factor=number)

    def end(self, due: datetime, begin: datetime | None, zone: tzinfo) -> datetime:
        """The moment, for a period. Days are those of the calendar."""
        if self.moment:
            return self.moment
        if self.factor > 1 and begin is None:
            raise CourseError(
                f"x{self.factor:g} needs the start of the assignment; write start and "
                'end in c.Autograder.due: ("2026-03-02 09:00", "2026-03-09 23:59").'
            )
        if begin and self.factor > 1:
            return begin + self.factor * (due - begin)
        days = timedelta(days=self.longer.days)
        return (due.astimezone(zone) + days).astimezone(UTC) + (self.longer - days)


@dataclass(frozen=True)
class Deadlines:
    """What the course says: due dates by assignment, and by assignment and student.

    ``extended`` is None where there is no table of extensions; the assignment ``*`` in
    it is every one. ``begins`` has the moments at which periods begin.
    """

    due: Mapping[str, datetime]
    extended: Mapping[tuple[str, str], Extension] | None = None
    zone: tzinfo = UTC
    begins: Mapping[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course) -> Deadlines:
        """From configuration and extensions.csv; CourseError when they are wrong."""
        config = course.nbgrader().get("Autograder", {})
        zone = course_zone(course)
        names = [assignment.name for assignment in course.assignments()]
        periods = due_dates(course)
        due = {name: end for name, (_, end) in periods.items()}
        begins = {name: start for name, (start, _) in periods.items() if start}
        path = course.root / config.get("extensions", EXTENSIONS)
        if not path.exists():
            return cls(due, None, zone, begins)
        extended = read_extensions(path, names, cls(due, None, zone, begins))
        return cls(due, extended, zone, begins)

    def until(self, student: str, name: str, due: datetime | None) -> datetime | None:
        """When a student has to hand in; CourseError when that cannot be told.

        A line for this assignment counts more than one for all of them.
        """
        extended = self.extended or {}
        for key in ((student, name), (student, EVERY)):
            if due is None and key in extended and name in key:
                raise CourseError(
                    f"{one_line(student)} has an extension for {name}, which has no "
                    "due date; set one in c.Autograder.due."
                )
            if due and key in extended:
                return self.end(extended[key], key[1], name, due)
        return due

    def end(self, rule: Extension, which: str, name: str, due: datetime) -> datetime:
        """The end of an assignment's period by a line for ``which``.

        A factor for every assignment is for those whose period has a beginning.
        """
        begin = self.begins.get(name)
        if begin is None and rule.factor > 1 and which == EVERY:
            return due
        return rule.end(due, begin, self.zone)

    def ends(self, name: str, due: datetime) -> list[datetime]:
        """When the students with extensions have to hand in."""
        students = {who for who, which in self.extended or () if which in (name, EVERY)}
        return [end for who in students if (end := self.until(who, name, due))]

    def unused(self, course: Course, known: set[str], partial: bool) -> Iterator[str]:
        """Due dates of assignments and extensions of students that are not there.

        ``known`` are the students of the gradebook. A ``partial`` grading, of some
        students, is not concerned with extensions of others.
        """
        if to_come := set(self.due) - {a.name for a in course.assignments()}:
            yield f"due dates of assignments to come: {listed(sorted(to_come))}"
        rules = self.extended or {}
        by_factor = sorted(
            w for (w, a), r in rules.items() if a == EVERY and r.factor > 1
        )
        open_ended = sorted(set(self.due) - set(self.begins))
        if by_factor and open_ended:
            yield (
                f"a factor gives no extra time ({listed(by_factor)}), since no start "
                f"is set: {listed(open_ended)}"
            )
        students = {student for student, _ in self.extended or ()} - known
        unknown = sorted(s for s in students if not (course.submitted / s).is_dir())
        if unknown and not partial:
            yield f"extensions for unknown students: {listed(unknown)}"

    def enter(
        self, store: OpenGradebook, submissions: list[Submission], *, partial: bool
    ) -> None:
        """Write due dates, times and extensions of submissions into the gradebook.

        Of a student without a row there, nothing is written: they have no verdict.
        A ``partial`` grading, of some students, does not move the due date of others.
        """
        with store.transaction() as session:
            for name in {submission.assignment for submission in submissions}:
                students = {s.student: s for s in submissions if s.assignment == name}
                self.enter_assignment(session, name, students, partial)

    def enter_assignment(
        self,
        session: Any,
        name: str,
        students: Mapping[str, Submission],
        partial: bool,
    ) -> None:
        """The same for one assignment."""
        row = session.execute(
            select(ASSIGNMENT.c.id, ASSIGNMENT.c.duedate).filter_by(name=name)
        ).first()
        if row is None:
            return
        due = row.duedate and row.duedate.replace(tzinfo=UTC)
        if name in self.due and not (partial and due):
            due = self.due[name]
            session.execute(
                update(ASSIGNMENT).filter_by(id=row.id).values(duedate=naive(due))
            )
        known = session.execute(
            select(SUBMITTED.c.id, SUBMITTED.c.student_id)
            .filter_by(assignment_id=row.id)
            .where(SUBMITTED.c.student_id.in_(students))
        ).all()
        for submission, student in known:
            time = read_stamp(students[student].folder, self.zone)
            values: dict[str, Any] = {"timestamp": naive(time)}
            if self.extended is not None:
                until = self.until(student, name, due)
                more = until - due if until and due else timedelta()
                values["extension"] = more or None
            session.execute(update(SUBMITTED).filter_by(id=submission).values(values))


def read_extensions(
    path: Path, names: list[str], deadlines: Deadlines
) -> dict[tuple[str, str], Extension]:
    """``student_id,assignment,due`` by student and assignment."""
    sheet = Sheet.read(path)
    headings = [heading.strip().lower() for heading in sheet.columns]
    wanted = ("student_id", "assignment", "due")
    if missing := [heading for heading in wanted if heading not in headings]:
        raise CourseError(
            f"{path} has no column {missing[0]}; it needs the columns "
            f"{', '.join(wanted)}."
        )
    extended: dict[tuple[str, str], Extension] = {}
    for row in sheet.rows:
        student, name, due = (sheet.value(row, headings.index(h)) for h in wanted)
        if not student and not name:
            continue
        if name not in (*names, EVERY) and (near := meant(name, names)):
            raise CourseError(
                f"{path}, line {row + 1}: there is no assignment {one_line(name)}; did "
                f"you mean {near}?"
            )
        try:
            until = Extension.of(due, deadlines.zone)
            for each, end in deadlines.due.items():
                if name in (each, EVERY):
                    deadlines.end(until, name, each, end)
        except CourseError as error:
            who = f"{path}, line {row + 1}, {one_line(student)}"
            raise CourseError(f"{who}: {error}") from None
        if extended.setdefault((student, name), until) != until:
            raise CourseError(
                f"{path}, line {row + 1}: {one_line(student)} has another extension "
                f"for {name} in a line above; keep one of them."
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
