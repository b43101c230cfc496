"""Processes that answer questions: a fork for one question, or the student's own.

It also says how each of them ended.
"""

from __future__ import annotations

import signal
import socket
from typing import Any

from autograder.errors import Closed
from autograder.notebook.exit_reason import ending
from autograder.wall.channel import Channel
from autograder.wall.judge.hunt_host import Host, InProcess
from autograder.wall.judge.remote import Link
from autograder.wall.judge.remote_exceptions import Lost, Unsure
from autograder.wall.judge.student import GRACE, StudentProcess
from autograder.wall.records import Limits

OUT_OF_TIME = (-signal.SIGPROF, -signal.SIGXCPU)


class Fork:
    """A fork of the student's process for one question, and how that went.

    ``given_up`` is why there was none. Else it was ``judged``, or the process that
    forks was lost and has been started again. ``killed``: it ended by signal 9;
    ``late``: it reached its limit of time. ``apart``: it tries a student's check in
    forks of its own, one for each function.
    """

    what, apart, holder = "question", True, Host

    def __init__(self, student: StudentProcess, limits: Limits) -> None:
        self.student, self.limits = student, limits
        self.started = self.judged = self.killed = self.late = False
        self.given_up: str | None = None
        self._ending: int | None = None

    def __enter__(self) -> Fork:
        self.here, there = socket.socketpair()
        channel = Channel(self.here, self.limits.question_bytes)
        self.link = Link(channel, self.limits, self._ended, self.holder)
        self.link.deadline = min(self.link.deadline, self.student.end + GRACE)
        seconds = self.limits.question_seconds
        try:
            request = (self.what, seconds, self.apart)
            self.started = self.student.ask(there.fileno(), request)
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
                self.late = self._end() in OUT_OF_TIME or self.link.late
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


class Together(Fork):
    """A fork that tries a student's check on all functions itself."""

    apart, holder = False, InProcess

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> bool:
        lost = super().__exit__(kind, *rest)
        if not self.judged or self.link.stopped:
            raise Unsure
        return lost


class InPlace(Fork):
    """The student's process itself, for one question: it forks for none."""

    what, apart, holder = "here", False, InProcess

    def __enter__(self) -> Fork:
        super().__enter__()
        if not self.started:
            raise Unsure
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> bool:
        if self.link.stopped or kind is not None:  # it may hang, and ends as a whole
            self.here.close()
            raise Unsure
        return super().__exit__(kind, *rest)

    def _start_again(self, word: str) -> None:
        raise Unsure
