"""Drawing of a wrong array beside the expected one; cells that differ are marked.

Messages of failed visible checks show it. Hidden checks draw nothing, since their
inputs and values stay hidden. NumPy is imported only when it is needed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LARGEST = 8  # rows and columns that are shown
DECIMALS = 6  # at most
WIDTH = 79  # of a terminal
GAP = "   "
Texts = list[list[str]]


@dataclass(frozen=True)
class Drawing:
    """Two tables of one size: what cells say, which of them differ, what that means."""

    yours: Texts
    expected: Texts
    differ: list[list[bool]]
    note: str

    def __str__(self) -> str:
        """Side by side, or one below the other where a line has no room for both."""
        marks = [["*" if wrong else " " for wrong in row] for row in self.differ]
        width = max(len(cell) for row in self.yours + self.expected for cell in row)
        mine = lines_of("yours", self.yours, marks, width)
        bare = [[" "] * len(row) for row in marks]
        right = lines_of("expected", self.expected, bare, width)
        first = max(map(len, mine))
        if 2 + first + len(GAP) + max(map(len, right)) <= WIDTH:
            both = zip(mine, right, strict=True)
            lines = [f"{one:{first}}{GAP}{other}" for one, other in both]
        else:
            lines = [*mine, *right]
        return "\n".join(f"  {line}".rstrip() for line in [*lines, f"* {self.note}"])


def lines_of(title: str, cells: Texts, marks: Texts, width: int) -> list[str]:
    """A table under its title; ``marks`` stand behind the cells."""
    lines = [title]
    for row, signs in zip(cells, marks, strict=True):
        pairs = zip(row, signs, strict=True)
        lines.append(" ".join(f"{cell:>{width}}{sign}" for cell, sign in pairs))
    return lines


def crosses(row: Any) -> str:
    """A row of a mask as a text: a cross for True, a dot for False."""
    return "".join(".x"[bool(entry)] for entry in row)


def beside(yours: Any, expected: Any, tolerance: float = 1e-6) -> Drawing | None:
    """Two arrays as a drawing; None where it would add nothing to a sentence.

    That is where they are no tables of one shape, have a single row, or agree.
    """
    if yours.shape != expected.shape or len(yours.shape) != 2 or len(yours) < 2:
        return None
    mine, right = yours.tolist(), expected.tolist()
    wrong = [
        [not abs(a - b) <= tolerance for a, b in zip(*rows, strict=True)]
        for rows in zip(mine, right, strict=True)
    ]
    if not any(map(any, wrong)):
        return None
    rows = window([any(row) for row in wrong])
    columns = window([any(column) for column in zip(*wrong, strict=True)])
    parts = [
        [[table[i][j] for j in columns] for i in rows] for table in (mine, right, wrong)
    ]
    note = "not as expected"
    if isinstance(mine[0][0], bool):
        note += "; x is True, . is False"
    cut = [
        f"{name} {shown[0]} to {shown[-1]} of {size}"
        for name, shown, size in zip(
            ("rows", "columns"), (rows, columns), yours.shape, strict=True
        )
        if len(shown) < size
    ]
    note += f"; these are {' and '.join(cut)}" if cut else ""
    return Drawing(*cell_texts(*parts), parts[2], note)


def window(wrong: list[bool]) -> range:
    """As many places as are shown, the first wrong one among them."""
    end = min(max(LARGEST, wrong.index(True) + 1), len(wrong))
    return range(max(0, end - LARGEST), end)


def cell_texts(mine: Any, right: Any, wrong: list[list[bool]]) -> tuple[Texts, Texts]:
    """The cells as short texts, by which wrong cells can be told from right ones."""
    numbers = list(itertools.chain(*mine, *right))
    whole = all(math.isfinite(number) and number == int(number) for number in numbers)
    for decimals in range(0 if whole else 2, DECIMALS + 1):
        first, second = (
            [[text(cell, decimals) for cell in row] for row in table]
            for table in (mine, right)
        )
        cells = zip(flat(first), flat(second), flat(wrong), strict=True)
        if all(a != b for a, b, differs in cells if differs):
            break
    return first, second


def flat(table: list[list[Any]]) -> Iterable[Any]:
    """All cells of a table."""
    return itertools.chain.from_iterable(table)


def text(value: Any, decimals: int) -> str:
    """A cell in few letters; a zero has no minus."""
    if isinstance(value, bool):
        return "x" if value else "."
    if math.isfinite(value) and abs(value) >= 10_000:
        return f"{float(value):.{max(decimals, 1)}e}"
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"
