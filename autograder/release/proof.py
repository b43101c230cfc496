"""A release is proven by its own solution, which gets all points or is not released."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autograder.errors import Held
from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.notebook.records import MatchedCell, Release
from autograder.wall import Cell, Grader, Transcript

INSIDE = """\
With its tests inside the students' process, it gets all points. If that is what you
  want, say so in nbgrader_config.py; the guide explains what it gives up:
    c.Autograder.tests = {{"{assignment}": "inside"}}"""


def transcript_of(
    release: Release, cells: list[MatchedCell], grader: Grader
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
        )
        for place, cell in enumerate(cells)
        if cell.cell_type == "code" and cell.runs
    ]
    transcript = grader.judge(code, profile=release.profile, files=dict(release.files))
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
        cells = match(release, read(solution)).cells
        transcript = transcript_of(release, cells, grader)
    except Held as held:
        yield str(held)
        return
    for result in transcript.results.values():
        if result.score < result.max_score:
            points = f"{result.score:g} of {result.max_score:g}"
            why = " ".join((result.message or "").split())
            why = why or "The value of the test's last line is the points."
            yield f"{result.id}: {points}. {why}"
