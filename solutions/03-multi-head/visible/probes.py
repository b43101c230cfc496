"""Probes of 03-multi-head: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.failures import CheckFailed, kind_of
from autograder.checks.figures import describe_axes
from autograder.checks.outcomes import outcome
from autograder.checks.question import failure_of
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import seeded


def behavior(answer: Any, arguments: tuple, *calls: tuple) -> list:
    """Parameters of a module, and what it does with seeded weights.

    The last call is made in eval mode.
    """
    built = outcome(answer, *arguments)
    if built[0] == "raised":
        return [built]
    module = built[1]
    shapes = {name: tuple(t.shape) for name, t in module.state_dict().items()}
    found: list = [sorted(f"{name} {shape}" for name, shape in shapes.items())]
    # one matrix each, told apart by its name
    state = {
        name: seeded(*shape) + 0.3 * sum(map(ord, name)) % 1
        for name, shape in shapes.items()
    }
    module.load_state_dict(state)
    found += [outcome(module, *inputs) for inputs in calls[:-1]]
    found.append(outcome(module.eval(), *calls[-1]))
    first = found[1]
    if first[0] == "returned" and isinstance(first[1], tuple):
        found.append(learning(module, first[1][0], calls[0]))
    return found


def learning(module: Any, output: Any, inputs: tuple) -> Any:
    """Which parameters get a gradient."""
    try:
        result = gradients(module, *inputs, weights=torch.ones_like(output))
    except (RuntimeError, TypeError) as error:
        return kind_of(error)[0]
    return sorted(name for name, g in result["parameters"].items() if g is not None)


def AttentionHead(answer: Any) -> list:
    """Tell heads apart by parameters, results and gradients."""
    return behavior(answer, (6, 4), (seeded(2, 5, 6),), (seeded(3, 3, 6),))


def MultiHeadAttention(answer: Any) -> list:
    """Tell modules apart by parameters, results, masks, gradients, refusals."""
    query, key, value = seeded(2, 3, 6), seeded(2, 4, 6), seeded(2, 4, 6).flip(0)
    mask = torch.tensor([[True, False, True, True]]).expand(3, 4)
    refused = outcome(answer, 6, 4)
    refusal = refused[1] if refused[0] == "raised" else "accepted"
    calls = [(query, key, value), (query, key, value, mask)]
    third = torch.arange(4) == 2  # the key with the lowest scores
    calls.append((query, key, value, third.expand(3, 4)))
    return [refusal, *behavior(answer, (6, 2), *calls)]


def split_heads(answer: Any) -> list:
    """Tell splits apart by where each number goes."""
    return [outcome(answer, seeded(2, 5, 12), 3), outcome(answer, seeded(1, 4, 6), 2)]


def merge_heads(answer: Any) -> list:
    """Tell merges apart by where each number goes."""
    shapes = ((2, 3, 5, 4), (2, 2, 2, 2), (1, 2, 3, 4))
    return [outcome(answer, seeded(*shape)) for shape in shapes]


def plot_attention(answer: Any) -> list:
    """Tell maps apart by cells, tick labels, their distances, and axis labels."""
    weights = np.array([[0.7, 0.2, 0.1], [0.3, 0.25, 0.45], [0.0, 0.4, 0.6]])
    result = outcome(answer, weights, ["we", "like", "tea"])
    if result[0] == "raised":
        return [result]
    try:
        shown = describe_axes(result[1])
    except CheckFailed:
        return [type(result[1]).__name__]
    words = [shown["xlabel"].casefold()[:3], shown["ylabel"].casefold()[:3]]
    ticks = labeled(shown)
    twice = outcome(answer, weights, ["we", "saw", "we"])
    if twice[0] != "raised":
        twice = labeled(describe_axes(twice[1]))
    grids = [
        [g["values"], g["y"], failure_of(expect.readable, g) is None]
        for g in shown["grids"]
    ]
    return [words, ticks, grids, twice]


def labeled(shown: dict) -> list:
    """The words on both axes, and how far apart they are."""
    ticks = []
    for axis in ("xticks", "yticks"):
        named = [(place, label) for place, label in shown[axis] if label.isalpha()]
        steps = np.diff([place for place, _ in named]).round(2).tolist()
        ticks.append([[label for _, label in named], steps])
    return ticks
