"""Fallback: test cells run in the student's process, as in nbgrader, in the sandbox.

It is for assignments of other courses, whose tests do what proxies cannot serve. Points
then rest on what the student's process says, which is less safe. What students get to
read is made here, from the instructor's text and from the place of a failure, which
comes as numbers; no text of the student's process does.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from autograder.checks.failures import CheckFailed
from autograder.notebook.test_cells import Failed, offline, why_missing
from autograder.text import printable
from autograder.wall.judge import outputs
from autograder.wall.judge.redaction import HIDDEN, TestText, is_written, readable
from autograder.wall.judge.remote_exceptions import ERRORS
from autograder.wall.judge.student import Ran, StudentProcess
from autograder.wall.records import Cell, Limits, QuestionResult

UNDEFINED = re.compile(r"name '(\w{1,100})' is not defined")


class Inside:
    """Runs a submission with its test cells, from top to bottom, in one process."""

    def __init__(
        self, student: StudentProcess, cells: list[Cell], limits: Limits
    ) -> None:
        self.student, self.room = student, outputs.Room(limits)
        self.cells = dict(enumerate(cells, 1))
        self.failed: list[Failed] = []

    def results(self) -> dict[str, QuestionResult]:
        """The verdict on each question."""
        return {result.id: result for result in self._results()}

    def _results(self) -> Iterator[QuestionResult]:
        for number, cell in self.cells.items():
            start = time.monotonic()
            ran = self.student.run(number, cell)
            if cell.test is None:
                self._remember(number, cell, ran)
                continue
            score, message = self._judged(number, cell, ran)
            seconds = round(time.monotonic() - start, 3)
            yield QuestionResult(
                cell.test, score, cell.max_score, message, None, seconds
            )

    def _remember(self, number: int, cell: Cell, ran: Ran) -> None:
        """A student's cell that failed may be why a test finds no name."""
        if reason := ran.crash or ran.failed:
            shown = printable(reason, 60) + offline(reason)
            self.failed.append(Failed(number, cell.source, shown, ran.place))

    def _judged(self, number: int, cell: Cell, ran: Ran) -> tuple[float, str | None]:
        """Points and message of a test cell that ran."""
        if ran.skipped:
            return 0.0, f"not judged: {ran.skipped}"
        if ran.crash:
            return 0.0, str(CheckFailed(ran.crash.replace("the cell", "your code", 1)))
        found, _ = outputs.reported(ran.outputs, number, self.room)
        if ran.failed is not None:
            return 0.0, printable(self._message(number, ran, found), 4000)
        return points(found, cell.max_score), None

    def _message(self, number: int, ran: Ran, found: list[dict[str, Any]]) -> str:
        """What stopped a test cell, in words that are ours or the instructor's."""
        kind = ran.failed if ran.failed in ERRORS else "an exception"
        if kind == "NotImplementedError":
            return "no answer yet"
        if ran.failed == "OutOfTime":
            return str(CheckFailed("your code did not finish in time"))
        place = ran.place
        own = self.cells.get(place.cell) if place else None
        if kind == "NameError" and (name := self._undefined(found)):
            return str(CheckFailed(why_missing(name, [], self.failed)))
        if place is None or own is None:
            return str(CheckFailed(f"your code raised {kind}"))
        text = TestText.of(own)
        if own.test is None:
            where = printable(place.described(own.source), 400)
            return str(CheckFailed(f"your code raised {kind}", place=where))
        if kind == "AssertionError" or ran.failed not in ERRORS:  # pytest's own
            return str(CheckFailed(text.check(place.line)))
        if not text.is_shown(place.line):
            return str(CheckFailed(f"{HIDDEN}: it ended with {kind}"))
        where = printable(place.described(own.source).partition("\n")[2].strip(), 400)
        return str(CheckFailed(f"the test ended with {kind}", place=where))

    def _undefined(self, found: list[dict[str, Any]]) -> str | None:
        """The name that was missed, if students can read it in their notebook."""
        errors = [o for o in found if o["output_type"] == "error"]
        match = UNDEFINED.search(errors[-1]["evalue"]) if errors else None
        if match and is_written(match[1], readable(self.cells.values())):
            return match[1]
        return None


def points(found: list[dict[str, Any]], most: float) -> float:
    """nbgrader's rule for a test cell without an error: a number is partial credit.

    Anything else is full credit. What is below zero or not a number gives nothing, and
    nothing gives more than there is.
    """
    for output in found:
        if output["output_type"] == "execute_result":
            try:
                value = float(output["data"]["text/plain"])
            except ValueError:
                return most
            return min(value, most) if value >= 0 else 0.0
    return most
