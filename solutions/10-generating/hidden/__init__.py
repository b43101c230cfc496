"""Hidden checks of 10-generating; only grading runs them, on newly drawn inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden

from .. import visible
from ..visible.cases import at_the_end, cache_for, counts, heads

rotate = Hidden(visible.rotate, core=0.5)
grouped_query_attention = Hidden(visible.grouped_query_attention, core=0.5)
window_mask = Hidden(visible.window_mask, core=0.5)
KVCache = Hidden(visible.KVCache, core=0.6)
decode_step = Hidden(visible.decode_step, core=0.4)
check_rotate = Hunt(visible.check_rotate, visible.assignment)


def oracle_rotate(
    x: np.ndarray, positions: np.ndarray, base: float = 10000.0
) -> np.ndarray:
    """Rotate pairs as complex numbers, each multiplied by its own power of e."""
    pairs = np.ascontiguousarray(x, dtype=np.float64).view(np.complex128)
    i = np.arange(x.shape[-1] // 2)
    angles = np.multiply.outer(np.asarray(positions), base ** (-2 * i / x.shape[-1]))
    return (pairs * np.exp(1j * angles)).view(np.float64)


def oracle_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute attention head by head and query by query, over the allowed keys."""
    Q, K, V = (a.astype(np.float64) for a in (Q, K, V))
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    mask = np.broadcast_to(True if mask is None else mask, weights.shape)
    for index in np.ndindex(Q.shape[:-1]):
        *batch, head, _ = index
        shared = (*batch, head * K.shape[-3] // Q.shape[-3])
        allowed = np.flatnonzero(mask[index])
        if allowed.size:
            scores = K[shared][allowed] @ Q[index] * Q.shape[-1] ** -0.5
            powers = np.exp(scores - scores.max())
            weights[index][allowed] = powers / powers.sum()
            output[index] = weights[index] @ V[shared]
    return output, weights


# ----------------------------------------------------------------- rotate


@rotate.check(0.2)
def rotate_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Random arrays with any batch, at consecutive positions, are turned correctly."""
    for shape in ((5, 8), (2, 3, 6, 4), (3, 3, 2)):
        x, positions = rng.standard_normal(shape), np.arange(shape[-2])
        turned = expect.call(answer, x, positions)
        # far more room than rounding needs, and too little for single precision
        expect.agree(turned, oracle_rotate(x, positions), tolerance=1e-9)


@rotate.check(0.15)
def rotate_at_any_positions(answer: Any, rng: np.random.Generator) -> None:
    """Positions may start anywhere, be far apart, and come in any order."""
    x = rng.standard_normal((2, 5, 6))
    start = int(rng.integers(3, 50))
    for positions in (np.arange(start, start + 5), rng.integers(1, 10_000, size=5)):
        expect.agree(expect.call(answer, x, positions), oracle_rotate(x, positions))
    token, position = rng.standard_normal((3, 1, 6)), rng.integers(1, 100, size=1)
    expect.agree(expect.call(answer, token, position), oracle_rotate(token, position))


@rotate.check(0.1)
def rotate_with_another_base(answer: Any, rng: np.random.Generator) -> None:
    """A different base gives different angles."""
    x, positions = rng.standard_normal((4, 8)), np.arange(2, 6)
    for base in (100.0, 1e6):
        turned = expect.call(answer, x, positions, base)
        expect.agree(turned, oracle_rotate(x, positions, base))


@rotate.check(0.05)
def rotate_keeps_the_dtype(answer: Any, rng: np.random.Generator) -> None:
    """Single precision stays single precision, and integers become floats."""
    x, positions = rng.standard_normal((4, 6)).astype(np.float32), np.arange(4)
    turned = expect.call(answer, x, positions)
    expect.agree(turned, oracle_rotate(x, positions))
    expect.dtype(turned, "float32")
    whole = rng.integers(-5, 6, size=(4, 6))
    expect.agree(expect.call(answer, whole, positions), oracle_rotate(whole, positions))


# ------------------------------------------------ grouped_query_attention


@grouped_query_attention.check(0.2)
def grouped_queries_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Any number of key-value heads that divides `n_heads` works."""
    for sizes in ((6, 2, 3, 5), (4, 1, 1, 7), (3, 3, 4, 4), (6, 3, 5, 2)):
        Q, K, V = heads(rng, sizes)
        expect.agree_pair(expect.call(answer, Q, K, V), oracle_attention(Q, K, V))


@grouped_query_attention.check(0.1)
def grouped_queries_of_batches(answer: Any, rng: np.random.Generator) -> None:
    """One or two leading axes work, even when all sizes are equal."""
    for batch, sizes in (
        ((3,), (4, 2, 3, 5)),
        ((2, 3), (4, 2, 2, 3)),
        ((4,), (4,) * 4),
    ):
        Q, K, V = heads(rng, sizes, batch, width=(4, 4))
        expect.agree_pair(expect.call(answer, Q, K, V), oracle_attention(Q, K, V))


@grouped_query_attention.check(0.15)
def grouped_queries_under_random_masks(answer: Any, rng: np.random.Generator) -> None:
    """Any mask that broadcasts works, even with large scores, without a warning."""
    Q, K, V = heads(rng, (4, 2, 3, 5), (2,))
    for shape in ((3, 5), (2, 1, 1, 5), (4, 1, 5), (2, 4, 3, 5)):
        mask = rng.random(shape) < 0.6
        mask[..., 0] = True
        if len(shape) == 2:  # as many queries without a key in every draw
            mask[0] = False
        for scale in (1, 1e4):
            result = expect.quiet_call(answer, scale * Q, K, V, mask)
            expected = oracle_attention(scale * Q, K, V, mask)
            expect.agree_pair(result, expected)
            if (result[1][~np.broadcast_to(mask, (2, 4, 3, 5))] != 0).any():
                raise CheckFailed("a weight above 0 where the mask is False", "0")


@grouped_query_attention.check(0.05)
def grouped_queries_keep_the_dtype(answer: Any, rng: np.random.Generator) -> None:
    """Single precision stays single precision."""
    Q, K, V = (a.astype(np.float32) for a in heads(rng, (4, 2, 3, 5)))
    result = expect.call(answer, Q, K, V)
    expect.agree_pair(result, oracle_attention(Q, K, V))
    for value, name in zip(result, ("the output", "the weights"), strict=True):
        expect.dtype(value, "float32", name)


# ------------------------------------------------------------ window_mask


def compare_mask(answer: Any, n: int, *sizes: int) -> None:
    """Compare the mask with the card's definition, position by position."""
    mask = expect.array(expect.call(answer, n, *sizes), (n, n), "the mask", kind="b")
    window, sinks = (*sizes, 0)[:2]
    for query in range(n):
        seen = set(range(max(0, query - window + 1), query + 1))
        seen |= set(range(min(sinks, query + 1)))
        if set(np.flatnonzero(mask[query]).tolist()) != seen:
            raise CheckFailed("a different pattern", "")


@window_mask.check(0.2)
def windows_of_any_size(answer: Any, rng: np.random.Generator) -> None:
    """Windows of any size work, even windows longer than the text."""
    n = int(rng.integers(6, 14))
    for window in (1, int(rng.integers(2, 6)), n, n + 3):
        compare_mask(answer, n, window)
    compare_mask(answer, 1, 1)


@window_mask.check(0.3)
def sinks_of_any_number(answer: Any, rng: np.random.Generator) -> None:
    """No query sees the future, even with more sinks than positions."""
    n = int(rng.integers(6, 14))
    for sinks in (0, int(rng.integers(2, 5)), n, n + 2):
        compare_mask(answer, n, int(rng.integers(1, 4)), sinks)


# ---------------------------------------------------------------- KVCache


def compare_cache(
    answer: Any, rng: np.random.Generator, steps: int, window: int | None, *batch: int
) -> None:
    """Append random tokens, and compare each result with a slice of all tokens."""
    shapes = ((*batch, 2, steps, 4), (*batch, 2, steps, 3))
    tokens = [rng.standard_normal(shape) for shape in shapes]
    cache = expect.call(answer) if window is None else expect.call(answer, window)
    for t in range(steps):
        new = (a[..., t : t + 1, :].copy() for a in tokens)
        first = 0 if window is None else max(0, t + 1 - window)
        expected = tuple(a[..., first : t + 1, :] for a in tokens)
        result = expect.call(cache.append, *new)
        expect.agree_pair(result, expected, "keys, values")
        counts(cache, t + 1)


@KVCache.check(0.1)
def cache_of_random_tokens(answer: Any, rng: np.random.Generator) -> None:
    """Random keys and values of different widths, in batches, come back unchanged."""
    compare_cache(answer, rng, 6, None)
    compare_cache(answer, rng, 4, None, 3)
    compare_cache(answer, rng, 3, None, 2, 3)


@KVCache.check(0.15)
def cache_with_any_window(answer: Any, rng: np.random.Generator) -> None:
    """A window may hold one token, a few tokens, or more than the whole text."""
    for window in (1, int(rng.integers(3, 6)), 20):
        compare_cache(answer, rng, 9, window)
    compare_cache(answer, rng, 7, 3, 2)


@KVCache.check(0.05)
def cache_of_a_long_text(answer: Any, rng: np.random.Generator) -> None:
    """A text of any length fits, and arrays returned earlier do not change."""
    for steps, window in ((70, None), (40, int(rng.integers(2, 20)))):
        tokens = [tuple(rng.standard_normal((2, 2, 1, 4))) for _ in range(steps)]
        both = zip(*tokens, strict=True)
        keys, values = (np.concatenate(arrays, -2) for arrays in both)
        for t, result in enumerate(at_the_end(answer, tokens, window), 1):
            first = 0 if window is None else max(0, t - window)
            expected = keys[:, first:t], values[:, first:t]
            expect.agree_pair(result, expected, "keys, values")


@KVCache.check(0.05)
def caches_are_apart(answer: Any, rng: np.random.Generator) -> None:
    """Two caches, filled alternately, are independent of each other."""
    caches = [expect.call(answer), expect.call(answer)]
    tokens = rng.standard_normal((2, 3, 1, 1, 2))
    for t in range(3):
        for cache, own in zip(caches, tokens, strict=True):
            result = expect.call(cache.append, own[t], own[t])
            expected = own[: t + 1, :, 0].swapaxes(0, 1)
            expect.agree_pair(result, (expected, expected), "keys, values")
            counts(cache, t + 1)


@KVCache.check(0.05)
def cache_keeps_the_dtype(answer: Any, rng: np.random.Generator) -> None:
    """Single precision stays single precision."""
    cache = expect.call(answer, 2)
    for _ in range(3):
        k, v = rng.standard_normal((2, 2, 1, 4)).astype(np.float32)
        result = expect.pair(expect.call(cache.append, k, v), "keys, values")
        for value, name in zip(result, ("keys", "values"), strict=True):
            expect.dtype(expect.array(value, np.shape(value), name), "float32", name)


# ------------------------------------------------------------ decode_step


def compare_steps(
    answer: Any,
    rng: np.random.Generator,
    steps: int,
    sizes: tuple[int, int] = (4, 2),
    batch: tuple[int, ...] = (),
    window: int | None = None,
    dtype: type = np.float64,
) -> None:
    """Compare each step with the last row of attention over all tokens so far."""
    Q, K, V = (a.astype(dtype) for a in heads(rng, (*sizes, steps, steps), batch))
    positions = np.arange(steps)
    age = positions[:, None] - positions
    mask = (age >= 0) & (age < (window or steps))
    turned = (oracle_rotate(a, positions) for a in (Q, K))
    output, weights = oracle_attention(*turned, V, mask)
    cache = None
    for t in range(steps):
        new = [a[..., t : t + 1, :].copy() for a in (Q, K, V)]
        if cache is None:
            cache = cache_for(answer, *new, window=window)
        kept = slice(0 if window is None else max(0, t + 1 - window), t + 1)
        expected = (output[..., t : t + 1, :], weights[..., t : t + 1, kept])
        result = expect.call(answer, *new, cache)
        expect.agree_pair(result, expected)
        for value in result:
            expect.dtype(value, Q.dtype.name)


@decode_step.check(0.25)
def steps_equal_causal_attention(answer: Any, rng: np.random.Generator) -> None:
    """With shared keys, each token gives the next row of full causal attention."""
    compare_steps(answer, rng, 7)
    compare_steps(answer, rng, 4, sizes=(3, 1))
    compare_steps(answer, rng, 4, sizes=(2, 2))


@decode_step.check(0.2)
def steps_equal_windowed_attention(answer: Any, rng: np.random.Generator) -> None:
    """With a window, each token gives the next row of attention under `window_mask`."""
    compare_steps(answer, rng, 9, window=int(rng.integers(2, 5)))
    compare_steps(answer, rng, 4, window=1)


@decode_step.check(0.1)
def steps_of_batches(answer: Any, rng: np.random.Generator) -> None:
    """Batches with one or two leading axes work, and keep single precision."""
    compare_steps(answer, rng, 4, batch=(3,), dtype=np.float32)
    compare_steps(answer, rng, 4, batch=(2, 1), window=2)


@decode_step.check(0.05)
def two_texts_are_apart(answer: Any, rng: np.random.Generator) -> None:
    """Two texts that are decoded alternately, each with its own cache, do not mix."""
    texts = [heads(rng, (2, 1, 3, 3)) for _ in range(2)]
    rows = [[a[:, :1] for a in text] for text in texts]
    caches = [cache_for(answer, *row) for row in rows]
    positions = np.arange(3)
    for t in range(3):
        for (Q, K, V), cache in zip(texts, caches, strict=True):
            turned = (oracle_rotate(a[:, : t + 1], positions[: t + 1]) for a in (Q, K))
            mask = np.tri(t + 1, dtype=bool)
            output, weights = oracle_attention(*turned, V[:, : t + 1], mask)
            new = (a[:, t : t + 1].copy() for a in (Q, K, V))
            expected = (output[:, t:], weights[:, t:])
            expect.agree_pair(expect.call(answer, *new, cache), expected)
