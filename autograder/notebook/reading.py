"""Parser of submitted notebook files: bytes in, cells out, or the reason why not."""

from __future__ import annotations

import base64
import json
import re
import struct
from hashlib import md5
from itertools import islice
from typing import Any
from urllib.parse import unquote

from autograder.errors import Held
from autograder.notebook.records import SubmittedCell
from autograder.notebook.time_limit import READING, at_most

MAX_BYTES = 20_000_000
CELL_LIMIT = 2_000
CONFLICT = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)
# ![alt](attachment:picture.png "title"); no part of it goes beyond the next "[", or a
# text of nothing but beginnings would be read again from each of them
ATTACHED = re.compile(r"!\[[^][]*\]\(attachment:(?P<name>[^)[\s]+)(?:[ \t][^)[\n]*)?\)")
MAX_PIXELS, MAX_SIDE = 40_000_000, 30_000  # of a picture, which a browser decodes
PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
SURROGATE = re.compile("[\ud800-\udfff]")


@at_most(READING)
def read_cells(data: bytes) -> list[SubmittedCell]:
    """The cells of a notebook file: texts, pictures in them, and the names of cells.

    Everything else is dropped, outputs first of all. Raises Held.
    """
    if len(data) > MAX_BYTES:
        raise Held(
            f"The file is larger than {MAX_BYTES // 1_000_000} MB; clear the outputs, "
            "save and submit it again."
        )
    if not data.strip():
        raise Held("The file is empty; save the notebook and submit it again.")
    notebook = parse(decode(data))
    if not isinstance(notebook, dict) or not {"nbformat", "cells"} & {*notebook}:
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
        marks = [mark.start() for mark in islice(CONFLICT.finditer(text), 9)]
        if marks:
            where = ", ".join(str(text.count("\n", 0, at) + 1) for at in marks)
            raise Held(
                f"The file has git conflict markers in lines {where}; resolve the "
                "conflict and submit it again."
            ) from None
        if not isinstance(error, json.JSONDecodeError):
            raise Held("The file contains a number that is too long to read.") from None
        if not text[error.pos :].strip() or "Unterminated" in error.msg:
            last = text.rstrip().count("\n") + 1
            raise Held(
                f"The file is cut off at line {last}; submit the whole notebook again."
            ) from None
        raise Held(
            f"The file is not a notebook: it is not valid JSON at line {error.lineno}, "
            f"column {error.colno}."
        ) from None


def notebook_cells(notebook: dict[str, Any]) -> list[Any]:
    """The list of cells of a notebook in format 4."""
    version = notebook.get("nbformat", 4)
    if version != 4:
        raise Held(
            f"The notebook says it is in format {str(version)[:20]!a}; this course "
            "reads format 4."
        )
    if not isinstance(notebook.get("cells"), list):
        raise Held("The notebook has no list of cells.")
    return notebook["cells"]


def plain_cell(cell: Any) -> SubmittedCell:
    """What we keep of a submitted cell."""
    if not isinstance(cell, dict):
        raise Held(
            "The notebook is damaged: one of its cells does not have the form of a "
            "cell."
        )
    kind = cell.get("cell_type")
    if kind not in ("code", "markdown", "raw"):
        raise Held(f"The notebook has a cell of unknown type {str(kind)[:20]!a}.")
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    about = about if isinstance(about, dict) else {}
    grade_id = about.get("grade_id")
    grade_id = grade_id if isinstance(grade_id, str) else None
    source = SURROGATE.sub("\ufffd", text_of(cell.get("source", "")))
    pictures = kept(cell.get("attachments"))
    untouched = False
    if kind != "code":
        untouched = about.get("checksum") == checksum_of_card(source, grade_id or "")
        source = ATTACHED.sub(lambda link: shown(link, pictures), source)
    return SubmittedCell(
        cell_type=kind,
        source=source,
        grade_id=grade_id,
        untouched=untouched,
        attachments=pictures,
    )


def checksum_of_card(text: str, grade_id: str) -> str:
    """What nbgrader notes in a locked text cell when it is released."""
    said = f"{text}markdownFalseFalseTrue{grade_id}"  # no grade, no solution, locked
    return md5(said.encode(errors="replace"), usedforsecurity=False).hexdigest()


def shown(link: re.Match[str], pictures: dict[str, dict[str, str]]) -> str:
    """A picture in a text, or its name where there is nothing that can be shown."""
    name = unquote(link["name"])
    if name in pictures or link["name"] in pictures:
        return link[0]
    return f"(a picture that cannot be shown: {link['name'][:80]})"


def text_of(source: Any) -> str:
    """A source, which the format allows to be a list of lines."""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise Held(
            "The notebook is damaged: the source of one of its cells is not text."
        )
    return source


def kept(attachments: Any) -> dict[str, dict[str, str]]:
    """The pictures of a cell that can be shown: PNG and JPEG of a sensible size."""
    pictures: dict[str, dict[str, str]] = {}
    for name, kinds in attachments.items() if isinstance(attachments, dict) else ():
        for kind, text in kinds.items() if isinstance(kinds, dict) else ():
            content = decoded(text)
            # no side of a JPEG has over 65,535 pixels
            jpeg = kind == "image/jpeg" and content.startswith(JPEG)
            if jpeg or (kind == "image/png" and is_png(content)):
                clean = base64.b64encode(content).decode()
                pictures.setdefault(name, {})[kind] = clean
    return pictures


def decoded(text: Any) -> bytes:
    """The bytes behind base64, which the format allows to be a list of lines."""
    lines = text if isinstance(text, list) else [text]
    try:
        whole = "".join("".join(map(str, lines)).split())
        return base64.b64decode(whole, validate=True)
    except ValueError:
        return b""


def is_png(content: bytes) -> bool:
    """Whether this begins as a PNG does, and is not so large that showing it hurts."""
    if not content.startswith(PNG) or len(content) < 24:
        return False
    width, height = struct.unpack_from(">II", content, 16)
    sides = 0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE
    return sides and width * height <= MAX_PIXELS
