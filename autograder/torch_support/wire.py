"""Tensors and dtypes of torch on the wire: two extension types."""

from __future__ import annotations

from typing import Any

import torch

from autograder.errors import Violation
from autograder.torch_support.values import NAMES, is_tensor, odd
from autograder.wall.wire import decode, encode, no_handles, register
from autograder.wall.wire.decoding import axes_of, boolean_bytes, shape_of, typed
from autograder.wall.wire.encoding import Writer, order_of, packed


def parts(value: Any, writer: Writer) -> list | None:
    """The parts that a tensor or dtype crosses as; None for anything else."""
    if type(value) is torch.dtype:
        return [DTYPE, NAMES[str(value)]] if str(value) in NAMES else None
    if not is_tensor(value) or odd(value):
        return None
    flags = value.requires_grad | isinstance(value, torch.nn.Parameter) << 1
    value = value.as_subclass(torch.Tensor)  # one of the student's, as what it is
    name, shape = NAMES[str(value.dtype)], tuple(value.shape)
    writer.expect_room(shape, value.dtype.itemsize)
    order = None if value.is_contiguous() else order_of(shape, value.stride())
    plain = value.detach().resolve_conj().resolve_neg()
    # `contiguous()` may keep odd strides of axes of length 1; a copy has none
    plain = plain.permute([*order]) if order else plain
    plain = plain.clone(memory_format=torch.contiguous_format)
    content = plain.flatten().view(torch.uint8).numpy().tobytes()
    return [TENSOR, name, packed(shape), order, flags, content]


def _tensor(name: Any, shape: Any, order: Any, flags: Any, content: Any) -> Any:
    dtype = _dtype(name)
    shape = shape_of(shape, dtype, content)
    order = bytes(range(len(shape))) if order is None else axes_of(order, shape)
    value = torch.empty([shape[i] for i in order], dtype=dtype)
    if content:
        content = bytearray(boolean_bytes(content, dtype))
        value = torch.frombuffer(content, dtype=dtype).reshape(value.shape)
    value = value.permute([order.index(i) for i in range(len(order))])
    requires = bool(typed(flags, int) & 1)
    if not 0 <= flags <= 3 or (
        requires and not (dtype.is_floating_point or dtype.is_complex)
    ):
        raise Violation("a tensor with impossible flags")
    if flags & 2:
        return torch.nn.Parameter(value, requires_grad=requires)
    return value.requires_grad_(requires)


def _dtype(name: Any) -> torch.dtype:
    return getattr(torch, NAMES[f"torch.{name}"])


def warm() -> None:
    """Let a tensor cross once, so that no fork has to load what this takes."""
    decode(encode(torch.zeros(1), no_handles), no_handles)


TENSOR, DTYPE = register(32, _tensor), register(33, _dtype)
