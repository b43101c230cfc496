"""Visible checks of 04-masking, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.drawing import beside, crosses
from autograder.checks.failures import CheckFailed

assignment = Assignment(__name__, page="04-masking")
__getattr__ = assignment.hidden_half

causal_mask = assignment.question("causal_mask", 4, "the-causal-mask")
padding_mask = assignment.question("padding_mask", 4, "the-padding-mask")
masked_softmax = assignment.question("masked_softmax", 6, "empty-rows")
causal_attention = assignment.question(
    "causal_attention", 6, "causal-attention", uses=("causal_mask", "masked_softmax")
)
check_causal_mask = assignment.hunt(
    "check_causal_mask", 4, "the-causal-mask", "causal_mask"
)


def shares(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The weights of rows that may attend to something, for a drawing."""
    powers = np.exp(scores) * mask
    return powers / powers.sum(-1, keepdims=True)


# ------------------------------------------------------------ causal_mask


@causal_mask.visible
def causal_mask_is_a_boolean_square(answer: Any) -> None:
    """Five positions give a boolean array of shape (5, 5)."""
    expect.array(expect.call(answer, 5), (5, 5), "the mask", kind="b")


@causal_mask.visible
def position_attends_to_itself_and_before(answer: Any) -> None:
    """Position i may attend to positions 0 to i, itself included."""
    mask = expect.array(expect.call(answer, 4), (4, 4), "the mask", kind="b")
    right = np.arange(4) <= np.arange(4)[:, None]
    for i, (row, wanted) in enumerate(zip(mask, right, strict=True)):
        if not np.array_equal(row, wanted):
            seen = f"row {i} is {crosses(row)} (x = True)"
            due = f"{crosses(wanted)}: position {i} sees itself and what came before"
            raise CheckFailed(seen, due, drawing=beside(mask, right))


# ----------------------------------------------------------- padding_mask


@padding_mask.visible
def padding_mask_has_an_axis_for_queries(answer: Any) -> None:
    """Two sentences padded to five tokens give a boolean mask (2, 1, 5)."""
    mask = expect.call(answer, np.array([3, 5]), 5)
    expect.array(mask, (2, 1, 5), "the mask", kind="b")


@padding_mask.visible
def padding_mask_is_true_on_real_tokens(answer: Any) -> None:
    """True on the first `lengths[b]` positions, False on the padding."""
    lengths = [2, 4, 1]
    mask = expect.call(answer, np.array(lengths), 4)
    mask = expect.array(mask, (3, 1, 4), "the mask", kind="b")
    right = np.arange(4) < np.array(lengths)[:, None]
    for length, row, wanted in zip(lengths, mask[:, 0], right, strict=True):
        if not np.array_equal(row, wanted):
            seen = (
                f"a sentence of length {length} has the row {crosses(row)} (x = True)"
            )
            due = f"{crosses(wanted)}: {length} real tokens come first"
            raise CheckFailed(seen, due, drawing=beside(mask[:, 0], right))


@padding_mask.visible
def padding_mask_takes_a_list(answer: Any) -> None:
    """Lengths may come as a list, and all sentences may be shorter than n."""
    mask = expect.array(expect.call(answer, [1, 2], 4), (2, 1, 4), "the mask", kind="b")
    wanted = np.arange(4) < np.array([[1], [2]])
    if not np.array_equal(mask[:, 0], wanted):
        rows = ", ".join(map(crosses, mask[:, 0]))
        raise CheckFailed(f"the lengths 1 and 2 have the rows {rows}", "x..., xx..")


# --------------------------------------------------------- masked_softmax


@masked_softmax.visible
def masked_softmax_keeps_the_shape(answer: Any) -> None:
    """The weights have the shape of the scores."""
    mask = np.array([[True, True, False], [True, True, True]])
    expect.array(expect.call(answer, np.ones((2, 3)), mask), (2, 3), "the weights")


@masked_softmax.visible
def masked_keys_weigh_nothing(answer: Any) -> None:
    """The weight is exactly 0 where the mask is False."""
    scores = np.array([[1.0, 2.0, 3.0], [0.0, 0.5, -1.0]])
    mask = np.array([[True, True, False], [False, True, True]])
    weights = expect.array(expect.call(answer, scores, mask), (2, 3), "the weights")
    expect.finite(weights, "the weights")
    if (weights[~mask] != 0).any():
        seen = ", ".join(f"{weight:.3g}" for weight in weights[~mask])
        told = f"where the mask is False the weights are {seen}"
        wanted = "0, exactly"
        raise CheckFailed(told, wanted, drawing=beside(weights, shares(scores, mask)))


@masked_softmax.visible
def allowed_keys_share_the_weight(answer: Any) -> None:
    """The allowed keys share the weight as a softmax among themselves."""
    scores = np.log([[1.0, 3.0, 5.0]])
    mask = np.array([True, True, False])  # it broadcasts to the rows
    weights = expect.array(expect.call(answer, scores, mask), (1, 3), "the weights")
    seen = f"scores log [1, 3, 5] without the last key gave {np.round(weights[0], 3)}"
    wanted = "[0.25, 0.75, 0]: the weights of the allowed keys sum to 1"
    expect.close(weights, np.array([[0.25, 0.75, 0.0]]), seen, wanted)


@masked_softmax.visible
def empty_rows_are_zero(answer: Any) -> None:
    """A row with nothing to attend to is all zeros, without NaN or a warning."""
    scores = np.array([[1.0, 2.0], [3.0, 4.0]])
    mask = np.array([[True, False], [False, False]])
    weights = expect.quiet_call(answer, scores, mask)
    weights = expect.array(weights, (2, 2), "the weights")
    expect.finite(weights, "the weights")
    expect.close(
        weights[1],
        np.zeros(2),
        f"a row in which the mask is False everywhere became {weights[1].round(3)}",
        "[0, 0]",
        whole=(weights, np.array([[1.0, 0.0], [0.0, 0.0]])),
    )


@masked_softmax.visible
def each_row_sums_to_one(answer: Any) -> None:
    """The weights of each row sum to 1."""
    scores = np.log([[1.0, 3.0, 2.0], [2.0, 2.0, 4.0]])
    mask = np.array([[True, True, False], [True, True, True]])
    weights = expect.array(expect.call(answer, scores, mask), (2, 3), "the weights")
    seen = f"the weights of the two rows sum to {np.round(weights.sum(-1), 3)}"
    expect.close(weights.sum(-1), 1.0, seen, "[1, 1]: the sum of each row is 1")


@masked_softmax.visible
def large_scores_are_shared(answer: Any) -> None:
    """With a hidden 5000, [1000, 999] and [-1000, -1001] get the weights of [1, 0]."""
    scores = np.array([[1000.0, 999.0, 5000.0], [-1000.0, -1001.0, 5000.0]])
    mask = np.array([[True, True, False]] * 2)
    weights = expect.array(expect.call(answer, scores, mask), (2, 3), "the weights")
    seen = f"the rows became {np.round(weights, 3).tolist()}"
    wanted = "[0.731, 0.269, 0] for both: the maximum is a row's largest allowed score"
    expect.close(weights, shares(np.array([[1.0, 0.0, 0.0]] * 2), mask), seen, wanted)


# ------------------------------------------------------- causal_attention


@causal_attention.visible
def causal_attention_returns_output_and_weights(answer: Any) -> None:
    """Five tokens, d_k = 4 and d_v = 3 give an output (5, 3) and weights (5, 5)."""
    Q, K, V = np.ones((5, 4)), np.ones((5, 4)), np.ones((5, 3))
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    expect.array(output, (5, 3), "the output")
    expect.array(weights, (5, 5), "the weights")


@causal_attention.visible
def weights_are_zero_above_the_diagonal(answer: Any) -> None:
    """No weight goes to a later token: above the diagonal, each is exactly 0."""
    Q = np.arange(12.0).reshape(4, 3) / 5
    K = np.cos(np.arange(12.0)).reshape(4, 3)
    _, weights = expect.pair(expect.call(answer, Q, K, np.eye(4)), "output, weights")
    weights = expect.array(weights, (4, 4), "the weights")
    expect.finite(weights, "the weights")
    right = shares(Q @ K.T / np.sqrt(3), np.tri(4))
    above = weights[np.triu_indices(4, k=1)]
    if (above != 0).any():
        seen = f"the largest weight above the diagonal is {above.max():.3g}"
        raise CheckFailed(seen, "0, exactly", drawing=beside(weights, right))
    seen = f"the rows sum to {np.round(weights.sum(-1), 3)}"
    wanted = "every row sums to 1 over the tokens it may see"
    expect.close(weights.sum(-1), 1.0, seen, wanted, whole=(weights, right))


@causal_attention.visible
def equal_scores_give_running_means(answer: Any) -> None:
    """With equal scores, the output at t is the mean of the values up to t."""
    V = np.array([[6.0], [0.0], [3.0], [7.0]])
    Q, K = np.zeros((4, 2)), np.ones((4, 2))
    output, _ = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    output = expect.array(output, (4, 1), "the output")
    seen = f"values 6, 0, 3, 7 gave the outputs {np.round(output[:, 0], 3)}"
    wanted = "6, 3, 3, 4: the means of the values so far"
    expect.close(output, np.array([[6.0], [3.0], [3.0], [4.0]]), seen, wanted)


@causal_attention.visible
def causal_scores_are_scaled(answer: Any) -> None:
    """Scores are divided by √d_k: with d_k = 4, a dot product of 2 log 3 is log 3."""
    Q, K = np.zeros((2, 4)), np.zeros((2, 4))
    Q[:, 0], K[1, 0] = 1.0, 2 * np.log(3)
    _, weights = expect.pair(expect.call(answer, Q, K, np.eye(2)), "output, weights")
    weights = expect.array(weights, (2, 2), "the weights")
    seen = f"dot products 0 and 2 log 3 gave the weights {np.round(weights[1], 3)}"
    wanted = "[0.25, 0.75]: the scores are divided by √4"
    expect.close(weights[1], np.array([0.25, 0.75]), seen, wanted)


@causal_attention.visible
def causal_attention_of_a_batch(answer: Any) -> None:
    """Each text of a batch gets what it would get alone."""
    Q = np.cos(np.arange(18.0)).reshape(2, 3, 3)
    K, V = Q[:, ::-1], Q + 1
    results = [
        expect.call(answer, *arrays) for arrays in ((Q, K, V), (Q[1], K[1], V[1]))
    ]
    batch, alone = (expect.pair(result, "output, weights") for result in results)
    for value, own, name in zip(batch, alone, ("output", "weights"), strict=True):
        value = expect.array(value, (2, 3, 3), f"the {name}")[1]
        expect.close(
            value,
            expect.array(own, (3, 3), f"the {name}"),
            f"the {name} of the second text and what it gets alone differ by up to "
            f"{np.abs(value - own).max():.3g}",
            "no difference: texts of a batch should not affect each other",
        )
