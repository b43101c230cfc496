"""Message format between sandbox and judge: msgpack with extension types.

Plain data is sent by value, arrays and tensors as their bytes; any other object as the
number of a handle. Nothing that is received is ever executed or unpickled, and no size
is believed before the bytes are there. Whoever breaks the format gets a
:class:`Violation`.
"""

from collections.abc import Callable
from typing import Any

from msgpack import ExtType

from autograder.checks.accepted_results import MAX_DEPTH, MAX_FRAME, TooLarge
from autograder.wall.wire.decoding import MARKS, Mark, decode
from autograder.wall.wire.encoding import encode
from autograder.wall.wire.extension_types import Refer, Resolve, no_handles

__all__ = [
    "MAX_DEPTH",
    "MAX_FRAME",
    "Refer",
    "Resolve",
    "TooLarge",
    "decode",
    "encode",
    "no_handles",
    "register",
]


def register(number: int, build: Callable[..., Any]) -> ExtType:
    """The mark of a further type, whose values ``build`` makes of their parts."""
    MARKS[number] = Mark(build)
    return ExtType(number, b"")
