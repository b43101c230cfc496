"""The autograded notebook: what the student ran, with outputs, points and pictures.

Instructors see it in formgrader, and feedback pages are made from it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from autograder.notebook.reading import ATTACHED
from autograder.notebook.records import MatchedCell, Release
from autograder.text import lines_of
from autograder.wall import QuestionResult, Transcript


def autograded(
    release: Release,
    cells: list[MatchedCell],
    transcript: Transcript,
    notes: tuple[str, ...],
) -> str:
    """The text of the notebook: the student's cells with outputs, tests as released."""
    shown: list[dict[str, Any]] = []
    if notes:
        text = "\n".join(["**Notes of the autograder**", "", *map(indented, notes)])
        shown.append(
            {
                "cell_type": "markdown",
                "id": "autograder-notes",
                "metadata": {},
                "source": text,
            }
        )
    for place, cell in enumerate(cells):
        entry: dict[str, Any] = {
            "cell_type": cell.cell_type,
            "id": cell.id or f"own-cell-{place}",
            "metadata": cell.metadata,
            "source": cell.released if cell.kind == "test" else cell.source,
        }
        if cell.cell_type == "code":
            entry["execution_count"] = len(shown) + 1
            if cell.kind == "test":
                entry["outputs"] = [points_shown(transcript.results[cell.grade_id])]
            else:
                entry["outputs"] = safe(transcript.outputs.get(str(place), []))
        else:
            entry["source"] = with_attachments(cell.source, cell.attachments)
            if cell.attachments:
                entry["attachments"] = cell.attachments
        shown.append(entry)
    whole = {
        "cells": shown,
        "metadata": release.metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def with_attachments(source: str, attachments: Collection[str]) -> str:
    """The text of a cell; a picture that did not come along is named in its place."""

    def shown(picture: re.Match[str]) -> str:
        if picture["name"] in attachments:
            return picture[0]
        return f"(the picture {picture['name']} is not in the notebook)"

    return ATTACHED.sub(shown, source)


def indented(note: str) -> str:
    """A note as a line of Markdown that is shown as it is."""
    return "    " + " ".join(note.split())


def points_shown(result: QuestionResult) -> dict[str, Any]:
    """A result as the output of its test cell; red when points are missing."""
    points = f"{result.score:g} of {result.max_score:g} points"
    if result.message is None and result.full:
        text = f"{result.id}: {points}; all checks pass\n"
        return {"output_type": "stream", "name": "stdout", "text": text}
    message = result.message or ""
    return {
        "output_type": "error",
        "ename": "Points",
        "evalue": points,
        "traceback": [f"{result.id}: {points}", *lines_of(message)],
    }


def safe(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs rebuilt without what a browser could run: text and pictures stay."""
    kept = []
    for output in outputs:
        kind = output.get("output_type")
        if kind == "stream":
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            kept.append(
                {"output_type": kind, "name": name, "text": str(output["text"])}
            )
        elif kind == "error":
            lines = [str(line) for line in output["traceback"]]
            about = {name: str(output[name]) for name in ("ename", "evalue")}
            kept.append({"output_type": kind, **about, "traceback": lines})
        elif kind in ("display_data", "execute_result"):
            shown = safe_data(output["data"])
            kept.append({"output_type": kind, "data": shown, "metadata": {}})
            if kind == "execute_result":
                kept[-1]["execution_count"] = None
    return kept


def safe_data(data: dict[str, Any]) -> dict[str, str]:
    """The text and the picture of an output; a picture is base64 and nothing else."""
    shown = {}
    if "text/plain" in data:
        shown["text/plain"] = str(data["text/plain"])
    picture = str(data.get("image/png", ""))
    if re.fullmatch(r"[A-Za-z0-9+/=\s]+", picture):
        shown["image/png"] = picture
    return shown
