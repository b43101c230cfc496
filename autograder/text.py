"""Helpers for printed text: escape control characters, shorten lists, suggest names.

Text by students goes through here before it is printed or written on a page. The others
serve messages: "and 3 more", and "did you mean ...?" for a misspelled name.
"""

from __future__ import annotations

import difflib
import io
import re
import unicodedata
from collections.abc import Sequence

DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def lines_of(text: str, *, ends: bool = False) -> list[str]:
    """The lines of a text as Python counts them, with their ends if asked.

    ``str.splitlines`` also breaks a line at a form feed, U+2028 and others, which come
    with copied text.
    """
    lines = io.StringIO(text, newline="").readlines()
    return lines if ends else [line.rstrip("\r\n") for line in lines]


def one_line(text: str) -> str:
    """``text`` on one line, with control and direction characters made visible."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text.encode("utf-8", "backslashreplace").decode()
    )


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


def directed(text: str) -> str:
    """Code as a page shows it: what would change the order of its letters is visible.

    Other characters, and the ends of lines, stay as Python reads them.
    """
    return DIRECTIONS.sub(lambda mark: _spelled(mark[0]), text)


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
    return character.encode("unicode_escape").decode()


class LeftOut:
    """Who was left out of something, by the reason: a line for each reason."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.names: dict[str, list[str]] = {}

    def add(self, name: str, reason: str) -> None:
        """One more; ``reason`` ends a sentence about them."""
        self.names.setdefault(reason, []).append(name)

    def lines(self) -> list[str]:
        """The lines: how many, the first names, and why; the rarest reasons first."""
        rare = sorted(self.names.items(), key=lambda pair: len(pair[1]))
        return [
            f"{self.what}: {names[0]} {reason}"
            if len(names) == 1
            else f"{self.what}: {len(names)} ({reason}): {listed(names)}"
            for reason, names in rare
        ]


def letters(mine: str, meant: str) -> str:
    """Which letters tell two words apart that may look the same, after a comma."""
    other = sorted(c for c in {*mine} ^ {*meant} if not c.isascii())
    named = (f"`{c}` is {unicodedata.name(c, _spelled(c)).lower()}" for c in other[:3])
    return "".join(f", where {letter}" for letter in named)


def listed(names: list[str]) -> str:
    """The first of them, and how many more."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(one_line(name) for name in names[:10]) + more


def nearest(name: str, names: list[str]) -> str | None:
    """The name most like ``name`` among ``names``, for "did you mean …?"."""
    by_fold = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), 1, 0.6)
    return by_fold[close[0]] if close else None


def meant(name: str, there: Sequence[str]) -> str:
    """The end of a sentence about an unknown name: what was meant, or what there is."""
    near = nearest(name, list(there))
    if near:
        return f"did you mean {one_line(near)}?"
    return f"choose from {', '.join(there)}."
