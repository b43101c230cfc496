"""The judge: decides about points, in a process where student code never runs.

One judge per submission. It has the sandbox run the student's cells in order, and runs
the instructor's cells itself: names that the student has defined stand for proxies of
objects in the sandbox, and everything else is the judge's own.
"""

from __future__ import annotations

import contextlib
import io
import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.checks.failures import Misconception
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
from autograder.wall.records import Cell, Limits, QuestionResult, Transcript

MAX_MESSAGE = 4000


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


class NotJudged(Exception):
    """A question cannot be asked; the text says why, and is its message."""


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
                # again: what students see comes from the run above, without the tests
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
        result = self._followed(cell, self._asked(cell))
        if self.trials.due:  # when all other questions are judged
            self.hunts.append((cell, self.trials, list(self.student.ran)))
        else:
            self._judged(cell, start, result)

    def _judged(self, cell: Cell, start: float, result: QuestionResult) -> None:
        """Note what came of a question."""
        if not result.full:
            self.lost.add(result.id.removeprefix("test_"))
        seconds = round(time.monotonic() - start, 3)
        self.transcript.results[result.id] = replace(result, seconds=seconds)

    def _hunted(
        self, cell: Cell, trials: Trials, ran: list[Numbered]
    ) -> QuestionResult:
        """The result of a question whose answer is a test that the student wrote.

        Its cells are those that ``ran`` before it.
        """
        self.trials = trials
        result = nothing(cell, LOST)
        try:
            while trials.due:
                trials.verdicts = self._tried(trials, ran, trials.plantings)
                result = self._asked(cell)
        except NotJudged as why:
            return nothing(cell, str(why))
        if result.score and not self._repeats(trials, ran):
            return nothing(cell, UNSTEADY)
        return result

    def _tried(
        self, trials: Trials, ran: list[Numbered], parts: list[Planting]
    ) -> list[list[Verdict]]:
        """Verdicts of a student's test on some functions, in a fresh sandbox.

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
        raise NotJudged(LOST)

    def _repeats(self, trials: Trials, ran: list[Numbered]) -> bool:
        """Whether the check says the same again of each half alone."""
        return all(self._agrees(trials, ran, n) for n in range(len(trials.plantings)))

    def _agrees(self, trials: Trials, ran: list[Numbered], number: int) -> bool:
        """Whether the test gives the same verdicts where it has met no other half.

        So what it knows of the hidden half, it does not know from the visible one.
        """
        try:
            found = self._tried(trials, ran, [trials.plantings[number]])
        except NotJudged:
            return False
        return said(found) == said([trials.verdicts[number]])

    def _followed(self, cell: Cell, result: QuestionResult) -> QuestionResult:
        """The result with right code in place of earlier answers that lost points."""
        if result.full:
            return result
        given = {name: text for name, text in helpers(cell) if name in self.lost}
        if not given:
            return result
        again = self._asked(cell, given)
        fewer = (again.score or 0.0) < (result.score or 0.0)
        if fewer or UNANSWERED in (again.message or ""):
            return result
        message = judged_with(given, again.full)
        if again.message:
            message = f"{message}\n{again.message}"
        return replace(again, message=message)

    def _asked(self, cell: Cell, given: dict[str, str] | None = None) -> QuestionResult:
        """Run the instructor's cell against a fork of the student's process."""
        try:
            return self._forked(lambda link: self._result(cell, link, given or {}))
        except NotJudged as why:
            return nothing(cell, str(why))

    def _forked(self, ask: Callable[[Link], Any]) -> Any:
        """Ask in a fork of the student's process; NotJudged if there is none.

        As with cells, a fork that was killed gets a second try.
        """
        tries = 2
        while True:
            with Fork(self.student, self.limits) as fork:
                if fork.started:
                    came = ask(fork.link)
            if fork.given_up:
                raise NotJudged(f"not judged: {fork.given_up}")
            if fork.link.violation:
                raise Violation(fork.link.violation)
            if not fork.judged:
                continue
            tries -= 1
            if not (fork.killed and tries):
                return came

    def _result(self, cell: Cell, link: Link, given: dict[str, str]) -> QuestionResult:
        """Points, message and misconception of one question.

        What the instructor's cell prints is dropped: hidden lines may print inputs.
        """
        link.sources, link.trials = self.sources, self.trials.of
        answers = Answers(link, self.failed, readable(self.cells), cell.imports)
        # one place for all test cells: what one of them defines, the next may use
        self.names.find = answers.find
        self._start_clock()
        try:
            link.greet()
            link.give(given)
            with contextlib.redirect_stdout(io.StringIO()):
                value = value_of(cell.source, cell.test or "test", self.names)
            return result_of(cell, value)
        except BaseException as error:  # that of pytest.raises is no Exception
            if isinstance(error, Held | Lost | KeyboardInterrupt):
                raise
            failure = failure_of(cell, error, self.tests, self.sources)
            asked = {str(c.test).removeprefix("test_") for c in self.tests.values()}
            failure = explained(failure, self.failed, asked)
            return nothing(cell, str(failure), failure.misconception)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            link.uproot()

    def _start_clock(self) -> None:
        """Set a test cell's time limit: an exception, and later the process's end."""
        seconds = self.limits.question_seconds * self.limits.patience

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, 10)
            raise Stopped(f"the check did not finish in {seconds:g} s")

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds + 2 * GRACE)


def result_of(cell: Cell, value: Any) -> QuestionResult:
    """What the value of a test cell says: nothing is full points, a float the score."""
    if value is None:
        return QuestionResult(cell.test or "", cell.max_score, cell.max_score)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Held(f"{cell.test} ends with a {type(value).__name__}, not with points")
    score = 0.0 if math.isnan(value) else min(max(float(value), 0.0), cell.max_score)
    message = getattr(value, "message", None) or ""
    found = nothing(cell, message, getattr(value, "misconception", None))
    return replace(found, score=score)


def nothing(
    cell: Cell, message: str, misconception: Misconception | None = None
) -> QuestionResult:
    """No points, and the reason."""
    return QuestionResult(
        cell.test or "",
        0.0,
        cell.max_score,
        printable(message, MAX_MESSAGE) or None,
        getattr(misconception, "id", None),
    )
