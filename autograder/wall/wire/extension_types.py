"""The msgpack extension types used between judge and sandbox, with their type codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.errors import Violation

# What msgpack has no kind for is an array that begins with a mark: an extension type
# whose number is a place in this list. Supported libraries take those from 32 on.
KINDS = (
    *("handle", "tuple", "integer", "complex", "slice", "ellipsis", "scalar", "array"),
    *("dtype", "generator"),
)
WIDE = {"g": "float64", "G": "complex128"}  # what NumPy's widest numbers cross as

# A handle for an object that is not data: its number, and the name of its type.
# The numbers belong to the sandbox; the judge asks about them.
Refer = Callable[[Any], tuple[int, str]]
Resolve = Callable[[int, str], Any]


def no_handles(*_: Any) -> Any:
    """For channels on which only plain data is due."""
    raise Violation("an object where only data was expected")
