"""Probes of 10-generating: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.library import library
from autograder.checks.outcomes import outcome

from .cases import at_the_end, entry


def described(result: Any) -> Any:
    """An outcome with the dtypes of its arrays, which its numbers do not tell."""
    values = result[1] if isinstance(result[1], tuple | list) else [result[1]]
    return [result, [str(getattr(value, "dtype", "")) for value in values]]


def single(value: Any) -> bool:
    """Whether all numbers would fit into single precision."""
    with np.errstate(all="ignore"):
        return isinstance(value, np.ndarray) and bool(
            (value == value.astype(np.float32)).all()
        )


def untold(result: Any) -> Any:
    """An outcome without what an exception says, which is the student's own choice."""
    return result[:2] if result[0] == "raised" else result


def rotate(answer: Any) -> list:
    """Tell rotations apart by values at several positions, types and odd widths."""
    x = np.cos(np.arange(24.0)).reshape(2, 2, 6)
    one = np.array([[1.0, 2.0, -1.0, 0.5]])
    found = outcome(answer, x.copy(), np.array([0, 3]))
    odd = outcome(answer, np.ones((1, 3)), np.array([1]))
    return [
        described(found),
        single(found[1]),
        described(outcome(answer, one.copy(), np.array([5]), 100.0)),
        described(outcome(answer, one.astype(np.float32), np.array([1]))),
        described(outcome(answer, np.array([[1, 2, 3, 4]]), np.array([2]))),
        # what an odd width that is accepted becomes does not matter
        odd[:1] if odd[0] == "returned" else untold(odd),
    ]


def grouped_query_attention(answer: Any) -> list:
    """Tell answers apart by heads, masks, empty rows, refusals and types."""
    waves = np.cos(np.arange(400.0))
    Q, K, V = waves[:72].reshape(4, 3, 6), waves[80:128], waves[130:170]
    K, V = K.reshape(2, 4, 6), 5 * V.reshape(2, 4, 5)
    mask = np.array([[True, True, False, True], [False] * 4, [True, False, True, True]])
    batched = [np.stack([a, a[::-1]]) for a in (Q, K, V)]
    one_more = [np.concatenate([a, a[:1]]) for a in (Q, K, V)]  # 5 heads for 3
    by_head = np.stack([mask, ~mask, mask[::-1], mask])

    def uneven(*heads: np.ndarray) -> Any:
        """What comes of heads that do not fit; not what, where they are accepted."""
        result = outcome(answer, *(part.copy() for part in heads))
        return result[:1] if result[0] == "returned" else untold(result)

    return [
        described(outcome(answer, Q.copy(), K.copy(), V.copy())),
        described(outcome(answer, Q.copy(), K.copy(), V.copy(), mask)),
        described(outcome(answer, *batched)),
        *(uneven(*heads) for heads in (one_more, (Q[:3], K, V), (Q[:1], K, V))),
        described(untold(outcome(answer, Q.copy(), K.copy(), V.copy(), by_head))),
        described(outcome(answer, *(a.astype(np.float32) for a in (Q, K, V)))),
        described(outcome(answer, Q.copy(), K[:1].copy(), V[:1].copy())),
    ]


def masked(result: Any) -> list:
    """An outcome whose numbers, where none is below 0, are what is not 0."""
    mask = result[1]
    if (
        getattr(mask, "dtype", np.dtype(bool)).kind not in "iuf"
        or not (mask >= 0).all()
    ):
        return described(untold(result))
    return ["numbers", (mask > 0).tolist(), *result[2:]]


def window_mask(answer: Any) -> list:
    """Tell masks apart by pattern and type, with few and with many sinks."""
    sizes = [(6, 3), (7, 2, 1), (7, 2, 3), (4, 9, 0), (5, 1, 8), (5, 5)]
    return [masked(outcome(answer, *size)) for size in sizes]


def sizes(result: Any) -> list:
    """The shapes of the arrays in an outcome."""
    values = result[1] if isinstance(result[1], tuple | list) else [result[1]]
    return [getattr(value, "shape", None) for value in values]


def KVCache(answer: Any) -> list:
    """Tell caches apart by what comes back and by their lengths, step by step."""

    def filled(window: int | None, dtype: Any, *batch: int) -> list:
        cache, found = answer() if window is None else answer(window), []
        for number in range(1, 6):
            k = np.full((*batch, 2, 1, 4), number, dtype)
            v = np.full((*batch, 2, 1, 2), -number, dtype)
            found.append([described(outcome(cache.append, k, v)), len(cache)])
        return found

    def apart() -> bool:
        first, token = answer(), np.ones((1, 1, 2))
        before = len(first)
        one = outcome(first.append, token.copy(), token.copy())
        second = answer()
        if len(second) != before:
            return False
        other = outcome(second.append, token.copy(), token.copy())
        return sizes(one) == sizes(other)

    if outcome(apart) == ("returned", False, False):
        return ["shared"]  # what else it does depends on what was there before

    def late(window: int | None) -> list:
        """What was returned for each of many tokens, looked at in the end."""
        return at_the_end(answer, [entry(number) for number in range(1, 20)], window)

    ways = [(None, float), (1, float), (2, float), (3, float, 2), (None, np.float32, 2)]
    lately = [untold(outcome(late, window)) for window in (None, 2)]
    return [*(outcome(filled, *way) for way in ways), *lately]


def decode_step(answer: Any) -> list:
    """Tell steps apart by their results, with and without a window."""

    def written(window: int | None) -> list:
        waves = np.cos(np.arange(200.0))
        cache, found = library(answer, "", "KVCache")(window), []
        n_kv = window or 1
        for t in range(5):
            new = waves[24 * t : 24 * t + 24]
            q, k, v = new[:8].reshape(2, 1, 4), new[8:], new[12:]
            k, v = (a[: 4 * n_kv].reshape(n_kv, 1, 4) for a in (k, v))
            found.append(
                described(outcome(answer, q.copy(), k.copy(), v.copy(), cache))
            )
            found.append(len(cache))
        return found

    def by_turns() -> list:
        """What the first of two caches gives, where the other one gets a token too."""
        caches, found = [library(answer, "", "KVCache")(None) for _ in range(2)], []
        for which in (0, 1, 0):
            q, k = np.ones((1, 1, 2)), np.array([[[1.0, 2.0]]])
            found.append(outcome(answer, q, k, np.ones((1, 1, 2)), caches[which]))
        return found

    def in_groups() -> list:
        """Whether four query heads can share two key-value heads."""
        cache = library(answer, "", "KVCache")(None)
        waves = np.cos(np.arange(32.0)).reshape(8, 1, 4)
        return untold(outcome(answer, waves[:4], waves[4:6], waves[6:], cache))

    ways = [*(outcome(written, window) for window in (None, 2)), outcome(by_turns)]
    return [*ways, outcome(in_groups)]
