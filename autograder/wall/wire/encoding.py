"""From values to bytes."""

from __future__ import annotations

import struct
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.wall.wire.kinds import (
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_FRAME,
    MAX_INT_BYTES,
    MAX_ITEMS,
    MAX_KEYS,
    NUMPY_DTYPES,
    TORCH_DTYPES,
    Refer,
    TooLarge,
)

SIZE = struct.Struct("<I")
_SCALARS = {dtype.type for dtype in NUMPY_DTYPES}
_NUMBERS = {dtype: number for number, dtype in enumerate(NUMPY_DTYPES)}


def encode(value: Any, refer: Refer) -> bytearray:
    """The bytes of ``value``; ``refer`` numbers what is not plain data."""
    writer = _Writer(refer)
    writer.write(value, 0)
    return writer.out


class _Writer:
    def __init__(self, refer: Refer) -> None:
        self.out, self.refer, self.items = bytearray(), refer, 0

    def write(self, value: Any, depth: int) -> None:
        self.items += 1
        if depth > MAX_DEPTH:
            raise TooLarge("nested too deeply")
        if self.items > MAX_ITEMS or len(self.out) > MAX_FRAME:
            raise TooLarge("too large")
        kind = type(value)
        if plain := _PLAIN.get(kind):
            plain(self, value, depth)
        elif issubclass(kind, tuple):  # named ones too, as the tuples that they are
            self.many(b"t", tuple(tuple.__iter__(value)), depth)
        elif not self.number(value, kind, depth):
            number, name = self.refer(value)
            self.out += b"h" + struct.pack("<Q", number)
            self.write(name, depth + 1)

    def integer(self, value: int, _: int) -> None:
        size = value.bit_length() // 8 + 1
        if size > MAX_INT_BYTES:
            raise TooLarge("a number with too many digits")
        self.out += b"i" + SIZE.pack(size) + value.to_bytes(size, "little", signed=True)

    def pairs(self, value: dict, depth: int) -> None:
        if len(value) > MAX_KEYS:
            raise TooLarge("too large")
        self.head(b"d", len(value))
        for key, item in list(value.items()):
            self.write(key, depth + 1)
            self.write(item, depth + 1)

    def slice(self, value: slice, depth: int) -> None:
        self.out += b"S"
        for part in (value.start, value.stop, value.step):
            self.write(part, depth + 1)

    def put(self, content: bytes) -> None:
        self.out += content

    def number(self, value: Any, kind: type, depth: int) -> bool:
        """Write NumPy's and torch's kinds of numbers; False if it is none."""
        if kind is np.longdouble:
            value, kind = np.float64(value), np.float64
        if isinstance(value, np.ndarray):  # a subclass too, as the array that it is
            value = np.asarray(value)
            if value.dtype == np.longdouble:
                value = value.astype(np.float64)
            dtype = value.dtype.newbyteorder("=")
            if dtype not in _NUMBERS:
                return False
            self.array(b"a", _NUMBERS[dtype], value)
            self.out.append(value.flags.writeable)
            if dtype == value.dtype and value.flags.c_contiguous:
                self.block(b"", value.tobytes())
            else:
                inside = value.transpose(_order(value))
                self.block(b"", inside.astype(dtype).tobytes())
            return True
        if kind in _SCALARS:
            self.out += b"g" + bytes([NUMPY_DTYPES.index(value.dtype)])
            self.out += value.tobytes()
            return True
        if isinstance(value, np.dtype) and value in NUMPY_DTYPES:
            self.out += b"D" + bytes([NUMPY_DTYPES.index(value)])
            return True
        if kind is np.random.Generator:
            state = value.bit_generator.state
            if state["bit_generator"] != "PCG64":
                return False  # see :func:`generator`
            self.out += b"r"
            numbers = [*state["state"].values(), state["has_uint32"], state["uinteger"]]
            for number in numbers:
                self.write(number, depth + 1)
            return True
        return self.tensor(value, kind)

    def tensor(self, value: Any, kind: type) -> bool:
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        if kind is torch.dtype:
            name = str(value).removeprefix("torch.")
            if name not in TORCH_DTYPES:
                return False
            self.out += b"X" + bytes([TORCH_DTYPES.index(name)])
            return True
        if not isinstance(value, torch.Tensor):
            return False
        name = str(value.dtype).removeprefix("torch.")
        plain = value.layout is torch.strided and value.device.type == "cpu"
        if not plain or name not in TORCH_DTYPES:
            return False
        parameter = isinstance(value, torch.nn.Parameter)
        value = value.as_subclass(torch.Tensor)  # one of the student's, as what it is
        order = _order(value)
        content = value.detach().permute(order).resolve_conj().resolve_neg()
        # `contiguous()` may keep odd strides of axes of length 1; a copy has none
        content = content.clone(memory_format=torch.contiguous_format)
        content = content.flatten().view(torch.uint8)
        self.array(b"x", TORCH_DTYPES.index(name), value)
        self.out.append(value.requires_grad | parameter << 1)
        self.block(b"", content.numpy().tobytes())
        return True

    def array(self, tag: bytes, dtype: int, value: Any) -> None:
        """Kind, dtype, shape, and the order of the axes in memory."""
        order = _order(value)
        if len(order) > MAX_DIMENSIONS:
            raise TooLarge("too many dimensions")
        self.out += tag + bytes([dtype, len(order)])
        self.out += struct.pack(f"<{len(order)}Q", *value.shape) + bytes(order)

    def many(self, tag: bytes, values: Any, depth: int) -> None:
        self.head(tag, len(values))
        for item in values:
            self.write(item, depth + 1)

    def block(self, tag: bytes, content: bytes) -> None:
        if len(self.out) + len(content) > MAX_FRAME:
            raise TooLarge(f"larger than {MAX_FRAME >> 20} MB")
        self.head(tag, len(content))
        self.out += content

    def head(self, tag: bytes, size: int) -> None:
        self.out += tag + SIZE.pack(size)


_PLAIN: dict[type, Callable[[_Writer, Any, int], None]] = {
    type(None): lambda w, v, _: w.put(b"N"),
    bool: lambda w, v, _: w.put(b"T" if v else b"F"),
    int: _Writer.integer,
    float: lambda w, v, _: w.put(b"f" + struct.pack("<d", v)),
    complex: lambda w, v, _: w.put(b"c" + struct.pack("<dd", v.real, v.imag)),
    str: lambda w, v, _: w.block(b"s", v.encode("utf-8", "surrogatepass")),
    bytes: lambda w, v, _: w.block(b"b", v),
    list: lambda w, v, depth: w.many(b"l", v, depth),
    tuple: lambda w, v, depth: w.many(b"t", v, depth),
    dict: _Writer.pairs,
    OrderedDict: _Writer.pairs,
    slice: _Writer.slice,
    type(Ellipsis): lambda w, v, _: w.put(b"E"),
}


def _order(value: Any) -> list[int]:
    """The axes of an array or tensor from the outermost in memory to the innermost."""
    strides = value.stride() if hasattr(value, "stride") else value.strides
    if any(step <= 0 for step in strides):
        return list(range(len(strides)))
    return sorted(range(len(strides)), key=lambda axis: -strides[axis])
