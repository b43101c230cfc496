"""What students get wrong, and right, in 02-scaling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks import scaling as check
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes
from autograder.checks.outcomes import alike, any_error, outcome
from autograder.checks.surroundings import NUMPY_ERRORS

PRELUDE = """
import matplotlib.pyplot as plt
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
"""

catalog = Catalog(check.assignment, PRELUDE)


# ------------------------------------------------------------- score_std

score_std = catalog.about(
    check.score_std,
    """
def score_std(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(axis=1).std())
""",
)

score_std.edit(
    "scaled",
    "The dot products are already divided by √d_k; their own spread is asked for.",
    ("(q * k).sum(axis=1)", "((q * k).sum(axis=1) / np.sqrt(d_k))"),
)
score_std.edit(
    "variance",
    "This is the variance; its square root is asked for.",
    (".std()", ".var()"),
)
score_std.wrong(
    "theory",
    "The formula √d_k is returned; the spread of the drawn pairs is asked for.",
    """
    return float(np.sqrt(d_k))
""",
)
score_std.edit(
    "own-generator",
    "Numbers are drawn from another generator than the one that is passed in.",
    ("q = rng", "rng = np.random.default_rng(0)\n    q = rng"),
)
score_std.edit(
    "all-pairs",
    "Every query is paired with every key; each has one partner.",
    ("(q * k).sum(axis=1)", "(q @ k.T)"),
)
score_std.edit(
    "products",
    "The products are not summed: a dot product adds up all d_k of them.",
    ("sum(axis=1).", ""),
)
score_std.edit(
    "mean-of-products",
    "The products are averaged over d_k instead of summed.",
    ("sum", "mean"),
)
score_std.wrong(
    "uniform",
    "The vectors are drawn uniformly; they should be standard normal.",
    """
    q = rng.random((n_pairs, d_k))
    k = rng.random((n_pairs, d_k))
    return float((q * k).sum(axis=1).std())
""",
)
score_std.wrong(
    "same-vector",
    "Each query meets itself: the key has to be a second draw.",
    """
    q = rng.standard_normal((n_pairs, d_k))
    return float((q * q).sum(axis=1).std())
""",
)
score_std.wrong(
    "transposed-draw",
    "The arrays are drawn as (d_k, n_pairs); the order of the numbers is part of the "
    "task.",
    """
    q = rng.standard_normal((d_k, n_pairs))
    k = rng.standard_normal((d_k, n_pairs))
    return float((q * k).sum(axis=0).std())
""",
)
score_std.edit(
    "mean-absolute",
    "This is the mean absolute dot product; the standard deviation is asked for.",
    ("(q * k).sum(axis=1).std", "np.abs((q * k).sum(axis=1)).mean"),
)
score_std.nothing()
score_std.wrong(
    "by-turns",
    "A query and a key are drawn by turns; all queries are drawn first, then all keys: "
    "the order of the numbers is part of the task.",
    """
    dots = []
    for _ in range(n_pairs):
        q = rng.standard_normal(d_k)
        k = rng.standard_normal(d_k)
        dots.append(q @ k)
    return float(np.std(dots))
""",
)
score_std.also(
    "own-generator",
    """
    q = np.random.randn(n_pairs, d_k)
    k = np.random.randn(n_pairs, d_k)
    return float((q * k).sum(axis=1).std())
""",
)
score_std.edit(
    "one-query",
    "One query meets all keys; each pair has a query of its own.",
    ("q = rng.standard_normal((n_pairs, d_k))", "q = rng.standard_normal(d_k)"),
)
score_std.edit(
    "over-pairs",
    "The sum runs over the pairs; a dot product sums over the width, the last axis.",
    ("axis=1", "axis=0"),
)
score_std.edit(
    "array",
    "The dot products themselves are returned; their standard deviation is asked for.",
    ("float((q * k).sum(axis=1).std())", "(q * k).sum(axis=1)"),
)
score_std.right(
    "einsum",
    """
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return np.einsum("nd,nd->n", q, k).std()
""",
)
score_std.right(
    "loop",
    """
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    dots = [np.dot(a, b) for a, b in zip(q, k)]
    return np.std(dots, ddof=1)
""",
)
score_std.right(
    "by-hand",
    """
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    dots = np.matmul(q[:, None, :], k[:, :, None]).ravel()
    return float(np.sqrt(np.mean((dots - dots.mean()) ** 2)))
""",
)
score_std.equivalent(
    "the array has two axes",
    "return float(np.std(np.sum(queries * keys, axis=-1))) -> return "
    "float(np.std(np.sum(queries * keys, axis=1)))",
)


# --------------------------------------------------------------- entropy

entropy = catalog.about(
    check.entropy,
    """
def entropy(weights):
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum(axis=-1)
""",
)

entropy.edit(
    "sign",
    "The minus sign is missing: entropy is never negative.",
    ("return -", "return "),
)
entropy.edit(
    "bits",
    "The logarithm has base 2, which gives bits; nats are asked for.",
    ("np.log", "np.log2"),
)
entropy.edit(
    "base-ten",
    "The logarithm has base 10; nats are asked for.",
    ("np.log", "np.log10"),
)
entropy.wrong(
    "nan",
    "A weight of 0 gives 0 times minus infinity, which is NaN; it has to count as 0.",
    """
    return -(weights * np.log(weights)).sum(axis=-1)
""",
)
entropy.wrong(
    "noisy",
    "The NaN of a zero weight is replaced afterwards, but the warning remains.",
    """
    return -np.nan_to_num(weights * np.log(weights)).sum(axis=-1)
""",
)
entropy.edit(
    "one-number",
    "The sum runs over everything; each row has an entropy of its own.",
    ("axis=-1", ""),
)
entropy.edit(
    "first-axis",
    "The sum runs over the first axis; the keys are on the last one.",
    ("axis=-1", "axis=0"),
)
entropy.edit(
    "mean",
    "The terms are averaged instead of summed.",
    ("sum", "mean"),
)
entropy.wrong(
    "perplexity",
    "This is the exponential of the entropy, the perplexity.",
    """
    safe = np.where(weights > 0, weights, 1.0)
    return np.exp(-(weights * np.log(safe)).sum(axis=-1))
""",
)
entropy.edit(
    "normalized",
    "The entropy is divided by log n, its largest value.",
    ("(axis=-1)", "(axis=-1) / np.log(weights.shape[-1])"),
)
entropy.wrong(
    "gini",
    "This is 1 minus the sum of squares, another measure of spread.",
    """
    return 1 - (weights**2).sum(axis=-1)
""",
)
entropy.edit(
    "no-weights",
    "The logarithms are summed without their weights.",
    ("(weights * np.log(safe))", "np.log(safe)"),
)
entropy.nothing()
entropy.wrong(
    "epsilon",
    "The number added inside the logarithm is too large, and moves the result; the "
    "logarithm of 0 is all it has to avoid.",
    """
    return -(weights * np.log(weights + 1e-3)).sum(axis=-1)
""",
)
for size in ("1e-2", "1e-4", "1e-5", "1e-6"):
    entropy.also(
        "epsilon", f"    return -(weights * np.log(weights + {size})).sum(axis=-1)\n"
    )
entropy.edit(
    "keepdims",
    "The last axis is kept with length 1 (`keepdims`); one number for each row is "
    "asked for.",
    ("axis=-1", "axis=-1, keepdims=True"),
)
entropy.wrong(
    "softmax-again",
    "Another softmax is applied first; these are weights already.",
    """
    w = softmax(weights)
    return -(w * np.log(w)).sum(axis=-1)
""",
)
entropy.wrong(
    "two-axes",
    "Only arrays with two axes work; the last of any number of axes is summed over.",
    """
    result = []
    for row in weights:
        terms = [w * np.log(w) for w in row if w > 0]
        result.append(-sum(terms))
    return np.array(result, dtype=float)
""",
)
entropy.also(
    "two-axes",
    """
    n_rows, n_columns = weights.shape
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum(axis=-1)
""",
)
entropy.wrong(
    "in-place",
    "The zeros are overwritten in the caller's array; work on a copy.",
    """
    zero = weights == 0
    weights[zero] = 1.0
    return -(weights * np.log(weights)).sum(axis=-1)
""",
)
entropy.right(
    "where",
    """
    safe = np.where(weights > 0, weights, 1.0)
    return -np.sum(weights * np.log(safe), axis=-1)
""",
)
entropy.right(
    "log-where",
    """
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...n,...n->...", weights, logs)
""",
)
entropy.right(
    "per-row",
    """
    def one(row):
        row = row[row > 0]
        return -(row * np.log(row)).sum()

    return np.apply_along_axis(one, -1, weights)
""",
)
entropy.right(
    "tiny",
    """
    return -(weights * np.log(weights + 1e-12)).sum(-1)
""",
)
entropy.equivalent(
    "the logarithm is multiplied by 0",
    "harmless = np.where(weights > 0, weights, 1) -> harmless = np.where(weights > "
    "0, weights, 2)",
)


# ------------------------------------------------------ softmax_jacobian

jacobian = catalog.about(
    check.softmax_jacobian,
    """
def softmax_jacobian(weights):
    return np.diag(weights) - np.outer(weights, weights)
""",
)

jacobian.wrong(
    "diagonal-only",
    "Only the diagonal is filled; a weight also moves with the other scores.",
    """
    return np.diag(weights * (1 - weights))
""",
)
jacobian.wrong(
    "sign",
    "The sign is reversed: a weight grows with its own score.",
    """
    return np.outer(weights, weights) - np.diag(weights)
""",
)
jacobian.edit(
    "no-diagonal",
    "The diagonal term w_i is missing.",
    ("np.diag(weights) - ", "-"),
)
jacobian.edit(
    "plus",
    "The outer product is added; it has to be subtracted.",
    ("- np.outer", "+ np.outer"),
)
jacobian.wrong(
    "scores",
    "The weights are treated as scores: another softmax is applied to them first.",
    """
    w = np.exp(weights) / np.exp(weights).sum()
    return np.diag(w) - np.outer(w, w)
""",
)
jacobian.edit(
    "squares",
    "The squares are on the diagonal twice: diag(w) is meant, not diag(w²).",
    ("(weights) -", "(weights**2) -"),
)
jacobian.wrong(
    "vector",
    "Only the vector w(1 - w) is returned; the Jacobian is a matrix.",
    """
    return weights * (1 - weights)
""",
)
jacobian.wrong(
    "inner-product",
    "The inner product w · w is subtracted everywhere instead of the outer product.",
    """
    return np.diag(weights) - weights @ weights
""",
)
jacobian.wrong(
    "row-of-squares",
    "The vector w² is subtracted from every row instead of the outer product.",
    """
    return np.diag(weights) - weights * weights
""",
)
jacobian.edit(
    "identity",
    "The identity stands where diag(w) should.",
    ("diag(weights)", "eye(len(weights))"),
)
jacobian.nothing()
jacobian.wrong(
    "own-weight-twice",
    "Beside the diagonal w_i meets itself; entry (i, j) takes both weights, w_i and "
    "w_j.",
    """
    column = weights[:, None]
    return column * (np.eye(len(weights)) - column)
""",
)
jacobian.wrong(
    "one-axis-reserved",
    "The array for the result has one axis, as `zeros_like` of the weights; a matrix "
    "has two.",
    """
    J = np.zeros_like(weights)
    for i in range(len(weights)):
        for j in range(len(weights)):
            J[i, j] = weights[i] * ((i == j) - weights[j])
    return J
""",
)
jacobian.edit(
    "one-triangle",
    "One triangle stays empty; the matrix is symmetric.",
    (
        "np.diag(weights) - np.outer(weights, weights)",
        "np.triu(np.diag(weights) - np.outer(weights, weights))",
    ),
)
jacobian.also(
    "one-triangle",
    """
    return np.tril(np.diag(weights) - np.outer(weights, weights))
""",
)
jacobian.wrong(
    "differences",
    "The derivatives are differences over a step, which are never exact; both cases "
    "can be written with weights alone.",
    """
    steps = np.log(weights)[:, None] + 0.1 * np.eye(len(weights))
    return (softmax(steps, axis=0) - weights[:, None]) / 0.1
""",
)
for step in ("1e-2", "1e-3"):
    jacobian.also(
        "differences",
        f"""
    steps = np.log(weights)[:, None] + {step} * np.eye(len(weights))
    return (softmax(steps, axis=0) - weights[:, None]) / {step}
""",
    )
jacobian.wrong(
    "no-minus",
    "The entries beside the diagonal lack their minus: a weight shrinks when another "
    "score grows.",
    """
    J = np.outer(weights, weights)
    np.fill_diagonal(J, weights * (1 - weights))
    return J
""",
)
jacobian.wrong(
    "bare-diagonal",
    "The diagonal holds w_i, without its square: it has to be w_i (1 - w_i).",
    """
    J = -np.outer(weights, weights)
    np.fill_diagonal(J, weights)
    return J
""",
)
jacobian.wrong(
    "sigmoid",
    "Every entry is w_i (1 - w_j), which is right on the diagonal alone.",
    """
    return np.outer(weights, 1 - weights)
""",
)
jacobian.right("outer", jacobian.reference)
jacobian.right(
    "columns",
    """
    column = weights[:, None]
    return column * (np.eye(len(weights)) - weights)
""",
)
jacobian.right(
    "loops",
    """
    n = len(weights)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = weights[i] * ((i == j) - weights[j])
    return result
""",
)


# ------------------------------------------------------- plot_saturation

plot = catalog.about(
    check.plot_saturation,
    """
def plot_saturation(d_ks, rng):
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores).max(axis=-1).mean())
        lines["scaled"].append(softmax(scaled).max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
)

plot.wrong(
    "swapped-labels",
    "The two labels are swapped: the line that nears 1 is the unscaled one.",
    """
    fig, ax = plt.subplots()
    lines = {"scaled": [], "unscaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["scaled"].append(softmax(scores).max(axis=-1).mean())
        lines["unscaled"].append(softmax(scaled).max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
)
plot.edit(
    "divides-by-d_k",
    "The scaled scores are divided by d_k instead of √d_k, which flattens the weights.",
    ("np.sqrt(d_k)", "d_k"),
)
plot.edit(
    "multiplies",
    "The scaled scores are multiplied by √d_k instead of divided by it.",
    ("scores /", "scores *"),
)
plot.edit(
    "no-labels",
    "The lines have no labels: without them a reader cannot tell which is which.",
    (", label=name", ""),
    ("ax.legend()\n    ", ""),
)
plot.edit(
    "no-legend",
    "The lines are labeled, but the legend is never drawn.",
    ("ax.legend()\n    ", ""),
)
plot.edit(
    "no-axis-labels",
    "The axes are not labeled.",
    ('ax.set_xlabel("d_k")\n    ax.set_ylabel("mean largest weight")\n    ', ""),
)
plot.edit(
    "index-axis",
    "The values are drawn against their number 0, 1, 2; x has to be d_k.",
    ("d_ks, values", "values"),
)
plot.edit(
    "smallest",
    "The mean smallest weight is drawn; the largest one is asked for.",
    ("(scores).max", "(scores).min"),
    ("(scaled).max", "(scaled).min"),
)
plot.edit(
    "largest-of-all",
    "The largest weight of all queries is drawn; it is the mean over the queries "
    "that is asked for.",
    ("(scores).max(axis=-1).mean()", "(scores).max()"),
    ("(scaled).max(axis=-1).mean()", "(scaled).max()"),
)
plot.edit(
    "over-queries",
    "The softmax runs over the queries; each query's weights have to sum to 1 over "
    "its keys.",
    ("(scores)", "(scores, axis=0)"),
    ("(scaled)", "(scaled, axis=0)"),
)
plot.edit(
    "largest-score",
    "The largest score is drawn; the softmax is missing.",
    ("softmax(scores)", "scores"),
    ("softmax(scaled)", "scaled"),
)
plot.edit(
    "fixed-widths",
    "The widths are written into the function; they come in as `d_ks`.",
    ("fig, ax", "d_ks = [4, 16, 64, 256, 1024]\n    fig, ax"),
)
plot.edit(
    "figure",
    "The figure is returned; the Axes is asked for.",
    ("return ax", "return fig"),
)
plot.edit(
    "nothing",
    "The plot is drawn but not returned: end with `return ax`.",
    ("\n    return ax", ""),
)
plot.right(
    "figure-method",
    plot.edited(
        ("fig, ax = plt.subplots", "ax = plt.figure().add_subplot"),
        (
            "plot(d_ks, values, label=name)\n"
            '    ax.set_xlabel("d_k")\n'
            '    ax.set_ylabel("mean largest weight")',
            'semilogx(d_ks, values, "o-", label=name.title())\n'
            '    ax.set(xlabel="width", ylabel="largest weight")',
        ),
    ),
)
plot.right(
    "pyplot",
    """
    means = []
    for d_k in d_ks:
        q = rng.standard_normal((500, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = np.einsum("qd,qkd->qk", q, k)
        both = softmax(scores), softmax(scores * d_k**-0.5)
        means.append([w.max(1).mean() for w in both])
    plt.figure()
    plt.plot(d_ks, np.array(means))
    plt.legend(["unscaled", "scaled by √d_k"])
    plt.xlabel("d_k")
    plt.ylabel("weight")
    return plt.gca()
""",
)
plot.right(
    "errorbars",
    plot.edited(
        (
            "plot(d_ks, values, label=name)",
            'errorbar(d_ks, values, yerr=0.01, label=f"{name} scores")',
        ),
    ),
)
plot.equivalent(
    "a matter of taste",
    "_, ax = plt.subplots(layout='constrained') -> _, ax = plt.subplots()",
)
plot.equivalent(
    "the axis may be linear",
    "ax.set(xscale='log', xlabel='width d_k', ylabel='mean largest weight') -> "
    "ax.set(xlabel='width d_k', ylabel='mean largest weight')",
)
plot.equivalent(
    "the array has two axes",
    "powers = np.exp((scores - scores.max(-1, keepdims=True)) / divisor) -> powers = "
    "np.exp((scores - scores.max(1, keepdims=True)) / divisor)",
    "largest[name].append(np.mean(1 / powers.sum(-1))) -> "
    "largest[name].append(np.mean(1 / powers.sum(1)))",
)


# --------------------------------------------- how answers are told apart


@score_std.probe
def probe_score_std(answer: Any) -> list:
    """Tell spreads apart on the same draws, and whether these are from ``rng``."""
    first, again, other = (
        outcome(answer, 9, 5, np.random.default_rng(seed)) for seed in (8, 8, 9)
    )
    many = outcome(answer, 9, 4000, np.random.default_rng(8))
    drawn = alike(many, ("returned", 3.0, False), 0.1) and not alike(many, first)
    if drawn and (alike(first, other) or not alike(first, again)):
        return ["not from rng"]  # whichever numbers they are
    return [first, outcome(answer, 3, 40, np.random.default_rng(8))]


@entropy.probe
def probe_entropy(answer: Any) -> list:
    """Tell entropies apart by values, axes, zeros and warnings."""
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    zeros = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    with warnings.catch_warnings(record=True) as caught, np.errstate(**NUMPY_ERRORS):
        warnings.simplefilter("always")
        found = [outcome(answer, weights), outcome(answer, zeros), bool(caught)]
        # many equal weights show what is added to each
        even = outcome(answer, np.full((1, 1000), 1e-3))
        others = [weights[0], np.stack([weights, weights])]
        return [*found, even, *(any_error(outcome(answer, each)) for each in others)]


@jacobian.probe
def probe_softmax_jacobian(answer: Any) -> list:
    """Tell matrices apart by their entries."""
    return [outcome(answer, np.array(w)) for w in ([0.1, 0.2, 0.7], [0.5, 0.5])]


@plot.probe
def probe_plot_saturation(answer: Any) -> list:
    """Tell plots apart by curves (coarsely: they are random), labels and type."""
    result = outcome(answer, [2, 8, 32, 300], np.random.default_rng(9))
    if result[0] == "raised":
        return [result]
    try:
        description = describe_axes(result[1])
    except CheckFailed:
        return [type(result[1]).__name__]
    named = [bool(description[key]) for key in ("xlabel", "ylabel", "legend")]
    curves = [
        [c["label"].casefold() in ("unscaled", "scaled"), c["x"], level(c["y"])]
        for c in sorted(description["curves"], key=lambda c: c["label"].casefold())
    ]
    return [named, curves]


def level(y: np.ndarray) -> list:
    """Where a random curve runs: low, moderate, high or beyond, at each point."""
    return np.digitize(y, [0.005, 0.12, 0.215, 0.45, 0.8, 0.995, 1.001]).tolist()


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "score_std-einsum": (
            "`einsum` multiplies and sums in one step, without an array of all "
            "products."
        ),
        "score_std-loop": (
            "It takes pair after pair, and divides by n − 1 instead of n, which "
            "hardly matters for many pairs."
        ),
        "entropy-log-where": (
            "The logarithm is taken only where there is weight; `out` leaves 0 "
            "elsewhere."
        ),
        "entropy-tiny": (
            "A tiny number inside the logarithm avoids the case of 0, for an error "
            "as tiny."
        ),
        "softmax_jacobian-columns": (
            "It takes the weight out of each row: weight i times the row of δ_ij "
            "minus weight j."
        ),
        "softmax_jacobian-loops": (
            "It writes the formula out, entry by entry: slow, and easy to compare "
            "with the book."
        ),
        "plot_saturation-figure-method": (
            "The horizontal axis is logarithmic, so that doublings of d_k are "
            "equally far apart."
        ),
        "plot_saturation-pyplot": (
            "Both lines are drawn by one call, as two columns, and pyplot remembers "
            "the axes."
        ),
    }
)
