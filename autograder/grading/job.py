"""One grading job: an assignment and a submission's bytes in, a verdict out.

It reads and writes no file and no gradebook, so a worker process can run it, and twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from autograder.checks.fingerprints import short
from autograder.errors import Held
from autograder.grading.autograded import autograded
from autograder.grading.verdict import QuestionResult, Verdict, hold
from autograder.notebook.matching import Matching, match
from autograder.notebook.reading import read_cells
from autograder.notebook.records import BY_POINTS, MatchedCell, Release
from autograder.notebook.time_limit import READING, at_most
from autograder.release.proof import transcript_of
from autograder.wall import Grader, Transcript


def grade(
    release: Release,
    submission: bytes,
    grader: Grader,
    notes: tuple[str, ...] = (),
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> Verdict:
    """The verdict on one submission; ``notes`` are about its ``files``."""
    if not release.judged:
        return not_judged(release, submission)
    started = time.perf_counter()
    try:
        matched = match(release, read_cells(submission))
        beside = release.beside(files)
        transcript = transcript_of(release, matched.cells, grader, beside)
        every = (*notes, *matched.notes, *transcript.notes)
        with at_most(READING):
            verdict = verdict_on(release, matched.cells, transcript, every)
    except Held as reason:
        seconds = time.perf_counter() - started
        return hold(str(reason), release.max_score, notes, seconds)
    return replace(verdict, seconds=round(time.perf_counter() - started, 3))


def verdict_on(
    release: Release,
    cells: list[MatchedCell],
    transcript: Transcript,
    notes: tuple[str, ...],
) -> Verdict:
    """The verdict that a transcript comes to."""
    return Verdict(
        "graded",
        release.max_score,
        questions=tuple(questions(cells, transcript)),
        notes=notes,
        answers=fingerprints(cells),
        unanswered=tuple(c.grade_id for c in cells if c.unanswered and c.grade_id),
        notebook=autograded(release, cells, transcript, notes),
        timed_out_under_load=transcript.timed_out_under_load,
        wall=transcript.wall,
    )


def questions(cells: list[MatchedCell], transcript: Transcript) -> list[QuestionResult]:
    """Points and message of each question, in the order of the release."""
    results = []
    for cell in cells:
        name, points = cell.grade_id, cell.points
        if cell.kind == "test":
            results.append(replace(transcript.results[name], max_score=points))
        elif cell.kind == "written" and cell.unanswered:
            results.append(QuestionResult(name, 0.0, points, "no answer yet"))
        elif cell.kind in BY_POINTS:
            results.append(QuestionResult(name, None, points, waiting=True))
    return results


def fingerprints(cells: list[MatchedCell]) -> dict[str, str]:
    """What each question's points rest on, in short.

    A written answer rests on its own text, a test on all code of the student, a task
    on all that the student added.
    """
    added = "\0".join(cell.source for cell in cells if cell.kind == "extra")
    code = "\0".join(
        cell.source
        for cell in cells
        if cell.kind in ("answer", "extra") and cell.cell_type == "code"
    )
    texts = {
        cell.grade_id: {"written": cell.source, "task": added}.get(cell.kind, code)
        for cell in cells
        if cell.grade_id and cell.kind in BY_POINTS
    }
    return {name: short(text) for name, text in texts.items()}


def not_judged(release: Release, submission: bytes) -> Verdict:
    """The verdict on a lesson beside the questions: as it came, and nothing runs."""
    try:
        cells = match(release, read_cells(submission)).cells
    except Held:  # nobody misses it
        cells = Matching(release, [], {}).result().cells
    shown = autograded(release, cells, Transcript(results={}), ())
    return Verdict("graded", 0.0, notebook=shown)


def not_handed_in(release: Release) -> Verdict:
    """The verdict on a notebook that is missing beside others: nothing for it."""
    message = f"{release.notebook}.ipynb was not handed in"
    cells = Matching(release, [], {}).result().cells
    results = {
        cell.grade_id: QuestionResult(cell.grade_id, 0.0, cell.points, message)
        for cell in cells
        if cell.kind in BY_POINTS and cell.grade_id
    }
    transcript = Transcript(results=results)
    notes = (f"{message}.",) if release.judged else ()
    verdict = verdict_on(release, cells, transcript, notes)
    return replace(verdict, questions=tuple(results.values()))
