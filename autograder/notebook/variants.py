"""A student's variant of a notebook: other examples on its cards, which are checked.

The code of a variant stands in the test cells. Grading does not believe it: there, it
follows from who handed the notebook in.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.checks.variant import Worked
from autograder.notebook.reading import text_of
from autograder.notebook.records import MatchedCell, Release, SubmittedCell

CHECKS = Path(__file__).resolve().parents[1] / "checks"
CODE = re.compile(r"[0-9a-f]{12}")
MOST = 3  # codes of one notebook that are looked at
PLAIN = re.compile(r"^check\.(?P<name>\w+)\(\w+(?=\)[ \t]*$)", re.MULTILINE)
CODED = re.compile(
    r"^(?P<call>check\.\w+\(\w+), *variant=[\"'](?P<code>[^\"'\n]*)[\"'](?=\)[ \t]*$)",
    re.MULTILINE,
)


def worked_in(notebook: str) -> Mapping[str, Worked]:
    """The examples of a notebook that may be drawn, by question."""
    if not (CHECKS / notebook / "examples.py").is_file():
        return {}
    package = importlib.import_module(f"autograder.checks.{notebook}")
    package.assignment.load("examples")
    return package.assignment.examples


def codes_in(cells: list[SubmittedCell]) -> list[str]:
    """The codes that stand in a notebook, the most frequent first; a few are enough."""
    found = [
        match["code"]
        for cell in cells
        if cell.cell_type == "code"
        for match in CODED.finditer(cell.source)
        if CODE.fullmatch(match["code"])
    ]
    return [code for code, _ in Counter(found).most_common(MOST)]


def as_released(release: Release, cells: list[SubmittedCell]) -> list[SubmittedCell]:
    """A notebook as everybody has it: without codes, and with everybody's examples.

    What the student wrote into the answer cells stays as it is.
    """
    codes = codes_in(cells)
    drawn = [
        (worked.of(code).text, worked.printed)
        for worked in worked_in(release.notebook).values()
        for code in codes
    ]
    own = {c.grade_id for c in release.cells if c.kind in ("answer", "written")}

    def plain(cell: SubmittedCell) -> SubmittedCell:
        source = cell.source
        if cell.cell_type == "code":
            source = CODED.sub(r"\g<call>", source)
        for text, printed in drawn:
            source = source.replace(text, printed)
        return replace(cell, source=source)

    return [cell if cell.grade_id in own else plain(cell) for cell in cells]


def in_variant(
    release: Release, cells: list[MatchedCell], code: str
) -> list[MatchedCell]:
    """The course's own cells among these as they are in a variant; "": as they are."""
    worked = worked_in(release.notebook) if code else {}
    return [
        replace(
            cell,
            source=varied(cell.source, worked, code),
            released=varied(cell.released, worked, code),
        )
        if cell.kind in ("test", "locked") and worked
        else cell
        for cell in cells
    ]


def vary(notebook: dict[str, Any], name: str, code: str) -> None:
    """Make the students' notebook ``name``, as JSON has it, one of a variant."""
    worked = worked_in(name)
    for cell in notebook["cells"]:
        if not cell["metadata"].get("nbgrader", {}).get("solution"):
            text = varied(text_of(cell["source"]), worked, code)
            lines = isinstance(cell["source"], list)
            cell["source"] = text.splitlines(keepends=True) if lines else text


def varied(text: str, worked: Mapping[str, Worked], code: str) -> str:
    """The text of a card or a test cell in a variant."""

    def coded(call: re.Match[str]) -> str:
        return f'{call[0]}, variant="{code}"' if call["name"] in worked else call[0]

    text = PLAIN.sub(coded, text)
    for each in worked.values():
        if each.printed in text:
            text = text.replace(each.printed, each.of(code).text)
    return text
