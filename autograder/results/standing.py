"""Notes about points that are not final: what a person has to grade, late penalties.

Feedback pages and formgrader's pages show them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor

from autograder.course import Course
from autograder.grading.by_hand import watch
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict


def sentences(verdict: Verdict) -> list[str]:
    """What a student has to know about the points so far."""
    said = []
    if waiting := verdict.waiting:
        names = ", ".join(question.id for question in waiting)
        said.append(
            f"Not final: {verdict.open_points:g} of {verdict.max_score:g} points are "
            f"not graded yet ({names}). A person will read "
            f"{'it' if len(waiting) == 1 else 'them'}."
        )
    if verdict.lateness:
        cost = "no points" if not verdict.penalty else f"{verdict.penalty:g} points"
        said.append(f"Handed in {verdict.lateness}, which costs {cost}.")
    return said


class ShowStanding(Preprocessor):  # type: ignore[misc]
    """Tells on formgrader's pages when work was handed in, and what lateness costs.

    Feedback pages, which have no ``submission_id``, tell it in a box of their own.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with a line at its top."""
        if "submission_id" not in resources:
            return notebook, resources
        course = Course(Path(self.config.CourseDirectory.root))
        watch(course)
        where = resources["assignment_id"], resources["student"]
        if line := moments(course, *where):
            notebook.cells.insert(0, nbformat.v4.new_markdown_cell(line))
        return notebook, resources


def moments(course: Course, assignment: str, student: str) -> str:
    """Due date, extension and time of a submission; empty where none is known."""
    with Store(course) as store:
        submission = store.gradebook.find_submission(assignment, student)
        due, extension = submission.assignment.duedate, submission.extension
        dates = {"handed in": submission.timestamp, "due": due}
        dates["extended to"] = due and extension and due + extension
        verdict = store.results(assignment).get(student)
    told = [f"{what} {time:%Y-%m-%d %H:%M} UTC" for what, time in dates.items() if time]
    if verdict and verdict.lateness:
        told.append(f"**{verdict.lateness}, {verdict.penalty:g} points less**")
    return "; ".join(told)
