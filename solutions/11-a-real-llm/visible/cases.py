"""Helpers of the checks of 11-a-real-llm: a small layer and its published tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.failures import CheckFailed
from autograder.checks.fingerprints import note
from autograder.checks.library import library
from autograder.checks.published import constant
from autograder.torch_support.modules import wrong_of

# our name: the published name after blk.<index>.
PUBLISHED: dict[str, str] = constant("smollm2", "LAYER")
TURNED = ("self_attn.W_q", "self_attn.W_k")  # what rotary positions turn

Sizes = tuple[int, int, int, int]  # d_model, n_heads, n_kv, d_ff


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The parameters of a layer by our names."""
    d_model, n_heads, n_kv, d_ff = sizes
    d_kv = d_model // n_heads * n_kv
    return {
        "norm1.weight": (d_model,),
        "self_attn.W_q.weight": (d_model, d_model),
        "self_attn.W_k.weight": (d_kv, d_model),
        "self_attn.W_v.weight": (d_kv, d_model),
        "self_attn.W_o.weight": (d_model, d_model),
        "norm2.weight": (d_model,),
        "ffn.gate.weight": (d_ff, d_model),
        "ffn.up.weight": (d_ff, d_model),
        "ffn.down.weight": (d_model, d_ff),
    }


def published(
    rng: np.random.Generator, n_layers: int, sizes: Sizes
) -> dict[str, torch.Tensor]:
    """Random tensors of several layers by their published names."""
    tensors = {"output_norm.weight": torch.zeros(sizes[0], dtype=torch.float32)}
    for index in range(n_layers):
        for name, shape in shapes(sizes).items():
            numbers = 0.5 * rng.standard_normal(shape) + 1.0 * (len(shape) == 1)
            theirs = f"blk.{index}.{PUBLISHED[name.removesuffix('.weight')]}.weight"
            tensors[theirs] = torch.from_numpy(numbers.astype(np.float32))
    return tensors


def new_layer(answer: Any, sizes: Sizes) -> Any:
    """A decoder layer of the book that rotates halves, where the answer lives."""
    kind = library(answer, "smollm2", "DecoderLayer")
    layer = kind(*sizes, layout="halves")
    layer.eval()
    return layer


def to_halves(weight: torch.Tensor, n_heads: int) -> torch.Tensor:
    """A right answer to the question, row by row; the book's modules have none."""
    width = len(weight) // n_heads
    order = [*range(0, width, 2), *range(1, width, 2)]
    return weight[[head * width + row for head in range(n_heads) for row in order]]


def compare_parameters(layer: Any, tensors: dict, index: int, sizes: Sizes) -> None:
    """Every parameter of the layer is what layer ``index`` has to become."""
    state = layer.state_dict()
    heads = dict(zip(TURNED, sizes[1:3], strict=True))
    for ours in PUBLISHED:  # what was left as it was holds random numbers
        seen = state[f"{ours}.weight"].detach()
        came = origin(seen, tensors)
        note(came if came.startswith("none") else seen)
    wrong = []
    for ours, theirs in PUBLISHED.items():
        wanted = tensors[f"blk.{index}.{theirs}.weight"]
        if ours in TURNED:
            wanted = to_halves(wanted, heads[ours])
        if not torch.equal(state[f"{ours}.weight"], wanted):
            wrong.append(ours)
    for ours in wrong[:1]:
        seen = origin(state[f"{ours}.weight"], tensors)
        halves = ", its rows in halves, head by head" if ours in TURNED else ""
        raise CheckFailed(
            f"after load_decoder_layer with index {index}, {ours}.weight is {seen}",
            f"blk.{index}.{PUBLISHED[ours]}.weight{halves}",
            reason=wrong_of([f"{one}.weight" for one in wrong], len(PUBLISHED)),
        )


def compare_loaded(answer: Any, tensors: dict, index: int, sizes: Sizes) -> None:
    """A new layer becomes layer ``index``, and the tensors stay as they were."""
    layer = new_layer(answer, sizes)
    given = {name: tensor.clone() for name, tensor in tensors.items()}
    answer(layer, given, index)
    compare_parameters(layer, tensors, index, sizes)
    for name, tensor in tensors.items():
        if name not in given or not torch.equal(given[name], tensor):
            seen = f"afterwards the tensor {name} has changed"
            raise CheckFailed(seen, "the tensors unchanged")


def origin(seen: torch.Tensor, tensors: dict) -> str:
    """Where a parameter's numbers come from, as far as that can be told."""
    for name, tensor in tensors.items():
        if tensor.shape != seen.shape:
            continue
        if torch.equal(tensor, seen):
            return f"the tensor {name}, as it was published"
        if torch.equal(tensor.sort(0).values, seen.sort(0).values):
            return f"the tensor {name}, with its rows in another order"
    return "none of the published tensors"


SMALL: Sizes = (24, 4, 2, 10)  # heads of width 6
