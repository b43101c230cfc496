"""Description of a Matplotlib plot as plain data, for checks: curves, grids, labels."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from autograder.checks.accepted_results import a_kind
from autograder.checks.failures import CheckFailed
from autograder.checks.fingerprints import note


def describe_axes(ax: Any) -> dict[str, Any]:
    """Curves, grids, labels, ticks and legend of a Matplotlib Axes.

    Works on an Axes of this process and, through ``_wall_describe_axes_``, on one
    behind the wall, where this same function runs.

    - "curves": dicts with "x", "y" (arrays) and "label", of lines and scatters alike;
    - "grids": dicts with "values" (rows, columns) and the centers "x" (columns,) and
      "y" (rows,) of its cells, of images and meshes alike, with "colorbar" (bool)
      and "limits", the values at the ends of the color scale;
    - "title", "xlabel", "ylabel", "xscale", "yscale", "legend" and "texts" (strings);
    - "xticks", "yticks": pairs of a position and its label;
    - "downward": whether the vertical axis runs down.

    Its figure is no longer the current one then: the next call draws on a new one.
    """
    hook = getattr(type(ax), "_wall_describe_axes_", None)
    described = hook(ax) if hook else _described(ax)
    note(described)
    return described


def _described(ax: Any) -> dict[str, Any]:
    if not (hasattr(ax, "get_xlabel") and hasattr(ax, "get_lines")):
        raise CheckFailed(
            f"your function returned {a_kind(ax)}",
            "the Axes that it drew on",
            kind="type",
        )
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close(ax.figure.figure)  # of an Axes in a part of a figure, the whole
    legend = ax.get_legend() or next(iter(ax.figure.legends), None)
    return {
        "curves": _curves(ax, legend),
        "grids": _grids(ax),
        "title": ax.get_title(),
        "xlabel": ax.get_xlabel(),
        "ylabel": ax.get_ylabel(),
        "xscale": ax.get_xscale(),
        "yscale": ax.get_yscale(),
        "xticks": _ticks(ax.xaxis),
        "yticks": _ticks(ax.yaxis),
        "downward": bool(ax.yaxis_inverted()),
        "legend": [text.get_text() for text in legend.get_texts()] if legend else [],
        "texts": [text.get_text() for text in ax.texts],
    }


def _curves(ax: Any, legend: Any) -> list[dict[str, Any]]:
    """Lines (of plot, step, errorbar, …), then scatters."""
    names = {
        id(container.lines[0]): container.get_label()
        for container in ax.containers
        if hasattr(container, "lines") and container.lines and container.lines[0]
    }
    curves: list[dict[str, Any]] = []
    handles: dict[tuple, str] = {}
    looks: list[tuple[int, tuple]] = []
    for line in ax.get_lines():
        x, y = line.get_data(orig=False)
        if not len(x):  # seaborn's, for the legend alone
            handles[_look(line)] = str(line.get_label())
            continue
        label = str(names.get(id(line), line.get_label()))
        looks.append((len(curves), _look(line)))
        curves.append({"x": _numbers(x), "y": _numbers(y), "label": label})
    for points in ax.collections:
        scatter = "PathCollection" in [k.__name__ for k in type(points).__mro__]
        if scatter and len(points.get_offsets()):
            x, y = np.asarray(points.get_offsets(), dtype=float).T
            label = str(points.get_label())
            curves.append({"x": x, "y": y, "label": label})
    for number, look in looks:
        if curves[number]["label"].startswith("_") and look in handles:
            curves[number]["label"] = handles[look]
    unnamed = [curve for curve in curves if str(curve["label"]).startswith("_")]
    if legend and len(unnamed) == len(legend.get_texts()):  # ax.legend([names])
        for curve, text in zip(unnamed, legend.get_texts(), strict=True):
            curve["label"] = text.get_text()
    return curves


def _look(line: Any) -> tuple:
    """The look of a line: what a reader tells lines apart by."""
    color = line.get_color()
    color = color if isinstance(color, str) else tuple(np.ravel(color).tolist())
    return color, str(line.get_linestyle()), str(line.get_marker())


def _grids(ax: Any) -> list[dict[str, Any]]:
    """Images (imshow, matshow) and meshes (pcolormesh, pcolor, a seaborn heat map)."""
    grids = []
    for image in ax.get_images():
        values = _numbers(image.get_array())
        if values.ndim != 2:
            continue
        left, right, bottom, top = image.get_extent()
        if image.origin == "upper":
            bottom, top = top, bottom
        rows, columns = values.shape
        x = left + (np.arange(columns) + 0.5) * (right - left) / columns
        y = bottom + (np.arange(rows) + 0.5) * (top - bottom) / rows
        grids.append(_grid(image, values, x, y))
    for mesh in ax.collections:
        if not hasattr(mesh, "get_coordinates") or mesh.get_array() is None:
            continue
        corners = np.asarray(mesh.get_coordinates(), dtype=float)
        x, y = corners[0, :, 0], corners[:, 0, 1]
        values = _numbers(mesh.get_array())
        if values.size != len(x) * len(y):  # corners of flat cells, not their centers
            x, y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
        if values.size == len(x) * len(y):
            grids.append(_grid(mesh, values.reshape(len(y), len(x)), x, y))
    return grids


def _grid(artist: Any, values: np.ndarray, x: np.ndarray, y: np.ndarray) -> dict:
    low, high = artist.get_clim()
    if low is None or high is None:  # not scaled yet; drawing spans the values
        low, high = np.nanmin(values), np.nanmax(values)
    return {
        "values": values,
        "x": x,
        "y": y,
        "colorbar": artist.colorbar is not None,
        "limits": (float(low), float(high)),
    }


def in_colors(grid: dict[str, Any]) -> float:
    """The share of a grid's values that its color scale can tell apart."""
    low, high = grid["limits"]
    values = grid["values"]
    if not low < high:
        return 1.0 if np.ptp(values) == 0 else 0.0
    return float(((values >= low) & (values <= high)).mean())


def _ticks(axis: Any) -> list[tuple[float, str]]:
    positions = [float(position) for position in axis.get_majorticklocs()]
    labels = axis.get_major_formatter().format_ticks(positions)
    return list(zip(positions, map(str, labels), strict=False))


def _numbers(values: Any) -> np.ndarray:
    """Floats, with NaN where an array is masked."""
    return np.ma.filled(np.ma.asarray(values).astype(float), np.nan)


def labels_of(grid: dict[str, Any], ticks: list, axis: str) -> list[str]:
    """The tick label that belongs to each row ("y") or column ("x") of a grid."""
    centers = grid[axis]
    width = np.abs(np.diff(centers)).min(initial=1.0)
    found = []
    for center in centers:
        near = [
            label for at, label in ticks if abs(at - center) < 0.6 * width and label
        ]
        found.append(near[0] if near else "")
    return found
