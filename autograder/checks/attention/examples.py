"""What varies on the cards of 01-attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.attention import assignment
from autograder.checks.variant import Draw, Example, row


@assignment.varies(
    "softmax", "the scores `[0, 0, log 2]` become the weights `[0.25, 0.25, 0.5]`"
)
def four_scores(draw: Draw) -> Example:
    """Logarithms of numbers that sum to 100."""
    parts = draw.parts(100, 4, least=2)
    wanted = [part / 100 for part in parts]
    scores = ", ".join(f"log {part}" for part in parts)

    def check(answer: Any) -> None:
        weights = expect.array(expect.call(answer, np.log(parts)), (4,))
        seen = f"softmax of [{scores}] is {np.round(weights, 3)}"
        expect.close(weights, np.array(wanted), seen, row(wanted))

    text = f"the scores `[{scores}]` become the weights `{row(wanted)}`"
    return Example(text, check, (tuple(parts), tuple(wanted)))


@assignment.varies(
    "attention_scores",
    "the query `[3, 1, 0, 1]` and the key `[1, 2, 5, 1]` have the dot product 6, and "
    "the score 6 / √4 = 3",
)
def query_and_key(draw: Draw) -> Example:
    """A query and a key with an even dot product."""
    dot = 1
    while dot % 2 or not dot:
        query, key = ([draw.number(0, 6) for _ in range(4)] for _ in range(2))
        dot = sum(q * k for q, k in zip(query, key, strict=True))

    def check(answer: Any) -> None:
        Q, K = np.array([query], dtype=float), np.array([key], dtype=float)
        score = expect.array(expect.call(answer, Q, K), (1, 1), "scores")
        seen = f"the score of {query} and {key} is {score[0, 0]:.4g}"
        expect.close(score, dot / 2, seen, f"{dot // 2}: the dot product {dot} over √4")

    text = (
        f"the query `{query}` and the key `{key}` have the dot product {dot}, and the "
        f"score {dot} / √4 = {dot // 2}"
    )
    return Example(text, check, ((*query, *key),))


@assignment.varies(
    "scaled_dot_product_attention",
    "`Q` of shape (4, 8), `K` of shape (6, 8) and `V` of shape (6, 8) give an output "
    "of shape (4, 8) and weights of shape (4, 6)",
)
def sizes(draw: Draw) -> Example:
    """Four different sizes."""
    n_q, n_k, d_k, d_v = draw.some_of(range(3, 24), 4)

    def check(answer: Any) -> None:
        shapes = (n_q, d_k), (n_k, d_k), (n_k, d_v)
        result = expect.call(answer, *map(np.ones, shapes))
        output, weights = expect.pair(result, "output, weights")
        expect.array(output, (n_q, d_v), "the output")
        expect.array(weights, (n_q, n_k), "the weights")

    text = (
        f"`Q` of shape ({n_q}, {d_k}), `K` of shape ({n_k}, {d_k}) and `V` of shape "
        f"({n_k}, {d_v}) give an output of shape ({n_q}, {d_v}) and weights of shape "
        f"({n_q}, {n_k})"
    )
    return Example(text, check, ((n_q, d_k, n_k, d_k, n_k, d_v),))
