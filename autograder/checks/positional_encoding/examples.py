"""What varies on the cards of 05-positional-encoding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.positional_encoding import assignment, grid_of, oracle
from autograder.checks.variant import Draw, Example, row


@assignment.varies(
    "positional_encoding",
    "with `d_model = 4`, position 1 is `[sin 1, cos 1, sin 0.01, cos 0.01]`, which is "
    "about `[0.841, 0.540, 0.010, 1.000]`",
)
def one_position(draw: Draw) -> Example:
    """A position of its own."""
    p = draw.number(2, 30)
    slow = f"{p / 100:g}"
    wanted = [math.sin(p), math.cos(p), math.sin(p / 100), math.cos(p / 100)]

    def check(answer: Any) -> None:
        result = expect.call(answer, p + 1, 4)
        encoding = expect.array(result, (p + 1, 4), "the encoding")
        expect.close(
            encoding[p],
            np.array(wanted),
            f"position {p} is {np.round(encoding[p], 3)}",
            row(wanted, 3),
        )

    text = (
        f"with `d_model = 4`, position {p} is `[sin {p}, cos {p}, sin {slow}, "
        f"cos {slow}]`, which is about `{row(wanted, 3)}`"
    )
    return Example(text, check)


@assignment.varies("shift_matrix", "`shift_matrix(0, 4)` is the identity")
def one_shift(draw: Draw) -> Example:
    """Position 0, moved by a distance of its own."""
    k = draw.number(2, 30)
    wanted = [math.sin(k), math.cos(k)]

    def check(answer: Any) -> None:
        matrix = expect.array(expect.call(answer, k, 2), (2, 2), "the matrix")
        moved = matrix @ np.array([0.0, 1.0])
        seen = f"shift_matrix({k}, 2) @ [0, 1] is {np.round(moved, 3)}"
        expect.close(moved, np.array(wanted), seen, row(wanted, 3))

    text = (
        f"`shift_matrix({k}, 2) @ [0, 1]`, position 0 moved by {k}, is "
        f"`[sin {k}, cos {k}]`, about `{row(wanted, 3)}`"
    )
    return Example(text, check)


@assignment.varies(
    "plot_encoding_heatmap", "Try it on positions 0 to 49 with 8 dimensions"
)
def size_of_a_picture(draw: Draw) -> Example:
    """The size of an encoding."""
    last, d_model = draw.number(20, 60), 2 * draw.number(3, 10)

    def check(answer: Any) -> None:
        pe = oracle(np.arange(last + 1), d_model)
        values = grid_of(answer, pe)["values"]
        seen = f"the last position is drawn as {np.round(values[-1], 2)}"
        expect.close(values, pe, seen, f"{np.round(pe[-1], 2)}")

    text = f"Try it on positions 0 to {last} with {d_model} dimensions"
    return Example(text, check)
