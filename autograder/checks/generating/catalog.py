"""What students get wrong, and right, in 10-generating."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import generating as check
from autograder.checks.catalog import BATCHES, Catalog
from autograder.checks.library import library
from autograder.checks.outcomes import alike, outcome

PRELUDE = """
import numpy as np


def masked_softmax(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape)
    hidden = np.where(allowed, scores, -np.inf)
    largest = hidden.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)
    exponentials = np.exp(hidden - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    sin, cos = np.sin(angles), np.cos(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return turned.reshape(x.shape).astype(np.result_type(x, np.float16))


def grouped_query_attention(Q, K, V, mask=None):
    group, rest = divmod(Q.shape[-3], K.shape[-3])
    if rest:
        raise ValueError("n_kv has to divide n_heads")
    K, V = np.repeat(K, group, axis=-3), np.repeat(V, group, axis=-3)
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5
    weights = masked_softmax(scores, True if mask is None else mask)
    return weights @ V, weights


class KVCache:
    def __init__(self, window=None):
        self.window, self.seen, self.keys, self.values = window, 0, None, None

    def __len__(self):
        return self.seen

    def append(self, k, v):
        if self.seen:
            k = np.concatenate([self.keys, k], axis=-2)
            v = np.concatenate([self.values, v], axis=-2)
        if self.window:
            k, v = k[..., -self.window :, :], v[..., -self.window :, :]
        self.keys, self.values, self.seen = k, v, self.seen + 1
        return k, v
"""

catalog = Catalog(check.assignment, PRELUDE)


def described(result: Any) -> Any:
    """An outcome with the dtypes of its arrays, which its numbers do not tell."""
    values = result[1] if isinstance(result[1], tuple | list) else [result[1]]
    return [result, [str(getattr(value, "dtype", "")) for value in values]]


def untold(result: Any) -> Any:
    """An outcome without what an exception says, which is the student's own choice."""
    return result[:2] if result[0] == "raised" else result


# ---------------------------------------------------------------- rotate

rotate = catalog.about(
    check.rotate,
    """
def rotate(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = np.asarray(positions)[:, None] * frequencies
    sin, cos = np.sin(angles), np.cos(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1)
    return turned.reshape(x.shape).astype(np.result_type(x, np.float16))
""",
)

rotate.edit(
    "halves",
    "Column i is paired with column i + d / 2, which is the other rotary layout; here "
    "neighbors make a pair.",
    ("x[..., 0::2], x[..., 1::2]", "x[..., : d // 2], x[..., d // 2 :]"),
    ("np.stack", "np.concatenate"),
)
rotate.edit(
    "written-as-halves",
    "Neighbors are turned together but written back one half behind the other; each "
    "number has to return to its column.",
    ("np.stack", "np.concatenate"),
)
rotate.wrong(
    "mixed-layouts",
    "Two layouts are mixed: the angles are laid out for neighboring columns, the "
    "columns are paired as halves.",
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = np.repeat(np.asarray(positions)[:, None] * frequencies, 2, axis=-1)
    first, second = x[..., : d // 2], x[..., d // 2 :]
    swapped = np.concatenate([-second, first], axis=-1)
    return x * np.cos(angles) + swapped * np.sin(angles)
""",
)
rotate.edit(
    "clockwise",
    "The points turn clockwise: the signs of the two sines are exchanged.",
    ("a * cos - b * sin, a * sin + b * cos", "a * cos + b * sin, b * cos - a * sin"),
)
rotate.edit(
    "reflects",
    "Both sines have the same sign: the second coordinate is a sin θ + b cos θ, the "
    "first a cos θ minus b sin θ.",
    ("a * cos - b * sin", "a * cos + b * sin"),
)
rotate.edit(
    "restarts",
    "The positions are not used: every call counts from 0 again, so a single token "
    "always stands at position 0.",
    ("np.asarray(positions)[:, None]", "np.arange(x.shape[-2])[:, None]"),
)
rotate.edit(
    "from-one",
    "Positions are shifted by one: position 0 turns nothing.",
    ("np.asarray(positions)[:, None]", "(np.asarray(positions)[:, None] + 1)"),
)
rotate.edit(
    "half-exponent",
    "The exponent is -i / d; for the pair number i it is -2 i / d.",
    ("-np.arange(0, d, 2) / d", "-np.arange(d // 2) / d"),
)
rotate.edit(
    "double-exponent",
    "The exponent is twice too large: for the pair number i it is -2 i / d, where 2 i "
    "is the number of its first column.",
    ("-np.arange(0, d, 2) / d", "-2 * np.arange(0, d, 2) / d"),
)
rotate.edit(
    "exponent-from-one",
    "The pairs are counted from 1; the first pair turns by one radian per position.",
    ("-np.arange(0, d, 2) / d", "-np.arange(2, d + 2, 2) / d"),
)
rotate.edit(
    "grows",
    "The minus in the exponent is missing: later pairs turn faster instead of more "
    "slowly.",
    ("(-np.arange(0, d, 2) / d)", "(np.arange(0, d, 2) / d)"),
)
rotate.edit(
    "one-frequency",
    "All pairs turn by the same angle; each pair has a frequency of its own.",
    ("base ** (-np.arange(0, d, 2) / d)", "np.ones(d // 2)"),
)
rotate.edit(
    "ignores-base",
    "The argument `base` is not used.",
    ("base ** (-np", "10000.0 ** (-np"),
)
rotate.wrong(
    "adds-sinusoids",
    "Sines and cosines are added to x; rotary positions multiply: they turn pairs.",
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    waves = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return x + waves.reshape(angles.shape[0], d)
""",
)
rotate.wrong(
    "overwritten-too-early",
    "The first coordinate of a pair is overwritten before the second one is computed "
    "from it.",
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    sin, cos = np.sin(angles), np.cos(angles)
    x = x.astype(np.result_type(x, np.float16))
    a, b = x[..., 0::2], x[..., 1::2]
    x[..., 0::2] = a * cos - b * sin
    x[..., 1::2] = a * sin + b * cos
    return x
""",
)
rotate.wrong(
    "in-place",
    "The caller's array is turned in place; work on a copy.",
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    sin, cos = np.sin(angles), np.cos(angles)
    a, b = x[..., 0::2].copy(), x[..., 1::2].copy()
    x[..., 0::2] = a * cos - b * sin
    x[..., 1::2] = a * sin + b * cos
    return x
""",
)
rotate.edit(
    "asserts",
    "An odd width fails an assertion; a ValueError is asked for.",
    ('raise ValueError("d has to be even")', 'assert False, "d has to be even"'),
)
rotate.edit(
    "float64",
    "Angles in double precision make the result double too; return the dtype of x.",
    (".astype(np.result_type(x, np.float16))", ""),
)

rotate.also(
    "overwritten-too-early",
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError("d has to be even")
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / d))
    sin, cos = np.sin(angles), np.cos(angles)
    x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return x
""",
)
rotate.wrong(
    "odd-accepted",
    "An odd width is accepted, whose last column has no partner; a ValueError is asked "
    "for.",
    """
    d = x.shape[-1] // 2 * 2
    angles = np.outer(positions, base ** (-np.arange(0, d, 2) / x.shape[-1]))
    sin, cos = np.sin(angles), np.cos(angles)
    a, b = x[..., 0:d:2], x[..., 1:d:2]
    turned = x.astype(np.result_type(x, np.float16))
    turned[..., 0:d:2], turned[..., 1:d:2] = a * cos - b * sin, a * sin + b * cos
    return turned
""",
    planted=False,
)
rotate.edit(
    "two-axes",
    "Two axes are expected, rows and columns; there may be others before them.",
    ("    d = x.shape[-1]", "    n, d = x.shape"),
    planted=False,
)
rotate.edit(
    "minus-second",
    "A sign is wrong in the second coordinate: it is a sin θ + b cos θ.",
    ("a * sin + b * cos", "a * sin - b * cos"),
    planted=False,
)
rotate.edit(
    "sine-for-cosine",
    "Sines and cosines are exchanged: position 0 has to turn nothing.",
    ("sin, cos = np.sin", "cos, sin = np.sin"),
    planted=False,
)
rotate.edit(
    "divided-after-the-power",
    "The power is divided by d; the division belongs into the exponent, in brackets.",
    ("(-np.arange(0, d, 2) / d)", "-np.arange(0.0, d, 2) / d"),
    planted=False,
)
rotate.edit(
    "truncates",
    "Integer input is cut back to integers; its result has to be floating-point.",
    (".astype(np.result_type(x, np.float16))", ".astype(x.dtype)"),
)
rotate.right(
    "complex",
    """
    if x.shape[-1] % 2 == 1:
        raise ValueError(f"odd width {x.shape[-1]}")
    half = x.shape[-1] // 2
    theta = np.asarray(positions).reshape(-1, 1) / base ** (np.arange(half) / half)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * theta)
    out = np.zeros(x.shape, dtype=x.dtype if x.dtype.kind == "f" else float)
    out[..., ::2], out[..., 1::2] = z.real, z.imag
    return out
""",
)
rotate.right(
    "matrices",
    """
    d = x.shape[-1]
    if d % 2 != 0:
        raise ValueError("pairs")
    out = np.array(x, dtype=x.dtype if x.dtype.kind == "f" else np.float64)
    for row, p in enumerate(positions):
        for i in range(d // 2):
            c, s = np.cos(p * base ** (-2 * i / d)), np.sin(p * base ** (-2 * i / d))
            turn = np.array([[c, s], [-s, c]])
            out[..., row, 2 * i : 2 * i + 2] = x[..., row, 2 * i : 2 * i + 2] @ turn
    return out
""",
)
rotate.right(
    "swap-and-sign",
    """
    d = x.shape[-1]
    if d & 1:
        raise ValueError("d must be even")
    angles = np.repeat(np.outer(positions, base ** (-np.arange(0, d, 2) / d)), 2, -1)
    swapped = np.empty(x.shape, dtype=float)
    swapped[..., 0::2] = -x[..., 1::2]
    swapped[..., 1::2] = x[..., 0::2]
    turned = x * np.cos(angles) + swapped * np.sin(angles)
    return turned.astype(x.dtype) if np.issubdtype(x.dtype, np.floating) else turned
""",
)
rotate.right(
    "pairs-as-an-axis",
    """
    *front, d = x.shape
    if d % 2:
        raise ValueError(d)
    pairs = x.reshape(*front, d // 2, 2)
    angle = np.einsum("n,f->nf", positions, base ** -np.linspace(0, 1, d // 2, False))
    c, s = np.cos(angle), np.sin(angle)
    turn = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    turned = np.einsum("nfij,...nfj->...nfi", turn, pairs).reshape(x.shape)
    return turned.astype(x.dtype) if x.dtype.kind == "f" else turned
""",
)


rotate.equivalent(
    "NumPy itself raises ValueError for an odd width",
    "if width % 2 == 1: -> if width % 2 == 2:",
    "if width % 2 == 1: -> if width % 1 == 1:",
)
rotate.equivalent(
    "the common type of two does not depend on their order",
    "result = np.empty(x.shape, dtype=np.result_type(x, np.float16)) -> "
    "result = np.empty(x.shape, dtype=np.result_type(np.float16, x))",
)


@rotate.probe
def outcomes_of_rotate(answer: Any) -> list:
    """Tell rotations apart by values at several positions, types and odd widths."""
    x = np.cos(np.arange(24.0)).reshape(2, 2, 6)
    one = np.array([[1.0, 2.0, -1.0, 0.5]])
    odd = outcome(answer, np.ones((1, 3)), np.array([1]))
    return [
        described(outcome(answer, x.copy(), np.array([0, 3]))),
        described(outcome(answer, one.copy(), np.array([5]), 100.0)),
        described(outcome(answer, one.astype(np.float32), np.array([1]))),
        described(outcome(answer, np.array([[1, 2, 3, 4]]), np.array([2]))),
        # what an odd width that is accepted becomes does not matter
        odd[:1] if odd[0] == "returned" else untold(odd),
    ]


# ----------------------------------------------- grouped_query_attention

grouped = catalog.about(
    check.grouped_query_attention,
    """
def grouped_query_attention(Q, K, V, mask=None):
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv:
        raise ValueError("n_kv has to divide n_heads")
    keys = np.repeat(K, n_heads // n_kv, axis=-3)
    values = np.repeat(V, n_heads // n_kv, axis=-3)
    scores = Q @ np.swapaxes(keys, -1, -2) / Q.shape[-1] ** 0.5
    weights = masked_softmax(scores, True if mask is None else mask)
    return weights @ values, weights
""",
)

grouped.wrong(
    "tiled",
    "The key-value heads are tiled, 0 1 0 1; neighboring query heads share one, 0 0 1 "
    "1: `np.repeat`, not `np.tile`.",
    """
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv:
        raise ValueError("n_kv has to divide n_heads")
    keys = np.concatenate([K] * (n_heads // n_kv), axis=-3)
    values = np.concatenate([V] * (n_heads // n_kv), axis=-3)
    scores = Q @ np.swapaxes(keys, -1, -2) / Q.shape[-1] ** 0.5
    weights = masked_softmax(scores, True if mask is None else mask)
    return weights @ values, weights
""",
)
grouped.edit(
    "tiled-values",
    "Keys are repeated and values are tiled: a head reads the values of another.",
    (
        "np.repeat(V, n_heads // n_kv, axis=-3)",
        "np.concatenate([V] * (n_heads // n_kv), axis=-3)",
    ),
)
grouped.edit(
    "repeats-tokens",
    "The repetition runs along the tokens; the heads are the third axis from the end.",
    ("np.repeat(K, n_heads // n_kv, axis=-3)", "np.repeat(K, n_heads, axis=-2)"),
    ("np.repeat(V, n_heads // n_kv, axis=-3)", "np.repeat(V, n_heads, axis=-2)"),
)
grouped.edit(
    "first-axis",
    "The repetition runs along the first axis, which is the batch when there is one.",
    ("np.repeat(K, n_heads // n_kv, axis=-3)", "np.repeat(K, n_heads // n_kv, axis=0)"),
    ("np.repeat(V, n_heads // n_kv, axis=-3)", "np.repeat(V, n_heads // n_kv, axis=0)"),
    unseen=BATCHES,
)
grouped.edit(
    "no-repetition",
    "The heads are left to broadcasting, which works for one key-value head or as many "
    "as there are queries, and for nothing between.",
    ("np.repeat(K, n_heads // n_kv, axis=-3)", "K"),
    ("np.repeat(V, n_heads // n_kv, axis=-3)", "V"),
)
grouped.edit(
    "first-head",
    "All query heads read the first key-value head.",
    ("np.repeat(K, n_heads // n_kv, axis=-3)", "K[..., [0] * n_heads, :, :]"),
    ("np.repeat(V, n_heads // n_kv, axis=-3)", "V[..., [0] * n_heads, :, :]"),
)
grouped.edit(
    "mean-of-queries",
    "The queries of a group are averaged into one; every query head keeps its own "
    "weights.",
    (
        "    scores = Q @",
        "    Q = Q.reshape(*Q.shape[:-3], n_kv, -1, *Q.shape[-2:]).mean(axis=-3)\n"
        "    Q = np.repeat(Q, n_heads // n_kv, axis=-3)\n"
        "    scores = Q @",
    ),
)
grouped.edit(
    "unscaled",
    "The dot products are not divided by √d_k.",
    (" / Q.shape[-1] ** 0.5", ""),
)
grouped.edit(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k.",
    ("Q.shape[-1] ** 0.5", "Q.shape[-1]"),
)
grouped.edit(
    "scaled-by-all-heads",
    "The divisor counts the columns of all heads together; d_k is the width of one.",
    ("Q.shape[-1] ** 0.5", "(n_heads * Q.shape[-1]) ** 0.5"),
)
grouped.edit(
    "no-refusal",
    "Heads that cannot be shared evenly are cut off without a word; raise a "
    "ValueError.",
    (
        '        raise ValueError("n_kv has to divide n_heads")',
        "        n_heads -= n_heads % n_kv\n        Q = Q[..., :n_heads, :, :]",
    ),
)
grouped.edit(
    "ignores-mask",
    "The mask is never used.",
    ("True if mask is None else mask", "True"),
)
grouped.edit(
    "inverted-mask",
    'The mask is inverted; in this course True means "may attend".',
    ("else mask)", "else ~mask)"),
)
grouped.edit(
    "zeroed-after",
    "The weights are set to 0 after the softmax, so the rest no longer sums to 1.",
    (
        "masked_softmax(scores, True if mask is None else mask)",
        "masked_softmax(scores, True) * (1 if mask is None else mask)",
    ),
)
grouped.edit(
    "minus-1e9",
    "Masked scores become -1e9: a row with nothing to attend to turns uniform "
    "instead of empty.",
    (
        "masked_softmax(scores, True if mask is None else mask)",
        "masked_softmax(np.where(True if mask is None else mask, scores, -1e9), True)",
    ),
)
grouped.edit(
    "always-causal",
    "A causal mask is applied although none was asked for.",
    (
        "True if mask is None else mask",
        "np.tri(*scores.shape[-2:], dtype=bool) if mask is None else mask",
    ),
)
grouped.edit(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    ("return weights @ values, weights", "return weights @ values"),
)
grouped.edit(
    "swapped",
    "Output and weights are returned in the wrong order.",
    ("return weights @ values, weights", "return weights, weights @ values"),
)

grouped.also(
    "mean-of-queries",
    grouped.edited(
        (
            "    keys = np",
            "    Q = Q.reshape(*Q.shape[:-3], n_kv, -1, *Q.shape[-2:]).mean(axis=-3)\n"
            "    keys = np",
        ),
        ("np.repeat(K, n_heads // n_kv, axis=-3)", "K"),
        ("np.repeat(V, n_heads // n_kv, axis=-3)", "V"),
    ),
)
grouped.edit(
    "second-axis",
    "The repetition runs along axis 1, which is the heads with exactly one batch axis "
    "alone; counted from the end, heads are axis -3.",
    ("np.repeat(K, n_heads // n_kv, axis=-3)", "np.repeat(K, n_heads // n_kv, axis=1)"),
    ("np.repeat(V, n_heads // n_kv, axis=-3)", "np.repeat(V, n_heads // n_kv, axis=1)"),
)
grouped.edit(
    "division-the-wrong-way",
    "The test asks whether n_heads divides n_kv; n_kv has to divide n_heads.",
    ("n_heads % n_kv", "n_kv % n_heads"),
)
grouped.edit(
    "width-of-values",
    "The scores are divided by the root of the values' width; d_k is that of queries "
    "and keys.",
    ("Q.shape[-1] ** 0.5", "V.shape[-1] ** 0.5"),
)
grouped.edit(
    "repeated-n_heads-times",
    "Each key-value head is repeated n_heads times; a group has n_heads // n_kv query "
    "heads.",
    ("np.repeat(K, n_heads // n_kv,", "np.repeat(K, n_heads,"),
    ("np.repeat(V, n_heads // n_kv,", "np.repeat(V, n_heads,"),
)
grouped.edit(
    "truth-of-a-mask",
    "An array is asked whether it is true, which it cannot say; ask `mask is None`.",
    ("True if mask is None else mask", "mask or True"),
)
grouped.edit(
    "float64",
    "`np.sqrt` of a whole number is a double, and makes the result double too; "
    "`math.sqrt` or `** 0.5` keeps the dtype.",
    ("Q.shape[-1] ** 0.5", "np.sqrt(Q.shape[-1])"),
)
grouped.right(
    "grouped-axis",
    """
    *batch, n_heads, n_q, d_k = Q.shape
    n_kv, n_k = K.shape[-3:-1]
    if n_heads % n_kv != 0:
        raise ValueError(f"{n_kv} does not divide {n_heads}")
    Q = Q.reshape(*batch, n_kv, n_heads // n_kv, n_q, d_k)
    scores = Q @ K[..., None, :, :].swapaxes(-1, -2) / d_k**0.5
    scores = scores.reshape(*batch, n_heads, n_q, n_k)
    weights = masked_softmax(scores, np.array(True) if mask is None else mask)
    shared = weights.reshape(*batch, n_kv, n_heads // n_kv, n_q, n_k)
    output = shared @ V[..., None, :, :]
    return output.reshape(*batch, n_heads, n_q, V.shape[-1]), weights
""",
)
grouped.right(
    "index",
    """
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    group, rest = divmod(n_heads, n_kv)
    if rest:
        raise ValueError("uneven groups")
    which = [head // group for head in range(n_heads)]
    K, V = K[..., which, :, :], V[..., which, :, :]
    scores = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    weights = masked_softmax(scores, mask)
    return np.einsum("...qk,...kv->...qv", weights, V), weights
""",
)
grouped.right(
    "head-by-head",
    """
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    if n_heads // n_kv * n_kv != n_heads:
        raise ValueError("uneven groups")
    outputs, weights = [], []
    shape = (*Q.shape[:-1], K.shape[-2])
    allowed = np.broadcast_to(True if mask is None else mask, shape)
    for head in range(n_heads):
        shared = head // (n_heads // n_kv)
        k, v = K[..., shared, :, :], V[..., shared, :, :]
        scores = Q[..., head, :, :] @ k.swapaxes(-2, -1) / Q.shape[-1] ** 0.5
        weights.append(masked_softmax(scores, allowed[..., head, :, :]))
        outputs.append(weights[-1] @ v)
    return np.stack(outputs, axis=-3), np.stack(weights, axis=-3)
""",
)
grouped.right(
    "scaled-queries",
    """
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv:
        raise ValueError("uneven groups")
    K, V = (a.repeat(n_heads // n_kv, axis=a.ndim - 3) for a in (K, V))
    Q = Q * Q.shape[-1] ** -0.5
    scores = np.matmul(Q, np.moveaxis(K, -1, -2))
    hidden = scores if mask is None else np.where(mask, scores, -np.inf)
    weights = masked_softmax(hidden, hidden > -np.inf)
    return np.matmul(weights, V), weights
""",
)


grouped.equivalent(
    "two axes change places",
    "scores = np.matmul(Q, keys.swapaxes(-1, -2)) / Q.shape[-1] ** 0.5 -> "
    "scores = np.matmul(Q, keys.swapaxes(-2, -1)) / Q.shape[-1] ** 0.5",
)


@grouped.probe
def outcomes_of_grouped_queries(answer: Any) -> list:
    """Tell answers apart by heads, masks, empty rows, refusals and types."""
    waves = np.cos(np.arange(400.0))
    Q, K, V = waves[:36].reshape(4, 3, 3), waves[50:74], waves[90:122]
    K, V = K.reshape(2, 4, 3), 5 * V.reshape(2, 4, 4)
    mask = np.array([[True, True, False, True], [False] * 4, [True, False, True, True]])
    batched = [np.stack([a, a[::-1]]) for a in (Q, K, V)]
    return [
        described(outcome(answer, Q.copy(), K.copy(), V.copy())),
        described(outcome(answer, Q.copy(), K.copy(), V.copy(), mask)),
        described(outcome(answer, *batched)),
        described(untold(outcome(answer, Q[:3].copy(), K.copy(), V.copy()))),
        described(outcome(answer, *(a.astype(np.float32) for a in (Q, K, V)))),
        described(outcome(answer, Q.copy(), K[:1].copy(), V[:1].copy())),
    ]


# ----------------------------------------------------------- window_mask

window = catalog.about(
    check.window_mask,
    """
def window_mask(n, window, sinks=0):
    position = np.arange(n)
    age = position[:, None] - position
    return (age >= 0) & ((age < window) | (position < sinks))
""",
)

window.edit(
    "one-too-many",
    "The window holds one position too many: it counts the position itself.",
    ("age < window", "age <= window"),
)
window.edit(
    "one-too-few",
    "The window holds one position too few: a window of 1 is the position itself.",
    ("age < window", "age < window - 1"),
)
window.edit(
    "both-ways",
    "The window reaches into the future as well; the mask has to stay causal.",
    ("(age >= 0) &", "(age > -window) &"),
)
window.edit(
    "sinks-leak",
    "Early positions see sinks that come after them: the future.",
    (
        "(age >= 0) & ((age < window) | (position < sinks))",
        "((age >= 0) & (age < window)) | (position < sinks)",
    ),
)
window.edit(
    "no-sinks",
    "The argument `sinks` is not used.",
    (" | (position < sinks)", ""),
)
window.edit(
    "sinks-as-queries",
    "The first positions are given the whole past as queries; sinks are keys, columns "
    "of the mask.",
    ("(position < sinks)", "(position[:, None] < sinks)"),
)
window.edit(
    "one-sink-too-many",
    "One sink too many is kept: `sinks=1` means position 0.",
    ("position < sinks", "position <= sinks"),
)
window.edit(
    "needs-both",
    "A key has to be in the window and a sink at the same time; one of the two is "
    "enough.",
    (
        "((age < window) | (position < sinks))",
        "(age < window) & (position < max(sinks, n * (sinks == 0)))",
    ),
)
window.edit(
    "only-causal",
    "The window is not applied: every position sees the whole past.",
    ("((age < window) | (position < sinks))", "True"),
)
window.edit(
    "inverted",
    'True marks the forbidden positions here; in this course True means "may attend".',
    (
        "return (age >= 0) & ((age < window) | (position < sinks))",
        "return ~((age >= 0) & ((age < window) | (position < sinks)))",
    ),
)
window.edit(
    "transposed",
    "The mask is transposed: rows belong to queries, columns to keys.",
    (
        "return (age >= 0) & ((age < window) | (position < sinks))",
        "return ((age >= 0) & ((age < window) | (position < sinks))).T",
    ),
)
window.edit(
    "outside-the-window",
    "The comparison is the wrong way round: keys inside the window are hidden.",
    ("age < window", "age >= window"),
)
window.edit(
    "blocks",
    "The text is cut into blocks; the window has to slide with each position.",
    ("age < window", "position[:, None] // window == position // window"),
)
window.edit(
    "integers",
    "The mask holds ones and zeros; it has to be boolean.",
    (
        "return (age >= 0) & ((age < window) | (position < sinks))",
        "return 1 * ((age >= 0) & ((age < window) | (position < sinks)))",
    ),
)

window.also(
    "needs-both",
    window.edited(
        ("(age < window) | (position < sinks)", "(age < window) & (position < sinks)")
    ),
)
window.also(
    "integers",
    window.edited(
        (
            "return (age >= 0) & ((age < window) | (position < sinks))",
            "return 1.0 * ((age >= 0) & ((age < window) | (position < sinks)))",
        ),
    ),
)
window.wrong(
    "negative-start",
    "In the first rows the window begins before 0, and a negative start counts from "
    "the end; begin at max(0, …).",
    """
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, i + 1 - window : i + 1] = True
        mask[i, : min(sinks, i + 1)] = True
    return mask
""",
)
window.edit(
    "sinks-take-places",
    "The sinks take places of the window; they are seen besides its positions.",
    ("age < window", "age < window - sinks"),
)
window.edit(
    "large-window",
    "A window that is longer than the text raises an error; it shows the whole past.",
    (
        "    position =",
        '    if window > n:\n        raise ValueError("too large")\n    position =',
    ),
    unseen="the card's windows fit into the text; longer ones are left to the student",
)
window.edit(
    "not-itself",
    "A position does not see itself; it is the first one that its window counts.",
    ("(age >= 0)", "(age > 0)"),
)
window.right(
    "triangles",
    """
    causal = np.tril(np.ones((n, n), dtype=bool))
    mask = causal & ~np.tril(np.ones((n, n), dtype=bool), k=-window)
    mask[:, :sinks] = causal[:, :sinks]
    return mask
""",
)
window.right(
    "loops",
    """
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = True
        mask[i, : min(sinks, i + 1)] = True
    return mask
""",
)
window.right(
    "indices",
    """
    i, j = np.ogrid[:n, :n]
    return np.logical_and(j <= i, np.logical_or(j > i - window, j < sinks))
""",
)
window.right(
    "function",
    """
    def allowed(i, j):
        return (i >= j) * ((i - j < window) + (j < sinks)) > 0

    return np.fromfunction(allowed, (n, n), dtype=int)
""",
)


@window.probe
def outcomes_of_window_mask(answer: Any) -> list:
    """Tell masks apart by pattern and type, with few and with many sinks."""
    sizes = [(6, 3), (7, 2, 1), (7, 2, 3), (4, 9, 0), (5, 1, 8)]
    return [described(untold(outcome(answer, *size))) for size in sizes]


# --------------------------------------------------------------- KVCache

cache = catalog.about(
    check.KVCache,
    """
class KVCache:
    def __init__(self, window=None):
        self.window = window
        self.seen = 0
        self.keys = None
        self.values = None

    def __len__(self):
        return self.seen

    def append(self, k, v):
        self.seen += 1
        if self.keys is None:
            self.keys, self.values = k, v
        else:
            self.keys = np.concatenate([self.keys, k], axis=-2)
            self.values = np.concatenate([self.values, v], axis=-2)
        if self.window is not None:
            self.keys = self.keys[..., -self.window :, :]
            self.values = self.values[..., -self.window :, :]
        return self.keys, self.values
""",
)

cache.edit(
    "length-of-kept",
    "The length counts the tokens that are kept; once a window is full it stops "
    "growing, and positions with it. Count the tokens seen.",
    ("return self.seen", "return 0 if self.keys is None else self.keys.shape[-2]"),
)
cache.edit(
    "no-window",
    "The window is forgotten: all tokens are kept.",
    ("if self.window is not None:", "if False:"),
)
cache.edit(
    "window-of-keys-only",
    "The window cuts the keys and leaves the values as they are.",
    ("            self.values = self.values[..., -self.window :, :]\n", ""),
)
cache.edit(
    "keeps-the-oldest",
    "A full window keeps the oldest tokens; it has to keep the newest.",
    ("self.keys[..., -self.window :, :]", "self.keys[..., : self.window, :]"),
    ("self.values[..., -self.window :, :]", "self.values[..., : self.window, :]"),
)
cache.edit(
    "one-too-many",
    "The window keeps one token too many: the new one counts as well.",
    ("self.keys[..., -self.window :, :]", "self.keys[..., -self.window - 1 :, :]"),
    ("self.values[..., -self.window :, :]", "self.values[..., -self.window - 1 :, :]"),
)
cache.edit(
    "window-on-heads",
    "The window cuts along the heads; tokens are the last axis but one.",
    ("self.keys[..., -self.window :, :]", "self.keys[..., -self.window :, :, :]"),
    ("self.values[..., -self.window :, :]", "self.values[..., -self.window :, :, :]"),
)
cache.edit(
    "clears-when-full",
    "A full window is emptied and starts anew; it has to slide, one token at a time.",
    (
        "if self.keys is None:",
        "if self.keys is None or (self.window and self.keys.shape[-2] >= self.window):",
    ),
)
cache.edit(
    "newest-first",
    "New tokens are put in front; the oldest comes first.",
    ("[self.keys, k]", "[k, self.keys]"),
    ("[self.values, v]", "[v, self.values]"),
    ("self.keys[..., -self.window :, :]", "self.keys[..., : self.window, :]"),
    ("self.values[..., -self.window :, :]", "self.values[..., : self.window, :]"),
)
cache.edit(
    "joins-heads",
    "New tokens are joined along the heads; tokens are the last axis but one.",
    ("np.concatenate([self.keys, k], axis=-2)", "np.concatenate([self.keys, k], -3)"),
    (
        "np.concatenate([self.values, v], axis=-2)",
        "np.concatenate([self.values, v], -3)",
    ),
)
cache.edit(
    "second-axis",
    "New tokens are joined along the second axis, which is the tokens only without a "
    "batch; count axes from the end.",
    ("np.concatenate([self.keys, k], axis=-2)", "np.concatenate([self.keys, k], 1)"),
    (
        "np.concatenate([self.values, v], axis=-2)",
        "np.concatenate([self.values, v], 1)",
    ),
    unseen=BATCHES,
)
cache.edit(
    "returns-the-past",
    "The returned keys and values lack the new token; it attends to itself too.",
    (
        "    def append(self, k, v):\n",
        "    def append(self, k, v):\n"
        "        past = (k[..., :0, :], v[..., :0, :])\n"
        "        if self.keys is not None:\n"
        "            past = (self.keys, self.values)\n",
    ),
    ("return self.keys, self.values", "return past"),
)
cache.edit(
    "returns-the-new",
    "Only the new token is returned; everything that is kept is asked for.",
    ("return self.keys, self.values", "return k, v"),
)
cache.edit(
    "returns-nothing",
    "`append` stores and returns nothing; the kept keys and values are asked for.",
    ("        return self.keys, self.values\n", ""),
)
cache.edit(
    "swapped",
    "Keys and values are returned in the wrong order.",
    ("return self.keys, self.values", "return self.values, self.keys"),
)
cache.wrong(
    "shared",
    "All caches share one list, which belongs to the class; each needs its own.",
    """
class KVCache:
    keys, values = [], []

    def __init__(self, window=None):
        self.window = window

    def __len__(self):
        return len(self.keys)

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        start = -self.window if self.window else None
        keys = np.concatenate(self.keys[start:], axis=-2)
        return keys, np.concatenate(self.values[start:], axis=-2)
""",
)
cache.edit(
    "list",
    "Lists of single tokens are returned; arrays are asked for.",
    (
        "return self.keys, self.values",
        "return list(self.keys.swapaxes(0, -2)), list(self.values.swapaxes(0, -2))",
    ),
)

cache.also(
    "shared",
    """
class KVCache:
    keys, values, seen = [], [], 0

    def __init__(self, window=None):
        self.window = window

    def __len__(self):
        return self.seen

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        self.seen += 1
        start = max(0, len(self.keys) - self.window) if self.window else 0
        keys = np.concatenate(self.keys[start:], axis=-2)
        return keys, np.concatenate(self.values[start:], axis=-2)
""",
)
cache.also(
    "returns-the-past",
    cache.edited(
        (
            "    def append(self, k, v):\n",
            "    def append(self, k, v):\n"
            "        past = self.keys, self.values\n"
            "        past = (k, v) if self.keys is None else past\n",
        ),
        ("return self.keys, self.values", "return past"),
    ),
)
cache.edit(
    "one-too-few",
    "The window keeps one token too few; the new one counts, and so do window - 1 "
    "before it.",
    ("self.keys[..., -self.window :, :]", "self.keys[..., 1 - self.window :, :]"),
    ("self.values[..., -self.window :, :]", "self.values[..., 1 - self.window :, :]"),
)
cache.edit(
    "keys-as-values",
    "The new key is joined to the values, too; the new value belongs there.",
    ("[self.values, v]", "[self.values, k]"),
)
cache.wrong(
    "ring",
    "A full window is overwritten from its start, so that the oldest token no longer "
    "comes first; put the tokens in order before they are returned.",
    """
class KVCache:
    def __init__(self, window=None):
        self.window, self.seen, self.tokens = window, 0, []

    def __len__(self):
        return self.seen

    def append(self, k, v):
        if self.window and self.seen >= self.window:
            self.tokens[self.seen % self.window] = k, v
        else:
            self.tokens.append((k, v))
        self.seen += 1
        return tuple(np.concatenate(arrays, axis=-2) for arrays in zip(*self.tokens))
""",
)
cache.edit(
    "length-of-an-array",
    "`len` of an array is the size of its first axis, of heads or of a batch; count "
    "the tokens.",
    ("return self.seen", "return 0 if self.keys is None else len(self.keys)"),
)
cache.edit(
    "rotates",
    "The cache rotates the keys; it keeps what it is given, and `decode_step` rotates.",
    (
        "        self.seen += 1\n",
        "        k = rotate(k, [self.seen])\n        self.seen += 1\n",
    ),
)
cache.wrong(
    "stacked",
    "`np.stack` makes a new axis for the tokens; they have one already, along which "
    "`np.concatenate` joins them.",
    """
class KVCache:
    def __init__(self, window=None):
        self.window, self.keys, self.values = window, [], []

    def __len__(self):
        return len(self.keys)

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        first = -self.window if self.window else 0
        keys = np.stack(self.keys[first:], axis=-2)
        return keys, np.stack(self.values[first:], axis=-2)
""",
)
cache.edit(
    "float64",
    "The store is made of double-precision zeros, which makes single precision double.",
    ("self.keys, self.values = k, v", "self.keys, self.values = k + EMPTY, v + EMPTY"),
    ("class KVCache:", "EMPTY = np.zeros(1)\n\n\nclass KVCache:"),
)
cache.right(
    "lists",
    """
class KVCache:
    def __init__(self, window=None):
        self.window, self.keys, self.values, self.count = window, [], [], 0

    def append(self, k, v):
        self.keys.append(k.copy())
        self.values.append(v.copy())
        self.count += 1
        if self.window and len(self.keys) > self.window:
            del self.keys[0], self.values[0]
        return np.concatenate(self.keys, axis=-2), np.concatenate(self.values, axis=-2)

    def __len__(self):
        return self.count
""",
)
cache.right(
    "deque",
    """
from collections import deque


class KVCache:
    def __init__(self, window=None):
        self.tokens, self.total = deque(maxlen=window), 0

    def __len__(self):
        return self.total

    def append(self, k, v):
        self.total += 1
        self.tokens.append((np.array(k), np.array(v)))
        keys, values = zip(*self.tokens)
        return np.concatenate(keys, -2), np.concatenate(values, -2)
""",
)
cache.right(
    "buffer",
    """
class KVCache:
    def __init__(self, window=None):
        self.window, self.used, self.keys, self.values = window, 0, None, None

    def __len__(self):
        return self.used

    def append(self, k, v):
        if self.keys is None or self.used == self.keys.shape[-2]:
            self.keys = self.longer(self.keys, k)
            self.values = self.longer(self.values, v)
        self.keys[..., self.used, :] = k[..., 0, :]
        self.values[..., self.used, :] = v[..., 0, :]
        self.used += 1
        start = max(0, self.used - self.window) if self.window else 0
        kept = np.s_[..., start : self.used, :]
        return self.keys[kept].copy(), self.values[kept].copy()

    def longer(self, store, new):
        room = np.empty((*new.shape[:-2], 2 * self.used + 4, new.shape[-1]), new.dtype)
        if store is not None:
            room[..., : self.used, :] = store
        return room
""",
)
cache.right(
    "all-kept-and-cut-on-return",
    """
class KVCache:
    def __init__(self, window=None):
        self.past, self.window = [], window

    def __len__(self):
        return len(self.past)

    def append(self, k, v):
        self.past = [*self.past, (k, v)]
        kept = self.past if self.window is None else self.past[-self.window :]
        return tuple(np.concatenate(arrays, axis=-2) for arrays in zip(*kept))
""",
)


cache.equivalent(
    "both pairs are pairs",
    "two = zip(self.stored, added, strict=True) -> two = zip(self.stored, added)",
    "two = zip(self.stored, added, strict=True) -> "
    "two = zip(self.stored, added, strict=False)",
)


@cache.probe
def outcomes_of_cache(answer: Any) -> list:
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
        one = outcome(first.append, token.copy(), token.copy())
        second = answer()
        if len(second):
            return False
        return alike(one, outcome(second.append, token.copy(), token.copy()))

    if outcome(apart) == ("returned", False, False):
        return ["shared"]  # what else it does depends on what was there before
    ways = [(None, float), (1, float), (2, float), (3, float, 2), (None, np.float32, 2)]
    return [outcome(filled, *way) for way in ways]


# ----------------------------------------------------------- decode_step

decoding = catalog.about(
    check.decode_step,
    """
def decode_step(q, k, v, cache):
    position = np.array([len(cache)])
    q, k = rotate(q, position), rotate(k, position)
    keys, values = cache.append(k, v)
    return grouped_query_attention(q, keys, values)
""",
)

decoding.edit(
    "position-restarts",
    "Every token stands at position 0, as if nothing were rotated: order is lost. Its "
    "position is the number of tokens before it, which the cache knows.",
    ("np.array([len(cache)])", "np.arange(q.shape[-2])"),
)
decoding.edit(
    "position-of-kept",
    "The position is the number of tokens that the window keeps; it has to count all "
    "tokens seen.",
    (
        "    position = np.array([len(cache)])\n",
        "    size = min(len(cache), cache.window or len(cache))\n"
        "    position = np.array([size])\n",
    ),
)
decoding.wrong(
    "query-after-append",
    "The query is rotated after the cache has grown: it stands one position behind its "
    "own key.",
    """
    keys, values = cache.append(rotate(k, [len(cache)]), v)
    return grouped_query_attention(rotate(q, [len(cache)]), keys, values)
""",
)
decoding.edit(
    "key-not-rotated",
    "The new key is stored as it came and never rotated.",
    (
        "q, k = rotate(q, position), rotate(k, position)",
        "q = rotate(q, position)",
    ),
)
decoding.edit(
    "query-not-rotated",
    "The query is not rotated; query and key both have to be.",
    (
        "q, k = rotate(q, position), rotate(k, position)",
        "k = rotate(k, position)",
    ),
)
decoding.edit(
    "rotates-values",
    "The values are rotated as well; positions belong to queries and keys alone.",
    ("cache.append(k, v)", "cache.append(k, rotate(v, position))"),
)
decoding.wrong(
    "rotates-twice",
    "The stored keys are rotated once more at every step; each key is turned once, by "
    "its own position.",
    """
    position = np.array([len(cache)])
    keys, values = cache.append(rotate(k, position), v)
    first = len(cache) - keys.shape[-2]
    keys = rotate(keys, np.arange(first, len(cache)))
    return grouped_query_attention(rotate(q, position), keys, values)
""",
)
decoding.wrong(
    "renumbers-the-window",
    "The kept keys are numbered from 0 while the query counts all tokens: behind a "
    "full window the distances are wrong.",
    """
    position = np.array([len(cache)])
    keys, values = cache.append(k, v)
    keys = rotate(keys, np.arange(keys.shape[-2]))
    return grouped_query_attention(rotate(q, position), keys, values)
""",
)
decoding.edit(
    "upper-left-mask",
    "The mask row of a first token is used: the new query sees the oldest key only.",
    (
        "grouped_query_attention(q, keys, values)",
        "grouped_query_attention(q, keys, values, np.arange(keys.shape[-2]) == 0)",
    ),
)
decoding.edit(
    "without-itself",
    "The new token does not attend to itself.",
    (
        "grouped_query_attention(q, keys, values)",
        "grouped_query_attention(q, keys, values, "
        "np.arange(keys.shape[-2]) < max(keys.shape[-2] - 1, 1))",
    ),
)
decoding.edit(
    "no-past",
    "The new token attends to itself alone; what the cache returned is not used.",
    (
        "grouped_query_attention(q, keys, values)",
        "grouped_query_attention(q, k, v)",
    ),
)
decoding.edit(
    "old-values",
    "The weights over all keys mix the new value alone; the kept values are needed.",
    (
        "grouped_query_attention(q, keys, values)",
        "grouped_query_attention(q, keys, np.broadcast_to(v, values.shape))",
    ),
)
decoding.edit(
    "appended-twice",
    "The token is appended twice: it attends to itself twice, and positions run away.",
    (
        "    keys, values = cache.append(k, v)",
        "    cache.append(k, v)\n    keys, values = cache.append(k, v)",
    ),
)
decoding.edit(
    "falsy-cache",
    "An empty cache counts as false (its length is 0), so the first token is never "
    "stored; ask whether it is None.",
    (
        "    keys, values = cache.append(k, v)",
        "    keys, values = cache.append(k, v) if cache else (k, v)",
    ),
)

decoding.also(
    "rotates-twice",
    """
    position = np.array([len(cache)])
    keys, values = cache.append(rotate(k, position), v)
    keys = rotate(keys, np.arange(keys.shape[-2]))
    return grouped_query_attention(rotate(q, position), keys, values)
""",
)
decoding.also(
    "without-itself",
    decoding.edited(
        (
            "    return grouped",
            "    if len(cache) > 1:\n"
            "        keys, values = keys[..., :-1, :], values[..., :-1, :]\n"
            "    return grouped",
        ),
    ),
)
decoding.edit(
    "swapped",
    "Keys and values are exchanged in the call of `append`, which takes the key first.",
    ("cache.append(k, v)", "cache.append(v, k)"),
)
decoding.wrong(
    "counts-backward",
    "Positions count backward from the newest token, so that every angle has the wrong "
    "sign; an older token stands at a smaller position.",
    """
    keys, values = cache.append(k, v)
    keys = rotate(keys, np.arange(keys.shape[-2])[::-1])
    return grouped_query_attention(rotate(q, [0]), keys, values)
""",
    unseen="between equal tokens, which visible checks use, the sign does not show",
)
decoding.wrong(
    "own-counter",
    "The position is counted outside the cache, by all texts together; each cache "
    "knows how many tokens it has seen.",
    """
step = 0


def decode_step(q, k, v, cache):
    global step
    q, k = rotate(q, [step]), rotate(k, [step])
    step += 1
    return grouped_query_attention(q, *cache.append(k, v))
""",
    unseen="it takes two texts by turns to show",
)
decoding.edit(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    (
        "return grouped_query_attention(q, keys, values)",
        "return grouped_query_attention(q, keys, values)[0]",
    ),
)
decoding.right(
    "in-one-line",
    """
    now = [len(cache)]
    past = cache.append(rotate(k, now), v)
    return grouped_query_attention(rotate(q, now), *past, None)
""",
)
decoding.right(
    "unrotated-cache",
    """
    keys, values = cache.append(k, v)
    last = len(cache) - 1
    positions = np.arange(last - keys.shape[-2] + 1, last + 1)
    keys = rotate(keys, positions)
    return grouped_query_attention(rotate(q, positions[-1:]), keys, values)
""",
)
decoding.right(
    "distances-only",
    """
    keys, values = cache.append(k, v)
    ages = np.arange(keys.shape[-2] - 1, -1, -1)
    return grouped_query_attention(q, rotate(keys, -ages), values)
""",
)
decoding.right(
    "with-a-mask",
    """
    position = np.arange(len(cache), len(cache) + q.shape[-2])
    keys, values = cache.append(rotate(k, position), v.copy())
    mask = np.ones((1, keys.shape[-2]), dtype=bool)
    output, weights = grouped_query_attention(rotate(q, position), keys, values, mask)
    return output, weights
""",
)
decoding.right(
    "own-cache",
    """
class KVCache:
    def __init__(self, window=None):
        self.window, self.tokens, self.position = window, [], 0

    def __len__(self):
        return self.position

    def append(self, k, v):
        self.tokens.append((k, v))
        self.position += 1
        kept = self.tokens[-self.window :] if self.window else self.tokens
        return tuple(np.concatenate(arrays, axis=-2) for arrays in zip(*kept))


def decode_step(q, k, v, cache):
    q = rotate(q, np.array([cache.position]))
    k = rotate(k, np.array([cache.position]))
    return grouped_query_attention(q, *cache.append(k, v))
""",
)


@decoding.probe
def outcomes_of_decoding(answer: Any) -> list:
    """Tell steps apart by their results, with and without a window."""

    def written(window: int | None) -> list:
        waves = np.cos(np.arange(200.0))
        cache, found = library(answer, "", "KVCache")(window), []
        for t in range(5):
            new = waves[20 * t : 20 * t + 20]
            q, k, v = new[:8].reshape(2, 1, 4), new[8:12], new[12:16]
            k, v = k.reshape(1, 1, 4), v.reshape(1, 1, 4)
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

    return [*(outcome(written, window) for window in (None, 2)), outcome(by_turns)]


# ---------------------------------------------------------------------- check_rotate

hunt = catalog.about(
    check.check_rotate,
    """
def check_rotate(rotate):
    x = np.random.default_rng(0).normal(size=(2, 5, 8))
    positions = np.array([0, 3, 4, 7, 20])
    for base in (10000.0, 100.0):
        given = x.copy()
        turned = rotate(given, positions, base=base)
        assert np.array_equal(given, x), "the input has changed"
        assert turned.shape == x.shape
        turns = np.exp(1j * np.outer(positions, base ** (-np.arange(0, 8, 2) / 8)))
        wanted = (x[..., 0::2] + 1j * x[..., 1::2]) * turns
        assert np.allclose(turned[..., 0::2], wanted.real)
        assert np.allclose(turned[..., 1::2], wanted.imag)
    assert rotate(x.astype(np.float32), positions).dtype == np.float32
    whole = rotate(np.arange(8).reshape(2, 4), np.arange(2))
    assert np.issubdtype(whole.dtype, np.floating)
    try:
        rotate(np.ones((2, 3)), np.arange(2))
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)
hunt.hunts(check.rotate)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    rotate(np.ones((3, 4)), np.arange(3))
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
    x = np.arange(12.0).reshape(3, 4)
    ok = bool(np.allclose(rotate(x, np.zeros(3)), x))
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    x = np.arange(12.0).reshape(3, 4)
    ok = bool(np.allclose(rotate(x, np.zeros(3)), x))
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "lengths-only",
    "It asks whether lengths are kept, as every rotation does, a wrong one too.",
    """
    x = np.random.default_rng(0).normal(size=(5, 8))
    turned = rotate(x.copy(), np.arange(5))
    lengths = np.linalg.norm(turned, axis=-1)
    assert np.allclose(lengths, np.linalg.norm(x, axis=-1))
""",
)
hunt.wrong(
    "position-zero",
    "It tries position 0 only, where nothing turns.",
    """
    x = np.random.default_rng(0).normal(size=(1, 8))
    assert np.allclose(rotate(x.copy(), np.array([0])), x)
""",
)
hunt.wrong(
    "relative-only",
    "It asks whether scores depend on distances only; other rotations do that too.",
    """
    q, k = np.random.default_rng(0).normal(size=(2, 1, 8))

    def score(m, n):
        query, key = rotate(q.copy(), np.array([m])), rotate(k.copy(), np.array([n]))
        return (query @ key.T)[0, 0]

    assert np.isclose(score(3, 1), score(9, 7))
    assert not np.isclose(score(3, 1), score(3, 2))
""",
)
hunt.wrong(
    "one-base",
    "It never passes `base`.",
    """
    x = np.random.default_rng(0).normal(size=(5, 8))
    positions = np.array([0, 3, 4, 7, 20])
    given = x.copy()
    turned = rotate(given, positions)
    assert np.array_equal(given, x) and turned.shape == x.shape
    turns = np.exp(1j * np.outer(positions, 10000.0 ** (-np.arange(0, 8, 2) / 8)))
    wanted = (x[..., 0::2] + 1j * x[..., 1::2]) * turns
    assert np.allclose(turned[..., 0::2], wanted.real)
    assert np.allclose(turned[..., 1::2], wanted.imag)
    assert rotate(x.astype(np.float32), positions).dtype == np.float32
    whole = rotate(np.arange(8).reshape(2, 4), np.arange(2))
    assert np.issubdtype(whole.dtype, np.floating)
    try:
        rotate(np.ones((2, 3)), np.arange(2))
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)
hunt.wrong(
    "numbers-only",
    "It compares numbers in double precision: dtypes and odd widths go unseen.",
    """
    x = np.random.default_rng(0).normal(size=(2, 5, 8))
    positions = np.array([0, 3, 4, 7, 20])
    for base in (10000.0, 100.0):
        given = x.copy()
        turned = rotate(given, positions, base=base)
        assert np.array_equal(given, x) and turned.shape == x.shape
        turns = np.exp(1j * np.outer(positions, base ** (-np.arange(0, 8, 2) / 8)))
        wanted = (x[..., 0::2] + 1j * x[..., 1::2]) * turns
        assert np.allclose(turned[..., 0::2], wanted.real)
        assert np.allclose(turned[..., 1::2], wanted.imag)
""",
)
hunt.right(
    "matrices",
    """
    x = np.random.default_rng(4).normal(size=(4, 6))
    where = np.array([1, 0, 9, 50])
    for base in (10000.0, 7.0):
        kept = x.copy()
        got = rotate(x, where, base=base)
        assert (x == kept).all()
        assert got.shape == (4, 6)
        for row, p in enumerate(where):
            for i in range(3):
                t = p * base ** (-2 * i / 6)
                turn = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
                pair = slice(2 * i, 2 * i + 2)
                np.testing.assert_allclose(got[row, pair], turn @ x[row, pair])
    single = rotate(x.astype("float32"), where)
    assert single.dtype == "float32"
    assert rotate(np.arange(12).reshape(2, 6), np.arange(2)).dtype.kind == "f"
    try:
        rotate(np.ones((2, 3)), np.arange(2))
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)
hunt.right(
    "by-hand",
    """
    x = np.array([[1.0, 0.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
    before = x.copy()
    at = np.array([2, 5])
    got = rotate(x, at, base=100.0)
    assert np.array_equal(x, before), "in place"
    c, s = np.cos, np.sin
    low = [3 * c(0.5) - 4 * s(0.5), 3 * s(0.5) + 4 * c(0.5)]
    wanted = [
        [c(2), s(2), -2 * s(0.2), 2 * c(0.2)],
        [c(5) - 2 * s(5), s(5) + 2 * c(5), *low],
    ]
    assert np.shape(got) == (2, 4) and np.allclose(got, wanted)
    wide = rotate(np.ones((1, 6)), np.array([10]), base=8.0)
    assert np.allclose(wide[0, 2:4], [c(5) - s(5), s(5) + c(5)])
    assert rotate(np.ones((1, 2), np.float32), at[:1]).dtype == np.float32
    assert rotate(np.ones((1, 2), int), at[:1]).dtype.kind == "f"
    try:
        rotate(np.ones((2, 3)), np.arange(2))
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)
hunt.right(
    "both-ways",
    """
    x = np.random.default_rng(8).normal(size=(3, 2, 8))
    p = np.array([4, 11])
    same = x.copy()
    there = rotate(x, p, base=50.0)
    assert np.array_equal(x, same)
    assert there.shape == x.shape and there.dtype == x.dtype
    assert np.allclose(rotate(there, -p, base=50.0), x)
    speeds = 50.0 ** (-np.arange(4) / 4)
    z = x[..., ::2] + 1j * x[..., 1::2]
    w = there[..., ::2] + 1j * there[..., 1::2]
    assert np.allclose(w / z, np.exp(1j * p[:, None] * speeds))
    assert np.allclose(rotate(x, p)[..., 2:4], rotate(x, p, 1e4)[..., 2:4])
    assert rotate(x.astype(np.float32), p).dtype == np.float32
    assert np.issubdtype(rotate(np.eye(2, 4, dtype=int), p).dtype, np.floating)
    try:
        rotate(np.ones((2, 3)), np.arange(2))
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "rotate-complex": (
            "A pair is a complex number, and turning it is one multiplication."
        ),
        "rotate-swap-and-sign": (
            "It turns all columns at once: themselves times the cosine, plus their "
            "swapped neighbors times the sine."
        ),
        "grouped_query_attention-grouped-axis": (
            "Query heads get an axis for their group, and broadcasting shares keys "
            "and values without a copy."
        ),
        "grouped_query_attention-head-by-head": (
            "It goes head by head and finds its key-value head by h // group."
        ),
        "window_mask-triangles": (
            "It cuts an older triangle out of the causal one, and puts the sinks back."
        ),
        "window_mask-loops": (
            "Two slices fill each row: the last positions, and the first."
        ),
        "KVCache-lists": (
            "Tokens are kept in two lists, and joined when they are returned."
        ),
        "KVCache-deque": (
            "A `deque` with `maxlen` forgets by itself what has left the window."
        ),
        "decode_step-unrotated-cache": (
            "The cache keeps keys as they came, and all of them are turned at every "
            "step."
        ),
        "decode_step-distances-only": (
            "Only distances matter: the query stays as it is, and each key is "
            "turned back by its age."
        ),
        "check_rotate-by-hand": (
            "Two rows are computed by hand; they tell pairs, signs and speeds apart."
        ),
        "check_rotate-both-ways": (
            "It turns there and back, and reads the angles off ratios of complex "
            "numbers."
        ),
    }
)
