"""Rows of the gradebook's tables: one statement for all of a submission."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, bindparam, insert, select, update


def add(session: Any, table: Table, row: dict[str, Any]) -> str:
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
