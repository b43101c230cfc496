"""The judge: decides about points, in a process where student code never runs.

One judge per submission. It sends the student's cells to the sandbox in order, and
runs the instructor's cells itself: names that the student has defined stand for remote
objects there, and everything else is the judge's own.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import math
import re
import signal
import socket
import sys
import time
from typing import Any

from autograder.checks.question import CheckFailed, nearest, told
from autograder.wall import outputs
from autograder.wall.channel import Channel, Closed
from autograder.wall.records import Cell, Limits, Result, Transcript, printable
from autograder.wall.remote import Link, Lost, Stopped, named
from autograder.wall.wire import Violation

GRACE = 2.0  # seconds that the other side has beyond a limit of its own
MAX_LOST = 3


class Crashed(Exception):
    """The student's process ended, or did not stop, while it ran a cell."""


class GiveUp(Exception):
    """The rest of the submission cannot be run; the text says why."""


class Held(Exception):
    """Nothing can be decided; the text says why."""


def main(
    grader: Channel,
    student: Channel,
    cells: list[Cell],
    limits: Limits,
    files: dict[str, bytes],
) -> None:
    """Judge one submission and send the transcript to the grader."""
    judge = Judge(grader, student, limits, files)
    transcript = judge.judge(cells)
    grader.send(("transcript", transcript.to_json()))


class Judge:
    """Runs the cells of one submission."""

    def __init__(
        self, grader: Channel, student: Channel, limits: Limits, files: dict[str, bytes]
    ) -> None:
        self.grader, self.student = grader, student
        self.limits, self.files = limits, files
        self.end = time.monotonic() + limits.total_seconds
        self.transcript = Transcript()
        self.room = outputs.Room(limits)
        self.names = _Names(self._own_names(), __name__="judge")
        self.ran: list[tuple[int, Cell]] = []  # what a new sandbox has to run again
        self.failed: list[tuple[int, Cell, str]] = []
        self.given_up: str | None = None
        self.crashes = self.lost = 0

    def judge(self, cells: list[Cell]) -> Transcript:
        """Run all cells in order; what cannot be judged is held, with the reason."""
        number = 0
        try:
            self._send_files()
            for cell in cells:
                if cell.test is None:
                    number += 1
                    self._student_cell(number, cell)
                else:
                    self._test_cell(cell)
        except Violation as violation:
            self.transcript.held = f"the sandbox was broken into: {violation}"
        except Held as held:
            self.transcript.held = str(held)
        return self.transcript

    @staticmethod
    def _own_names() -> dict[str, Any]:
        modules = {"np": "numpy", "numpy": "numpy", "torch": "torch", "math": "math"}
        return {n: sys.modules[m] for n, m in modules.items() if m in sys.modules}

    # ------------------------------------------------------- student cells

    def _student_cell(self, number: int, cell: Cell) -> None:
        kept = self.transcript.outputs
        if self.given_up:
            kept[cell.key] = [outputs.stream("stderr", f"not run: {self.given_up}\n")]
            return
        try:
            found, failed = self._run(number, cell)
        except Crashed as crash:
            kept[cell.key] = [outputs.error("Stopped", str(crash), [str(crash)])]
            self.failed.append((number, cell, str(crash)))
            with contextlib.suppress(GiveUp):
                self._restart()
            return
        except GiveUp:
            return self._student_cell(number, cell)
        self.ran.append((number, cell))
        if failed is not None:
            self.failed.append((number, cell, printable(failed, 60)))
        kept[cell.key], notes = outputs.reported(found, number, self.room)
        self.transcript.notes += [f"cell {number}: {note}" for note in notes]

    def _run(self, number: int, cell: Cell) -> tuple[Any, str | None]:
        """Have a cell run in the sandbox; again in a new one if that one was lost.

        Also once more if it was killed: that may have been for want of memory on this
        machine, which is no fault of the student's.
        """
        killed = False
        while True:
            left = self.end - time.monotonic()
            if left <= 0:
                self._give_up()
            seconds = min(self.limits.cell_seconds, left)
            deadline = time.monotonic() + seconds + GRACE
            try:
                request = ("cell", f"cell {number}", cell.source, seconds)
                self.student.send(request, deadline=deadline)
                reply = self.student.receive(deadline=deadline)
            except TimeoutError:
                self._new_sandbox("stop")
                text = f"the cell ran longer than {seconds:g} s and did not stop"
                raise Crashed(text) from None
            except Closed:
                status = self._new_sandbox()
                if status is not None and (killed or status != -signal.SIGKILL):
                    raise Crashed(f"the cell {_ending(status)}") from None
                killed = killed or status is not None
                self._restart(lost=status is None)
                continue
            match reply:
                case (list(found), None | str() as failed):
                    return found, failed
            raise Violation("the outputs of a cell were due")

    def _new_sandbox(self, word: str = "dead") -> int | None:
        """Get an empty sandbox; how the old one ended, None if it was lost."""
        self.student.close()
        self.grader.send(("restart", word))
        (status,), descriptors = self.grader.receive_with_files(1)
        self.student = Channel(socket.socket(fileno=descriptors[0]))
        return status

    def _restart(self, lost: bool = False) -> None:
        """Bring a new sandbox to where the old one was: run again what ran before."""
        self.lost += lost
        self.crashes += not lost
        if self.lost > MAX_LOST:
            raise Held("the sandbox was lost several times")
        if self.crashes > self.limits.crashes:
            self._give_up("the notebook crashed too often")
        self._send_files()
        for number, cell in list(self.ran):
            try:
                self._run(number, cell)
            except Crashed:  # this time only; without it, then
                self.ran.remove((number, cell))
                return self._restart()

    def _send_files(self) -> None:
        deadline = time.monotonic() + 60
        try:
            self.student.send(("files", self.files), deadline=deadline)
        except (Closed, TimeoutError):  # the next request meets it again
            return

    def _give_up(self, reason: str | None = None) -> None:
        total = f"{self.limits.total_seconds:g}"
        self.given_up = reason or f"the notebook ran longer than {total} s in total"
        raise GiveUp(self.given_up)

    # ----------------------------------------------------------- questions

    def _test_cell(self, cell: Cell) -> None:
        start = time.monotonic()
        found: list[dict[str, Any]] = []
        result = Result(cell.test or "", 0.0, cell.max_score)
        try:
            found, score, message, misconception = self._question(cell)
            result.score, result.misconception = score, misconception
            result.message = message
        except GiveUp as reason:
            result.message = f"not judged: {reason}"
            found = [outputs.error("Stopped", str(reason), [result.message])]
        result.seconds = round(time.monotonic() - start, 3)
        self.transcript.outputs[cell.key] = found
        self.transcript.results[result.id] = result

    def _question(self, cell: Cell) -> tuple[list, float, str | None, str | None]:
        """Fork the sandbox and run the instructor's cell against the fork.

        As with cells, a fork that was killed gets a second try.
        """
        tries = 2
        while True:
            if self.given_up is None and time.monotonic() > self.end:
                with contextlib.suppress(GiveUp):
                    self._give_up()
            if self.given_up is not None:
                raise GiveUp(self.given_up)
            here, there = socket.socketpair()
            self.ending: int | None = None
            self.killed = False
            link = Link(Channel(here), self.limits, self._ended)
            link.deadline = min(link.deadline, self.end + GRACE)
            try:
                deadline = time.monotonic() + GRACE
                files = (there.fileno(),)
                self.student.send(("question",), deadline=deadline, fds=files)
                there.close()
                verdict = self._verdict(cell, link)
                here.close()  # an idle fork ends by itself when it sees this
                self._end_question()
                if link.violation:
                    raise Violation(link.violation)
                tries -= 1
                if not (self.killed and tries):
                    return verdict
            except TimeoutError:  # the student's code no longer reads what is sent
                self._new_sandbox("stop")
                self._restart()
            except (Lost, Closed):
                if self._new_sandbox() is None:
                    self._restart(lost=True)
                else:
                    self._restart()
            finally:
                here.close()

    def _end_question(self) -> int:
        """Have the fork and all it started killed; how it had ended."""
        if self.ending is None:
            try:
                deadline = time.monotonic() + 10
                self.student.send(("end",), deadline=deadline)
                reply = self.student.receive(deadline=deadline)
            except (Closed, TimeoutError):
                raise Lost from None
            if type(reply) is not int:
                raise Violation("how a process ended was due")
            self.ending = reply
        return self.ending

    def _ended(self, label: str) -> str:
        who = f"`{label}`" if label else "your code"
        ending = self._end_question()
        self.killed = ending == -signal.SIGKILL
        return f"{who} {_ending(ending)}"

    def _verdict(
        self, cell: Cell, link: Link
    ) -> tuple[list, float, str | None, str | None]:
        """Outputs, points, message and misconception of one question."""
        self.names.student = _Student(link, self.failed)
        printed = io.StringIO()
        found: list[dict[str, Any]] = []
        value: Any = None
        message = misconception = None
        self._start_clock()
        try:
            link.greet()
            with contextlib.redirect_stdout(printed):
                value = _value(cell, self.names)
            score, message, misconception = _points(cell, value)
        except (Exception, SystemExit) as error:
            if isinstance(error, Held):
                raise
            score, failure = 0.0, _failure(error)
            message = printable(str(failure), 4000)
            misconception = failure.misconception and failure.misconception.id
            found = [outputs.error("CheckFailed", message, message.split("\n"))]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if isinstance(value, float):
            found.append(outputs.result(repr(score), None))
        if text := printed.getvalue():
            text = printable(text, self.limits.output_bytes)
            found.insert(0, outputs.stream("stdout", text))
        return found, score, message, misconception

    def _start_clock(self) -> None:
        """A check that hangs by itself is stopped; one that resists is ended."""

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, 10)
            seconds = self.limits.question_seconds
            raise Stopped(f"the check was not done after {seconds:g} s")

        signal.signal(signal.SIGALRM, stop)
        seconds = self.limits.question_seconds + 2 * GRACE
        signal.setitimer(signal.ITIMER_REAL, seconds)


class _Names(dict):
    """The names of a test cell: the judge's own first, then the student's."""

    student: _Student

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)  # Python looks there next
        return self.student.find(name)


class _Student:
    """Finds the student's names, and says what is wrong where one is missing."""

    def __init__(self, link: Link, failed: list[tuple[int, Cell, str]]) -> None:
        self.link, self.failed = link, failed
        self.found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        if name not in self.found:
            if name not in self.link.names:
                raise Stopped(self._missing(name))
            value = named(self.link, name)
            if type(value).__name__ == "module":
                raise Held(f"the test uses the module `{name}` without importing it")
            self.found[name] = value
        return self.found[name]

    def _missing(self, name: str) -> str:
        defined = rf"^[ \t]*(def|class)[ \t]+{name}\b|^{name}[ \t]*="
        definition = re.compile(defined, re.MULTILINE)
        for number, cell, reason in self.failed:
            if definition.search(cell.source):
                return f"`{name}` is missing, because cell {number} failed: {reason}"
        sentence = f"no cell defines `{name}`"
        if close := nearest(name, self.link.names):
            sentence += f"; did you mean `{name}` where you wrote `{close}`?"
        return printable(sentence, 200)


def _value(cell: Cell, names: _Names) -> Any:
    """Run an instructor's cell; the value of its last line, if it has one."""
    tree = ast.parse(cell.source, cell.test or "test")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    # without the __future__ of this file
    exec(compile(tree, f"<{cell.test}>", "exec", dont_inherit=True), names, names)
    if last is None:
        return None
    code = compile(last, f"<{cell.test}>", "eval", dont_inherit=True)
    return eval(code, names, names)


def _points(cell: Cell, value: Any) -> tuple[float, str | None, str | None]:
    """What the value of a test cell says: nothing is full points, a float the score."""
    if value is None:
        return cell.max_score, None, None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Held(f"{cell.test} ends with a {type(value).__name__}, not with points")
    score = 0.0 if math.isnan(value) else min(max(float(value), 0.0), cell.max_score)
    message = getattr(value, "message", None)
    misconception = getattr(value, "misconception", None)
    return (
        score,
        message and printable(message, 4000),
        getattr(misconception, "id", None),
    )


def _failure(error: BaseException) -> CheckFailed:
    """What stopped a test cell, as a failed check."""
    if isinstance(error, CheckFailed):
        return error
    if type(error) is AssertionError:  # a cell with plain asserts; its own text
        return CheckFailed(str(error) or "a check of this question does not hold")
    return told(error, hidden=True)


def _ending(status: int) -> str:
    """In words, how a process ended."""
    if status >= 0:
        return f"ended the program (exit code {status})"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = "unknown"
    if -status == signal.SIGKILL:
        return "was stopped (signal 9); perhaps it used too much memory"
    if -status == signal.SIGXCPU:
        return "used too much processor time"
    return f"crashed (signal {-status}, {name})"
