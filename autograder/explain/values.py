"""Snapshot of the names in a line that raised an exception: their types and shapes.

It is taken in the process of the student's code. It holds only names, numbers and words
of a fixed list, so that grading can validate it before a message shows it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any

from autograder.libraries import dtype_name, loaded

MOST_TOLD = 5  # in a message
MOST_KEPT = 12
LONGEST_SOURCE = 50_000
ARRAYS = ("array", "tensor")
KINDS = (*ARRAYS, "Linear", "list", "tuple", "None", "float", "attribute")
DTYPES = {"bool", "bfloat16", "complex64", "complex128", "object"}
DTYPES |= {f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
DTYPES |= {f"float{n}" for n in (16, 32, 64)}
MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
# where an exception is about kinds of numbers
ABOUT_DTYPES = re.compile(
    r"dtype|scalar type|not implemented for|bool(?:ean masks| tensor)|int64_t"
    r"|FloatTensor|Cannot cast|numpy boolean"
)


@dataclass(frozen=True)
class Value:
    """What a name, maybe with attributes, stood for; one of KINDS.

    ``shape`` is that of an array, the length of a list or tuple, the two sizes of a
    Linear. An "attribute" is one that ``self`` has where a name was missing.
    """

    name: str
    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = ""

    @property
    def axes(self) -> int:
        """How many axes an array has."""
        return len(self.shape)


def described(values: Sequence[Value], text: str) -> str:
    """The arrays among ``values``, for a message about an exception of this text."""
    arrays = [v for v in values if v.kind in ARRAYS or v.kind == "Linear"][:MOST_TOLD]
    mixed = {v.kind for v in arrays} >= set(ARRAYS)
    dtypes = bool(ABOUT_DTYPES.search(text))
    words = []
    for value in arrays:
        if value.kind == "Linear":
            words.append(f"{value.name} Linear{value.shape}")
            continue
        parts = [value.name, value.kind if mixed else "", str(value.shape)]
        parts.append(value.dtype if dtypes else "")
        words.append(" ".join(filter(None, parts)))
    return ", ".join(words)


@lru_cache(maxsize=8)
def parsed(source: str) -> ast.Module | None:
    """The source of a cell, magics aside; None if it cannot be read."""
    if len(source) > LONGEST_SOURCE:
        return None
    try:
        return ast.parse(MAGIC.sub(r"\1pass", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statement(tree: ast.Module, line: int) -> list[ast.AST]:
    """The innermost statement at a line; of one with a body, the parts in its head."""
    found: ast.AST | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    if found is None:
        return []
    inner = (ast.stmt, ast.ExceptHandler, ast.match_case)
    if not hasattr(found, "body"):
        return [found]
    return [n for n in ast.iter_child_nodes(found) if not isinstance(n, inner)]


def names_in(parts: Sequence[ast.AST]) -> list[str]:
    """The names that a piece of code reads, with their attributes, in its order.

    "self.W_q" comes with "self": longer names first, where they begin alike.
    """
    found: list[tuple[int, int, int, str]] = []
    for node in (node for part in parts for node in ast.walk(part)):
        chain, base = "", node
        while isinstance(base, ast.Attribute):
            chain, base = f".{base.attr}{chain}", base.value
        changed = isinstance(node, ast.AugAssign) and node.target
        target = changed if isinstance(changed, ast.Name) else base
        if isinstance(target, ast.Name):
            if isinstance(target.ctx, ast.Store) and not changed:
                continue
            name = target.id + chain
            found.append((target.lineno, target.col_offset, -len(chain), name))
    return list(dict.fromkeys(name for *_, name in sorted(found)))


def values_at(
    frame: FrameType, source: str, line: int, missing: str | None
) -> tuple[Value, ...]:
    """What the names in a line of a frame stand for; ``missing`` is not defined."""
    if missing is not None:
        there = resolve(frame, f"self.{missing}") is not NOTHING
        return (Value(f"self.{missing}", "attribute"),) if there else ()
    tree = parsed(source)
    if tree is None:
        return ()
    return tuple(_known(frame, names_in(statement(tree, line))))[:MOST_KEPT]


def _known(frame: FrameType, names: Sequence[str]) -> Iterator[Value]:
    longer: list[str] = []
    for name in names:
        if any(one.startswith(name + ".") for one in longer):
            continue
        try:
            value = value_of(name, resolve(frame, name))
        except Exception:  # a hostile __getattr__, __len__ or property
            continue
        if value:
            longer.append(name)
            yield value


NOTHING: Any = object()


def resolve(frame: FrameType, name: str) -> Any:
    """What a name with attributes stands for; properties are not asked."""
    first, *attributes = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first, NOTHING))
    for attribute in attributes:
        try:
            own = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return NOTHING
        if type(own) is not dict:
            return NOTHING
        tables = [own, *map(own.get, ("_parameters", "_buffers", "_modules"))]
        value = next((t[attribute] for t in tables if t and attribute in t), NOTHING)
    return value


def value_of(name: str, value: Any) -> Value | None:
    """A value by its kind; None for what messages say nothing about."""
    kind = type(value)
    numpy = sys.modules.get("numpy")
    if value is None:
        return Value(name, "None")
    if numpy and issubclass(kind, numpy.ndarray):
        return Value(name, "array", _sizes(value.shape), _dtype(value.dtype))
    for support in loaded():
        if found := support.described(value):
            own, shape, dtype = found
            return Value(name, own, _sizes(shape), _dtype(dtype))
    for plain in (list, tuple):
        if issubclass(kind, plain):
            return Value(name, plain.__name__, (plain.__len__(value),))
    if issubclass(kind, float):
        return Value(name, "float")
    return None


def _sizes(shape: Iterable[Any]) -> tuple[int, ...]:
    return tuple(int(size) for size in shape)


def _dtype(dtype: object) -> str:
    name = dtype_name(dtype)
    return name if name in DTYPES else ""


def about(values: Sequence[Value], source: str, line: int) -> tuple[Value, ...]:
    """Those of the values that a line can be about, whoever tells them."""
    tree = parsed(source)
    if tree is None:
        return ()
    names = names_in(statement(tree, line))
    names += [f"self.{name}" for name in names if "." not in name]
    return tuple(
        v
        for v in values[:MOST_KEPT]
        if v.name in names
        and v.kind in KINDS
        and len(v.shape) <= 16
        and all(0 <= size < 10**12 for size in v.shape)
        and (not v.dtype or v.dtype in DTYPES)
    )
