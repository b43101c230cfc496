"""Visible checks of 10-generating: positions, and attention that shares keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed

from . import cases
from .questions import grouped_query_attention, rotate

# ----------------------------------------------------------------- rotate


@rotate.visible
def rotate_keeps_the_shape(answer: Any) -> None:
    """Arrays of shape (2, 3, 4) and (5, 2) keep their shape."""
    for shape in ((2, 3, 4), (5, 2)):
        cases.turned(answer, np.ones(shape), *range(shape[-2]))


@rotate.visible
def position_zero_turns_nothing(answer: Any) -> None:
    """At position 0 nothing is turned."""
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    rows = cases.turned(answer, x, 0)
    seen = f"[1, 2, 3, 4] became {np.round(rows[0], 3)}"
    expect.close(rows, x, seen, "no change")


@rotate.visible
def rotate_turns_counterclockwise(answer: Any) -> None:
    """With d = 2, positions 1 and 3 turn (1, 0) by as many radians counterclockwise."""
    rows = cases.turned(answer, [[1, 0], [1, 0]], 1, 3)
    expect.close(
        rows,
        np.array([[np.cos(p), np.sin(p)] for p in (1.0, 3.0)]),
        f"(1, 0) became {np.round(rows[0], 3)} at position 1 "
        f"and {np.round(rows[1], 3)} at position 3",
        "(cos 1, sin 1) = (0.540, 0.841) and (cos 3, sin 3) = (-0.990, 0.141)",
    )


@rotate.visible
def rotate_pairs_neighbors(answer: Any) -> None:
    """Columns 0 and 1 form a pair, columns 2 and 3 another, which turns more slowly."""
    pairs = [([1, 0, 0, 0], [np.cos(3), np.sin(3), 0, 0])]
    pairs += [([0, 0, 1, 0], [0, 0, np.cos(0.03), np.sin(0.03)])]
    for row, expected in pairs:
        rows = cases.turned(answer, [row], 3)
        seen = f"{row} at position 3 became {np.round(rows[0], 3)}"
        expect.close(rows, np.array([expected]), seen, f"{np.round(expected, 3)}")


@rotate.visible
def rotate_obeys_the_positions(answer: Any) -> None:
    """Moving two tokens by the same number of positions keeps their dot product."""
    q, k = [[1.0, 2.0, -1.0, 0.5]], [[0.5, -1.0, 2.0, 1.0]]
    products = []
    for start in (0, 7):
        rows = cases.turned(answer, q, start + 2), cases.turned(answer, k, start)
        products.append(float(np.sum(rows[0] * rows[1])))
    expect.close(
        np.array(products[1]),
        products[0],
        f"at positions 2 and 0 the dot product is {products[0]:.3f}, "
        f"and at positions 9 and 7 it is {products[1]:.3f}",
        "the same: only the distance between two tokens matters",
    )


@rotate.visible
def odd_widths_are_refused(answer: Any) -> None:
    """An odd number of columns raises a ValueError."""
    expect.refused(answer, np.ones((2, 5)), np.arange(2), what="d = 5")


@rotate.visible
def rotate_turns_both_coordinates(answer: Any) -> None:
    """With d = 2, position 1 turns (0, 1) into (-sin 1, cos 1)."""
    turned = expect.call(answer, np.array([[0.0, 1.0]]), np.array([1]))
    turned = expect.array(turned, (1, 2))
    seen = f"(0, 1) became {np.round(turned[0], 3)}"
    wanted = "(-sin 1, cos 1) = (-0.841, 0.540)"
    expect.close(turned, np.array([[-np.sin(1.0), np.cos(1.0)]]), seen, wanted)


@rotate.visible
def rotate_obeys_the_base(answer: Any) -> None:
    """With base 100 and d = 4, the second pair turns by a tenth of a radian."""
    turned = expect.call(answer, np.array([[0.0, 0.0, 1.0, 0.0]]), np.array([1]), 100.0)
    turned = expect.array(turned, (1, 4))
    seen = f"[0, 0, 1, 0] at position 1 became {np.round(turned[0], 3)}"
    wanted = "[0, 0, cos 0.1, sin 0.1]: the angle is 100 ** (-2 / 4)"
    expect.close(turned[0, 2:], np.array([np.cos(0.1), np.sin(0.1)]), seen, wanted)


@rotate.visible
def rotate_keeps_the_dtype(answer: Any) -> None:
    """float32 stays float32, and integers become floating-point numbers."""
    positions = np.array([1])
    turned = expect.call(answer, np.ones((1, 2), dtype=np.float32), positions)
    expect.dtype(expect.array(turned, (1, 2)), "float32")
    turned = expect.array(expect.call(answer, np.array([[2, 0]]), positions), (1, 2))
    seen = f"the integers [2, 0] at position 1 became {np.round(turned[0], 3)}"
    wanted = "[1.081, 1.683]"
    expect.close(turned, np.array([[2 * np.cos(1.0), 2 * np.sin(1.0)]]), seen, wanted)


# ------------------------------------------------ grouped_query_attention


@grouped_query_attention.visible
def grouped_queries_return_output_and_weights(answer: Any) -> None:
    """Four query heads, two key-value heads: output (4, 3, 6), weights (4, 3, 7)."""
    Q, K, V = np.ones((4, 3, 4)), np.ones((2, 7, 4)), np.ones((2, 7, 6))
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    expect.array(output, (4, 3, 6), "the output")
    expect.array(weights, (4, 3, 7), "the weights")


@grouped_query_attention.visible
def neighbors_share_a_head(answer: Any) -> None:
    """Query heads 0 and 1 read key-value head 0; query heads 2 and 3 read head 1."""
    V = np.array([10.0, 20.0]).reshape(2, 1, 1)
    result = expect.call(answer, np.ones((4, 1, 2)), np.ones((2, 1, 2)), V)
    output = expect.array(expect.pair(result, "output, weights")[0], (4, 1, 1))
    seen = f"values 10 and 20 gave the four heads {np.round(output[:, 0, 0], 3)}"
    wanted = "10, 10, 20, 20"
    expect.close(output[:, 0, 0], np.array([10.0, 10.0, 20.0, 20.0]), seen, wanted)


@grouped_query_attention.visible
def weights_are_a_softmax_of_scaled_scores(answer: Any) -> None:
    """With d_k = 4, dot products of 0 and 2 log 3 give the weights 1/4 and 3/4."""
    Q = np.zeros((2, 1, 4))
    Q[:, 0, 0] = 1
    K = np.zeros((1, 2, 4))
    K[0, 1, 0] = 2 * np.log(3)
    result = expect.call(answer, Q, K, np.ones((1, 2, 3)))
    weights = expect.pair(result, "output, weights")[1]
    weights = expect.array(weights, (2, 1, 2), "the weights")
    seen = f"the weights of head 0 are {np.round(weights[0, 0], 3)}"
    wanted = "[0.25, 0.75]: the scores are divided by √4"
    expect.close(weights, np.broadcast_to([0.25, 0.75], (2, 1, 2)), seen, wanted)


@grouped_query_attention.visible
def grouped_queries_obey_a_mask(answer: Any) -> None:
    """Masked keys get weight exactly 0; a row that may see nothing gets only zeros."""
    Q, K, V = np.ones((2, 2, 2)), np.ones((1, 3, 2)), np.ones((1, 3, 2))
    mask = np.array([[True, False, True], [False, False, False]])
    results = expect.pair(expect.quiet_call(answer, Q, K, V, mask), "output, weights")
    output = expect.array(results[0], (2, 2, 2), "the output")
    weights = expect.array(results[1], (2, 2, 3), "the weights")
    expect.finite(weights, "the weights")
    wanted = np.array([[0.5, 0, 0.5], [0, 0, 0]])
    seen = f"the weights of head 0 are {np.round(weights[0], 3).tolist()}"
    if (weights[:, ~mask] != 0).any():
        raise CheckFailed(seen, "exactly 0 where the mask is False")
    told = f"{wanted.tolist()}"
    expect.close(weights, np.broadcast_to(wanted, (2, 2, 3)), seen, told)
    told = f"the output of a query that may see nothing is {output[0, 1]}"
    expect.close(output[:, 1], np.zeros((2, 2)), told, "zeros")


@grouped_query_attention.visible
def heads_that_do_not_fit_are_refused(answer: Any) -> None:
    """Too many key-value heads, or 2 for 3 query heads, raise a ValueError."""
    for n_heads, n_kv in ((3, 2), (2, 4), (1, 2)):
        arrays = [np.ones((heads, 1, 2)) for heads in (n_heads, n_kv, n_kv)]
        what = f"n_heads = {n_heads} with n_kv = {n_kv}"
        expect.refused(answer, *arrays, what=what)


@grouped_query_attention.visible
def query_heads_have_their_own_weights(answer: Any) -> None:
    """Two query heads that share keys still have their own weights."""
    Q = np.array([[[0.0]], [[1.0]]])
    K = np.array([[[0.0], [np.log(3)]]])
    result = expect.call(answer, Q, K, np.ones((1, 2, 1)))
    weights = expect.pair(result, "output, weights")[1]
    weights = expect.array(weights, (2, 1, 2), "the weights")
    expect.close(
        weights[:, 0],
        np.array([[0.5, 0.5], [0.25, 0.75]]),
        "queries 0 and 1 with the keys 0 and log 3 gave "
        f"{weights[:, 0].round(3).tolist()}",
        "[[0.5, 0.5], [0.25, 0.75]]",
    )


@grouped_query_attention.visible
def grouped_queries_keep_float32(answer: Any) -> None:
    """float32 stays float32, in the output and in the weights."""
    waves = np.cos(np.arange(24.0)).reshape(4, 2, 3).astype(np.float32)
    result = expect.call(answer, waves, waves[:2], waves[2:])
    output, weights = expect.pair(result, "output, weights")
    expect.dtype(expect.array(output, (4, 2, 3), "the output"), "float32", "the output")
    weights = expect.array(weights, (4, 2, 2), "the weights")
    expect.dtype(weights, "float32", "the weights")
