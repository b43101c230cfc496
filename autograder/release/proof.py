"""Proof of a release: its own solution must earn all points, or it is not released.

If its checks have changed since, the solution is graded again before any student is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder import wall
from autograder.course import Assignment, Course
from autograder.errors import CourseError, Held
from autograder.files import write_whole
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.notebook.records import MatchedCell, Release
from autograder.wall import Cell, Grader, Transcript

PROVED = ".proved.json"  # beside the gradebook
INSIDE = """\
If the tests run inside the students' process, the solution gets full points. If that
  is what you want (the guide explains the drawback), say so in nbgrader_config.py:
    c.Autograder.tests = {{"{assignment}": "inside"}}"""


def transcript_of(
    release: Release,
    cells: list[MatchedCell],
    grader: Grader,
    files: dict[str, bytes],
) -> Transcript:
    """What happened behind the wall. Held when there is no evidence for a question."""
    code = [
        Cell(
            key=str(place),
            source=cell.source,
            test=cell.grade_id if cell.kind == "test" else None,
            max_score=cell.points,
            released=cell.released,
            inside=cell.kind == "test" and release.tests == "inside",
            imports=release.imports if cell.kind == "test" else "",
        )
        for place, cell in enumerate(cells)
        if cell.cell_type == "code" and cell.runs
    ]
    transcript = grader.judge(
        code, profile=release.profile, files=files, seconds=release.seconds
    )
    if transcript.held:
        raise Held(transcript.held)
    for cell in code:
        if cell.test and cell.test not in transcript.results:
            raise Held(f"There is no result for {cell.test}.")
    return transcript


def shortcomings(release: Release, solution: bytes, grader: Grader) -> list[str]:
    """Each question for which the solution itself does not get all points, and why."""
    broken = list(missed(release, solution, grader))
    if not broken or release.tests == "inside":
        return broken
    inside = replace(release, tests="inside")
    if not any(missed(inside, solution, grader)):
        broken.append(INSIDE.format(assignment=release.assignment))
    return broken


def missed(release: Release, solution: bytes, grader: Grader) -> Iterator[str]:
    """The questions that the solution misses; all at once, when it cannot be judged."""
    if not release.judged:
        return
    try:
        cells = match(release, read_cells(solution)).cells
        transcript = transcript_of(release, cells, grader, dict(release.files))
    except Held as held:
        yield str(held)
        return
    for result in transcript.results.values():
        if not result.full:
            points = f"{result.score:g} of {result.max_score:g}"
            why = " ".join((result.message or "").split())
            why = why or "The points are the value of the test's last line."
            yield f"{result.id}: {points}. {why}"


def proved(course: Course) -> dict[str, str]:
    """By notebook: the hash of the release whose solution had all points when it was
    graded, or that the instructor released as it is."""
    try:
        return dict(json.loads((course.root / PROVED).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def note(course: Course, *releases: Release) -> None:
    """Remember that these are proved."""
    hashes = {f"{one.assignment}/{one.notebook}": one.hash for one in releases}
    known = proved(course)
    if known | hashes != known:
        text = json.dumps(known | hashes, indent=1, sort_keys=True)
        write_whole(course.root / PROVED, text + "\n")


def prove(
    course: Course, assignment: Assignment, releases: Sequence[Release], look: str = ""
) -> None:
    """CourseError when a release has changed and its solution misses points by it.

    ``look`` is the option of a command that stores nothing. A course that comes with
    grades is taken as it is, and proved from then on.
    """
    known = proved(course)
    broken: list[str] = []
    for part, release in zip(assignment.parts, releases, strict=True):
        name = f"{release.assignment}/{release.notebook}"
        if not release.judged or known.get(name, release.hash) == release.hash:
            continue
        # the solution is the instructor's own: it runs where there is no sandbox, too
        with wall.Grader(wall="none" if wall.available() else None) as grader:
            broken += shortcomings(release, part.source.read_bytes(), grader)
    if broken:
        listed = "".join(f"\n  {sentence}" for sentence in broken)
        raise CourseError(
            f"{assignment.name} has changed, and its own solution no longer gets full "
            f"points:{listed}\nNobody was graded. Repair the check or the solution; "
            f"if this is intended: autograder grade {assignment.name}{look} "
            "--unproven"
        )
    note(course, *releases)
