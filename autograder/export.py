"""Scores as tables that a spreadsheet opens."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from autograder.course import Assignment, Course, write_whole

SCORES = ("status", "score", "max_score", "reason")
QUESTIONS = ("id", "score", "max_score", "misconception", "message")


def export(course: Course, assignments: list[Assignment], folder: Path) -> list[Path]:
    """Write scores.csv and questions.csv; their paths."""
    from autograder.grading.store import Store

    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
    scores = [["student", "assignment", *SCORES]]
    questions = [["student", "assignment", *QUESTIONS, "by hand"]]
    for assignment, found in results.items():
        for result in found:
            who = [result["student"], assignment]
            scores.append([*who, *(result[column] for column in SCORES)])
            for question in result["questions"]:
                by_hand = "waiting" if question["needs_manual_grade"] else ""
                values = [question[column] for column in QUESTIONS]
                questions.append([*who, *values, by_hand])
    paths = []
    for name, rows in (("scores.csv", scores), ("questions.csv", questions)):
        write_whole(folder / name, table(rows))
        paths.append(folder / name)
    return paths


def table(rows: list[list[Any]]) -> str:
    """CSV with the mark that tells spreadsheets that it is UTF-8."""
    text = io.StringIO()
    csv.writer(text).writerows([cell(value) for value in row] for row in rows)
    return "\ufeff" + text.getvalue()


def cell(value: Any) -> Any:
    """A value that a spreadsheet shows and does not take for a formula."""
    if isinstance(value, str) and value.lstrip()[:1] in tuple("=+-@\t\r"):
        return "'" + value
    return "" if value is None else value
