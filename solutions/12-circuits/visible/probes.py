"""Probes of 12-circuits: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.library import library
from autograder.checks.outcomes import outcome
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import seeded

from . import CIRCUIT, SMALL, TOKENS, fewer_drawn
from .cases import DESIGN, build, designed, drawn, generator, keeps_hooks


def described(result: Any) -> list:
    """An outcome with its dtype and kind."""
    value = result[1] if result[0] == "returned" else None
    said = result if result[0] == "returned" else result[:2]
    return [said, str(getattr(value, "dtype", "")), type(value).__name__]


def previous_token_score(answer: Any) -> list:
    """Tell scores apart by maps of several sizes and their dtypes."""
    shapes = ((2, 3, 4, 4), (5, 5), (2, 2))
    found = [outcome(answer, seeded(*shape).softmax(-1)) for shape in shapes]
    found.append(outcome(answer, seeded(3, 6, 6).softmax(-1).double()))
    return [described(one) for one in found]


def induction_score(answer: Any) -> list:
    """Tell scores apart by maps, periods and dtypes."""
    cases = (((2, 3, 8, 8), 4), ((7, 7), 2), ((7, 7), 6), ((2, 9, 9), 3))
    found = [outcome(answer, seeded(*s).softmax(-1), p) for s, p in cases]
    found.append(outcome(answer, seeded(3, 6, 6).softmax(-1).double(), 3))
    return [described(one) for one in found]


def ablate(answer: Any) -> list:
    """Tell cuts apart by logits, and by what is left of the model."""
    found: list = []
    for at, n_layers in (((0, 1), 2), ((1, 2), 2), ((1, 0), 3)):
        sizes = SMALL._replace(n_layers=n_layers)
        state = drawn(np.random.default_rng(7), sizes)
        model = build(answer, sizes, state)
        held = library(answer, "torch.nn", "ParameterList")(model.parameters())
        found.append(described(outcome(answer, model, TOKENS, *at)))
        found += [model(TOKENS), model.training]
        found.append([p.requires_grad for p in model.parameters()])
        long = torch.zeros(1, 9, dtype=torch.int64)
        found.append(outcome(answer, model, long, *at)[0])
        found.append(model(TOKENS))
        found.append(keeps_hooks(answer, model, TOKENS))
        size = library(answer, "torch.nn.utils", "clip_grad_norm_")
        ones = torch.ones(*TOKENS.shape, SMALL.vocabulary)
        outcome(gradients, model, TOKENS, weights=ones)
        outcome(answer, model, TOKENS, *at)
        found.append(float(size(model.parameters(), float("inf"))) > 0)
        held.requires_grad_(False)  # where these are the model's parameters still
        found.append([p.requires_grad for p in model.parameters()])
    return found


def find_induction_head(answer: Any) -> list:
    """Tell searches apart by what they find in several models, and what they draw."""
    found: list = []
    state_of = library(answer, "torch", "get_rng_state")
    mirrored = {(a, 1 - b): kind for (a, b), kind in CIRCUIT.items()}
    early = {(0, 0): "previous", (1, 1): "induction", (2, 0): "same"}
    rare = {(0, 1): "previous", (1, 0): "self", (1, 1): "rare"}
    even = rare | {(1, 0): "even"}
    zero = rare | {(0, 0): "self", (1, 0): "same"}
    final = zero | {(1, 1): "last"}
    blurred = CIRCUIT | {(1, 0): "even"}
    cases = ((CIRCUIT, 8), (mirrored, 8), (blurred, 8), (early, 8), (rare, 12))
    for kinds, period in (*cases, (even, 3), (zero, 8), (final, 8)):
        n_layers = 1 + max(layer for layer, _ in kinds)
        sizes = DESIGN._replace(n_layers=n_layers)
        model = build(answer, sizes, designed(kinds, n_layers))
        source = generator(answer, 3)
        before, common = source.get_state(), state_of()
        result = described(outcome(answer, model, period, source))
        kind = (
            [type(part).__name__ for part in result[0][1]]
            if result[1:] and (isinstance(result[0][1], tuple | list))
            else []
        )
        if kind == ["int", "int"] and result[0][1][1] >= DESIGN.n_heads:
            result = "no such head"  # which text or place it is, is by chance
        used = not torch.equal(before, source.get_state())
        quiet = torch.equal(common, state_of())
        fewer = fewer_drawn(source.get_state(), 3, 32 * period)
        found.append(
            [result, kind, used, quiet, fewer, source.initial_seed(), model.training]
        )
    return found


def key_composition(answer: Any) -> list:
    """Tell compositions apart by value and type."""
    found = []
    for d in (2, 5):
        a, b = seeded(d, d), seeded(d, d, 1)[..., 0]
        found.append(described(outcome(answer, a.clone(), b.clone())))
        found.append(described(outcome(answer, 3 * a[:, :1] @ b[:1], b.clone())))
    return found
