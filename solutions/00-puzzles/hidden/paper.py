"""Random inputs for puzzles on paper: "which of these shows the function's mistake?"

Each function draws arguments that fit on a line of paper, some that expose the mistake
and some that do not. Which are which is found out by running the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]
DRAWS: dict[str, Callable[[Random], Arguments]] = {}


def draw(about: Callable[[Random], Arguments]) -> Callable[[Random], Arguments]:
    """Register the draw of a puzzle; a decorator."""
    DRAWS[about.__name__] = about
    return about


def numbers(rng: Random, *shape: int) -> np.ndarray:
    """Whole numbers from 0 to 4, as floats."""
    count = int(np.prod(shape))
    return np.array(rng.choices(range(5), k=count), float).reshape(shape)


@draw
def softmax(rng: Random) -> Arguments:
    """All of them far from 0, or one far from the others."""
    scores = numbers(rng, 3) + rng.choice([0, 0, 60, 500, 900, -300, -900])
    scores[rng.randrange(3)] += rng.choice([0, 0, 80, -800, 400, 1500])
    return (scores,)


@draw
def scores(rng: Random) -> Arguments:
    """As many keys as entries, or not."""
    d = rng.randint(1, 3)
    return 1 + numbers(rng, rng.randint(1, 2), d), 1 + numbers(
        rng, rng.randint(1, 3), d
    )


@draw
def masked_row(rng: Random) -> Arguments:
    """What is allowed lies at different heights; one entry is hidden."""
    mask = np.array([True, True, True])
    mask[rng.randrange(3)] = False
    scores = numbers(rng, 3) + np.where(mask, rng.choice([0, -40, 300, -150, -800]), 0)
    return scores + np.where(mask, 0, rng.choice([0, 50, 700])), mask


@draw
def split_heads(rng: Random) -> Arguments:
    """One token or several, one head or several."""
    n, d = rng.randint(1, 3), rng.choice([2, 4])
    heads = rng.choice([1, 2, d])
    return 1 + np.arange(n * d, dtype=float).reshape(n, d), heads


@draw
def repeat_kv(rng: Random) -> Arguments:
    """One head or two, alike or not, once or more often."""
    heads = numbers(rng, rng.randint(1, 2), 1, 2)
    return (heads if rng.random() < 0.7 else heads * 0 + 1), rng.randint(1, 3)


@draw
def entropy(rng: Random) -> Arguments:
    """Two large weights and a small one, which may be 0."""
    small = rng.choice([0.0, 0.0, 0.02, 0.04, 0.1, 0.004, 0.008])
    large = rng.choice([0.5, 0.6, 0.7])
    weights = [large, round(1 - large - small, 3), small]
    return (np.array(rng.sample(weights, 3)),)


@draw
def layer_norm(rng: Random) -> Arguments:
    """One row or two, which have the same mean and spread or not."""
    a, b = rng.sample(range(1, 7), 2)
    other = rng.choice([[b, a], [a, b], [a + 4, b + 4], [3 * a, 3 * b]])
    rows = [[a, b], other][: rng.randint(1, 2)]
    return np.array(rows, float), np.ones(2), np.zeros(2)


@draw
def top_p(rng: Random) -> Arguments:
    """In order or not, and a share that one, two or three tokens reach."""
    shares = rng.choice([[0.5, 0.3, 0.2], [0.6, 0.3, 0.1], [0.7, 0.2, 0.1]])
    if rng.random() < 0.6:
        shares = rng.sample(shares, 3)
    return np.array(shares), rng.choice([0.4, 0.55, 0.75, 0.95])


@draw
def document_mask(rng: Random) -> Arguments:
    """A document that comes back, or none."""
    a, b, c = rng.sample(range(1, 6), 3)
    kinds = [[a, a, b], [a, b, b], [a, a, a], [a, b, c], [a, b, a], [a, b, b, a]]
    return (np.array(rng.choice([*kinds, [a, a, b, b], [a, b, c, b]])),)


@draw
def next_token_loss(rng: Random) -> Arguments:
    """Tokens with the number 0, at the start or later."""
    n = rng.randint(2, 3)
    return numbers(rng, n, 3), np.array(rng.choices(range(3), k=n))


@draw
def rotate_pair(rng: Random) -> Arguments:
    """Pairs in every quarter of the plane."""
    pair = np.array([rng.choice([-2.0, -1.0, 1.0, 2.0]), rng.choice([-1.0, 1.0, 3.0])])
    return pair, rng.randint(0, 3), rng.choice([0.5, 1.0])
