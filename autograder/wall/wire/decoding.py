"""From bytes to values; nothing of what the bytes say is believed."""

from __future__ import annotations

import math
import struct
import sys
from typing import Any

import numpy as np

from autograder.errors import Violation
from autograder.wall.wire.kinds import (
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_FRAME,
    MAX_INT_BYTES,
    MAX_ITEMS,
    MAX_KEYS,
    NUMPY_DTYPES,
    TORCH_DTYPES,
    Resolve,
)

SIZE = struct.Struct("<I")


def decode(data: bytes | bytearray, resolve: Resolve) -> Any:
    """The inverse of :func:`encode`; ``resolve`` turns numbers into objects."""
    reader = _Reader(data, resolve)
    try:
        value = reader.read(0)
    except (struct.error, UnicodeError, OverflowError, RecursionError) as error:
        raise Violation(f"malformed data: {type(error).__name__}") from None
    if reader.position != len(data):
        raise Violation("bytes after the end of a value")
    return value


class _Reader:
    def __init__(self, data: bytes | bytearray, resolve: Resolve) -> None:
        self.data, self.resolve = memoryview(data), resolve
        self.position = self.items = 0

    def read(self, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise Violation("too deep or too long")
        if self.position == len(self.data):
            raise Violation("a value that ends too early")
        tag = chr(self.data[self.position])
        self.position += 1
        if tag == "s":
            return str(self.block(), "utf-8", "surrogatepass")
        if tag == "a":
            return self.array()
        if tag == "N":
            return None
        if tag in "TF":
            return tag == "T"
        if tag == "i":
            content = self.block()
            if len(content) > MAX_INT_BYTES:
                raise Violation("a number with too many digits")
            return int.from_bytes(content, "little", signed=True)
        if tag == "f":
            return struct.unpack("<d", self.take(8))[0]
        if tag == "c":
            return complex(*struct.unpack("<dd", self.take(16)))
        if tag == "b":
            return bytes(self.block())
        if tag == "l":
            return [self.read(depth + 1) for _ in range(self.count())]
        if tag == "t":
            return tuple([self.read(depth + 1) for _ in range(self.count())])
        if tag == "d":
            return self.mapping(depth)
        if tag == "S":
            return slice(*[self.read(depth + 1) for _ in range(3)])
        if tag == "E":
            return Ellipsis
        if tag == "h":
            (number,) = struct.unpack("<Q", self.take(8))
            return self.resolve(number, self.typed(str, depth))
        return self.number(tag, depth)

    def number(self, tag: str, depth: int) -> Any:
        if tag == "g":
            dtype = self.pick(NUMPY_DTYPES)
            return np.frombuffer(self.take(dtype.itemsize), dtype)[0]
        if tag == "D":
            return self.pick(NUMPY_DTYPES)
        if tag == "X":
            return getattr(_torch(), self.pick(TORCH_DTYPES))
        if tag == "x":
            return self.tensor()
        if tag == "r":
            return generator(*[self.typed(int, depth) for _ in range(4)])
        raise Violation("unknown kind of value")

    def mapping(self, depth: int) -> dict:
        if (size := self.count()) > MAX_KEYS:
            raise Violation("too long")
        pairs = {}
        for _ in range(size):
            key = self.read(depth + 1)
            try:
                pairs[key] = self.read(depth + 1)
            except TypeError:
                raise Violation("a key that cannot be one") from None
        if len(pairs) != size:
            raise Violation("a key comes twice")
        return pairs

    def array(self) -> np.ndarray:
        dtype = self.pick(NUMPY_DTYPES)
        shape, order = self.axes()
        writeable = self.take(1)[0]
        value = np.frombuffer(self.sized(shape, dtype), dtype).copy()
        value = value.reshape([shape[i] for i in order])
        if order != sorted(order):
            value = value.transpose(np.argsort(order))
        value.flags.writeable = bool(writeable)
        return value

    def tensor(self) -> Any:
        torch = _torch()
        dtype = getattr(torch, self.pick(TORCH_DTYPES))
        shape, order = self.axes()
        flags = self.take(1)[0]
        content = bytearray(self.sized(shape, dtype))
        stored = [shape[i] for i in order]
        if content:
            value = torch.frombuffer(content, dtype=dtype).reshape(stored)
        else:
            value = torch.empty(stored, dtype=dtype)
        value = value.permute([order.index(i) for i in range(len(order))])
        floating = dtype.is_floating_point or dtype.is_complex
        requires = bool(flags & 1)
        if flags > 3 or (requires and not floating):
            raise Violation("a tensor with impossible flags")
        if flags & 2:
            return torch.nn.Parameter(value, requires_grad=requires)
        return value.requires_grad_(requires)

    def axes(self) -> tuple[tuple[int, ...], list[int]]:
        n = self.take(1)[0]
        if n > MAX_DIMENSIONS:
            raise Violation("too many dimensions")
        shape = struct.unpack(f"<{n}Q", self.take(8 * n))
        order = list(self.take(n))
        if sorted(order) != list(range(n)):
            raise Violation("an impossible order of axes")
        return shape, order

    def sized(self, shape: tuple[int, ...], dtype: Any) -> memoryview:
        """The content of an array, which must be as long as its shape says."""
        content, itemsize = self.block(), dtype.itemsize
        size = math.prod(shape) * itemsize
        # with an empty axis, the other ones could still be absurd
        if size > MAX_FRAME or (
            not size and math.prod(max(n, 1) for n in shape) * itemsize > MAX_FRAME
        ):
            raise Violation("an absurd shape")
        if size != len(content):
            raise Violation("an array that is shorter or longer than its shape")
        if itemsize == 1 and str(dtype).endswith(
            "bool"
        ):  # any other byte would be a third truth value
            content = memoryview((np.frombuffer(content, np.uint8) != 0).tobytes())
        return content

    def typed(self, kind: type, depth: int) -> Any:
        value = self.read(depth + 1)
        if type(value) is not kind:
            raise Violation(f"a {kind.__name__} was due")
        return value

    def pick(self, table: Any) -> Any:
        index = self.take(1)[0]
        if index >= len(table):
            raise Violation("unknown dtype")
        return table[index]

    def count(self) -> int:
        (size,) = SIZE.unpack(self.take(4))
        if size > len(self.data) - self.position:  # every item takes a byte or more
            raise Violation("a container that is shorter than it says")
        return size

    def block(self) -> memoryview:
        return self.take(SIZE.unpack(self.take(4))[0])

    def take(self, size: int) -> memoryview:
        end = self.position + size
        if end > len(self.data):
            raise Violation("a value that ends too early")
        content = self.data[self.position : end]
        self.position = end
        return content


def _torch() -> Any:
    if (torch := sys.modules.get("torch")) is None:
        raise Violation("a tensor where there is no torch")
    return torch


def generator(state: int, inc: int, has_uint32: int, uinteger: int) -> Any:
    """The random generator of ``np.random.default_rng`` in the given state.

    The other kinds keep positions in their state, which NumPy uses unchecked.
    """
    if not (
        0 <= state < 1 << 128
        and 0 <= inc < 1 << 128
        and 0 <= has_uint32 <= 1
        and 0 <= uinteger < 1 << 32
    ):
        raise Violation("an impossible random state")
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)
