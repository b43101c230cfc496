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
from autograder.libraries import is_tensor
from autograder.text import printable

CLOSE = 1e-4  # what is nearer than this differs by rounding
LONGEST = 80
MOST = 1_000_000  # numbers that are compared with one another
ROUNDING = "`{}` fails on rounding errors: allow for them, as `np.allclose` does."
TOLERANCE = "The tolerance is too small for rounding errors."
IDENTITY = "`is` tests whether both sides are the same object; `==` compares values."
DTYPE = "The card does not promise this dtype."
NAN = (
    "One side is NaN, which equals nothing, not even NaN. Does your own calculation "
    "overflow, or divide 0 by 0?"
)
UNDERFLOW = (
    "In floating-point numbers, `exp` of a number far below 0 is exactly 0, so a "
    "right result can be 0."
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
    test, names = tested(source, place.line), names_at(error, place.file)
    if test is None or names is None:
        return Asserted(told)
    try:
        how, sides = compared(part_that_fails(test, names))
        values = [eval(compiled(side), *names) for side in sides]
        apart = difference(values)
        return Asserted(told, against(values, apart), reason(how, sides, values, apart))
    except Exception:  # it does not give the same once more
        return Asserted(told)


def part_that_fails(test: ast.expr, names: tuple[dict, dict]) -> ast.expr:
    """Of conditions that ``and`` joins, the first that does not hold."""
    while isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        parts = (part for part in test.values if not eval(compiled(part), *names))
        test = next(parts)
    return test


def against(values: list[Any], apart: float) -> str:
    """Two values that were compared, in a few words."""
    if not values:
        return ""
    if apart:
        return f": the values that you compare differ by {apart:.1g}"
    one, other = map(shown, values)
    return f": {one} against {other}"


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
    if isinstance(test, ast.Call):
        called = test.func
        name = getattr(called, "attr", getattr(called, "id", ""))
        if name in ("all", "bool", "item"):  # of what it is given, or of its object
            of = test.args[0] if test.args else getattr(called, "value", None)
            return compared(of) if of else ("", [])
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
        if one.size * other.size > MOST:
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
    if apart and "close" in how:
        return TOLERANCE
    return NAN if [*map(has_nan, values)] in ([True, False], [False, True]) else ""


def has_nan(value: Any) -> bool:
    """Whether there is a NaN among the numbers of a value."""
    try:
        return bool(np.isnan(np.asarray(value, dtype=float)).any())
    except (TypeError, ValueError, RuntimeError):
        return False


def shown(value: Any) -> str:
    """A value in one short line."""
    if isinstance(value, type):
        return value.__name__
    arrays = is_tensor(value) or isinstance(value, np.ndarray | np.generic)
    text = repr(value.tolist() if arrays else value)
    return printable(" ".join(text.split()), LONGEST)
