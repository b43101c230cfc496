"""The wire: a small self-describing binary format.

A value is one tag byte and its content. Plain data crosses by value, arrays and tensors
as their bytes; whatever else there is crosses as the number of a handle. Nothing that
is received is ever executed or unpickled, and no size is believed before the bytes are
there. Whoever breaks the format gets a :class:`Violation`.
"""

from autograder.wall.wire.decoding import decode
from autograder.wall.wire.encoding import encode
from autograder.wall.wire.kinds import (
    MAX_DEPTH,
    MAX_FRAME,
    Refer,
    Resolve,
    TooLarge,
    no_handles,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_FRAME",
    "Refer",
    "Resolve",
    "TooLarge",
    "decode",
    "encode",
    "no_handles",
]
