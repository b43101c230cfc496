"""The wire: a small self-describing binary format.

A value is one tag byte and its content. Plain data crosses by value, arrays and tensors
as their bytes; whatever else there is crosses as the number of a handle. Nothing that
is received is ever executed or unpickled, and no size is believed before the bytes are
there. Whoever breaks the format gets a :class:`Violation`.
"""

from __future__ import annotations

import math
import struct
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.errors import Violation

MAX_FRAME = 128 << 20
MAX_DEPTH = 24
MAX_ITEMS = 400_000
MAX_KEYS = 20_000
MAX_INT_BYTES = 512
MAX_DIMENSIONS = 16

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
)
NUMPY_DTYPES = [np.dtype(name) for name in DTYPES]
TORCH_DTYPES = (*DTYPES, "bfloat16")

# A handle for an object that is not data: its number, and the name of its type.
# The numbers belong to the sandbox; the judge asks about them.
Refer = Callable[[Any], tuple[int, str]]
Resolve = Callable[[int, str], Any]


class TooLarge(ValueError):
    """A value that is too large, too deep or too long to cross."""


def encode(value: Any, refer: Refer) -> bytearray:
    """The bytes of ``value``; ``refer`` numbers what is not plain data."""
    writer = _Writer(refer)
    writer.write(value, 0)
    return writer.out


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


class _Writer:
    def __init__(self, refer: Refer) -> None:
        self.out, self.refer, self.items = bytearray(), refer, 0

    def write(self, value: Any, depth: int) -> None:
        self.items += 1
        if depth > MAX_DEPTH:
            raise TooLarge("nested too deeply")
        if self.items > MAX_ITEMS or len(self.out) > MAX_FRAME:
            raise TooLarge("too large")
        kind, out = type(value), self.out
        if value is None:
            out += b"N"
        elif kind is bool:
            out += b"T" if value else b"F"
        elif kind is int:
            size = value.bit_length() // 8 + 1
            if size > MAX_INT_BYTES:
                raise TooLarge("a number with too many digits")
            self.head(b"i", size)
            out += value.to_bytes(size, "little", signed=True)
        elif kind is float:
            out += b"f" + struct.pack("<d", value)
        elif kind is complex:
            out += b"c" + struct.pack("<dd", value.real, value.imag)
        elif kind is str:
            self.block(b"s", value.encode("utf-8", "surrogatepass"))
        elif kind is bytes:
            self.block(b"b", value)
        elif kind is list:
            self.many(b"l", value, depth)
        elif issubclass(kind, tuple):  # named ones too, as the tuples that they are
            self.many(b"t", tuple(tuple.__iter__(value)), depth)
        elif kind is dict or kind is OrderedDict:
            if len(value) > MAX_KEYS:
                raise TooLarge("too large")
            self.head(b"d", len(value))
            for key, item in list(value.items()):
                self.write(key, depth + 1)
                self.write(item, depth + 1)
        elif kind is slice:
            out += b"S"
            for part in (value.start, value.stop, value.step):
                self.write(part, depth + 1)
        elif value is Ellipsis:
            out += b"E"
        elif not self.number(value, kind, depth):
            number, name = self.refer(value)
            out += b"h" + struct.pack("<Q", number)
            self.write(name, depth + 1)

    def number(self, value: Any, kind: type, depth: int) -> bool:
        """Write NumPy's and torch's kinds of numbers; False if it is none."""
        if kind is np.longdouble:
            value, kind = np.float64(value), np.float64
        if isinstance(value, np.ndarray):  # a subclass too, as the array that it is
            value = np.asarray(value)
            if value.dtype == np.longdouble:
                value = value.astype(np.float64)
            dtype = value.dtype.newbyteorder("=")
            if dtype not in NUMPY_DTYPES:
                return False
            self.array(b"a", NUMPY_DTYPES.index(dtype), value)
            self.out.append(value.flags.writeable)
            self.block(b"", value.transpose(_order(value)).astype(dtype).tobytes())
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
        content = content.contiguous().flatten().view(torch.uint8)
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
        self.out += tag + struct.pack("<I", size)


class _Reader:
    def __init__(self, data: bytes | bytearray, resolve: Resolve) -> None:
        self.data, self.resolve = memoryview(data), resolve
        self.position = self.items = 0

    def read(self, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise Violation("too deep or too long")
        tag = bytes(self.take(1))
        if tag == b"N":
            return None
        if tag in b"TF":
            return tag == b"T"
        if tag == b"i":
            content = self.block()
            if len(content) > MAX_INT_BYTES:
                raise Violation("a number with too many digits")
            return int.from_bytes(content, "little", signed=True)
        if tag == b"f":
            return struct.unpack("<d", self.take(8))[0]
        if tag == b"c":
            return complex(*struct.unpack("<dd", self.take(16)))
        if tag == b"s":
            return str(self.block(), "utf-8", "surrogatepass")
        if tag == b"b":
            return bytes(self.block())
        if tag == b"l":
            return [self.read(depth + 1) for _ in range(self.count())]
        if tag == b"t":
            return tuple([self.read(depth + 1) for _ in range(self.count())])
        if tag == b"d":
            return self.mapping(depth)
        if tag == b"S":
            return slice(*[self.read(depth + 1) for _ in range(3)])
        if tag == b"E":
            return Ellipsis
        if tag == b"h":
            (number,) = struct.unpack("<Q", self.take(8))
            return self.resolve(number, self.typed(str, depth))
        return self.number(tag, depth)

    def number(self, tag: bytes, depth: int) -> Any:
        if tag == b"g":
            dtype = self.pick(NUMPY_DTYPES)
            return np.frombuffer(self.take(dtype.itemsize), dtype)[0]
        if tag == b"D":
            return self.pick(NUMPY_DTYPES)
        if tag == b"X":
            return getattr(_torch(), self.pick(TORCH_DTYPES))
        if tag == b"a":
            return self.array()
        if tag == b"x":
            return self.tensor()
        if tag == b"r":
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
        flat = np.frombuffer(self.sized(shape, dtype), dtype).copy()
        value = flat.reshape([shape[i] for i in order]).transpose(np.argsort(order))
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
        # with an empty axis, the other ones could still be absurd
        if math.prod(max(n, 1) for n in shape) * itemsize > max(MAX_FRAME, 1):
            raise Violation("an absurd shape")
        if math.prod(shape) * itemsize != len(content):
            raise Violation("an array that is shorter or longer than its shape")
        if str(dtype).endswith("bool"):  # any other byte would be a third truth value
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
        (size,) = struct.unpack("<I", self.take(4))
        if size > len(self.data) - self.position:  # every item takes a byte or more
            raise Violation("a container that is shorter than it says")
        return size

    def block(self) -> memoryview:
        return self.take(struct.unpack("<I", self.take(4))[0])

    def take(self, size: int) -> memoryview:
        end = self.position + size
        if end > len(self.data):
            raise Violation("a value that ends too early")
        content = self.data[self.position : end]
        self.position = end
        return content


_SCALARS = {dtype.type for dtype in NUMPY_DTYPES}


def _order(value: Any) -> list[int]:
    """The axes of an array or tensor from the outermost in memory to the innermost."""
    strides = value.stride() if hasattr(value, "stride") else value.strides
    if any(step <= 0 for step in strides):
        return list(range(len(strides)))
    return sorted(range(len(strides)), key=lambda axis: -strides[axis])


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


def no_handles(*_: Any) -> Any:
    """For channels on which only plain data is due."""
    raise Violation("an object where only data was due")
