"""Deserialization of messages: bytes in, values out, every type and size validated."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from msgpack import Timestamp, UnpackException, unpackb

from autograder.checks.accepted_results import (
    DTYPES,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_INT_BYTES,
    MAX_ITEMS,
    MAX_KEYS,
    MAX_TEXT,
    expect_room,
    levels,
)
from autograder.errors import Violation
from autograder.libraries import loaded
from autograder.wall.wire.extension_types import KINDS, Resolve

MALFORMED = (
    *(ValueError, TypeError, LookupError, OverflowError, RecursionError),
    *(MemoryError, UnpackException, struct.error),
)
MOST_PARTS = 8 * MAX_ITEMS  # an item has up to six parts, and is one itself
SHORT = 1 << 14  # bytes that cannot say much
# What follows by the first byte of a value of msgpack: the bytes of a number, what is
# added to it, and of what it is the number: 0 of bytes, 1 of items, 2 of pairs.
FORMATS = [
    *[(0, 0, 0)] * 128,
    *[(0, n, 2) for n in range(16)],
    *[(0, n, 1) for n in range(16)],
    *[(0, n, 0) for n in range(32)],
    *[(0, 0, 0)] * 4,
    *[(n, 0, 0) for n in (1, 2, 4)],
    *[(n, 1, 0) for n in (1, 2, 4)],
    *[(0, n, 0) for n in (4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17)],
    *[(n, 0, 0) for n in (1, 2, 4)],
    *[(n, 0, each) for each in (1, 2) for n in (2, 4)],
    *[(0, 0, 0)] * 32,
]
TEXTS = range(0xD9, 0xDC)  # first bytes of texts that are not short
NUMPY_DTYPES = {name: np.dtype(name) for name in DTYPES}


class Mark:
    """Begins an array of msgpack: its other items are the parts of such a value."""

    def __init__(self, build: Callable[..., Any] | None) -> None:
        self.build = build


def decode(data: bytes | bytearray | memoryview, resolve: Resolve) -> Any:
    """The inverse of :func:`encode`; ``resolve`` turns numbers into objects.

    Raises Violation for whatever :func:`encode` would not have made.
    """

    def built(items: list) -> Any:
        """A list, or what a mark at its head says that it is."""
        if not items or type(items[0]) is not Mark:
            return items
        mark, *parts = items
        if mark.build:
            return mark.build(*parts)
        number, name = parts
        return resolve(typed(number, int), typed(name, str))

    try:
        if len(data) > SHORT:
            _expect_few(data)
        value = unpackb(
            data,
            ext_hook=_mark,
            list_hook=built,
            strict_map_key=False,
            unicode_errors="surrogatepass",
            max_array_len=min(len(data), MAX_ITEMS + 1),
            max_map_len=MAX_KEYS,
        )
        for level in levels(value):
            if not _NOT_DATA.isdisjoint(map(type, level)):
                raise Violation("a mark where data was expected")
    except MALFORMED as error:
        raise Violation(f"malformed data: {type(error).__name__}") from None
    return value


def _expect_few(data: bytes | bytearray | memoryview) -> None:
    """Look through a frame before anything is made of it.

    msgpack makes room for all that a list says it has before it reads the first item.
    """
    at = parts = text = 0
    lists = [1]  # of each list that is not at its end, the number of items to come
    while lists:
        due = lists.pop()
        while due:
            due -= 1
            first = data[at]
            wide, number, each = FORMATS[first]
            at += 1
            if wide:
                number += int.from_bytes(data[at : at + wide], "big")
                at += wide
            if not each:
                if first in TEXTS and not bytes(data[at : at + number]).isascii():
                    text += number  # lone surrogates are read very slowly
                    if text > 4 * MAX_TEXT:
                        raise Violation("too much text")
                at += number
                continue
            lists.append(due)
            due = each * number
            parts += due + 1
            if parts > MOST_PARTS:
                raise Violation("too long")
            if (
                len(lists) > MAX_DEPTH + 1
            ):  # the parts of the last value are a list, too
                raise Violation("too deep")


def _mark(number: int, content: bytes) -> Mark:
    if content:
        raise Violation("a mark that has content")
    if number not in MARKS:
        _ = [*loaded("wire")]  # they register their own
    return MARKS[number]


def typed(value: Any, *kinds: type) -> Any:
    """A value that is of one of these types."""
    if type(value) not in kinds:
        raise Violation(f"a {kinds[0].__name__} was expected")
    return value


def _tuple(*items: Any) -> tuple:
    return items


def _integer(content: Any) -> int:
    if len(typed(content, bytes)) > MAX_INT_BYTES:
        raise Violation("a number with too many digits")
    return int.from_bytes(content, "little", signed=True)


def _complex(real: Any, imaginary: Any) -> complex:
    return complex(typed(real, float), typed(imaginary, float))


def _slice(*ends: Any) -> slice:
    start, stop, step = (typed(end, *_ENDS) for end in ends)
    return slice(start, stop, step)


def _ellipsis() -> Any:
    return Ellipsis


def _scalar(name: Any, content: Any) -> Any:
    (value,) = _array(name, struct.pack("<Q", 1), None, True, content)
    return value


def _array(name: Any, packed: Any, order: Any, writeable: Any, content: Any) -> Any:
    dtype = NUMPY_DTYPES[name]
    shape = shape_of(packed, dtype, content)
    value = np.frombuffer(boolean_bytes(content, dtype), dtype).copy()
    if order is None:
        value.shape = shape
    else:
        order = axes_of(order, shape)
        value.shape = tuple(shape[i] for i in order)
        value = value.transpose([order.index(i) for i in range(len(order))])
    if not typed(writeable, bool):
        value.flags.writeable = False
    return value


def shape_of(packed: Any, dtype: Any, content: Any) -> tuple[int, ...]:
    """The shape of an array, whose content must be as long as it says."""
    dimensions = len(typed(packed, bytes)) // 8
    if dimensions > MAX_DIMENSIONS:
        raise Violation("too many dimensions")
    shape = struct.unpack(f"<{dimensions}Q", packed)
    if math.prod(shape) * dtype.itemsize != len(typed(content, bytes)):
        raise Violation("an array that is shorter or longer than its shape")
    if not content:
        expect_room(shape, dtype.itemsize)
    return shape


def axes_of(order: Any, shape: tuple[int, ...]) -> bytes:
    """The axes from the outermost in memory to the innermost, each of them once."""
    if sorted(typed(order, bytes)) != [*range(len(shape))]:
        raise Violation("an impossible order of axes")
    return order


def boolean_bytes(content: bytes, dtype: Any) -> bytes:
    """Any other byte than 0 and 1 would be a third truth value."""
    if dtype.itemsize == 1 and str(dtype).endswith("bool"):
        return (np.frombuffer(content, np.uint8) != 0).tobytes()
    return content


def generator(*numbers: Any) -> Any:
    """The random generator of ``np.random.default_rng`` in the given state.

    The other kinds keep positions in their state, which NumPy uses unchecked.
    """
    state, inc, has_uint32, uinteger = (typed(number, int) for number in numbers)
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


_ENDS = (
    type(None),
    int,
    bool,
    *(d.type for d in NUMPY_DTYPES.values() if d.kind in "iu"),
)
_NOT_DATA = {Mark, Timestamp}
_BUILDERS: dict[str, Callable[..., Any] | None] = {
    "handle": None,  # the reader resolves it
    "tuple": _tuple,
    "integer": _integer,
    "complex": _complex,
    "slice": _slice,
    "ellipsis": _ellipsis,
    "scalar": _scalar,
    "array": _array,
    "dtype": NUMPY_DTYPES.__getitem__,
    "generator": generator,
}
MARKS = {number: Mark(_BUILDERS[kind]) for number, kind in enumerate(KINDS)}
