"""Translation of IPython syntax into Python: magics, ``!command``, ``name?``.

A line is changed only if Python cannot read it, so a ``%`` inside a string stays. Line
numbers stay as they are, for messages.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from autograder.notebook.shell import QUIET
from autograder.text import lines_of

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
WORDS = "pip|conda|mamba|uv|cd|ls|pwd|cat|mkdir|rm|cp"
COMMANDS = WORDS.split("|")
COMMAND = re.compile(rf"(?P<before>\s*)(?P<rest>(?:{WORDS})\b.*)")
# what a cell was copied with: `>>> x` from a page, `In [3]: x` from a terminal
PROMPT = re.compile(r"(?:>>>|In \[\d+\]:)(?: |$)")
START, INDENT = re.compile(r"\s*\n|"), re.compile(r"[ \t]+")
PROMPTS = re.compile(r"(?m)^(?:>>>|\.\.\.|In \[\d+\]:|\s*\.{3,}:)(?: |$)")


def translate(source: str, names: dict[str, Any]) -> tuple[str, str | None]:
    """The cell as Python; a bare command such as `ls` may be one of ``names``.

    And, where nothing of it is shown, the name that takes what it prints, or "".
    """
    captured = None
    source = plain(source)
    while match := CELL.fullmatch(source.lstrip()):
        if match["name"] not in BODY_RUNS:
            call = f"run_cell_magic({match['name']!r}, {match['line'].strip()!r}, "
            return f"get_ipython().{call}{match['body']!r})", captured
        if match["name"] == "capture":
            words = [w for w in match["line"].split() if w.isidentifier()]
            captured = words[0] if words else ""
        skipped = source[: source.index("%%")].count("\n") + 1
        source = "\n" * skipped + plain(match["body"])
    lines = lines_of(source)
    if _is_command(source, names):
        return _line_magic("", source.strip()), captured
    for _ in range(MANY_LINES):
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError) as error:
            number = (getattr(error, "lineno", None) or 0) - 1
            if not 0 <= number < len(lines):
                break
            last = _last(lines, number)
            line = _python(" ".join(part.rstrip("\\") for part in lines[number:last]))
            if line is None:
                break
            lines[number:last] = [line, *[""] * (last - number - 1)]
        else:
            _commands(lines, tree, names)
            break
    return "\n".join(lines), captured


def plain(source: str) -> str:
    """The cell without what it was copied with: prompts, an indentation of it all."""
    source = source.removeprefix("\ufeff")
    first = START.match(source)
    start = first.end() if first else 0
    if PROMPT.match(source, start):
        source = PROMPTS.sub("", source)
    if indent := INDENT.match(source, start):
        source = re.sub(f"(?m)^{indent[0]}", "", source)
    return source


def _last(lines: list[str], number: int) -> int:
    """The line after a command's, which a backslash continues."""
    if LINE.fullmatch(lines[number]) or ASSIGNED.fullmatch(lines[number]):
        while lines[number].endswith("\\") and number + 1 < len(lines):
            number += 1
    return number + 1


def _is_command(source: str, names: dict[str, Any]) -> bool:
    """Whether a cell is one line such as `ls`, which IPython takes for a magic."""
    word, *rest = source.split(maxsplit=1) or [""]
    if "\n" in source.strip() or "=" in source or word in names:
        return False
    if word in COMMANDS:
        return True
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return bool(rest) and word in QUIET
    return False


def _commands(lines: list[str], tree: ast.Module, names: dict[str, Any]) -> None:
    """Lines of one word such as `ls`, which is a name for Python and is none here."""
    bare = [s for s in tree.body if isinstance(s, ast.Expr)]
    found = [(s.value.id, s.lineno - 1) for s in bare if isinstance(s.value, ast.Name)]
    for word in {word for word, _ in found if word in COMMANDS and word not in names}:
        alone = [n for name, n in found if name == word and lines[n].strip() == word]
        if len(re.findall(rf"\b{word}\b", "\n".join(lines))) == len(alone):
            for number in alone:
                lines[number] = _line_magic("", word)


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
