"""Location of an exception in a notebook: cell, line, and a caret under the part."""

from __future__ import annotations

import ast
import linecache
import re
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from autograder.explain.reasons import likely
from autograder.explain.values import Value, about, described, values_at
from autograder.text import lines_of

CELL = re.compile(r"<cell (\d{1,6})>")
KIND = re.compile(r"^[A-Za-z_]\w{0,60}: ")  # of a student's or library's own
WIDEST = 100
OUTERMOST = re.compile(r"(?:(?:async )?def|class) +(\w+)")
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
HERE = str(Path(__file__).resolve().parents[1])


def cell_name(number: int) -> str:
    """What a code cell is called in tracebacks; ``number`` counts from 1."""
    return f"<cell {number}>"


@dataclass(frozen=True)
class Location:
    """A part of a line: cell and line count from 1, the columns from 0 (none: -1).

    Cell 0 is a file, or a cell that Jupyter has no number for. ``values`` are what
    the names of the line stood for.
    """

    cell: int
    line: int
    start: int = -1
    end: int = -1
    file: str = ""
    values: tuple[Value, ...] = ()

    def reason(self, source: str, text: str) -> tuple[str, str]:
        """The arrays in the line, and why it raised an exception of this text."""
        text = KIND.sub("", text)
        values = about(self.values, source, self.line)
        why = likely(source, self.line, (self.start, self.end), text, values)
        return described(values, text), why

    def described(self, source: str) -> str:
        """The place in words, the line's text, and a caret under what failed."""
        lines = lines_of(source)
        where = f"cell {self.cell}, line {self.line}".removeprefix("cell 0, ")
        if not 0 < self.line <= len(lines):
            return where
        line = lines[self.line - 1].expandtabs(4)
        text = line.strip()
        cut = text[: WIDEST - 2] + " …" if len(text) > WIDEST else text
        told = f"{where}\n      {cut}"
        indent = len(line) - len(line.lstrip())
        start, end = self.start - indent, self.end - indent
        if 0 <= start < end <= len(cut) and (start, end) != (0, len(text)):
            told += "\n      " + " " * start + "^" * (end - start)
        return told


def definition(source: str, line: int) -> str:
    """The name of the function or class, not inside of another, that a line is in."""
    for text in reversed(lines_of(source)[:line]):
        if text[:1].strip():  # not indented, and not empty
            found = OUTERMOST.match(text)
            return found[1] if found else ""
    return ""


def opened(source: str, line: int) -> tuple[str, str]:
    """The function that a `raise` in this line is in, and where: above or in its code.

    Neither where no code of the student's stands beside it. Of a class whose methods
    are all open, as the course left them, it has no name.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", ""
    for parent in ast.walk(tree):
        functions = [n for n in ast.iter_child_nodes(parent) if isinstance(n, FUNCTION)]
        for one in functions:
            for number, part in enumerate(one.body):
                if not raises(part, line):
                    continue
                # a docstring or a call, as of `super().__init__`, is no answer
                own = [n for n in one.body[:number] if not isinstance(n, ast.Expr)]
                if own or not isinstance(part, ast.Raise):
                    return one.name, "in"
                if number + 1 < len(one.body):
                    return one.name, "above"
                as_left = all(isinstance(f.body[-1], ast.Raise) for f in functions)
                method = isinstance(parent, ast.ClassDef) and not as_left
                return one.name if method else "", ""
    return "", ""


def raises(part: ast.stmt, line: int) -> bool:
    """Whether a `raise` in this line is in a statement, and in no function in it."""
    if isinstance(part, (*FUNCTION, ast.ClassDef)):
        return False
    return any(isinstance(n, ast.Raise) and n.lineno == line for n in ast.walk(part))


def location_of(error: BaseException) -> Location | None:
    """The innermost line of the student's that ``error`` went through, if there is one.

    It is in a cell of ours, or in what Jupyter and Python call the main module.
    """
    if isinstance(error, SyntaxError):
        match = CELL.fullmatch(error.filename or "")
        if match and error.lineno:
            start = (error.offset or 0) - 1
            end = (error.end_offset or 0) - 1
            same_line = error.end_lineno in (None, error.lineno)
            end = end if same_line and end > start else start + 1
            return Location(int(match[1]), error.lineno, start, end, match[0])
    found, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        match = CELL.fullmatch(code.co_filename)
        if match or is_main(trace.tb_frame):
            found = trace
        trace = trace.tb_next
    return location_in(found, error) if found else None


def location_in(trace: TracebackType, error: BaseException) -> Location:
    """The place that a traceback begins with, and what the names there stood for."""
    code, line = trace.tb_frame.f_code, trace.tb_lineno
    match = CELL.fullmatch(code.co_filename)
    source = "".join(linecache.getlines(code.co_filename))
    missing = error.name if isinstance(error, NameError) else None
    values = values_at(trace.tb_frame, source, line, missing)
    number = int(match[1]) if match else 0
    return Location(number, line, *columns(code, trace), code.co_filename, values)


def is_main(frame: FrameType) -> bool:
    """Whether this is code of the main module, other than ours."""
    file = frame.f_code.co_filename
    return (
        frame.f_globals.get("__name__") == "__main__"
        and not file.startswith(HERE)
        and bool(linecache.getlines(file))
    )


def columns(code: CodeType, trace: TracebackType) -> tuple[int, int]:
    """Where the instruction stands in its line, as characters; -1 when unknown."""
    for index, position in enumerate(code.co_positions()):
        if index == trace.tb_lasti // 2:
            first, last, start, end = position
            if None in position or first != last or first != trace.tb_lineno:
                return -1, -1
            return start or 0, end or 0
    return -1, -1
