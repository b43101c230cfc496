"""Hooks for manual grading in formgrader: one grade for a team, and who gave it.

When a person saves a grade or a comment, it also goes to the members of the team whose
answer is the same. This happens in formgrader's process, before the database is
written; the history of points gets a line after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any

from nbgrader.api import Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import event, inspect, make_url, select
from sqlalchemy.orm import Session

from autograder.course import Course
from autograder.grading import point_history
from autograder.grading.store import VERDICTS, Store
from autograder.grading.verdict import Verdict
from autograder.intake.versions import origin_of

VALUES = {Grade: "manual_score", Comment: "manual_comment"}


@cache
def watch(course: Course) -> None:
    """From now on, look at what this process writes into the course's gradebook."""
    with Store(course) as store:
        ours = make_url(store.url)
    mine = f"by hand in {course.root}"

    @event.listens_for(Session, "before_flush")
    def share(session: Any, *_: object) -> None:
        url = session.get_bind().url
        if (url.host, url.database) != (ours.host, ours.database):
            return
        for row in list(session.dirty):
            name = VALUES.get(type(row))
            change = inspect(row).attrs[name].history if name else None
            if name is None or change is None or not change.has_changes():
                continue
            if name == "manual_score" and row.manual_score is not None:
                row.manual_score = float(row.manual_score)  # formgrader sends a text
            if [getattr(row, name)] == list(change.deleted):
                continue
            session.info.setdefault(mine, []).extend(
                about(each)
                for each in (row, *shared(course, session, row, change.deleted))
            )

    @event.listens_for(Session, "after_commit")
    def note(session: Any) -> None:
        if lines := session.info.pop(mine, None):
            point_history.given(course, lines)

    @event.listens_for(Session, "after_rollback")
    def forget(session: Any) -> None:
        session.info.pop(mine, None)


def about(row: Any) -> point_history.Line:
    """Who gave what to whom."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "student": row.student.id,
        "assignment": row.assignment.name,
        "by": point_history.user(),
        "given": {row.name: getattr(row, VALUES[type(row)])},
    }


def shared(course: Course, session: Any, row: Any, old: list[Any]) -> Iterator[Any]:
    """The rows of a team's other members, which get the same.

    Of those whose answer is the same, and who had the same so far.
    """
    kind, name = type(row), VALUES[type(row)]
    with session.no_autoflush:
        mates = team(course, session, row)
        rows = session.scalars(
            select(kind)
            .join(kind.notebook)
            .join(SubmittedNotebook.assignment)
            .where(kind.cell_id == row.cell_id)
            .where(SubmittedAssignment.student_id.in_(mates))
        ).all()
        for mate in rows:
            if (getattr(mate, name) or None) == ((old or [None])[0] or None):
                setattr(mate, name, getattr(row, name))
                if kind is Grade:
                    mate.needs_manual_grade = row.needs_manual_grade
                yield mate


def team(course: Course, session: Any, row: Any) -> list[str]:
    """The students of the same team with the same answer, without this one."""
    student, assignment = row.student.id, row.assignment.name
    origin = origin_of(course, student, assignment)
    if origin is None or not origin.team:
        return []
    mates = [
        folder.name
        for folder in course.collected.iterdir()
        if (other := origin_of(course, folder.name, assignment))
        and other.team == origin.team
    ]
    query = select(VERDICTS.c.student, VERDICTS.c.verdict).where(
        VERDICTS.c.assignment == assignment, VERDICTS.c.student.in_(mates)
    )
    rows = session.execute(query).all()
    answers = {mate: Verdict.from_json(verdict).answers for mate, verdict in rows}
    mine = answers.pop(student, None)
    return [mate for mate, same in answers.items() if mine and same == mine]
