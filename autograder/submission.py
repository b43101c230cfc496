"""From untrusted bytes to a notebook, and from a notebook to the release's cells.

Nothing that a submission says about itself is believed: not its metadata, tags, ids,
points or the order of its cells. Notebooks are plain JSON dictionaries here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

SIZE_LIMIT = 20_000_000
CELL_LIMIT = 2_000
CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
SURROGATE = re.compile("[\ud800-\udfff]")

Cell = dict[str, Any]


class Held(Exception):
    """This submission needs a person; the sentence says why."""


# ------------------------------------------------------------------ reading


def read(data: bytes) -> list[Cell]:
    """The cells of a notebook file, each with ``cell_type``, ``source``, ``grade_id``.

    Everything else is dropped, outputs first of all. Raises Held.
    """
    if len(data) > SIZE_LIMIT:
        raise Held(
            f"The file is larger than {SIZE_LIMIT // 1_000_000} MB; clear the outputs, "
            "save and submit it again."
        )
    if not data.strip():
        raise Held("The file is empty; save the notebook and submit it again.")
    notebook = parse(decode(data))
    if not isinstance(notebook, dict) or not {"nbformat", "cells", "worksheets"} & {
        *notebook
    }:
        raise Held("The file is JSON, but not a notebook.")
    cells = notebook_cells(notebook)
    if len(cells) > CELL_LIMIT:
        raise Held(f"The notebook has more than {CELL_LIMIT} cells.")
    return [plain_cell(cell) for cell in cells]


def decode(data: bytes) -> str:
    """The text of the file, or why it is none."""
    if data.startswith(b"PK\x03\x04"):
        raise Held("The file is a zip archive, not a notebook; unpack it first.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Held(
            f"The file is not UTF-8 text (line {line}); save the notebook in Jupyter "
            "and submit it again."
        ) from None


def parse(text: str) -> Any:
    """The JSON of the file, or what the file is instead."""
    try:
        return json.loads(text)
    except RecursionError:
        raise Held("The file is nested too deeply to be a notebook.") from None
    except ValueError as error:
        start = text.lstrip()[:500].lower()
        if start.startswith(("<!doctype html", "<html", "<head", "<?xml")):
            raise Held(
                "The file is a web page, not a notebook; it may be the login page of "
                "the site it was downloaded from."
            ) from None
        lines = [text.count("\n", 0, m.start()) + 1 for m in CONFLICT.finditer(text)]
        if lines:
            where = ", ".join(map(str, lines[:9]))
            raise Held(f"The file has git conflict markers in lines {where}.") from None
        if not isinstance(error, json.JSONDecodeError):
            raise Held("The file holds a number too long to read.") from None
        if not text[error.pos :].strip() or "Unterminated" in error.msg:
            last = text.rstrip().count("\n") + 1
            raise Held(
                f"The file is cut off at line {last}; submit the whole notebook again."
            ) from None
        raise Held(
            f"The file is not a notebook: it is no JSON at line {error.lineno}, "
            f"column {error.colno}."
        ) from None


def notebook_cells(notebook: dict[str, Any]) -> list[Any]:
    """The list of cells, whatever the known format."""
    version = notebook.get("nbformat", 4)
    if "worksheets" in notebook and version == 3:
        try:
            sheets = notebook["worksheets"]
            return [upgraded(cell) for sheet in sheets for cell in sheet["cells"]]
        except (KeyError, TypeError, AttributeError):
            raise Held("The notebook is in format 3 and damaged.") from None
    if version != 4:
        raise Held(
            f"The notebook says it is in format {str(version)[:20]!a}; this course "
            "reads format 4."
        )
    if not isinstance(notebook.get("cells"), list):
        raise Held("The notebook has no list of cells.")
    return notebook["cells"]


def upgraded(cell: Any) -> Cell:
    """A cell of notebook format 3, as format 4 has it."""
    kind = cell["cell_type"]
    if kind == "heading":
        level = min(max(int(cell.get("level", 1)), 1), 6)
        return cell | {
            "cell_type": "markdown",
            "source": f"{'#' * level} {text_of(cell['source'])}",
        }
    return cell | {"source": cell["input"]} if kind == "code" else cell


def plain_cell(cell: Any) -> Cell:
    """What we keep of a submitted cell."""
    if not isinstance(cell, dict):
        raise Held("The notebook is damaged: one of its cells is not a cell.")
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        raise Held(f"The notebook has a cell of unknown type {str(kind)[:20]!a}.")
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = about.get("grade_id") if isinstance(about, dict) else None
    source = SURROGATE.sub("\ufffd", text_of(cell.get("source", "")))
    return {
        "cell_type": kind,
        "source": source,
        "grade_id": grade_id if isinstance(grade_id, str) else None,
    }


def text_of(source: Any) -> str:
    """A source, which the format allows to be a list of lines."""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Held("The notebook is damaged: the text of one of its cells is no text.")
    return source


# ----------------------------------------------------------------- matching


@dataclass
class Matched:
    """The submission in the order of the release.

    ``cells`` pairs each cell of the release with the student's own cells after it:
    entries have ``grade_id`` and ``kind`` from the release, or kind "extra".
    """

    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def match(release: dict[str, Any], submitted: list[Cell]) -> Matched:
    """Find the release's cells in the submission; Held when there are none."""
    found = find_by_id(release["cells"], submitted)
    known = len(found)
    find_by_text(release["cells"], submitted, found)
    find_answers(release["cells"], submitted, found)
    if not found:
        raise Held(
            f"No cell of {release['assignment']} was found in this notebook; is it "
            "another assignment's?"
        )
    matched = Matched()
    if known == 0:
        matched.notes.append(
            "The notebook had lost nbgrader's metadata; its cells were found by "
            "their text."
        )
    place_of = {place: grade_id for grade_id, place in found.items()}
    repeated = {cell["grade_id"] for cell in release["cells"]}
    extras: dict[str | None, list[Cell]] = {None: []}
    anchor = None
    for place, cell in enumerate(submitted):
        if place in place_of:
            anchor = place_of[place]
            continue
        if cell["grade_id"] in repeated:
            matched.notes.append(
                f"The cell {cell['grade_id']} was there more than once; the first "
                "one that is filled in counts."
            )
            if is_copy(cell, release["cells"]):
                continue
        extras.setdefault(anchor, []).append(extra(cell))
    matched.cells += extras[None]
    for cell in release["cells"]:
        place = found.get(cell["grade_id"])
        own = submitted[place] if place is not None else None
        matched.cells.append(resolve(cell, own, matched.notes))
        matched.cells += extras.get(cell["grade_id"], [])
    matched.notes = list(dict.fromkeys(matched.notes))
    return matched


def find_by_id(cells: list[Cell], submitted: list[Cell]) -> dict[str, int]:
    """Places by grade_id. Of several, the first that is no copy of the release."""
    by_id = {cell["grade_id"]: cell for cell in cells}
    found: dict[str, int] = {}
    for place, cell in enumerate(submitted):
        released = by_id.get(cell["grade_id"])
        if released is None:
            continue
        earlier = found.get(cell["grade_id"])
        untouched = earlier is not None and alike(
            submitted[earlier]["source"], released["released"]
        )
        if earlier is None or (untouched and released["kind"] in ("answer", "written")):
            found[cell["grade_id"]] = place
    return found


def find_by_text(
    cells: list[Cell], submitted: list[Cell], found: dict[str, int]
) -> None:
    """Cells without metadata whose text is that of the release."""
    taken = set(found.values())
    for cell in cells:
        if cell["grade_id"] in found:
            continue
        for place, own in enumerate(submitted):
            if place not in taken and alike(own["source"], cell["released"]):
                found[cell["grade_id"]] = place
                taken.add(place)
                break


def find_answers(
    cells: list[Cell], submitted: list[Cell], found: dict[str, int]
) -> None:
    """Answers without metadata: by the name they define, or by their place."""
    taken = set(found.values())
    for index, cell in enumerate(cells):
        name = cell["grade_id"]
        if name in found or cell["kind"] not in ("answer", "written"):
            continue
        free = [p for p, own in enumerate(submitted) if p not in taken]
        if cell["kind"] == "answer":
            # not \s*, which would try all the empty lines from each one anew
            defines = re.compile(
                rf"^[ \t]*(def|class)[ \t]+{re.escape(name)}\b", re.MULTILINE
            )
            places = [p for p in free if defines.search(submitted[p]["source"])]
        else:
            places = between(cells, index, submitted, found, free)
        if places:
            found[name] = places[0]
            taken.add(places[0])


def between(
    cells: list[Cell],
    index: int,
    submitted: list[Cell],
    found: dict[str, int],
    free: list[int],
) -> list[int]:
    """Free places where a written answer can be: after the cell that comes before it.

    Only cells of its own type without metadata, and none after the next known cell.
    """
    previous = found.get(cells[index - 1]["grade_id"]) if index else None
    if previous is None:
        return []
    later = [place for place in found.values() if place > previous]
    return [
        place
        for place in free
        if previous < place < min(later, default=len(submitted))
        and submitted[place]["cell_type"] == cells[index]["cell_type"]
        and submitted[place]["grade_id"] is None
    ]


def resolve(cell: Cell, own: Cell | None, notes: list[str]) -> Cell:
    """A cell of the release, with the student's text where it is an answer."""
    name, kind = cell["grade_id"], cell["kind"]
    if kind in ("test", "locked"):
        course_texts = (cell["released"], cell["source"])
        if own and not any(alike(own["source"], text) for text in course_texts):
            notes.append(
                f"The cell {name} had been changed; the course's own was used."
            )
        return dict(cell)
    if own is None:
        notes.append(f"The cell {name} was missing; it counts as not answered.")
        return dict(cell, unanswered=True)
    if own["cell_type"] != cell["cell_type"]:
        notes.append(
            f"The cell {name} had become a {own['cell_type']} cell; it was read as "
            f"{cell['cell_type']}."
        )
    unanswered = alike(own["source"], cell["released"])
    return dict(cell, source=own["source"], unanswered=unanswered)


def extra(cell: Cell) -> Cell:
    """A cell that the student added."""
    return {
        "kind": "extra",
        "grade_id": None,
        "cell_type": cell["cell_type"],
        "source": cell["source"],
        "metadata": {},
    }


def is_copy(cell: Cell, cells: list[Cell]) -> bool:
    """A repeated cell that holds nothing of the student's own."""
    released = next(c for c in cells if c["grade_id"] == cell["grade_id"])
    return released["kind"] in ("test", "locked") or alike(
        cell["source"], released["released"]
    )


def alike(a: str, b: str) -> bool:
    """The same text, but for spaces at the ends of lines and around it.

    ``b`` is the course's; what is far longer is not read, as it is compared often.
    """
    if len(a) > 2 * len(b) + 1000:
        return False
    return [line.rstrip() for line in a.strip().splitlines()] == [
        line.rstrip() for line in b.strip().splitlines()
    ]


def resemblance(release: dict[str, Any], submitted: list[Cell]) -> int:
    """How many cells of the release are in these cells; to recognise a renamed file."""
    found = find_by_id(release["cells"], submitted)
    find_by_text(release["cells"], submitted, found)
    return len(found)
