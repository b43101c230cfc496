"""Hidden checks of 01-attention, run only in grading, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden

from .. import visible

softmax = Hidden(visible.softmax, core=0.5)
attention_scores = Hidden(visible.attention_scores, core=0.5)
scaled_dot_product_attention = Hidden(visible.scaled_dot_product_attention, core=0.5)
check_softmax = Hunt(visible.check_softmax, visible.assignment)


def oracle_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Compute the softmax as 1 / Σ_j exp(x_j - x_i), which never overflows to NaN."""
    moved = np.moveaxis(np.asarray(x, dtype=np.float64), axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(moved[..., None, :] - moved[..., :, None])
    return np.moveaxis(1 / ratios.sum(-1), -1, axis)


def oracle_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple:
    """Compute the output and the weights with einsum, in double precision."""
    Q, K, V = (a.astype(np.float64) for a in (Q, K, V))
    scores = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    weights = oracle_softmax(scores)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


def compare_attention(
    answer: Any, Q: Any, K: Any, V: Any, tolerance: float = 1e-6
) -> None:
    """Compare the answer's output and weights with the oracle's."""
    result = expect.call(answer, Q, K, V)
    expect.agree_pair(result, oracle_attention(Q, K, V), tolerance=tolerance)


def draw(rng: np.random.Generator, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """Draw standard normal arrays of the given shapes."""
    return [rng.standard_normal(shape) for shape in shapes]


# ---------------------------------------------------------------- softmax


@softmax.check(0.15)
def softmax_of_random_scores(answer: Any, rng: np.random.Generator) -> None:
    """Random scores give the right weights."""
    x = rng.normal(scale=3, size=tuple(rng.integers(2, 6, size=2)))
    expect.agree(expect.call(answer, x), oracle_softmax(x), tolerance=1e-8)


@softmax.check(0.1)
def softmax_along_any_axis(answer: Any, rng: np.random.Generator) -> None:
    """Arrays with three axes work along each axis, even if all sizes are equal."""
    for shape in ((2, 3, 4), (3, 3, 3)):
        x = rng.normal(scale=3, size=shape)
        for axis in (0, 1, 2, -2):
            expect.agree(expect.call(answer, x, axis=axis), oracle_softmax(x, axis))


@softmax.check(0.1)
def softmax_of_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Scores around ±1e5 give finite, exact weights, even when rows are far apart."""
    x = rng.normal(size=(4, 5))
    x += np.array([1e5, -1e5, 0, 700])[:, None]
    x[2, 1] = 1e5
    expect.agree(expect.call(answer, x), oracle_softmax(x))


@softmax.check(0.1)
def softmax_of_minus_infinity(answer: Any, rng: np.random.Generator) -> None:
    """A score of minus infinity gets a weight of exactly 0, whatever the others are."""
    x = rng.normal(size=(3, 4)) + np.array([[0.0], [-1e5], [1e5]])
    column = int(rng.integers(4))
    x[:, column] = -np.inf
    weights = expect.array(expect.call(answer, x), x.shape)
    expect.finite(weights)
    if (weights[:, column] != 0).any():
        raise CheckFailed("a weight above 0 for a score of minus infinity", "0")
    rest = np.delete(weights, column, axis=1)
    expect.close(rest, oracle_softmax(np.delete(x, column, axis=1)))


@softmax.check(0.05)
def softmax_in_single_precision(answer: Any, rng: np.random.Generator) -> None:
    """Single-precision and integer scores work, even large ones."""
    # rows far apart, and entries far apart within a row: exp alone fails on each
    far = np.array([[500.0], [-500.0]]) + rng.permutation([0.0, 150.0, 300.0])
    x = (far + rng.normal(size=(2, 3))).astype(np.float32)
    expect.agree(expect.call(answer, x), oracle_softmax(x), tolerance=1e-4)
    whole = rng.integers(-3, 4, size=(2, 3))
    expect.agree(expect.call(answer, whole), oracle_softmax(whole.astype(float)))


# ------------------------------------------------------- attention_scores


@attention_scores.check(0.2)
def scores_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Random queries and keys of several sizes give the right scores."""
    for d_k in (3, 10, 17):
        Q, K = draw(rng, (5, d_k), (7, d_k))
        compare_scores(answer, Q, K)


@attention_scores.check(0.2)
def scores_of_random_batches(answer: Any, rng: np.random.Generator) -> None:
    """Batches with one or two leading axes work, even cube-shaped ones."""
    for batch, n_q, n_k, d_k in [((3,), 3, 3, 3), ((2, 3), 4, 5, 6), ((2, 2), 2, 2, 2)]:
        Q, K = draw(rng, (*batch, n_q, d_k), (*batch, n_k, d_k))
        compare_scores(answer, Q, K)


@attention_scores.check(0.1)
def scores_in_single_precision(answer: Any, rng: np.random.Generator) -> None:
    """Single-precision and integer arrays work."""
    Q, K = (a.astype(np.float32) for a in draw(rng, (4, 5), (3, 5)))
    compare_scores(answer, Q, K, tolerance=1e-4)
    compare_scores(answer, *(rng.integers(-9, 9, (n, 5)) for n in (4, 3)))


def compare_scores(
    answer: Any, Q: np.ndarray, K: np.ndarray, tolerance: float = 1e-6
) -> None:
    """Compare the answer's scores with those from einsum."""
    expected = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    expect.agree(expect.call(answer, Q, K), expected, "scores", tolerance=tolerance)


# ------------------------------------------- scaled_dot_product_attention


@scaled_dot_product_attention.check(0.2)
def attention_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Random queries, keys and values of unequal sizes give the right result."""
    for n_q, n_k, d_k, d_v in [(4, 6, 8, 8), (5, 3, 7, 2), (1, 1, 3, 4)]:
        compare_attention(answer, *draw(rng, (n_q, d_k), (n_k, d_k), (n_k, d_v)))


@scaled_dot_product_attention.check(0.1)
def attention_of_random_batches(answer: Any, rng: np.random.Generator) -> None:
    """Batches with one or two leading axes work, even cube-shaped ones."""
    compare_attention(answer, *draw(rng, (3, 3, 3), (3, 3, 3), (3, 3, 3)))
    compare_attention(answer, *draw(rng, (2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 7)))


@scaled_dot_product_attention.check(0.05)
def attention_ignores_the_order_of_pairs(answer: Any, rng: Any) -> None:
    """Reordering keys and values together leaves the output unchanged."""
    Q, K, V = draw(rng, (4, 6), (5, 6), (5, 3))
    order = np.roll(np.arange(5), int(rng.integers(1, 5)))
    before, _ = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    after, _ = expect.pair(
        expect.call(answer, Q, K[order], V[order]), "output, weights"
    )
    before = expect.array(before, (4, 3), "the output")
    expect.agree(after, before, "the output")
    compare_attention(answer, Q, K[order], V[order])


@scaled_dot_product_attention.check(0.1)
def attention_with_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Very large and very unequal scores give finite, exact results."""
    Q, K, V = draw(rng, (3, 4), (5, 4), (5, 2))
    scores = Q @ K.T / 2
    largest = np.take_along_axis(scores, np.abs(scores).argmax(-1)[:, None], -1)
    Q *= np.array([[9e4], [1.0], [1e3]]) / largest  # so that exp overflows in each draw
    compare_attention(answer, Q, K, V)


@scaled_dot_product_attention.check(0.05)
def attention_in_single_precision(answer: Any, rng: np.random.Generator) -> None:
    """Single-precision and integer arrays work."""
    arrays = [a.astype(np.float32) for a in draw(rng, (4, 5), (3, 5), (3, 2))]
    compare_attention(answer, *arrays, tolerance=1e-4)
    compare_attention(answer, *(rng.integers(-3, 4, (n, 5)) for n in (4, 3, 3)))
