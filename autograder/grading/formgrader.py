"""Adapter that has formgrader and `nbgrader autograde` grade in the sandbox.

nbgrader's own steps would run a student's code as whoever clicks. nbgrader_config.py
replaces them by the one step below: it runs `autograder grade` for this student and
gives nbgrader the graded notebook.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course import Course
from autograder.errors import CourseError


class BehindTheWall(NbGraderPreprocessor):  # type: ignore[misc]
    """In place of all steps of `nbgrader autograde`."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook as our grader leaves it; nothing of it is run here."""
        about = resources["nbgrader"]
        course = Course.find()  # nbgrader works in the course's folder
        student, assignment = about["student"], about["assignment"]
        for line in graded(course, student, assignment):
            self.log.info(line)
        folder = course.autograded / student / assignment
        path = folder / f"{about['notebook']}.ipynb"
        return nbformat.read(path, as_version=4), resources


def graded(course: Course, student: str, assignment: str) -> list[str]:
    """Grade one submission in a process of its own; what was said.

    CourseError when there is no graded notebook afterwards, with the reason.
    """
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [sys.executable, "-m", "autograder", "grade", assignment]
        command += ["--student", student, "--workers", "1", "--json", str(results)]
        run = subprocess.run(
            command,
            cwd=course.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if run.returncode or not results.is_file():
            raise CourseError(f"This work was not graded: {run.stderr}")
        (submission,) = json.loads(results.read_text("utf-8"))["submissions"]
    if submission["status"] == "held":
        raise CourseError(f"This work is held for you: {submission['reason']}")
    return run.stdout.splitlines()
