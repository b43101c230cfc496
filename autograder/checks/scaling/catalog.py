"""What students get wrong, and right, in 02-scaling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autograder.checks.catalog import Catalog, Misconception, Style, outcome
from autograder.checks.expect import LOUD
from autograder.checks.figures import describe_axes
from autograder.checks.question import CheckFailed

CHAPTER = "02-scaling"

PRELUDE = """
import matplotlib.pyplot as plt
import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)
"""

SIGNATURES = {
    "score_std": ("d_k, n_pairs, rng", "variance-of-a-dot-product"),
    "entropy": ("weights", "entropy"),
    "softmax_jacobian": ("weights", "the-jacobian"),
    "plot_saturation": ("d_ks, rng", "saturation"),
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


SCORE_STD = [
    wrong(
        "score_std",
        "scaled",
        "The dot products are already divided by √d_k; their own spread is asked for.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float(((q * k).sum(axis=1) / np.sqrt(d_k)).std())
""",
    ),
    wrong(
        "score_std",
        "variance",
        "This is the variance; its square root is asked for.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(axis=1).var())
""",
    ),
    wrong(
        "score_std",
        "theory",
        "The formula √d_k is returned; the spread of the drawn pairs is asked for.",
        """\
    return float(np.sqrt(d_k))
""",
    ),
    wrong(
        "score_std",
        "own-generator",
        "The generator that is passed in is not used.",
        """\
    rng = np.random.default_rng(0)
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).sum(axis=1).std())
""",
    ),
    wrong(
        "score_std",
        "all-pairs",
        "Every query is paired with every key; each has one partner.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q @ k.T).std())
""",
    ),
    wrong(
        "score_std",
        "products",
        "The products are not summed: a dot product adds up all d_k of them.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).std())
""",
    ),
    wrong(
        "score_std",
        "mean-of-products",
        "The products are averaged over d_k instead of summed.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float((q * k).mean(axis=1).std())
""",
    ),
    wrong(
        "score_std",
        "uniform",
        "The vectors are drawn uniformly; they should be standard normal.",
        """\
    q = rng.random((n_pairs, d_k))
    k = rng.random((n_pairs, d_k))
    return float((q * k).sum(axis=1).std())
""",
    ),
    wrong(
        "score_std",
        "same-vector",
        "Each query meets itself: the key has to be a second draw.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    return float((q * q).sum(axis=1).std())
""",
    ),
    wrong(
        "score_std",
        "transposed-draw",
        "The arrays are drawn as (d_k, n_pairs); the order of the numbers is "
        "part of the task.",
        """\
    q = rng.standard_normal((d_k, n_pairs))
    k = rng.standard_normal((d_k, n_pairs))
    return float((q * k).sum(axis=0).std())
""",
    ),
    wrong(
        "score_std",
        "mean-absolute",
        "This is the mean absolute dot product; the standard deviation is asked for.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return float(np.abs((q * k).sum(axis=1)).mean())
""",
    ),
    wrong(
        "score_std",
        "array",
        "The dot products themselves are returned; their standard deviation "
        "is asked for.",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return (q * k).sum(axis=1)
""",
    ),
]

ENTROPY = [
    wrong(
        "entropy",
        "sign",
        "The minus sign is missing: entropy is never negative.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return (weights * np.log(safe)).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "bits",
        "The logarithm has base 2, which gives bits; nats are asked for.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log2(safe)).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "base-ten",
        "The logarithm has base 10; nats are asked for.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log10(safe)).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "nan",
        "A weight of 0 gives 0 times minus infinity, which is NaN; it has to "
        "count as 0.",
        """\
    return -(weights * np.log(weights)).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "noisy",
        "The NaN of a zero weight is replaced afterwards, but the warning remains.",
        """\
    return -np.nan_to_num(weights * np.log(weights)).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "one-number",
        "The sum runs over everything; each row has an entropy of its own.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum()
""",
    ),
    wrong(
        "entropy",
        "first-axis",
        "The sum runs over the first axis; the keys are on the last one.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum(axis=0)
""",
    ),
    wrong(
        "entropy",
        "mean",
        "The terms are averaged instead of summed.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).mean(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "perplexity",
        "This is the exponential of the entropy, the perplexity.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return np.exp(-(weights * np.log(safe)).sum(axis=-1))
""",
    ),
    wrong(
        "entropy",
        "normalized",
        "The entropy is divided by log n, its largest value.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -(weights * np.log(safe)).sum(axis=-1) / np.log(weights.shape[-1])
""",
    ),
    wrong(
        "entropy",
        "gini",
        "This is 1 minus the sum of squares, another measure of spread.",
        """\
    return 1 - (weights**2).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "no-weights",
        "The logarithms are summed without their weights.",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -np.log(safe).sum(axis=-1)
""",
    ),
    wrong(
        "entropy",
        "in-place",
        "The zeros are overwritten in the caller's array; work on a copy.",
        """\
    zero = weights == 0
    weights[zero] = 1.0
    return -(weights * np.log(weights)).sum(axis=-1)
""",
    ),
]

JACOBIAN = [
    wrong(
        "softmax_jacobian",
        "diagonal-only",
        "Only the diagonal is filled; a weight also moves with the other scores.",
        """\
    return np.diag(weights * (1 - weights))
""",
    ),
    wrong(
        "softmax_jacobian",
        "sign",
        "The sign is reversed: a weight grows with its own score.",
        """\
    return np.outer(weights, weights) - np.diag(weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "no-diagonal",
        "The diagonal term w_i is missing.",
        """\
    return -np.outer(weights, weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "plus",
        "The outer product is added; it has to be subtracted.",
        """\
    return np.diag(weights) + np.outer(weights, weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "scores",
        "The weights are treated as scores: another softmax is applied to them first.",
        """\
    w = np.exp(weights) / np.exp(weights).sum()
    return np.diag(w) - np.outer(w, w)
""",
    ),
    wrong(
        "softmax_jacobian",
        "squares",
        "The squares are on the diagonal twice: diag(w) is meant, not diag(w²).",
        """\
    return np.diag(weights**2) - np.outer(weights, weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "vector",
        "Only the vector w(1 - w) is returned; the Jacobian is a matrix.",
        """\
    return weights * (1 - weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "inner-product",
        "The inner product w · w is subtracted everywhere instead of the "
        "outer product.",
        """\
    return np.diag(weights) - weights @ weights
""",
    ),
    wrong(
        "softmax_jacobian",
        "row-of-squares",
        "The vector w² is subtracted from every row instead of the outer product.",
        """\
    return np.diag(weights) - weights * weights
""",
    ),
    wrong(
        "softmax_jacobian",
        "identity",
        "The identity stands where diag(w) should.",
        """\
    return np.eye(len(weights)) - np.outer(weights, weights)
""",
    ),
    wrong(
        "softmax_jacobian",
        "sigmoid",
        "Every entry is w_i (1 - w_j), which is right on the diagonal alone.",
        """\
    return np.outer(weights, 1 - weights)
""",
    ),
]

PLOT = [
    wrong(
        "plot_saturation",
        "swapped-labels",
        "The two labels are swapped: the line that nears 1 is the unscaled one.",
        """\
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
    ),
    wrong(
        "plot_saturation",
        "divides-by-d_k",
        "The scaled scores are divided by d_k instead of √d_k, which flattens"
        " the weights.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / d_k
        lines["unscaled"].append(softmax(scores).max(axis=-1).mean())
        lines["scaled"].append(softmax(scaled).max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "multiplies",
        "The scaled scores are multiplied by √d_k instead of divided by it.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores * np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores).max(axis=-1).mean())
        lines["scaled"].append(softmax(scaled).max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "no-labels",
        "The lines have no labels: without them a reader cannot tell which is which.",
        """\
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
        ax.plot(d_ks, values)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "no-legend",
        "The lines are labeled, but the legend is never drawn.",
        """\
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
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "no-axis-labels",
        "The axes are not labeled.",
        """\
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
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "index-axis",
        "The values are drawn against their number 0, 1, 2; x has to be d_k.",
        """\
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
        ax.plot(values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "smallest",
        "The mean smallest weight is drawn; the largest one is asked for.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores).min(axis=-1).mean())
        lines["scaled"].append(softmax(scaled).min(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "largest-of-all",
        "The largest weight of all queries is drawn; it is the mean over the "
        "queries that is asked for.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores).max())
        lines["scaled"].append(softmax(scaled).max())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "over-queries",
        "The softmax runs over the queries; each query's weights have to sum "
        "to 1 over its keys.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores, axis=0).max(axis=-1).mean())
        lines["scaled"].append(softmax(scaled, axis=0).max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "largest-score",
        "The largest score is drawn; the softmax is missing.",
        """\
    fig, ax = plt.subplots()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(scores.max(axis=-1).mean())
        lines["scaled"].append(scaled.max(axis=-1).mean())
    for name, values in lines.items():
        ax.plot(d_ks, values, label=name)
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_saturation",
        "fixed-widths",
        "The widths are written into the function; they come in as `d_ks`.",
        """\
    d_ks = [4, 16, 64, 256, 1024]
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
    ),
    wrong(
        "plot_saturation",
        "figure",
        "The figure is returned; the Axes is asked for.",
        """\
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
    return fig
""",
    ),
    wrong(
        "plot_saturation",
        "nothing",
        "The plot is drawn but not returned: end with `return ax`.",
        """\
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
""",
    ),
]

STYLES = [
    right(
        "score_std",
        "einsum",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    return np.einsum("nd,nd->n", q, k).std()
""",
    ),
    right(
        "score_std",
        "loop",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    dots = [np.dot(a, b) for a, b in zip(q, k)]
    return np.std(dots, ddof=1)
""",
    ),
    right(
        "score_std",
        "by-hand",
        """\
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal((n_pairs, d_k))
    dots = np.matmul(q[:, None, :], k[:, :, None]).ravel()
    return float(np.sqrt(np.mean((dots - dots.mean()) ** 2)))
""",
    ),
    right(
        "entropy",
        "where",
        """\
    safe = np.where(weights > 0, weights, 1.0)
    return -np.sum(weights * np.log(safe), axis=-1)
""",
    ),
    right(
        "entropy",
        "log-where",
        """\
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -np.einsum("...n,...n->...", weights, logs)
""",
    ),
    right(
        "entropy",
        "per-row",
        """\
    def one(row):
        row = row[row > 0]
        return -(row * np.log(row)).sum()

    return np.apply_along_axis(one, -1, weights)
""",
    ),
    right(
        "entropy",
        "tiny",
        """\
    return -(weights * np.log(weights + 1e-12)).sum(-1)
""",
    ),
    right(
        "softmax_jacobian",
        "outer",
        """\
    return np.diag(weights) - np.outer(weights, weights)
""",
    ),
    right(
        "softmax_jacobian",
        "columns",
        """\
    column = weights[:, None]
    return column * (np.eye(len(weights)) - weights)
""",
    ),
    right(
        "softmax_jacobian",
        "loops",
        """\
    n = len(weights)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = weights[i] * ((i == j) - weights[j])
    return result
""",
    ),
    right(
        "plot_saturation",
        "figure-method",
        """\
    ax = plt.figure().add_subplot()
    lines = {"unscaled": [], "scaled": []}
    for d_k in d_ks:
        q = rng.standard_normal((500, 1, d_k))
        k = rng.standard_normal((500, 10, d_k))
        scores = (q * k).sum(axis=-1)
        scaled = scores / np.sqrt(d_k)
        lines["unscaled"].append(softmax(scores).max(axis=-1).mean())
        lines["scaled"].append(softmax(scaled).max(axis=-1).mean())
    for name, values in lines.items():
        ax.semilogx(d_ks, values, "o-", label=name.title())
    ax.set(xlabel="width", ylabel="largest weight")
    ax.legend()
    return ax
""",
    ),
    right(
        "plot_saturation",
        "pyplot",
        """\
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
    ),
    right(
        "plot_saturation",
        "errorbars",
        """\
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
        ax.errorbar(d_ks, values, yerr=0.01, label=f"{name} scores")
    ax.set_xlabel("d_k")
    ax.set_ylabel("mean largest weight")
    ax.legend()
    return ax
""",
    ),
]

catalog = Catalog(PRELUDE, [*SCORE_STD, *ENTROPY, *JACOBIAN, *PLOT], STYLES)


@catalog.probe("score_std")
def probe_score_std(answer: Any) -> list:
    """Tell spreads apart on the same draws."""
    return [
        outcome(answer, d, n, np.random.default_rng(8)) for d, n in ((9, 5), (3, 40))
    ]


@catalog.probe("entropy")
def probe_entropy(answer: Any) -> list:
    """Tell entropies apart by values, axes, zeros and warnings."""
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    zeros = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    with warnings.catch_warnings(record=True) as caught, np.errstate(**LOUD):
        warnings.simplefilter("always")
        return [outcome(answer, weights), outcome(answer, zeros), bool(caught)]


@catalog.probe("softmax_jacobian")
def probe_softmax_jacobian(answer: Any) -> list:
    """Tell matrices apart by their entries."""
    return [outcome(answer, np.array(w)) for w in ([0.1, 0.2, 0.7], [0.5, 0.5])]


@catalog.probe("plot_saturation")
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
