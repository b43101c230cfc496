"""Probes of 02-scaling: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes
from autograder.checks.isolation import NUMPY_ERRORS
from autograder.checks.outcomes import any_error, close_to, outcome


def score_std(answer: Any) -> list:
    """Tell spreads apart on the same draws, and whether these are from ``rng``."""
    first, again, other = (
        outcome(answer, 9, 5, np.random.default_rng(seed)) for seed in (8, 8, 9)
    )
    many = outcome(answer, 9, 4000, np.random.default_rng(8))
    drawn = close_to(many, ("returned", 3.0, False), 0.1) and not close_to(many, first)
    if drawn and (close_to(first, other) or not close_to(first, again)):
        return ["not from rng"]  # whichever numbers they are
    return [first, outcome(answer, 3, 40, np.random.default_rng(8))]


def entropy(answer: Any) -> list:
    """Tell entropies apart by values, axes, zeros and warnings."""
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    zeros = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    with warnings.catch_warnings(record=True) as caught, np.errstate(**NUMPY_ERRORS):
        warnings.simplefilter("always")
        found = [outcome(answer, weights), outcome(answer, zeros), bool(caught)]
        found.append(outcome(answer, np.array([[0.98889, 1e-2, 1e-3, 1e-4, 1e-5]])))
        # many equal weights show what is added to each
        even = outcome(answer, np.full((1, 1000), 1e-3))
        others = [weights[0], np.stack([weights, weights])]
        return [*found, even, *(any_error(outcome(answer, each)) for each in others)]


def softmax_jacobian(answer: Any) -> list:
    """Tell matrices apart by their entries."""
    return [outcome(answer, np.array(w)) for w in ([0.1, 0.2, 0.7], [0.5, 0.5])]


def plot_saturation(answer: Any) -> list:
    """Tell plots apart by curves (coarsely: they are random), labels and type."""
    result = outcome(answer, [2, 8, 32, 300], np.random.default_rng(9))
    if result[0] == "raised":
        return [result]
    try:
        description = describe_axes(result[1])
    except CheckFailed:
        return [type(result[1]).__name__]
    named = [bool(description[key]) for key in ("xlabel", "ylabel", "legend")]
    curves = [
        [c["label"].casefold() in ("unscaled", "scaled"), c["x"], level(c["y"])]
        for c in sorted(description["curves"], key=lambda c: c["label"].casefold())
    ]
    return [named, curves, unsteady(answer)]


BORDERS = [0.005, 0.0999, 0.1001, 0.14, 0.215, 0.45, 0.8, 0.995, 1.001]


def level(y: np.ndarray) -> list:
    """Where a random curve runs: low, a tenth, moderate, high, at each point."""
    return np.digitize(y, BORDERS).tolist()


def unsteady(answer: Any) -> bool:
    """Whether small widths give other heights in every run, as ten keys for all do."""
    runs = []
    for seed in range(5):
        result = outcome(answer, [1, 2], np.random.default_rng(seed))
        curves = describe_axes(result[1])["curves"] if result[0] != "raised" else []
        runs.append([y for curve in curves for y in np.ravel(curve["y"])[:2]])
    lengths = {len(run) for run in runs}
    return lengths == {4} and bool(np.std(runs, axis=0).mean() > 0.03)
