"""Bulk SQL for the gradebook: one statement for all the grades of a submission."""

from __future__ import annotations

from typing import Any, NamedTuple

from nbgrader.api import (
    Assignment,
    BaseCell,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import Table, bindparam, insert, select, update


class Kept(NamedTuple):
    """What the gradebook has of a submission now: answers that wait for a person, all
    points so far, and how many of them people gave."""

    waiting: int
    score: float
    by_hand: float


def cells_of(assignment: str, table: Any, *columns: Any) -> Any:
    """Student, cell, notebook and these columns of the grades, or of the comments."""
    return (
        select(SubmittedAssignment.student_id, BaseCell.name, Notebook.name, *columns)
        .join(SubmittedNotebook, SubmittedNotebook.id == table.notebook_id)
        .join(BaseCell, BaseCell.id == table.cell_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(
            SubmittedAssignment,
            SubmittedAssignment.id == SubmittedNotebook.assignment_id,
        )
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == assignment)
    )


def insert_row(session: Any, table: Table, row: dict[str, Any]) -> str:
    """Insert a row; its new id."""
    return session.execute(insert(table).values(row)).inserted_primary_key[0]


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
