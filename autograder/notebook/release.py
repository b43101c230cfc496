"""Parser of the students' notebook of an assignment: what each of its cells is for.

It also finds the assignment that a student's notebook answers, among those installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.notebook.cell_search import resemblance
from autograder.notebook.reading import text_of
from autograder.notebook.records import Kind, Release, ReleasedCell, SubmittedCell
from autograder.notebook.test_cells import profile_of


def kind_of(about: dict[str, Any], cell_type: str) -> Kind:
    """What a cell is for, by nbgrader's metadata."""
    if about.get("task"):
        return "task"
    if about.get("solution"):
        by_hand = about.get("grade") or cell_type != "code"
        return "written" if by_hand else "answer"
    if about.get("grade") and cell_type == "code":
        return "test"
    return "locked"


def released_cell(cell: dict[str, Any], source: str | None = None) -> ReleasedCell:
    """A cell of the students' notebook; ``source`` is the instructor's, of a test."""
    metadata = cell["metadata"]
    about = metadata["nbgrader"]
    kind = kind_of(about, cell["cell_type"])
    text = text_of(cell["source"])
    return ReleasedCell(
        kind=kind,
        grade_id=about["grade_id"],
        cell_type=cell["cell_type"],
        released=text,
        source=source if kind == "test" and source is not None else text,
        points=float(about.get("points", 0)),
        id=cell.get("id", ""),
        metadata=metadata,
        attachments=cell.get("attachments", {}),
    )


def is_released(cell: Mapping[str, Any]) -> bool:
    """Whether a cell has a name of nbgrader's; without one, it is nobody's."""
    return bool(cell["metadata"].get("nbgrader", {}).get("grade_id"))


def nameless(cells: list[dict[str, Any]]) -> tuple[str, ...]:
    """The texts of the course's own cells that have no name."""
    return tuple(text_of(cell["source"]) for cell in cells if not is_released(cell))


def release_in(path: Path) -> Release:
    """The release that a students' notebook is, as far as students can see it."""
    notebook = json.loads(path.read_text("utf-8"))
    cells = tuple(
        released_cell(cell) for cell in notebook["cells"] if is_released(cell)
    )
    return Release(
        assignment=path.parent.name,
        notebook=path.stem,
        cells=cells,
        profile=profile_of([cell.released for cell in cells]),
        metadata=notebook["metadata"],
        nameless=nameless(notebook["cells"]),
    )


def release_of(submitted: list[SubmittedCell]) -> Release | None:
    """The release that a notebook answers, by its cells; None if it is not known."""
    released = (
        release_in(path)
        for course in registry.courses()
        for path in sorted(course.exercises.glob("*/*.ipynb"))
    )
    alike = [(resemblance(release, submitted), release) for release in released]
    best = max(alike, key=lambda pair: pair[0], default=None)
    return best[1] if best and best[0] else None
