"""``autograder similarity``: groups of similar submissions, for a person to look at."""

from __future__ import annotations

import argparse
from collections import defaultdict

from autograder.course import Assignment, Course
from autograder.errors import Held
from autograder.files import write_whole
from autograder.grading.gradebook import known_names
from autograder.intake.notebook_file import MISSING, open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.options import add_file, describe, share
from autograder.release.grading_plan import plans
from autograder.results.assignment_statistics import counted
from autograder.results.similar_code import Sources, similar_groups
from autograder.results.templates import render
from autograder.text import one_line, printable

LONGEST = 20_000  # characters of an answer: comparing two takes their product


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder similarity`."""
    describe(
        verb,
        "Lines that many otherwise different submissions share are ignored. "
        "Submissions that share most of their code are listed once, as a group. "
        "Short answers can resemble each other by chance, so check before you accuse "
        "anyone. No points are changed.",
        "autograder similarity 01-means --least 0.95",
    )
    verb.add_argument("assignment", metavar="ASSIGNMENT")
    verb.add_argument(
        "--least",
        type=share,
        default=0.9,
        metavar="SHARE",
        help="minimum share of common tokens (default: 0.9)",
    )
    add_file(
        verb,
        "--output",
        "page with the submissions side by side (default: similarity-NAME.html of "
        "the course)",
    )


def run(options: argparse.Namespace) -> None:
    """Print the groups, and write the page that shows them."""
    course = Course.find()
    assignment = course.chosen([options.assignment])[0]
    sources, given, unread = answers_of(course, assignment)
    groups = similar_groups(sources, given, options.least)
    for group in groups:
        names = "  ".join(one_line(student) for student in group.students)
        size = f"{len(group.students)} students: " if len(group.students) > 2 else ""
        print(f"{group.share:.0%}  {size}{names}")
    students = counted(sum(len(group.students) for group in groups), "student")
    found = f"{counted(len(groups), 'group')}, {students}" if groups else "nobody"
    print(f"Alike: {found}. No points were changed.")
    if unread:
        names = ", ".join(map(one_line, unread))
        print(
            f"Not compared: {counted(len(unread), 'submission')} that cannot be read "
            f"({names})."
        )
    if groups:
        path = options.output or course.root / f"similarity-{assignment.name}.html"
        people = known_names(course)
        page = render(
            "similarity.html", name=assignment.name, groups=groups, people=people
        )
        write_whole(path, page)
        print(f"wrote {one_line(str(path))}")


def answers_of(
    course: Course, assignment: Assignment
) -> tuple[Sources, dict[str, str], list[str]]:
    """The answers that students wrote, by student and question; and what was given.

    And the students of whom a notebook cannot be read.
    """
    releases = plans(course, assignment)
    names = [f"{release.notebook}.ipynb" for release in releases]
    sources: Sources = defaultdict(dict)
    given: dict[str, str] = {}
    unread: set[str] = set()
    for release in releases:
        before = f"{release.notebook}/" if len(releases) > 1 else ""
        given |= {f"{before}{cell.grade_id}": cell.released for cell in release.cells}
        for submission in course.submissions([assignment]):
            try:
                data = open_submission(submission, release, names).data
                cells = match(release, read_cells(data)).cells
            except Held as reason:
                if str(reason) != MISSING:
                    unread.add(submission.student)
                continue
            sources[submission.student] |= {
                f"{before}{cell.grade_id}": printable(cell.source[:LONGEST])
                for cell in cells
                if cell.kind == "answer" and cell.grade_id and not cell.unanswered
            }
    return sources, given, sorted(unread)
