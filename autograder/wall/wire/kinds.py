"""What both directions of the wire agree on: kinds of numbers, and limits."""

from __future__ import annotations

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


def no_handles(*_: Any) -> Any:
    """For channels on which only plain data is due."""
    raise Violation("an object where only data was due")
