"""Hidden checks of 05-positional-encoding, run only in grading, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden

from .. import visible
from ..visible import compare_waves, grid_of, oracle

positional_encoding = Hidden(visible.positional_encoding, core=0.6)
shift_matrix = Hidden(visible.shift_matrix, core=0.5)
plot_encoding_heatmap = Hidden(visible.plot_encoding_heatmap, core=0.7)
plot_encoding_waves = Hidden(visible.plot_encoding_waves, core=0.7)
check_positional_encoding = Hunt(visible.check_positional_encoding, visible.assignment)


def even(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw an even number from ``low`` to ``high``."""
    return 2 * int(rng.integers(low // 2, high // 2 + 1))


@positional_encoding.check(0.3)
def encoding_of_any_size(answer: Any, rng: np.random.Generator) -> None:
    """Encodings of other sizes, including long and wide ones, are correct."""
    sizes = [(int(rng.integers(2, 30)), even(rng, 6, 40)), (1500, even(rng, 8, 20))]
    for n_positions, d_model in [*sizes, (1, 2)]:
        shape = (n_positions, d_model)
        encoding = expect.array(expect.call(answer, *shape), shape, "the encoding")
        expect.close(encoding, oracle(np.arange(n_positions), d_model))


@positional_encoding.check(0.1)
def every_odd_width_is_refused(answer: Any, rng: np.random.Generator) -> None:
    """Every odd d_model raises a ValueError."""
    for d_model in (1, 2 * int(rng.integers(3, 50)) + 1):
        expect.refused(answer, 3, d_model, what="an odd d_model")


@shift_matrix.check(0.25)
def shifts_of_any_distance(answer: Any, rng: np.random.Generator) -> None:
    """Other distances and widths work, including long and backward distances."""
    distances = [0, -int(rng.integers(1, 9)), int(rng.integers(5, 400))]
    for k in distances:
        d_model = even(rng, 6, 24)
        matrix = expect.call(answer, k, d_model)
        matrix = expect.array(matrix, (d_model, d_model), "the matrix")
        positions = np.array([0, 10, 57, 300])
        moved = oracle(positions, d_model) @ matrix.T
        expect.close(moved, oracle(positions + k, d_model))


@shift_matrix.check(0.25)
def shifts_are_rotations(answer: Any, rng: np.random.Generator) -> None:
    """The matrix turns each pair of columns separately and changes no length."""
    d_model = even(rng, 6, 12)
    matrix = expect.call(answer, int(rng.integers(1, 20)), d_model)
    matrix = expect.array(matrix, (d_model, d_model), "the matrix")
    expect.close(matrix @ matrix.T, np.eye(d_model))
    pairs = np.kron(np.eye(d_model // 2), np.ones((2, 2))) > 0
    expect.close(matrix[~pairs], 0.0, "nonzero entries outside the pairs", "")


@plot_encoding_heatmap.check(0.3)
def heatmap_of_any_array(answer: Any, rng: np.random.Generator) -> None:
    """Arrays of other sizes are drawn correctly, and the colors cover all numbers."""
    sizes = rng.integers([12, 55], [40, 90])
    for shape in ((int(sizes[0]), 6), (5, 5), (int(sizes[1]), 12)):
        pe = rng.uniform(-1, 1, size=shape)
        expect.close(grid_of(answer, pe)["values"], pe)


@plot_encoding_waves.check(0.3)
def waves_of_any_dimensions(answer: Any, rng: np.random.Generator) -> None:
    """Other dimensions of a new encoding are drawn correctly, in any order."""
    for n_positions in rng.integers([9, 110], [30, 300]):
        pe = rng.uniform(-1, 1, size=(n_positions, 9))
        dims = [int(dim) for dim in rng.permutation(9)[:4]]
        compare_waves(answer, pe, dims)
