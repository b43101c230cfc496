"""Judging without forks, as long as all is right.

The student's process answers each question where it stands, and tries its checks on one
function after the other; the judge holds these functions itself. So questions could
disturb each other and the cells after them, and a call could be too much for the judge.
That costs nobody a point: a submission that does not get all of them here, with no
error on the way, is judged anew, as if this had not happened. Nor does it help anybody:
what a check remembers from one function to the next could as well be kept in a file,
and a second sandbox with another order of the functions is there against both.
"""

from __future__ import annotations

import gc

from autograder.errors import Held, Violation
from autograder.wall.channel import Channel
from autograder.wall.judge.host import Inhouse
from autograder.wall.judge.judge import Fork, Judge
from autograder.wall.judge.opinions import Opinion
from autograder.wall.judge.raised import Lost
from autograder.wall.judge.student import StudentProcess
from autograder.wall.records import Cell, Limits, Transcript


class Unsure(Exception):
    """Something is not plainly right."""


def main(
    grader: Channel,
    student: Channel,
    cells: list[Cell],
    limits: Limits,
    files: dict[str, bytes],
) -> None:
    """Send the transcript of a submission in which all is right, else None."""
    gc.disable()  # it ends soon
    process = StudentProcess(grader, student, limits, files)
    transcript = AllRight(process, limits).judged(cells)
    grader.send(("transcript", transcript and transcript.to_json()))


class AllRight(Judge):
    """Gives a submission all points, or says nothing of it."""

    def judged(self, cells: list[Cell]) -> Transcript | None:
        """The transcript; None if there is doubt about anything."""
        try:
            self._run(cells)
        except (Unsure, Held, Violation, Lost):
            return None
        return None if self.student.hurried else self.transcript

    def _student_cell(self, number: int, cell: Cell) -> None:
        super()._student_cell(number, cell)
        if self.failed or self.student.given_up:
            raise Unsure

    def _question(self, cell: Cell) -> Opinion:
        opinion = self._asked(cell)
        if opinion.verdicts:
            self.student.renew()
            if self._asked(cell).verdicts != opinion.verdicts:
                raise Unsure
        return opinion

    def _asked(self, cell: Cell, given: dict[str, str] | None = None) -> Opinion:
        with Here(self.student, self.limits) as here:
            if not here.started:
                raise Unsure
            opinion = self._opinion(cell, here.link, {})
        smooth = here.judged and not here.link.stopped
        if not smooth or opinion.score < cell.max_score:
            raise Unsure
        return opinion


class Here(Fork):
    """The student's process itself, for one question."""

    forks, holder = False, Inhouse

    def _start_again(self, word: str) -> None:
        raise Unsure
