"""What goes into a function and what comes out, drawn with characters for a card."""

from __future__ import annotations

from typing import Any

import numpy as np

ARROW = "→"


def picture(inputs: dict[str, Any], result: Any, names: str = "the result") -> str:
    """Inputs on the left of an arrow, the result on its right, as tables."""
    parts = result if isinstance(result, tuple) else (result,)
    titles = names.split(", ") if isinstance(result, tuple) else ["result"]
    before = [block(name, value) for name, value in inputs.items()]
    after = [block(name, value) for name, value in zip(titles, parts, strict=True)]
    return "\n".join(lines_of([*before, [ARROW], *after]))


def block(name: str, value: Any) -> list[str]:
    """A value under its name: rows as lines, booleans as squares."""
    array = np.asarray(value)
    if array.ndim < 2:
        rows = [array.reshape(-1)]
    elif array.ndim == 2:
        rows = list(array)
    else:
        rows = [row for table in array for row in (*table, [])][:-1]
    texts = [[spelled(one) for one in row] for row in rows]
    width = max(len(text) for row in texts for text in row)
    return [name, *(" ".join(f"{text:>{width}}" for text in row) for row in texts)]


def spelled(number: Any) -> str:
    """A number with at most two decimals; True is a full square."""
    if isinstance(number, bool | np.bool_):
        return "■" if number else "□"
    return f"{round(float(number), 2) + 0.0:g}"


def lines_of(blocks: list[list[str]]) -> list[str]:
    """Blocks side by side; the arrow stands in the line of the first numbers."""
    height = max(map(len, blocks))
    columns = []
    for one in blocks:
        lines = ["", *one] if one == [ARROW] else one
        width = max(map(len, lines))
        columns.append(
            [f"{line:{width}}" for line in [*lines, *[""] * height][:height]]
        )
    return ["   ".join(line).rstrip() for line in zip(*columns, strict=True)]
