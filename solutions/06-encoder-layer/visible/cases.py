"""Helpers of the checks of 06-encoder-layer: tensors, and shapes of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from autograder.checks.accepted_results import a_kind
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library


def waves(*shape: int) -> torch.Tensor:
    """Unequal, harmless numbers in the given shape."""
    return torch.sin(torch.arange(float(np.prod(shape)))).reshape(shape)


def ffn_shapes(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    return {
        "linear1.weight": (d_ff, d_model),
        "linear1.bias": (d_ff,),
        "linear2.weight": (d_model, d_ff),
        "linear2.bias": (d_model,),
    }


def layer_shapes(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for name in "qkvo":
        shapes[f"self_attn.W_{name}.weight"] = (d_model, d_model)
        shapes[f"self_attn.W_{name}.bias"] = (d_model,)
    shapes |= {f"ffn.{name}": s for name, s in ffn_shapes(d_model, d_ff).items()}
    for norm in ("norm1", "norm2"):
        shapes |= {f"{norm}.weight": (d_model,), f"{norm}.bias": (d_model,)}
    return shapes


def filled(shapes: dict[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
    """Unequal, harmless numbers for each parameter."""
    return {
        name: torch.sin(torch.arange(float(np.prod(shape))) + 2 * number).reshape(shape)
        for number, (name, shape) in enumerate(shapes.items(), 1)
    }


def torch_layer(
    d_model: int, n_heads: int, d_ff: int, state: dict, norm_first: bool = False
) -> Any:
    """torch's own layer, with GELU and the student's parameters."""
    layer = nn.TransformerEncoderLayer(
        d_model,
        n_heads,
        d_ff,
        dropout=0.0,
        activation="gelu",
        batch_first=True,
        norm_first=norm_first,
    )
    own = {
        "self_attn.in_proj_weight": torch.cat(
            [state[f"self_attn.W_{name}.weight"] for name in "qkv"]
        ),
        "self_attn.in_proj_bias": torch.cat(
            [state[f"self_attn.W_{name}.bias"] for name in "qkv"]
        ),
    }
    for name, value in state.items():
        if name.startswith("self_attn.W_o."):
            own[name.replace("W_o", "out_proj")] = value
        elif not name.startswith("self_attn."):
            own[name.removeprefix("ffn.")] = value
    layer.load_state_dict(own)
    return layer


def embedded(answer: Any, weight: torch.Tensor) -> Any:
    """An nn.Embedding with the given weight, where the answer lives."""
    embedding = library(answer, "torch.nn", "Embedding")(*weight.shape)
    embedding.load_state_dict({"weight": weight})
    return embedding


def linear(answer: Any, weight: torch.Tensor) -> Any:
    """A linear map that stands in for an encoder layer, where the answer lives."""
    layer = library(answer, "torch.nn", "Linear")(*weight.shape, bias=False)
    layer.load_state_dict({"weight": weight})
    return layer


def whole(value: Any) -> int:
    """``value`` as the integer that it has to be."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        seen = f"your function returned {value!r}, {a_kind(value)}"
        raise CheckFailed(seen, "an integer", kind="type")
    return int(value)
