"""Probes of 05-positional-encoding: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes
from autograder.checks.outcomes import outcome
from autograder.checks.question import failure_of


def positional_encoding(answer: Any) -> list:
    """Tell encodings apart by their numbers and by what they refuse."""
    sizes = ((5, 6), (3, 8), (4, 6), (4, 5), (3, 1), (4, 3), (2, 2))
    found = [outcome(answer, *size) for size in sizes]
    # whatever a refusal says
    return [each[:2] if each[0] == "raised" else each for each in found]


def shift_matrix(answer: Any) -> list:
    """Tell matrices apart by their entries."""
    return [outcome(answer, k, d) for k, d in ((2, 12), (-3, 4), (1, 8), (0, 4))]


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
        [about(description[axis]) for axis in ("xlabel", "ylabel")],
        [
            [g["values"], g["y"], g["colorbar"], failure_of(expect.readable, g) is None]
            for g in description["grids"]
        ],
        description["downward"],
        [[c["x"], c["y"], c["label"][:1] != "_"] for c in description["curves"]],
        [re.findall(r"\d+", text) for text in description["legend"]],
    ]


def about(label: str) -> Any:
    """What an axis is called, or whether it is called something else."""
    words = (word for word in ("pos", "dim") if word in label.casefold())
    return next(words, bool(label.strip()))


def plot_encoding_heatmap(answer: Any) -> list:
    """Tell heat maps apart by their cells, labels, color bar, and what is cut off."""
    found = drawn(answer, np.sin(np.arange(24.0)).reshape(8, 3))
    large = outcome(answer, np.sin(np.arange(840.0)).reshape(70, 12))
    grids = describe_axes(large[1])["grids"] if len(found) > 1 else []
    return [*found, [g["values"].shape for g in grids]]


def plot_encoding_waves(answer: Any) -> list:
    """Tell waves apart by their lines and legend."""
    return drawn(answer, np.sin(np.arange(360.0)).reshape(60, 6), [2, 0, 5])
