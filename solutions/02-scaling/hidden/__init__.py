"""Hidden checks of 02-scaling, run only in grading, on random inputs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.question import Hidden

from .. import visible
from ..visible import curves_by_name, number

score_std = Hidden(visible.score_std, core=0.5)
entropy = Hidden(visible.entropy, core=0.5)
softmax_jacobian = Hidden(visible.softmax_jacobian, core=0.5)
plot_saturation = Hidden(visible.plot_saturation, core=0.6)


# -------------------------------------------------------------- score_std


@score_std.check(0.5)
def score_std_of_these_very_draws(answer: Any, rng: np.random.Generator) -> None:
    """The result is the spread of the pairs that the given generator draws."""
    for _ in range(2):
        d_k, n_pairs = (int(n) for n in rng.integers(5, 40, size=2))
        seed = int(rng.integers(2**32))
        ours = np.random.default_rng(seed)
        q = ours.standard_normal((n_pairs, d_k))
        k = ours.standard_normal((n_pairs, d_k))
        dots = np.einsum("nd,nd->n", q, k)
        seen = number(expect.call(answer, d_k, n_pairs, np.random.default_rng(seed)))
        # about the mean, with n or n - 1, or about 0, which is the true mean
        known = dots.std(), dots.std(ddof=1), np.sqrt((dots**2).mean())
        if not any(abs(seen - value) < 1e-5 * value for value in known):
            raise CheckFailed("different numbers")


# ---------------------------------------------------------------- entropy


def oracle_entropy(weights: np.ndarray) -> np.ndarray:
    """Compute Σ w log 1/w, key by key."""
    total = np.zeros(weights.shape[:-1])
    for index in np.ndindex(weights.shape):
        if weights[index] > 0:
            total[index[:-1]] += float(weights[index]) * -np.log(float(weights[index]))
    return total


def compare_entropy(answer: Any, weights: np.ndarray) -> None:
    """Compare the answer's entropies with the oracle's, and allow no warning."""
    seen = expect.quiet_call(answer, weights)
    seen = expect.array(seen, weights.shape[:-1], "the entropy")
    expect.close(seen, oracle_entropy(weights))


@entropy.check(0.2)
def entropy_of_random_weights(answer: Any, rng: np.random.Generator) -> None:
    """Random weights have the right entropy."""
    compare_entropy(answer, rng.dirichlet(np.full(6, 0.5), size=7))


@entropy.check(0.2)
def entropy_of_attention_with_zeros(answer: Any, rng: np.random.Generator) -> None:
    """Batches of masked weights, with zeros in different places, work."""
    weights = rng.dirichlet(np.ones(4), size=(3, 4))
    weights *= np.tri(4)
    compare_entropy(answer, weights / weights.sum(-1, keepdims=True))


@entropy.check(0.1)
def entropy_of_one_row(answer: Any, rng: np.random.Generator) -> None:
    """A single row of weights gives a single number."""
    weights = rng.dirichlet(np.ones(5))
    seen = expect.call(answer, weights)
    seen = np.asarray(number(seen))
    expect.close(seen, oracle_entropy(weights))


# ------------------------------------------------------- softmax_jacobian


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@softmax_jacobian.check(0.3)
def jacobian_agrees_with_differences(answer: Any, rng: np.random.Generator) -> None:
    """The entries agree with finite differences of the softmax."""
    for n in (3, int(rng.integers(4, 9))):
        scores, step = rng.normal(scale=2, size=n), 1e-5
        nudges = step * np.eye(n)
        # column j: how all weights move with score j
        differences = (softmax(scores + nudges) - softmax(scores - nudges)).T
        jacobian = expect.call(answer, softmax(scores))
        jacobian = expect.array(jacobian, (n, n), "the Jacobian")
        expect.close(jacobian, differences / (2 * step), tolerance=1e-7)


@softmax_jacobian.check(0.2)
def saturated_weights_have_no_gradient(answer: Any, rng: np.random.Generator) -> None:
    """When all weight is on one key, every entry is 0."""
    n = int(rng.integers(3, 7))
    weights = np.eye(n)[int(rng.integers(n))]
    jacobian = expect.array(expect.call(answer, weights), (n, n), "the Jacobian")
    expect.close(jacobian, np.zeros((n, n)))


# -------------------------------------------------------- plot_saturation


@cache
def expected_largest(d_k: int, scale: float) -> float:
    """Estimate the mean largest of ten softmax weights from a large sample."""
    rng = np.random.default_rng(d_k)
    q = rng.standard_normal((4000, 1, d_k))
    k = rng.standard_normal((4000, 10, d_k))
    return float(softmax((q * k).sum(-1) * scale).max(-1).mean())


def moved(answer: Any, rng: np.random.Generator) -> float:
    """Measure how far the lines at small widths are from their true values."""
    apart = []
    for _ in range(4):
        draws = np.random.default_rng(rng.integers(2**32))
        for name, curve in curves_by_name(answer, [1, 2, 3, 4], draws).items():
            for x, y in zip(curve["x"], curve["y"], strict=True):
                scale = 1.0 if name == "unscaled" else x**-0.5
                apart.append(y - expected_largest(round(x), scale))
    return float(np.sqrt(np.mean(np.square(apart))))


@plot_saturation.check(0.3)
def lines_show_the_mean_largest_weight(answer: Any, rng: np.random.Generator) -> None:
    """Both lines show the mean largest weight, for widths chosen by the check."""
    d_ks = sorted(int(d) for d in rng.choice([3, 6, 12, 24, 48, 96], 3, replace=False))
    curves = curves_by_name(answer, d_ks, np.random.default_rng(rng.integers(2**32)))
    for name, curve in curves.items():
        if len(curve["x"]) != len(d_ks):
            raise CheckFailed("the wrong number of points", "")
        for x, y in zip(curve["x"], curve["y"], strict=True):
            scale = 1.0 if name == "unscaled" else x**-0.5
            if not abs(y - expected_largest(round(x), scale)) < 0.08:
                raise CheckFailed("different numbers")


@plot_saturation.check(0.1)
def every_query_has_keys_of_its_own(answer: Any, rng: np.random.Generator) -> None:
    """Every query has its own ten keys, so a new draw hardly moves the lines."""
    if moved(answer, rng) > 0.026:  # a third of what ten keys for all give, or less
        raise CheckFailed("the lines move too far from one draw to the next", "")
