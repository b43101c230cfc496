"""Rubrics and reusable comments in formgrader, for people who grade written answers.

The rubric is the mark scheme in the solution notebook; comments are in comments.csv.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor

from autograder.course import Course

COMMENTS = "comments.csv"  # texts to use again, by name
SCHEME = re.compile(r"BEGIN MARK SCHEME.*\n((?:.*\n)*?).*END MARK SCHEME")


class ShowRubric(Preprocessor):  # type: ignore[misc]
    """Puts each rubric of the solution notebook before the answer that it is for.

    On formgrader's pages alone: they have a ``submission_id``, feedback has none.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with its rubrics, for the instructor's eyes."""
        if "submission_id" not in resources:
            return notebook, resources
        root = self.config.get("CourseDirectory", {}).get("root")
        course = Course(Path(root)) if root else Course.find()
        schemes = rubrics(course, resources["assignment_id"], resources["notebook_id"])
        shown = []
        for cell in notebook.cells:
            about = cell.metadata.get("nbgrader", {})
            name = about.get("grade_id")
            written = about.get("grade") and about.get("solution")
            by_hand = written or about.get("task")
            if name in schemes:
                heading = f"**Rubric of {name}** (students do not see it)"
                text = f"{heading}\n\n{schemes[name]}"
                shown.append(nbformat.v4.new_markdown_cell(text))
            if by_hand and (texts := listed(course)):
                shown.append(nbformat.v4.new_markdown_cell(texts))
            shown.append(cell)
        notebook.cells = shown
        return notebook, resources


def rubrics(course: Course, assignment: str, notebook: str) -> dict[str, str]:
    """The mark schemes of a notebook by the id of their question."""
    (chosen,) = course.chosen([assignment])
    parts = {part.notebook: part for part in chosen.parts}
    if notebook not in parts:
        return {}
    solution = nbformat.read(parts[notebook].source, as_version=4)
    schemes = {}
    for cell in solution.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name and (scheme := SCHEME.search(cell.source)):
            schemes[name] = scheme[1].strip()
    return schemes


def comments(course: Course) -> dict[str, str]:
    """The texts of comments.csv by their names."""
    try:
        text = (course.root / COMMENTS).read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    rows = csv.reader(text.splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 1 and row[0] != "name"}


def listed(course: Course) -> str:
    """The texts as Markdown, for whoever writes the next comment."""
    lines = [f"- `#{name}` {text}" for name, text in comments(course).items()]
    if not lines:
        return ""
    return "\n".join(["**Comments** (a line `#name` inserts one)", "", *lines, ""])
