"""The gradebook: nbgrader's own tables, and one table of verdicts beside them.

Only the process that drives grading opens it for writing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbgrader.api
from alembic.script import ScriptDirectory
from nbformat import NotebookNode
from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.utils import compute_checksum
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
from sqlalchemy.exc import IntegrityError, OperationalError

from autograder.course import Course, CourseError, printable

WAIT = 60  # seconds to wait for another program that holds SQLite's lock


def schema_version() -> str:
    """The newest of nbgrader's migrations, which every new gradebook notes.

    nbgrader starts a program to find out. That takes more than a second, and the
    program has to be on the PATH; it reads the same folder.
    """
    folder = Path(nbgrader.api.__file__).with_name("alembic")
    return ScriptDirectory(str(folder)).get_current_head()


nbgrader.api.get_alembic_version = schema_version

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


@dataclass(frozen=True)
class Place:
    """The rows that an assignment has in the gradebook, by their ids."""

    assignment: str
    notebook: str
    graded: dict[str, str]  # cells with points, by name
    answered: dict[str, str]  # cells with answers, by name


class Store:
    """A course's gradebook, open; a context manager."""

    def __init__(self, course: Course, *, create: bool = True) -> None:
        settings = course.nbgrader().get("CourseDirectory", {})
        self.url = settings.get("db_url") or f"sqlite:///{course.root}/gradebook.db"
        if self.url.startswith("sqlite") and "timeout=" not in self.url:
            self.url += ("&" if "?" in self.url else "?") + f"timeout={WAIT}"
        self.places: dict[str, Place] = {}
        path = course.root / "gradebook.db"
        if not create and not settings.get("db_url") and not path.exists():
            raise CourseError(
                "There is no gradebook yet, so there is nothing to compare with; grade "
                "without --dry-run."
            )
        with self.reachable():
            self.gradebook = Gradebook(
                self.url, settings.get("course_id", "default_course")
            )
            VERDICTS.create(self.gradebook.engine, checkfirst=True)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.gradebook.close()

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """Say it in a sentence when the database does not answer."""
        try:
            yield
        except OperationalError as error:
            if "locked" in str(error):
                raise CourseError(
                    f"The gradebook was locked by another program for {WAIT} s. What "
                    "was graded so far is stored; run the same command again."
                ) from None
            raise CourseError(f"The gradebook cannot be used: {error.orig}") from None
        except IntegrityError:
            raise CourseError(
                "Another program made the same row of the gradebook at the same "
                "moment. What was graded so far is stored; run the same command again."
            ) from None

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """All of it is written, or nothing."""
        session = self.gradebook.db
        with self.reachable():
            try:
                yield session
                session.commit()
            except BaseException:
                session.rollback()
                raise

    # ------------------------------------------------------------- students

    def accept(self, students: set[str]) -> None:
        """CourseError when a name cannot be stored; then nothing is graded at all.

        nbgrader's column has a length; SQLite takes longer names all the same.
        """
        longest = None if self.url.startswith("sqlite") else Student.id.type.length
        for student in sorted(students):
            why = ""
            if student.encode(errors="replace").decode() != student:
                why = "is not in UTF-8"
            elif longest and len(student) > longest:
                why = f"has more than {longest} characters, which is all it takes"
            if why:
                raise CourseError(
                    f"The gradebook cannot hold the student {printable(student)}: the "
                    f"name {why}. Rename the folder in submitted/. Nothing was graded."
                )

    # ------------------------------------------------------- the assignment

    def prepare(self, release: dict[str, Any]) -> None:
        """Make the rows of the assignment what its solution notebook says."""
        book, name = self.gradebook, release["notebook"]
        assignment = release["assignment"]
        with self.reachable():
            book.update_or_create_assignment(assignment)
            book.update_or_create_notebook(
                name,
                assignment,
                kernelspec=json.dumps(release["metadata"].get("kernelspec", {})),
            )
            self.remove_old_cells(release)
            for cell in release["cells"]:
                where = (cell["grade_id"], name, assignment)
                kind = {"cell_type": cell["cell_type"]}
                if cell["kind"] in ("test", "written"):
                    book.update_or_create_grade_cell(
                        *where, max_score=cell["points"], **kind
                    )
                if cell["kind"] in ("answer", "written"):
                    book.update_or_create_solution_cell(*where)
                node = NotebookNode(
                    cell_type=cell["cell_type"],
                    source=cell["source"],
                    metadata=NotebookNode(
                        nbgrader=NotebookNode(cell["metadata"]["nbgrader"])
                    ),
                )
                book.update_or_create_source_cell(
                    *where,
                    source=cell["source"],
                    locked=cell["kind"] in ("test", "locked"),
                    checksum=compute_checksum(node),
                    **kind,
                )
            notebook = book.find_notebook(name, assignment)
            self.places[assignment] = Place(
                notebook.assignment_id,
                notebook.id,
                {cell.name: cell.id for cell in notebook.grade_cells},
                {cell.name: cell.id for cell in notebook.solution_cells},
            )

    def remove_old_cells(self, release: dict[str, Any]) -> None:
        """Remove cells that the release no longer has, unless people graded them."""
        kinds = {cell["grade_id"]: cell["kind"] for cell in release["cells"]}
        wanted = {
            "GradeCell": {n for n, k in kinds.items() if k in ("test", "written")},
            "SolutionCell": {n for n, k in kinds.items() if k in ("answer", "written")},
        }
        with self.transaction() as session:
            notebook = self.gradebook.find_notebook(
                release["notebook"], release["assignment"]
            )
            for cell in list(notebook._base_cells):
                if cell.name in wanted.get(cell.type, ()):
                    continue
                by_hand = any(g.manual_score is not None for g in cell.grades)
                if by_hand or any(c.manual_comment for c in cell.comments):
                    raise CourseError(
                        f"{release['assignment']} no longer has {cell.name}, which "
                        "people have graded already; put the cell back."
                    )
                for row in [*cell.grades, *cell.comments, cell]:
                    session.delete(row)
            for cell in list(notebook.source_cells):
                if cell.name not in kinds:
                    session.delete(cell)

    # --------------------------------------------------------- the verdicts

    def verdict(self, student: str, assignment: str) -> tuple[str, dict] | None:
        """The stored verdict and the key of what it is about."""
        query = select(VERDICTS.c.key, VERDICTS.c.verdict).where(
            VERDICTS.c.student == student, VERDICTS.c.assignment == assignment
        )
        with self.reachable():
            row = self.gradebook.db.execute(query).first()
        return (row.key, json.loads(row.verdict)) if row else None

    def save(
        self, student: str, release: dict[str, Any], key: str, verdict: dict[str, Any]
    ) -> None:
        """Store a verdict and its points in one transaction."""
        assignment = release["assignment"]
        stored = self.verdict(student, assignment)
        before = stored[1]["answers"] if stored else {}
        kept = {name: part for name, part in verdict.items() if name != "notebook"}
        with self.transaction() as session:
            if verdict["status"] == "graded":
                self.save_points(session, student, release, verdict, before)
            else:
                kept["answers"] = before  # what people's points were given for
            row = {"key": key, "verdict": json.dumps(kept)}
            where = {"student": student, "assignment": assignment}
            if stored:
                session.execute(update(VERDICTS).filter_by(**where).values(row))
            else:
                session.execute(insert(VERDICTS).values(where | row))

    def save_points(
        self,
        session: Any,
        student: str,
        release: dict[str, Any],
        verdict: dict[str, Any],
        before: dict[str, str],
    ) -> None:
        """Points and comments as nbgrader keeps them.

        What people gave stays; it is marked for another look when the answer that it
        was given for has changed.
        """
        place = self.places[release["assignment"]]
        notebook = self.submitted_notebook(session, student, place)
        query = select(GRADE.c.cell_id, GRADE.c.manual_score)
        by_hand = {
            cell
            for cell, given in session.execute(query.filter_by(notebook_id=notebook))
            if given is not None
        }
        grades = {}
        for question in verdict["questions"]:
            name, cell = question["id"], place.graded[question["id"]]
            changed, waits = before.get(name) != verdict["answers"][name], False
            if question["score"] is None:
                waits = changed or cell not in by_hand
            else:
                waits = changed and cell in by_hand
            grades[cell] = {
                "auto_score": question["score"],
                "needs_manual_grade": waits,
            }
        comments = {
            cell: {"auto_comment": "No response." if silent else None}
            for name, cell in place.answered.items()
            for silent in [name in verdict["unanswered"]]
        }
        write(session, GRADE, notebook, grades)
        write(session, COMMENT, notebook, comments)

    def submitted_notebook(self, session: Any, student: str, place: Place) -> str:
        """The row of this student's notebook, made when it is the first time."""
        mine = {"assignment_id": place.assignment, "student_id": student}
        submission = session.scalar(select(SUBMISSION.c.id).filter_by(**mine))
        if submission is None:
            if session.scalar(select(STUDENT.c.id).filter_by(id=student)) is None:
                session.execute(insert(STUDENT).values(id=student))
            submission = add(session, SUBMISSION, mine)
        row = {"notebook_id": place.notebook, "assignment_id": submission}
        notebook = session.scalar(select(NOTEBOOK.c.id).filter_by(**row))
        return notebook or add(session, NOTEBOOK, row)

    # ---------------------------------------------------------- the results

    def results(self, assignment: str) -> list[dict[str, Any]]:
        """Every stored verdict with the points of the gradebook, by student.

        ``by_hand`` tells of a question that a person gave its points.
        """
        points: dict[str, dict[str, tuple[float, bool, bool]]] = defaultdict(dict)
        penalties: dict[str, float] = {}
        graded = (
            select(
                SubmittedAssignment.student_id,
                BaseCell.name,
                Grade.score,
                Grade.needs_manual_grade,
                Grade.manual_score,
                SubmittedNotebook.late_submission_penalty,
            )
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(
                SubmittedAssignment,
                SubmittedAssignment.id == SubmittedNotebook.assignment_id,
            )
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .where(Assignment.name == assignment)
        )
        stored = select(VERDICTS.c.student, VERDICTS.c.verdict).where(
            VERDICTS.c.assignment == assignment
        )
        with self.transaction() as session:
            for student, name, score, waits, by_hand, penalty in session.execute(
                graded
            ):
                points[student][name] = (score, waits, by_hand is not None)
                penalties[student] = penalty or 0.0
            verdicts = sorted(session.execute(stored).all())
        found = []
        for student, text in verdicts:
            verdict = json.loads(text)
            score = None
            if verdict["status"] == "graded":
                for question in verdict["questions"]:
                    missing = (0.0, True, False)
                    given, waits, by_hand = points[student].get(question["id"], missing)
                    question["score"], question["needs_manual_grade"] = given, waits
                    question["by_hand"] = by_hand
                score = sum(question["score"] for question in verdict["questions"])
                score = round(score - penalties.get(student, 0.0), 6)
            found.append(verdict | {"student": student, "score": score})
        return found


def add(session: Any, table: Table, row: dict[str, Any]) -> str:
    """Insert a row; its new id."""
    return session.execute(insert(table).values(row)).inserted_primary_key[0]


def write(
    session: Any, table: Table, notebook: str, rows: dict[str, dict[str, Any]]
) -> None:
    """Write one row for each cell of a student's notebook: a new one, or over the old.

    Columns that are not in ``rows`` stay: those are what people wrote.
    """
    found = select(table.c.cell_id).filter_by(notebook_id=notebook)
    old = set(session.scalars(found))
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
