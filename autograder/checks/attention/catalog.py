"""What students get wrong, and right, in 01-attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.catalog import Catalog, Misconception, Style, outcome

CHAPTER = "01-queries-keys-values"

PRELUDE = """
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention_scores(Q, K):
    return np.matmul(Q, np.swapaxes(K, -2, -1)) / Q.shape[-1] ** 0.5
"""


def wrong(
    question: str, name: str, diagnosis: str, code: str, section: str
) -> Misconception:
    """An entry; its id says where it belongs."""
    return Misconception(
        f"{question}-{name}", question, diagnosis, f"{CHAPTER}#{section}", code
    )


def wrong_softmax(name: str, diagnosis: str, body: str) -> Misconception:
    code = f"def softmax(x, axis=-1):\n{body}"
    return wrong("softmax", name, diagnosis, code, "softmax")


def wrong_scores(name: str, diagnosis: str, body: str) -> Misconception:
    code = f"def attention_scores(Q, K):\n{body}"
    return wrong("attention_scores", name, diagnosis, code, "the-dot-product")


def wrong_attention(name: str, diagnosis: str, body: str) -> Misconception:
    code = f"def scaled_dot_product_attention(Q, K, V):\n{body}"
    return wrong(
        "scaled_dot_product_attention", name, diagnosis, code, "the-whole-formula"
    )


SOFTMAX = [
    wrong_softmax(
        "overflow",
        "exp is taken of the raw scores, which overflows for large ones; subtract the "
        "largest score first.",
        """\
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    wrong_softmax(
        "global-max",
        "One maximum is subtracted from the whole array; a row far below it becomes "
        "0 / 0. Subtract each row's own maximum.",
        """\
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    wrong_softmax(
        "subtracts-min",
        "The smallest score is subtracted instead of the largest one, so exp can still "
        "overflow.",
        """\
    e = np.exp(x - x.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    wrong_softmax(
        "whole-array",
        "The sum runs over the whole array; each row has to sum to 1 by itself.",
        """\
    e = np.exp(x - x.max())
    return e / e.sum()
""",
    ),
    wrong_softmax(
        "ignores-axis",
        "The last axis is used whatever `axis` says.",
        """\
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    ),
    wrong_softmax(
        "first-axis",
        "The sum runs over the first axis whatever `axis` says: columns sum to 1.",
        """\
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)
""",
    ),
    wrong_softmax(
        "no-keepdims",
        "`keepdims=True` is missing: the sums lose their axis and no longer line up "
        "with their rows.",
        """\
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)
""",
    ),
    wrong_softmax(
        "no-exp",
        "The scores are divided by their sum without exp, so weights can be negative.",
        """\
    return x / x.sum(axis=axis, keepdims=True)
""",
    ),
    wrong_softmax(
        "sigmoid",
        "This is the sigmoid: every score is squashed by itself, and rows do not sum "
        "to 1.",
        """\
    return 1 / (1 + np.exp(-x))
""",
    ),
    wrong_softmax(
        "divides-by-max",
        "The exponentials are divided by the largest of them instead of by their sum.",
        """\
    return np.exp(x - x.max(axis=axis, keepdims=True))
""",
    ),
    wrong_softmax(
        "in-place",
        "The maximum is subtracted in place (`-=`), which changes the caller's array.",
        """\
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    wrong_softmax(
        "logarithm",
        "This is the logarithm of the softmax: the weights themselves are asked for.",
        """\
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
""",
    ),
    wrong_softmax(
        "list",
        "A Python list is returned; the next step needs a NumPy array.",
        """\
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).tolist()
""",
    ),
]

SCORES = [
    wrong_scores(
        "unscaled",
        "The dot products are not divided by √d_k.",
        "    return Q @ np.swapaxes(K, -1, -2)\n",
    ),
    wrong_scores(
        "divides-by-d_k",
        "The dot products are divided by d_k instead of √d_k, so the scores are too "
        "small.",
        "    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]\n",
    ),
    wrong_scores(
        "multiplies",
        "The dot products are multiplied by √d_k instead of divided by it.",
        "    return Q @ np.swapaxes(K, -1, -2) * np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "number-of-keys",
        "The divisor is the square root of the number of keys; it has to be the width "
        "d_k of a key.",
        "    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])\n",
    ),
    wrong_scores(
        "first-axis-size",
        "The divisor is the square root of `Q.shape[0]`, the number of queries or the "
        "batch size; d_k is the last axis.",
        "    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[0])\n",
    ),
    wrong_scores(
        "transpose-all",
        "`K.T` reverses all axes; with a batch only the last two may be swapped.",
        "    return Q @ K.T / np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "swaps-first-axes",
        "The first two axes of K are swapped; with a batch it has to be the last two.",
        "    return Q @ np.swapaxes(K, 0, 1) / np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "dot-of-batches",
        "`np.dot` pairs every batch with every other one; `@` keeps them apart.",
        "    return np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "no-transpose",
        "K is not transposed: its rows, the keys, have to become columns.",
        "    return Q @ K / np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "keys-by-queries",
        "The result has a row for each key; it should have a row for each query.",
        "    return K @ np.swapaxes(Q, -1, -2) / np.sqrt(Q.shape[-1])\n",
    ),
    wrong_scores(
        "cosine",
        "These are cosines: queries and keys keep their lengths in dot-product "
        "attention.",
        """\
    q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    k = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return q @ np.swapaxes(k, -1, -2)
""",
    ),
    wrong_scores(
        "already-weights",
        "The softmax is already applied: these are weights, and the scores are asked "
        "for.",
        "    return softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))\n",
    ),
]

ATTENTION = [
    wrong_attention(
        "unscaled",
        "The dot products are not divided by √d_k before the softmax.",
        """\
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "divides-by-d_k",
        "The dot products are divided by d_k instead of √d_k.",
        """\
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / Q.shape[-1])
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "divides-by-d_v",
        "The divisor comes from the values' width d_v; the scores are made of queries "
        "and keys, so it has to be √d_k.",
        """\
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1]))
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "over-queries",
        "The softmax runs over the queries; every query's weights have to sum to 1 "
        "over the keys.",
        """\
    weights = softmax(attention_scores(Q, K), axis=-2)
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "output-only",
        "Only the output is returned; the weights are asked for too.",
        """\
    return softmax(attention_scores(Q, K)) @ V
""",
    ),
    wrong_attention(
        "swapped",
        "Output and weights are returned in the wrong order.",
        """\
    weights = softmax(attention_scores(Q, K))
    return weights, weights @ V
""",
    ),
    wrong_attention(
        "scores-returned",
        "The second result holds the scores; it should hold the weights, after the "
        "softmax.",
        """\
    scores = attention_scores(Q, K)
    return softmax(scores) @ V, scores
""",
    ),
    wrong_attention(
        "mixes-keys",
        "The weights mix the keys; they have to mix the values.",
        """\
    weights = softmax(attention_scores(Q, K))
    return weights @ K, weights
""",
    ),
    wrong_attention(
        "transposed-weights",
        "The weights are transposed before they meet the values.",
        """\
    weights = softmax(attention_scores(Q, K))
    return np.swapaxes(weights, -1, -2) @ V, weights
""",
    ),
    wrong_attention(
        "no-softmax",
        "The softmax is missing: the raw scores mix the values.",
        """\
    scores = attention_scores(Q, K)
    return scores @ V, scores
""",
    ),
    wrong_attention(
        "softmax-twice",
        "The softmax is applied twice, which flattens the weights.",
        """\
    weights = softmax(softmax(attention_scores(Q, K)))
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "scales-weights",
        "The weights are divided by √d_k after the softmax; the scores have to be "
        "divided before it.",
        """\
    weights = softmax(Q @ np.swapaxes(K, -1, -2)) / np.sqrt(Q.shape[-1])
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "hard",
        "Each query takes its best key alone; attention is a soft lookup and mixes all "
        "values.",
        """\
    scores = attention_scores(Q, K)
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(scores.dtype)
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "adds-the-query",
        "The query is added to the output; that residual belongs to the encoder layer, "
        "not to attention.",
        """\
    weights = softmax(attention_scores(Q, K))
    return weights @ V + Q, weights
""",
    ),
    wrong_attention(
        "overflow",
        "exp is taken of the raw scores, which overflows for large ones.",
        """\
    e = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
    ),
    wrong_attention(
        "transpose-all",
        "`K.T` reverses all axes; with a batch only the last two may be swapped.",
        """\
    weights = softmax(Q @ K.T / np.sqrt(Q.shape[-1]))
    return weights @ V, weights
""",
    ),
]

STYLES = [
    Style(
        "softmax-reduce",
        "softmax",
        """\
def softmax(x, axis=-1):
    top = np.amax(x, axis=axis, keepdims=True)
    powers = np.exp(np.subtract(x, top))
    return np.divide(powers, np.add.reduce(powers, axis=axis, keepdims=True))
""",
    ),
    Style(
        "softmax-log-space",
        "softmax",
        """\
def softmax(x, axis=-1):
    log_total = np.logaddexp.reduce(x, axis=axis, keepdims=True)
    return np.exp(x - log_total)
""",
    ),
    Style(
        "softmax-moved-axis",
        "softmax",
        """\
def softmax(x, axis=-1):
    rows = np.moveaxis(np.array(x), axis, 0)
    rows = np.exp(rows - rows.max(0))
    return np.moveaxis(rows / rows.sum(0), 0, axis)
""",
    ),
    Style(
        "softmax-per-row",
        "softmax",
        """\
def softmax(x, axis=-1):
    def one(row):
        powers = np.exp(row - max(row))
        return powers / sum(powers)

    return np.apply_along_axis(one, axis, x)
""",
    ),
    Style(
        "attention_scores-einsum",
        "attention_scores",
        """\
def attention_scores(Q, K):
    return np.einsum("...qd,...kd->...qk", Q, K) / np.sqrt(Q.shape[-1])
""",
    ),
    Style(
        "attention_scores-scaled-first",
        "attention_scores",
        """\
def attention_scores(Q, K):
    d_k = K.shape[-1]
    return np.matmul(Q * d_k**-0.5, K.swapaxes(-1, -2))
""",
    ),
    Style(
        "attention_scores-broadcast",
        "attention_scores",
        """\
def attention_scores(Q, K):
    products = Q[..., :, None, :] * K[..., None, :, :]
    return products.sum(axis=-1) / np.sqrt(Q.shape[-1])
""",
    ),
    Style(
        "scaled_dot_product_attention-einsum",
        "scaled_dot_product_attention",
        """\
def scaled_dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    return np.einsum("...qk,...kv->...qv", weights, V), weights
""",
    ),
    Style(
        "scaled_dot_product_attention-alone",
        "scaled_dot_product_attention",
        """\
def scaled_dot_product_attention(queries, keys, values):
    s = queries @ np.moveaxis(keys, -1, -2) * queries.shape[-1] ** -0.5
    s = s - s.max(-1, keepdims=True)
    w = np.exp(s)
    w /= w.sum(-1, keepdims=True)
    return [w @ values, w]
""",
    ),
    Style(
        "scaled_dot_product_attention-query-by-query",
        "scaled_dot_product_attention",
        """\
def scaled_dot_product_attention(Q, K, V):
    if Q.ndim > 2:
        parts = [scaled_dot_product_attention(*each) for each in zip(Q, K, V)]
        return np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])
    weights = np.stack([softmax(attention_scores(q[None], K))[0] for q in Q])
    output = np.stack([sum(w * v for w, v in zip(row, V)) for row in weights])
    return output, weights
""",
    ),
]

catalog = Catalog(PRELUDE, [*SOFTMAX, *SCORES, *ATTENTION], STYLES)


@catalog.probe("softmax")
def probe_softmax(answer: Any) -> list:
    """Tell softmaxes apart by axes, shapes, extremes and side effects."""
    x = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, 0.3], [-0.7, 1.2, 0.1]])
    far = np.array([[1e5, 1e5 + 1.0], [-1e5, -1e5 + 2.0]])
    with np.errstate(all="ignore"):
        return [
            outcome(answer, x.copy()),
            outcome(answer, x.copy(), axis=0),
            outcome(answer, x[:2].copy(), axis=1),
            outcome(answer, far),
            outcome(answer, np.array([[0.0, 1e4], [1e4, 1e4 + 1.0]])),
        ]


@catalog.probe("attention_scores")
def probe_scores(answer: Any) -> list:
    """Tell scores apart by values, batches and cubes."""
    rng = np.random.default_rng(5)
    shapes = [((4, 9), (6, 9)), ((2, 3, 5), (2, 4, 5)), ((3, 3, 3), (3, 3, 3))]
    return [
        outcome(answer, rng.standard_normal(q), rng.standard_normal(k))
        for q, k in [*shapes, ((4, 4), (4, 4))]
    ]


@catalog.probe("scaled_dot_product_attention")
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
