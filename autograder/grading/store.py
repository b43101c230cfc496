"""Storage of verdicts: points in nbgrader's tables, the rest in a table beside them.

Grading saves here. Reports and exports read verdicts back with the points that people
have given since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property
from operator import add
from typing import Any, NamedTuple

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import (
    Column,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    insert,
    select,
    update,
)

from autograder.course import Course
from autograder.grading import point_history
from autograder.grading.deadlines import Penalties, lateness
from autograder.grading.gradebook import NotebookRows, OpenGradebook
from autograder.grading.verdict import Verdict

VERDICTS = Table(
    "autograder_verdict",
    MetaData(),
    Column("student", String(128), primary_key=True),
    Column("assignment", String(128), primary_key=True),
    Column("key", String(64), nullable=False),
    Column("verdict", Text, nullable=False),
)


# Tables rather than objects: one statement for all the rows of a submission
STUDENT, SUBMISSION = Student.__table__, SubmittedAssignment.__table__
NOTEBOOK = SubmittedNotebook.__table__
GRADE, COMMENT = Grade.__table__, Comment.__table__


class Stored(NamedTuple):
    """A verdict in the gradebook, and the key of what it is about."""

    key: str
    verdict: Verdict


class Kept(NamedTuple):
    """What the gradebook has of a submission now: answers that wait for a person, all
    points so far, and how many of them people gave."""

    waiting: int
    score: float
    by_hand: float


class Store(OpenGradebook):
    """A course's gradebook with its verdicts, open; a context manager."""

    def __init__(self, course: Course, *, create: bool = True) -> None:
        super().__init__(course, create=create)
        self.course = course
        with self.in_turn():
            VERDICTS.create(self.gradebook.engine, checkfirst=True)

    # --------------------------------------------------------- the verdicts

    def verdict(self, student: str, assignment: str) -> Stored | None:
        """The stored verdict and the key of what it is about."""
        query = select(VERDICTS.c.key, VERDICTS.c.verdict).where(
            VERDICTS.c.student == student, VERDICTS.c.assignment == assignment
        )
        with self.reachable():
            row = self.gradebook.db.execute(query).first()
        return Stored(row.key, Verdict.from_json(row.verdict)) if row else None

    def save(
        self,
        student: str,
        assignment: str,
        key: str,
        verdict: Verdict,
        also: Callable[[Any], None] = lambda session: None,
    ) -> Kept:
        """Store a verdict and its points in one transaction; what has come of it.

        ``also`` writes what else belongs to it, with the transaction's session.
        """
        stored = self.verdict(student, assignment)
        before = stored.verdict.answers if stored else {}
        kept = Kept(0, 0.0, 0.0)
        with self.transaction() as session:
            if verdict.held:  # keep what people's points were given for
                verdict = replace(verdict, answers=before)
            else:
                for place in self.rows[assignment]:
                    more = self.save_points(session, student, place, verdict, before)
                    kept = Kept(*map(add, kept, more))
            row = {"key": key, "verdict": verdict.to_json()}
            where = {"student": student, "assignment": assignment}
            if stored:
                session.execute(update(VERDICTS).filter_by(**where).values(row))
            else:
                session.execute(insert(VERDICTS).values(where | row))
            also(session)
        return kept

    def save_points(
        self,
        session: Any,
        student: str,
        place: NotebookRows,
        verdict: Verdict,
        before: Mapping[str, str],
    ) -> Kept:
        """Points and comments of one notebook; what has come of it.

        What people gave stays; it is marked for another look when the answer that it
        was given for has changed.
        """
        notebook = self.submitted_notebook(session, student, place)
        query = select(GRADE.c.cell_id, GRADE.c.manual_score, GRADE.c.extra_credit)
        rows = session.execute(query.filter_by(notebook_id=notebook)).all()
        by_hand = {cell: given for cell, given, _ in rows if given is not None}
        score = given = sum(by_hand.values()) + sum(more or 0.0 for *_, more in rows)
        grades, waiting = {}, 0
        for question in verdict.questions:
            cell = place.graded.get(question.id)
            if cell is None:  # of another notebook
                continue
            changed = before.get(question.id) != verdict.answers[question.id]
            known = cell in by_hand
            waits = changed if known else question.score is None
            grades[cell] = {"auto_score": question.score, "needs_manual_grade": waits}
            score += 0.0 if known else question.score or 0.0
            waiting += waits
        comments = {
            cell: {"auto_comment": "No response." if silent else None}
            for name, cell in place.answered.items()
            for silent in [name in verdict.unanswered]
        }
        write(session, GRADE, notebook, grades)
        write(session, COMMENT, notebook, comments)
        return Kept(waiting, score, given)

    def submitted_notebook(
        self, session: Any, student: str, place: NotebookRows
    ) -> str:
        """The row of this student's notebook, made when it is the first time."""
        if session.scalar(select(STUDENT.c.id).filter_by(id=student)) is None:
            session.execute(insert(STUDENT).values(id=student))
        submission = found_or_made(
            session, SUBMISSION, assignment_id=place.assignment, student_id=student
        )
        return found_or_made(
            session, NOTEBOOK, notebook_id=place.notebook, assignment_id=submission
        )

    # ---------------------------------------------------------- the results

    def results(self, assignment: str) -> dict[str, Verdict]:
        """Every stored verdict with the points of the gradebook, by student.

        What has changed since they were read last goes into the record.
        """
        points: dict[str, dict[str, Points]] = defaultdict(dict)
        late: dict[str, float | None] = {}
        taken: dict[str, dict[str, float]] = defaultdict(dict)  # off, by notebook
        graded = cells_of(
            assignment,
            Grade,
            Grade.score,
            Grade.needs_manual_grade,
            Grade.manual_score,
            SubmittedNotebook.late_submission_penalty,
            SubmittedAssignment.timestamp,
            Assignment.duedate,
            SubmittedAssignment.extension,
        )
        stored = select(VERDICTS.c.student, VERDICTS.c.verdict).where(
            VERDICTS.c.assignment == assignment
        )
        with self.transaction() as session:
            for row in session.execute(graded):
                student, name, notebook, score, waiting, by_hand, *times = row
                given = Points(score, waiting, by_hand is not None)
                # where there are several notebooks, a question is called after its own
                points[student] |= {name: given, f"{notebook}/{name}": given}
                penalty, *moments = times
                late[student] = lateness(*moments)
                taken[student][notebook] = penalty or 0.0
            verdicts = sorted(session.execute(stored).all())
        results = {}
        for student, text in verdicts:
            verdict = decided(Verdict.from_json(text), points[student])
            seconds, penalty = late.get(student), sum(taken[student].values())
            if seconds:  # points by hand may have come since
                penalty = self.penalties.of(student, verdict.earned, seconds)
            elif seconds == 0:
                penalty = 0.0
            results[student] = replace(verdict, late=seconds, penalty=penalty)
        if results:
            comments = {
                student: "".join(f"{name}: {text}\n" for name, text in mine.items())
                for student, mine in self.comments(assignment).items()
            }
            point_history.note(self.course, assignment, results, comments)
        return results

    def comments(self, assignment: str) -> dict[str, dict[str, str]]:
        """What people wrote, by student and by notebook and cell."""
        written = cells_of(assignment, Comment, Comment.manual_comment)
        found: dict[str, dict[str, str]] = defaultdict(dict)
        with self.transaction() as session:
            for student, name, notebook, text in sorted(
                row for row in session.execute(written) if row.manual_comment
            ):
                found[student][f"{notebook}/{name}"] = text
        return found

    def students(self) -> set[str]:
        """Everybody in the gradebook."""
        return set(self.names())

    @cached_property
    def penalties(self) -> Penalties:
        """The course's rule for late work."""
        return Penalties(self.course)

    def enter_penalties(self, assignment: str, students: Collection[str]) -> None:
        """Show formgrader and nbgrader's feedback what late work costs now.

        Of several notebooks the first bears it, so that it is taken off once.
        """
        found = self.results(assignment)
        with self.transaction():
            for student in set(students) & found.keys():
                verdict = found[student]
                if verdict.held or verdict.late is None:
                    continue
                mine = self.gradebook.find_submission(assignment, student).notebooks
                first, *more = sorted(mine, key=lambda notebook: notebook.name)
                first.late_submission_penalty = verdict.penalty or None
                for notebook in more:
                    notebook.late_submission_penalty = None


def found_or_made(session: Any, table: Table, **row: str) -> str:
    """The id of this row of a table."""
    known = session.scalar(select(table.c.id).filter_by(**row))
    return known or session.execute(insert(table).values(row)).inserted_primary_key[0]


def write(
    session: Any, table: Table, notebook: str, rows: dict[str, dict[str, Any]]
) -> None:
    """Write one row for each cell of a student's notebook: a new one, or over the old.

    Columns that are not in ``rows`` stay: those are what people wrote.
    """
    known = select(table.c.cell_id).filter_by(notebook_id=notebook)
    old = set(session.scalars(known))
    new = [
        {"cell_id": cell, "notebook_id": notebook, **row}
        for cell, row in rows.items()
        if cell not in old
    ]
    if new:
        session.execute(insert(table), new)
    over = [{"cell": cell} | row for cell, row in rows.items() if cell in old]
    if over:
        where = (table.c.cell_id == bindparam("cell")) & (
            table.c.notebook_id == notebook
        )
        session.connection().execute(update(table).where(where), over)


def cells_of(assignment: str, table: Any, *columns: Any) -> Any:
    """Student, cell, notebook and these columns of the grades, or of the comments."""
    return (
        select(SubmittedAssignment.student_id, BaseCell.name, Notebook.name, *columns)
        .select_from(table)
        .join(table.notebook)
        .join(table.cell)
        .join(SubmittedNotebook.notebook)
        .join(SubmittedNotebook.assignment)
        .join(SubmittedAssignment.assignment)
        .where(Assignment.name == assignment)
    )


class Points(NamedTuple):
    """What the gradebook says of a question: points, and what people did or have to."""

    score: float
    waiting: bool
    by_hand: bool


MISSING = Points(0.0, True, False)


def decided(verdict: Verdict, points: Mapping[str, Points]) -> Verdict:
    """The verdict with what people have decided since."""
    questions = tuple(
        replace(question, **points.get(question.id, MISSING)._asdict())
        for question in verdict.questions
    )
    return replace(verdict, questions=questions)
