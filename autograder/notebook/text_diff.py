"""Line-by-line comparison of a student's cell with the course's text of that cell."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from difflib import SequenceMatcher

from autograder.text import lines_of

MANY_LINES = 5_000
LONGEST_STUB = 5_000  # characters
LONGEST_CODE = 200_000  # what Python makes of it takes hundreds of times as much memory
DEFINED = re.compile(
    # not \s*, which would try all the empty lines again from each one
    r"^[ \t]*(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)"
    r"|(\w+)[ \t]*(?::[^=\n]*)?=(?!=))",
    re.MULTILINE,
)
DUE = re.compile(r"\*\*Due: \w+, \d+ \w+ \d+, \d\d:\d\d \(\S+\)\*\*")


def with_due(title: str, due: str) -> str:
    """The course's first text with its due date below the heading."""
    head, *rest = title.split("\n", 1)
    return "\n".join([head, "", f"**Due: {due}**", *rest])


def without_due(text: str) -> str:
    """A text without the due date, which stood there or another when it was taken."""
    lines = lines_of(text)
    for place, line in enumerate(lines):
        if place and not lines[place - 1].strip() and DUE.fullmatch(line.rstrip()):
            return "\n".join(lines[: place - 1] + lines[place + 1 :])
    return text


def text_key(text: str) -> tuple[str, ...]:
    """A text but for its due date, and spaces at the ends of lines and around it.

    A text that is far longer than any of a course is like no other.
    """
    if is_long(text):
        return (text,)
    return tuple(line.rstrip() for line in lines_of(without_due(text).strip()))


def is_long(text: str) -> bool:
    """Whether a text has too many lines to be compared line by line."""
    return text.count("\n") + text.count("\r") > MANY_LINES


def same_text(a: str, b: str) -> bool:
    """The same text, but for a due date, and spaces at the ends of lines and around it.

    ``b`` is the course's; what is far longer is not read, as it is compared often.
    """
    if len(a) > 2 * len(b) + 1000:
        return False
    return text_key(a) == text_key(b)


@dataclass(frozen=True)
class Lines:
    """Lines that a text has and the course's has not: those above it, or in place of
    some of it, and those that follow what the course wrote."""

    before: str = ""
    after: str = ""


def difference(own: str, course: str) -> Lines:
    """What ``own`` has and ``course`` does not, in order."""
    if is_long(own):
        return Lines(own)
    lines = lines_of(own)
    theirs = [line.rstrip() for line in lines_of(course)]
    matcher = SequenceMatcher(None, theirs, [x.rstrip() for x in lines], autojunk=False)
    before: list[str] = []
    after: list[str] = []
    for kind, first, _, start, end in matcher.get_opcodes():
        if kind == "insert" and first:
            after += lines[start:end]
        elif kind in ("insert", "replace"):
            before += lines[start:end]
    return Lines(*("\n".join(part).strip("\n") for part in (before, after)))


def without_block(source: str, block: str) -> str:
    """``source`` without the first run of lines that reads as ``block``."""
    if is_long(source):
        return source
    lines, wanted = lines_of(source), list(text_key(block))
    bare = [line.rstrip() for line in lines]
    starts = (n for n, line in enumerate(bare) if wanted and line == wanted[0])
    for start in starts:
        if bare[start : start + len(wanted)] == wanted:
            return "\n".join(lines[:start] + lines[start + len(wanted) :])
    return source


def is_stub(source: str, name: str) -> bool:
    """Whether this defines ``name`` and nothing in it: a text, pass, or a raise."""
    return stub_of(source) == name


def is_empty(source: str, name: str) -> bool:
    """Whether there is no code but ``pass``, ``...`` or a text, as all of ``name``."""
    tree = parsed(source) if len(source) <= LONGEST_STUB else None
    body = tree.body if tree else []
    if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
        body = body[0].body if body[0].name == name else body
    return tree is not None and does_nothing(body, ast.Pass)


def stub_of(source: str) -> str | None:
    """The one name that a source defines with nothing in it; None of any other."""
    tree = parsed(source) if len(source) <= LONGEST_STUB else None
    names = {
        node.name
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and does_nothing(node.body, ast.Pass, ast.Raise)
        else None
        for node in (tree.body if tree else [])
    }
    return names.pop() if len(names) == 1 else None


def does_nothing(body: list[ast.stmt], *hollow: type[ast.stmt]) -> bool:
    """Whether all statements are constants, such as texts, or of a hollow kind."""
    return all(
        isinstance(part, hollow)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in body
    )


def holds_code(text: str, name: str) -> bool:
    """Whether a text has code that defines ``name``, and more than a stub of it.

    A block begins with ``def`` or ``class``, and goes on as far as it is indented.
    """
    begins = rf"^([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+{re.escape(name)}\b.*\n?"
    block = re.compile(rf"{begins}(?:(?:\1[ \t]+\S.*|[ \t]*)(?:\n|\Z))*", re.MULTILINE)
    codes = (textwrap.dedent(m[0]) for m in block.finditer(text[:LONGEST_CODE]))
    return any(parsed(code) and not is_stub(code, name) for code in codes)


def parsed(source: str) -> ast.Module | None:
    """What Python reads in a text; None of what is not Python, or far too long."""
    if len(source) > LONGEST_CODE:
        return None
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def mentions(source: str, name: str) -> bool:
    """Whether code reads ``name``, as what extends or wraps an earlier one does."""
    tree = parsed(source)
    nodes = ast.walk(tree) if tree else []
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Load)
        for node in nodes
    )


def defined_names(source: str) -> frozenset[str]:
    """The names that the lines of a cell look as if they define."""
    return frozenset(one or other for one, other in DEFINED.findall(source))
