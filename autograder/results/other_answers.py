"""Alternative correct answers, for students who have earned all points of a question.

They come from the catalog of right and wrong answers, each with a sentence about what
differs, and are on the feedback page only. Where an assignment has a due date, they are
shown when the last extension has ended; ``c.Autograder.other_ways = False`` turns them
off.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import nbformat
from nbconvert.preprocessors import Preprocessor
from nbgrader.api import SubmittedAssignment
from sqlalchemy import select

from autograder.course import Course
from autograder.grading.deadlines import Deadlines
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict
from autograder.release.validation import catalog_of

MOST = 2  # that are shown of a question


def may_be_shown(course: Course, store: Store, assignment: str) -> bool:
    """Whether they may be shown: the last due date is over, or there is none."""
    if not course.nbgrader().get("Autograder", {}).get("other_ways", True):
        return False
    last = last_moment(course, store, assignment)
    return last is None or last < datetime.now(UTC)


def last_moment(course: Course, store: Store, assignment: str) -> datetime | None:
    """When the last student has to hand in; None where there is no due date."""
    deadlines = Deadlines.of(course)
    row = store.gradebook.find_assignment(assignment)
    there = row.duedate and row.duedate.replace(tzinfo=UTC)
    dates = filter(None, (there, deadlines.due.get(assignment)))
    moments = [end for due in dates for end in (due, *deadlines.ends(assignment, due))]
    if there:
        extensions = select(SubmittedAssignment.extension).filter_by(
            assignment_id=row.id
        )
        longer = store.gradebook.db.scalars(extensions.distinct())
        moments += [there + extension for extension in longer if extension]
    return max(moments, default=None)


def other_ways(checks: str, verdict: Verdict) -> dict[str, str]:
    """By test cell that got all its points: Markdown with other right answers."""
    catalog = catalog_of(checks)
    if catalog is None:
        return {}
    found = {}
    for result in verdict.questions:
        test = result.id.removeprefix(f"{checks}/")
        name = test.removeprefix("test_")
        ways = catalog.ways(name)[:MOST]
        if test != name and result.score == result.max_score and ways:
            parts = (
                f"**{about}**\n\n```python\n{code.strip()}\n```" for code, about in ways
            )
            summary = f"<details><summary>Other right ways to write {name}</summary>"
            found[test] = "\n\n".join([summary, *parts, "</details>"])
    return found


class ShowWays(Preprocessor):  # type: ignore[misc]
    """Puts them below their test cells; ``resources["other_ways"]`` holds them."""

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with a cell more for each question."""
        ways = resources.get("other_ways", {})
        cells = []
        for cell in notebook.cells:
            cells.append(cell)
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in ways:
                cells.append(nbformat.v4.new_markdown_cell(ways[name]))
        notebook.cells = cells
        return notebook, resources
