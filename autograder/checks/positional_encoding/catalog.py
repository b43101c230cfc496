"""What students get wrong, and right, in 05-positional-encoding."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.checks.catalog import Catalog, Misconception, Style, outcome
from autograder.checks.figures import describe_axes
from autograder.checks.question import CheckFailed

CHAPTER = "05-positional-encoding"

PRELUDE = """
import matplotlib.pyplot as plt
import numpy as np
"""

SIGNATURES = {
    "positional_encoding": ("n_positions, d_model", "sinusoids"),
    "shift_matrix": ("k, d_model", "shifts"),
    "plot_encoding_heatmap": ("pe", "heat-map"),
    "plot_encoding_waves": ("pe, dims", "waves"),
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


ENCODING = [
    wrong(
        "positional_encoding",
        "halves",
        "All sines stand first and all cosines after them; they have to alternate.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, : d_model // 2] = np.sin(angles)
    encoding[:, d_model // 2 :] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "swapped",
        "Cosines are on the even columns and sines on the odd ones; it is the"
        " other way round.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.cos(angles)
    encoding[:, 1::2] = np.sin(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "doubled-exponent",
        "The exponent counts twice: column 2i has the frequency 10000^(-2i / d_model).",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = 2 * np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "halved-exponent",
        "The exponent is half of what it should be: i / d_model instead of 2i"
        " / d_model.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(d_model // 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "frequency-per-column",
        "Every column gets a frequency of its own; a sine and the cosine "
        "after it share one.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    angles = positions / 10000 ** (np.arange(d_model) / d_model)
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles[:, 0::2])
    encoding[:, 1::2] = np.cos(angles[:, 1::2])
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "base-1000",
        "The base is 1000; it has to be 10000.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 1000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "multiplied",
        "The positions are multiplied by the power of 10000 instead of divided by it.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions * 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "slow-first",
        "The frequencies rise with the dimension; low dimensions have to "
        "oscillate fast.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000 ** exponents[::-1]
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "from-one",
        "The positions are counted from 1; the first one is 0.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(1, n_positions + 1)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "only-sines",
        "The odd columns hold sines too; they have to hold cosines.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.sin(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "transposed",
        "The result is transposed: positions go down, dimensions across.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding.T
""",
    ),
    wrong(
        "positional_encoding",
        "no-error",
        "An odd d_model is not refused.",
        """\
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "assertion",
        "An odd d_model raises an AssertionError; a ValueError is asked for.",
        """\
    assert d_model % 2 == 0
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    wrong(
        "positional_encoding",
        "spread-to-the-end",
        "The exponents run up to 1; the last pair has the exponent (d_model -"
        " 2) / d_model.",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.linspace(0, 1, d_model // 2)
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
]

SHIFT = [
    wrong(
        "shift_matrix",
        "backwards",
        "The matrix is transposed: it moves by -k.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, -s], [s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "one-step",
        "The matrix always moves by one position; the distance k is not used.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(w), np.sin(w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "one-frequency",
        "Every pair is turned by the same angle; each has a frequency of its own.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k), np.sin(k)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "no-minus",
        "Both sines have the same sign: that is no rotation.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "cosine-first",
        "The pair is taken as (cosine, sine) with the roles of the blocks exchanged.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[s, c], [c, -s]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "halves",
        "The blocks are laid out for sines first and cosines after; here they"
        " alternate.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        j = i + d_model // 2
        M[i, i], M[i, j], M[j, i], M[j, j] = c, s, -s, c
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "roll",
        "The columns are rolled; a shift of positions is a rotation of each "
        "pair, not a permutation.",
        """\
    return np.roll(np.eye(d_model), k, axis=1)
""",
    ),
    wrong(
        "shift_matrix",
        "diagonal",
        "The encoding of position k stands on the diagonal; that scales and "
        "does not rotate.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[s, 0], [0, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "identity",
        "The identity moves nothing.",
        """\
    return np.eye(d_model)
""",
    ),
    wrong(
        "shift_matrix",
        "doubled-exponent",
        "The frequencies are wrong: the exponent counts twice.",
        """\
    frequencies = 10000.0 ** (-2 * np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "forward-only",
        "The sign of k is dropped: backward moves go forward.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(abs(k) * w), np.sin(abs(k) * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
    wrong(
        "shift_matrix",
        "angle-plus",
        "The distance is added to the frequency instead of multiplied by it.",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k + w), np.sin(k + w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
]

HEATMAP = [
    wrong(
        "plot_encoding_heatmap",
        "transposed",
        "Positions run across and dimensions down; it is the other way round.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe.T, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "swapped-labels",
        "The two axis labels are exchanged.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("position")
    ax.set_ylabel("dimension")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "no-color-bar",
        "The color bar is missing.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "no-labels",
        "The axes are not labeled.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    fig.colorbar(image, ax=ax)
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "absolute",
        "Absolute values are drawn; the sign matters.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(abs(pe), aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "similarity",
        "The dot products of positions are drawn; the encoding itself is asked for.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe @ pe.T, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "upside-down",
        "The rows are reversed, so that position 0 is drawn where the last "
        "one belongs.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe[::-1], aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "first-rows",
        "Only the first positions are drawn.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe[:5], aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "lines",
        "Lines are drawn; a heat map is asked for.",
        """\
    fig, ax = plt.subplots()
    ax.plot(pe)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "signs",
        "Only the signs are drawn.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(np.sign(pe), aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "figure",
        "The figure is returned; the Axes is asked for.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return fig
""",
    ),
    wrong(
        "plot_encoding_heatmap",
        "nothing",
        "The plot is drawn but not returned: end with `return ax`.",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
""",
    ),
]

WAVES = [
    wrong(
        "plot_encoding_waves",
        "rows",
        "Rows of the encoding are drawn, which are positions; a wave is a column.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "all-dimensions",
        "Every dimension is drawn; only those in `dims` are asked for.",
        """\
    fig, ax = plt.subplots()
    for dim in range(pe.shape[1]):
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "first-columns",
        "The first columns are drawn, whatever `dims` says.",
        """\
    fig, ax = plt.subplots()
    for column, dim in enumerate(dims):
        ax.plot(pe[:, column], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "numbered-legend",
        "The legend counts 0, 1, 2; it has to name the dimensions.",
        """\
    fig, ax = plt.subplots()
    for number, dim in enumerate(dims):
        ax.plot(pe[:, dim], label=f"dimension {number}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "no-legend",
        "The lines are labeled, but the legend is never drawn.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "no-labels",
        "The axes are not labeled.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "from-one",
        "The positions are counted from 1; the first one is 0.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(range(1, len(pe) + 1), pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "stacked",
        "The waves are moved apart, so their values can no longer be read.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim] + 2 * dim, label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "one-line",
        "Only the first of the dimensions is drawn.",
        """\
    fig, ax = plt.subplots()
    for dim in dims[:1]:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    wrong(
        "plot_encoding_waves",
        "figure",
        "The figure is returned; the Axes is asked for.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return fig
""",
    ),
    wrong(
        "plot_encoding_waves",
        "nothing",
        "The plot is drawn but not returned: end with `return ax`.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
""",
    ),
    wrong(
        "plot_encoding_waves",
        "first-half",
        "The lines stop half-way; all positions are asked for.",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[: len(pe) // 2, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
]

STYLES = [
    right(
        "positional_encoding",
        "logarithms",
        """\
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions * np.exp(-np.log(10000.0) * exponents)
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
    ),
    right(
        "positional_encoding",
        "stacked",
        """\
    if d_model % 2 != 0:
        raise ValueError(d_model)
    i = np.arange(d_model // 2)
    angles = np.outer(np.arange(n_positions), 1 / 10000 ** (2 * i / d_model))
    return np.dstack([np.sin(angles), np.cos(angles)]).reshape(n_positions, d_model)
""",
    ),
    right(
        "positional_encoding",
        "loops",
        """\
    if d_model % 2 == 1:
        raise ValueError("odd")
    encoding = np.zeros((n_positions, d_model))
    for p in range(n_positions):
        for j in range(d_model):
            angle = p / 10000 ** (2 * (j // 2) / d_model)
            encoding[p, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return encoding
""",
    ),
    right(
        "positional_encoding",
        "one-wave",
        """\
    if d_model % 2:
        raise ValueError("d_model has to be even")
    columns = np.arange(d_model)
    phases = np.pi / 2 * (columns % 2)
    rates = 10000.0 ** -((columns - columns % 2) / d_model)
    return np.sin(np.arange(n_positions)[:, None] * rates + phases)
""",
    ),
    right(
        "shift_matrix",
        "blocks",
        """\
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
    ),
    right(
        "shift_matrix",
        "strided",
        """\
    w = k * 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.diag(np.repeat(np.cos(w), 2))
    even = np.arange(0, d_model, 2)
    M[even, even + 1] = np.sin(w)
    M[even + 1, even] = -np.sin(w)
    return M
""",
    ),
    right(
        "shift_matrix",
        "kronecker",
        """\
    result = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = k / 10000 ** (2 * i / d_model)
        place = np.zeros((d_model // 2, d_model // 2))
        place[i, i] = 1
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        result += np.kron(place, turn)
    return result
""",
    ),
    right(
        "plot_encoding_heatmap",
        "matshow",
        """\
    fig, ax = plt.subplots()
    image = ax.matshow(pe, cmap="RdBu", vmin=-1, vmax=1)
    plt.colorbar(image)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    right(
        "plot_encoding_heatmap",
        "pcolormesh",
        """\
    fig, ax = plt.subplots()
    image = ax.pcolormesh(pe, cmap="coolwarm")
    ax.invert_yaxis()
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("Dimension of the encoding")
    ax.set_ylabel("POSITION")
    return ax
""",
    ),
    right(
        "plot_encoding_heatmap",
        "seaborn",
        """\
    import seaborn as sns

    plt.figure()
    ax = sns.heatmap(pe, center=0)
    ax.set(xlabel="dimensions", ylabel="positions")
    return ax
""",
    ),
    right(
        "plot_encoding_heatmap",
        "origin-lower",
        """\
    fig, ax = plt.subplots()
    image = ax.imshow(pe, origin="lower", aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
    ),
    right(
        "plot_encoding_waves",
        "positions",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(np.arange(pe.shape[0]), pe[:, dim], "--", label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
    right(
        "plot_encoding_waves",
        "legend-list",
        """\
    plt.figure()
    plt.plot(pe[:, list(dims)])
    plt.legend([f"d={dim}" for dim in dims], title="dimension")
    plt.xlabel("Position in the sentence")
    plt.ylabel("encoding")
    return plt.gca()
""",
    ),
    right(
        "plot_encoding_waves",
        "step",
        """\
    fig, ax = plt.subplots()
    for dim in dims:
        ax.step(range(len(pe)), pe[:, dim], label=str(dim))
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
    ),
]

catalog = Catalog(PRELUDE, [*ENCODING, *SHIFT, *HEATMAP, *WAVES], STYLES)


@catalog.probe("positional_encoding")
def probe_positional_encoding(answer: Any) -> list:
    """Tell encodings apart by their numbers and by what they refuse."""
    return [outcome(answer, *sizes) for sizes in ((5, 6), (3, 8), (4, 5))]


@catalog.probe("shift_matrix")
def probe_shift_matrix(answer: Any) -> list:
    """Tell matrices apart by their entries."""
    return [outcome(answer, k, d) for k, d in ((2, 6), (-3, 4), (1, 8))]


def drawn(answer: Any, *args: Any) -> list:
    """What a plot shows, as data; or what it returned instead."""
    result = outcome(answer, *args)
    if result[0] == "raised":
        return [result]
    try:
        description = describe_axes(result[1])
    except CheckFailed:
        return [type(result[1]).__name__]
    return [
        [description["xlabel"].casefold()[:3], description["ylabel"].casefold()[:3]],
        [[g["values"], g["y"], g["colorbar"]] for g in description["grids"]],
        [[c["x"], c["y"]] for c in description["curves"]],
        [re.findall(r"\d+", text) for text in description["legend"]],
    ]


@catalog.probe("plot_encoding_heatmap")
def probe_plot_encoding_heatmap(answer: Any) -> list:
    """Tell heat maps apart by their cells, labels and color bar."""
    return drawn(answer, np.sin(np.arange(24.0)).reshape(8, 3))


@catalog.probe("plot_encoding_waves")
def probe_plot_encoding_waves(answer: Any) -> list:
    """Tell waves apart by their lines and legend."""
    return drawn(answer, np.sin(np.arange(60.0)).reshape(10, 6), [2, 0, 5])
