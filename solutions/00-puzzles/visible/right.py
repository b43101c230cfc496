"""Oracles of 00-puzzles: slow and simple right functions to compare answers with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def softmax_row(scores: Any) -> np.ndarray:
    """Each weight is one over a sum of powers, of differences alone."""
    found = []
    for one in scores:
        powers = [math.exp(min(float(other - one), 700.0)) for other in scores]
        found.append(1 / math.fsum(powers))
    return np.array(found)


def scores(Q: Any, K: Any) -> np.ndarray:
    """One dot product after the other."""
    root = math.sqrt(len(Q[0]))
    return np.array([[math.fsum(q * k) / root for k in K] for q in Q])


def weighted_average(weights: Any, V: Any) -> np.ndarray:
    """Column by column."""
    return np.array([math.fsum(weights * column) for column in V.T])


def attention_row(q: Any, K: Any, V: Any) -> np.ndarray:
    """One query, through the three steps."""
    return weighted_average(softmax_row(scores([q], K)[0]), V)


def entropy(weights: Any) -> float:
    """Σ w log 1/w over the weights that are not 0."""
    return math.fsum(w * math.log(1 / w) for w in weights if w > 0)


def temperature(scores: Any, t: float) -> np.ndarray:
    """Scores are divided, one by one."""
    return softmax_row([float(score) / t for score in scores])


def causal_mask(n: int) -> np.ndarray:
    """Row after row of as many True as tokens were read."""
    return np.array([[True] * (i + 1) + [False] * (n - 1 - i) for i in range(n)])


def padding_mask(lengths: Any, n: int) -> np.ndarray:
    """Row after row of as many True as the text has tokens."""
    return np.array([[True] * int(k) + [False] * (n - int(k)) for k in lengths])


def masked_row(scores: Any, mask: Any) -> np.ndarray:
    """The softmax of what is allowed, put where it belongs."""
    found = np.zeros(len(scores))
    places = [place for place, allowed in enumerate(mask) if allowed]
    for place, weight in zip(
        places, softmax_row([scores[p] for p in places]), strict=True
    ):
        found[place] = weight
    return found


def prefix_mask(n: int, prefix: int) -> np.ndarray:
    """A causal mask whose first columns are filled."""
    mask = causal_mask(n)
    for column in range(prefix):
        for row in range(n):
            mask[row, column] = True
    return mask


def document_mask(documents: Any) -> np.ndarray:
    """Pair by pair."""
    mask = causal_mask(len(documents))
    for i, own in enumerate(documents):
        for j, other in enumerate(documents):
            if own != other:
                mask[i, j] = False
    return mask


def split_heads(X: Any, n_heads: int) -> np.ndarray:
    """Each head gets a block of columns."""
    d = len(X[0]) // n_heads
    blocks = [[row[h * d : (h + 1) * d] for row in X] for h in range(n_heads)]
    return np.array(blocks)


def merge_heads(heads: Any) -> np.ndarray:
    """Token by token, what the heads say of it in a row."""
    tokens = range(len(heads[0]))
    return np.array([[x for head in heads for x in head[token]] for token in tokens])


def repeat_kv(K: Any, groups: int) -> np.ndarray:
    """A list of heads, each as often as it is shared."""
    return np.array([head for head in K for _ in range(groups)])


def sinusoid(n: int, d: int) -> np.ndarray:
    """Entry by entry."""
    found = np.zeros((n, d))
    for position in range(n):
        for column in range(d):
            angle = position / 10_000 ** (2 * (column // 2) / d)
            wave = math.cos if column % 2 else math.sin
            found[position, column] = wave(angle)
    return found


def rotate_pair(pair: Any, position: float, theta: float) -> np.ndarray:
    """A turn is a product of complex numbers."""
    turned = complex(*pair) * complex(
        math.cos(position * theta), math.sin(position * theta)
    )
    return np.array([turned.real, turned.imag])


def distance_bias(n: int, slope: float) -> np.ndarray:
    """Entry by entry."""
    return np.array([[-slope * float(abs(i - j)) for j in range(n)] for i in range(n)])


def layer_norm(x: Any, gain: Any, shift: Any) -> np.ndarray:
    """Row by row, number by number."""
    found = []
    for row in x:
        mean = math.fsum(row) / len(row)
        variance = math.fsum((v - mean) ** 2 for v in row) / len(row)
        root = math.sqrt(variance + 1e-5)
        parts = zip(row, gain, shift, strict=True)
        found.append([(v - mean) / root * g + s for v, g, s in parts])
    return np.array(found)


def rms_norm(x: Any, gain: Any) -> np.ndarray:
    """Row by row, number by number."""
    found = []
    for row in x:
        root = math.sqrt(math.fsum(v * v for v in row) / len(row) + 1e-5)
        found.append([v / root * g for v, g in zip(row, gain, strict=True)])
    return np.array(found)


def gated_unit(x: Any, W_gate: Any, W_up: Any, W_down: Any) -> np.ndarray:
    """Token by token, hidden unit by hidden unit."""
    found = []
    for row in x:
        hidden = []
        for gate, up in zip(W_gate.T, W_up.T, strict=True):
            z = math.fsum(row * gate)
            hidden.append(z / (1 + math.exp(-z)) * math.fsum(row * up))
        found.append([math.fsum(hidden * column) for column in W_down.T])
    return np.array(found)


def next_token_loss(logits: Any, tokens: Any) -> float:
    """The mean surprise at each token but the first."""
    losses = []
    for row, following in zip(logits[:-1], tokens[1:], strict=True):
        others = [float(one - row[following]) for one in row]
        top = max(others)
        losses.append(top + math.log(math.fsum(math.exp(o - top) for o in others)))
    return math.fsum(losses) / len(losses)


def top_p(probabilities: Any, p: float) -> np.ndarray:
    """The most likely tokens, one after the other, until they are enough."""
    kept: dict[int, float] = {}
    left = dict(enumerate(map(float, probabilities)))
    while left and (not kept or math.fsum(kept.values()) < p - 1e-12):
        token = max(left, key=lambda one: left[one])
        kept[token] = left.pop(token)
    total = math.fsum(kept.values())
    return np.array([kept.get(t, 0.0) / total for t in range(len(probabilities))])


def append_cache(K: Any, V: Any, k: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lists grow by one."""
    return np.array([*K, k]), np.array([*V, v])


def merge_softmax(out_a: Any, log_a: float, out_b: Any, log_b: float) -> np.ndarray:
    """Each half counts by the share of its sum of powers."""
    share_a, share_b = softmax_row([log_a, log_b])
    parts = zip(out_a, out_b, strict=True)
    return np.array([a * share_a + b * share_b for a, b in parts])
