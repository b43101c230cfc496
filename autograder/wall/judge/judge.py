"""The judge: decides about points, in a process where student code never runs.

One judge per submission. It has the student's cells run in order, and runs the
instructor's cells itself: names that the student has defined stand for remote objects
there, and everything else is the judge's own.
"""

from __future__ import annotations

import contextlib
import io
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.checks.planted import Planting, Verdict
from autograder.errors import Held, Violation
from autograder.notebook.questions import (
    Failed,
    TestNames,
    explained,
    reason,
    value_of,
)
from autograder.text import printable
from autograder.wall.channel import Channel
from autograder.wall.judge import outputs
from autograder.wall.judge.answers import Answers
from autograder.wall.judge.forks import Fork
from autograder.wall.judge.helpers import UNANSWERED, helpers, judged_with
from autograder.wall.judge.inside import Inside
from autograder.wall.judge.opinions import (
    MAX_MESSAGE,
    Opinion,
    points_of,
    stopped_with,
)
from autograder.wall.judge.raised import Lost, Stopped
from autograder.wall.judge.redaction import failure_of, readable
from autograder.wall.judge.remote import Link
from autograder.wall.judge.student import GRACE, Numbered, StudentProcess
from autograder.wall.judge.trials import (
    LOST,
    MOST_SANDBOXES,
    UNSTEADY,
    Trials,
    said,
)
from autograder.wall.records import Cell, Limits, Result, Transcript


def main(
    grader: Channel,
    student: Channel,
    cells: list[Cell],
    limits: Limits,
    files: dict[str, bytes],
) -> None:
    """Judge one submission and send the transcript to the grader."""
    process = StudentProcess(grader, student, limits, files)
    transcript = Judge(process, limits).judge(cells)
    grader.send(("transcript", transcript.to_json()))


class Judge:
    """Decides about the questions of one submission."""

    def __init__(self, student: StudentProcess, limits: Limits) -> None:
        self.student, self.limits = student, limits
        self.transcript = Transcript()
        self.room = outputs.Room(limits)
        self.names = TestNames(lambda name: None)
        self.sources: dict[int, str] = {}
        self.failed: list[Failed] = []
        self.lost: set[str] = set()  # questions without all their points
        self.cells: list[Cell] = []
        self.hunts: list[tuple[Cell, Trials, list[Numbered]]] = []  # and what ran
        self.trials = Trials()
        self.tests: dict[str, Cell] = {}  # by the names of their files

    def judge(self, cells: list[Cell]) -> Transcript:
        """Run all cells in order; what cannot be judged is held, with the reason."""
        try:
            self._run(cells)
            if any(cell.inside for cell in cells):
                # anew: what students see comes from the run above, without the tests
                self.transcript.hurried = self.student.hurried
                self.student = self.student.renewed()
                inside = Inside(self.student, cells, self.limits)
                self.transcript.results |= inside.results()
        except Violation as violation:
            self.transcript.held = f"the sandbox was broken into: {violation}"
        except Held as held:
            self.transcript.held = str(held)
        self.transcript.hurried |= self.student.hurried
        return self.transcript

    def _run(self, cells: list[Cell]) -> None:
        self.cells = cells
        for number, cell in enumerate(cells, 1):
            if cell.test is None:
                self._student_cell(number, cell)
            elif not cell.inside:
                self._test_cell(cell)
        for cell, trials, ran in self.hunts:
            self._judged(cell, time.monotonic(), self._hunted(cell, trials, ran))

    def _student_cell(self, number: int, cell: Cell) -> None:
        kept = self.transcript.outputs
        self.sources[number] = cell.source
        ran = self.student.run(number, cell)
        if ran.skipped:
            kept[cell.key] = [outputs.stream("stderr", f"not run: {ran.skipped}\n")]
            return
        if ran.crash:
            kept[cell.key] = [outputs.error("Stopped", ran.crash, [ran.crash])]
            self.failed.append(Failed(number, cell.source, ran.crash))
            return
        kept[cell.key], notes = outputs.reported(ran.outputs, number, self.room)
        if ran.failed is not None:
            told = [o["evalue"] for o in kept[cell.key] if o["output_type"] == "error"]
            text = told[-1] if told else ""
            because = printable(reason(ran.failed, text), 300)
            self.failed.append(Failed(number, cell.source, because, ran.place, text))
        self.transcript.notes += [f"cell {number}: {note}" for note in notes]

    def _test_cell(self, cell: Cell) -> None:
        start = time.monotonic()
        self.tests[f"<{cell.test}>"] = cell
        self.trials = Trials()
        opinion = self._followed(cell, self._asked(cell))
        if self.trials.due:  # when all other questions are judged
            self.hunts.append((cell, self.trials, list(self.student.ran)))
        else:
            self._judged(cell, start, opinion)

    def _judged(self, cell: Cell, start: float, opinion: Opinion) -> None:
        """Note what came of a question."""
        if opinion.score < cell.max_score:
            self.lost.add((cell.test or "").removeprefix("test_"))
        self.transcript.outputs[cell.key] = opinion.outputs
        self.transcript.results[cell.test or ""] = Result(
            cell.test or "",
            opinion.score,
            cell.max_score,
            opinion.message,
            opinion.misconception,
            round(time.monotonic() - start, 3),
        )

    def _hunted(self, cell: Cell, trials: Trials, ran: list[Numbered]) -> Opinion:
        """What is thought of a question in which the student writes the check.

        Its cells are those that ``ran`` before it.
        """
        self.trials = trials
        opinion = stopped_with(LOST)
        while trials.due:
            found = self._tried(trials, ran, trials.plantings)
            if isinstance(found, Opinion):
                return found
            trials.verdicts = found
            opinion = self._asked(cell)
        if opinion.score and not self._repeats(trials, ran):
            return stopped_with(UNSTEADY)
        return opinion

    def _tried(
        self, trials: Trials, ran: list[Numbered], parts: list[Planting]
    ) -> list[list[Verdict]] | Opinion:
        """What a check says of some plantings where nothing can be remembered.

        That is a sandbox in which these cells ``ran``, and no check met a function.
        """

        def found(link: Link) -> list[list[Verdict]] | None:
            if self.student.met:  # it was killed, and this is another try
                return None
            self.student.met = True
            return trials.found(link, parts)

        for _ in range(MOST_SANDBOXES):
            if self.student.met or self.student.ran != ran:
                self.student.renew(ran)
            if (came := self._forked(found)) is not None:
                return came
        return stopped_with(LOST)

    def _repeats(self, trials: Trials, ran: list[Numbered]) -> bool:
        """Whether the check says the same again of each half alone."""
        return all(self._agrees(trials, ran, n) for n in range(len(trials.plantings)))

    def _agrees(self, trials: Trials, ran: list[Numbered], number: int) -> bool:
        """Whether it says the same of one planting where it has met no other.

        So what it knows of the hidden half, it does not know from the visible one.
        """
        found = self._tried(trials, ran, [trials.plantings[number]])
        before = [trials.verdicts[number]]
        return not isinstance(found, Opinion) and said(found) == said(before)

    def _followed(self, cell: Cell, opinion: Opinion) -> Opinion:
        """One mistake costs once: helpers that have lost points are given by us."""
        if opinion.score >= cell.max_score:
            return opinion
        given = {name: text for name, text in helpers(cell) if name in self.lost}
        if not given:
            return opinion
        again = self._asked(cell, given)
        if again.score < opinion.score or UNANSWERED in (again.message or ""):
            return opinion
        message = judged_with(given, again.score >= cell.max_score)
        if again.message:
            message = f"{message}\n{again.message}"
        return replace(again, message=message)

    def _asked(self, cell: Cell, given: dict[str, str] | None = None) -> Opinion:
        """Run the instructor's cell against a fork of the student's process."""
        return self._forked(lambda link: self._opinion(cell, link, given or {}))

    def _forked(self, ask: Callable[[Link], Any]) -> Any:
        """What comes of a fork of the student's process; an Opinion if there is none.

        As with cells, a fork that was killed gets a second try.
        """
        tries = 2
        while True:
            with Fork(self.student, self.limits) as fork:
                if fork.started:
                    came = ask(fork.link)
            if fork.given_up:
                return stopped_with(f"not judged: {fork.given_up}")
            if fork.link.violation:
                raise Violation(fork.link.violation)
            if not fork.judged:
                continue
            tries -= 1
            if not (fork.killed and tries):
                return came

    def _opinion(self, cell: Cell, link: Link, given: dict[str, str]) -> Opinion:
        """Outputs, points, message and misconception of one question."""
        link.sources, link.trials = self.sources, self.trials.of
        answers = Answers(link, self.failed, readable(self.cells))
        # one place for all test cells: what one of them defines, the next may use
        self.names.find = answers.find
        printed = io.StringIO()
        found: list[dict[str, Any]] = []
        value: Any = None
        message = misconception = None
        self._start_clock()
        try:
            link.greet()
            link.give(given)
            with contextlib.redirect_stdout(printed):
                value = value_of(cell.source, cell.test or "test", self.names)
            score, message, misconception = points_of(cell, value)
        except BaseException as error:  # that of pytest.raises is no Exception
            if isinstance(error, Held | Lost | KeyboardInterrupt):
                raise
            score, failure = 0.0, failure_of(cell, error, self.tests, self.sources)
            failure = explained(failure, self.failed)
            message = printable(str(failure), MAX_MESSAGE)
            misconception = getattr(failure.misconception, "id", None)
            found = [outputs.error("CheckFailed", message, message.split("\n"))]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            link.uproot()
        if isinstance(value, float):
            found.append(outputs.result(repr(score), None))
        if text := printed.getvalue():
            text = printable(text, self.limits.output_bytes)
            found.insert(0, outputs.stream("stdout", text))
        return Opinion(found, score, message, misconception)

    def _start_clock(self) -> None:
        """A check that hangs by itself is stopped; one that resists is ended."""
        seconds = self.limits.question_seconds * self.limits.patience

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, 10)
            raise Stopped(f"the check was not done after {seconds:g} s")

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds + 2 * GRACE)
