"""What checks ask of an answer beyond calling it: gradients, drawn axes, kinds.

The same check runs on an answer in this process and on one behind the wall. There the
helper runs on the other side, next to the student's objects, and its result crosses.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def either_side(helper: Callable) -> Callable:
    """Run ``helper`` where its first argument lives; a decorator."""

    @functools.wraps(helper)
    def wherever(subject: Any, *args: Any, **kwargs: Any) -> Any:
        over_there = getattr(type(subject), "__apply_there__", None)
        if over_there is not None:
            return over_there(subject, helper.__name__, args, kwargs)
        return helper(subject, *args, **kwargs)

    wherever.here = helper
    return wherever


@either_side
def gradients(
    answer: Any, *args: Any, wrt: Iterable[int | str] = (0,), **kwargs: Any
) -> list[Any]:
    """Gradients of one number made of ``answer(*args)``, each None if none arrives.

    ``wrt`` lists positions in ``args`` and names of the module's parameters. The number
    is the sum of the first output's entries times fixed weights, cos 0, cos 1, cos 2 …
    """
    import torch

    args = tuple(
        a.detach().clone().requires_grad_(a.dtype.is_floating_point)
        if isinstance(a, torch.Tensor)
        else a
        for a in args
    )
    output = answer(*args, **kwargs)
    first = output[0] if isinstance(output, tuple | list) else output
    known = dict(answer.named_parameters()) if hasattr(answer, "parameters") else {}
    sources = [known[w] if isinstance(w, str) else args[w] for w in wrt]
    if not first.requires_grad:
        return [None] * len(sources)
    weights = torch.cos(torch.arange(first.numel(), dtype=first.dtype))
    number = (first * weights.reshape(first.shape)).sum()
    found = torch.autograd.grad(number, sources, allow_unused=True)
    return [None if g is None else g.detach() for g in found]


@either_side
def kinds(value: Any) -> list[str]:
    """The full names of an object's type and of what that inherits from."""
    return [f"{t.__module__}.{t.__qualname__}" for t in type(value).__mro__]


@either_side
def describe_axes(ax: Any) -> dict[str, Any]:
    """What a matplotlib Axes shows, as plain data.

    ``lines``: x, y, label. ``images``, heat maps of any kind: ``values`` (2-D, the
    first row at y[0]), ``x`` and ``y`` of the cells' centers, ``top_first`` (the
    first row is drawn on top), ``colorbar``. Raises TypeError for anything else.
    """
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise TypeError(f"expected a matplotlib Axes, not a {type(ax).__name__}")
    legend = ax.get_legend()
    return {
        "title": ax.get_title(),
        "xlabel": ax.get_xlabel(),
        "ylabel": ax.get_ylabel(),
        "xticks": _ticks(ax.xaxis),
        "yticks": _ticks(ax.yaxis),
        "xscale": ax.get_xscale(),
        "yscale": ax.get_yscale(),
        "xlim": [float(x) for x in ax.get_xlim()],
        "ylim": [float(y) for y in ax.get_ylim()],
        "lines": [_line(line) for line in ax.get_lines()],
        "images": [_image(ax, image) for image in ax.get_images()]
        + [_mesh(ax, mesh) for mesh in ax.collections if hasattr(mesh, "_coordinates")],
        "texts": [text.get_text() for text in ax.texts],
        "legend": legend and [text.get_text() for text in legend.get_texts()],
    }


def _ticks(axis: Any) -> list[tuple[float, str]]:
    """Places and labels of the ticks that are in view."""
    low, high = sorted(axis.get_view_interval())
    labels = [label.get_text() for label in axis.get_ticklabels()]
    places = [float(place) for place in axis.get_ticklocs()]
    return [
        (place, label)
        for place, label in zip(places, labels, strict=False)
        if low <= place <= high
    ]


def _line(line: Any) -> dict[str, Any]:
    x, y = (np.ma.filled(np.ma.asarray(v, float), np.nan) for v in line.get_data())
    return {"x": x, "y": y, "label": str(line.get_label())}


def _image(ax: Any, image: Any) -> dict[str, Any]:
    values = _numbers(image.get_array())
    left, right, bottom, top = (float(edge) for edge in image.get_extent())
    rows, columns = values.shape[:2]
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    y = first + (np.arange(rows) + 0.5) * (last - first) / rows
    x = left + (np.arange(columns) + 0.5) * (right - left) / columns
    return _map(ax, image, values, x, y)


def _mesh(ax: Any, mesh: Any) -> dict[str, Any]:
    corners = np.asarray(mesh.get_coordinates(), float)
    values = _numbers(mesh.get_array())
    if values.ndim == 1:
        values = values.reshape(corners.shape[0] - 1, corners.shape[1] - 1)
    x, y = corners[0, :, 0], corners[:, 0, 1]
    if len(x) > values.shape[1]:  # edges; Gouraud shading gives the centers
        x, y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    return _map(ax, mesh, values, x, y)


def _map(ax: Any, artist: Any, values: Any, x: Any, y: Any) -> dict[str, Any]:
    bottom, top = ax.get_ylim()
    upwards = (y[-1] >= y[0]) == (top >= bottom)
    return {
        "values": values,
        "x": x,
        "y": y,
        "top_first": bool(not upwards),
        "colorbar": artist.colorbar is not None,
        "colormap": artist.get_cmap().name,
        "range": [None if v is None else float(v) for v in artist.get_clim()],
    }


def _numbers(values: Any) -> np.ndarray:
    return np.ma.filled(np.ma.asarray(values, float), np.nan)
