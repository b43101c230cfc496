"""What students get wrong, and right, in 01-attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import attention as check
from autograder.checks.catalog import BATCHES, LARGE, Catalog
from autograder.checks.outcomes import added, any_error, outcome

PRELUDE = """
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention_scores(Q, K):
    return np.matmul(Q, np.swapaxes(K, -2, -1)) / Q.shape[-1] ** 0.5
"""

catalog = Catalog(check.assignment, PRELUDE)


# --------------------------------------------------------------- softmax

softmax = catalog.about(
    check.softmax,
    """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
)

softmax.edit(
    "overflow",
    "exp is taken of the raw scores, which overflows for large ones; subtract the "
    "largest score first.",
    ("x - x.max(axis=axis, keepdims=True)", "x"),
    unseen=LARGE,
)
softmax.edit(
    "global-max",
    "One maximum is subtracted from the whole array; a row far below it becomes 0 / "
    "0. Subtract each row's own maximum.",
    ("max(axis=axis, keepdims=True)", "max()"),
    unseen=LARGE,
)
softmax.edit(
    "subtracts-min",
    "What is subtracted is not the largest score of a row, so exp can still overflow.",
    ("- x.max", "- x.min"),
    unseen=LARGE,
)
softmax.wrong(
    "whole-array",
    "The sum runs over the whole array; each row has to sum to 1 by itself.",
    """
    e = np.exp(x - x.max())
    return e / e.sum()
""",
)
softmax.wrong(
    "ignores-axis",
    "The last axis is used whatever `axis` says.",
    """
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
)
softmax.wrong(
    "first-axis",
    "The sum runs over the first axis whatever `axis` says: columns sum to 1.",
    """
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)
""",
)
softmax.edit(
    "no-keepdims",
    "`keepdims=True` is missing: maximum and sum lose their axis and no longer line up "
    "with their rows.",
    ("(axis=axis, keepdims=True)\n", "(axis=axis)\n"),
)
softmax.wrong(
    "no-exp",
    "The scores are divided by their sum without exp, so weights can be negative.",
    """
    return x / x.sum(axis=axis, keepdims=True)
""",
)
softmax.wrong(
    "sigmoid",
    "This is the sigmoid: every score is squashed by itself, and rows do not sum to 1.",
    """
    return 1 / (1 + np.exp(-x))
""",
)
softmax.wrong(
    "divides-by-max",
    "The exponentials are divided by the largest of them instead of by their sum.",
    """
    return np.exp(x - x.max(axis=axis, keepdims=True))
""",
)
softmax.wrong(
    "in-place",
    "The maximum is subtracted in place (`-=`), which changes the caller's array.",
    """
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
""",
)
softmax.wrong(
    "logarithm",
    "This is the logarithm of the softmax: the weights themselves are asked for.",
    """
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
""",
)
softmax.also(
    "whole-array",
    """
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum()
""",
)
softmax.edit(
    "epsilon",
    "A small number is added to the sums, so weights do not quite sum to 1; a sum of "
    "exponentials, the largest of them 1, cannot be 0.",
    ("e.sum(axis=axis, keepdims=True)", "(e.sum(axis=axis, keepdims=True) + 1e-6)"),
    unseen="visible checks leave that much room for rounding",
    planted=False,
)
softmax.wrong(
    "clipped",
    "The scores are clipped against overflow, so all beyond the limit count as equal; "
    "subtract the largest score instead.",
    """
    e = np.exp(np.clip(x, -500, 500))
    return e / e.sum(axis=axis, keepdims=True)
""",
    unseen=LARGE,
    planted=False,
)
softmax.wrong(
    "two-axes",
    "Only arrays with two axes work; reductions with `axis` and `keepdims=True` take "
    "any number of them.",
    """
    rows = x.T if axis == 0 else x
    weights = np.zeros(rows.shape)
    for i in range(rows.shape[0]):
        e = np.exp(rows[i] - max(rows[i]))
        weights[i] = e / e.sum()
    return weights.T if axis == 0 else weights
""",
    planted=False,
)
softmax.also(
    "two-axes",
    """
    n_rows, n_columns = x.shape
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
)
softmax.nothing()
softmax.edit(
    "finite-infinity",
    "Minus infinity becomes a finite number, and other scores may be lower; exp of "
    "minus infinity is 0 without help.",
    ("e = np", "x = np.nan_to_num(x, neginf=-1e4)\n    e = np"),
    unseen="the card names minus infinity; trying it is left to the student",
    planted=False,
)
softmax.edit(
    "integers",
    "The array for the weights takes its dtype from the scores: of whole numbers it "
    "cuts all weights to 0 or 1.",
    ("return e", "weights = np.zeros_like(x)\n    weights[...] = e"),
    ("True)\n", "True)\n    return weights\n"),
    unseen="the card names integers; trying them is left to the student",
    planted=False,
)
softmax.wrong(
    "base-two",
    "The powers have base 2; the softmax takes those of e, by `np.exp`.",
    """
    e = 2.0 ** (x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
    planted=False,
)
softmax.wrong(
    "rounded",
    "The weights are rounded; the next step needs all their digits.",
    """
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.round(e / e.sum(axis=axis, keepdims=True), 4)
""",
    planted=False,
)
for digits in (2, 3):
    softmax.also(
        "rounded",
        f"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.round(e / e.sum(axis=axis, keepdims=True), {digits})
""",
    )
softmax.wrong(
    "second-axis",
    "Axis 1 is used whatever `axis` says; a vector has none.",
    """
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
""",
    planted=False,
)
softmax.wrong(
    "axis-moved",
    "`axis` is moved to the end and never moved back.",
    """
    x = np.moveaxis(x, axis, -1)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    planted=False,
)
softmax.wrong(
    "list",
    "A Python list is returned; the next step needs a NumPy array.",
    """
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()
""",
)
softmax.right(
    "reduce",
    """
    top = np.amax(x, axis=axis, keepdims=True)
    powers = np.exp(np.subtract(x, top))
    return np.divide(powers, np.add.reduce(powers, axis=axis, keepdims=True))
""",
)
softmax.right(
    "log-space",
    """
    log_total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - log_total)
""",
)
softmax.right(
    "moved-axis",
    """
    rows = np.moveaxis(np.array(x), axis, 0)
    rows = np.exp(rows - rows.max(0))
    return np.moveaxis(rows / rows.sum(0), 0, axis)
""",
)
softmax.right(
    "per-row",
    """
    def one(row):
        powers = np.exp(row - max(row))
        return powers / sum(powers)

    return np.apply_along_axis(one, axis, x)
""",
)


# ------------------------------------------------------ attention_scores

scores = catalog.about(
    check.attention_scores,
    """
def attention_scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
""",
)

scores.wrong(
    "unscaled",
    "The dot products are not divided by √d_k.",
    """
    return Q @ np.swapaxes(K, -1, -2)
""",
)
scores.wrong(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k, at once or in two steps.",
    """
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
""",
)
scores.edit(
    "multiplies",
    "The dot products are multiplied by √d_k instead of divided by it.",
    ("/ np.sqrt", "* np.sqrt"),
)
scores.edit(
    "number-of-keys",
    "The divisor is the square root of the number of keys; it has to be the width "
    "d_k of a key.",
    ("Q.shape[-1]", "K.shape[-2]"),
)
scores.edit(
    "first-axis-size",
    "The divisor is the square root of a first axis (`shape[0]`, `len`), the number of "
    "tokens or the batch size; d_k is the last axis.",
    ("shape[-1]", "shape[0]"),
)
scores.wrong(
    "transpose-all",
    "With a batch in front the wrong axes meet: the last two of K change places and "
    "no others, while `K.T` turns all around.",
    """
    return Q @ K.T / np.sqrt(Q.shape[-1])
""",
)
scores.edit(
    "swaps-first-axes",
    "The first two axes of K are swapped; with a batch it has to be the last two.",
    ("K, -1, -2", "K, 0, 1"),
)
scores.wrong(
    "dot-of-batches",
    "`np.dot` pairs every batch with every other one; `@` keeps them apart.",
    """
    return np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
""",
)
scores.wrong(
    "no-transpose",
    "K is not transposed: its rows, the keys, have to become columns.",
    """
    return Q @ K / np.sqrt(Q.shape[-1])
""",
)
scores.wrong(
    "keys-by-queries",
    "The result has a row for each key; it should have a row for each query.",
    """
    return K @ np.swapaxes(Q, -1, -2) / np.sqrt(Q.shape[-1])
""",
)
scores.wrong(
    "cosine",
    "These are cosines: queries and keys keep their lengths in dot-product attention.",
    """
    q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    k = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return q @ np.swapaxes(k, -1, -2)
""",
)
scores.also(
    "first-axis-size",
    """
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(len(K))
""",
)
scores.nothing()
scores.edit(
    "fixed-width",
    "The divisor is the number 2, which is √d_k for the example's width 4; other "
    "widths have other roots.",
    ("np.sqrt(Q.shape[-1])", "2"),
    unseen="the visible checks look at numbers for the example's width alone",
)
scores.wrong(
    "two-axes",
    "Only arrays with two axes work; with a batch in front there are more.",
    """
    n_q, d_k = Q.shape
    n_k, d_k = K.shape
    return Q @ K.T / np.sqrt(d_k)
""",
)
scores.also(
    "two-axes",
    """
    return Q @ K.transpose(1, 0) / np.sqrt(Q.shape[-1])
""",
)
scores.also(
    "two-axes",
    """
    rows = [[np.dot(q, k) / np.sqrt(len(q)) for k in K] for q in Q]
    return np.array(rows, dtype=float).reshape(len(Q), len(K))
""",
)
scores.edit(
    "floored",
    "`//` rounds the scores down; `/` divides.",
    (" / ", " // "),
)
scores.edit(
    "precedence",
    "`**` binds before `/`: `d_k ** 1 / 2` is half of d_k; the root is `d_k ** 0.5`.",
    ("np.sqrt(Q.shape[-1])", "(Q.shape[-1] ** 1 / 2)"),
    unseen="half of the example's width 4 is its root",
)
scores.edit(
    "reshaped-keys",
    "K is reshaped, which keeps the numbers in their order; rows become columns by "
    "`swapaxes`.",
    ("np.swapaxes(K, -1, -2)", "K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])"),
)
scores.also(
    "reshaped-keys",
    """
    d_k = Q.shape[-1]
    return Q @ K.reshape(d_k, -1) / np.sqrt(d_k)
""",
)
scores.wrong(
    "in-place",
    "The divisor is applied in place (`/=`), which changes the caller's array.",
    """
    Q /= np.sqrt(Q.shape[-1])
    return Q @ np.swapaxes(K, -1, -2)
""",
)
scores.also(
    "in-place",
    """
    K /= np.sqrt(Q.shape[-1])
    return Q @ np.swapaxes(K, -1, -2)
""",
)
scores.wrong(
    "already-weights",
    "The softmax is already applied: these are weights, and the scores are asked for.",
    """
    return softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
""",
)
scores.right(
    "einsum",
    """
    return np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(Q.shape[-1])
""",
)
scores.right(
    "scaled-first",
    """
    d_k = K.shape[-1]
    return np.matmul(Q * d_k**-0.5, K.swapaxes(-1, -2))
""",
)
scores.right(
    "broadcast",
    """
    products = Q[..., :, None, :] * K[..., None, :, :]
    return products.sum(axis=-1) / np.sqrt(Q.shape[-1])
""",
)


# ------------------------------------------ scaled_dot_product_attention

attention = catalog.about(
    check.scaled_dot_product_attention,
    """
def scaled_dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights
""",
)

attention.edit(
    "unscaled",
    "The dot products are not divided by √d_k before the softmax.",
    ("attention_scores(Q, K)", "Q @ np.swapaxes(K, -1, -2)"),
)
attention.edit(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k; `attention_scores` divides "
    "already.",
    ("attention_scores(Q, K)", "Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]"),
)
attention.wrong(
    "divides-by-d_v",
    "The divisor comes from the values' width d_v; the scores are made of queries "
    "and keys, so it has to be √d_k.",
    """
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1]))
    return weights @ V, weights
""",
)
attention.edit(
    "over-queries",
    "The softmax runs over the queries; every query's weights have to sum to 1 over "
    "the keys.",
    ("(Q, K)", "(Q, K), axis=-2"),
)
attention.wrong(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    """
    return softmax(attention_scores(Q, K)) @ V
""",
)
attention.edit(
    "swapped",
    "Output and weights are returned in the wrong order.",
    (" @ V, weights", ", weights @ V"),
)
attention.wrong(
    "scores-returned",
    "The second result holds the scores; it should hold the weights, after the "
    "softmax.",
    """
    scores = attention_scores(Q, K)
    return softmax(scores) @ V, scores
""",
)
attention.edit(
    "mixes-keys",
    "The weights mix the keys; they have to mix the values.",
    ("@ V", "@ K"),
)
attention.edit(
    "transposed-weights",
    "The weights are transposed before they meet the values.",
    ("weights @", "np.swapaxes(weights, -1, -2) @"),
)
attention.wrong(
    "no-softmax",
    "The softmax is missing: the raw scores mix the values.",
    """
    scores = attention_scores(Q, K)
    return scores @ V, scores
""",
)
attention.edit(
    "softmax-twice",
    "The softmax is applied twice, which flattens the weights.",
    ("attention_scores(Q, K)", "softmax(attention_scores(Q, K))"),
)
attention.wrong(
    "scales-weights",
    "The weights are divided by √d_k after the softmax; the scores have to be "
    "divided before it.",
    """
    weights = softmax(Q @ np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    return weights @ V, weights
""",
)
attention.wrong(
    "hard",
    "Each query takes its best key alone; attention is a soft lookup and mixes all "
    "values.",
    """
    scores = attention_scores(Q, K)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(scores.dtype)
    return weights @ V, weights
""",
)
attention.edit(
    "adds-the-query",
    "The query is added to the output; that residual belongs to the encoder layer, "
    "not to attention.",
    ("@ V", "@ V + Q"),
)
attention.wrong(
    "overflow",
    "exp is taken of the raw scores, which overflows for large ones.",
    """
    e = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
    unseen=LARGE,
)
attention.edit(
    "transpose-all",
    "With a batch in front the wrong axes meet: the last two of K change places and "
    "no others, while `K.T` turns all around.",
    ("attention_scores(Q, K)", "Q @ K.T / np.sqrt(Q.shape[-1])"),
)
attention.nothing()
attention.wrong(
    "mixes-with-scores",
    "The scores mix the values; it has to be the weights, after the softmax.",
    """
    scores = attention_scores(Q, K)
    return scores @ V, softmax(scores)
""",
)
attention.edit(
    "keys-by-queries",
    "The scores have a row for each key; they should have a row for each query.",
    ("(Q, K))", "(K, Q))"),
)
attention.edit(
    "values-first",
    "The values stand before the weights in the product; it is the rows of weights "
    "that mix the values.",
    ("weights @ V", "V @ weights"),
)
attention.edit(
    "two-axes",
    "Only arrays with two axes work; with a batch in front there are more.",
    ("weights = ", "n_q, d_k = Q.shape\n    weights = "),
)
attention.edit(
    "second-axis",
    "The softmax runs over axis 1, which holds the keys only where no batch stands in "
    "front; they are on the last axis, -1.",
    ("(Q, K)", "(Q, K), axis=1"),
    unseen=BATCHES,
)
attention.edit(
    "output-like-queries",
    "The output is made in the shape of Q; its width is that of the values, d_v.",
    ("return weights @ V", "out = np.zeros(Q.shape)\n    out[...] = weights @ V"),
    (", weights", "\n    return out, weights"),
)
attention.edit(
    "sums-the-width",
    "The products of weights and values are summed over the width of the values; the "
    "sum runs over the keys.",
    (
        "weights @ V",
        "(weights[..., :, :, None] * V[..., None, :, :]).sum(axis=-1)",
    ),
)
attention.wrong(
    "loops-over-queries",
    "The sum has as many terms as there are queries; it has one for each key.",
    """
    weights = softmax(attention_scores(Q, K))
    output = 0
    for j in range(Q.shape[-2]):
        output = output + weights[..., :, j : j + 1] * V[..., j : j + 1, :]
    return output, weights
""",
)
attention.edit(
    "averaged",
    "The output is divided by the number of keys; the weights sum to 1, so it is an "
    "average already.",
    ("@ V", "@ V / K.shape[-2]"),
)
attention.edit(
    "causal",
    "Later keys are hidden from earlier queries; nothing is masked in this question.",
    (
        "attention_scores(Q, K)",
        "np.where(np.tri(Q.shape[-2], K.shape[-2]), attention_scores(Q, K), -1e9)",
    ),
)
attention.right(
    "einsum",
    """
    weights = softmax(attention_scores(Q, K))
    return np.einsum("...qk,...kv->...qv", weights, V), weights
""",
)
attention.right(
    "alone",
    """
def scaled_dot_product_attention(queries, keys, values):
    s = queries @ np.moveaxis(keys, -1, -2) * queries.shape[-1] ** -0.5
    s = s - s.max(-1, keepdims=True)
    w = np.exp(s)
    w /= w.sum(-1, keepdims=True)
    return [w @ values, w]
""",
)
attention.right(
    "query-by-query",
    """
    if Q.ndim > 2:
        parts = [scaled_dot_product_attention(*each) for each in zip(Q, K, V)]
        return np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])
    weights = np.stack([softmax(attention_scores(q[None], K))[0] for q in Q])
    output = np.stack([sum(w * v for w, v in zip(row, V)) for row in weights])
    return output, weights
""",
)
attention.equivalent(
    "-1 is the default of softmax",
    "shares = softmax(attention_scores(Q, K), axis=-1) -> shares = "
    "softmax(attention_scores(Q, K))",
)


# --------------------------------------------- how answers are told apart


@softmax.probe
def probe_softmax(answer: Any) -> list:
    """Tell softmaxes apart by axes, shapes, extremes, dtypes and side effects."""
    x = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [-0.7, 1.2, 0.1]])
    far = np.array([[1e5, 1e5 + 1.0], [-1e5, -1e5 + 2.0]])
    low = np.array([[-np.inf, -1e5, 1.0 - 1e5]])
    with np.errstate(all="ignore"):
        rows = outcome(answer, x.copy())
        return [
            rows,
            added(rows, np.exp(x - x.max(-1, keepdims=True)).sum(-1)),
            any_error(outcome(answer, x[0].copy())),
            any_error(outcome(answer, np.stack([x, 1 - x]))),
            outcome(answer, low),
            outcome(answer, np.array([[0, 1, 3], [2, 2, 1]])),
            outcome(answer, x.copy(), axis=0),
            outcome(answer, x[:2].copy(), axis=1),
            outcome(answer, far),
            outcome(answer, np.array([[0.0, 1e4], [1e4, 1e4 + 1.0]])),
        ]


@scores.probe
def probe_scores(answer: Any) -> list:
    """Tell scores apart by values, batches and cubes."""
    rng = np.random.default_rng(5)
    shapes = [((4, 9), (6, 9)), ((2, 3, 5), (2, 4, 5)), ((3, 3, 3), (3, 3, 3))]
    found = [
        outcome(answer, rng.standard_normal(q), rng.standard_normal(k))
        for q, k in [*shapes, ((4, 4), (4, 4))]
    ]
    return [found[0], any_error(found[1]), any_error(found[2]), found[3]]


@attention.probe
def probe_attention(answer: Any) -> list:
    """Tell attentions apart by values, sizes, cubes and large scores."""
    rng = np.random.default_rng(6)
    shapes = [
        ((4, 9), (6, 9), (6, 5)),
        ((2, 5), (3, 5), (3, 5)),
        ((5, 5), (5, 5), (5, 5)),
        ((3, 3, 3), (3, 3, 3), (3, 3, 3)),
    ]
    draws = [[rng.standard_normal(shape) for shape in three] for three in shapes]
    large = [1e4 * draws[0][0], *draws[0][1:]]
    with np.errstate(all="ignore"):
        return [outcome(answer, *three) for three in [*draws, large]]


# --------------------------------------------------------------------- check_softmax

hunt = catalog.about(
    check.check_softmax,
    """
def check_softmax(softmax):
    x = np.array([[1.0, 2.0, 4.0], [1e5, 0.0, -np.inf], [-1e5, -1e5, -1e5 + 1]])
    for axis in (-1, 0):
        given = x.copy()
        weights = softmax(given, axis=axis)
        assert np.array_equal(given, x), "the input has changed"
        assert isinstance(weights, np.ndarray) and weights.shape == x.shape
        powers = np.exp(x - x.max(axis=axis, keepdims=True))
        assert np.allclose(weights, powers / powers.sum(axis=axis, keepdims=True))
""",
)
hunt.hunts(check.softmax)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    softmax(np.array([1.0, 2.0, 3.0]))
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
    weights = softmax(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]))
    ok = bool(np.allclose(np.sum(weights, axis=-1), 1))
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    weights = softmax(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]]))
    ok = bool(np.allclose(np.sum(weights, axis=-1), 1))
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "shape-only",
    "It looks at the shape only: any numbers of that shape pass.",
    """
    x = np.arange(6.0).reshape(2, 3)
    assert np.shape(softmax(x)) == x.shape
""",
)
hunt.wrong(
    "sums-only",
    "It looks at the sums only: weights that sum to 1 need not be right.",
    """
    x = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0]])
    assert np.allclose(np.sum(softmax(x), axis=-1), 1)
""",
)
hunt.wrong(
    "exact",
    "It asks for equal floating-point numbers; right answers differ by rounding.",
    """
    x = np.array([[1.0, 2.0, 3.5], [0.1, 0.7, 5.3], [2.2, 4.1, 0.3]])
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    assert np.array_equal(softmax(x), e / e.sum(axis=-1, keepdims=True))
""",
)
hunt.wrong(
    "one-row",
    "It tries a single row: axes, batches and rows far apart are not looked at.",
    """
    weights = softmax(np.log([1.0, 2.0, 3.0]))
    assert np.allclose(weights, np.array([1, 2, 3]) / 6)
""",
)
hunt.wrong(
    "one-axis",
    "It never passes `axis`.",
    """
    x = np.array([[1.0, 2.0, 4.0], [1e5, 0.0, -np.inf], [-1e5, -1e5, -1e5 + 1]])
    given = x.copy()
    weights = softmax(given)
    assert np.array_equal(given, x) and isinstance(weights, np.ndarray)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    assert np.allclose(weights, powers / powers.sum(axis=-1, keepdims=True))
""",
)
hunt.wrong(
    "small-scores",
    "All its scores are small: overflow never happens.",
    """
    x = np.array([[1.0, 2.0, 4.0], [0.5, 0.0, -3.0]])
    for axis in (-1, 0):
        given = x.copy()
        weights = softmax(given, axis=axis)
        assert np.array_equal(given, x) and isinstance(weights, np.ndarray)
        assert weights.shape == x.shape
        powers = np.exp(x)
        assert np.allclose(weights, powers / powers.sum(axis=axis, keepdims=True))
""",
)
hunt.right(
    "by-properties",
    """
    rng = np.random.default_rng(3)
    for scores in (rng.normal(size=(4, 4)), rng.normal(size=(3, 3)) * 1e5):
        for axis in (0, 1):
            before = scores.copy()
            w = softmax(scores, axis=axis)
            assert (scores == before).all()
            assert type(w) is np.ndarray
            assert w.shape == scores.shape
            assert np.isfinite(w).all() and (w >= 0).all()
            np.testing.assert_allclose(w.sum(axis=axis), 1)
            top = scores.max(axis=axis, keepdims=True)
            ratios = w / w.max(axis=axis, keepdims=True)
            np.testing.assert_allclose(ratios, np.exp(scores - top), atol=1e-12)
    far = np.array([[1000.0, 0.0], [0.0, -1000.0]]) - [[0.0], [5000.0]]
    np.testing.assert_allclose(softmax(far), [[1, 0], [1, 0]])
""",
)
hunt.right(
    "known-values",
    """
    table = np.log([[1.0, 2.0], [3.0, 1.0]])
    copy = table.copy()
    rows, columns = softmax(table), softmax(table, axis=0)
    assert (table == copy).all(), "in place"
    assert isinstance(rows, np.ndarray), "not an array"
    assert np.allclose(rows, [[1 / 3, 2 / 3], [3 / 4, 1 / 4]])
    assert np.allclose(columns, [[1 / 4, 2 / 3], [3 / 4, 1 / 3]])
    assert np.allclose(softmax(np.log([1.0, 3.0])), [0.25, 0.75])
    large = softmax(np.array([[800.0, 0.0], [-800.0, -1600.0]]))
    assert np.allclose(large, [[1, 0], [1, 0]])
""",
)
hunt.right(
    "one-by-one",
    """
    x = np.random.default_rng(0).normal(size=(3, 3)) * 50 - [[0], [2000], [0]]
    for axis in (-1, 0):
        probe = x.copy()
        got = softmax(probe, axis=axis)
        assert not (probe != x).any()
        assert isinstance(got, np.ndarray)
        lines = x if axis == -1 else x.T
        steps = np.minimum(lines[:, None, :] - lines[:, :, None], 700)
        wanted = 1 / np.exp(steps).sum(axis=-1)
        wanted = wanted if axis == -1 else wanted.T
        assert np.abs(got - wanted).max() < 1e-9
    big = softmax(np.array([0.0, 1e5]))
    assert np.abs(big - [0, 1]).max() < 1e-9
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "softmax-log-space": (
            "It subtracts the logarithm of the sum instead of dividing: `logaddexp` "
            "adds exponentials without leaving logarithms."
        ),
        "softmax-moved-axis": (
            "It moves the axis to the front, so that maximum and sum need neither "
            "`axis` nor `keepdims`."
        ),
        "attention_scores-einsum": (
            "`einsum` names the axes, so that nothing has to be transposed."
        ),
        "attention_scores-scaled-first": (
            "It scales the queries before the product, so that the scores need no "
            "division."
        ),
        "scaled_dot_product_attention-einsum": (
            "The sum over the keys is written out by `einsum`, with a letter for "
            "each axis."
        ),
        "scaled_dot_product_attention-alone": (
            "It needs no helper: product, scale, shift, exponential and sum stand "
            "in one function."
        ),
        "check_softmax-by-properties": (
            "It has no softmax of its own: it asks for sums of 1, and for the right "
            "ratio of each weight to the largest."
        ),
        "check_softmax-known-values": (
            "It feeds logarithms of small numbers, so that the right weights are "
            "plain fractions."
        ),
    }
)
