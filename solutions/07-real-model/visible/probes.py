"""Probes of 07-real-model: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.outcomes import outcome

from . import new_layer, published


def load_layer(answer: Any) -> list:
    """Tell loaders apart by what they leave in a layer of zeros."""
    tensors = published(np.random.default_rng(5), 4, 4, 6)
    found: list = []
    for index in (2, 0):
        layer = new_layer(answer, 4, 2, 6)
        zeros = {n: torch.zeros_like(t) for n, t in layer.state_dict().items()}
        layer.load_state_dict({n: t + 0.25 for n, t in zeros.items()})
        ending, *told = outcome(answer, layer, dict(tensors), index)
        ended = told if ending == "raised" else told[0] is None
        state = layer.state_dict()
        found.append([ending, ended, [state[name] for name in sorted(state)]])
    return found


def sentence_embedding(answer: Any) -> list:
    """Tell embeddings apart by padding, length and direction."""
    hidden = torch.sin(torch.arange(60.0) ** 1.5).reshape(3, 5, 4)
    mask = torch.arange(5) < torch.tensor([[3], [4], [5]])
    return [outcome(answer, hidden.clone(), mask)]


def strongest_head(answer: Any) -> list:
    """Tell searches apart by what they find in maps of unequal sizes."""
    found = []
    for seed, layers, heads in ((1, 3, 5), (2, 4, 2), (3, 2, 6), (4, 3, 3), (5, 7, 13)):
        rng = np.random.default_rng(seed)
        scores = torch.from_numpy(3 * rng.standard_normal((layers, heads, 4, 4)))
        maps = scores.softmax(-1).float()
        if seed == 4:  # layer 0 is strong on the mean, one head of layer 1 of all
            maps[:, :, 1, 3] = 0.1
            maps[0, :, 1, 3], maps[1, 2, 1, 3] = 0.5, 0.9
        kind, value, *_ = outcome(answer, maps, 1, 3)
        found.append(
            [kind, [float(part) for part in value]]
            if kind == "returned"
            else [kind, value]
        )
    return found
