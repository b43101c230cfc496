"""Gradients of a student's function or torch module, for checks that compare them."""

from __future__ import annotations

from typing import Any

import torch

from autograder.checks.library import library


def gradients(answer: Any, *inputs: Any, weights: Any) -> dict[str, Any]:
    """Gradients of Σ weights · output, where output is the answer's first result.

    ``weights`` is a tensor of the output's shape. Returns {"inputs": [tensor or None
    for each input], "parameters": {name: tensor or None}}; integer inputs have None.
    Behind the wall the sandbox computes and the numbers cross.
    """
    return library(answer, __name__, "computed")(answer, weights, *inputs)


def computed(answer: Any, weights: torch.Tensor, *inputs: Any) -> dict[str, Any]:
    """The gradients, in the process that the answer lives in."""
    given = [
        value.detach().clone().requires_grad_(value.is_floating_point())
        if isinstance(value, torch.Tensor)
        else value
        for value in inputs
    ]
    named = getattr(answer, "named_parameters", None)
    parameters = dict(named(remove_duplicate=False)) if named else {}
    for parameter in parameters.values():
        parameter.grad = None
    with torch.enable_grad():
        output = answer(*given)
        if isinstance(output, tuple | list):
            output = output[0]
        (output * weights).sum().backward()
    return {
        "inputs": [getattr(value, "grad", None) for value in given],
        "parameters": {name: p.grad for name, p in parameters.items()},
    }
