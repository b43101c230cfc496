"""Helper process of the judge: calls the functions that students' tests are tried on.

Such functions are the instructor's, but what they are called with comes from students,
and could be meant to use up a machine. So they run in a fork with limits of its own.
Plain data goes in and out; the functions themselves never leave it.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import socket
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.checks.isolation import random_state, seed
from autograder.checks.planted import Planted
from autograder.errors import Closed, Violation
from autograder.wall.channel import Channel
from autograder.wall.records import Limits
from autograder.wall.sandbox.privileges import die_with_parent
from autograder.wall.wire import decode, encode, no_handles

MAX_WARNINGS = 20
MOST_FILES = 4096
ASK = encode(("ask",), no_handles)[1:]  # how such a frame goes on after its length
Reply = tuple[str, Any, Any, list[tuple[str, str]]]
LOST: Reply = ("raised", "RuntimeError", None, [])


class Host:
    """The judge's handle: starts the process when it is needed, and again if lost."""

    at_once = False  # all trials: a fork could leave an answer to the next one

    def __init__(self, functions: list[Any], limits: Limits) -> None:
        self.functions, self.limits = functions, limits
        self.pid: int | None = None
        self.index = 0

    def begin(self, index: int, deadline: float) -> None:
        """From now on it is about this function."""
        self.index = index
        if self.pid is not None:
            self._exchange(("begin", index), deadline)

    def answer(self, frame: memoryview, deadline: float) -> Reply:
        """What comes of a student's call; of any other request, an error."""
        if self.pid is None:
            self._start()
            self._exchange(("begin", self.index), deadline)
        try:
            request = decode(frame, no_handles)
        except Violation:
            return LOST
        return self._exchange(request, deadline) or LOST

    def _exchange(self, request: tuple, deadline: float) -> Any:
        try:
            self.channel.send(request, deadline=deadline)
            return self.channel.receive(deadline=deadline)
        except (Closed, TimeoutError, Violation):
            self.close()
            return None

    def _start(self) -> None:
        here, there = socket.socketpair()
        self.pid = os.fork()
        if self.pid:
            there.close()
            self.channel = Channel(here)
            return
        try:
            die_with_parent()
            os.closerange(3, there.fileno())
            os.closerange(there.fileno() + 1, MOST_FILES)
            restrict(self.limits)
            serve(Channel(there), self.functions)
        finally:
            os._exit(0)

    def close(self) -> None:
        """End the process."""
        if self.pid is None:
            return
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.pid = None


class InProcess(Host):
    """Calls the functions in this process, which has the limits of the other one.

    Where it reaches them it ends, and another judge does without.
    """

    at_once = True

    def __init__(self, functions: list[Any], limits: Limits) -> None:
        super().__init__(functions, limits)
        self.restore, self.release = random_state(), restrict(limits)

    def begin(self, index: int, deadline: float) -> None:
        """From now on it is about this function."""
        self.planted = Planted(self.functions[index])
        seed()

    def answer(self, frame: memoryview, deadline: float) -> Reply:
        """What comes of a student's call; of any other request, an error."""
        try:
            return reply_to(self.planted, frame)
        except (Violation, ValueError, TypeError):
            return LOST

    def close(self) -> None:
        """Put random numbers and limits back to where they were before."""
        self.restore()
        self.release()


def restrict(limits: Limits) -> Callable[[], None]:
    """Limit the resources of all calls of one question together; what undoes it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    undo = contextlib.ExitStack()
    for kind, most in (
        (resource.RLIMIT_AS, pages * resource.getpagesize() + limits.memory_bytes),
        (resource.RLIMIT_CPU, math.ceil(time.process_time() + limits.question_seconds)),
        (resource.RLIMIT_CORE, 0),
    ):
        before = resource.getrlimit(kind)
        undo.callback(resource.setrlimit, kind, before)
        resource.setrlimit(kind, (most, before[1]))
    return undo.close


def serve(channel: Channel, functions: list[Any]) -> None:
    """Answer until the judge hangs up."""
    planted = Planted(None)
    while True:
        try:
            frame = channel.frame()
        except Closed:
            return
        if not asks(frame):
            planted = Planted(functions[decode(frame, no_handles)[1]])
            seed()
            channel.send(("ok", None, None, []))
            continue
        try:
            channel.send(reply_to(planted, frame))
        except (Violation, ValueError):  # a result that is no data, or too large
            channel.send(LOST)


def asks(frame: memoryview) -> bool:
    """Whether a message is a call of the function that a student's test is tried on."""
    return frame[1 : 1 + len(ASK)] == ASK


def reply_to(planted: Planted, frame: memoryview) -> Reply:
    """How one operation went: its value or the type of an exception, the arguments
    where they changed, and the warnings."""
    ask, operation, *parts = decode(frame, no_handles)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            status, value = "ok", planted.do(operation, *parts)
        except BaseException as error:
            # its text could tell the functions apart
            status, value = "raised", type(error).__name__
    after = encode((ask, operation, *parts), no_handles)
    changed = parts if frame != after else None
    said = [(w.category.__name__, str(w.message)) for w in seen[:MAX_WARNINGS]]
    return status, value, changed, said
