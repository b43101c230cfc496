"""What students get wrong, and right, in 05-positional-encoding."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.checks import positional_encoding as check
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes
from autograder.checks.outcomes import outcome

PRELUDE = """
import matplotlib.pyplot as plt
import numpy as np
"""

catalog = Catalog(check.assignment, PRELUDE)


# --------------------------------------------------- positional_encoding

encoding = catalog.about(
    check.positional_encoding,
    """
def positional_encoding(n_positions, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    positions = np.arange(n_positions)[:, None]
    exponents = np.arange(0, d_model, 2) / d_model
    angles = positions / 10000**exponents
    encoding = np.zeros((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding
""",
)

encoding.edit(
    "halves",
    "All sines stand first and all cosines after them; they have to alternate.",
    ("[:, 0::2] = np", "[:, : d_model // 2] = np"),
    ("[:, 1::2] = np", "[:, d_model // 2 :] = np"),
)
encoding.edit(
    "swapped",
    "Cosines are on the even columns and sines on the odd ones; it is the other way "
    "round.",
    (
        "sin(angles)\n    encoding[:, 1::2] = np.cos",
        "cos(angles)\n    encoding[:, 1::2] = np.sin",
    ),
)
encoding.edit(
    "doubled-exponent",
    "The exponent counts twice: column 2i has the frequency 10000^(-2i / d_model).",
    ("exponents = ", "exponents = 2 * "),
)
encoding.edit(
    "halved-exponent",
    "The exponent is half of what it should be: i / d_model instead of 2i / d_model.",
    ("0, d_model, 2", "d_model // 2"),
)
encoding.edit(
    "frequency-per-column",
    "Every column gets a frequency of its own; a sine and the cosine after it share "
    "one.",
    (
        "exponents = np.arange(0, d_model, 2) / d_model\n"
        "    angles = positions / 10000**exponents",
        "angles = positions / 10000 ** (np.arange(d_model) / d_model)",
    ),
    ("sin(angles)", "sin(angles[:, 0::2])"),
    ("cos(angles)", "cos(angles[:, 1::2])"),
)
encoding.edit(
    "base-1000",
    "The base is 1000; it has to be 10000.",
    ("10000**exponents", "1000**exponents"),
)
encoding.edit(
    "multiplied",
    "The positions are multiplied by the power of 10000 instead of divided by it.",
    ("positions /", "positions *"),
)
encoding.edit(
    "slow-first",
    "The frequencies rise with the dimension; low dimensions have to oscillate fast.",
    ("**exponents", " ** exponents[::-1]"),
)
encoding.edit(
    "from-one",
    "The positions are counted from 1; the first one is 0.",
    ("(n_positions)", "(1, n_positions + 1)"),
)
encoding.edit(
    "only-sines",
    "The odd columns hold sines too; they have to hold cosines.",
    ("np.cos", "np.sin"),
)
encoding.edit(
    "transposed",
    "The result is transposed: positions go down, dimensions across.",
    ("encoding\n", "encoding.T\n"),
)
encoding.edit(
    "no-error",
    "An odd d_model is not refused.",
    ('if d_model % 2:\n        raise ValueError("d_model must be even")\n    ', ""),
    ("cos(angles)", "cos(angles[:, : d_model // 2])"),
)
encoding.edit(
    "assertion",
    "An odd d_model raises an AssertionError; a ValueError is asked for.",
    (
        'if d_model % 2:\n        raise ValueError("d_model must be even")',
        "assert d_model % 2 == 0",
    ),
)
encoding.nothing()
encoding.edit(
    "integers",
    "The array for the encoding is made of integers, which cuts all numbers to 0 and "
    "±1.",
    ("zeros((n_positions, d_model)", "zeros((n_positions, d_model), dtype=int"),
    planted=False,
)
encoding.edit(
    "floored-exponent",
    "`//` makes every exponent 0, so all pairs turn at the same speed; `/` divides.",
    ("0, d_model, 2) /", "0, d_model, 2) //"),
    planted=False,
)
encoding.edit(
    "no-logarithm",
    "The exponential has base e: 10000 is missing, as the base or as its logarithm in "
    "the exponent.",
    ("/ 10000**exponents", "* np.exp(-exponents)"),
    planted=False,
)
encoding.edit(
    "fixed-width",
    "The exponent is divided by 512, the width in the paper; here the width is "
    "`d_model`.",
    ("2) / d_model", "2) / 512"),
    planted=False,
)
encoding.edit(
    "odd-positions",
    "An odd number of positions is refused; it is the width d_model that has to be "
    "even.",
    ("if d_model", "if n_positions"),
    ("cos(angles)", "cos(angles)[:, : d_model // 2]"),
    planted=False,
)
encoding.also(
    "odd-positions",
    encoding.edited(("if d_model", "if n_positions")),
)
encoding.edit(
    "batch-axis",
    "An axis stands before the positions: (1, n_positions, d_model); two axes are "
    "asked for.",
    ("return encoding", "return encoding[None]"),
    planted=False,
)
encoding.edit(
    "spread-to-the-end",
    "The exponents run up to 1; the last pair has the exponent (d_model - 2) / "
    "d_model.",
    ("arange(0, d_model, 2) / d_model", "linspace(0, 1, d_model // 2)"),
)
encoding.right(
    "logarithms",
    encoding.edited(
        ("/ 10000**exponents", "* np.exp(-np.log(10000.0) * exponents)"),
    ),
)
encoding.right(
    "stacked",
    """
    if d_model % 2 != 0:
        raise ValueError(d_model)
    i = np.arange(d_model // 2)
    angles = np.outer(np.arange(n_positions), 1 / 10000 ** (2 * i / d_model))
    return np.dstack([np.sin(angles), np.cos(angles)]).reshape(n_positions, d_model)
""",
)
encoding.right(
    "loops",
    """
    if d_model % 2 == 1:
        raise ValueError("odd")
    encoding = np.zeros((n_positions, d_model))
    for p in range(n_positions):
        for j in range(d_model):
            angle = p / 10000 ** (2 * (j // 2) / d_model)
            encoding[p, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return encoding
""",
)
encoding.right(
    "one-wave",
    """
    if d_model % 2:
        raise ValueError("d_model has to be even")
    columns = np.arange(d_model)
    phases = np.pi / 2 * (columns % 2)
    rates = 10000.0 ** -((columns - columns % 2) / d_model)
    return np.sin(np.arange(n_positions)[:, None] * rates + phases)
""",
)
encoding.equivalent(
    "NumPy itself raises ValueError for an odd width",
    "if d_model % 2 == 1: -> if d_model % 2 == 2:",
    "if d_model % 2 == 1: -> if d_model % 1 == 1:",
)
encoding.equivalent(
    "NumPy takes any negative size for the rest",
    "turns = np.arange(n_positions).reshape(-1, 1) / wavelengths -> turns = "
    "np.arange(n_positions).reshape(-2, 1) / wavelengths",
)


# ---------------------------------------------------------- shift_matrix

shift = catalog.about(
    check.shift_matrix,
    """
def shift_matrix(k, d_model):
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.zeros((d_model, d_model))
    for i, w in enumerate(frequencies):
        c, s = np.cos(k * w), np.sin(k * w)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]
    return M
""",
)

shift.edit(
    "backwards",
    "The matrix is transposed: it moves by -k.",
    ("[c, s], [-s, c]", "[c, -s], [s, c]"),
)
shift.edit(
    "one-step",
    "The matrix always moves by one position; the distance k is not used.",
    ("(k * w), np.sin(k * w)", "(w), np.sin(w)"),
)
shift.edit(
    "one-frequency",
    "Every pair is turned by the same angle; each has a frequency of its own.",
    ("(k * w), np.sin(k * w)", "(k), np.sin(k)"),
)
shift.edit(
    "no-minus",
    "Both sines have the same sign: that is no rotation.",
    ("-s", "s"),
)
shift.edit(
    "cosine-first",
    "The pair is taken as (cosine, sine) with the roles of the blocks exchanged.",
    ("[c, s], [-s, c]", "[s, c], [c, -s]"),
)
shift.edit(
    "halves",
    "The blocks are laid out for sines first and cosines after; here they alternate.",
    (
        "M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[c, s], [-s, c]]",
        "j = i + d_model // 2\n"
        "        M[i, i], M[i, j], M[j, i], M[j, j] = c, s, -s, c",
    ),
)
shift.wrong(
    "roll",
    "The identity is rolled; a shift of positions is a rotation of each pair, not a "
    "permutation.",
    """
    return np.roll(np.eye(d_model), k, axis=1)
""",
)
shift.edit(
    "diagonal",
    "The encoding of position k stands on the diagonal; that scales and does not "
    "rotate.",
    ("[c, s], [-s, c]", "[s, 0], [0, c]"),
)
shift.wrong(
    "identity",
    "The identity moves nothing.",
    """
    return np.eye(d_model)
""",
)
shift.edit(
    "doubled-exponent",
    "The frequencies are wrong: the exponent counts twice.",
    ("-np", "-2 * np"),
)
shift.edit(
    "forward-only",
    "The sign of k is dropped: backward moves go forward.",
    ("(k * w), np.sin(k * w)", "(abs(k) * w), np.sin(abs(k) * w)"),
)
shift.also(
    "roll",
    """
    return np.roll(np.eye(d_model), k, axis=0)
""",
)
shift.nothing()
shift.edit(
    "half-the-blocks",
    "Half of the pairs are never turned: there are d_model / 2 of them, in steps of 2 "
    "columns.",
    ("enumerate(frequencies)", "enumerate(frequencies[: (d_model // 2 + 1) // 2])"),
)
shift.edit(
    "steps-forward",
    "For a negative k the loop runs zero times, and nothing moves; turn by the angle "
    "k · w at once.",
    ("(k * w), np.sin(k * w)", "(max(k, 0) * w), np.sin(max(k, 0) * w)"),
)
shift.edit(
    "power-of-entries",
    "`**` raises each entry by itself; the power of a matrix is "
    "`np.linalg.matrix_power`.",
    ("(k * w), np.sin(k * w)", "(w), np.sin(w)"),
    ("return M", "return M ** abs(k)"),
)
shift.also(
    "power-of-entries",
    shift.edited(
        ("(k * w), np.sin(k * w)", "(w), np.sin(w)"),
        ("return M", "return M**k"),
    ),
)
shift.edit(
    "integers",
    "The matrix is made of integers, which cuts sines and cosines to 0 and ±1.",
    ("zeros((d_model, d_model)", "zeros((d_model, d_model), dtype=int"),
)
shift.edit(
    "overlapping-blocks",
    "The blocks overlap: pair i has the columns 2i and 2i + 1.",
    (
        "M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2]",
        "M[i : i + 2, i : i + 2]",
    ),
)
shift.edit(
    "one-column-pair",
    "All blocks land in the first two columns; block i has its place on the diagonal.",
    ("2, 2 * i : 2 * i + 2]", "2, :2]"),
)
shift.edit(
    "angle-plus",
    "The distance is added to the frequency instead of multiplied by it.",
    ("(k * w), np.sin(k * w)", "(k + w), np.sin(k + w)"),
)
shift.right("blocks", shift.reference)
shift.right(
    "strided",
    """
    w = k * 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    M = np.diag(np.repeat(np.cos(w), 2))
    even = np.arange(0, d_model, 2)
    M[even, even + 1] = np.sin(w)
    M[even + 1, even] = -np.sin(w)
    return M
""",
)
shift.right(
    "kronecker",
    """
    result = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        angle = k / 10000 ** (2 * i / d_model)
        place = np.zeros((d_model // 2, d_model // 2))
        place[i, i] = 1
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        result += np.kron(place, turn)
    return result
""",
)


# ------------------------------------------------- plot_encoding_heatmap

heatmap = catalog.about(
    check.plot_encoding_heatmap,
    """
def plot_encoding_heatmap(pe):
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto")
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
)

heatmap.edit(
    "transposed",
    "Positions run across and dimensions down; it is the other way round.",
    ("imshow(pe", "imshow(pe.T"),
)
heatmap.edit(
    "swapped-labels",
    "The two axis labels are exchanged.",
    (
        '("dimension")\n    ax.set_ylabel("position")',
        '("position")\n    ax.set_ylabel("dimension")',
    ),
)
heatmap.edit(
    "no-color-bar",
    "The color bar is missing.",
    ("fig.colorbar(image, ax=ax)\n    ", ""),
)
heatmap.edit(
    "no-labels",
    "The axes are not labeled.",
    ('ax.set_xlabel("dimension")\n    ax.set_ylabel("position")\n    ', ""),
)
heatmap.edit(
    "absolute",
    "Absolute values are drawn; the sign matters.",
    ("imshow(pe", "imshow(abs(pe)"),
)
heatmap.edit(
    "similarity",
    "The dot products of positions are drawn; the encoding itself is asked for.",
    ("imshow(pe", "imshow(pe @ pe.T"),
)
heatmap.edit(
    "upside-down",
    "The rows are reversed, so that position 0 is drawn where the last one belongs.",
    ("imshow(pe", "imshow(pe[::-1]"),
)
heatmap.edit(
    "first-rows",
    "Only the first positions are drawn.",
    ("imshow(pe", "imshow(pe[:5]"),
)
heatmap.edit(
    "lines",
    "Lines are drawn; a heat map is asked for.",
    (
        'image = ax.imshow(pe, aspect="auto")\n    fig.colorbar(image, ax=ax)',
        "ax.plot(pe)",
    ),
)
heatmap.edit(
    "signs",
    "Only the signs are drawn.",
    ("imshow(pe", "imshow(np.sign(pe)"),
)
heatmap.edit(
    "figure",
    "The figure is returned; the Axes is asked for.",
    ("return ax", "return fig"),
)
heatmap.edit(
    "nothing",
    "The plot is drawn but not returned: end with `return ax`.",
    ("\n    return ax", ""),
)
heatmap.right(
    "matshow",
    """
    fig, ax = plt.subplots()
    image = ax.matshow(pe, cmap="RdBu", vmin=-1, vmax=1)
    plt.colorbar(image)
    ax.set_xlabel("dimension")
    ax.set_ylabel("position")
    return ax
""",
)
heatmap.right(
    "pcolormesh",
    """
    fig, ax = plt.subplots()
    image = ax.pcolormesh(pe, cmap="coolwarm")
    ax.invert_yaxis()
    fig.colorbar(image, ax=ax)
    ax.set_xlabel("Dimension of the encoding")
    ax.set_ylabel("POSITION")
    return ax
""",
)
heatmap.right(
    "seaborn",
    """
    import seaborn as sns

    plt.figure()
    ax = sns.heatmap(pe, center=0)
    ax.set(xlabel="dimensions", ylabel="positions")
    return ax
""",
)
heatmap.right(
    "origin-lower",
    heatmap.edited(
        ("aspect", 'origin="lower", aspect'),
    ),
)
heatmap.equivalent(
    "a matter of taste",
    "figure, ax = plt.subplots(layout='constrained') -> figure, ax = plt.subplots()",
)
heatmap.equivalent(
    "colors are free as long as they span the values",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, vmin=-1, vmax=1, aspect='auto')",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, cmap='RdBu_r', vmax=1, aspect='auto')",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, aspect='auto')",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1)",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=2, aspect='auto')",
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> "
    "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-2, vmax=1, aspect='auto')",
)
heatmap.equivalent(
    "the label and the place of the color bar are free",
    "figure.colorbar(picture, ax=ax, label='value') -> figure.colorbar(picture, "
    "label='value')",
    "figure.colorbar(picture, ax=ax, label='value') -> figure.colorbar(picture, ax=ax)",
)


# --------------------------------------------------- plot_encoding_waves

waves = catalog.about(
    check.plot_encoding_waves,
    """
def plot_encoding_waves(pe, dims):
    fig, ax = plt.subplots()
    for dim in dims:
        ax.plot(pe[:, dim], label=f"dimension {dim}")
    ax.set_xlabel("position")
    ax.set_ylabel("value")
    ax.legend()
    return ax
""",
)

waves.edit(
    "rows",
    "Rows of the encoding are drawn, which are positions; a wave is a column.",
    (":, dim", "dim"),
)
waves.edit(
    "all-dimensions",
    "Every dimension is drawn; only those in `dims` are asked for.",
    ("in dims", "in range(pe.shape[1])"),
)
waves.edit(
    "first-columns",
    "The first columns are drawn, whatever `dims` says.",
    ("dim in dims", "column, dim in enumerate(dims)"),
    (":, dim", ":, column"),
)
waves.edit(
    "numbered-legend",
    "The legend counts 0, 1, 2; it has to name the dimensions.",
    ("dim in dims", "number, dim in enumerate(dims)"),
    ('{dim}"', '{number}"'),
)
waves.edit(
    "no-legend",
    "The lines are labeled, but the legend is never drawn.",
    ("ax.legend()\n    ", ""),
)
waves.edit(
    "no-labels",
    "The axes are not labeled.",
    ('ax.set_xlabel("position")\n    ax.set_ylabel("value")\n    ', ""),
)
waves.edit(
    "from-one",
    "The positions are counted from 1; the first one is 0.",
    ("pe[:, dim]", "range(1, len(pe) + 1), pe[:, dim]"),
)
waves.edit(
    "stacked",
    "The waves are moved apart, so their values can no longer be read.",
    ("[:, dim]", "[:, dim] + 2 * dim"),
)
waves.edit(
    "one-line",
    "Only the first of the dimensions is drawn.",
    ("in dims", "in dims[:1]"),
)
waves.edit(
    "figure",
    "The figure is returned; the Axes is asked for.",
    ("return ax", "return fig"),
)
waves.edit(
    "nothing",
    "The plot is drawn but not returned: end with `return ax`.",
    ("\n    return ax", ""),
)
waves.edit(
    "first-half",
    "The lines stop half-way; all positions are asked for.",
    (":, dim", ": len(pe) // 2, dim"),
)
waves.right(
    "positions",
    waves.edited(
        ("pe[:, dim]", 'np.arange(pe.shape[0]), pe[:, dim], "--"'),
    ),
)
waves.right(
    "legend-list",
    """
    plt.figure()
    plt.plot(pe[:, list(dims)])
    plt.legend([f"d={dim}" for dim in dims], title="dimension")
    plt.xlabel("Position in the sentence")
    plt.ylabel("encoding")
    return plt.gca()
""",
)
waves.right(
    "step",
    waves.edited(
        (
            'plot(pe[:, dim], label=f"dimension {dim}")',
            "step(range(len(pe)), pe[:, dim], label=str(dim))",
        ),
    ),
)
waves.equivalent(
    "a matter of taste",
    "_, ax = plt.subplots(layout='constrained') -> _, ax = plt.subplots()",
)


# --------------------------------------------- how answers are told apart


@encoding.probe
def probe_positional_encoding(answer: Any) -> list:
    """Tell encodings apart by their numbers and by what they refuse."""
    found = [outcome(answer, *sizes) for sizes in ((5, 6), (3, 8), (4, 6), (4, 5))]
    # whatever a refusal says
    return [each[:2] if each[0] == "raised" else each for each in found]


@shift.probe
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


@heatmap.probe
def probe_plot_encoding_heatmap(answer: Any) -> list:
    """Tell heat maps apart by their cells, labels and color bar."""
    return drawn(answer, np.sin(np.arange(24.0)).reshape(8, 3))


@waves.probe
def probe_plot_encoding_waves(answer: Any) -> list:
    """Tell waves apart by their lines and legend."""
    return drawn(answer, np.sin(np.arange(60.0)).reshape(10, 6), [2, 0, 5])


# --------------------------------------------------------- check_positional_encoding

hunt = catalog.about(
    check.check_positional_encoding,
    """
def check_positional_encoding(positional_encoding):
    pe = positional_encoding(60, 8)
    assert pe.shape == (60, 8)
    for position in (0, 1, 2, 59):
        for column in range(8):
            angle = position / 10000 ** ((column - column % 2) / 8)
            wanted = np.cos(angle) if column % 2 else np.sin(angle)
            assert abs(pe[position, column] - wanted) < 1e-6
    try:
        positional_encoding(4, 5)
    except ValueError:
        return
    raise AssertionError("an odd width is not refused")
""",
)
hunt.hunts(check.positional_encoding)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    positional_encoding(10, 8)
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
    pe = positional_encoding(10, 8)
    ok = np.shape(pe) == (10, 8) and bool(np.abs(pe).max() <= 1)
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    pe = positional_encoding(10, 8)
    ok = np.shape(pe) == (10, 8) and bool(np.abs(pe).max() <= 1)
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "shape-only",
    "It looks at the shape only: any numbers of that shape pass.",
    """
    assert np.shape(positional_encoding(10, 8)) == (10, 8)
""",
)
hunt.wrong(
    "first-row",
    "It looks at position 0 only.",
    """
    pe = positional_encoding(10, 8)
    assert pe.shape == (10, 8)
    assert np.allclose(pe[0], [0, 1] * 4)
""",
)
hunt.wrong(
    "odd-width-forgotten",
    "It never asks for an odd width, which has to be refused.",
    """
    pe = positional_encoding(60, 8)
    assert pe.shape == (60, 8)
    rates = 10000.0 ** (-np.arange(0, 8, 2) / 8)
    angles = np.arange(60)[:, None] * rates
    assert np.allclose(pe[:, 0::2], np.sin(angles))
    assert np.allclose(pe[:, 1::2], np.cos(angles))
""",
)
hunt.wrong(
    "two-columns",
    "It tries two columns: all frequencies are the first one there.",
    """
    pe = positional_encoding(10, 2)
    assert pe.shape == (10, 2)
    assert np.allclose(pe[:, 0], np.sin(np.arange(10)))
    assert np.allclose(pe[:, 1], np.cos(np.arange(10)))
""",
)
hunt.wrong(
    "exact",
    "It asks for equal floating-point numbers; right answers differ by rounding.",
    """
    pe = positional_encoding(60, 8)
    assert pe.shape == (60, 8)
    angles = np.arange(60)[:, None] / 10000 ** (np.arange(0, 8, 2) / 8)
    assert np.array_equal(pe[:, 0::2], np.sin(angles))
    assert np.array_equal(pe[:, 1::2], np.cos(angles))
""",
)
hunt.right(
    "formula",
    """
    n, d = 30, 6
    pe = positional_encoding(n, d)
    assert isinstance(pe, np.ndarray) and pe.shape == (n, d)
    wanted = np.zeros((n, d))
    for i in range(d // 2):
        angle = np.arange(n) * np.exp(-2 * i / d * np.log(10000))
        wanted[:, 2 * i], wanted[:, 2 * i + 1] = np.sin(angle), np.cos(angle)
    np.testing.assert_allclose(pe, wanted, atol=1e-9)
    refused = False
    try:
        positional_encoding(3, 7)
    except ValueError:
        refused = True
    assert refused
""",
)
hunt.right(
    "complex",
    """
    pe = positional_encoding(40, 8)
    assert pe.shape == (40, 8), "shape"
    waves = pe[:, 1::2] + 1j * pe[:, 0::2]
    speeds = 10000.0 ** -np.array([0, 0.25, 0.5, 0.75])
    assert np.allclose(waves, np.exp(1j * np.outer(np.arange(40), speeds)))
    for odd in (1, 9):
        try:
            positional_encoding(2, odd)
        except Exception as error:
            assert isinstance(error, ValueError)
        else:
            assert False, "an odd width"
""",
)
hunt.right(
    "properties",
    """
    pe = positional_encoding(101, 4)
    assert pe.shape == (101, 4)
    assert np.allclose(pe[0], [0, 1, 0, 1])
    assert np.allclose(pe[:, 0] ** 2 + pe[:, 1] ** 2, 1)
    assert np.allclose(pe[1], [np.sin(1), np.cos(1), np.sin(0.01), np.cos(0.01)])
    assert np.allclose(pe[100, 2:], [np.sin(1), np.cos(1)])
    wide = positional_encoding(2, 6)
    assert np.allclose(wide[1, 2], np.sin(10000 ** (-1 / 3)))
    try:
        positional_encoding(2, 3)
        assert False
    except ValueError:
        pass
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "positional_encoding-logarithms": (
            "The frequencies come from `exp` of a logarithm, as in much published "
            "code; the numbers are the same."
        ),
        "positional_encoding-one-wave": (
            "It uses sines alone: a cosine is a sine that is a quarter turn ahead."
        ),
        "shift_matrix-strided": (
            "It fills three diagonals by indexing, without a loop over pairs."
        ),
        "shift_matrix-kronecker": (
            "Each 2×2 rotation is put in its place by a Kronecker product with a "
            "matrix of a single 1."
        ),
        "plot_encoding_heatmap-matshow": (
            "The colors are diverging and reach from −1 to 1, so that 0 is neutral."
        ),
        "plot_encoding_heatmap-seaborn": (
            "seaborn adds the color bar by itself, and `center=0` makes 0 neutral."
        ),
        "plot_encoding_waves-legend-list": (
            "All columns are drawn by one call, and the legend is given as a list."
        ),
        "plot_encoding_waves-step": (
            "It draws steps, because an encoding has values at whole positions only."
        ),
        "check_positional_encoding-complex": (
            "It makes one complex wave of sine and cosine, so that one comparison "
            "is enough."
        ),
        "check_positional_encoding-properties": (
            "It computes no whole encoding: it asks for position 0, for pairs on "
            "the unit circle, and for a few angles."
        ),
    }
)
