"""Text of strangers, made safe to show: in a terminal, a notebook, a page."""

from __future__ import annotations

import unicodedata


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


def listed(names: list[str]) -> str:
    """The first of them, and how many more."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(one_line(name) for name in names[:10]) + more
