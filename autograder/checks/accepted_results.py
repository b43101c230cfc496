"""Types and sizes of results that grading accepts, and the error about all others.

Grading reads a result by copying it out of the sandbox, where student code runs. A
laptop has no sandbox and makes the same test: so `autograder check` finds what grading
would refuse.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.libraries import is_tensor, support_of

MAX_FRAME = 128 << 20
MAX_DEPTH = 24
MAX_ITEMS = 400_000
MAX_KEYS = 20_000
MAX_INT_BYTES = 512
MAX_TEXT = 1 << 20  # characters, of all texts beyond ASCII together
MAX_DIMENSIONS = 16

DEEP = f"is nested more than {MAX_DEPTH} deep"
LONG = f"has more than {MAX_ITEMS:,} items"
MANY_KEYS = f"has a dict of more than {MAX_KEYS:,} keys"
DIGITS = "has an integer of more than 1,200 digits"
LARGE = f"has more than {MAX_FRAME >> 20} MB"
TEXT = f"has texts beyond ASCII of more than {MAX_TEXT:,} characters"
DIMENSIONS = f"has an array of more than {MAX_DIMENSIONS} dimensions"
REASONS = (DEEP, LONG, MANY_KEYS, DIGITS, LARGE, TEXT, DIMENSIONS)

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
)
NUMPY_NAMES = {np.dtype(name): name for name in DTYPES}
# arrays that do not cross, as they are called
ODD_DTYPES = ("object", "str", "bytes", "void", "record", "datetime64", "timedelta64")
ODD = {f"ndarray of dtype {name}" for name in ODD_DTYPES}

HOLDING = {list, tuple, dict, OrderedDict}  # these cross with what is in them


class TooLarge(ValueError):
    """A value that is too large, too deep or too long to cross; it says which."""

    @property
    def sentence(self) -> str:
        """What students read, on a laptop and from grading."""
        reason = str(self) if str(self) in REASONS else "cannot be looked at"
        return f"your code gives a result that {reason}: too large to be read"


def levels(value: Any) -> Iterator[list[Any]]:
    """All that a value is made of, level by level; raises TooLarge beyond bounds."""
    level, items, text = [value], 1, 0
    for _ in range(MAX_DEPTH + 1):
        text += sum(len(one) for one in level if type(one) is str and not one.isascii())
        if text > MAX_TEXT:
            raise TooLarge(TEXT)
        yield level
        holding = [
            k for k in {*map(type, level)} if k in HOLDING or issubclass(k, tuple)
        ]
        if not holding:
            return
        inside: list[Any] = []
        for one in level:
            if (kind := type(one)) not in holding:
                continue
            if kind is dict or kind is OrderedDict:
                if len(one) > MAX_KEYS:
                    raise TooLarge(MANY_KEYS)
                items += 2 * len(one)
                one = [*one.keys(), *one.values()]
            else:
                if kind is not list and kind is not tuple:
                    one = [*tuple.__iter__(one)]
                items += len(one)
            if items > MAX_ITEMS:
                raise TooLarge(LONG)
            inside += one
        if not inside:
            return
        level = inside
    raise TooLarge(DEEP)


def expect_room(shape: tuple[int, ...], itemsize: int) -> None:
    """Raise TooLarge for an array of a shape that nobody would wait for."""
    if len(shape) > MAX_DIMENSIONS:
        raise TooLarge(DIMENSIONS)
    size = math.prod(shape)
    if not size:  # with an empty axis, the other ones could still be absurd
        size = math.prod([max(n, 1) for n in shape])
    if size * itemsize > MAX_FRAME:
        raise TooLarge(LARGE)


def expect_crossing(value: Any) -> None:
    """Raise TooLarge if grading could not read a value."""
    size = 0
    for level in levels(value):
        for item in level:
            if type(item) is int and item.bit_length() // 8 >= MAX_INT_BYTES:
                raise TooLarge(DIGITS)
            if isinstance(item, np.ndarray) or is_tensor(item):
                expect_room(tuple(item.shape), item.dtype.itemsize)
                size += math.prod(item.shape) * item.dtype.itemsize
            elif isinstance(item, str | bytes):
                size += len(item)
    if size > MAX_FRAME:
        raise TooLarge(LARGE)


def kind_name(value: Any) -> str:
    """What a value is called: its type; of an array that cannot cross, its kind too."""
    return odd(value) or type(value).__name__


def a_kind(value: Any) -> str:
    """What a value is called, with its article: a list, an int, an ndarray."""
    name = kind_name(value)
    vowel = name.lower().startswith(("a", "e", "i", "o", "nd"))
    return f"{'an' if vowel else 'a'} {name}"


def odd(value: Any) -> str | None:
    """What kind of array or tensor this is, if it is one that cannot cross."""
    if isinstance(value, np.ndarray):
        dtype = value.dtype
        if dtype.newbyteorder("=") in NUMPY_NAMES or dtype.char in "gG":
            return None
        return f"ndarray of dtype {dtype.type.__name__.removesuffix('_')}"
    support = support_of(value)
    return support.odd(value) if support else None
