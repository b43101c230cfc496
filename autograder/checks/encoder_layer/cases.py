"""What the visible checks of 06-encoder-layer share: numbers and shapes."""

from __future__ import annotations

import numpy as np
import torch


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
