"""Right answers in notebooks that students have cut, merged, moved and filled.

A case changes the cells of a right notebook of 01-attention: it is honest work, so it
gets all points of the code, and its written answer waits for a person.
"""

import base64
import copy
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Cells = list[dict[str, Any]]
NAMES = ["softmax", "attention_scores", "scaled_dot_product_attention"]
POINTS = [4.0, 4.0, 8.0]
WRITTEN = "explain_roles"


@dataclass(frozen=True)
class Case:
    """``change`` makes the notebook; ``points`` are due for its three code questions.

    ``waits``: the written answer is for a person; else it counts as not given.
    ``says`` has to stand in the autograded notebook, or in what `check` prints.
    """

    id: str
    change: Callable[[Cells], Cells]
    points: tuple[float, ...] = tuple(POINTS)
    waits: bool = True
    says: str = ""
    never: str = ""


def code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}


def text(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}, **more}


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def place(cells: Cells, name: str) -> int:
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    return ids.index(name)


def cell_of(cells: Cells, name: str) -> dict[str, Any]:
    return cells[place(cells, name)]


def answers(cells: Cells) -> list[str]:
    """The code of the three answers."""
    return [source_of(cell_of(cells, name)) for name in NAMES]


def without(cells: Cells, *names: str) -> Cells:
    gone = {place(cells, name) for name in names}
    return [cell for number, cell in enumerate(cells) if number not in gone]


def stub(name: str) -> str:
    arguments = {"softmax": "x, axis=-1", "attention_scores": "Q, K"}
    return (
        f"def {name}({arguments.get(name, 'Q, K, V')}):\n"
        "    raise NotImplementedError  # your answer here"
    )


def first(*sources: str) -> Callable[[Cells], Cells]:
    """Own code cells in front of everything."""
    return lambda cells: [*map(code, sources), *cells]


def last(*sources: str) -> Callable[[Cells], Cells]:
    return lambda cells: [*cells, *map(code, sources)]


def after(name: str, *new: dict[str, Any]) -> Callable[[Cells], Cells]:
    """Own cells after one of the course's."""

    def change(cells: Cells) -> Cells:
        where = place(cells, name) + 1
        return [*cells[:where], *copy.deepcopy(list(new)), *cells[where:]]

    return change


def edited(name: str, edit: Callable[[str], str]) -> Callable[[Cells], Cells]:
    """A cell of the course with its text changed."""

    def change(cells: Cells) -> Cells:
        cell_of(cells, name)["source"] = edit(source_of(cell_of(cells, name)))
        return cells

    return change


def both(*changes: Callable[[Cells], Cells]) -> Callable[[Cells], Cells]:
    def change(cells: Cells) -> Cells:
        for one in changes:
            cells = one(cells)
        return cells

    return change


def answer(name: str, source: str) -> Callable[[Cells], Cells]:
    """The answer to a question, written differently."""
    return edited(name, lambda _: source)


def picture(width: int = 2, height: int = 2) -> str:
    """A PNG, as a notebook holds it."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        checksum = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + checksum

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x80\x20\x40" * width) * height
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    content += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(content).decode()
