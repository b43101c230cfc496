"""Messages for puzzles: why an allowed input does not show the mistake, by function."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(scores: Any) -> str:
    return "No exponential is too large for a float here, and not all of them are 0."


def scores(Q: Any, K: Any) -> str:
    if len(K) == K.shape[1]:
        return "There are as many keys as columns, so both roots are the same."
    return "Every dot product is 0 or nearly 0, so dividing by a root has no effect."


def masked_row(scores: Any, mask: Any) -> str:
    if mask.all():
        return "Nothing is hidden, so -100 is never used."
    return "-100 is far below the largest allowed score, so its weight is nearly 0."


def split_heads(X: Any, n_heads: int) -> str:
    if n_heads == 1:
        return "With one head there is nothing to split."
    if len(X) == 1:
        return "With one token, each head gets its columns either way."
    return "The places where the two results could differ hold equal numbers."


def repeat_kv(K: Any, groups: int) -> str:
    if groups == 1:
        return "With one group nothing is repeated."
    if len(K) == 1:
        return "With one key-value head there is only one order."
    return "All key-value heads are alike, so their order cannot be seen."


def entropy(weights: Any) -> str:
    if not ((weights > 0) & (weights <= 0.01)).any():
        return "No weight is above 0 and at most 0.01, so only zeros are left out."
    return "What is left out is so small that it adds nearly nothing."


def layer_norm(x: Any, gain: Any, shift: Any) -> str:
    if len(x) == 1:
        return "With one row, its mean and variance are those of the whole array."
    if not gain.any():
        return "The gain is 0, which leaves only the shift."
    if np.allclose(x.mean(1), x.mean()) and np.allclose(x.var(1), x.var()):
        return "All rows have the same mean and the same variance."
    return "Where the rows differ, the results hardly do: the gain is small there."


def top_p(probabilities: Any, p: float) -> str:
    if (np.diff(probabilities) < 0).all():
        return "The probabilities are already sorted, the most likely first."
    if np.sort(probabilities)[::-1].cumsum()[:-1].max(initial=0.0) < p:
        return "It takes every token to reach p, in any order."
    return "The first tokens are the most likely ones, though in another order."
