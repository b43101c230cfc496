"""Analysis of a failed ``assert`` in a test that a student wrote as an answer.

Some questions ask for a test of a function. Where it rejects a right function, the
message shows both sides of the assert, and a likely reason such as a missing tolerance.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from autograder.explain.locations import location_of
from autograder.text import printable

CLOSE = 1e-4  # what is nearer than this differs by rounding
LONGEST = 80
ROUNDING = "`{}` sees rounding: leave room for it, as `np.allclose` does."
TOLERANCE = "The tolerance leaves too little room for rounding."
IDENTITY = "`is` asks whether both are one object; `==` compares values."
DTYPE = "The card does not promise this dtype."
UNDERFLOW = (
    "`exp` of a number far below 0 is exactly 0 in floating-point numbers: a right "
    "result is not always above 0."
)


@dataclass(frozen=True)
class Asserted:
    """The place of an ``assert``, what stood on its sides, and the likely reason."""

    place: str
    seen: str = ""
    reason: str = ""


def asserted(error: AssertionError) -> Asserted | None:
    """What is known of a failed ``assert``; None where it is not in a cell."""
    place = location_of(error)
    if place is None:
        return None
    source = "".join(linecache.getlines(place.file))
    told = printable(place.described(source), 400)
    test = tested(source, place.line)
    names = names_at(error, place.file)
    if test is None or names is None:
        return Asserted(told)
    how, sides = compared(test)
    try:
        values = [eval(compiled(side), *names) for side in sides]
    except Exception:  # it does not give the same once more
        return Asserted(told)
    if not values:
        return Asserted(told)
    apart = difference(values)
    texts = [shown(value) for value in values]
    seen = f": {texts[0]} against {texts[1]}"
    if apart:
        seen = f": it differs by {apart:.1g} from what you ask for"
    return Asserted(told, seen, reason(how, sides, values, apart))


def tested(source: str, line: int) -> ast.expr | None:
    """The condition of the ``assert`` at a line."""
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return None
    for node in nodes:
        if isinstance(node, ast.Assert) and node.lineno <= line <= (
            node.end_lineno or node.lineno
        ):
            return node.test
    return None


def names_at(error: BaseException, file: str) -> tuple[dict, dict] | None:
    """Global and local names where the last line of a file ran."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_frame.f_globals, dict(trace.tb_frame.f_locals)
        trace = trace.tb_next
    return found


def compared(test: ast.expr) -> tuple[str, list[ast.expr]]:
    """How a condition compares, and its two sides; no sides if it does not."""
    if isinstance(test, ast.Call) and test.args and not test.keywords:
        called = test.func
        if isinstance(called, ast.Attribute) and called.attr in ("all", "item"):
            return compared(called.value)
        if getattr(called, "id", "") in ("all", "bool"):
            return compared(test.args[0])
    if isinstance(test, ast.Call):
        called = test.func
        if isinstance(called, ast.Attribute) and called.attr == "all":
            return compared(called.value) if not test.args else compared(test.args[0])
        name = getattr(called, "attr", getattr(called, "id", ""))
        if "close" in name or "equal" in name:
            return name, test.args[:2] if len(test.args) > 1 else []
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        signs = {ast.Eq: "==", ast.Gt: ">", ast.Lt: "<", ast.LtE: "<=", ast.Is: "is"}
        how = signs.get(type(test.ops[0]), "compares")
        return how, [test.left, test.comparators[0]]
    return "", []


def compiled(node: ast.expr) -> CodeType:
    """An expression as code."""
    return compile(ast.Expression(node), "<assert>", "eval", dont_inherit=True)


def difference(values: list[Any]) -> float:
    """How far two results are apart, where that is near; else 0."""
    try:
        one, other = (np.asarray(value, dtype=float) for value in values)
        if one.shape != other.shape and other.size != 1:
            return 0.0
        apart = float(np.abs(one - other).max())
    except (TypeError, ValueError, RuntimeError):
        return 0.0
    return apart if 0 < apart < CLOSE else 0.0


def reason(how: str, sides: list[ast.expr], values: list[Any], apart: float) -> str:
    """The likely reason why a right function is refused; empty if none is known."""
    texts = [ast.unparse(side) for side in sides]
    if any(text.endswith("dtype") for text in texts):
        return DTYPE
    if how == "is":
        return IDENTITY
    if how == ">" and not isinstance(values[1], bool):
        try:
            low, bound = np.min(np.asarray(values[0])), np.asarray(values[1])
            return UNDERFLOW if low == 0 and np.all(bound == 0) else ""
        except (TypeError, ValueError, RuntimeError):
            return ""
    if how in ("<", "<=") and isinstance(values[0], float | np.floating):
        return TOLERANCE if 0 < values[0] < CLOSE else ""
    if apart and (how == "==" or "equal" in how):
        return ROUNDING.format(how)
    return TOLERANCE if apart and "close" in how else ""


def shown(value: Any) -> str:
    """A value in one short line."""
    text = repr(value.tolist() if hasattr(value, "tolist") else value)
    return printable(" ".join(text.split()), LONGEST)
