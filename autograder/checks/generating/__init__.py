"""Visible checks of 10-generating."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect, planted
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.checks.generating import cases
from autograder.checks.published import published

assignment = Assignment(__name__, chapter="10-generating")
__getattr__ = assignment.hidden_half

rotate = assignment.question("rotate", 6, "turning-by-the-position")
grouped_query_attention = assignment.question(
    "grouped_query_attention", 6, "sharing-keys-and-values"
)
window_mask = assignment.question("window_mask", 4, "windows-and-sinks")
KVCache = assignment.question("KVCache", 5, "the-cache")
decode_step = assignment.question(
    "decode_step",
    5,
    "turning-by-the-position",
    uses=("rotate", "grouped_query_attention", "window_mask", "KVCache"),
)
check_rotate = assignment.question("check_rotate", 4, "turning-by-the-position")


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
    """With d = 2, position 1 turns (1, 0) by one radian counterclockwise."""
    rows = cases.turned(answer, [[1, 0]], 1)
    expect.close(
        rows,
        np.array([[np.cos(1.0), np.sin(1.0)]]),
        f"(1, 0) became {np.round(rows[0], 3)}",
        "(cos 1, sin 1), which is (0.540, 0.841)",
    )


@rotate.visible
def rotate_pairs_neighbors(answer: Any) -> None:
    """Columns 0 and 1 make a pair, and columns 2 and 3, which turn more slowly."""
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
        f"at positions 9 and 7 it is {products[1]:.3f}",
        "the same: only the distance of two tokens matters",
    )


@rotate.visible
def odd_widths_are_refused(answer: Any) -> None:
    """An odd number of columns raises a ValueError."""
    expect.refused(answer, np.ones((2, 5)), np.arange(2), what="d = 5")


# ------------------------------------------------ grouped_query_attention


@grouped_query_attention.visible
def grouped_queries_return_output_and_weights(answer: Any) -> None:
    """Four query heads, two key-value heads: output (4, 3, 6), weights (4, 3, 7)."""
    Q, K, V = np.ones((4, 3, 5)), np.ones((2, 7, 5)), np.ones((2, 7, 6))
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    expect.array(output, (4, 3, 6), "the output")
    expect.array(weights, (4, 3, 7), "the weights")


@grouped_query_attention.visible
def neighbors_share_a_head(answer: Any) -> None:
    """Query heads 0 and 1 read key-value head 0, query heads 2 and 3 head 1."""
    V = np.array([10.0, 20.0]).reshape(2, 1, 1)
    result = expect.call(answer, np.ones((4, 1, 2)), np.ones((2, 1, 2)), V)
    output = expect.array(expect.pair(result, "output, weights")[0], (4, 1, 1))
    expect.close(
        output[:, 0, 0],
        np.array([10.0, 10.0, 20.0, 20.0]),
        f"values 10 and 20 gave the four heads {np.round(output[:, 0, 0], 3)}",
        "10, 10, 20, 20",
    )


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
    expect.close(
        weights,
        np.broadcast_to([0.25, 0.75], (2, 1, 2)),
        f"the weights of head 0 are {np.round(weights[0, 0], 3)}",
        "[0.25, 0.75]: the scores are divided by √4",
    )


@grouped_query_attention.visible
def grouped_queries_obey_a_mask(answer: Any) -> None:
    """Masked keys weigh exactly 0; a row that may see nothing gets only zeros."""
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
    expect.close(
        weights, np.broadcast_to(wanted, (2, 2, 3)), seen, f"{wanted.tolist()}"
    )
    expect.close(
        output[:, 1],
        np.zeros((2, 2)),
        f"the output of a query that may see nothing is {output[0, 1]}",
        "zeros",
    )


@grouped_query_attention.visible
def heads_that_do_not_fit_are_refused(answer: Any) -> None:
    """Two key-value heads for three query heads raise a ValueError."""
    arrays = [np.ones((heads, 1, 2)) for heads in (3, 2, 2)]
    expect.refused(answer, *arrays, what="n_heads = 3 with n_kv = 2")


# ------------------------------------------------------------ window_mask


@window_mask.visible
def window_mask_is_a_boolean_square(answer: Any) -> None:
    """Five positions give a boolean array of shape (5, 5)."""
    expect.array(expect.call(answer, 5, 2), (5, 5), "the mask", kind="b")


@window_mask.visible
def window_counts_the_position_itself(answer: Any) -> None:
    """With a window of 2 each position sees itself and the one before."""
    mask = expect.array(expect.call(answer, 4, 2), (4, 4), "the mask", kind="b")
    wanted = np.eye(4, dtype=bool) | np.eye(4, k=-1, dtype=bool)
    cases.rows_agree(mask, wanted, "window 2")


@window_mask.visible
def sinks_stay_in_view(answer: Any) -> None:
    """With one sink every later position sees position 0 as well, and no future."""
    mask = expect.call(answer, 5, 2, 1)
    mask = expect.array(mask, (5, 5), "the mask", kind="b")
    wanted = np.eye(5, dtype=bool) | np.eye(5, k=-1, dtype=bool)
    wanted[:, 0] = True
    cases.rows_agree(mask, wanted, "window 2, one sink")


# ---------------------------------------------------------------- KVCache


@KVCache.visible
def cache_returns_all_keys_and_values(answer: Any) -> None:
    """After three tokens, keys have shape (1, 3, 2) and values (1, 3, 3)."""
    cache = expect.call(answer)
    for number in range(3):
        keys, values = cases.appended(cache, *cases.entry(number))
        expect.array(keys, (1, number + 1, 2), "the keys")
        expect.array(values, (1, number + 1, 3), "the values")


@KVCache.visible
def cache_keeps_the_order(answer: Any) -> None:
    """Keys and values stand in the order in which they came."""
    cache = expect.call(answer)
    for number in (5.0, 6.0, 7.0):
        keys, values = cases.appended(cache, *cases.entry(number))
    numbers = expect.array(keys, (1, 3, 2))[0, :, 0]
    others = expect.array(values, (1, 3, 3))[0, :, 0]
    if not np.array_equal(numbers, [5, 6, 7]):
        raise CheckFailed(f"keys 5, 6, 7 came back as {numbers}", "[5, 6, 7]")
    if not np.array_equal(others, [-5, -6, -7]):
        raise CheckFailed(f"values -5, -6, -7 came back as {others}", "[-5, -6, -7]")


@KVCache.visible
def length_counts_the_tokens(answer: Any) -> None:
    """An empty cache has length 0, and each token adds 1."""
    cache = expect.call(answer)
    for number in range(4):
        cases.counts(cache, number)
        cases.appended(cache, *cases.entry(number, n_kv=3))


@KVCache.visible
def window_drops_the_oldest(answer: Any) -> None:
    """With a window of 2 the last two tokens are kept, and the length still grows."""
    cache = expect.call(answer, 2)
    for number in range(1, 5):
        keys, _ = cases.appended(cache, *cases.entry(number))
        numbers = expect.array(keys, (1, min(number, 2), 2), "the keys")[0, :, 0]
        wanted = np.arange(max(number - 1, 1), number + 1)
        if not np.array_equal(numbers, wanted):
            raise CheckFailed(f"after {number} tokens, {numbers} are kept", f"{wanted}")
    cases.counts(cache, 4, ", all that were seen")


# ------------------------------------------------------------ decode_step


@decode_step.visible
def first_token_attends_to_itself(answer: Any) -> None:
    """The first token has nothing but itself: its weights are 1."""
    q, k, v = np.ones((2, 1, 4)), np.ones((1, 1, 4)), np.array([[[3.0, 5.0, 7.0]]])
    cache = cases.cache_for(answer, q, k, v)
    output, weights = cases.step(answer, cache, q, k, v)
    weights = expect.array(weights, (2, 1, 1), "the weights")
    output = expect.array(output, (2, 1, 3), "the output")
    expect.close(weights, 1.0, f"the weights are {weights.ravel()}", "1 for each head")
    expect.close(
        output,
        np.broadcast_to(v, (2, 1, 3)),
        f"the value [3, 5, 7] became {np.round(output[0, 0], 3)}",
        "[3, 5, 7] for both heads",
    )


@decode_step.visible
def distance_decides_between_equal_tokens(answer: Any) -> None:
    """Three equal tokens: the last gives 0.176, 0.346 and 0.478 to them in order."""
    weights, wanted = cases.equal_tokens(answer, 3), cases.weights_of_distances(2, 1, 0)
    seen = f"three equal tokens have the weights {np.round(weights, 3)}"
    expect.close(weights, wanted, seen, f"{np.round(wanted, 3)}")


@decode_step.visible
def positions_grow_behind_a_window(answer: Any) -> None:
    """With a window of 2, the fifth token is still one step from the fourth."""
    weights = cases.equal_tokens(answer, 5, window=2)
    wanted = cases.weights_of_distances(1, 0)
    seen = f"with a window of 2, the fifth token has the weights {np.round(weights, 3)}"
    expect.close(weights, wanted, seen, f"{np.round(wanted, 3)}")


# ----------------------------------------------------------- check_rotate


@check_rotate.visible
def accepts_a_right_rotate(answer: Any) -> None:
    """Your check accepts a right `rotate`: it returns None."""
    planted.accepts(answer, published("rotate"), "rotate")


@check_rotate.visible
def rejects_a_wrong_rotate(answer: Any) -> None:
    """Your check rejects a plainly wrong `rotate` with an AssertionError."""
    planted.rejects(answer, [cases.unturned, cases.nothing], "rotate")
