"""The judge: decides about points, in a process where student code never runs.

One judge per submission. It has the student's cells run in order, and runs the
instructor's cells itself: names that the student has defined stand for remote objects
there, and everything else is the judge's own.
"""

from __future__ import annotations

import contextlib
import io
import signal
import socket
import time
from dataclasses import replace
from typing import Any

from autograder.errors import Closed, Held, Violation
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
from autograder.wall.judge.helpers import UNANSWERED, helpers, judged_with
from autograder.wall.judge.host import Host
from autograder.wall.judge.inside import Inside
from autograder.wall.judge.opinions import MAX_MESSAGE, Opinion, points_of
from autograder.wall.judge.raised import Lost, Stopped
from autograder.wall.judge.remote import Link
from autograder.wall.judge.student import GRACE, StudentProcess, ending
from autograder.wall.judge.telling import failure_of, readable
from autograder.wall.records import Cell, Limits, Result, Transcript

UNSTEADY = """your check gives different verdicts on the same function
  seen:     run again in a fresh process, it gave another verdict
  expected: verdicts that depend only on the function: fixed inputs, or a seed"""


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
        opinion = self._question(cell)
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

    def _question(self, cell: Cell) -> Opinion:
        """What is thought of a question.

        What a student's own check said has to repeat where nothing can be remembered:
        in another sandbox, with the functions in another order.
        """
        opinion = self._followed(cell, self._asked(cell))
        if opinion.verdicts and opinion.score:
            self.student.renew()
            if self._asked(cell).verdicts != opinion.verdicts:
                stopped = outputs.error("CheckFailed", UNSTEADY, UNSTEADY.split("\n"))
                return Opinion([stopped], 0.0, UNSTEADY)
        return opinion

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
        """Run the instructor's cell against a fork of the student's process.

        As with cells, a fork that was killed gets a second try.
        """
        tries = 2
        while True:
            with Fork(self.student, self.limits) as fork:
                if fork.started:
                    opinion = self._opinion(cell, fork.link, given or {})
            if fork.given_up:
                message = f"not judged: {fork.given_up}"
                stopped = outputs.error("Stopped", message, [message])
                return Opinion([stopped], 0.0, message)
            if fork.link.violation:
                raise Violation(fork.link.violation)
            if not fork.judged:
                continue
            tries -= 1
            if not (fork.killed and tries):
                return opinion

    def _opinion(self, cell: Cell, link: Link, given: dict[str, str]) -> Opinion:
        """Outputs, points, message and misconception of one question."""
        link.sources = self.sources
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
        said = getattr(value, "verdicts", ())
        return Opinion(found, score, message, misconception, said)

    def _start_clock(self) -> None:
        """A check that hangs by itself is stopped; one that resists is ended."""
        seconds = self.limits.question_seconds * self.limits.patience

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, 10)
            raise Stopped(f"the check was not done after {seconds:g} s")

        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds + 2 * GRACE)


class Fork:
    """A fork of the student's process for one question, and how that went.

    ``given_up`` is why there was none. Else it was ``judged``, or the process that
    forks was lost and has been started again. ``killed``: it ended by signal 9.
    """

    forks, holder = True, Host

    def __init__(self, student: StudentProcess, limits: Limits) -> None:
        self.student, self.limits = student, limits
        self.started = self.judged = self.killed = False
        self.given_up: str | None = None
        self._ending: int | None = None

    def __enter__(self) -> Fork:
        self.here, there = socket.socketpair()
        channel = Channel(self.here, self.limits.question_bytes)
        self.link = Link(channel, self.limits, self._ended, self.holder)
        self.link.deadline = min(self.link.deadline, self.student.end + GRACE)
        try:
            self.started = self.student.ask(there.fileno(), fork=self.forks)
            self.given_up = self.student.given_up
        except TimeoutError:  # the student's code no longer reads what is sent
            self._start_again("stop")
        except Closed:
            self._start_again("dead")
        finally:
            there.close()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> bool:
        self.here.close()  # an idle fork ends by itself when it sees this
        if not self.started:
            return False
        lost = kind is not None and issubclass(kind, Lost)
        if not lost:
            try:
                self._end()
                self.judged = kind is None
                if self.link.late:
                    self.student.note_hurry(self.link.deadline)
                return False
            except Lost:
                pass
        self._start_again("dead")
        return lost

    def _start_again(self, word: str) -> None:
        status = self.student.replace(word)
        self.student.start_again(lost=status is None and word == "dead")

    def _end(self) -> int:
        if self._ending is None:
            try:
                self._ending = self.student.end_question()
            except (Closed, TimeoutError):
                raise Lost from None
        return self._ending

    def _ended(self, label: str) -> str:
        """Why the fork no longer answers, in words."""
        who = f"`{label}`" if label else "your code"
        status = self._end()
        self.killed = status == -signal.SIGKILL
        return f"{who} {ending(status, f'{self.limits.question_seconds:g}')}"
