"""Messages for puzzles: why an allowed input does not show the mistake, by function."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(scores: Any) -> str:
    return "no exponential is too large for a float here, and not all of them are 0"


def scores(Q: Any, K: Any) -> str:
    if len(K) == K.shape[1]:
        return "there are as many keys as they are wide: both roots are the same"
    return "every dot product is 0, or nearly: no root changes it"


def masked_row(scores: Any, mask: Any) -> str:
    if mask.all():
        return "nothing is hidden, so the -100 is used nowhere"
    return "-100 is far below the largest allowed score: exp makes it nearly nothing"


def split_heads(X: Any, n_heads: int) -> str:
    if n_heads == 1:
        return "with one head there is nothing to split"
    if len(X) == 1:
        return "with one token, each head gets its columns either way"
    return "numbers that are alike stand where the two results differ"


def repeat_kv(K: Any, groups: int) -> str:
    if groups == 1:
        return "with one group nothing is repeated"
    if len(K) == 1:
        return "with one head of keys there is only one order"
    return "all heads of keys are alike, so their order cannot be seen"


def entropy(weights: Any) -> str:
    if not ((weights > 0) & (weights <= 0.01)).any():
        return "no weight is above 0 and at most 0.01, so only zeros are left out"
    return "what is left out is so small that it adds nearly nothing"


def layer_norm(x: Any, gain: Any, shift: Any) -> str:
    if len(x) == 1:
        return "there is one row: mean and variance of the whole array are its own"
    if not gain.any():
        return "the gain is 0, which leaves the shift alone"
    if np.allclose(x.mean(1), x.mean()) and np.allclose(x.var(1), x.var()):
        return "all rows have the same mean and the same variance"
    return "where the rows differ, the results hardly do: the gain is small there"


def top_p(probabilities: Any, p: float) -> str:
    if (np.diff(probabilities) < 0).all():
        return "the probabilities fall from the first to the last, as in a sorted list"
    if np.sort(probabilities)[::-1].cumsum()[:-1].max(initial=0.0) < p:
        return "p needs every token, in any order"
    return "the first tokens are the most likely ones, if not in that order"
