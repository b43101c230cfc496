"""What students get wrong, and right, in 04-masking."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks.catalog import Catalog, Misconception, Style, outcome
from autograder.checks.expect import LOUD

CHAPTER = "04-masking"

PRELUDE = """
import numpy as np


def causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def attention_scores(Q, K):
    return Q @ np.swapaxes(K, -2, -1) / Q.shape[-1] ** 0.5
"""

SIGNATURES = {
    "causal_mask": ("n", "the-causal-mask"),
    "padding_mask": ("lengths, n", "the-padding-mask"),
    "masked_softmax": ("scores, mask", "empty-rows"),
    "causal_attention": ("Q, K, V", "causal-attention"),
}


def wrong(question: str, name: str, diagnosis: str, body: str) -> Misconception:
    """An entry from the body of its function."""
    arguments, section = SIGNATURES[question]
    code = f"def {question}({arguments}):\n{body}"
    read = f"{CHAPTER}#{section}"
    return Misconception(f"{question}-{name}", question, diagnosis, read, code)


def right(question: str, name: str, body: str) -> Style:
    """A correct style from the body of its function."""
    arguments, _ = SIGNATURES[question]
    code = f"def {question}({arguments}):\n{body}"
    return Style(f"{question}-{name}", question, code)


CAUSAL_MASK = [
    wrong(
        "causal_mask",
        "inverted",
        "True marks the forbidden positions here; in this course True means "
        '"may attend".',
        """\
    return np.triu(np.ones((n, n), dtype=bool), k=1)
""",
    ),
    wrong(
        "causal_mask",
        "upper-triangle",
        "The mask is transposed: each position sees itself and what comes after it.",
        """\
    return np.triu(np.ones((n, n), dtype=bool))
""",
    ),
    wrong(
        "causal_mask",
        "without-itself",
        "The diagonal is missing: a position may attend to itself.",
        """\
    return np.tril(np.ones((n, n), dtype=bool), k=-1)
""",
    ),
    wrong(
        "causal_mask",
        "one-ahead",
        "The diagonal is off by one: each position also sees the next token.",
        """\
    return np.tril(np.ones((n, n), dtype=bool), k=1)
""",
    ),
    wrong(
        "causal_mask",
        "integers",
        "The mask holds ones and zeros; it has to be boolean.",
        """\
    return np.tril(np.ones((n, n), dtype=int))
""",
    ),
    wrong(
        "causal_mask",
        "floats",
        "The mask holds floating-point ones and zeros; it has to be boolean.",
        """\
    return np.tril(np.ones((n, n)))
""",
    ),
    wrong(
        "causal_mask",
        "additive",
        "This mask is one to add to the scores (0 and minus infinity); a "
        "boolean one is asked for.",
        """\
    return np.where(np.tril(np.ones((n, n))) == 1, 0.0, -np.inf)
""",
    ),
    wrong(
        "causal_mask",
        "everything",
        "Every position may attend everywhere: nothing is masked.",
        """\
    return np.ones((n, n), dtype=bool)
""",
    ),
    wrong(
        "causal_mask",
        "only-itself",
        "Every position sees itself alone; it may also see what came before.",
        """\
    return np.eye(n, dtype=bool)
""",
    ),
    wrong(
        "causal_mask",
        "only-the-past-row",
        "One row is returned for all positions; each position needs its own.",
        """\
    return np.arange(n) <= n - 1
""",
    ),
    wrong(
        "causal_mask",
        "list",
        "A Python list is returned; the next step needs a NumPy array.",
        """\
    return np.tril(np.ones((n, n), dtype=bool)).tolist()
""",
    ),
]

PADDING_MASK = [
    wrong(
        "padding_mask",
        "inverted",
        'True marks the padding here; in this course True means "may attend".',
        """\
    return np.arange(n) >= np.asarray(lengths)[:, None, None]
""",
    ),
    wrong(
        "padding_mask",
        "no-query-axis",
        "The axis for the queries is missing: (batch, n) cannot broadcast to "
        "(batch, n_q, n).",
        """\
    return np.arange(n) < np.asarray(lengths)[:, None]
""",
    ),
    wrong(
        "padding_mask",
        "masks-queries",
        "The mask runs down the queries, (batch, n, 1); padding has to be "
        "hidden as keys.",
        """\
    return (np.arange(n) < np.asarray(lengths)[:, None])[:, :, None]
""",
    ),
    wrong(
        "padding_mask",
        "one-too-many",
        "One padding position counts as real: length 3 means positions 0, 1 and 2.",
        """\
    return np.arange(n) <= np.asarray(lengths)[:, None, None]
""",
    ),
    wrong(
        "padding_mask",
        "one-too-few",
        "The last real token is masked: length 3 means positions 0, 1 and 2.",
        """\
    return np.arange(n) < np.asarray(lengths)[:, None, None] - 1
""",
    ),
    wrong(
        "padding_mask",
        "longest-length",
        "The width is the longest sentence's; it has to be n.",
        """\
    lengths = np.asarray(lengths)
    return np.arange(lengths.max()) < lengths[:, None, None]
""",
    ),
    wrong(
        "padding_mask",
        "right-aligned",
        "The real tokens are taken to stand at the end; they come first.",
        """\
    return np.arange(n) >= n - np.asarray(lengths)[:, None, None]
""",
    ),
    wrong(
        "padding_mask",
        "first-length",
        "All sentences get the length of the first one.",
        """\
    lengths = np.asarray(lengths)
    first = np.full_like(lengths, lengths[0])
    return np.arange(n) < first[:, None, None]
""",
    ),
    wrong(
        "padding_mask",
        "integers",
        "The mask holds ones and zeros; it has to be boolean.",
        """\
    return (np.arange(n) < np.asarray(lengths)[:, None, None]).astype(int)
""",
    ),
    wrong(
        "padding_mask",
        "query-axis-first",
        "The axis of length 1 stands before the batch: (1, batch, n).",
        """\
    return (np.arange(n) < np.asarray(lengths)[:, None])[None]
""",
    ),
    wrong(
        "padding_mask",
        "square",
        "The mask is expanded to (batch, n, n); (batch, 1, n) is asked for "
        "and broadcasts.",
        """\
    real = np.arange(n) < np.asarray(lengths)[:, None, None]
    return np.repeat(real, n, axis=1)
""",
    ),
    wrong(
        "padding_mask",
        "needs-an-array",
        "Lengths given as a list are not handled; turn them into an array first.",
        """\
    return np.arange(n) < lengths.reshape(-1, 1, 1)
""",
    ),
]

MASKED_SOFTMAX = [
    wrong(
        "masked_softmax",
        "zeroed-after",
        "The weights are set to 0 after the softmax, so the rest no longer sums to 1.",
        """\
    return np.where(mask, softmax(scores), 0.0)
""",
    ),
    wrong(
        "masked_softmax",
        "renormalized",
        "The softmax runs over all keys and is renormalized: a large masked "
        "score squeezes the allowed weights to 0.",
        """\
    weights = softmax(scores) * mask
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
""",
    ),
    wrong(
        "masked_softmax",
        "zero-scores",
        "Masked scores become 0 instead of minus infinity, and exp(0) is 1.",
        """\
    return softmax(np.where(mask, scores, 0.0))
""",
    ),
    wrong(
        "masked_softmax",
        "minus-1e9",
        "Masked scores become -1e9: a row with nothing to attend to turns "
        "uniform instead of empty.",
        """\
    return softmax(np.where(mask, scores, -1e9))
""",
    ),
    wrong(
        "masked_softmax",
        "nan-rows",
        "A row with nothing to attend to becomes NaN: minus infinity minus "
        "minus infinity.",
        """\
    return softmax(np.where(mask, scores, -np.inf))
""",
    ),
    wrong(
        "masked_softmax",
        "noisy",
        "The NaN of an empty row is replaced afterwards, but the warning remains.",
        """\
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))
""",
    ),
    wrong(
        "masked_softmax",
        "inverted",
        'True is read as "masked"; in this course True means "may attend".',
        """\
    kept = np.where(mask, -np.inf, scores)
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    ),
    wrong(
        "masked_softmax",
        "whole-array",
        "The sum runs over the whole array; each row has to sum to 1 by itself.",
        """\
    kept = np.where(mask, np.exp(scores - scores.max()), 0.0)
    return kept / kept.sum()
""",
    ),
    wrong(
        "masked_softmax",
        "over-queries",
        "The softmax runs over the queries; each row has to sum to 1 over its keys.",
        """\
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-2, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-2, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    ),
    wrong(
        "masked_softmax",
        "in-place",
        "Minus infinity is written into the caller's scores; work on a copy.",
        """\
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    top = np.max(scores, axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    ),
    wrong(
        "masked_softmax",
        "overflow",
        "exp is taken of the raw scores, which overflows for large ones.",
        """\
    powers = np.where(mask, np.exp(scores), 0.0)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    ),
    wrong(
        "masked_softmax",
        "ignores-the-mask",
        "The mask is never used.",
        """\
    return softmax(scores)
""",
    ),
    wrong(
        "masked_softmax",
        "adds-the-mask",
        "The boolean mask is added to the scores, which moves them by 0 or 1.",
        """\
    return softmax(scores + mask)
""",
    ),
]

CAUSAL_ATTENTION = [
    wrong(
        "causal_attention",
        "no-mask",
        "Nothing is masked: every token sees the future.",
        """\
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "zeroed-after",
        "The weights are set to 0 after the softmax: rows no longer sum to 1,"
        " and later tokens still change them.",
        """\
    weights = softmax(attention_scores(Q, K)) * causal_mask(Q.shape[-2])
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "renormalized",
        "The weights are zeroed and renormalized after a softmax over all "
        "keys: a large future score squeezes the past to 0.",
        """\
    weights = softmax(attention_scores(Q, K)) * causal_mask(Q.shape[-2])
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "without-itself",
        "The diagonal is masked too: the first token has nothing to attend to.",
        """\
    past = np.tril(np.ones((Q.shape[-2],) * 2, dtype=bool), k=-1)
    weights = masked_softmax(attention_scores(Q, K), past)
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "one-ahead",
        "The mask is off by one: each token still sees the next one.",
        """\
    past = np.tril(np.ones((Q.shape[-2],) * 2, dtype=bool), k=1)
    weights = masked_softmax(attention_scores(Q, K), past)
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "upside-down",
        "The mask is transposed: each token sees the future and not the past.",
        """\
    weights = masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2]).T)
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "zero-scores",
        "Masked scores become 0 instead of minus infinity, and exp(0) is 1.",
        """\
    weights = softmax(np.where(causal_mask(Q.shape[-2]), attention_scores(Q, K), 0))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "unscaled",
        "The dot products are not divided by √d_k.",
        """\
    scores = Q @ np.swapaxes(K, -2, -1)
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "divides-by-d_k",
        "The dot products are divided by d_k instead of √d_k.",
        """\
    scores = Q @ np.swapaxes(K, -2, -1) / Q.shape[-1]
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "batch-sized-mask",
        "The mask's size is taken from the first axis, which is the batch; "
        "the tokens are on the last but one.",
        """\
    weights = masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[0]))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "output-only",
        "Only the output is returned; the weights are asked for too.",
        """\
    return masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2])) @ V
""",
    ),
    wrong(
        "causal_attention",
        "swapped",
        "Output and weights are returned in the wrong order.",
        """\
    weights = masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2]))
    return weights, weights @ V
""",
    ),
    wrong(
        "causal_attention",
        "over-queries",
        "The softmax runs over the queries; each row has to sum to 1 over its keys.",
        """\
    kept = np.where(causal_mask(Q.shape[-2]), attention_scores(Q, K), -np.inf)
    weights = softmax(kept, axis=-2)
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "transpose-all",
        "`K.T` reverses all axes; with a batch only the last two may be swapped.",
        """\
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
    ),
    wrong(
        "causal_attention",
        "mixes-keys",
        "The weights mix the keys; they have to mix the values.",
        """\
    weights = masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2]))
    return weights @ K, weights
""",
    ),
]

STYLES = [
    right(
        "causal_mask",
        "comparison",
        """\
    position = np.arange(n)
    return position[None, :] <= position[:, None]
""",
    ),
    right(
        "causal_mask",
        "not-triu",
        """\
    return ~np.triu(np.ones((n, n)), 1).astype(bool)
""",
    ),
    right(
        "causal_mask",
        "loops",
        """\
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask
""",
    ),
    right(
        "causal_mask",
        "tri",
        """\
    return np.tri(n, dtype=bool)
""",
    ),
    right(
        "padding_mask",
        "comparison",
        """\
    lengths = np.array(lengths)
    return np.arange(n).reshape(1, 1, n) < lengths.reshape(-1, 1, 1)
""",
    ),
    right(
        "padding_mask",
        "loops",
        """\
    mask = np.zeros((len(lengths), 1, n), dtype=bool)
    for row, length in zip(mask, lengths):
        row[0, :length] = True
    return mask
""",
    ),
    right(
        "padding_mask",
        "stacked",
        """\
    return np.stack([[np.arange(n) < length] for length in lengths])
""",
    ),
    right(
        "padding_mask",
        "cumulative",
        """\
    ends = np.zeros((len(lengths), n + 1), dtype=int)
    ends[np.arange(len(lengths)), lengths] = 1
    return (np.cumsum(ends, axis=1)[:, None, :n]) == 0
""",
    ),
    right(
        "masked_softmax",
        "where",
        """\
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.zeros_like(scores)
    np.exp(scores - top, out=powers, where=mask)
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)
""",
    ),
    right(
        "masked_softmax",
        "row-by-row",
        """\
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        chosen = mask[index]
        if chosen.any():
            row = scores[index][chosen]
            powers = np.exp(row - row.max())
            weights[index][chosen] = powers / powers.sum()
    return weights
""",
    ),
    right(
        "masked_softmax",
        "empty-rows-last",
        """\
    masked = np.where(mask, scores, -np.inf)
    empty = ~np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
    masked = np.where(empty, 0.0, masked)
    return np.where(empty, 0.0, softmax(masked))
""",
    ),
    right(
        "causal_attention",
        "together",
        """\
    n = Q.shape[-2]
    weights = masked_softmax(attention_scores(Q, K), causal_mask(n))
    return np.matmul(weights, V), weights
""",
    ),
    right(
        "causal_attention",
        "einsum",
        """\
    n = K.shape[-2]
    scores = np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(K.shape[-1])
    scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    return np.einsum("...ij,...jv->...iv", weights, V), weights
""",
    ),
    right(
        "causal_attention",
        "prefix-by-prefix",
        """\
    n = Q.shape[-2]
    weights = np.zeros((*Q.shape[:-1], n))
    for t in range(n):
        seen = attention_scores(Q[..., t : t + 1, :], K[..., : t + 1, :])
        weights[..., t, : t + 1] = softmax(seen)[..., 0, :]
    return weights @ V, weights
""",
    ),
]

catalog = Catalog(
    PRELUDE,
    [*CAUSAL_MASK, *PADDING_MASK, *MASKED_SOFTMAX, *CAUSAL_ATTENTION],
    STYLES,
)


@catalog.probe("causal_mask")
def probe_causal_mask(answer: Any) -> list:
    """Tell masks apart by pattern and type."""
    return [described(outcome(answer, n)) for n in (1, 4)]


@catalog.probe("padding_mask")
def probe_padding_mask(answer: Any) -> list:
    """Tell masks apart by pattern, type, and what they take for lengths."""
    return [
        described(outcome(answer, np.array([2, 4, 1]), 5)),
        described(outcome(answer, [2, 3], 4)),
    ]


def described(result: Any) -> Any:
    """An outcome with the kind of its numbers: a mask of integers is no mask."""
    return [result, getattr(getattr(result[1], "dtype", None), "kind", "")]


@catalog.probe("masked_softmax")
def probe_masked_softmax(answer: Any) -> list:
    """Tell masked softmaxes apart by values, extremes, empty rows and warnings."""
    scores = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [0.2, 1.2, 0.1]])
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    empty = np.array([[True, True], [False, False]])
    far = np.array([[0.0, 1.0, 1e5], [1e5, 1e5 + 1.0, 0.0]])
    behind = np.array([[True, True, False], [True, True, True]])
    return [
        outcome(answer, scores.copy(), mask),
        warned(answer, np.array([[1.0, 2.0], [3.0, 4.0]]), empty),
        warned(answer, far, behind),
    ]


def warned(answer: Any, *args: Any) -> list:
    """An outcome, and whether a warning was given."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(**LOUD):
        warnings.simplefilter("always")
        return [outcome(answer, *args), bool(caught)]


@catalog.probe("causal_attention")
def probe_causal_attention(answer: Any) -> list:
    """Tell attentions apart by values, batches and a loud future."""
    rng = np.random.default_rng(7)
    loud = [rng.standard_normal((4, 3)) for _ in range(3)]
    loud[1][-1] *= 1e4
    loud[0] = np.abs(loud[0])
    loud[1][-1] = np.abs(loud[1][-1])
    shapes = [((5, 9), (5, 9), (5, 4)), ((2, 4, 3), (2, 4, 3), (2, 4, 5))]
    draws = [[rng.standard_normal(shape) for shape in three] for three in shapes]
    cube = [rng.standard_normal((3, 3, 3)) for _ in range(3)]
    with np.errstate(all="ignore"):
        return [outcome(answer, *three) for three in [*draws, cube, loud]]
