"""Serialization of messages: values in, msgpack bytes out."""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from typing import Any

import numpy as np
from msgpack import ExtType, Packer

from autograder.checks.accepted_results import (
    DIGITS,
    LARGE,
    MAX_FRAME,
    MAX_INT_BYTES,
    NUMPY_NAMES,
    TooLarge,
    expect_room,
    levels,
    odd,
)
from autograder.libraries import loaded
from autograder.wall.wire.extension_types import KINDS, WIDE, Refer

MARKS = {kind: ExtType(number, b"") for number, kind in enumerate(KINDS)}
TUPLE, ARRAY = MARKS["tuple"], MARKS["array"]
_SCALARS = {dtype.type: name for dtype, name in NUMPY_NAMES.items()}


def encode(value: Any, refer: Refer) -> bytes:
    """The bytes of ``value``; ``refer`` numbers what is not plain data.

    Raises TooLarge, with the reason.
    """
    for _ in levels(value):
        pass
    writer = Writer(refer)
    packer = Packer(
        default=writer.parts,
        strict_types=True,
        unicode_errors="surrogatepass",
        buf_size=1 << 12,  # from the heap, not pages of its own
    )
    content = packer.pack(value)
    if len(content) > MAX_FRAME:
        raise TooLarge(LARGE)
    return content


class Writer:
    """Takes apart what msgpack does not know: a mark of its kind, and plain parts."""

    def __init__(self, refer: Refer) -> None:
        self.refer, self.size = refer, 0

    def parts(self, value: Any) -> Any:
        kind = type(value)
        if kind is tuple:
            return [TUPLE, *value]
        if kind is np.ndarray and value.dtype in NUMPY_NAMES:
            return self.array(value)
        if isinstance(value, np.ndarray) and odd(value) is None:
            return self.array(value)
        if issubclass(kind, tuple):  # named ones too, as the tuples that they are
            return [TUPLE, *tuple.__iter__(value)]
        return _plain(value, kind) or self.supported(value) or self.handle(value)

    def handle(self, value: Any) -> list:
        number, name = self.refer(value)
        return [MARKS["handle"], number, name]

    def array(self, value: np.ndarray) -> list:
        if type(value) is not np.ndarray:
            value = np.asarray(value)  # of a subclass, the array that it is
        if value.dtype.char in WIDE:
            value = value.astype(WIDE[value.dtype.char])
        dtype = value.dtype
        self.expect_room(value.shape, dtype.itemsize)
        order, shape = None, packed(value.shape)
        writeable = value.flags.writeable
        if not (value.flags.c_contiguous and dtype.isnative):
            dtype = dtype.newbyteorder("=")
            order = order_of(value.shape, value.strides)
            value = value.transpose([*order]) if order else value
            value = value.astype(dtype, order="C", copy=False)
        content = value.tobytes()
        return [ARRAY, NUMPY_NAMES[dtype], shape, order, writeable, content]

    def supported(self, value: Any) -> list | None:
        found = (wire.parts(value, self) for wire in loaded("wire"))
        return next(filter(None, found), None)

    def expect_room(self, shape: tuple[int, ...], itemsize: int) -> None:
        expect_room(shape, itemsize)
        self.size += itemsize * math.prod(shape)
        if self.size > MAX_FRAME:
            raise TooLarge(LARGE)


def _plain(value: Any, kind: type) -> Any:
    """The parts of other plain data; None if it is none."""
    if kind is OrderedDict:
        return dict(value)
    if kind is int:  # of more than 64 bits
        size = value.bit_length() // 8 + 1
        if size > MAX_INT_BYTES:
            raise TooLarge(DIGITS)
        return [MARKS["integer"], value.to_bytes(size, "little", signed=True)]
    if kind is complex:
        return [MARKS["complex"], value.real, value.imag]
    if kind is slice:
        ends = [value.start, value.stop, value.step]
        if all(end is None or isinstance(end, int | np.integer) for end in ends):
            return [MARKS["slice"], *ends]
    elif value is Ellipsis:
        return [MARKS["ellipsis"]]
    elif kind is np.longdouble or kind is np.clongdouble:
        return _plain(narrow := value.astype(WIDE[value.dtype.char]), type(narrow))
    elif name := _SCALARS.get(kind):
        return [MARKS["scalar"], name, value.tobytes()]
    elif isinstance(value, np.dtype):
        if name := NUMPY_NAMES.get(value):
            return [MARKS["dtype"], name]
    elif kind is np.random.Generator:
        state = value.bit_generator.state
        if state["bit_generator"] == "PCG64":  # see :func:`decoding.generator`
            numbers = [state["has_uint32"], state["uinteger"]]
            return [MARKS["generator"], *state["state"].values(), *numbers]
    return None


def packed(shape: Any) -> bytes:
    """The sizes of an array as bytes."""
    return struct.pack(f"<{len(shape)}Q", *shape)


def order_of(shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes | None:
    """The axes from the outermost in memory to the innermost; None if they are so.

    Where an axis of length 1 lies makes no difference: these come last.
    """
    axes = range(len(strides))
    if any(strides[i] <= 0 and shape[i] > 1 for i in axes):
        return None
    order = sorted(axes, key=lambda i: (shape[i] == 1, -strides[i]))
    return None if order == [*axes] else bytes(order)
