"""Outputs in nbformat-4 shape, made from what the sandbox reports."""

from __future__ import annotations

import base64
from typing import Any

from autograder.wall.records import Limits, printable
from autograder.wall.wire import Violation

PNG = b"\x89PNG\r\n\x1a\n"
MAX_OUTPUTS = 2000


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


def reported(
    items: Any, number: int, limits: Limits
) -> tuple[list[dict[str, Any]], list[str]]:
    """Outputs of a student's cell, and the notes about it; both checked and cleaned."""
    if type(items) is not list or len(items) > MAX_OUTPUTS:
        raise Violation("a list of outputs was due")
    # the sandbox keeps these limits; a student's code may have broken them
    room = [2 * limits.output_bytes + 10_000, limits.figure_bytes]
    found, notes = [], []

    def text_of(value: Any) -> str:
        if type(value) is not str or len(value) > room[0]:
            raise Violation("a text was due, not too long")
        room[0] -= len(value)
        return printable(value)

    for item in items:
        match item:
            case ("stream", "stdout" | "stderr" as name, [*parts]):
                if any(type(part) is not str for part in parts):
                    raise Violation("printed text was due")
                found.append(stream(name, text_of("".join(parts))))
            case ("result", text):
                found.append(result(text_of(text), number))
            case ("display", text):
                found.append(_display({"text/plain": text_of(text)}))
            case ("figure", text, bytes(content)):
                room[1] -= len(content)
                if not content.startswith(PNG) or room[1] < 0:
                    raise Violation("a picture was due, not too large")
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
    return found, notes
