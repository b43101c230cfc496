"""What test cells of nbgrader courses do, one idiom after the other.

``idioms.jsonl`` has them: each has a right answer, a wrong one, and a test cell worth a
point. ``remote`` tells
whether a judge behind the wall can run the test; those of the others need
``tests = "inside"``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


@dataclass(frozen=True)
class Idiom:
    """An answer and how a course tests it."""

    name: str
    right: str
    wrong: str
    test: str
    remote: bool = True
    points: float = 1.0


with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as file:
    IDIOMS = [Idiom(**json.loads(line)) for line in file]


def notebook(only: list[Idiom] | None = None) -> nbformat.NotebookNode:
    """The instructor's notebook: a locked helper, then answers and tests."""
    cells = [new_markdown_cell("# Idioms")]
    cells.append(cell("helper", HELPER, locked=True))
    for number, idiom in enumerate(only or IDIOMS):
        answer = f"### BEGIN SOLUTION\n{idiom.right}\n### END SOLUTION"
        cells.append(cell(f"answer_{number}", answer, solution=True))
        cells.append(
            cell(
                f"test_{number}", idiom.test, grade=True, locked=True,
                points=idiom.points,
            )
        )  # fmt: skip
    return new_notebook(cells=cells, metadata={"kernelspec": PYTHON})


PYTHON = {"name": "python3", "display_name": "Python 3", "language": "python"}
HELPER = (
    "import numpy as np\ndef price_of(thing):\n    return {'tea': 2, 'milk': 3}[thing]"
)


def cell(name: str, source: str, **about: object) -> nbformat.NotebookNode:
    """A code cell with nbgrader's metadata."""
    kinds = {"grade": False, "solution": False, "locked": False, "schema_version": 3}
    metadata = {"nbgrader": {**kinds, "task": False, "grade_id": name, **about}}
    return new_code_cell(source, metadata=metadata)


def answered(released: dict, wrong: bool = False) -> str:
    """The students' notebook, with every answer right, or every one wrong."""
    filled = json.loads(json.dumps(released))
    for each in filled["cells"]:
        name = each["metadata"].get("nbgrader", {}).get("grade_id", "")
        if name.startswith("answer_"):
            idiom = IDIOMS[int(name.removeprefix("answer_"))]
            each["source"] = idiom.wrong if wrong else idiom.right
    return json.dumps(filled)
