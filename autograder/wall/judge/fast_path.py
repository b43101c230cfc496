"""The optimistic fast path of judging: no forks, for submissions that are all right.

On the slow path, each question is asked in a fork of the student's process. Here that
process answers all of them itself, one after the other, and a test that a student wrote
is tried on all functions in one process. So one question could disturb another, and a
call could be too much for the judge. The fast path therefore only ever gives all
points: after anything less, or an error, its result is dropped and the slow path runs.

It gives no advantage either. A test by a student has to give the right verdicts at
once, and those of the hidden half again in another sandbox, with the functions in
another order: the one in which the cells run once more for what students see.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.errors import Held, Violation
from autograder.wall.channel import Channel
from autograder.wall.judge import outputs
from autograder.wall.judge.forks import Fork
from autograder.wall.judge.host import Inhouse
from autograder.wall.judge.judge import Judge
from autograder.wall.judge.raised import Lost
from autograder.wall.judge.remote import Link
from autograder.wall.judge.student import Numbered, StudentProcess
from autograder.wall.judge.trials import Trials
from autograder.wall.records import Cell, Limits, QuestionResult, Transcript

SHARE = 0.2  # of the time that a submission has in all; what takes longer is not quick


class Unsure(Exception):
    """There is a doubt, and the slow path has to judge."""


def main(
    grader: Channel,
    student: Channel,
    cells: list[Cell],
    limits: Limits,
    files: dict[str, bytes],
) -> None:
    """Send the transcript of a submission in which all is right, else None."""
    gc.disable()  # it ends soon
    limits = replace(limits, total_seconds=SHARE * limits.total_seconds)
    process = StudentProcess(grader, student, limits, files)
    transcript = FastPath(process, limits).judged(cells)
    grader.send(("transcript", transcript and transcript.to_json()))


class FastPath(Judge):
    """A judge that gives a submission all points or leaves it to the slow path."""

    def judged(self, cells: list[Cell]) -> Transcript | None:
        """The transcript; None if there is doubt about anything."""
        try:
            self._run(cells)
            if self.hunts or self._shown(cells):
                self._run_again(cells)
            for _, trials, ran in self.hunts:
                if not self._agrees(trials, ran, -1):  # the hidden half
                    return None
        except (Unsure, Held, Violation, Lost):
            return None
        return None if self.student.hurried else self.transcript

    def _shown(self, cells: list[Cell]) -> bool:
        """Whether there is an output of a cell below a question."""
        first = next((n for n, cell in enumerate(cells) if cell.test), len(cells))
        kept = self.transcript.outputs
        return any(kept.get(cell.key) for cell in cells[first:] if cell.test is None)

    def _run_again(self, cells: list[Cell]) -> None:
        """Run the cells in another sandbox; what students see comes from there.

        Below a question, an output could tell what they are asked.
        """
        if self.student.hurried:
            raise Unsure
        end, self.student = self.student.end, self.student.renewed()
        self.student.end = end  # both runs together are quick
        self.room, self.transcript.notes = outputs.Room(self.limits), []
        for number, cell in enumerate(cells, 1):
            if cell.test is None:
                self._student_cell(number, cell)

    def _student_cell(self, number: int, cell: Cell) -> None:
        super()._student_cell(number, cell)
        if self.failed or self.student.given_up:
            raise Unsure

    def _repeats(self, trials: Trials, ran: list[Numbered]) -> bool:
        return True  # to be seen in the sandbox where the cells run again

    def _judged(self, cell: Cell, start: float, result: QuestionResult) -> None:
        if not result.full:
            raise Unsure
        super()._judged(cell, start, result)

    def _forked(self, ask: Callable[[Link], Any]) -> Any:
        """Ask the student's process itself, without a fork."""
        with Here(self.student, self.limits) as here:
            if not here.started:
                raise Unsure
            came = ask(here.link)
        if not here.judged:
            raise Unsure
        return came


class Here(Fork):
    """The student's process itself, for one question."""

    forks, holder = False, Inhouse

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> bool:
        if self.link.stopped:  # it may hang, and is ended with its sandbox
            self.here.close()
            raise Unsure
        return super().__exit__(kind, *rest)

    def _start_again(self, word: str) -> None:
        raise Unsure
