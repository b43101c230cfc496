"""Visible checks of 11-a-real-llm, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.accepted_results import a_kind
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed

from .cases import SMALL, compare_loaded, published

assignment = Assignment(__name__, page="11-a-real-llm")
__getattr__ = assignment.hidden_half

rms_norm = assignment.question("rms_norm", 3, "three-parts-that-are-new")
to_halves = assignment.question("to_halves", 5, "a-wrong-layout-that-says-paris")
load_decoder_layer = assignment.question(
    "load_decoder_layer",
    8,
    "a-wrong-layout-that-says-paris",
    uses=("to_halves",),
)
sink_share = assignment.question("sink_share", 4, "where-attention-rests")
perplexity = assignment.question("perplexity", 4, "a-wrong-layout-that-says-paris")


def rows(*numbers: float) -> torch.Tensor:
    """One row of numbers, in single precision."""
    return torch.tensor([numbers], dtype=torch.float32)


# ----------------------------------------------------------------- rms_norm


@rms_norm.visible
def norm_keeps_the_shape(answer: Any) -> None:
    """The result has the shape of the input."""
    x = torch.sin(torch.arange(24, dtype=torch.float32)).reshape(2, 3, 4)
    weight = torch.ones(4, dtype=torch.float32)
    expect.tensor(expect.call(answer, x, weight), (2, 3, 4))


@rms_norm.visible
def root_mean_square_becomes_one(answer: Any) -> None:
    """The vector [3, 4] is divided by the root of its mean square, 3.54."""
    result = expect.call(answer, rows(3, 4), torch.ones(2, dtype=torch.float32))
    seen = expect.tensor(result, (1, 2))
    told = f"[3, 4] became {seen[0].round(3)}"
    wanted = "[0.849 1.131], since the mean square of 3 and 4 is 12.5"
    expect.close(seen, np.array([[3, 4]]) / np.sqrt(12.5), told, wanted)


@rms_norm.visible
def mean_is_left_alone(answer: Any) -> None:
    """The mean is not subtracted: [2, 2, 2, 2] becomes [1, 1, 1, 1]."""
    ones = torch.ones(4, dtype=torch.float32)
    seen = expect.tensor(expect.call(answer, rows(2, 2, 2, 2), ones), (1, 4))
    told = f"[2, 2, 2, 2] became {seen[0].round(3)}"
    expect.close(seen, np.ones((1, 4)), told, "[1 1 1 1]")


@rms_norm.visible
def weight_scales_the_dimensions(answer: Any) -> None:
    """The weight multiplies dimension by dimension."""
    weight = torch.tensor([2.0, -1.0], dtype=torch.float32)
    seen = expect.tensor(expect.call(answer, rows(3, 4), weight), (1, 2))
    told = f"[3, 4] with the weight [2, -1] became {seen[0].round(3)}"
    expect.close(seen, np.array([[6, -4]]) / np.sqrt(12.5), told, "[1.697 -1.131]")


@rms_norm.visible
def vectors_are_normalized_one_by_one(answer: Any) -> None:
    """Each vector has its own root mean square: [3, 3] and [8, 8] become [1, 1]."""
    x = torch.tensor([[3.0, 3.0], [8.0, 8.0]], dtype=torch.float32)
    result = expect.call(answer, x, torch.ones(2, dtype=torch.float32))
    seen = expect.tensor(result, (2, 2))
    told = f"[3, 3] and [8, 8] became {seen.astype(float).round(3).tolist()}"
    expect.close(seen, np.ones((2, 2)), told, "[[1, 1], [1, 1]]")


@rms_norm.visible
def epsilon_keeps_zeros(answer: Any) -> None:
    """A vector of zeros stays zero, without NaN: `eps` is inside the root."""
    ones = torch.ones(2, dtype=torch.float32)
    seen = expect.tensor(expect.call(answer, rows(0, 0), ones), (1, 2))
    expect.close(seen, np.zeros((1, 2)), f"[0, 0] became {seen[0]}", "[0 0]")
    seen = expect.tensor(expect.call(answer, rows(1, 1), ones, 3.0), (1, 2))
    told = f"[1, 1] with eps = 3 became {seen[0].round(3)}"
    wanted = "[0.5 0.5]: the mean square, 1, plus 3 is 4, whose root is 2"
    expect.close(seen, np.full((1, 2), 0.5), told, wanted)


@rms_norm.visible
def norm_keeps_the_dtype(answer: Any) -> None:
    """float64 stays float64."""
    x, weight = rows(3, 4).double(), torch.ones(2, dtype=torch.float64)
    result = expect.call(answer, x, weight)
    expect.tensor(result, (1, 2))
    expect.dtype(result, "float64")


# ---------------------------------------------------------------- to_halves


def numbered(n_rows: int, d_model: int) -> torch.Tensor:
    """A matrix whose row i begins with i; its columns differ."""
    row = torch.arange(n_rows, dtype=torch.float32)[:, None]
    return row + torch.arange(d_model, dtype=torch.float32) / 100


def compare_order(answer: Any, n_heads: int, wanted: list[int], d_model: int) -> None:
    """The rows of a numbered matrix come out in the order ``wanted``."""
    weight = numbered(len(wanted), d_model)
    result = expect.call(answer, weight.clone(), n_heads)
    seen = expect.tensor(result, (len(wanted), d_model))
    expect.close(
        seen,
        weight[wanted].numpy(),
        f"with {n_heads} head{'s' * (n_heads > 1)} of width {len(wanted) // n_heads}, "
        f"the first column shows the rows {seen[:, 0].astype(float).round(2).tolist()}",
        f"whole rows in the order {wanted}",
    )


@to_halves.visible
def one_head_is_put_into_halves(answer: Any) -> None:
    """One head of width 6: rows 0 2 4 in the first half, 1 3 5 in the second."""
    compare_order(answer, 1, [0, 2, 4, 1, 3, 5], 5)


@to_halves.visible
def each_head_stays_where_it_is(answer: Any) -> None:
    """Two heads of width 4: each is converted to halves separately."""
    compare_order(answer, 2, [0, 2, 1, 3, 4, 6, 5, 7], 8)


@to_halves.visible
def halves_keep_the_dtype(answer: Any) -> None:
    """float64 stays float64."""
    result = expect.call(answer, numbered(4, 3).double(), 1)
    expect.tensor(result, (4, 3))
    expect.dtype(result, "float64")


# ------------------------------------------------------- load_decoder_layer


@load_decoder_layer.visible
def parameters_are_in_their_places(answer: Any) -> None:
    """A small layer gets the tensors of layer 0, queries and keys in halves."""
    tensors = published(np.random.default_rng(1), 1, SMALL)
    compare_loaded(answer, tensors, 0, SMALL)


@load_decoder_layer.visible
def index_chooses_the_layer(answer: Any) -> None:
    """With index 2, the tensors of layer 2 are copied."""
    tensors = published(np.random.default_rng(2), 4, SMALL)
    compare_loaded(answer, tensors, 2, SMALL)


# --------------------------------------------------------------- sink_share


@sink_share.visible
def share_has_a_number_per_head(answer: Any) -> None:
    """Weights (2, 3, 6, 6) give shares (2, 3)."""
    weights = torch.full((2, 3, 6, 6), 1 / 6, dtype=torch.float32)
    expect.tensor(expect.call(answer, weights), (2, 3))


@sink_share.visible
def share_is_the_mean_of_late_queries(answer: Any) -> None:
    """Queries 4 and 5 put 0.5 and 0.9 on token 0, so the share is 0.7."""
    weights = torch.zeros(1, 2, 6, 6, dtype=torch.float32)
    weights[:, :, :4, 0] = 1.0
    weights[0, 0, 4:, 0] = torch.tensor([0.5, 0.9], dtype=torch.float32)
    seen = expect.tensor(expect.call(answer, weights), (1, 2))
    expect.close(
        seen,
        np.array([[0.7, 0.0]]),
        "queries 4 and 5 put 0.5 and 0.9 on token 0 in head 0, but 0 in head 1; "
        f"your shares are {seen[0].round(3)}",
        "[0.7 0.]: queries 0 to 3 do not count",
    )


@sink_share.visible
def share_is_a_mean(answer: Any) -> None:
    """Three late queries with 0.1, 0.9 and 0.2 on token 0 have the share 0.4."""
    first = torch.tensor([1.0, 0.5, 0.7, 0.3, 0.1, 0.9, 0.2], dtype=torch.float64)
    weights = torch.arange(7.0, dtype=torch.float64).repeat(7, 1).tril()
    weights *= ((1 - first) / weights.sum(-1).clamp(min=1))[:, None]
    weights[:, 0] = first
    weights = weights[None, None]
    result = expect.call(answer, weights)
    seen = expect.tensor(result, (1, 1))
    expect.close(
        seen,
        np.array([[0.4]]),
        "queries 4, 5 and 6 put 0.1, 0.9 and 0.2 on token 0; "
        f"your share is {seen[0].round(3)}",
        "[0.4]: the mean over these queries",
    )
    expect.dtype(result, "float64")


# --------------------------------------------------------------- perplexity


def number(value: Any) -> float:
    """``value`` as the Python float that it has to be."""
    if not isinstance(value, float):
        seen = f"your function returned {a_kind(value)}"
        raise CheckFailed(seen, "a Python float, from float(…) or .item()", kind="type")
    return value


def compare_number(
    value: Any, wanted: float, seen: str = "a different number", expected: str = ""
) -> None:
    """A perplexity against the right one, to four digits."""
    found = number(value)
    if not abs(found - wanted) <= 1e-4 * wanted:
        raise CheckFailed(seen.format(found), expected)


@perplexity.visible
def no_idea_costs_the_vocabulary(answer: Any) -> None:
    """Equal logits for 8 tokens have perplexity 8, however long the text is."""
    logits = torch.zeros(600, 8, dtype=torch.float32)
    tokens = torch.arange(600) ** 2 % 8
    value = expect.call(answer, logits, tokens)
    seen = "equal logits for a vocabulary of 8, in a text of 600 tokens, gave {:.4g}"
    compare_number(value, 8.0, seen, "8")


@perplexity.visible
def chances_of_a_half_and_an_eighth_give_four(answer: Any) -> None:
    """Tokens predicted with probabilities 1/2 and 1/8 have perplexity 4."""
    # as if nothing were shifted it would be 5.04
    chances = [[1 / 8, 4 / 8, 3 / 8], [3 / 8, 4 / 8, 1 / 8], [6 / 8, 1 / 8, 1 / 8]]
    logits = torch.tensor(chances, dtype=torch.float32).log()
    value = expect.call(answer, logits, torch.tensor([0, 1, 2]))
    seen = "token 1 had probability 1/2 and token 2 had 1/8; your perplexity is {:.4g}"
    wanted = "4: the logits at t predict token t + 1, and nothing predicts token 0"
    compare_number(value, 4.0, seen, wanted)


@perplexity.visible
def large_logits_cost_their_difference(answer: Any) -> None:
    """Logits of 110 and 0, with one of ten predictions wrong, give e ** 11."""
    logits = torch.tensor([[110.0, 0.0]] * 11, dtype=torch.float32)
    tokens = torch.zeros(11, dtype=torch.long)
    tokens[5] = 1
    value = expect.call(answer, logits, tokens)
    wanted = "5.987e+04: nine predictions cost 0 nats and one costs 110, 11 on average"
    compare_number(value, float(np.exp(11.0)), "your perplexity is {:.4g}", wanted)
