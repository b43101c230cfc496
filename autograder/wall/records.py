"""What goes into the wall and what comes out of it: plain records, JSON-able."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """One code cell, in execution order.

    ``test`` is None for student code, which runs in the sandbox. Else it is the id of a
    question, and ``source`` is the instructor's cell, which the judge runs. ``key`` is
    echoed in the transcript.
    """

    key: str
    source: str
    test: str | None = None
    max_score: float = 0.0


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    cell_seconds: float = 30.0
    question_seconds: float = 20.0
    total_seconds: float = 240.0
    memory_bytes: int = 1 << 30  # for one process, beyond the libraries
    output_bytes: int = 1 << 20  # for one cell, its figures aside
    figure_bytes: int = 4 << 20  # for the figures of one cell
    disk_bytes: int = 64 << 20
    file_bytes: int = 32 << 20
    files: int = 4096
    processes: int = 64
    crashes: int = 5  # a sandbox that died so often is not started again


@dataclass
class Result:
    """The verdict on one question. ``misconception`` is an id of the catalog."""

    id: str
    score: float
    max_score: float
    message: str | None = None
    misconception: str | None = None
    seconds: float = 0.0


@dataclass
class Transcript:
    """What running a submission gave.

    ``outputs`` are nbformat-4 outputs by cell key, ``results`` the verdicts by the id
    of the question. ``held`` is the reason why a human has to look, else None; with a
    reason, no score counts.
    """

    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    held: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Dicts, lists, strings and numbers only."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Transcript:
        """The inverse of :meth:`to_json`."""
        results = {key: Result(**value) for key, value in data["results"].items()}
        return cls(data["outputs"], results, data["notes"], data["held"])


def printable(text: str, longest: int | None = None) -> str:
    """Student text that can be shown anywhere: control characters become visible.

    Terminal escapes, characters that reorder text and lone surrogates are spelled out.
    """
    if longest is not None and len(text) > longest:
        text = text[:longest] + " …"
    if text.isascii() and text.isprintable():
        return text
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(map(_overwritten, lines))
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if _shows(c) else _spelled(c) for c in line)


def _overwritten(line: str) -> str:
    """What a terminal leaves of a line after carriage returns, as of progress bars."""
    return next(filter(None, reversed(line.split("\r"))), "")


def _shows(character: str) -> bool:
    # Cc: controls, Cf: invisible formatting, Cs: surrogates, Zl and Zp: separators
    if character in "\t\u200d":  # the joiner inside emoji
        return True
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
