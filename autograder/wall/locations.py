"""Line of an exception as plain data: written in the sandbox, validated outside.

The text of the line is not sent: the judge has the cells. What the names stood for is
believed only as far as it can be about that line.
"""

from __future__ import annotations

from typing import Any

from autograder.errors import Violation
from autograder.explain.locations import Location
from autograder.explain.values import MOST_KEPT, Value


def parts_of(place: Location | None) -> tuple | None:
    """A place as plain data."""
    if place is None:
        return None
    values = [(v.name, v.kind, v.shape, v.dtype) for v in place.values]
    return place.cell, place.line, place.start, place.end, values


def location_from(parts: Any) -> Location | None:
    """The place that the sandbox tells; Violation if this is none."""
    match parts:
        case None:
            return None
        case (int(cell), int(line), int(start), int(end), list(values)):
            if len(values) <= MOST_KEPT:
                known = tuple(map(value_from, values))
                return Location(cell, line, start, end, values=known)
    raise Violation("the place of an exception was expected")


def value_from(parts: Any) -> Value:
    """What a name stood for."""
    match parts:
        case (str(), str(), tuple(shape), str()):
            if all(type(size) is int for size in shape):
                return Value(*parts)
    raise Violation("the value of a name was expected")
