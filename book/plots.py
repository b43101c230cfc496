"""Figures that the chapters draw more than once, each in one call.

What a figure shows is computed in the chapter; here are axes, styles and color bars.
Lines differ in style as well as in color, and every map of weights runs from 0 to 1.
"""

import matplotlib.pyplot as plt
import numpy as np
from attention import plot_weights

STYLES = "o-", "s--", "^:", "D-.", "v-"
TURNED = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}


def plot_maps(tables, tokens=None, xlabel="key", ylabel="query", title=None):
    """Heat maps side by side, one for each title in ``tables``; returns the Axes.

    ``tokens`` name the rows and the columns. With at most eight of them each cell
    shows its number; else the maps share a color bar.
    """
    size = {1: (6, 5), 2: (7, 3.6)}.get(len(tables), (7, 2.5))
    figure = plt.figure(figsize=size, layout="constrained")
    figure.suptitle(title)
    axes = np.atleast_1d(figure.subplots(1, len(tables), sharey=tokens is None))
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        if tokens is not None and len(tokens) <= 8:
            plot_weights(table, tokens, tokens, name, ax)
            for number in ax.texts:
                number.set_fontsize(min(10, 50 / len(tokens)))
            continue
        image = ax.imshow(table, cmap="Purples", vmin=0, vmax=1)
        ax.set_title(name, fontsize="medium")
        ax.set(xlabel=xlabel, ylabel=ylabel if ax is axes[0] else "")
        if tokens is not None:
            ax.set_xticks(range(len(tokens)), tokens, **TURNED)
            ax.set_yticks(range(len(tokens)), tokens)
    if tokens is None or len(tokens) > 8:
        figure.colorbar(image, ax=axes, label="weight", shrink=0.7)
    return axes


def plot_curves(x, curves, title, xlabel, ylabel, log="", level=None, **more):
    """Lines over ``x``, one for each name in ``curves``; returns the Axes.

    A curve may be a pair of its own x and y, and a y may have columns, which are drawn
    alike. ``log`` names the axes that are
    logarithmic: "x", "y" or "xy". ``level`` is the name and height of a dotted line.
    Many points get no markers. ``more`` may be an Axes, ``ax``, or what its ``set``
    takes.
    """
    ax = more.pop("ax", None)
    ax = ax or plt.figure(figsize=(6, 3), layout="constrained").subplots()
    for i, (name, curve) in enumerate(curves.items()):
        own, y = curve if isinstance(curve, tuple) else (x, curve)
        style = STYLES[i] if len(y) < 25 else STYLES[i][1:]
        ax.plot(own, y, style, color=f"C{i}")[0].set_label(name)
    if level:
        ax.axhline(level[1], color="black", linestyle=":", label=level[0])
    if "x" in log:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, x)
        ax.minorticks_off()
    if "y" in log:
        ax.set_yscale("log")
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, **more)
    if level or len(curves) > 1:
        ax.legend(fontsize="small")
    return ax


def plot_histograms(samples, title, xlabel, bins=50):
    """The density of each named sample, as an outline; returns the Axes."""
    ax = plt.figure(figsize=(6, 3), layout="constrained").subplots()
    for (name, sample), style in zip(samples.items(), STYLES, strict=False):
        outline = {"histtype": "step", "linestyle": style[1:], "linewidth": 1.8}
        ax.hist(np.ravel(sample), bins=bins, density=True, label=name, **outline)
    ax.set(title=title, xlabel=xlabel, ylabel="density")
    ax.legend()
    return ax


def plot_bars(names, rows, title, xlabel, ylabel, level=None, **more):
    """Bars over ``names``, for each named row a group; returns the Axes.

    ``level`` is the name and height of a dashed line; ``more`` goes to ``Axes.set``.
    """
    ax = plt.figure(figsize=(6.5, 2.8), layout="constrained").subplots()
    place, width = np.arange(len(names)), 0.8 / len(rows)
    for i, (name, row) in enumerate(rows.items()):
        shift = (i - (len(rows) - 1) / 2) * width
        ax.bar(place + shift, row, width, label=name)
    if level:
        ax.axhline(level[1], color="black", linestyle="--", label=level[0])
    if isinstance(names[0], str):
        ax.set_xticks(place, names, **(TURNED if len(names) > 6 else {}))
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel, **more)
    if level or len(rows) > 1:
        ax.legend()
    return ax


def plot_waves(encoding, panels, title):
    """Dimensions of an encoding (n, d_model) over the position; returns the Axes.

    ``panels`` are pairs: the dimensions of a panel, and how many positions it shows.
    """
    axes = plt.figure(figsize=(7, 4.6), layout="constrained").subplots(len(panels))
    for ax, (dimensions, n) in zip(axes, panels, strict=True):
        fine = np.linspace(0, n - 1, 500)
        for dimension, style in zip(dimensions, ["-", "--", "-.", ":"], strict=False):
            frequency = 10000 ** (-2 * (dimension // 2) / encoding.shape[1])
            ahead = np.pi / 2 * (dimension % 2)  # a cosine is a sine ahead
            wave = np.sin(fine * frequency + ahead)
            (line,) = ax.plot(fine, wave, style, label=f"dim {dimension}")
            color = line.get_color()
            ax.plot(encoding[:n, dimension], "o", markersize=3, color=color)
        ax.set(ylabel="value", xlabel="position", ylim=(-1.1, 1.1))
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axes[0].set_title(title)
    return axes
