"""Time limits in the sandbox, for cells of a notebook; it also captures program output.

What counts is the processor time of the student's own code. Elapsed time has a limit as
well, several times as long, for code that waits.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any

from autograder.checks.isolation import random_state
from autograder.notebook.cells import STREAMS, Notebook, OutOfTime
from autograder.wall.records import Limits
from autograder.wall.sandbox.limits import bound


class LimitedNotebook(Notebook):
    """The notebook of a submission in the sandbox."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits.output_bytes, limits.figure_bytes)
        self.patience = limits.patience
        self.seconds = limits.cell_seconds
        self.files = [_capture(1), _capture(2)]

    def run_for(
        self, number: int, source: str, seconds: float
    ) -> tuple[list, str | None]:
        """Run a cell for at most ``seconds`` of processor time."""
        self.seconds = seconds
        return self.run(number, source)

    def _flush(self) -> None:
        super()._flush()
        for memory, descriptor, name in zip(self.files, (1, 2), STREAMS, strict=True):
            self._write(name, _drain(memory, descriptor, self.room))

    @contextlib.contextmanager
    def _limits(self) -> Iterator[None]:
        for number in (signal.SIGALRM, signal.SIGPROF):  # a cell may have changed them
            signal.signal(number, self._out_of_time)
        signal.setitimer(signal.ITIMER_PROF, self.seconds, 0.1)
        signal.setitimer(signal.ITIMER_REAL, self.seconds * self.patience)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)

    @contextlib.contextmanager
    def between_cells(self, seconds: float) -> Iterator[None]:
        """Time for a question, of which the cells and their outputs show nothing."""
        before, restore = (sys.stdout, sys.stderr), random_state()
        with open(os.devnull, "w", encoding="utf-8") as null:
            sys.stdout = sys.stderr = null
            self.seconds = seconds
            try:
                with self._limits():
                    yield
            finally:
                sys.stdout, sys.stderr = before
                for memory, descriptor in zip(self.files, (1, 2), strict=True):
                    _drain(memory, descriptor, 0)
                if plt := sys.modules.get("matplotlib.pyplot"):
                    plt.close("all")
                restore()

    def _out_of_time(self, number: int, _: Any) -> None:
        if number == signal.SIGPROF:
            raise OutOfTime(f"the cell ran longer than {self.seconds:g} s")
        raise OutOfTime(
            f"the cell did not finish in {self.seconds * self.patience:g} s"
        )


def _capture(descriptor: int) -> int:
    """Send what programs write to a descriptor to a file in memory."""
    memory = os.memfd_create("output")
    fcntl.fcntl(memory, fcntl.F_SETFL, os.O_APPEND)
    os.dup2(memory, descriptor)
    return memory


def _drain(memory: int, descriptor: int, room: int) -> bytes:
    """What was written; the descriptor works again if the student's code closed it."""
    try:
        os.dup2(memory, descriptor)
        content = os.pread(memory, max(room, 0) + 1, 0)
        if content:
            os.ftruncate(memory, 0)
    except OSError:  # closed by the student's code
        return b""
    return content


def bound_time(seconds: float) -> None:
    """End this process after some processor time, and soon after even if it resists."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    bound(resource.RLIMIT_CPU, math.ceil(seconds) + 1)
