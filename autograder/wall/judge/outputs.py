"""Validation of cell outputs from the sandbox; they become outputs of nbformat 4."""

from __future__ import annotations

import base64
from typing import Any

from autograder.errors import Violation
from autograder.text import printable
from autograder.wall.records import Limits

PNG = b"\x89PNG\r\n\x1a\n"
STREAMS = ("stdout", "stderr")
MAX_OUTPUTS = 2000
MAX_KEPT = 40 << 20  # of one submission; its pictures grow by a third in a notebook
MAX_PIXELS = 40_000_000
TOO_MANY_PIXELS = "A picture with more than 40 million pixels is left out.\n"
NOT_KEPT = (
    "The notebook's outputs are too large to keep all of them; these are left out.\n"
)


def stream(name: str, text: str) -> dict[str, Any]:
    """Printed text."""
    return {"output_type": "stream", "name": name, "text": text}


def result(text: str, number: int | None) -> dict[str, Any]:
    """The value of a cell's last line."""
    return {
        "output_type": "execute_result",
        "execution_count": number,
        "data": {"text/plain": text},
        "metadata": {},
    }


def error(name: str, value: str, lines: list[str]) -> dict[str, Any]:
    """What stopped a cell."""
    return {
        "output_type": "error",
        "ename": name,
        "evalue": value,
        "traceback": lines,
    }


def _display(data: dict[str, str]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


def pixels(picture: bytes) -> int:
    """How many a PNG says that it has; a small file may unpack to a huge picture."""
    width, height = picture[16:20], picture[20:24]
    return int.from_bytes(width) * int.from_bytes(height)


class Room:
    """Budget for a submission's outputs: what may still be kept, all cells together."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.left = limits, MAX_KEPT

    def of_cell(self) -> list[int]:
        """Characters and bytes of pictures that one cell can have.

        The sandbox keeps these limits; a student's code may have broken them.
        """
        return [2 * self.limits.output_bytes + 10_000, self.limits.figure_bytes]


def reported(
    items: Any, number: int, room: Room
) -> tuple[list[dict[str, Any]], list[str]]:
    """Outputs of a student's cell, and the notes about it; both checked and cleaned."""
    if type(items) is not list or len(items) > MAX_OUTPUTS:
        raise Violation("a list of outputs was expected")
    allowed = room.of_cell()
    left = allowed.copy()
    found, notes = [], []

    def text_of(value: Any) -> str:
        if type(value) is not str or len(value) > left[0]:
            raise Violation("a text that is not too long was expected")
        left[0] -= len(value)
        return printable(value)

    for item in items:
        if type(item) is not tuple or not item or type(item[0]) is not str:
            raise Violation("an output was expected")
        match item:
            case ("stream", str(name), text) if name in STREAMS:
                found.append(stream(name, text_of(text)))
            case ("result", text):
                found.append(result(text_of(text), number))
            case ("display", text):
                found.append(_display({"text/plain": text_of(text)}))
            case ("figure", text, bytes(content)):
                left[1] -= len(content)
                if not content.startswith(PNG) or left[1] < 0:
                    raise Violation("a picture that is not too large was expected")
                if pixels(content) > MAX_PIXELS:
                    found.append(stream("stderr", TOO_MANY_PIXELS))
                    continue
                picture = base64.b64encode(content).decode()
                data = {"text/plain": text_of(text), "image/png": picture}
                found.append(_display(data))
            case ("error", name, value, [*lines]):
                told = [text_of(line) for line in lines]
                found.append(error(text_of(name), text_of(value), told))
            case ("note", text):
                notes.append(text_of(text))
                found.append(stream("stderr", notes[-1] + "\n"))
            case _:
                raise Violation("an output of an unknown kind")
    room.left -= sum(allowed) - sum(left)
    if room.left < 0:
        return [stream("stderr", NOT_KEPT)], notes
    return found, notes
