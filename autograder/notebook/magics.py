"""Cells as IPython reads them, turned into Python: magics, ``!``, ``name?``.

A line is changed only if Python cannot read it, so a ``%`` inside a string stays. Line
numbers stay as they are, for messages.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

MANY_LINES = 500  # that only IPython can read; each one costs a look at the whole cell

CELL = re.compile(r"%%(?P<name>[\w!]+)(?P<line>[^\n]*)\n?(?P<body>.*)", re.DOTALL)
BODY_RUNS = {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "debug"}
TIMED = re.compile(
    r"(?P<before>\s*(?:[\w, ]+=\s*)?)%(?:time|timeit|prun)\s+(?P<rest>.*)"
)
OPTIONS = re.compile(r"(?:-[a-zA-Z]+(?:\s*\d+)?\s+)+")  # of %timeit: -n 10 -r3
ASSIGNED = re.compile(r"(?P<before>\s*[\w, ]+=\s*)(?P<sign>%|!)(?P<rest>.*)")
LINE = re.compile(r"(?P<before>\s*)(?P<sign>%|!!?|\?{1,2})(?P<rest>.*)")
HELP = re.compile(r"(?P<before>\s*)%{0,2}[\w.\[\]'\"]+\?{1,2}\s*$")
# words that are commands when they open a line that is no Python
COMMANDS = (
    "pip",
    "conda",
    "mamba",
    "uv",
    "cd",
    "ls",
    "pwd",
    "cat",
    "mkdir",
    "rm",
    "cp",
)
COMMAND = re.compile(rf"(?P<before>\s*)(?P<rest>(?:{'|'.join(COMMANDS)})\b.*)")


@dataclass(frozen=True)
class Translated:
    """Python, and whether the cell asked that nothing of it be shown."""

    source: str
    captured: bool = False


def translate(source: str, names: dict[str, Any]) -> Translated:
    """The cell as Python; a bare command such as `ls` may be one of ``names``."""
    captured = False
    while match := CELL.fullmatch(source.lstrip()):
        if match["name"] not in BODY_RUNS:
            call = f"run_cell_magic({match['name']!r}, {match['line'].strip()!r}, "
            return Translated(f"get_ipython().{call}{match['body']!r})", captured)
        captured |= match["name"] == "capture"
        skipped = source[: source.index("%%")].count("\n") + 1
        source = "\n" * skipped + match["body"]
    # a single word such as `ls` is Python as well; IPython asks whether it is a name
    if "\n" not in source.strip() and (command := COMMAND.fullmatch(source.strip())):
        word = command["rest"].split()[0]
        if word in COMMANDS and word not in names and "=" not in source:
            return Translated(_line_magic("", command["rest"]), captured)
    lines = source.split("\n")
    for _ in range(MANY_LINES):
        try:
            ast.parse("\n".join(lines))
            break
        except SyntaxError as error:
            number = (error.lineno or 0) - 1
            if not 0 <= number < len(lines):
                break
            line = _python(lines[number])
            if line is None:
                break
            lines[number] = line
    return Translated("\n".join(lines), captured)


def _python(line: str) -> str | None:
    """One line as Python, or None where IPython cannot read it either."""
    if match := TIMED.fullmatch(line):
        return match["before"] + OPTIONS.sub("", match["rest"])
    if match := ASSIGNED.fullmatch(line):
        if match["sign"] == "!":
            return f"{match['before']}get_ipython().getoutput({match['rest']!r})"
        return match["before"] + _line_magic("", match["rest"])
    if match := HELP.fullmatch(line):
        return f"{match['before']}pass"
    if match := LINE.fullmatch(line):
        if match["sign"].startswith("!"):
            return f"{match['before']}get_ipython().system({match['rest']!r})"
        if match["sign"].startswith("?"):
            return f"{match['before']}pass"
        return _line_magic(match["before"], match["rest"])
    if match := COMMAND.fullmatch(line):
        return _line_magic(match["before"], match["rest"])
    return None


def _line_magic(before: str, text: str) -> str:
    name, _, rest = text.strip().partition(" ")
    return f"{before}get_ipython().run_line_magic({name!r}, {rest.strip()!r})"
