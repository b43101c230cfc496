"""Visible checks of 05-positional-encoding, for students at work and for grading."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes

assignment = Assignment(__name__, page="05-positional-encoding")
__getattr__ = assignment.hidden_half

positional_encoding = assignment.question("positional_encoding", 6, "sinusoids")
shift_matrix = assignment.question(
    "shift_matrix", 5, "shifts", uses=("positional_encoding",)
)
plot_encoding_heatmap = assignment.question("plot_encoding_heatmap", 5, "heat-map")
plot_encoding_waves = assignment.question("plot_encoding_waves", 4, "waves")
check_positional_encoding = assignment.hunt(
    "check_positional_encoding", 4, "sinusoids", "positional_encoding"
)


def oracle(positions: np.ndarray, d_model: int) -> np.ndarray:
    """Sinusoids by complex numbers: column pair i turns with frequency w_i."""
    pairs = np.arange(d_model // 2)
    turns = np.exp(1j * np.multiply.outer(positions, 10000.0 ** (-2 * pairs / d_model)))
    return np.stack([turns.imag, turns.real], axis=-1).reshape(len(positions), d_model)


# ---------------------------------------------------- positional_encoding


@positional_encoding.visible
def encoding_has_a_row_per_position(answer: Any) -> None:
    """Seven positions and six dimensions give an array of shape (7, 6)."""
    expect.array(expect.call(answer, 7, 6), (7, 6), "the encoding")


@positional_encoding.visible
def position_zero_alternates(answer: Any) -> None:
    """Position 0 is [0, 1, 0, 1]: the sine and the cosine of 0, in turn."""
    encoding = expect.array(expect.call(answer, 3, 4), (3, 4), "the encoding")
    expect.close(
        encoding[0],
        np.array([0.0, 1.0, 0.0, 1.0]),
        f"position 0 is {np.round(encoding[0], 3)}",
        "[0, 1, 0, 1]",
        whole=(encoding, oracle(np.arange(3), 4)),
    )


@positional_encoding.visible
def position_one_shows_the_frequencies(answer: Any) -> None:
    """With d_model = 4, position 1 is [sin 1, cos 1, sin 0.01, cos 0.01]."""
    encoding = expect.array(expect.call(answer, 3, 4), (3, 4), "the encoding")
    wanted = np.array([np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    seen = f"position 1 is {np.round(encoding[1], 4)}"
    due = f"{np.round(wanted, 4)}: the frequencies are 1 and 10000^(-2/4)"
    expect.close(
        encoding[1], wanted, seen, due, whole=(encoding, oracle(np.arange(3), 4))
    )


@positional_encoding.visible
def odd_widths_are_refused(answer: Any) -> None:
    """An odd d_model raises a ValueError."""
    expect.refused(answer, 4, 5, what="d_model = 5")


# ----------------------------------------------------------- shift_matrix


@shift_matrix.visible
def shift_matrix_is_square(answer: Any) -> None:
    """The matrix for d_model = 6 has shape (6, 6)."""
    expect.array(expect.call(answer, 1, 6), (6, 6), "the matrix")


@shift_matrix.visible
def shift_matrix_moves_every_position(answer: Any) -> None:
    """One matrix moves every position by k = 3."""
    matrix = expect.array(expect.call(answer, 3, 4), (4, 4), "the matrix")
    encoding, start = oracle(np.arange(10), 4), [0, 2, 6]
    moved = np.stack([matrix @ encoding[p] for p in start])
    right = np.stack([encoding[p + 3] for p in start])
    for p, row, wanted in zip(start, moved, right, strict=True):
        seen = f"M @ pe[{p}] is {np.round(row, 3)}"
        due = f"pe[{p + 3}], which is {np.round(wanted, 3)}"
        expect.close(row, wanted, seen, due, whole=(moved, right))


@shift_matrix.visible
def shift_matrix_moves_backward(answer: Any) -> None:
    """A negative k moves backward."""
    matrix = expect.array(expect.call(answer, -2, 4), (4, 4), "the matrix")
    encoding = oracle(np.arange(6), 4)
    moved = matrix @ encoding[5]
    seen = f"with k = -2, M @ pe[5] is {np.round(moved, 3)}"
    wanted = f"pe[3], which is {np.round(encoding[3], 3)}"
    expect.close(moved, encoding[3], seen, wanted)


# -------------------------------------------------- plot_encoding_heatmap


def grid_of(answer: Any, pe: np.ndarray) -> dict[str, Any]:
    """The one grid of the student's Axes, rows ordered by their place on y."""
    description = describe_axes(expect.call(answer, pe))
    if len(description["grids"]) != 1:
        due = "one heat map (imshow, pcolormesh or seaborn's heatmap)"
        raise CheckFailed(f"the Axes shows {len(description['grids'])} heat maps", due)
    labels_are(description, xlabel="dim", ylabel="pos")
    (grid,) = description["grids"]
    if grid["values"].shape != pe.shape:
        seen = f"the heat map has {grid['values'].shape} rows and columns"
        due = f"{pe.shape}: positions down, dimensions across"
        raise CheckFailed(seen, due, kind="shape")
    if not description["downward"]:
        wanted = "at the top: positions run down"
        raise CheckFailed("position 0 is at the bottom", wanted)
    expect.readable(grid)
    grid["values"] = grid["values"][np.argsort(grid["y"])][:, np.argsort(grid["x"])]
    return grid


def labels_are(description: dict[str, Any], **wanted: str) -> None:
    """Each axis label says what it has to, whatever the case."""
    for axis, word in wanted.items():
        label = description[axis]
        if word not in label.casefold():
            full = {"dim": "dimension", "pos": "position"}.get(word, word)
            seen = f'the {axis} is "{label}"' if label else f"the plot has no {axis}"
            raise CheckFailed(seen, f'a label with "{full}"')


@plot_encoding_heatmap.visible
def heatmap_has_positions_down(answer: Any) -> None:
    """Ten positions and four dimensions give ten rows, downward, and four columns."""
    grid_of(answer, oracle(np.arange(10), 4))


@plot_encoding_heatmap.visible
def heatmap_shows_the_encoding(answer: Any) -> None:
    """The cell at (position, dimension) holds that number of the encoding."""
    pe = oracle(np.arange(10), 4)
    values = grid_of(answer, pe)["values"]
    row = int((~np.isclose(values, pe)).any(axis=1).argmax())  # the first that differs
    seen = f"position {row} is drawn as {np.round(values[row], 2)}"
    expect.close(values, pe, seen, f"{np.round(pe[row], 2)}")


@plot_encoding_heatmap.visible
def heatmap_has_a_color_bar(answer: Any) -> None:
    """A color bar shows which number each color stands for."""
    if not grid_of(answer, oracle(np.arange(10), 4))["colorbar"]:
        raise CheckFailed("there is no color bar", "a color bar")


# ---------------------------------------------------- plot_encoding_waves

FIRST = re.compile(r"^\D*(\d+)").findall  # others may say more: "dimension 4 (pair 2)"


def waves_of(answer: Any, pe: np.ndarray, dims: list[int]) -> list[dict[str, Any]]:
    """The curves of the student's Axes, one for each of ``dims``, in their order."""
    description = describe_axes(expect.call(answer, pe, dims))
    curves = description["curves"]
    if len(curves) != len(dims):
        seen = f"the Axes has {len(curves)} lines"
        raise CheckFailed(seen, f"{len(dims)}: one line per dimension")
    if not description["xlabel"].strip() or not description["ylabel"].strip():
        raise CheckFailed("an axis has no label", "a label on both axes")
    labels_are(description, xlabel="pos")
    numbers = [FIRST(text) for text in description["legend"]]
    if sorted(n for found in numbers for n in found) != sorted(map(str, dims)):
        wanted = f"one entry for each of the dimensions {dims}, with its number first"
        raise CheckFailed(f"the legend says {description['legend']}", wanted)
    found = []
    for dim in dims:
        of_dim = [c for c in curves if FIRST(c["label"]) == [str(dim)]]
        if len(of_dim) != 1:
            seen = f"no line is labeled with dimension {dim}"
            raise CheckFailed(seen, "one line per dimension")
        found.append(of_dim[0])
    return found


def compare_waves(answer: Any, pe: np.ndarray, dims: list[int]) -> None:
    """Every line runs over all positions and shows its dimension."""
    for dim, curve in zip(dims, waves_of(answer, pe, dims), strict=True):
        x = curve["x"]
        if not np.array_equal(x, np.arange(len(pe))):
            told = f"the line of dimension {dim} starts with x = {x[:4].tolist()}"
            raise CheckFailed(told, f"x = 0, 1, 2, … for all {len(pe)} positions")
        seen = np.round(curve["y"][:4], 2).tolist()
        wanted = np.round(pe[:4, dim], 2).tolist()
        told = f"the line of dimension {dim} starts with {seen}"
        due = f"{wanted}: column {dim} of the encoding"
        expect.close(curve["y"], pe[:, dim], told, due)


@plot_encoding_waves.visible
def waves_are_lines_with_names(answer: Any) -> None:
    """One line per dimension, a legend with their numbers, labels on both axes."""
    waves_of(answer, oracle(np.arange(12), 8), [0, 1, 4])


@plot_encoding_waves.visible
def waves_run_over_positions(answer: Any) -> None:
    """The line of dimension d shows column d of the encoding over all positions."""
    compare_waves(answer, oracle(np.arange(12), 8), [0, 1, 4])
