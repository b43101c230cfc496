"""Helpers of the checks of 10-generating: tokens, caches, wrong answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.drawing import beside, crosses
from autograder.checks.failures import CheckFailed
from autograder.checks.fingerprints import note
from autograder.checks.library import library
from autograder.checks.question import failure_of


def rows_agree(mask: np.ndarray, wanted: np.ndarray, case: str) -> None:
    """Each row of a mask is as it has to be."""
    for i, (row, expected) in enumerate(zip(mask, wanted, strict=True)):
        if not np.array_equal(row, expected):
            seen = f"{case}: row {i} is {crosses(row)} (x = True)"
            raise CheckFailed(seen, crosses(expected), drawing=beside(mask, wanted))


def turned(answer: Any, x: Any, *positions: int) -> np.ndarray:
    """What a student's rotate makes of the rows of ``x``."""
    x = np.array(x, dtype=float)
    return expect.array(expect.call(answer, x, np.array(positions)), x.shape)


def counts(cache: Any, number: int, more: str = "") -> None:
    """The length of a cache is the number of tokens that it has seen."""
    if (length := len(cache)) != number:
        seen = f"after {number} tokens the length is {length}"
        raise CheckFailed(seen, f"{number}{more}")


def entry(number: float, n_kv: int = 1, d_k: int = 2, d_v: int = 3) -> tuple:
    """Key and value of a token that can be told from others: full of its number."""
    return np.full((n_kv, 1, d_k), 1.0 * number), np.full((n_kv, 1, d_v), -1.0 * number)


def appended(cache: Any, k: np.ndarray, v: np.ndarray) -> tuple[Any, Any]:
    """What a cache returns for a new token."""
    return expect.pair(expect.call(cache.append, k, v), "keys, values")


def at_the_end(answer: Any, tokens: list[tuple], window: int | None) -> list:
    """What a cache returned for each token, looked at after the last of them.

    All steps are taken where the cache lives: what crosses the wall is a copy.
    """
    cache = expect.call(answer) if window is None else expect.call(answer, window)
    each = map(list, zip(*tokens, strict=True))
    steps = library(answer, "builtins", "map")(cache.append, *each)
    results = library(answer, "builtins", "list")(steps)
    note(results)
    return results


def cache_for(answer: Any, *inputs: Any, window: int | None = None) -> Any:
    """An empty cache of the student's own class, for decode_step to fill."""
    try:
        return library(answer, "", "KVCache")(window)
    except (AttributeError, NotImplementedError):
        failure = failure_of(lambda: answer(*inputs, None))
    if failure and failure.kind == "unanswered":
        raise failure
    raise CheckFailed("there is no KVCache yet", "an answer to KVCache", kind="error")


def step(answer: Any, cache: Any, *arrays: np.ndarray) -> tuple[Any, Any]:
    """Output and weights of one step; the cache is meant to change."""
    return expect.pair(expect.call(answer, *arrays, cache), "output, weights")


def equal_tokens(answer: Any, steps: int, window: int | None = None) -> np.ndarray:
    """The last weights when every token has the query and the key (1, 0)."""
    x = np.array([[[1.0, 0.0]]])
    cache = cache_for(answer, x, x, x, window=window)
    for number in range(1, steps + 1):
        _, weights = step(answer, cache, x.copy(), x.copy(), x.copy())
        kept = min(number, window or number)
        weights = expect.array(weights, (1, 1, kept), "the weights")
    return weights[0, 0]


def weights_of_distances(*distances: int) -> np.ndarray:
    """Softmax of cos(distance) / √2: what two equal tokens give each other."""
    powers = np.exp(np.cos(distances) / np.sqrt(2))
    return powers / powers.sum()


def heads(
    rng: np.random.Generator,
    sizes: tuple[int, int, int, int],
    batch: tuple[int, ...] = (),
    width: tuple[int, int] = (6, 3),
) -> list[np.ndarray]:
    """Random Q, K, V; ``sizes`` are n_heads, n_kv, n_q and n_k."""
    n_heads, n_kv, n_q, n_k = sizes
    shapes = [(n_heads, n_q, width[0]), (n_kv, n_k, width[0]), (n_kv, n_k, width[1])]
    return [rng.standard_normal((*batch, *shape)) for shape in shapes]
