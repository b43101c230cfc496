"""Tensors as checks and messages see them, and torch's settings and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import torch

from autograder.checks.accepted_results import DTYPES

NAMES = {f"torch.{name}": name for name in (*DTYPES, "bfloat16")}  # those that cross
LAYOUTS = ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
ODD_NUMBERS = (
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
    *("float8_e8m0fnu", "float4_e2m1fn_x2", "quint8", "qint8", "qint32", "complex32"),
)
# types by whose names messages may call an object
KNOWN = {
    *("Linear", "LayerNorm", "Dropout", "Embedding", "ModuleList", "Sequential"),
    *(f"Tensor of layout {name}" for name in LAYOUTS),
    *(f"Tensor of dtype {name}" for name in ODD_NUMBERS),
    "Tensor on the device meta",
}


def is_tensor(value: Any) -> bool:
    """Whether this is a tensor."""
    # not isinstance, which believes what an object says of its class
    return issubclass(type(value), torch.Tensor)


def odd(tensor: torch.Tensor) -> str | None:
    """What kind of tensor this is, if it is one that cannot cross."""
    layout, name = str(tensor.layout), str(tensor.dtype)
    if layout != "torch.strided":
        return f"Tensor of layout {layout.removeprefix('torch.')}"
    if name not in NAMES:
        return f"Tensor of dtype {name.removeprefix('torch.')}"
    if tensor.device.type != "cpu":
        return f"Tensor on the device {tensor.device.type}"
    return None


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor; NumPy has no bfloat16."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def stack(tensors: list[torch.Tensor]) -> torch.Tensor:
    """Tensors of one shape as one, with an axis in front."""
    return torch.stack(tensors)


def described(value: Any) -> tuple[str, tuple[int, ...], object] | None:
    """What messages call a value, its shape and dtype; None if they say nothing."""
    if issubclass(type(value), torch.Tensor):
        return "tensor", value.shape, value.dtype
    if issubclass(type(value), torch.nn.Linear):
        return "Linear", (value.in_features, value.out_features), ""
    return None


def of_dtype(tensor: torch.Tensor, name: str) -> torch.Tensor:
    """The same numbers in another dtype."""
    return tensor.detach().to(getattr(torch, name))


def assign(tensor: torch.Tensor, changed: torch.Tensor) -> None:
    """Change a tensor in place to another one of its shape."""
    tensor.detach().copy_(changed.detach())


def settle(undo: ExitStack) -> None:
    """Put torch's settings to their defaults; ``undo`` puts them back."""
    undo.callback(torch.set_default_dtype, torch.get_default_dtype())
    torch.set_default_dtype(torch.float32)
    undo.enter_context(torch.enable_grad())


def seed(number: int) -> None:
    """Seed the random numbers."""
    # torch.manual_seed would also prepare the seeds of devices that are not there
    torch.default_generator.manual_seed(number)


def random_state() -> Callable[[], object]:
    """What brings random numbers back to where they are now."""
    return partial(torch.set_rng_state, torch.get_rng_state())


def warm() -> None:
    """One thread: threads of a process are not there in its forks, which would wait."""
    torch.set_num_threads(1)
    torch.set_num_threads = torch.set_num_interop_threads = lambda _: None
