"""Probes of 08-cost: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.memory import peak
from autograder.checks.outcomes import outcome

from .cases import Block, empty, of_one


def heard(run: Callable[[], Any]) -> list:
    """What a call does, whether it warns, and the dtypes of what it returns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run()
    if result[0] == "raised":
        return [result[:2], bool(caught)]
    values = result[1] if isinstance(result[1], tuple | list) else [result[1]]
    dtypes = [str(getattr(value, "dtype", "")) for value in values]
    return [result, bool(caught), dtypes]


def waves(*shape: int) -> np.ndarray:
    """Unequal, harmless numbers."""
    return 2 * np.cos(np.arange(float(np.prod(shape)))).reshape(shape)


def attend_block(answer: Any) -> list:
    """Tell blocks apart by values, batches, large scores and types."""
    Q, K, V = waves(2, 3, 4), waves(2, 5, 4) + 1, waves(2, 5, 3)
    late = K.copy()
    late[:, -1] = 3 * Q[:, 0]  # the largest score of a query is that of the last key
    large = np.array([[1e5, 0, 0, 0], [-1e5, 0, 0, 0]])
    integers = [np.array(rows) for rows in ([[1, 2]], [[3, 1], [0, 2]], [[1], [4]])]
    below = -np.arange(1.0, 6.0)[:, None] * np.ones(4)  # every score is negative
    return [
        heard(lambda: outcome(answer, Q[0].copy(), K[0].copy(), V[0].copy())),
        heard(lambda: outcome(answer, Q.copy(), late, V.copy())),
        heard(lambda: outcome(answer, *(waves(4, 4, 4) + i for i in range(3)))),
        heard(lambda: outcome(answer, large, K[0].copy(), V[0].copy())),
        heard(lambda: outcome(answer, *integers)),
        heard(lambda: outcome(answer, Q[0, :1], K[0, :1].copy(), V[0, :1].copy())),
        heard(lambda: outcome(answer, np.ones((3, 4)), below, V[0].copy())),
    ]


def fixed(shift: float = 0.0) -> tuple[Block, Block]:
    """Two blocks of three queries."""
    m, n = np.array([0.0, 2.0, -1.0]), np.array([1.0, 2.0, -3.0]) + shift
    a = m, np.array([1.5, 2.0, 1.0]), waves(3, 2)
    return a, (n, np.array([3.0, 1.2, 2.5]), waves(3, 2) + 1)


def merge(answer: Any) -> list:
    """Tell merges apart by values, order, distances, empty blocks and changes."""
    (a, b), (_, far), (_, low) = fixed(), fixed(1e4), fixed(-1e4)
    nothing = empty(3, d_v=2)
    batch = [tuple(np.stack([part, part + 1]) for part in one) for one in (a, b)]
    ones = b[0], np.ones(3), b[2]
    pairs = [(a, b), (b, a), (a, ones), (a, far), (a, low), (a, nothing), (nothing, b)]
    partly, same = (
        tuple(np.concatenate([x[:1], y[1:]]) for x, y in zip(e, nothing, strict=True))
        for e in (a, b)
    )
    pairs += [(partly, b), (b, partly), (partly, same)]  # type: ignore[list-item]
    pairs += [(nothing, nothing), (of_one(0, 1, 1), empty(1)), tuple(batch)]
    found = []
    for one, two in pairs:
        one, two = (tuple(part.copy() for part in each) for each in (one, two))
        before = [part.copy() for part in (*one, *two)]
        said = heard(lambda one=one, two=two: outcome(answer, one, two))
        changed = any(
            not np.array_equal(x, y) for x, y in zip(before, (*one, *two), strict=True)
        )
        found.append([said, changed])
    return found


def tiled_attention(answer: Any) -> list:
    """Tell tilings apart by values for several blocks, warnings, types and memory."""
    Q, K, V = waves(2, 3, 5), waves(2, 7, 5) + 1, waves(2, 7, 3)
    found: list = [
        heard(lambda s=s: outcome(answer, Q[0].copy(), K[0].copy(), V[0].copy(), s))
        for s in (1, 2, 3, 7, 9)
    ]
    found.append(heard(lambda: outcome(answer, Q.copy(), K.copy(), V.copy(), 1)))
    wide = K[0] * 2 - 1  # values as wide as the keys
    found.append(heard(lambda: outcome(answer, Q[0].copy(), K[0].copy(), wide, 3)))
    slope = np.linspace(-1e5, 1e5, 7)[:, None]
    for keys in (slope, slope[::-1].copy(), slope - 3e5):
        one = np.ones((1, 1))
        said = heard(lambda k=keys, q=one: outcome(answer, q, k, V[0].copy(), 2))
        found.append(said)
    whole = [np.round(3 * each[0]).astype(int) for each in (Q, K, V)]
    found.append(heard(lambda: outcome(answer, *whole, 2)))
    sizes = [np.ones((n, 1)) for n in (64, 4096, 4096)]
    try:  # `answer` itself, which is measured where it runs
        _, most = peak(answer, *sizes, 16)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        most = 0
    return [*found, most > 0.4 * 64 * 4096 * 8]


def attention_bytes(answer: Any) -> list:
    """Tell counts apart by values and their types."""
    inputs = [(1024, 64), (1000, 64, 128), (10, 3, 10), (7, 5, 2, 4), (9, 2, None, 8)]
    inputs += [(10, 3, 30), (6, 6, 1), (3_000_017, 5, 7), (3_000_017, 5)]
    results = [outcome(answer, *each) for each in inputs]
    return [[result[:2], type(result[1]).__name__] for result in results]
