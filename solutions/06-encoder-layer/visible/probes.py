"""Probes of 06-encoder-layer: run answers on fixed inputs to name mistakes."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from autograder.checks.outcomes import close_to, outcome
from autograder.libraries import is_tensor
from autograder.torch_support.tensors import seeded

from .cases import embedded, ffn_shapes, layer_shapes, linear


def behavior(
    answer: Any, sizes: tuple, shapes: dict, x: torch.Tensor, *masks: Any
) -> list:
    """Parameters, eval results, and results with nothing and all dropped.

    ``shapes`` are those that the card names.
    """
    built = outcome(answer, *sizes, dropout=0.0)
    if built[0] == "raised":
        return [built]
    own = built[1].state_dict()
    found = {name: tuple(tensor.shape) for name, tensor in own.items()}
    if any(str(tensor.dtype) == "torch.bool" for tensor in own.values()):
        return ["a mask among the parameters"]
    if found.keys() != shapes.keys() and sorted(found.values()) == sorted(
        shapes.values()
    ):
        return ["other names"]
    told: list = [sorted(f"{name} {shape}" for name, shape in found.items())]
    # each parameter of its own, also where two have the same shape
    state = {
        name: seeded(*shape) * (1 + sum(map(ord, name)) % 7 / 7)
        for name, shape in found.items()
    }
    built[1].load_state_dict(state)
    built[1].eval()
    told += [steady(built[1], x, *args) for args in [(), *[(m,) for m in masks]]]
    built[1].train()
    told.append(steady(built[1], x))
    dropping = answer(*sizes, dropout=1.0)
    dropping.load_state_dict(state)
    for mode in (dropping.eval, dropping.train):
        mode()
        told.append(steady(dropping, x))
    return told


def steady(module: Any, *inputs: torch.Tensor) -> Any:
    """The outcome, or "noisy" where calls differ; two could agree by chance."""
    first, *others = (outcome(module, *inputs) for _ in range(4))
    return first if all(close_to(first, other) for other in others) else "noisy"


def FeedForward(answer: Any) -> list:
    """Tell networks apart by parameters, activation and dropout."""
    told = behavior(answer, (4, 6), ffn_shapes(4, 6), 2 * seeded(2, 3, 4))
    return [*told, activated(answer), dropped(answer, 1.0), dropped(answer, -2.0)]


def activated(answer: Any) -> Any:
    """What comes of -3, where approximations of the GELU are a tenth off."""
    network = answer(1, 1, dropout=0.0)
    state = network.state_dict()
    ones = {name: torch.full_like(t, "bias" not in name) for name, t in state.items()}
    network.load_state_dict(ones)
    return outcome(network.eval(), torch.full((1, 1, 1), -3.0))


def dropped(answer: Any, bias: float) -> list[float]:
    """The shares that tokens keep of 16000 equal activations, a quarter dropped.

    In steps of 1/4, up to 2: six standard deviations to a border, or more.
    """
    network = answer(1, 16000, dropout=0.25)
    state = network.state_dict()
    ones = {name: torch.ones(tensor.shape) for name, tensor in state.items()}
    if "linear1.bias" in ones:
        ones["linear1.bias"] *= bias
    network.load_state_dict(ones | {"linear2.bias": torch.zeros(1)}, strict=False)
    network.train()
    _, value, *_ = outcome(network, torch.ones(1, 60, 1))
    if not is_tensor(value):
        return []
    shares = value.detach().flatten() / 16000 / F.gelu(torch.tensor(1.0 + bias))
    return sorted({round(4 * min(share, 2)) / 4 for share in shares.tolist()})


def EncoderLayer(answer: Any) -> list:
    """Tell layers apart by parameters, order, mask and dropout."""
    masks = torch.ones(4, 4).tril().bool(), torch.arange(4).lt(3).expand(2, 1, 1, 4)
    return behavior(answer, (6, 2, 8), layer_shapes(6, 8), seeded(2, 4, 6), *masks)


def count_parameters(answer: Any) -> list:
    """Tell counts apart, and floats from integers; also at a size of the card.

    So the two numbers of the card are not taken for the mistake that gives one of them.
    """
    results = [outcome(answer, *sizes) for sizes in ((3, 7), (5, 2), (1, 1))]
    return [[result, type(result[1]).__name__] for result in results]


def encode(answer: Any) -> list:
    """Tell encoders apart by scale, positions and layers."""
    embedding = embedded(answer, seeded(7, 6))
    layers = [linear(answer, seeded(6, 6)), linear(answer, seeded(7, 6)[:6])]
    tokens = torch.tensor([[1, 3, 3, 0], [2, 6, 5, 4]])
    return [outcome(answer, tokens, embedding, layers) for _ in range(2)]
