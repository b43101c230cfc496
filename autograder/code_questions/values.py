"""Snapshots of values: what an array, a number or a pair was when it was seen.

Quizzes about one's own code compare and print them; the value itself may change later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.libraries import as_array, dtype_name, is_tensor

KEPT = 4096  # entries of an array that are compared
SPELLED = 8  # entries of an array that are written out as a choice
SHOWN = 16  # and as an argument
DECIMALS = 3


@dataclass(frozen=True)
class Seen:
    """A value as it was: its kind ("array", "number", "pair", "box", "other") and form.

    ``entries`` are None where the value is no array of numbers, or too large to keep.
    """

    kind: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    entries: np.ndarray | None = None
    parts: tuple[Seen, ...] = ()

    @property
    def small(self) -> bool:
        """Whether the entries can be written out."""
        return self.entries is not None and 0 < self.entries.size <= SPELLED

    @property
    def rows(self) -> list[Seen]:
        """The rows of a table that is too large to be written out as a whole."""
        table = self.entries
        if self.small or table is None or table.ndim != 2 or max(table.shape) > SPELLED:
            return []
        return [array(row, self.dtype) for row in table]

    def far(self, other: Seen) -> bool:
        """Whether an entry differs by more than a student may round away."""
        mine, theirs = self.entries, other.entries
        if mine is None or theirs is None or mine.shape != theirs.shape:
            return False
        room = 0.01 if self.dtype.startswith("float") else 0
        return not np.allclose(mine, theirs, room, room, equal_nan=True)

    @property
    def text(self) -> str:
        """The entries, rounded to three decimals."""
        assert self.entries is not None
        return spelled(self.entries.tolist())

    def like(self, other: Seen) -> str:
        """How another value compares: "same", "shape", "dtype", "values", "unlike"."""
        if self.kind != other.kind or len(self.parts) != len(other.parts):
            return "unlike"
        if self.parts:
            found = {a.like(b) for a, b in zip(self.parts, other.parts, strict=True)}
            order = ("unlike", "shape", "dtype", "values", "same")
            return next(one for one in order if one in found)
        if self.shape != other.shape:
            return "shape"
        if self.entries is None or other.entries is None:
            return "unlike"
        near = np.allclose(self.entries, other.entries, 1e-5, 1e-6, equal_nan=True)
        if self.dtype != other.dtype:
            return "dtype" if near else "unlike"
        return "same" if near else "values"


def seen(value: Any) -> Seen:
    """The snapshot of a value. Nothing of the value itself is kept."""
    if isinstance(value, tuple | list) and 0 < len(value) <= SHOWN:
        parts = tuple(map(seen, value))
        if len(value) <= 4 or all(part.kind == "number" for part in parts):
            return Seen("pair", parts=parts)
    if is_tensor(value):
        return array(as_array(value), dtype_name(value.dtype))
    if type(value) is np.ndarray:  # masked arrays have entries that are no numbers
        return array(value, value.dtype.name)
    if isinstance(value, bool | int | float | np.number | np.bool):
        entries = np.asarray(value)
        kind = entries.dtype.name if entries.dtype.kind in "biuf" else ""
        return Seen("number", (), kind, entries if kind else None)
    boxes = list | tuple | dict | set | str | bytes  # what is in them is not told
    kind = "box" if isinstance(value, boxes) else "other"
    return Seen(kind, dtype=type(value).__name__)


def array(value: np.ndarray, dtype: str) -> Seen:
    """The snapshot of an array; a copy of its entries, where they are few."""
    kept = value.size <= KEPT and value.dtype.kind in "biuf"
    return Seen("array", value.shape, dtype, value.copy() if kept else None)


def spelled(value: Any) -> str:
    """A number, or a list of them, to three decimals."""
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, bool | int):
        return str(value)
    if abs(value) >= 1e6 or value != value:
        return f"{value:.4g}"
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}".rstrip("0").rstrip(".")
