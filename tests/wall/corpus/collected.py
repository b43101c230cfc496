"""The cases that are kept as data, from the guides and the notebook format."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus import SQUARE, TOTAL, WRONG, Case

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def case_of(id: str, found: dict[str, Any], square: str, points: Any) -> Case:
    """A case of the table; SQUARE stands for an answer, CHECKOUT for this folder."""
    points = found.get("points", points)
    return Case(
        id,
        square=found.get("square", square).replace("SQUARE", SQUARE),
        total=found.get("total", TOTAL),
        first=found.get("first", "")
        .replace("SQUARE", SQUARE)
        .replace("CHECKOUT", str(ROOT)),
        last=found.get("last", ""),
        points=None if points == "held" else tuple(points),
        says=found.get("says", ""),
        never=found.get("never", ""),
        landlock=found.get("landlock"),
    )


def table(name: str) -> dict[str, dict[str, Any]]:
    """Our cases of a kind, and those of somebody who knew the guides and cards alone.

    What is due for the latter was corrected by hand where ``why`` says why.
    """
    ours = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    with (HERE / f"outsider_{name}.jsonl").open(encoding="utf-8") as file:
        others = [json.loads(line) for line in file]
    return ours | {f"outsider-{one['id']}": one for one in others}


harm, honest = table("harm"), table("honest")
HONEST = [case_of(i, one, SQUARE, (2.0, 3.0)) for i, one in honest.items()]
HARM = [case_of(i, one, WRONG, (0.0, 3.0)) for i, one in harm.items()]
# what they get besides is open (behind one wall, if it has a name), but a wrong answer
# earns nothing
OPEN = {i: one["any"] for i, one in harm.items() if "any" in one}
# what differs on the second wall; the page on the wall says so
SECOND = {
    i: one["landlock_points"] for i, one in honest.items() if "landlock_points" in one
}


def due_on(case: Case, wall: str) -> Case:
    """The case with what is due on a wall."""
    if wall == "landlock" and case.id in SECOND:
        return replace(case, points=tuple(SECOND[case.id]))
    return case
