"""Checks of 00-puzzles: all of them visible, on inputs that are drawn each time."""

from __future__ import annotations

import numpy as np

from autograder.checks.assignment import Assignment
from autograder.checks.puzzle import Agrees, Draw, Exposes, Inputs

from . import allowed, right, shown, why

assignment = Assignment(__name__)
__getattr__ = assignment.hidden_half
Rng = np.random.Generator


def write(name: str, read: str, example: Inputs, draw: Draw, result: str = "") -> None:
    """A puzzle to write: a function that agrees with the one of its name."""
    question = globals()[name] = assignment.question(name, 1, read)
    Agrees(question, getattr(right, name), example, draw, result or "the result")


def expose(kind: str, about: str, read: str, functions: str, names: str) -> None:
    """A puzzle to break or to spot: functions that are shown, one of them wrong."""
    name = f"{kind}_{about}"
    question = globals()[name] = assignment.question(name, 1, read)
    oracle = "softmax_row" if about == "softmax" else about
    letters = "ABC" if kind == "spot" else "A"
    made = [getattr(shown, one) for one in functions.split()]
    Exposes(
        question,
        getattr(right, oracle),
        dict(zip(letters, made, strict=True)),
        getattr(allowed, about),
        tuple(names.split()),
        getattr(why, about) if kind == "break" else None,
    )


def size(rng: Rng, low: int = 2, high: int = 6) -> int:
    """A number of tokens, or a width."""
    return int(rng.integers(low, high + 1))


def normal(rng: Rng, *shape: int) -> np.ndarray:
    """Standard normal numbers."""
    return rng.normal(size=shape)


def row_of_scores(rng: Rng, case: int) -> np.ndarray:
    """Scores: small ones, large ones, far below 0, one far above the others.

    That one is the second or the first: what is subtracted may be any other.
    """
    row = normal(rng, size(rng, 3, 7)) * 2 + (0.0, 900.0, -3000.0, 0.0)[case % 4]
    row[int(case < 4)] += 3000.0 * (case % 4 == 3)
    return row


def warmth(rng: Rng, case: int) -> float:
    """A temperature below 1 or above it, by turns."""
    return float(rng.uniform(1.5, 4) if case % 3 else rng.uniform(0.3, 0.7))


def padded(rng: Rng, case: int) -> Inputs:
    """An empty text, one as long as all may be, and others."""
    n = size(rng, 5, 8)
    return {"lengths": np.array([*rng.integers(1, n, size=2), 0, n]), "n": n}


def prefixed(rng: Rng, case: int) -> Inputs:
    """A prefix of several lengths: none, some, all."""
    n = size(rng, 5, 8)
    return {"n": n, "prefix": (2, 0, 3, n)[case % 4]}


def weights_of(rng: Rng, case: int) -> Inputs:
    """A row of weights, one of them 0, and one so small that it is easily lost."""
    small = 10.0 ** -(case % 4 + 2)
    rest = rng.dirichlet(np.ones(size(rng, 2, 4))) * (1 - small)
    return {"weights": rng.permutation([0.0, small, *rest])}


def matrices(rng: Rng, case: int) -> Inputs:
    """Queries and keys of one width, as many as there are not entries."""
    d = size(rng, 3, 10)
    return {"Q": normal(rng, size(rng, 2, 4), d), "K": normal(rng, d + 1, d)}


def one_query(rng: Rng, case: int) -> Inputs:
    """A query, keys of its width, and values of another one."""
    n, d = size(rng, 3, 5), size(rng, 2, 4)
    return {"q": normal(rng, d) * 2, "K": normal(rng, n, d), "V": normal(rng, n, d + 1)}


def masked(rng: Rng, case: int) -> Inputs:
    """Scores, and which may be used: some, but not the largest; or none; or all."""
    scores = row_of_scores(rng, case)
    mask = rng.random(len(scores)) < 0.6
    mask[:2] = True, False
    scores[1] += (40.0, 3000.0)[case % 2]  # no part of a shift that is right
    if case == 5:  # the first one is not the largest that may be used
        scores[2], mask[2] = scores[2] + 3000.0, True
    if case % 4 == 3:
        mask[:] = case == 7
    return {"scores": scores, "mask": mask}


def packed(rng: Rng, case: int) -> Inputs:
    """Numbers of documents; the first one comes back at the end."""
    lengths = rng.integers(1, 4, size=3)
    return {"documents": np.repeat([4, 7, 4], lengths)}


def halves(rng: Rng, case: int) -> Inputs:
    """Two parts of an output; their sums may be beyond any float, or far apart."""
    d, far = size(rng, 2, 4), 1000.0 * (case % 2)
    a, b = (float(x) + far for x in normal(rng, 2) * 2)
    b += 3000.0 * (case % 4 == 2)
    return {"out_a": normal(rng, d), "log_a": a, "out_b": normal(rng, d), "log_b": b}


def turned(rng: Rng, case: int) -> Inputs:
    """A pair in each of the four quadrants by turns, and its angle."""
    pair = abs(normal(rng, 2)) * QUADRANTS[case % 4]
    theta = float(rng.uniform(0.01, 1))
    return {"pair": pair, "position": size(rng, 2, 40), "theta": theta}


def gated(rng: Rng, case: int) -> Inputs:
    """Tokens and three matrices."""
    n, d, wide = size(rng, 2, 4), size(rng, 2, 3), size(rng, 4, 5)
    sides = {"W_gate": normal(rng, d, wide), "W_up": normal(rng, d, wide)}
    return {"x": normal(rng, n, d)} | sides | {"W_down": normal(rng, wide, d)}


def guesses(rng: Rng, case: int) -> Inputs:
    """Logits of a small vocabulary, and the tokens of the text; some words surprise."""
    n, words = size(rng, 3, 6), size(rng, 3, 6)
    logits = normal(rng, n, words) * 2 + 900.0 * (case % 2)
    tokens = rng.integers(words, size=n)
    logits[0] += 3000.0 * (case % 4 == 2)
    if case % 4 == 3:  # a wrong word is far above, the first or the second
        tokens[1] = 1 + (case < 4)
        logits[0, tokens[1] - 1] += 3000.0
    return {"logits": logits, "tokens": tokens}


def caches(rng: Rng, case: int) -> Inputs:
    """What a cache holds, and one more token."""
    n, d = size(rng, 1, 4), size(rng, 2, 4)
    before = {"K": normal(rng, n, d), "V": normal(rng, n, d + 1)}
    return before | {"k": normal(rng, d), "v": normal(rng, d + 1)}


QUADRANTS = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
ROW = np.array([1.0, 2.0, 3.0])
TABLE = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
HALF = np.array([0.5, 0.5, 0.0])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
VALUES = np.array([[10.0, 0.0], [0.0, 10.0], [20.0, 20.0]])

write(
    "softmax_row",
    "01-queries-keys-values#softmax",
    {"scores": ROW},
    lambda rng, case: {"scores": row_of_scores(rng, case)},
)
write(
    "scores",
    "02-scaling#the-right-divisor",
    {"Q": np.array([[2.0, 0.0, 0.0, 0.0]]), "K": TABLE},
    matrices,
)
write(
    "weighted_average",
    "01-queries-keys-values#weighted-average",
    {"weights": np.array([0.5, 0.25, 0.25]), "V": VALUES},
    lambda rng, case: {
        "weights": rng.dirichlet(np.ones(4)),
        "V": normal(rng, 4, size(rng, 2, 5)),
    },
)
write(
    "attention_row",
    "01-queries-keys-values#the-whole-formula",
    {"q": np.array([1.0, 0.0]), "K": KEYS, "V": VALUES},
    one_query,
)
write(
    "entropy",
    "02-scaling#entropy",
    {"weights": HALF},
    weights_of,
)
write(
    "temperature",
    "02-scaling#temperature",
    {"scores": ROW, "t": 0.5},
    lambda rng, case: {"scores": row_of_scores(rng, case), "t": warmth(rng, case)},
)
write(
    "causal_mask",
    "04-masking#the-causal-mask",
    {"n": 4},
    lambda rng, case: {"n": size(rng, 1, 9)},
)
write(
    "padding_mask",
    "04-masking#the-padding-mask",
    {"lengths": np.array([3, 1]), "n": 4},
    padded,
)
write(
    "masked_row",
    "04-masking#minus-infinity",
    {"scores": ROW, "mask": np.array([True, True, False])},
    masked,
)
write(
    "prefix_mask",
    "04-masking#who-may-look-at-whom",
    {"n": 4, "prefix": 2},
    prefixed,
)
write(
    "document_mask",
    "04-masking#the-padding-mask",
    {"documents": np.array([1, 1, 2, 2])},
    packed,
)
write(
    "split_heads",
    "03-multi-head#split-and-merge",
    {"X": TABLE, "n_heads": 2},
    lambda rng, case: {
        "X": normal(rng, size(rng, 2, 5), 12),
        "n_heads": size(rng, 2, 4),
    },
)
write(
    "merge_heads",
    "03-multi-head#split-and-merge",
    {"heads": TABLE.reshape(2, 2, 2)},
    lambda rng, case: {"heads": normal(rng, size(rng), size(rng), size(rng))},
)
write(
    "repeat_kv",
    "10-generating#sharing-keys-and-values",
    {"K": TABLE.reshape(2, 2, 2), "groups": 2},
    lambda rng, case: {"K": normal(rng, size(rng), 2, 3), "groups": size(rng, 1, 4)},
)
write(
    "sinusoid",
    "05-positional-encoding#sinusoids",
    {"n": 3, "d": 4},
    lambda rng, case: {"n": size(rng, 3, 9), "d": 2 * size(rng, 2, 5)},
)
write(
    "rotate_pair",
    "10-generating#turning-by-the-position",
    {"pair": np.array([1.0, 0.0]), "position": 2, "theta": 0.5},
    turned,
)
write(
    "distance_bias",
    "10-generating#longer-than-trained",
    {"n": 3, "slope": 0.5},
    lambda rng, case: {"n": size(rng, 2, 7), "slope": float(rng.uniform(0.1, 2))},
)
write(
    "layer_norm",
    "06-encoder-layer#normalizing",
    {
        "x": np.array([[1.0, 3.0], [10.0, 30.0]]),
        "gain": np.ones(2),
        "shift": np.zeros(2),
    },
    lambda rng, case: {
        "x": normal(rng, size(rng), 5) * 3 + 2,
        "gain": normal(rng, 5),
        "shift": normal(rng, 5),
    },
)
write(
    "rms_norm",
    "11-a-real-llm#three-parts-that-are-new",
    {"x": np.array([[3.0, 4.0]]), "gain": np.ones(2)},
    lambda rng, case: {"x": normal(rng, size(rng), 5) * 3 + 2, "gain": normal(rng, 5)},
)
write(
    "gated_unit",
    "11-a-real-llm#three-parts-that-are-new",
    {
        "x": np.array([[1.0, 2.0]]),
        "W_gate": np.eye(2),
        "W_up": np.array([[1.0, 0.0], [1.0, 1.0]]),
        "W_down": np.eye(2),
    },
    gated,
)
write(
    "next_token_loss",
    "09-language-model#what-a-guess-costs",
    {
        "logits": np.array([[0.0, 0.0], [0.0, 2.0], [5.0, 0.0]]),
        "tokens": np.arange(3) % 2,
    },
    guesses,
)
write(
    "top_p",
    "09-language-model#drawing-the-next-token",
    {"probabilities": np.array([0.1, 0.6, 0.3]), "p": 0.7},
    lambda rng, case: {
        "probabilities": rng.dirichlet(np.ones(size(rng, 3, 7))),
        "p": float(rng.uniform(0.3, 0.95)),
    },
)
write(
    "append_cache",
    "10-generating#the-cache",
    {"K": KEYS, "V": VALUES, "k": np.array([2.0, 2.0]), "v": np.array([5.0, 5.0])},
    caches,
    "K, V",
)
write(
    "merge_softmax",
    "08-cost#weights-that-are-never-stored",
    {
        "out_a": np.array([1.0, 0.0]),
        "log_a": 0.0,
        "out_b": np.array([0.0, 1.0]),
        "log_b": 0.0,
    },
    halves,
)

BREAK: list[tuple[str, str, str]] = [
    ("softmax", "01-queries-keys-values#softmax", "scores"),
    ("scores", "02-scaling#the-right-divisor", "Q K"),
    ("masked_row", "04-masking#minus-infinity", "scores mask"),
    ("split_heads", "03-multi-head#why-reshape-alone-is-wrong", "X n_heads"),
    ("repeat_kv", "10-generating#sharing-keys-and-values", "K groups"),
    ("entropy", "02-scaling#entropy", "weights"),
    ("layer_norm", "06-encoder-layer#normalizing", "x gain shift"),
    ("top_p", "09-language-model#drawing-the-next-token", "probabilities p"),
]
SPOT: list[tuple[str, str, str]] = [
    ("softmax", "01-queries-keys-values#softmax", "scores"),
    ("document_mask", "04-masking#the-padding-mask", "documents"),
    ("next_token_loss", "09-language-model#what-a-guess-costs", "logits tokens"),
    ("rotate_pair", "10-generating#turning-by-the-position", "pair position theta"),
]
for _about, _read, _names in BREAK:
    expose("break", _about, _read, f"wrong_{_about}", _names)
for _about, _read, _names in SPOT:
    expose("spot", _about, _read, " ".join(f"{_about}_{c}" for c in "abc"), _names)
