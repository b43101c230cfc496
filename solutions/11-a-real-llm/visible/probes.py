"""Probes of 11-a-real-llm: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.outcomes import outcome
from autograder.torch_support.tensors import seeded

from .cases import new_layer, published


def rms_norm(answer: Any) -> list:
    """Tell norms apart by means, weights, small vectors and precision."""
    x, weight = seeded(2, 3, 4) + 1, seeded(4)
    found = [
        outcome(answer, x.clone(), weight.clone()),
        outcome(answer, x.clone(), weight.clone(), 0.7),
        outcome(answer, 1e-3 * seeded(3, 4), weight.clone()),
        outcome(answer, torch.zeros(1, 4, dtype=torch.float32), weight.clone()),
        outcome(answer, x[0, 0].clone(), weight.clone()),
    ]
    single = outcome(answer, x.double(), weight.double())
    dtype = getattr(single[1], "dtype", None) if single[0] == "returned" else None
    return [*found, str(dtype)]


def to_halves(answer: Any) -> list:
    """Tell permutations apart by where they put rows of several sizes."""
    sizes = ((12, 1, 5), (16, 2, 16), (24, 3, 24), (4, 2, 3), (6, 1, 12))
    found = [outcome(answer, seeded(rows, d), n_heads) for rows, n_heads, d in sizes]
    # which shape an error names is how the line is written
    found = [one[:2] if one[0] == "raised" else one for one in found]
    double = outcome(answer, seeded(8, 3).double(), 2)
    dtype = getattr(double[1], "dtype", None) if double[0] == "returned" else None
    return [*found, str(dtype)]


def load_decoder_layer(answer: Any) -> list:
    """Tell loaders apart by what they leave in a layer of equal numbers, or raise."""
    sizes = (24, 4, 2, 10)
    tensors = published(np.random.default_rng(5), 11, sizes)
    found: list = []
    for index in (2, 0, 1):
        layer = new_layer(answer, sizes)
        state = layer.state_dict()
        layer.load_state_dict({n: torch.full_like(t, 0.25) for n, t in state.items()})
        given = dict(tensors)
        ending, *told = outcome(answer, layer, given, index)
        found.append(all(given.get(name) is tensors[name] for name in tensors))
        if ending == "raised":  # how far it came before is the order of its lines
            found.append(told)
            continue
        state = layer.state_dict()
        found.append([state[name] for name in sorted(state)])
    return found


def sink_share(answer: Any) -> list:
    """Tell shares apart on maps of two sizes, and by precision."""
    maps = [(2 * seeded(2, 3, n, n)).softmax(-1) for n in (9, 6)]
    double = outcome(answer, maps[0].double())
    dtype = getattr(double[1], "dtype", None) if double[0] == "returned" else None
    return [*(outcome(answer, one.clone()) for one in maps), str(dtype)]


def perplexity(answer: Any) -> list:
    """Tell numbers apart on texts of two sizes, and far from zero."""
    texts = [(seeded(6, 5), torch.tensor([4, 0, 2, 2, 1, 3]))]
    texts += [(2 * seeded(4, 4), torch.tensor([0, 3, 1, 2]))]
    texts += [(seeded(3, 4) + 500, torch.tensor([3, 0, 2]))]
    wide = torch.tensor([[110.0, 0.0]] * 11)  # one of ten predictions costs 110 nats
    texts += [(wide, torch.tensor([0] * 5 + [1] + [0] * 5))]
    texts += [(seeded(600, 8), torch.arange(600) % 8)]  # its probability is 0
    found = []
    for logits, tokens in texts:
        result = outcome(answer, logits, tokens)
        kind = type(result[1]).__name__ if result[0] == "returned" else ""
        if getattr(result[1], "shape", None) == ():  # in whatever precision
            result = (result[0], float(result[1]), *result[2:])
        found.append([result, kind])
    return found
