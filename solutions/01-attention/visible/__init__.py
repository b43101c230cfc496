"""Visible checks of 01-attention, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.drawing import beside
from autograder.checks.failures import CheckFailed

assignment = Assignment(__name__, page="01-queries-keys-values")
__getattr__ = assignment.hidden_half

softmax = assignment.question("softmax", 4, "softmax")
attention_scores = assignment.question("attention_scores", 4, "the-dot-product")
scaled_dot_product_attention = assignment.question(
    "scaled_dot_product_attention",
    8,
    "the-whole-formula",
    uses=("softmax", "attention_scores"),
)
check_softmax = assignment.hunt("check_softmax", 4, "softmax", "softmax")


def shares(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """The weights of small scores, for a drawing.

    The book's own function would be at hand only where the book is.
    """
    powers = np.exp(scores)
    return powers / powers.sum(axis, keepdims=True)


# ---------------------------------------------------------------- softmax


@softmax.visible
def softmax_keeps_the_shape(answer: Any) -> None:
    """The result has the shape of the input."""
    x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    expect.array(expect.call(answer, x), x.shape)


@softmax.visible
def softmax_sums_to_one(answer: Any) -> None:
    """The weights of every row lie between 0 and 1, and sum to 1."""
    x = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    weights = expect.array(expect.call(answer, x), x.shape)
    expect.finite(weights)
    if not np.allclose(weights.sum(axis=-1), 1):
        if np.allclose(weights.sum(axis=0), 1):
            where = "the columns sum to 1, but the rows do not"
        else:
            sums = weights.sum(axis=-1)
            where = f"the rows sum to {np.round(sums, 3)}{expect.apart(sums, 1)}"
        drawing = beside(weights, shares(x))
        wanted = "every row sums to 1 over the last axis"
        raise CheckFailed(where, wanted, drawing=drawing)
    if (weights < 0).any():
        raise CheckFailed("some weights are negative", "weights between 0 and 1")


@softmax.visible
def softmax_of_logarithms(answer: Any) -> None:
    """The logarithms of 1, 2 and 3 become the weights 1/6, 2/6 and 3/6."""
    weights = expect.array(expect.call(answer, np.log([1.0, 2.0, 3.0])), (3,))
    seen = f"softmax of [log 1, log 2, log 3] is {np.round(weights, 3)}"
    wanted = "[0.167, 0.333, 0.5]: each weight is proportional to exp(score)"
    expect.close(weights, np.array([1, 2, 3]) / 6, seen, wanted)


@softmax.visible
def softmax_takes_an_axis(answer: Any) -> None:
    """With `axis=0` the columns sum to 1."""
    x = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    weights = expect.array(expect.call(answer, x, axis=0), x.shape)
    seen = f"with axis=0 the columns sum to {np.round(weights.sum(axis=0), 3)}"
    wanted = "every column sums to 1"
    expect.close(
        weights.sum(axis=0), 1.0, seen, wanted, whole=(weights, shares(x, axis=0))
    )


@softmax.visible
def softmax_of_rows_far_apart(answer: Any) -> None:
    """[1000, 999] and [-1000, -1001], in one array, get the weights of [1, 0]."""
    x = np.array([[1000, 999], [-1000, -1001]])  # whole numbers are scores too
    weights = expect.array(expect.call(answer, x), x.shape)
    seen = f"the rows became {np.round(weights, 3).tolist()}"
    wanted = "[0.731, 0.269] for both: a number added to a whole row changes nothing"
    expect.close(weights, np.tile(shares(np.array([1.0, 0.0])), (2, 1)), seen, wanted)


# ------------------------------------------------------- attention_scores


@attention_scores.visible
def scores_have_a_row_per_query(answer: Any) -> None:
    """Four queries and six keys give scores of shape (4, 6)."""
    Q, K = np.ones((4, 8)), np.ones((6, 8))
    expect.array(expect.call(answer, Q, K), (4, 6), "scores")


@attention_scores.visible
def scores_are_scaled_dot_products(answer: Any) -> None:
    """A score is the dot product of query and key, divided by √d_k."""
    Q = np.array([[1, 0, 2, 0], [0, 3, 0, 1]])  # whole numbers work as well
    K = np.array([[2, 1, 0, 0], [0, 1, 1, 5], [1, 1, 1, 1]])
    scores = expect.array(expect.call(answer, Q, K), (2, 3), "scores")
    dots = np.array([[2.0, 2.0, 3.0], [3.0, 8.0, 4.0]])
    seen = f"the scores of the two queries are {np.round(scores, 3).tolist()}"
    told = f"{(dots / 2).tolist()}: the dot products over √4"
    expect.close(scores, dots / 2, seen, told)


@attention_scores.visible
def scores_of_a_batch(answer: Any) -> None:
    """A batch of two gives scores of shape (2, 4, 6); ones give 8 / √8."""
    Q, K = np.ones((2, 4, 8)), np.ones((2, 6, 8))
    scores = expect.array(expect.call(answer, Q, K), (2, 4, 6), "scores")
    seen = f"with d_k = 8 the scores of ones are {np.round(np.unique(scores)[:3], 3)}"
    expect.close(scores, np.full((2, 4, 6), 8 / np.sqrt(8)), seen, "8 / √8 = 2.828")


# ------------------------------------------- scaled_dot_product_attention


@scaled_dot_product_attention.visible
def attention_returns_output_and_weights(answer: Any) -> None:
    """Q 4×8, K 6×8 and V 6×5 give an output (4, 5) and weights (4, 6)."""
    Q, K, V = np.ones((4, 8)), np.ones((6, 8)), np.ones((6, 5))
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    expect.array(output, (4, 5), "the output")
    expect.array(weights, (4, 6), "the weights")


@scaled_dot_product_attention.visible
def attention_weights_sum_to_one(answer: Any) -> None:
    """Every query's weights sum to 1 over the keys."""
    Q = np.arange(12.0).reshape(3, 4) / 10
    K = np.arange(16.0)[::-1].reshape(4, 4) / 7
    V = np.eye(4)
    _, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    weights = expect.array(weights, (3, 4), "the weights")
    expect.finite(weights, "the weights")
    if not np.allclose(weights.sum(axis=-1), 1):
        if np.allclose(weights.sum(axis=-2), 1):
            seen = "your weights sum to 1 along the query axis"
        else:
            sums = weights.sum(-1)
            seen = f"the weights of the queries sum to {np.round(sums, 3)}"
            seen += expect.apart(sums, 1)
        drawing = beside(weights, shares(Q @ K.T / np.sqrt(Q.shape[-1])))
        wanted = "every query's weights sum to 1 over the keys"
        raise CheckFailed(seen, wanted, drawing=drawing)


@scaled_dot_product_attention.visible
def attention_mixes_the_values(answer: Any) -> None:
    """The output is the weighted sum of the values."""
    Q = np.array([[2.0, 0.0, 0.0, 0.0]])
    K = np.array([[np.log(2.0), 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])
    V = np.array([[5, 0], [0, 4], [0, 8]])  # whole numbers are values too
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    output = expect.array(output, (1, 2), "the output")
    weights = expect.array(weights, (1, 3), "the weights")
    seen = f"scores [log 2, 0, 0] became the weights {np.round(weights[0], 3)}"
    expect.close(weights, np.array([[0.5, 0.25, 0.25]]), seen, "[0.5, 0.25, 0.25]")
    seen = f"weights [0.5, 0.25, 0.25] gave the output {np.round(output[0], 3)}"
    wanted = "[2.5, 3]: half the first value plus a quarter of each of the others"
    expect.close(output, np.array([[2.5, 3.0]]), seen, wanted)


@scaled_dot_product_attention.visible
def attention_takes_a_batch(answer: Any) -> None:
    """A batch of two gives an output (2, 4, 5) and weights (2, 4, 6); ones give 1/6."""
    Q, K, V = np.ones((2, 4, 8)), np.ones((2, 6, 8)), np.ones((2, 6, 5))
    output, weights = expect.pair(expect.call(answer, Q, K, V), "output, weights")
    expect.array(output, (2, 4, 5), "the output")
    weights = expect.array(weights, (2, 4, 6), "the weights")
    seen = f"six equal keys have the weights {np.round(weights[0, 0], 3)}"
    expect.close(weights, np.full((2, 4, 6), 1 / 6), seen, "1/6 each: they sum to 1")
