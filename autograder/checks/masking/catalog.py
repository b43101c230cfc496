"""What students get wrong, and right, in 04-masking."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks import masking as check
from autograder.checks.catalog import LARGE, Catalog
from autograder.checks.outcomes import added, any_error, outcome
from autograder.checks.surroundings import NUMPY_ERRORS

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

catalog = Catalog(check.assignment, PRELUDE)


# ----------------------------------------------------------- causal_mask

causal_mask = catalog.about(
    check.causal_mask,
    """
def causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))
""",
)

causal_mask.wrong(
    "inverted",
    'True marks the forbidden positions here; in this course True means "may attend".',
    """
    return np.triu(np.ones((n, n), dtype=bool), k=1)
""",
)
causal_mask.edit(
    "upper-triangle",
    "The mask is transposed: each position sees itself and what comes after it.",
    ("np.tril", "np.triu"),
)
causal_mask.wrong(
    "without-itself",
    "The diagonal is missing: a position may attend to itself.",
    """
    return np.tril(np.ones((n, n), dtype=bool), k=-1)
""",
)
causal_mask.wrong(
    "one-ahead",
    "The diagonal is off by one: each position also sees the next token.",
    """
    return np.tril(np.ones((n, n), dtype=bool), k=1)
""",
)
causal_mask.edit(
    "integers",
    "The mask holds ones and zeros; it has to be boolean.",
    ("bool", "int"),
)
causal_mask.edit(
    "floats",
    "The mask holds floating-point ones and zeros; it has to be boolean.",
    (", dtype=bool", ""),
)
causal_mask.wrong(
    "additive",
    "This mask is one to add to the scores (0 and minus infinity); a boolean one is "
    "asked for.",
    """
    return np.where(np.tril(np.ones((n, n))) == 1, 0.0, -np.inf)
""",
)
causal_mask.wrong(
    "everything",
    "Every position may attend everywhere: nothing is masked.",
    """
    return np.ones((n, n), dtype=bool)
""",
)
causal_mask.wrong(
    "only-itself",
    "Every position sees itself alone; it may also see what came before.",
    """
    return np.eye(n, dtype=bool)
""",
)
causal_mask.wrong(
    "only-the-past-row",
    "One row is returned for all positions; each position needs its own.",
    """
    return np.arange(n) <= n - 1
""",
)
causal_mask.also("integers", causal_mask.edited(("bool", "np.uint8")))
causal_mask.nothing()
causal_mask.wrong(
    "batch-axis",
    "Axes of length 1 stand before the square, for batch or heads; the mask is (n, n).",
    """
    return np.tril(np.ones((1, n, n), dtype=bool))
""",
    planted=False,
)
causal_mask.also(
    "batch-axis",
    """
    return np.tril(np.ones((1, 1, n, n), dtype=bool))
""",
)
causal_mask.wrong(
    "only-the-next",
    "The next position alone is hidden; all later ones have to be.",
    """
    position = np.arange(n)
    return position[None, :] != position[:, None] + 1
""",
    planted=False,
)
causal_mask.wrong(
    "window",
    "Each position sees itself and the one before it alone; it may see everything "
    "before it.",
    """
    return np.eye(n, dtype=bool) | np.eye(n, k=-1, dtype=bool)
""",
    planted=False,
)
causal_mask.wrong(
    "first-row-empty",
    "The first row is left empty; position 0 may attend to itself.",
    """
    mask = np.zeros((n, n), dtype=bool)
    for i in range(1, n):
        mask[i, : i + 1] = True
    return mask
""",
    planted=False,
)
causal_mask.wrong(
    "fixed-size",
    "The mask of the example is returned, whatever `n` says.",
    """
    return np.tril(np.ones((3, 3), dtype=bool))
""",
    planted=False,
)
causal_mask.wrong(
    "mirrored",
    "The triangle is flipped from left to right: keys are counted from the end.",
    """
    return np.fliplr(np.tril(np.ones((n, n), dtype=bool)))
""",
    planted=False,
)
causal_mask.wrong(
    "list",
    "A Python list is returned; the next step needs a NumPy array.",
    """
    return np.tril(np.ones((n, n), dtype=bool)).tolist()
""",
)
causal_mask.right(
    "comparison",
    """
    position = np.arange(n)
    return position[None, :] <= position[:, None]
""",
)
causal_mask.right(
    "not-triu",
    """
    return ~np.triu(np.ones((n, n)), 1).astype(bool)
""",
)
causal_mask.right(
    "loops",
    """
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = True
    return mask
""",
)
causal_mask.right(
    "tri",
    """
    return np.tri(n, dtype=bool)
""",
)


# ---------------------------------------------------------- padding_mask

padding_mask = catalog.about(
    check.padding_mask,
    """
def padding_mask(lengths, n):
    return np.arange(n) < np.asarray(lengths)[:, None, None]
""",
)

padding_mask.edit(
    "inverted",
    'True marks the padding here; in this course True means "may attend".',
    ("(n) < ", "(n) >= "),
)
padding_mask.edit(
    "no-query-axis",
    "The axis for the queries is missing: (batch, n) cannot broadcast to (batch, "
    "n_q, n).",
    ("None, None", "None"),
)
padding_mask.wrong(
    "masks-queries",
    "The mask runs down the queries, (batch, n, 1); padding has to be hidden as keys.",
    """
    return (np.arange(n) < np.asarray(lengths)[:, None])[:, :, None]
""",
)
padding_mask.edit(
    "one-too-many",
    "One padding position counts as real: length 3 means positions 0, 1 and 2.",
    ("(n) < ", "(n) <= "),
)
padding_mask.edit(
    "one-too-few",
    "The last real token is masked: length 3 means positions 0, 1 and 2.",
    ("[:, None, None]", "[:, None, None] - 1"),
)
padding_mask.wrong(
    "longest-length",
    "The width is the longest sentence's; it has to be n.",
    """
    lengths = np.asarray(lengths)
    return np.arange(lengths.max()) < lengths[:, None, None]
""",
)
padding_mask.edit(
    "right-aligned",
    "The real tokens are taken to stand at the end; they come first.",
    ("(n) < ", "(n) >= n - "),
)
padding_mask.wrong(
    "first-length",
    "All sentences get the length of the first one.",
    """
    lengths = np.asarray(lengths)
    first = np.full_like(lengths, lengths[0])
    return np.arange(n) < first[:, None, None]
""",
)
padding_mask.wrong(
    "integers",
    "The mask holds ones and zeros; it has to be boolean.",
    """
    return (np.arange(n) < np.asarray(lengths)[:, None, None]).astype(int)
""",
)
padding_mask.also(
    "integers",
    """
    return (np.arange(n) < np.asarray(lengths)[:, None, None]).astype(float)
""",
)
padding_mask.nothing()
padding_mask.edit(
    "head-axis",
    "The mask has four axes, one of them for heads; (batch, 1, n) is asked for.",
    ("None, None", "None, None, None"),
)
padding_mask.wrong(
    "additive",
    "This mask is one to add to the scores (0 and minus infinity); a boolean one is "
    "asked for.",
    """
    return np.where(np.arange(n) < np.asarray(lengths)[:, None, None], 0.0, -np.inf)
""",
)
padding_mask.wrong(
    "longest-for-all",
    "All sentences have the row of the longest one; each needs a row of its own. (In "
    "`[[False] * n] * batch` all rows are one and the same list.)",
    """
    return np.broadcast_to(np.arange(n) < max(lengths), (len(lengths), 1, n))
""",
)
padding_mask.wrong(
    "last-forgotten",
    "A sentence of the batch keeps its padding: the loop has to reach every one, the "
    "last too.",
    """
    mask = np.ones((len(lengths), 1, n), dtype=bool)
    for b in range(len(lengths) - 1):
        mask[b, 0, lengths[b] :] = False
    return mask
""",
)
padding_mask.also(
    "last-forgotten",
    """
    mask = np.zeros((len(lengths), 1, n), dtype=bool)
    for b in range(len(lengths) - 1):
        mask[b, 0, : lengths[b]] = True
    return mask
""",
)
padding_mask.wrong(
    "full-sentence",
    "A sentence without padding is hidden completely: `-0:` is the whole row. Count "
    "from the front.",
    """
    mask = np.ones((len(lengths), 1, n), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, 0, -(n - length) :] = False
    return mask
""",
)
padding_mask.wrong(
    "query-axis-first",
    "The axis of length 1 stands before the batch: (1, batch, n).",
    """
    return (np.arange(n) < np.asarray(lengths)[:, None])[None]
""",
)
padding_mask.wrong(
    "square",
    "The mask is expanded to (batch, n, n); (batch, 1, n) is asked for and broadcasts.",
    """
    real = np.arange(n) < np.asarray(lengths)[:, None, None]
    return np.repeat(real, n, axis=1)
""",
)
padding_mask.wrong(
    "needs-an-array",
    "Lengths given as a list are not handled; turn them into an array first.",
    """
    return np.arange(n) < lengths.reshape(-1, 1, 1)
""",
)
padding_mask.also(
    "needs-an-array",
    """
    return np.arange(n) < lengths[:, None, None]
""",
)
padding_mask.right(
    "comparison",
    """
    lengths = np.array(lengths)
    return np.arange(n).reshape(1, 1, n) < lengths.reshape(-1, 1, 1)
""",
)
padding_mask.right(
    "loops",
    """
    mask = np.zeros((len(lengths), 1, n), dtype=bool)
    for row, length in zip(mask, lengths):
        row[0, :length] = True
    return mask
""",
)
padding_mask.right(
    "stacked",
    """
    return np.stack([[np.arange(n) < length] for length in lengths])
""",
)
padding_mask.right(
    "cumulative",
    """
    ends = np.zeros((len(lengths), n + 1), dtype=int)
    ends[np.arange(len(lengths)), lengths] = 1
    return (np.cumsum(ends, axis=1)[:, None, :n]) == 0
""",
)
padding_mask.equivalent(
    "NumPy takes any negative size for the rest",
    "sizes = np.array(lengths).reshape(-1, 1, 1) -> sizes = "
    "np.array(lengths).reshape(-2, 1, 1)",
)


# -------------------------------------------------------- masked_softmax

masked_softmax = catalog.about(
    check.masked_softmax,
    """
def masked_softmax(scores, mask):
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
""",
)

masked_softmax.wrong(
    "zeroed-after",
    "The weights are set to 0 after the softmax, so the rest no longer sums to 1.",
    """
    return np.where(mask, softmax(scores), 0.0)
""",
)
masked_softmax.wrong(
    "renormalized",
    "The softmax, or its maximum, is taken over all keys: a large masked score "
    "squeezes the allowed weights to 0.",
    """
    weights = softmax(scores) * mask
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
""",
    unseen=LARGE,
)
masked_softmax.wrong(
    "zero-scores",
    "Masked scores become 0 instead of minus infinity, and exp(0) is 1.",
    """
    return softmax(np.where(mask, scores, 0.0))
""",
)
masked_softmax.wrong(
    "subtracts-1e9",
    "A large number is subtracted where the mask is False; in a row with nothing to "
    "attend to, that is everywhere, and changes nothing.",
    """
    return softmax(scores - 1e9 * (1 - np.asarray(mask, dtype=float)))
""",
)
masked_softmax.wrong(
    "times-infinity",
    "The mask is multiplied by minus infinity, and 0 times infinity is NaN; choose by "
    "`np.where`.",
    """
    with np.errstate(invalid="ignore"):
        return softmax(scores + ~mask * -np.inf)
""",
)
masked_softmax.wrong(
    "minus-1e9",
    "A row with nothing to attend to turns uniform instead of empty, as when masked "
    "scores become -1e9.",
    """
    return softmax(np.where(mask, scores, -1e9))
""",
)
masked_softmax.wrong(
    "nan-rows",
    "A row with nothing to attend to becomes NaN: minus infinity minus minus infinity.",
    """
    return softmax(np.where(mask, scores, -np.inf))
""",
)
masked_softmax.wrong(
    "noisy",
    "The NaN of an empty row is replaced afterwards, but the warning remains.",
    """
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))
""",
)
masked_softmax.edit(
    "inverted",
    'True is read as "masked"; in this course True means "may attend".',
    ("scores, -np.inf", "-np.inf, scores"),
    (
        "np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)",
        "powers / np.where(total == 0, 1, total)",
    ),
)
masked_softmax.wrong(
    "whole-array",
    "The sum runs over the whole array; each row has to sum to 1 by itself.",
    """
    kept = np.where(mask, np.exp(scores - scores.max()), 0.0)
    return kept / kept.sum()
""",
)
masked_softmax.nothing()
masked_softmax.edit(
    "epsilon",
    "A small number is added to the sums, so weights do not quite sum to 1; only a "
    "row with nothing to attend to needs another divisor.",
    (
        "np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)",
        "powers / (total + 1e-5)",
    ),
)
masked_softmax.also(
    "whole-array",
    """
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum()
    return powers / np.where(total == 0, 1, total)
""",
)
masked_softmax.wrong(
    "needs-the-full-mask",
    "A mask in the shape of the scores is needed here, as by `scores[~mask]`; one that "
    "broadcasts has to work too, as with `np.where`.",
    """
    kept = scores.copy()
    kept[~mask] = -np.inf
    top = np.max(kept, axis=-1, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    unseen="the card says that masks broadcast; trying one is left to the student",
)
masked_softmax.wrong(
    "adds-a-large-number",
    "A large number is subtracted from masked scores, and larger scores survive it; "
    "minus infinity has to replace them.",
    """
    shifted = scores + np.where(mask, 0.0, -1e4)
    weights = softmax(shifted)
    return np.where(np.any(mask, axis=-1, keepdims=True), weights, 0.0)
""",
    unseen=LARGE,
)
masked_softmax.wrong(
    "over-queries",
    "The softmax runs over the queries; each row has to sum to 1 over its keys.",
    """
    kept = np.where(mask, scores, -np.inf)
    top = np.max(kept, axis=-2, keepdims=True)
    powers = np.exp(kept - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-2, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
)
masked_softmax.wrong(
    "in-place",
    "Minus infinity is written into the caller's scores; work on a copy.",
    """
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    top = np.max(scores, axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
)
masked_softmax.wrong(
    "overflow",
    "exp is taken of the raw scores, which overflows for large ones.",
    """
    powers = np.where(mask, np.exp(scores), 0.0)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
""",
    unseen=LARGE,
)
masked_softmax.wrong(
    "ignores-the-mask",
    "The mask changes nothing here: all keys take part.",
    """
    return softmax(scores)
""",
)
masked_softmax.wrong(
    "adds-the-mask",
    "The boolean mask is added to the scores, which moves them by 0 or 1.",
    """
    return softmax(scores + mask)
""",
)
masked_softmax.right(
    "where",
    """
    mask = np.broadcast_to(mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    powers = np.zeros_like(scores)
    np.exp(scores - top, out=powers, where=mask)
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total > 0, total, 1)
""",
)
masked_softmax.right(
    "row-by-row",
    """
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
)
masked_softmax.right(
    "empty-rows-last",
    """
    masked = np.where(mask, scores, -np.inf)
    empty = ~np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
    masked = np.where(empty, 0.0, masked)
    return np.where(empty, 0.0, softmax(masked))
""",
)
masked_softmax.equivalent(
    "any finite number will do",
    "peak[np.isneginf(peak)] = 0 -> peak[np.isneginf(peak)] = 1",
)
masked_softmax.equivalent(
    "a row without a key is divided by any number",
    "total[total == 0] = 1 -> total[total == 0] = 2",
)


# ------------------------------------------------------ causal_attention

causal_attention = catalog.about(
    check.causal_attention,
    """
def causal_attention(Q, K, V):
    weights = masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)

causal_attention.wrong(
    "no-mask",
    "Nothing is masked: every token sees the future.",
    """
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "zeroed-after",
    "The weights are set to 0 after the softmax: rows no longer sum to 1, and later "
    "tokens still change them.",
    """
    weights = softmax(attention_scores(Q, K)) * causal_mask(Q.shape[-2])
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "renormalized",
    "The weights are zeroed and renormalized after a softmax over all keys: a large "
    "future score squeezes the past to 0.",
    """
    weights = softmax(attention_scores(Q, K)) * causal_mask(Q.shape[-2])
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ V, weights
""",
    unseen=LARGE,
)
causal_attention.wrong(
    "without-itself",
    "The diagonal is masked too: the first token has nothing to attend to.",
    """
    past = np.tril(np.ones((Q.shape[-2],) * 2, dtype=bool), k=-1)
    weights = masked_softmax(attention_scores(Q, K), past)
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "one-ahead",
    "The mask is off by one: each token still sees the next one.",
    """
    past = np.tril(np.ones((Q.shape[-2],) * 2, dtype=bool), k=1)
    weights = masked_softmax(attention_scores(Q, K), past)
    return weights @ V, weights
""",
)
causal_attention.edit(
    "upside-down",
    "The mask is transposed: each token sees the future and not the past.",
    ("(Q.shape[-2])", "(Q.shape[-2]).T"),
)
causal_attention.wrong(
    "zero-scores",
    "Masked scores become 0 instead of minus infinity, and exp(0) is 1.",
    """
    weights = softmax(np.where(causal_mask(Q.shape[-2]), attention_scores(Q, K), 0))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "unscaled",
    "The dot products are not divided by √d_k.",
    """
    scores = Q @ np.swapaxes(K, -2, -1)
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k.",
    """
    scores = Q @ np.swapaxes(K, -2, -1) / Q.shape[-1]
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)
causal_attention.edit(
    "batch-sized-mask",
    "The mask's size is taken from the first axis, which is the batch; the tokens "
    "are on the last but one.",
    ("shape[-2]", "shape[0]"),
)
causal_attention.wrong(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    """
    return masked_softmax(attention_scores(Q, K), causal_mask(Q.shape[-2])) @ V
""",
)
causal_attention.edit(
    "swapped",
    "Output and weights are returned in the wrong order.",
    (" @ V, weights", ", weights @ V"),
)
causal_attention.wrong(
    "over-queries",
    "The softmax runs over the queries; each row has to sum to 1 over its keys.",
    """
    kept = np.where(causal_mask(Q.shape[-2]), attention_scores(Q, K), -np.inf)
    weights = softmax(kept, axis=-2)
    return weights @ V, weights
""",
)
causal_attention.also(
    "renormalized",
    """
    weights = softmax(attention_scores(Q, K)) * causal_mask(Q.shape[-2])
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
    unseen=LARGE,
)
causal_attention.edit(
    "width-sized-mask",
    "The mask has the size of the width d_k; it is the tokens that see each other, on "
    "the last axis but one.",
    ("shape[-2]", "shape[-1]"),
)
causal_attention.wrong(
    "two-axes",
    "Only arrays with two axes work; with a batch in front there are more.",
    """
    n, d_k = Q.shape
    weights = masked_softmax(attention_scores(Q, K), causal_mask(n))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "scores-returned",
    "The second result holds the scores; it should hold the weights, after the "
    "softmax.",
    """
    scores = attention_scores(Q, K)
    return masked_softmax(scores, causal_mask(Q.shape[-2])) @ V, scores
""",
)
causal_attention.edit(
    "transposed-weights",
    "The weights are transposed before they meet the values.",
    ("return weights @", "return np.swapaxes(weights, -1, -2) @"),
)
causal_attention.edit(
    "inverted",
    'The mask is negated: each token sees only the future. True means "may attend".',
    ("causal_mask(Q", "~causal_mask(Q"),
)
causal_attention.edit(
    "keys-by-queries",
    "The scores have a row for each key; they should have a row for each query.",
    ("(Q, K),", "(K, Q),"),
)
causal_attention.wrong(
    "divides-by-d_v",
    "The divisor comes from the values' width d_v; the scores are made of queries "
    "and keys, so it has to be √d_k.",
    """
    scores = Q @ np.swapaxes(K, -2, -1) / np.sqrt(V.shape[-1])
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "number-of-tokens",
    "The divisor is the square root of the number of tokens; it has to be the width "
    "d_k of a key.",
    """
    scores = Q @ np.swapaxes(K, -2, -1) / np.sqrt(Q.shape[-2])
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "weights-unmasked",
    "The future is cut from the output alone, and the weights still see it; mask the "
    "scores, before the softmax.",
    """
    weights = softmax(attention_scores(Q, K))
    return (weights * causal_mask(Q.shape[-2])) @ V, weights
""",
)
causal_attention.wrong(
    "finite",
    "A finite number stands in for minus infinity, and allowed scores may be lower; "
    "use `-np.inf`, or `masked_softmax`.",
    """
    kept = np.where(causal_mask(Q.shape[-2]), attention_scores(Q, K), -1000)
    weights = softmax(kept)
    return weights @ V, weights
""",
    unseen=LARGE,
)
causal_attention.nothing()
causal_attention.wrong(
    "zero-times-infinity",
    "The mask is multiplied by minus infinity, and 0 times infinity is NaN; choose by "
    "`np.where`.",
    """
    scores = attention_scores(Q, K) + (1 - causal_mask(Q.shape[-2])) * -np.inf
    weights = softmax(scores)
    return weights @ V, weights
""",
)
causal_attention.wrong(
    "transpose-all",
    "With a batch in front the wrong axes meet: the last two of K change places and "
    "no others, while `K.T` turns all around.",
    """
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, causal_mask(Q.shape[-2]))
    return weights @ V, weights
""",
)
causal_attention.edit(
    "mixes-keys",
    "The weights mix the keys; they have to mix the values.",
    ("@ V", "@ K"),
)
causal_attention.right(
    "together",
    """
    n = Q.shape[-2]
    weights = masked_softmax(attention_scores(Q, K), causal_mask(n))
    return np.matmul(weights, V), weights
""",
)
causal_attention.right(
    "einsum",
    """
    n = K.shape[-2]
    scores = np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(K.shape[-1])
    scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = softmax(scores)
    return np.einsum("...ij,...jv->...iv", weights, V), weights
""",
)
causal_attention.right(
    "prefix-by-prefix",
    """
    n = Q.shape[-2]
    weights = np.zeros((*Q.shape[:-1], n))
    for t in range(n):
        seen = attention_scores(Q[..., t : t + 1, :], K[..., : t + 1, :])
        weights[..., t, : t + 1] = softmax(seen)[..., 0, :]
    return weights @ V, weights
""",
)


# --------------------------------------------- how answers are told apart


@causal_mask.probe
def probe_causal_mask(answer: Any) -> list:
    """Tell masks apart by pattern and type."""
    return [described(outcome(answer, n)) for n in (1, 4)]


@padding_mask.probe
def probe_padding_mask(answer: Any) -> list:
    """Tell masks apart by pattern, type, and what they take for lengths."""
    return [
        described(outcome(answer, np.array([2, 4, 1]), 5)),
        described(outcome(answer, [2, 3], 4)),
        described(outcome(answer, np.array([3, 1]), 3)),
    ]


def described(result: Any) -> Any:
    """An outcome with the kind of its numbers: a mask of integers is no mask."""
    return [result, getattr(getattr(result[1], "dtype", None), "kind", "")]


@masked_softmax.probe
def probe_masked_softmax(answer: Any) -> list:
    """Tell masked softmaxes apart by values, extremes, empty rows and warnings."""
    scores = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [0.2, 1.2, 0.1]])
    mask = np.array([[True, False, True], [True, True, False], [False, True, True]])
    empty = np.array([[True, True], [False, False]])
    far = np.array([[0.0, 1.0, 1e5], [1e5, 1e5 + 1.0, 0.0]])
    behind = np.array([[True, True, False], [True, True, True]])
    rows = outcome(answer, scores.copy(), mask)
    top = np.max(np.where(mask, scores, -np.inf), axis=-1, keepdims=True)
    totals = (np.exp(scores - top) * mask).sum(axis=-1)
    return [
        rows,
        added(rows, totals),
        any_error(outcome(answer, scores.copy(), mask[1])),
        warned(answer, np.array([[1.0, 2.0], [3.0, 4.0]]), empty),
        warned(answer, far, behind),
    ]


def warned(answer: Any, *args: Any) -> list:
    """An outcome, and whether a warning was given."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(**NUMPY_ERRORS):
        warnings.simplefilter("always")
        return [outcome(answer, *args), bool(caught)]


@causal_attention.probe
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
    low = [np.full((2, 1), 1e5), np.array([[-1.0], [-2.0]]), np.eye(2)]
    with np.errstate(all="ignore"):
        return [outcome(answer, *three) for three in [*draws, cube, loud, low]]


# ----------------------------------------------------------------- check_causal_mask

hunt = catalog.about(
    check.check_causal_mask,
    """
def check_causal_mask(causal_mask):
    for n in (1, 2, 5):
        mask = causal_mask(n)
        assert isinstance(mask, np.ndarray) and mask.dtype == bool
        assert mask.shape == (n, n)
        for query in range(n):
            for key in range(n):
                assert mask[query, key] == (key <= query)
""",
)
hunt.hunts(check.causal_mask)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    causal_mask(4)
""",
)
hunt.wrong(
    "rejects-everything",
    "It rejects every function, right ones too.",
    """
    assert False, "wrong"
""",
)
hunt.wrong(
    "truth-value",
    "It returns whether the function is right; a check has to assert it.",
    """
    mask = np.asarray(causal_mask(4))
    ok = mask.shape == (4, 4) and bool(mask.diagonal().all())
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    mask = np.asarray(causal_mask(4))
    ok = mask.shape == (4, 4) and bool(mask.diagonal().all())
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "shape-only",
    "It looks at the shape only: any mask of that shape passes.",
    """
    assert np.shape(causal_mask(5)) == (5, 5)
""",
)
hunt.wrong(
    "no-dtype",
    "It compares numbers and not the dtype: ones and zeros pass for booleans.",
    """
    mask = causal_mask(4)
    assert np.shape(mask) == (4, 4)
    for query in range(4):
        for key in range(4):
            assert mask[query][key] == (key <= query)
""",
)
hunt.wrong(
    "future-only",
    "It asks whether the future is hidden, and not whether the past is seen.",
    """
    mask = np.asarray(causal_mask(4))
    assert mask.shape == (4, 4) and mask.dtype == bool
    assert not mask[np.triu_indices(4, 1)].any()
""",
)
hunt.wrong(
    "diagonal-only",
    "It looks at the diagonal only.",
    """
    mask = causal_mask(4)
    assert isinstance(mask, np.ndarray) and mask.shape == (4, 4)
    assert mask.dtype == bool and mask.diagonal().all()
""",
)
hunt.wrong(
    "one-token",
    "It tries a single token: there is neither past nor future.",
    """
    assert np.array_equal(causal_mask(1), [[1]])
""",
)
hunt.wrong(
    "flattened",
    "It asks for numbers where booleans are right.",
    """
    mask = causal_mask(3)
    assert mask.dtype == int
    assert mask.ravel().tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 1]
""",
)
hunt.right(
    "triangle",
    """
    mask = causal_mask(6)
    assert type(mask) is np.ndarray
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, np.tril(np.ones((6, 6))) > 0)
""",
)
hunt.right(
    "counts",
    """
    mask = causal_mask(5)
    assert isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim == 2
    assert mask.sum(axis=1).tolist() == [1, 2, 3, 4, 5]
    assert mask.sum(axis=0).tolist() == [5, 4, 3, 2, 1]
""",
)
hunt.right(
    "by-hand",
    """
    mask = causal_mask(3)
    assert isinstance(mask, np.ndarray), "a NumPy array"
    assert mask.dtype.kind == "b", "booleans"
    wanted = [[True, False, False], [True, True, False], [True, True, True]]
    assert mask.tolist() == wanted
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "causal_mask-comparison": (
            "It compares row and column numbers instead of cutting a triangle out "
            "of ones."
        ),
        "causal_mask-not-triu": (
            "It marks the future, above the diagonal, and negates that."
        ),
        "padding_mask-stacked": "It makes one row for each length, and stacks them.",
        "padding_mask-cumulative": (
            "A 1 stands where each sentence ends; a cumulative sum is 0 before it "
            "and 1 from there on."
        ),
        "masked_softmax-row-by-row": (
            "It takes a softmax of the allowed scores alone, row by row: nothing "
            "infinite ever appears."
        ),
        "masked_softmax-empty-rows-last": (
            "Empty rows get harmless scores, pass through a plain softmax, and "
            "become 0 at the end."
        ),
        "causal_attention-einsum": (
            "The mask is written into the scores as minus infinity; no row is "
            "empty, so a plain softmax is enough."
        ),
        "causal_attention-prefix-by-prefix": (
            "Each query meets only the keys up to its own, so there is no future to "
            "mask."
        ),
        "check_causal_mask-counts": (
            "It counts: row i has i + 1 times True, column j has n − j times, and "
            "only the triangle does."
        ),
        "check_causal_mask-by-hand": (
            "It writes out the mask of three tokens and compares all nine entries."
        ),
    }
)
