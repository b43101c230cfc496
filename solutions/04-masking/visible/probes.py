"""Probes of 04-masking: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks.isolation import NUMPY_ERRORS
from autograder.checks.outcomes import added, any_error, outcome


def causal_mask(answer: Any) -> list:
    """Tell masks apart by pattern and type."""
    return [described(outcome(answer, n)) for n in (1, 4)]


def padding_mask(answer: Any) -> list:
    """Tell masks apart by pattern, type, and what they take for lengths."""
    return [
        described(outcome(answer, np.array([2, 4, 1]), 5)),
        described(outcome(answer, [2, 3], 4)),
        described(outcome(answer, np.array([3, 1]), 3)),
    ]


def described(result: Any) -> Any:
    """An outcome with the kind of its numbers: a mask of integers is no mask."""
    return [result, getattr(getattr(result[1], "dtype", None), "kind", "")]


def masked_softmax(answer: Any) -> list:
    """Tell masked softmaxes apart by values, extremes, empty rows and warnings."""
    scores = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [0.2, 1.2, 0.1]])
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    empty = np.array([[True, True], [False, False]])
    far = np.array([[0.0, 1.0, 1e5], [1e5, 1e5 + 1.0, 0.0]])
    behind = np.array([[True, True, False], [True, True, True]])
    low = np.array([[-1e5, 1 - 1e5, 0.0], [0.0, 1.0, 2.0]])
    batch = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    apart = np.array([[0.0, 1.0], [1e5, 1e5 + 1.0]])
    hidden = np.array([[True, False, True, True]] * 2 + [[True] * 4])
    rows = outcome(answer, scores.copy(), mask)
    top = np.max(np.where(mask, scores, -np.inf), axis=-1, keepdims=True)
    totals = (np.exp(scores - top) * mask).sum(axis=-1)
    return [
        rows,
        added(rows, totals),
        any_error(outcome(answer, scores.copy(), mask[1])),
        warned(answer, np.array([[1.0, 2.0], [3.0, 4.0]]), empty),
        warned(answer, far, behind),
        any_error(outcome(answer, low, behind)),
        any_error(outcome(answer, batch, hidden)),
        any_error(outcome(answer, scores[:2], mask[:2])),
        any_error(outcome(answer, apart, np.array([[True, False], [False, True]]))),
    ]


def warned(answer: Any, *args: Any) -> list:
    """An outcome, and whether a warning was given."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(**NUMPY_ERRORS):
        warnings.simplefilter("always")
        return [outcome(answer, *args), bool(caught)]


def causal_attention(answer: Any) -> list:
    """Tell attentions apart by values, batches and a loud future."""
    rng = np.random.default_rng(7)
    loud = [rng.standard_normal((4, 3)) for _ in range(3)]
    loud[1][-1] *= 1e4
    loud[0] = np.abs(loud[0])
    loud[1][-1] = np.abs(loud[1][-1])
    shapes = [((5, 9), (5, 9), (5, 4)), ((2, 4, 3), (2, 4, 3), (2, 4, 5))]
    draws = [[rng.standard_normal(shape) for shape in three] for three in shapes]
    cube = [rng.standard_normal((3, 3, 3)) for _ in range(3)]
    low = [np.full((2, 1), 1e5), np.array([[-1.0], [-2.0]]), np.eye(2)]
    draws.append([draws[0][0] * 1e4, *draws[0][1:]])
    with np.errstate(all="ignore"):
        return [outcome(answer, *three) for three in [*draws, cube, loud, low]]
