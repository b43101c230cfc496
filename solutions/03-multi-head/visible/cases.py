"""Helpers of the checks of 03-multi-head: shapes, gradients, drawn weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes, labels_of
from autograder.checks.fingerprints import note
from autograder.torch_support.gradients import gradients


def counting(*shape: int) -> torch.Tensor:
    """0, 1, 2, … in the given shape: every number tells where it came from."""
    return torch.arange(float(np.prod(shape))).reshape(shape)


def head_shapes(d_model: int, d_k: int) -> dict[str, tuple[int, ...]]:
    return {f"W_{name}.weight": (d_k, d_model) for name in "qkv"}


def multi_head_shapes(d_model: int) -> dict[str, tuple[int, ...]]:
    return {f"W_{name}.weight": (d_model, d_model) for name in "qkvo"}


def reached(module: Any, *inputs: torch.Tensor, weights: torch.Tensor) -> None:
    """Each parameter of the module gets a gradient from its output."""
    try:
        found = gradients(module, *inputs, weights=weights)["parameters"]
    except RuntimeError as error:  # the output hangs on no graph at all
        if "grad" not in str(error):
            raise
        found = dict.fromkeys(module.state_dict())
    got = {
        name: value is not None and bool(value.any()) for name, value in found.items()
    }
    note(got)
    if missed := [name for name, there in got.items() if not there]:
        seen = f"no gradient reaches {', '.join(missed)}"
        raise CheckFailed(seen, "a gradient for each parameter")


def drawn_weights(answer: Any, weights: np.ndarray, tokens: list[str]) -> np.ndarray:
    """The numbers of the student's heat map, ordered by its tick labels."""
    description = describe_axes(expect.call(answer, weights, tokens))
    if len(description["grids"]) != 1:
        told = f"the Axes shows {len(description['grids'])} heat maps"
        raise CheckFailed(told, "one heat map")
    for axis, word in [("xlabel", "key"), ("ylabel", "quer")]:
        if word not in description[axis].casefold():
            seen = f'the {axis} is "{description[axis]}"'
            full = {"quer": "query"}.get(word, word)
            raise CheckFailed(seen, f'a label with "{full}"')
    (grid,) = description["grids"]
    if grid["values"].shape != weights.shape:
        told = f"the heat map has {grid['values'].shape} rows and columns"
        raise CheckFailed(told, f"{weights.shape}", kind="shape")
    expect.readable(grid)
    values = grid["values"]
    for axis, name in [("y", "rows"), ("x", "columns")]:
        labels = labels_of(grid, description[f"{axis}ticks"], axis)
        if labels == tokens[::-1] and labels != tokens:  # drawn from below
            values = np.flip(values, 0 if axis == "y" else 1)
        elif labels != tokens:
            told = f"the labels of the {name} are {labels}"
            raise CheckFailed(told, f"{tokens}: a tick with its token at every cell")
    return values
