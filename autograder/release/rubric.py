"""Rubrics in formgrader: the mark schemes of the solution, for people who grade."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor

from autograder.course import Course

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
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in schemes:
                heading = f"**Rubric of {name}** (students do not see it)"
                text = f"{heading}\n\n{schemes[name]}"
                shown.append(nbformat.v4.new_markdown_cell(text))
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
