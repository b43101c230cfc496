"""What one run of a test cell says about a question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from autograder.errors import Held
from autograder.text import printable
from autograder.wall.judge.outputs import error
from autograder.wall.records import Cell

MAX_MESSAGE = 4000


@dataclass(frozen=True)
class Opinion:
    """What one run of an instructor's cell says about a question."""

    outputs: list[dict[str, Any]]
    score: float
    message: str | None = None
    misconception: str | None = None


def stopped_with(message: str) -> Opinion:
    """No points, and the reason."""
    kind = "Stopped" if message.startswith("not judged") else "CheckFailed"
    return Opinion([error(kind, message, message.split("\n"))], 0.0, message)


def points_of(cell: Cell, value: Any) -> tuple[float, str | None, str | None]:
    """What the value of a test cell says: nothing is full points, a float the score."""
    if value is None:
        return cell.max_score, None, None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Held(f"{cell.test} ends with a {type(value).__name__}, not with points")
    score = 0.0 if math.isnan(value) else min(max(float(value), 0.0), cell.max_score)
    message = getattr(value, "message", None)
    misconception = getattr(value, "misconception", None)
    return (
        score,
        message and printable(message, MAX_MESSAGE),
        getattr(misconception, "id", None),
    )
