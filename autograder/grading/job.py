"""One job: the release and a submission's bytes in, a verdict out, both plain data.

It reads and writes no file and no gradebook, so it can run in any process and twice.
"""

from __future__ import annotations

import hashlib
import time

from autograder.errors import Held
from autograder.grading.autograded import autograded
from autograder.grading.verdict import QuestionResult, Verdict, hold
from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.notebook.records import MatchedCell, Release
from autograder.wall import Cell, Grader, Transcript


def grade(
    release: Release,
    submission: bytes,
    grader: Grader,
    notes: tuple[str, ...] = (),
) -> Verdict:
    """The verdict on one submission; ``notes`` are about its files."""
    started = time.perf_counter()
    try:
        matched = match(release, read(submission))
        transcript = run(release, matched.cells, grader)
    except Held as reason:
        seconds = time.perf_counter() - started
        return hold(str(reason), release.max_score, notes, seconds)
    notes = (*notes, *matched.notes, *transcript.notes)
    return Verdict(
        "graded",
        release.max_score,
        questions=tuple(questions(matched.cells, transcript)),
        notes=notes,
        answers=fingerprints(matched.cells),
        unanswered=tuple(
            cell.grade_id for cell in matched.cells if cell.unanswered and cell.grade_id
        ),
        notebook=autograded(release, matched.cells, transcript, notes),
        seconds=round(time.perf_counter() - started, 3),
        hurried=transcript.hurried,
        wall=transcript.wall,
    )


def run(release: Release, cells: list[MatchedCell], grader: Grader) -> Transcript:
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


def questions(cells: list[MatchedCell], transcript: Transcript) -> list[QuestionResult]:
    """Points and message of each question, in the order of the release."""
    results = []
    for cell in cells:
        if cell.grade_id is None:
            continue
        if cell.kind == "test":
            judged = transcript.results[cell.grade_id]
            results.append(
                QuestionResult(
                    cell.grade_id,
                    float(judged.score),
                    cell.points,
                    judged.message,
                    judged.misconception,
                    round(judged.seconds, 3),
                )
            )
        elif cell.kind == "written" and cell.unanswered:
            results.append(
                QuestionResult(cell.grade_id, 0.0, cell.points, "no answer yet")
            )
        elif cell.kind == "written":
            results.append(
                QuestionResult(cell.grade_id, None, cell.points, waiting=True)
            )
    return results


def fingerprints(cells: list[MatchedCell]) -> dict[str, str]:
    """What each question's points rest on, in short.

    A written answer rests on its own text, a test on all code of the student.
    """
    code = "\0".join(
        cell.source
        for cell in cells
        if cell.kind in ("answer", "extra") and cell.cell_type == "code"
    )
    texts = {
        cell.grade_id: cell.source if cell.kind == "written" else code
        for cell in cells
        if cell.grade_id and cell.kind in ("written", "test")
    }
    return {
        name: hashlib.sha256(text.encode()).hexdigest()[:16]
        for name, text in texts.items()
    }
