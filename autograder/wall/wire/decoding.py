"""From bytes to values; nothing of what the bytes say is believed."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
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


def decode(data: bytes | bytearray | memoryview, resolve: Resolve) -> Any:
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
    def __init__(self, data: bytes | bytearray | memoryview, resolve: Resolve) -> None:
        self.data, self.resolve = memoryview(data), resolve
        self.position = self.items = 0

    def read(self, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise Violation("too deep or too long")
        if self.position == len(self.data):
            raise Violation("a value that ends too early")
        read = _KINDS.get(self.data[self.position])
        if read is None:
            raise Violation("unknown kind of value")
        self.position += 1
        return read(self, depth)

    def integer(self, _: int) -> int:
        content = self.block()
        if len(content) > MAX_INT_BYTES:
            raise Violation("a number with too many digits")
        return int.from_bytes(content, "little", signed=True)

    def many(self, depth: int) -> list:
        return [self.read(depth + 1) for _ in range(self.count())]

    def scalar(self, _: int) -> Any:
        dtype = self.pick(NUMPY_DTYPES)
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0]

    def handle(self, depth: int) -> Any:
        (number,) = struct.unpack("<Q", self.take(8))
        return self.resolve(number, self.typed(str, depth))

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

    def array(self, _: int) -> np.ndarray:
        dtype = self.pick(NUMPY_DTYPES)
        shape, order = self.axes()
        writeable = self.take(1)[0]
        value = np.frombuffer(self.sized(shape, dtype), dtype).copy()
        if order == list(range(len(order))):
            value = value.reshape(shape)
        else:
            value = value.reshape([shape[i] for i in order])
            value = value.transpose(np.argsort(order))
        value.flags.writeable = bool(writeable)
        return value

    def tensor(self, _: int) -> Any:
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
        size = self.size()
        if size > len(self.data) - self.position:  # every item takes a byte or more
            raise Violation("a container that is shorter than it says")
        return size

    def block(self) -> memoryview:
        return self.take(self.size())

    def size(self) -> int:
        position, self.position = self.position, self.position + 4
        return SIZE.unpack_from(self.data, position)[0]

    def take(self, size: int) -> memoryview:
        end = self.position + size
        if end > len(self.data):
            raise Violation("a value that ends too early")
        content = self.data[self.position : end]
        self.position = end
        return content


_KINDS: dict[int, Callable[[_Reader, int], Any]] = {
    ord("N"): lambda r, _: None,
    ord("T"): lambda r, _: True,
    ord("F"): lambda r, _: False,
    ord("i"): _Reader.integer,
    ord("f"): lambda r, _: struct.unpack("<d", r.take(8))[0],
    ord("c"): lambda r, _: complex(*struct.unpack("<dd", r.take(16))),
    ord("s"): lambda r, _: str(r.block(), "utf-8", "surrogatepass"),
    ord("b"): lambda r, _: bytes(r.block()),
    ord("l"): _Reader.many,
    ord("t"): lambda r, depth: tuple(r.many(depth)),
    ord("d"): _Reader.mapping,
    ord("S"): lambda r, depth: slice(*[r.read(depth + 1) for _ in range(3)]),
    ord("E"): lambda r, _: Ellipsis,
    ord("h"): _Reader.handle,
    ord("a"): _Reader.array,
    ord("x"): _Reader.tensor,
    ord("g"): _Reader.scalar,
    ord("D"): lambda r, _: r.pick(NUMPY_DTYPES),
    ord("X"): lambda r, _: getattr(_torch(), r.pick(TORCH_DTYPES)),
    ord("r"): lambda r, depth: generator(*[r.typed(int, depth) for _ in range(4)]),
}


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
