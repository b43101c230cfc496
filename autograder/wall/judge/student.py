"""Supervision of the student's process: it is started again after a crash or a hang.

The new one runs again what had run before. Students' code has a limited number of
crashes; what was killed from outside is tried once more.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from autograder.errors import Closed, Held, Violation
from autograder.explain.locations import Location
from autograder.notebook.exit_reason import ending
from autograder.wall.channel import Channel
from autograder.wall.judge.remote_exceptions import Unsure
from autograder.wall.locations import location_from
from autograder.wall.records import Cell, Limits

GRACE = 2.0  # seconds that the other side has beyond a limit of its own
BRIEF = 2.0  # seconds for what need not be waited for: it is asked again, or was before
GLANCE = 0.5  # for a question that is asked again, and has others waiting behind it
MAX_LOST = 3
Numbered = tuple[int, Cell]


@dataclass(frozen=True)
class Ran:
    """What came of a cell: its outputs, or why there are none."""

    outputs: list[Any] = field(default_factory=list)
    failed: str | None = None  # the type of the exception that stopped it
    place: Location | None = None
    crash: str | None = None  # how the process ended, in words
    skipped: str | None = None  # why it was not run


@dataclass(frozen=True)
class Ended:
    """The student's process has ended, with this exit status.

    None: the grader lost it, by a failure that is not the student's.
    """

    status: int | None
    slow: bool = False


class StudentProcess:
    """Runs cells and forks for questions; started again by the grader when it ends.

    A ``hasty`` one is for a first look: Unsure is raised where it ends or runs long.
    """

    def __init__(
        self,
        grader: Channel,
        channel: Channel,
        limits: Limits,
        files: dict[str, bytes],
        *,
        hasty: bool = False,
    ) -> None:
        self.grader, self.channel, self.files = grader, channel, files
        self.limits, self.hasty = limits, hasty
        self.end = time.monotonic() + limits.total_seconds
        self.ran: list[Numbered] = []  # what a new process has to run again
        self.given_up: str | None = None
        self.timed_out_under_load = False
        self.crashes = self.lost = 0
        self.hunt_started = False  # a check was tried on a function in this sandbox
        self.slow: set[int] = set()  # cells that ran out of time: once is enough
        self._send_files()

    def run(self, number: int, cell: Cell) -> Ran:
        """Run a cell; once more if the process was lost or killed meanwhile."""
        killed = False
        while True:
            self._look_at_the_clock()
            if self.given_up:
                return Ran(skipped=self.given_up)
            came = self._try(number, cell)
            late = isinstance(came, Ran) and came.failed == "OutOfTime"
            if self.hasty and (late or isinstance(came, Ended)):
                raise Unsure
            if isinstance(came, Ran):
                self.ran.append((number, cell))
                if late:
                    self.slow.add(number)
                return came
            if came.status is not None and (killed or came.status != -signal.SIGKILL):
                self.start_again(lost=False)
                return Ran(crash=f"the cell {self.ending(came.status, came.slow)}")
            killed = killed or came.status is not None
            self.start_again(lost=came.status is None)

    def _try(self, number: int, cell: Cell) -> Ran | Ended:
        seconds = self.limits.cell_seconds
        if number in self.slow:
            seconds = min(seconds, BRIEF)
        deadline = min(time.monotonic() + seconds * self.limits.patience, self.end)
        deadline += GRACE
        try:
            request = ("cell", number, cell.source, seconds)
            self.channel.send(request, deadline=deadline)
            reply = self.channel.receive(deadline=deadline)
        except TimeoutError:
            self.note_hurry(deadline)
            self.replace("stop")
            return Ended(-signal.SIGALRM, slow=True)
        except Closed:
            return Ended(self.replace("dead"))
        match reply:
            case (list(outputs), None | str() as failed, place):
                # of processor time, others take nothing away
                waited = time.monotonic() > deadline - GRACE
                self.timed_out_under_load |= failed == "OutOfTime" and waited and busy()
                return Ran(outputs, failed, location_from(place))
        raise Violation("the outputs of a cell were expected")

    def replace(self, word: str) -> int | None:
        """Get an empty process; how the old one ended, None if it was lost."""
        self.channel.close()
        self.grader.send(("restart", word))
        (status,), descriptors = self.grader.receive_with_files(1)
        self.channel = Channel(socket.socket(fileno=descriptors[0]))
        self.hunt_started = False
        return status

    def renewed(self, limits: Limits) -> StudentProcess:
        """An empty process in place of this one, with time of its own."""
        self.replace("stop")
        return StudentProcess(self.grader, self.channel, limits, self.files)

    def start_again(self, *, lost: bool) -> None:
        """Bring the new process to where the old one was: run again what ran before.

        A cell that ends it this time is left out from now on.
        """
        self._count(lost)
        self._catch_up()

    def renew(self, ran: list[Numbered] | None = None) -> None:
        """A new process in a new sandbox, where the same cells have run, or these."""
        self.replace("stop")
        self.ran = self.ran if ran is None else list(ran)
        self._catch_up()

    def _catch_up(self) -> None:
        while not self.given_up:
            self._send_files()
            broken = self._replay()
            if broken is None:
                return
            cell, ended = broken
            if ended.status is not None:
                self.ran.remove(cell)
            self._count(ended.status is None)

    def _replay(self) -> tuple[Numbered, Ended] | None:
        for number, cell in self.ran:
            came = self._try(number, cell)
            if isinstance(came, Ended):
                return (number, cell), came
        return None

    def _count(self, lost: bool) -> None:
        self.lost += lost
        self.crashes += not lost
        if self.lost > MAX_LOST:
            raise Held("The sandbox stopped several times.")
        if self.crashes > self.limits.crashes:
            self.given_up = "the notebook crashed too often"

    def _send_files(self) -> None:
        try:
            self.channel.send(("files", self.files), deadline=time.monotonic() + 60)
        except (Closed, TimeoutError):  # the next request meets it again
            return

    def _look_at_the_clock(self) -> None:
        if time.monotonic() > self.end and not self.given_up:
            self.timed_out_under_load |= busy()
            total = f"{self.limits.total_seconds:g}"
            self.given_up = f"the notebook ran longer than {total} s in total"

    # --------------------------------------------------------------- questions

    def ask(self, descriptor: int, request: tuple) -> bool:
        """Have the process or a fork answer a question; False if there is none."""
        self._look_at_the_clock()
        if self.given_up:
            return False
        deadline = time.monotonic() + GRACE
        self.channel.send(request, deadline=deadline, fds=(descriptor,))
        return True

    def end_question(self) -> int:
        """Have all that the question started killed; how its fork had ended."""
        deadline = time.monotonic() + 10 * self.limits.patience
        self.channel.send(("end",), deadline=deadline)
        reply = self.channel.receive(deadline=deadline)
        if type(reply) is not int:
            raise Violation("the exit status of a process was expected")
        return reply

    def note_hurry(self, deadline: float) -> None:
        """Remember a limit that may have been reached for want of a free processor.

        Or because this process itself was stopped, and saw its deadline pass late.
        """
        self.timed_out_under_load |= busy() or time.monotonic() > deadline + 1

    def ending(self, status: int, slow: bool = False) -> str:
        """In words, how a process ended."""
        seconds = f"{self.limits.cell_seconds:g}"
        if slow:
            return f"ran longer than {seconds} s and did not stop"
        return ending(status, seconds)


def busy() -> bool:
    """Whether more processes want to run here than there are processors."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)
