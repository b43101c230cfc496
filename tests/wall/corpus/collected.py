"""The cases that are kept as data, made without a look at the grader's code."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from corpus import SQUARE, TOTAL, Case

HERE = Path(__file__).parent


def case_of(id: str, found: dict[str, Any], square: str, points: Any) -> Case:
    """A case of the table; SQUARE and WRONG stand for an answer.

    ``any``: what is due to the rest is open, but a wrong answer earns nothing.
    """
    points = found.get("points", points)
    return Case(
        id,
        square=found.get("square", square).replace("SQUARE", SQUARE),
        total=found.get("total", TOTAL),
        first=found.get("first", "").replace("SQUARE", SQUARE),
        last=found.get("last", ""),
        points=None if points == "held" or found.get("any") else tuple(points),
        says=found.get("says", ""),
        never=found.get("never", ""),
        landlock=found.get("landlock"),
    )


def table(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((HERE / name).read_text("utf-8"))


HONEST = [
    case_of(i, one, SQUARE, (2.0, 3.0)) for i, one in table("honest.toml").items()
]
