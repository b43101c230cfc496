"""Broken but honest submissions. Every one must be explained, not only scored.

``mistakes.jsonl`` has a case in each line; SQUARE stands for a right answer.
"""

import json
from pathlib import Path

from corpus import SQUARE, Case


def case_of(row: dict) -> Case:
    """The case of a line."""
    del row["about"]
    files = {name: text.encode() for name, text in row.pop("files", {}).items()}
    points = tuple(row.pop("points", Case.points))
    code = {
        key: value.replace("SQUARE", SQUARE) if key != "id" else value
        for key, value in row.items()
    }
    return Case(**code, points=points, files=files)


with Path(__file__).with_suffix(".jsonl").open(encoding="utf-8") as file:
    MISTAKES = [case_of(json.loads(line)) for line in file]
