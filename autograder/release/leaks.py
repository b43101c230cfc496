"""Search for answers in what students get: the notebook and the files beside it."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from nbformat import NotebookNode

MARKERS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "HIDDEN TESTS",
    "MARK SCHEME",
    "check.hidden",
)
# a line of a solution that may stand elsewhere in what students get
GIVEN = re.compile(r"#\s*given\s*$|^(import|from|def|class)\s")
# no secret: keywords, and names with a small number, a text or nothing
TRIVIAL = re.compile(
    r"(?:while|if|elif)\s+(?:not\s+)?\w+\s*:|return(?:\s+\w+)?|print\(\w*\)"
    r"|\w+\s*=\s*(?:\d|10|True|False|None|\[\]|\{\}|''|\"\"|0\.0|1\.0)"
    r"|(?:try|else|finally|except(?:\s+\w+)?)\s*:|[-=#*_\s]+"
)
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".pdf")
DEEPEST = 3  # archives in archives


def find_leaks(released: str, solution: NotebookNode, given: bool = False) -> list[str]:
    """What of the solution can be read in the text of the released notebook.

    ``given``: students are meant to have its lines.
    """
    notebook = json.loads(released)
    where: dict[str, str] = {}  # the first cell of students in which a line stands
    for number, cell in enumerate(notebook["cells"], 1):
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        for line in text_of(cell).splitlines():
            where.setdefault(line.strip(), f"cell {number} {name}".strip())
    leaks = [f"the text '{marker}'" for marker in MARKERS if marker in released]
    for line, origin in () if given else secrets(notebook, solution):
        if line in where:
            leaks.append(f"a line of {origin}: `{line}` (in {where[line]})")
    if any(cell.get("outputs") for cell in notebook["cells"]):
        leaks.append("the outputs of the solution")
    return leaks


def leaks_of_files(
    files: Mapping[str, bytes], released: str, solution: NotebookNode, given: bool
) -> list[str]:
    """What of the solution can be read in files that lie beside the notebook."""
    notebook = json.loads(released)
    hidden = {} if given else dict(secrets(notebook, solution))
    leaks = dict.fromkeys(pictures_of_answers(files, notebook, solution))
    for name, data in files.items():
        for line in lines_of(data):
            if line in hidden:
                leaks[f"a line of {hidden[line]}: `{line}` (in {name})"] = None
            elif marker := next((m for m in MARKERS if m in line), None):
                leaks[f"the text '{marker}' (in {name})"] = None
    return list(leaks)


def pictures_of_answers(
    files: Mapping[str, bytes], notebook: Mapping[str, Any], solution: NotebookNode
) -> Iterator[str]:
    """Pictures that only a removed text shows, as of a mark scheme."""
    shown = "\n".join(map(text_of, notebook["cells"]))
    for cell in solution.cells if files else ():
        links = unquote(cell.source) if cell.cell_type == "markdown" else ""
        for name in files:
            if name.lower().endswith(PICTURES) and name in links and name not in shown:
                about = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                yield f"the picture {name}, which only the solution of {about} shows"


def secrets(
    notebook: Mapping[str, Any], solution: NotebookNode
) -> Iterator[tuple[str, str]]:
    """Each line that nbgrader took out of the solution, and what it is a line of."""
    given: dict[str, set[str]] = defaultdict(set)  # by the name of the cell
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        lines = map(str.strip, text_of(cell).splitlines())
        given[about.get("grade_id", "")].update(lines)
    for cell in solution.cells:
        about = cell.metadata.get("nbgrader", {})
        name = about.get("grade_id", "")
        kind = "the solution" if about.get("solution") else "the hidden tests"
        for line in map(str.strip, cell.source.splitlines()):
            plain = len(line) <= 8 or GIVEN.search(line) or TRIVIAL.fullmatch(line)
            if not (plain or line in given[name]):
                yield line, f"{kind} of {name or cell.get('id')}"


def text_of(cell: Mapping[str, Any]) -> str:
    """The text of a cell; a file has it as a list of lines."""
    return "".join(cell["source"])


def lines_of(data: bytes, depth: int = 0) -> Iterator[str]:
    """The lines of a file: of a text, a page, a notebook, or all files of a zip."""
    if depth < DEEPEST and zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                try:
                    yield from lines_of(archive.read(name), depth + 1)
                except (RuntimeError, zipfile.BadZipFile):  # behind a password
                    continue
        return
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in data[:8192] and not wide:  # no text
        return
    text = data.decode("utf-16" if wide else "utf-8", "replace")
    yield from map(str.strip, text.splitlines())
    if "<" in text:
        page = html.unescape(re.sub(r"<[^<>]*>", "", text))
        yield from map(str.strip, page.splitlines())
    if text.lstrip().startswith(("{", "[")):
        try:
            yield from strings(json.loads(text))
        except (ValueError, RecursionError):
            return


def strings(value: Any) -> Iterator[str]:
    """The lines of all texts in a value of JSON."""
    if isinstance(value, str):
        yield from map(str.strip, value.splitlines())
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
