"""Access to nbgrader's gradebook, a database: students, and an assignment's questions.

Grading and the reports open it here; of the processes of a grading, only one writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Self

import nbgrader.api
from alembic.script import ScriptDirectory
from nbformat.notebooknode import from_dict
from nbgrader.api import Assignment, Gradebook, Student
from nbgrader.utils import compute_checksum
from sqlalchemy import create_engine, func, select
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import NullPool

from autograder.course import Course
from autograder.errors import CourseError
from autograder.notebook.records import Release

MAKING, WRITING = 0x6E626772, 0x6E626773  # locks of a PostgreSQL, by number
NOTHING = (
    "Nothing is graded yet, so a dry run has nothing to compare with; grade without "
    "--dry-run."
)
WAIT = 60  # seconds to wait for another program that holds SQLite's lock


@cache
def schema_version() -> str | None:
    """The newest of nbgrader's migrations, which every new gradebook notes.

    nbgrader starts a program to find out. That takes more than a second, and the
    program has to be on the PATH; it reads the same folder.
    """
    folder = Path(nbgrader.api.__file__).with_name("alembic")
    return ScriptDirectory(str(folder)).get_current_head()


nbgrader.api.get_alembic_version = schema_version


@dataclass(frozen=True)
class NotebookRows:
    """The ids of the rows that a notebook has in the gradebook.

    Task cells are graded, and answered by what stands below them.
    """

    assignment: str
    notebook: str
    graded: dict[str, str]  # cells with points, by the names that verdicts have
    answered: dict[str, str]  # cells with answers


def known_names(course: Course) -> dict[str, str]:
    """Students' names by id, for a page that needs no gradebook: none without one."""
    try:
        with OpenGradebook(course, create=False) as gradebook:
            return gradebook.names()
    except CourseError:
        return {}


class OpenGradebook:
    """A course's gradebook, open; a context manager."""

    def __init__(self, course: Course, *, create: bool = True) -> None:
        settings = course.nbgrader().get("CourseDirectory", {})
        self.url = settings.get("db_url") or f"sqlite:///{course.root}/gradebook.db"
        if self.url.startswith("sqlite") and "timeout=" not in self.url:
            self.url += ("&" if "?" in self.url else "?") + f"timeout={WAIT}"
        self.rows: dict[str, list[NotebookRows]] = {}  # by assignment
        path = course.root / "gradebook.db"
        if not create and not settings.get("db_url") and not path.exists():
            raise CourseError(NOTHING)
        with self.in_turn():
            self.gradebook = Gradebook(
                self.url, settings.get("course_id", "default_course")
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.gradebook.close()

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """Turn database errors into a CourseError with a sentence."""
        try:
            yield
        except IntegrityError:
            raise CourseError(
                "Another program wrote the same row of the gradebook at the same "
                "moment. Grades so far are stored; run the same command again."
            ) from None
        except DatabaseError as error:
            if "locked" in str(error):
                raise CourseError(
                    f"The gradebook was locked by another program for {WAIT} s. What "
                    "was graded so far is stored; run the same command again."
                ) from None
            damaged = not isinstance(error, OperationalError)
            more = ". Move the file away, or restore a backup of it." if damaged else ""
            says = f"The gradebook cannot be used: {error.orig}{more}"
            raise CourseError(says) from None

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Lock for table creation, where several graders share one PostgreSQL.

        It covers the rows of an assignment, too. A course in SQLite has one grader.
        """
        engine = create_engine(self.url, poolclass=NullPool)
        with self.reachable():
            if engine.dialect.name != "postgresql":
                yield
                return
            with engine.connect() as connection:  # the lock ends with it
                connection.execute(select(func.pg_advisory_lock(MAKING)))
                yield

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A transaction: all of it or nothing is written; one grader after another."""
        session = self.gradebook.db
        with self.reachable():
            try:
                if self.gradebook.engine.dialect.name == "postgresql":
                    session.execute(select(func.pg_advisory_xact_lock(WRITING)))
                yield session
                session.commit()
            except BaseException:
                session.rollback()
                raise

    # ------------------------------------------------------------- students

    def refused(self, students: set[str]) -> dict[str, str]:
        """The students whose names cannot be stored, each with the reason.

        nbgrader's column has a length; SQLite takes longer names all the same.
        """
        limit = inf if self.url.startswith("sqlite") else Student.id.type.length
        found = {}
        for student in students:
            why = f"has more than {limit} characters" if len(student) > limit else ""
            if student.encode(errors="replace").decode() != student:
                why = "is not in UTF-8"
            if why:
                found[student] = (
                    f"the gradebook cannot store this name, which {why}. Rename the "
                    "folder in submitted/."
                )
        return found

    # ------------------------------------------------------- the assignment

    def names(self) -> dict[str, str]:
        """Everybody in the gradebook, by id, with the name if it is known."""
        columns = Student.id, Student.first_name, Student.last_name
        with self.reachable():
            rows = self.gradebook.db.execute(select(*columns)).all()
        return {who: " ".join(filter(None, name)) for who, *name in rows}

    def assignments(self) -> list[str]:
        """The names of those in the gradebook."""
        with self.reachable():
            return sorted(self.gradebook.db.scalars(select(Assignment.name)))

    def prepare(self, releases: Sequence[Release]) -> None:
        """Make the rows of an assignment what its solution notebooks say."""
        name = releases[0].assignment
        with self.in_turn():
            with self.at_once():
                self.gradebook.update_or_create_assignment(name)
                for release in releases:
                    self.prepare_notebook(release)
            several = len(releases) > 1
            self.rows[name] = [
                self.rows_of(one, f"{one.notebook}/" if several else "")
                for one in releases
            ]

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """One transaction around methods of nbgrader that commit each row."""
        session = self.gradebook.db
        with self.transaction():
            session.commit = session.flush
            try:
                yield
            finally:
                del session.commit

    def prepare_notebook(self, release: Release) -> None:
        """Make the rows of one notebook what the solution says."""
        book, name = self.gradebook, release.notebook
        assignment = release.assignment
        kernel = json.dumps(release.metadata.get("kernelspec", {}))
        book.update_or_create_notebook(name, assignment, kernelspec=kernel)
        self.remove_old_cells(release)
        for cell in release.cells:
            where = (cell.grade_id, name, assignment)
            kind = {"cell_type": cell.cell_type}
            points = kind | {"max_score": cell.points}
            if cell.kind in ("test", "written"):
                book.update_or_create_grade_cell(*where, **points)
            if cell.kind == "task":
                book.update_or_create_task_cell(*where, **points)
            if cell.kind in ("answer", "written"):
                book.update_or_create_solution_cell(*where)
            node = from_dict(kind | {"source": cell.source, "metadata": cell.metadata})
            book.update_or_create_source_cell(
                *where,
                source=cell.source,
                locked=cell.kind in ("test", "locked", "task"),
                checksum=compute_checksum(node),
                **kind,
            )

    def rows_of(self, release: Release, prefix: str) -> NotebookRows:
        """Look up the rows of one notebook."""
        notebook = self.gradebook.find_notebook(release.notebook, release.assignment)
        graded = [*notebook.grade_cells, *notebook.task_cells]
        answered = [*notebook.solution_cells, *notebook.task_cells]
        return NotebookRows(
            notebook.assignment_id,
            notebook.id,
            {prefix + cell.name: cell.id for cell in graded},
            {prefix + cell.name: cell.id for cell in answered},
        )

    def remove_old_cells(self, release: Release) -> None:
        """Remove cells that the release no longer has, unless people graded them."""
        kinds = {cell.grade_id: cell.kind for cell in release.cells}
        wanted = {
            "GradeCell": {n for n, k in kinds.items() if k in ("test", "written")},
            "SolutionCell": {n for n, k in kinds.items() if k in ("answer", "written")},
            "TaskCell": {n for n, k in kinds.items() if k == "task"},
        }
        session = self.gradebook.db
        notebook = self.gradebook.find_notebook(release.notebook, release.assignment)
        for cell in list(notebook._base_cells):
            if cell.name in wanted.get(cell.type, ()):
                continue
            by_hand = any(g.manual_score is not None for g in cell.grades)
            if by_hand or any(c.manual_comment for c in cell.comments):
                raise CourseError(
                    f"{release.assignment} no longer has the cell {cell.name}, "
                    "although people have graded it already; put the cell back."
                )
            for row in [*cell.grades, *cell.comments, cell]:
                session.delete(row)
        for cell in list(notebook.source_cells):
            if cell.name not in kinds:
                session.delete(cell)
        session.flush()
        session.expire(notebook)
