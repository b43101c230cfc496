"""Adapter that has formgrader's *Generate feedback* write the pages of this package.

nbgrader's own page in their place would run scripts, and would lack the summary.
nbgrader_config.py names the exporter below, for `nbgrader generate_feedback` too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter

from autograder.course import Course
from autograder.errors import CourseError
from autograder.grading import point_history
from autograder.results.feedback import write_feedback


class FeedbackPage(HTMLExporter):  # type: ignore[misc]
    """In place of nbgrader's exporter of feedback."""

    def from_filename(
        self, filename: str, resources: Any = None, **_: Any
    ) -> tuple[str, Any]:
        """The page of one graded notebook, as `autograder feedback` writes it."""
        about = resources["nbgrader"]
        course = Course.find()  # nbgrader works in the course's folder
        student, assignment = about["student"], about["assignment"]
        chosen = course.chosen([assignment])
        written, failures = write_feedback(course, chosen, [student], course.book())
        if failures:
            raise CourseError(f"no feedback: {failures[0]}")
        point_history.sent(course, assignment, written.get(assignment, []))
        place = Path(student, assignment, f"{about['notebook']}.html")
        resources["output_extension"] = ".html"
        return (course.feedback / place).read_text("utf-8"), resources
