"""Who handed in numbers that were drawn for somebody else. It changes no points."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from autograder.checks.variant import Worked
from autograder.course import Assignment, Course
from autograder.errors import Held
from autograder.intake.opening import open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.notebook.records import Release
from autograder.notebook.variants import as_released, codes_in, worked_in
from autograder.release.plan import plans
from autograder.release.variants import code_of, owners

NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{0,9})?(?![\w.])")
TESTS = "the checks of the notebook"
OWN_CELL = "a cell that was added"
NOBODY = "nobody in this course"
Row = tuple[float, ...]


@dataclass(frozen=True)
class Foreign:
    """A student whose notebook has the variant of others, and where."""

    student: str
    owners: tuple[str, ...]
    place: str


def foreign(course: Course, assignment: Assignment) -> list[Foreign]:
    """Numbers of other students' cards, by student; nothing where all are alike."""
    submissions = course.submissions([assignment])
    whose = owners(course, [submission.student for submission in submissions])
    if not whose:
        return []
    secret, releases = course.variants(), plans(course, assignment)
    names = [f"{release.notebook}.ipynb" for release in releases]
    found = []
    for release in releases:
        of = f"{release.notebook}.ipynb, " if len(releases) > 1 else ""
        worked = worked_in(release.notebook)
        index: dict[Row, set[str]] = defaultdict(set)
        for code, student in whose.items():
            for row in rows_of(worked, code):
                index[row].add(student)
        for submission in submissions:
            student = submission.student
            try:
                data, _ = open_submission(submission, release, names)
                cells = read(data)
                codes = {whose.get(code, NOBODY) for code in codes_in(cells)}
                texts = list(own_texts(release, data))
            except Held:
                continue
            if worked and (others := codes - {student}):
                found.append(Foreign(student, tuple(sorted(others)), of + TESTS))
            own = rows_of(worked, code_of(secret, student))
            for place, text in texts:
                known = rows_in(text, index.keys()) - own
                students = set().union(*(index[row] for row in known)) - {student}
                if students:
                    theirs = tuple(sorted(students))
                    found.append(Foreign(student, theirs, of + place))
    return found


def rows_of(worked: Mapping[str, Worked], code: str) -> set[Row]:
    """The rows of numbers by which the examples of a variant are known."""
    return {
        tuple(round(float(number), 6) for number in row)
        for each in worked.values()
        for row in each.of(code).marks
    }


def own_texts(release: Release, data: bytes) -> Iterator[tuple[str, str]]:
    """The code that a student wrote, with the place where it stands."""
    for cell in match(release, as_released(release, read(data))).cells:
        if cell.cell_type != "code" or cell.unanswered:
            continue
        if cell.kind == "answer":
            yield cell.grade_id or "", cell.source
        elif cell.kind == "extra":
            yield OWN_CELL, cell.source


def rows_in(text: str, known: Collection[Row]) -> set[Row]:
    """Those of the known rows that stand in a text, whatever is between the numbers."""
    numbers = [round(float(number), 6) for number in NUMBER.findall(text)]
    return {
        row
        for length in {len(row) for row in known}
        for start in range(len(numbers) - length + 1)
        if (row := tuple(numbers[start : start + length])) in known
    }
