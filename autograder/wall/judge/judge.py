"""The judge: decides about points, in a process where student code never runs.

One judge per submission. It has the sandbox run the student's cells in order, and runs
the instructor's cells itself: names that the student has defined stand for proxies of
objects in the sandbox, and everything else is the judge's own.

A submission runs twice, each time in a sandbox of its own.

1. *In place.* The student's process answers the questions itself, in order, as long as
   each gets all its points. Nobody gains by that: to disturb a question, or to help it,
   there are only the calls of earlier ones, and these were right. So what passes up to
   the first question that loses points has passed. This one, and all after it, may have
   been disturbed, and count for nothing yet. Students' own tests are tried on functions
   at the end of this run, when no question is asked any more (``trials``).
2. *In forks.* The cells run again, and what students see comes from here, since below
   a question an output could tell what it asked. Each question that is still open has
   a fork of the student's process. At the end the tests of students are tried again,
   in a sandbox that met no function before.

When all is right, nothing is shown below a question, and no test is to be tried, the
first run is enough. Whoever ends it, by a crash or for want of time, has the second.
Where others wait, what takes long is put off: the same begins again after them.
"""

from __future__ import annotations

import contextlib
import gc
import io
import math
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.checks.failures import Misconception
from autograder.checks.planted import Planting, Verdict
from autograder.checks.question import unexplained
from autograder.errors import Held, PutOff, Violation
from autograder.notebook.test_cells import (
    Failed,
    TestNames,
    explained,
    reason,
    value_of,
)
from autograder.text import printable
from autograder.wall.channel import Channel
from autograder.wall.judge import outputs
from autograder.wall.judge.forks import Fork, InPlace, Together
from autograder.wall.judge.helpers import (
    UNANSWERED,
    helpers,
    is_hunt,
    judged_with,
    question_of,
)
from autograder.wall.judge.redaction import failure_of, readable
from autograder.wall.judge.remote import Link
from autograder.wall.judge.remote_exceptions import Lost, Stopped, Unsure
from autograder.wall.judge.student import BRIEF, GLANCE, GRACE, StudentProcess
from autograder.wall.judge.student_names import Answers
from autograder.wall.judge.tests_inside import Inside
from autograder.wall.judge.trials import (
    LOST,
    MOST_SANDBOXES,
    UNSTEADY,
    Trials,
    said,
)
from autograder.wall.records import Cell, Limits, QuestionResult, Transcript

MAX_MESSAGE = 4000
SHARE = 0.2  # of the time that a submission has in all, for the first run


def main(
    grader: Channel,
    student: Channel,
    cells: list[Cell],
    limits: Limits,
    files: dict[str, bytes],
    quick: bool,
    hurried: bool,
) -> None:
    """Judge one submission and send the transcript to the grader.

    With ``quick`` there is the first run, in place; else only forks. When ``hurried``,
    only tell that it takes long, if it does: others are waiting.
    """
    first = shorter(limits, BRIEF, GLANCE) if quick else limits
    process = StudentProcess(grader, student, first, files, hasty=quick)
    if quick:
        gc.disable()  # it ends soon
        process.end = time.monotonic() + SHARE * limits.total_seconds
    try:
        transcript = Judge(process, limits, hurried).judge(cells)
    except PutOff:
        grader.send(("put off",))
    else:
        grader.send(("transcript", transcript.to_json()))


def shorter(limits: Limits, cell: float, question: float) -> Limits:
    """Limits with no more seconds than these for a cell and for a question."""
    return replace(
        limits,
        cell_seconds=min(cell, limits.cell_seconds),
        question_seconds=min(question, limits.question_seconds),
    )


class NotJudged(Exception):
    """A question cannot be asked; the text says why, and is its message."""


class Judge:
    """Decides about the questions of one submission."""

    def __init__(
        self, student: StudentProcess, limits: Limits, hurried: bool = False
    ) -> None:
        self.student, self.limits, self.hurried = student, limits, hurried
        self.transcript = Transcript()
        self.room = outputs.Room(limits)
        self.names = TestNames(lambda name: None)
        self.sources: dict[int, str] = {}
        self.failed: list[Failed] = []
        self.lost: set[str] = set()  # questions without all their points
        self.slow: set[str] = set()  # those of them that ran out of time
        self.cells: list[Cell] = []
        self.trials: Trials
        self.hunts: dict[str | None, Trials] = {}  # by question
        self.tests: dict[str, Cell] = {}  # by the names of their files

    def judge(self, cells: list[Cell]) -> Transcript:
        """Run all cells in order; what cannot be judged is held, with the reason."""
        self.cells = cells
        try:
            if not self.student.hasty:
                self._run()
            elif not self._run_in_place():
                self._start_over()
                self._run()
            if any(cell.inside for cell in cells):
                # again: what students see comes from the run above, without the tests
                self.transcript.timed_out_under_load = self.student.timed_out_under_load
                self.student = self.student.renewed(self.limits)
                inside = Inside(self.student, cells, self.limits)
                self.transcript.results |= inside.results()
        except Violation as violation:
            self.transcript.held = f"the sandbox was broken into: {violation}"
        except Held as held:
            self.transcript.held = str(held)
        self.transcript.timed_out_under_load |= self.student.timed_out_under_load
        return self.transcript

    def _run_in_place(self) -> bool:
        """The first run; whether it is enough.

        After a question that loses points, only students' tests are looked for.
        """
        hunts = [n for n, cell in enumerate(self.cells, 1) if is_hunt(cell)]
        tests = [n for n, cell in enumerate(self.cells, 1) if cell.test]
        end, passed = tests[-1] if hunts else len(self.cells), True
        start = time.monotonic()
        try:
            for number, cell in enumerate(self.cells, 1):
                if number > end:
                    break
                if cell.test is None:
                    self._student_cell(number, cell)
                elif passed or number in hunts:
                    full = self._test_cell(cell, InPlace)
                    if passed and not full:
                        passed, end = False, max(hunts, default=0)
            for trials in self.hunts.values():
                self._try_all(trials, InPlace)
        except (Unsure, NotJudged, Held, Violation, Lost):
            if self.hurried and time.monotonic() - start > GLANCE:
                raise PutOff from None
            return False
        return passed and not self.hunts and not self._shown()

    def _shown(self) -> bool:
        """Whether there is an output of a cell below a question."""
        first = next((n for n, cell in enumerate(self.cells) if cell.test), None)
        below = self.cells[first:] if first is not None else []
        return any(self.transcript.outputs.get(cell.key) for cell in below)

    def _start_over(self) -> None:
        """The first run has ended: forget all but what has passed."""
        limits = self.limits
        if self.hurried:
            limits = shorter(limits, limits.cell_seconds, GLANCE)
        self.student = self.student.renewed(limits)
        self.room, self.failed, self.sources = outputs.Room(self.limits), [], {}
        self.transcript.outputs, self.transcript.notes = {}, []

    def _run(self) -> None:
        """The second run, with forks for what is open."""
        for number, cell in enumerate(self.cells, 1):
            if cell.test is None:
                self._student_cell(number, cell)
            elif trials := self.hunts.get(cell.test):
                trials.ran = list(self.student.ran)
            elif not cell.inside and cell.test not in self.transcript.results:
                self._test_cell(cell, Fork)
        for trials in self.hunts.values():
            start = time.monotonic()
            self._judged(trials.cell, start, self._hunted(trials))

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

    def _test_cell(self, cell: Cell, way: type[Fork]) -> bool:
        """Ask a question; False where it loses points.

        In place, that says nothing yet, and all points say all.
        """
        start = time.monotonic()
        self.tests[f"<{cell.test}>"] = cell
        self.trials = Trials(cell, list(self.student.ran))
        if way is InPlace:
            with unexplained():
                result = self._asked(cell, way=way)
        else:
            result = self._followed(cell)
        if self.trials.due:  # when all other questions are judged
            self.hunts[cell.test] = self.trials
        elif result.full or way is not InPlace:
            self._judged(cell, start, result)
        return result.full

    def _judged(self, cell: Cell, start: float, result: QuestionResult) -> None:
        """Note what came of a question."""
        if not result.full:
            self.lost.add(question_of(cell))
        seconds = round(time.monotonic() - start, 3)
        self.transcript.results[result.id] = replace(result, seconds=seconds)

    def _hunted(self, trials: Trials) -> QuestionResult:
        """The result of a question whose answer is a test that the student wrote."""
        try:
            if trials.result and self._agrees(trials, trials.result):
                return trials.result
            trials.verdicts, trials.result = [], None
            result = self._try_all(trials, Fork)
        except NotJudged as why:
            return nothing(trials.cell, str(why))
        halves = trials.plantings if result.score else []
        if not all(self._repeats(trials, [[half]], Fork) for half in halves):
            return nothing(trials.cell, UNSTEADY)
        return result

    def _try_all(self, trials: Trials, way: type[Fork]) -> QuestionResult:
        """Try a student's test on all functions, and ask its question with that."""
        self.trials = trials
        result = nothing(trials.cell, LOST)
        while trials.due:
            trials.verdicts = self._tried(trials, [trials.plantings], way)
            result = self._asked(trials.cell, way=way)
        trials.result = result
        return result

    def _tried(
        self, trials: Trials, groups: list[list[Planting]], way: type[Fork]
    ) -> list[list[Verdict]]:
        """Verdicts of a student's test on some functions, in a fresh sandbox.

        That is a sandbox in which the same cells ran, and no check met a function.
        """

        def found(link: Link) -> list[list[Verdict]] | None:
            if self.student.hunt_started:  # it was killed, and this is another try
                return None
            self.student.hunt_started = True
            return trials.found(link, groups)

        for _ in range(MOST_SANDBOXES):
            if self.student.hunt_started or self.student.ran != trials.ran:
                self.student.renew(trials.ran)
            if (came := self._forked(found, way)) is not None:
                return came
        raise NotJudged(LOST)

    def _agrees(self, trials: Trials, result: QuestionResult) -> bool:
        """Whether what a test said in one process can be relied on.

        It says the same of the hidden half where it has met no other: so what it knows
        of that, it does not know from the visible one. If it lost points, it also says
        the same of all functions in another order, and where a function is the first.
        """
        *others, hidden = trials.plantings
        try:
            if result.full:
                return self._repeats(trials, [[hidden]], InPlace)
            if not self._repeats(trials, [[hidden], others], Together):
                return False
            doubtful, before = trials.costly()
            again = self._forked(lambda link: trials.found(link, [[doubtful]]))
        except Unsure:
            return False
        return said(again) == said([before])

    def _repeats(
        self, trials: Trials, groups: list[list[Planting]], way: type[Fork]
    ) -> bool:
        """Whether a test says the same again of some functions."""
        groups = [group for group in groups if group]
        try:
            found = self._tried(trials, groups, way)
        except NotJudged:
            return False
        return said(found) == said([trials.of_planting(p) for g in groups for p in g])

    def _followed(self, cell: Cell) -> QuestionResult:
        """The result with right code in place of earlier answers that lost points."""
        given = {}
        if self.lost:
            given = {name: text for name, text in helpers(cell) if name in self.lost}

        def ask(link: Link) -> tuple[QuestionResult, QuestionResult | None, list[str]]:
            if not given:
                return self._result(cell, link, {}), None, []
            with unexplained() as short:
                result = self._result(cell, link, {})
                if result.full or link.stopped:
                    return result, None, short
                # what passes now has passed; what does not may have been disturbed
                again = self._result(cell, link, given)
            return result, again if again.full else None, short

        # for a helper that never ends, one question has waited
        limits = self.student.limits
        if self.slow & given.keys():
            limits = shorter(limits, BRIEF, BRIEF)
        try:
            result, again, short = self._forked(ask, limits=limits)
        except NotJudged as why:
            return nothing(cell, str(why))
        if result.full or not given:
            return result
        again = again or self._asked(cell, given)
        fewer = (again.score or 0.0) < (result.score or 0.0)
        if fewer or UNANSWERED in (again.message or ""):
            return self._asked(cell) if short else result
        message = judged_with(given, again.full)
        if again.message:
            message = f"{message}\n{again.message}"
        return replace(again, message=message)

    def _asked(
        self,
        cell: Cell,
        given: dict[str, str] | None = None,
        way: type[Fork] = Fork,
    ) -> QuestionResult:
        """Run the instructor's cell against a fork of the student's process."""
        try:
            return self._forked(lambda link: self._result(cell, link, given or {}), way)
        except NotJudged as why:
            return nothing(cell, str(why))

    def _forked(
        self,
        ask: Callable[[Link], Any],
        way: type[Fork] = Fork,
        limits: Limits | None = None,
    ) -> Any:
        """Ask in a fork of the student's process; NotJudged if there is none.

        As with cells, a fork that was killed gets a second try.
        """
        tries = 2
        while True:
            with way(self.student, limits or self.student.limits) as fork:
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
                if fork.late and self.hurried:
                    raise PutOff
                if fork.late:
                    self.slow.add(question_of(self.trials.cell))
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
            link.hello()
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
            link.release()

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
