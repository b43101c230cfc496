"""One job: the release and a submission's bytes in, a verdict out, both plain data.

It reads and writes no file and no gradebook, so it can run in any process and twice.
"""

from __future__ import annotations

import atexit
import base64
import hashlib
import json
import re
import time
from functools import lru_cache
from typing import Any

from autograder.submission import Held, match, read
from autograder.wall import Cell, Grader, Transcript


def work(release: str, submission: bytes, notes: list[str], sandbox: bool) -> str:
    """:func:`grade` for a worker process, which keeps one grader; JSON in, JSON out."""
    return json.dumps(grade(parsed(release), submission, grader_of(sandbox), notes))


parsed = lru_cache(maxsize=2)(json.loads)


@lru_cache
def grader_of(sandbox: bool) -> Grader:
    """This process's grader, which lives as long as the process does."""
    grader = Grader(sandbox=sandbox)
    atexit.register(grader.__exit__, None, None, None)
    return grader.__enter__()


def grade(
    release: dict[str, Any],
    submission: bytes,
    grader: Grader,
    notes: list[str] | tuple[str, ...] = (),
) -> dict[str, Any]:
    """The verdict on one submission; ``notes`` are about its files.

    ``status`` is "graded" or "held", then ``reason`` is a sentence. A graded one has
    its ``questions``, and the text of the ``notebook`` to put into autograded/.
    """
    started = time.perf_counter()
    try:
        matched = match(release, read(submission))
        transcript = run(release, matched.cells, grader)
    except Held as held_back:
        seconds = time.perf_counter() - started
        return held(release, str(held_back), notes, seconds)
    notes = [*notes, *matched.notes, *transcript.notes]
    return {
        "status": "graded",
        "reason": None,
        "max_score": max_score(release),
        "questions": questions(matched.cells, transcript),
        "notes": notes,
        "answers": answers(matched.cells),
        "unanswered": [c["grade_id"] for c in matched.cells if c.get("unanswered")],
        "notebook": notebook(release, matched.cells, transcript, notes),
        "seconds": round(time.perf_counter() - started, 3),
    }


def held(
    release: dict[str, Any],
    reason: str,
    notes: list[str] | tuple[str, ...] = (),
    seconds: float = 0.0,
) -> dict[str, Any]:
    """The verdict that there is none: a person has to look, and why."""
    return {
        "status": "held",
        "reason": reason,
        "max_score": max_score(release),
        "questions": [],
        "notes": list(notes),
        "answers": {},
        "unanswered": [],
        "seconds": round(seconds, 3),
    }


def max_score(release: dict[str, Any]) -> float:
    """The points of the whole assignment."""
    return sum(cell["points"] for cell in release["cells"])


def run(
    release: dict[str, Any], cells: list[dict[str, Any]], grader: Grader
) -> Transcript:
    """What happened behind the wall. Held when there is no evidence for a question."""
    code = [
        Cell(
            key=str(place),
            source=cell["source"],
            test=cell["grade_id"] if cell["kind"] == "test" else None,
            max_score=cell.get("points", 0.0),
        )
        for place, cell in enumerate(cells)
        if cell["cell_type"] == "code"
    ]
    files = {name: base64.b64decode(data) for name, data in release["files"].items()}
    transcript = grader.judge(code, profile=release["profile"], files=files)
    if transcript.held:
        raise Held(transcript.held)
    for cell in code:
        if cell.test and cell.test not in transcript.results:
            raise Held(f"There is no result for {cell.test}.")
    return transcript


def questions(
    cells: list[dict[str, Any]], transcript: Transcript
) -> list[dict[str, Any]]:
    """Points and message of each question; ``score`` is None where people decide."""
    told = []
    for cell in cells:
        if cell["kind"] == "test":
            result = transcript.results[cell["grade_id"]]
            told.append(
                {
                    "id": cell["grade_id"],
                    "score": float(result.score),
                    "max_score": cell["points"],
                    "message": result.message,
                    "misconception": result.misconception,
                    "seconds": round(result.seconds, 3),
                }
            )
        elif cell["kind"] == "written":
            told.append(
                {
                    "id": cell["grade_id"],
                    "score": 0.0 if cell["unanswered"] else None,
                    "max_score": cell["points"],
                    "message": "no answer yet" if cell["unanswered"] else None,
                    "misconception": None,
                    "seconds": 0.0,
                }
            )
    return told


def answers(cells: list[dict[str, Any]]) -> dict[str, str]:
    """A fingerprint of what each question's points rest on.

    A written answer rests on its own text, a test on all code of the student.
    """
    code = "\0".join(
        cell["source"]
        for cell in cells
        if cell["kind"] in ("answer", "extra") and cell["cell_type"] == "code"
    )
    texts = {
        cell["grade_id"]: cell["source"] if cell["kind"] == "written" else code
        for cell in cells
        if cell["kind"] in ("written", "test")
    }
    return {
        name: hashlib.sha256(text.encode()).hexdigest()[:16]
        for name, text in texts.items()
    }


def notebook(
    release: dict[str, Any],
    cells: list[dict[str, Any]],
    transcript: Transcript,
    notes: list[str],
) -> str:
    """The autograded notebook: the student's cells with outputs, tests as released."""
    shown = []
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
        test = cell["kind"] == "test"
        entry = {
            "cell_type": cell["cell_type"],
            "id": cell.get("id", f"own-cell-{place}"),
            "metadata": cell["metadata"],
            "source": cell["released"] if test else cell["source"],
        }
        if cell["cell_type"] == "code":
            entry["execution_count"] = len(shown) + 1
            if test:
                entry["outputs"] = [spoken(transcript.results[cell["grade_id"]])]
            else:
                entry["outputs"] = safe(transcript.outputs.get(str(place), []))
        shown.append(entry)
    whole = {
        "cells": shown,
        "metadata": release["metadata"],
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def indented(note: str) -> str:
    """A note as a line of Markdown that is shown as it is."""
    return "    " + " ".join(note.split())


def spoken(result: Any) -> dict[str, Any]:
    """A result as the output of its test cell; red when points are missing."""
    points = f"{result.score:g} of {result.max_score:g} points"
    if result.message is None and result.score >= result.max_score:
        text = f"{result.id}: {points}; every check holds\n"
        return {"output_type": "stream", "name": "stdout", "text": text}
    message = result.message or ""
    return {
        "output_type": "error",
        "ename": "Points",
        "evalue": points,
        "traceback": [f"{result.id}: {points}", *message.splitlines()],
    }


def safe(outputs: list[Any]) -> list[dict[str, Any]]:
    """Outputs made anew, without what a browser could run: text and pictures stay."""
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
