"""Hidden checks of 04-masking, run only in grading, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden

from .. import visible

causal_mask = Hidden(visible.causal_mask, core=0.75)
padding_mask = Hidden(visible.padding_mask, core=0.6)
masked_softmax = Hidden(visible.masked_softmax, core=0.5)
causal_attention = Hidden(visible.causal_attention, core=0.5)
check_causal_mask = Hunt(visible.check_causal_mask, visible.assignment)


def oracle_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Compute the masked softmax row by row, over the allowed keys only."""
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        allowed = np.flatnonzero(mask[index])
        if allowed.size:
            row = scores[index][allowed].astype(np.float64)
            powers = np.exp(row - row.max())
            weights[index][allowed] = powers / powers.sum()
    return weights


def oracle_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple:
    """Compute output and weights of causal attention, in double precision."""
    Q, K, V = (a.astype(np.float64) for a in (Q, K, V))
    n = Q.shape[-2]
    scores = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    past = np.arange(n)[None, :] <= np.arange(n)[:, None]
    weights = oracle_softmax(scores, past)
    return np.einsum("...qk,...kv->...qv", weights, V), weights


# ------------------------------------------------------------ causal_mask


@causal_mask.check(0.25)
def causal_mask_of_any_size(answer: Any, rng: np.random.Generator) -> None:
    """Masks of other sizes are correct, even for a single position."""
    for n in (1, int(rng.integers(6, 20))):
        mask = expect.array(expect.call(answer, n), (n, n), "the mask", kind="b")
        rows, columns = np.indices((n, n))
        if not np.array_equal(mask, columns <= rows):
            raise CheckFailed("the wrong pattern", "")


# ----------------------------------------------------------- padding_mask


@padding_mask.check(0.2)
def padding_mask_of_any_batch(answer: Any, rng: np.random.Generator) -> None:
    """Masks for random lengths are correct, even with an empty or a full sentence."""
    n = int(rng.integers(5, 12))
    lengths = np.concatenate([[0, n], rng.integers(0, n, size=3)])
    compare_padding(answer, lengths, lengths, n)


@padding_mask.check(0.2)
def padding_mask_of_a_list(answer: Any, rng: np.random.Generator) -> None:
    """Lengths may come as a list, and every sentence may be shorter than n."""
    lengths = [int(length) for length in rng.integers(1, 4, size=4)]
    compare_padding(answer, lengths, np.array(lengths), 7)


def compare_padding(answer: Any, given: Any, lengths: np.ndarray, n: int) -> None:
    """Compare the answer's mask with the lengths, position by position."""
    mask = expect.call(answer, given, n)
    mask = expect.array(mask, (len(lengths), 1, n), "the mask", kind="b")
    if not all(
        mask[b, 0, i] == (i < length)
        for b, length in enumerate(lengths)
        for i in range(n)
    ):
        raise CheckFailed("the wrong pattern", "")


# --------------------------------------------------------- masked_softmax


def compare_softmax(
    answer: Any, scores: np.ndarray, mask: np.ndarray, call: Any = expect.call
) -> None:
    """Compare the answer's weights with the oracle's, and require exact zeros."""
    weights = call(answer, scores, mask)
    weights = expect.array(weights, scores.shape, "the weights")
    expect.close(weights, oracle_softmax(scores, mask))
    if (weights[~np.broadcast_to(mask, scores.shape)] != 0).any():
        raise CheckFailed("a weight above 0 where the mask is False", "0")


@masked_softmax.check(0.15)
def masked_softmax_of_random_scores(answer: Any, rng: np.random.Generator) -> None:
    """Random scores under a random mask give the right weights, without a warning."""
    scores = rng.normal(scale=3, size=(6, 5))
    mask = rng.random((6, 5)) < 0.5
    mask[0], mask[1] = False, True
    compare_softmax(answer, scores, mask, expect.quiet_call)


@masked_softmax.check(0.15)
def masked_softmax_broadcasts(answer: Any, rng: np.random.Generator) -> None:
    """A mask with fewer axes, or with an axis of length 1, works for a whole batch."""
    scores = rng.normal(size=(3, 4, 4))
    for shape in [(4, 4), (3, 1, 4)]:
        mask = rng.random(shape) < 0.6
        compare_softmax(answer, scores, mask, expect.quiet_call)


@masked_softmax.check(0.2)
def masked_softmax_of_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Scores around ±1e5 give exact weights, even when a masked one is the largest."""
    scores = rng.normal(size=(4, 5)) + np.array([1e5, -1e5, 0.0, 0.0])[:, None]
    mask = np.ones((4, 5), dtype=bool)
    mask[:, int(rng.integers(5))] = False
    scores[2][~mask[2]] = 1e5
    scores[3][mask[3]] -= 1e5
    compare_softmax(answer, scores, mask)


# ------------------------------------------------------- causal_attention


def compare_attention(answer: Any, *arrays: np.ndarray) -> None:
    """Compare the answer's output and weights with the oracle's."""
    expect.agree_pair(expect.call(answer, *arrays), oracle_attention(*arrays))


@causal_attention.check(0.2)
def causal_attention_of_random_arrays(answer: Any, rng: np.random.Generator) -> None:
    """Random queries, keys and values of several sizes give the right result."""
    for n, d_k, d_v in [(5, 8, 8), (6, 3, 2), (1, 4, 5)]:
        shapes = [(n, d_k), (n, d_k), (n, d_v)]
        compare_attention(answer, *(rng.standard_normal(shape) for shape in shapes))


@causal_attention.check(0.15)
def causal_attention_of_random_batches(answer: Any, rng: np.random.Generator) -> None:
    """Batches with one or two leading axes work, even cube-shaped ones."""
    for batch, n, d_k, d_v in [((3,), 3, 3, 3), ((2, 3), 4, 5, 6)]:
        shapes = [(*batch, n, d_k), (*batch, n, d_k), (*batch, n, d_v)]
        compare_attention(answer, *(rng.standard_normal(shape) for shape in shapes))


@causal_attention.check(0.15)
def the_future_does_not_leak(answer: Any, rng: np.random.Generator) -> None:
    """No output at t changes when later tokens do, however large their scores."""
    n = 6
    for t in (2, 3, 4):
        Q, K, V = (rng.standard_normal((n, 4)) for _ in range(3))
        changed = [np.concatenate([a[:t], 1e4 * a[t:]]) for a in (Q, K, V)]
        before, after = (
            expect.pair(expect.call(answer, *arrays), "output, weights")[0]
            for arrays in ((Q, K, V), changed)
        )
        before = expect.array(before, (n, 4), "the output")[:t]
        after = expect.array(after, (n, 4), "the output")[:t]
        expect.close(after, before, "earlier outputs changed with later tokens", "")
        compare_attention(answer, *changed)
        K[0] = -Q[0]  # what the first token may see scores low as well
        compare_attention(answer, 1e4 * Q, K, V)
