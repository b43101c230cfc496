"""Probes of 01-attention: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.outcomes import added, any_error, outcome


def softmax(answer: Any) -> list:
    """Tell softmaxes apart by axes, shapes, extremes, dtypes and side effects."""
    x = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [-0.7, 1.2, 0.1]])
    far = np.array([[1e5, 1e5 + 1.0], [-1e5, -1e5 + 2.0]])
    low = np.array([[-np.inf, -1e5, 1.0 - 1e5]])
    apart = np.array([[0.0, 1e4], [1.0, 1e4 + 2]])
    with np.errstate(all="ignore"):
        rows = outcome(answer, x.copy())
        return [
            rows,
            added(rows, np.exp(x - x.max(-1, keepdims=True)).sum(-1)),
            any_error(outcome(answer, x[0].copy())),
            any_error(outcome(answer, np.stack([x, 1 - x]))),
            any_error(outcome(answer, np.stack([x, 1 - x]), axis=1)),
            outcome(answer, low),
            outcome(answer, np.array([[-np.inf, 0.0, 1.0]])),
            outcome(answer, apart),
            outcome(answer, np.array([[0, 1, 3], [2, 2, 1]])),
            outcome(answer, x.copy(), axis=0),
            outcome(answer, x[:2].copy(), axis=1),
            outcome(answer, far),
            outcome(answer, np.array([[0.0, 1e4], [1e4, 1e4 + 1.0]])),
        ]


def attention_scores(answer: Any) -> list:
    """Tell scores apart by values, batches, cubes and whole numbers."""
    rng = np.random.default_rng(5)
    shapes = [((4, 9), (6, 9)), ((2, 3, 5), (2, 4, 5)), ((3, 3, 3), (3, 3, 3))]
    found = [
        outcome(answer, rng.standard_normal(q), rng.standard_normal(k))
        for q, k in [*shapes, ((4, 4), (4, 4))]
    ]
    more = [rng.standard_normal((2, 3, n, 5)) for n in (2, 4)]
    whole = [rng.integers(-5, 6, size=(n, 3)) for n in (3, 2)]
    found += [outcome(answer, *more), outcome(answer, *whole)]
    first, *others, square, batches, integers = found
    return [
        *(first, *map(any_error, others), square),
        *(any_error(batches), any_error(integers)),
    ]


def scaled_dot_product_attention(answer: Any) -> list:
    """Tell attentions apart by values, sizes, cubes and large scores."""
    rng = np.random.default_rng(6)
    shapes = [
        ((4, 9), (6, 9), (6, 5)),
        ((2, 5), (3, 5), (3, 5)),
        ((5, 5), (5, 5), (5, 5)),
        ((3, 3, 3), (3, 3, 3), (3, 3, 3)),
    ]
    draws = [[rng.standard_normal(shape) for shape in three] for three in shapes]
    large = [1e4 * draws[0][0], *draws[0][1:]]
    batch = [rng.standard_normal(shape) for shape in ((2, 3, 5), (2, 4, 5), (2, 4, 6))]
    with np.errstate(all="ignore"):
        found = [outcome(answer, *three) for three in [*draws, large]]
        whole = [np.rint(3 * array).astype(int) for array in draws[1]]
        others = [outcome(answer, *three) for three in (batch, whole)]
        return [*found, *map(any_error, others)]
