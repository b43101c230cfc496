"""Random tensors and parameters for the inputs of checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.torch_support import modules

Shapes = dict[str, tuple[int, ...]]


def draw(rng: np.random.Generator, *shape: int, dtype: Any = np.float32) -> Any:
    """A standard normal tensor, in single precision if nothing else is asked for."""
    return torch.from_numpy(rng.standard_normal(shape).astype(dtype))


def seeded(*shape: int) -> torch.Tensor:
    """The same normal numbers for the same shape."""
    return draw(np.random.default_rng(sum(shape) + 100 * len(shape)), *shape)


def loaded(
    module: Any, shapes: Shapes, rng: np.random.Generator
) -> dict[str, torch.Tensor]:
    """Fill a module with random parameters, norms included, and return them."""
    state = {name: 0.5 * draw(rng, *shape) for name, shape in shapes.items()}
    modules.load(module, state)
    return state
