"""Probes of 09-language-model: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from paying_attention.encoder_layer.visible.cases import layer_shapes
from paying_attention.encoder_layer.visible.probes import behavior

from autograder.checks.library import library
from autograder.checks.outcomes import outcome
from autograder.libraries import is_tensor
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import seeded

from . import generator


def next_token_loss(answer: Any) -> list:
    """Tell losses apart by shift, mask, extremes, kind and gradient."""
    logits = seeded(2, 6, 4)  # as many positions as tokens would hide a swap of both
    tokens = torch.tensor([[1, 0, 3, 2, 2, 1], [2, 1, 0, 0, 3, 0]])
    mask = torch.tensor([[1, 0, 1, 1, 0, 1], [1, 1, 0, 0, 0, 0]]).bool()
    found = [
        outcome(answer, logits, tokens),
        outcome(answer, logits, tokens, mask),
        outcome(answer, 1000 * logits, tokens),
        outcome(answer, logits + 200, tokens),
    ]
    found.append(type(found[0][1]).__name__)
    double = outcome(answer, logits.double(), tokens)
    found.append(str(getattr(double[1], "dtype", "")))
    return [*found, has_gradient(answer, logits, tokens)]


def has_gradient(answer: Any, logits: torch.Tensor, tokens: torch.Tensor) -> bool:
    try:
        found = gradients(answer, logits, tokens, weights=torch.ones(()))
    except Exception:
        return False
    return found["inputs"][0] is not None


# Draws differ from one right answer to the next, so what counts is which of
# these distributions the shares of the tokens come close to.
P = np.array([0.3, 0.05, 0.25, 0.4])
TIMES = 6000
KEPT = {"all": [0, 1, 2, 3], "1": [3], "2": [0, 3], "3": [0, 2, 3], "smallest": [1, 2]}


def normal(powers: Any) -> np.ndarray:
    powers = np.asarray(powers, dtype=float)
    return powers / powers.sum()


KNOWN = {f"kept {name}": normal(P * np.isin(range(4), k)) for name, k in KEPT.items()}
KNOWN |= {"squared": normal(P**2), "rooted": normal(P**0.5), "even": normal(P**0)}
KNOWN |= {"zeros": normal([0.3, 1, 1, 0.4]), "places": normal([0.4, 0.3, 0, 0])}


def kind_of(answer: Any, rows: torch.Tensor, temperature: float, top_k: Any) -> list:
    """What sort of result came, whether the logits changed, and how they were drawn."""
    given = rows.clone()
    found = outcome(answer, given, temperature, top_k, generator(answer, 1))
    changed = not torch.equal(given, rows)
    if found[0] == "raised":
        return [*found[:2], changed]
    if not is_tensor(found[1]):
        return [type(found[1]).__name__, changed]
    drawn = found[1].detach().numpy()
    if drawn.shape != rows.shape[:1] or drawn.dtype.kind != "i":
        return [str(drawn.shape), drawn.dtype.kind, changed]
    if len(drawn) < TIMES:
        return ["too few to tell", changed]
    shares = np.bincount(drawn[-TIMES:].clip(0, 3), minlength=4) / TIMES
    near = [name for name, p in KNOWN.items() if np.abs(shares - p).max() < 0.03]
    return [*near, changed]


def one_for_all(answer: Any) -> bool:
    """Whether even rows always draw the same token, and that by chance."""
    chance, found = generator(answer, 4), []
    for _ in range(12):
        result = outcome(answer, torch.zeros(60, 8), 1.0, None, chance)
        if not is_tensor(result[1]) or result[1].shape != (60,):
            return False
        found.append(result[1].detach().numpy())
    alike = all((drawn == drawn[0]).all() for drawn in found)
    return alike and len({int(drawn[0]) for drawn in found}) > 1


def twice(answer: Any, *generators: Any) -> str:
    """Whether two draws from 60 even rows agree, and whether they vary at all."""
    found = []
    for one in generators:
        result = outcome(answer, torch.zeros(60, 8), 1.0, None, one)
        if not is_tensor(result[1]):
            return "no draw"
        found.append(result[1].detach().numpy())
    varied = len(np.unique(found[0])) > 1
    return f"same {np.array_equal(*found)}, varied {varied}"


def sample(answer: Any) -> list:
    """Tell samplers apart by what comes how often, by chance, and by errors."""
    if one_for_all(answer):
        return ["one draw for all"]  # which token it is, is by chance
    row = torch.from_numpy(np.log(P))
    many = row.repeat(TIMES, 1)
    both = torch.cat([many - 10, many])  # the second half has larger logits
    cases = [(many, 1.0, None), (many, 2.0, None), (many, 0.5, None), (many, 1.0, 2)]
    cases += [(many, 1.0, 3), (both, 1.0, 2), (many, 0, None), (many, -1.0, None)]
    cases += [(many + 1000, 1.0, None), (row[None], 1.0, None)]
    found = [kind_of(answer, *case) for case in cases]
    shared = generator(answer, 2)
    found.append(twice(answer, shared, shared))
    library(answer, "torch", "manual_seed")(1)
    found.append(twice(answer, generator(answer, 3), generator(answer, 3)))
    return found


def DecoderLayer(answer: Any) -> list:
    """Tell layers apart by parameters, order, mask, lengths of text and dropout."""
    told = behavior(answer, (6, 2, 8), layer_shapes(6, 8), seeded(2, 4, 6))
    lengths = []
    for first, then in ((1, 200), (4, 3)):
        layer = answer(6, 2, 8)
        outcome(layer, seeded(2, first, 6))
        lengths.append(outcome(layer, seeded(2, then, 6))[0])
    return [*told, lengths]
