"""Grader of submissions, one at a time: cells in, a transcript of results out.

It starts and ends the warm processes that fork a sandbox and a judge for each.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

from autograder.errors import Closed, NoSandbox, PutOff, Violation
from autograder.wall.backend_choice import best
from autograder.wall.channel import Channel
from autograder.wall.records import Cell, Limits, Transcript, Wall
from autograder.wall.warm_process import WarmProcess


class Grader:
    """Judges submissions. A context manager; not to be shared between threads.

    ``wall`` is what students' code runs behind: by itself, the best that works here.
    While it is ``hurried``, it raises PutOff for a submission that takes long.
    ``abi``: as in a kernel with no more of Landlock than that, for tests.
    """

    def __init__(
        self,
        *,
        wall: Wall | None = None,
        limits: Limits | None = None,
        abi: int | None = None,
    ) -> None:
        self.wall, self.abi, self.limits = wall, abi, limits or Limits()
        self._parents: dict[tuple[str, str], WarmProcess] = {}
        self._busy: WarmProcess | None = None
        self.hurried = False

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        for parent in self._parents.values():
            parent.stop()
        self._parents.clear()
        self._busy = None

    def warm(self, profile: str = "numpy") -> None:
        """Start the warm parents of a profile now rather than when first needed."""
        missing = {}
        self.wall = self.wall or best()
        for kind in ("sandbox", "judge"):
            parent = self._parents.get((kind, profile))
            if parent is not None and parent.process.poll() is None:
                continue
            if parent is not None:
                parent.stop()
            missing[kind, profile] = WarmProcess(
                kind, profile, self.wall, self.abi, self.limits
            )
        self._parents |= missing
        for parent in missing.values():
            parent.wait_until_ready()

    def judge(
        self,
        cells: list[Cell],
        *,
        profile: str = "numpy",
        files: dict[str, bytes] | None = None,
        seconds: float | None = None,
    ) -> Transcript:
        """Run and judge one submission; a cell may run for ``seconds``.

        ``files`` are put beside the notebook, by relative name. When processes end
        without a transcript, all is tried twice more, without shortcuts; then the
        submission is held.
        """
        files = files or {}
        limits = self.limits.of(seconds, files)
        for name in files:
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise ValueError(f"not a relative file name: {name}")
        reason = "the judge stopped without a verdict"
        if not any(cell.inside for cell in cells):
            with contextlib.suppress(Closed, TimeoutError, Violation, NoSandbox):
                return self._judge(cells, profile, files, limits, quick=True)
            self._end_student()
        for _ in range(2):
            try:
                return self._judge(cells, profile, files, limits)
            except (Closed, TimeoutError, Violation):
                logging.getLogger(__name__).exception("a judge stopped")
            except NoSandbox as error:
                reason = str(error)
            self._end_student()
            for kind in ("sandbox", "judge"):  # whoever may hang is started again
                if parent := self._parents.pop((kind, profile), None):
                    parent.process.kill()
                    parent.stop()
        return Transcript(held=reason, wall=self.wall)

    def _judge(
        self,
        cells: list[Cell],
        profile: str,
        files: dict[str, bytes],
        limits: Limits,
        *,
        quick: bool = False,
    ) -> Transcript:
        """The transcript of one judgement; a ``quick`` one takes shortcuts."""
        self.warm(profile)
        here, there = socket.socketpair()
        student = self._start_student(profile, files, limits)
        with contextlib.closing(Channel(here)) as judge, there, student:
            plain = [astuple(cell) for cell in cells]
            haste = (quick, quick and self.hurried)
            request = (plain, astuple(limits), files, *haste)
            self._parents["judge", profile].channel.send(
                request, fds=(there.fileno(), student.fileno())
            )
            there.close()
            student.close()
            question = limits.question_seconds * limits.patience
            seconds = 2 * (limits.total_seconds + question) + 60  # it runs twice
            deadline = time.monotonic() + seconds
            while True:
                message = judge.receive(deadline=deadline)
                if message[0] == "transcript":
                    break
                if message[0] == "put off":
                    self._end_student()
                    raise PutOff
                status = self._end_student(message[1])
                self.warm(profile)
                with self._start_student(profile, files, limits) as student:
                    judge.send((status,), fds=(student.fileno(),))
        self._end_student()
        transcript = Transcript.from_json(message[1])
        transcript.wall = self.wall
        return transcript

    def _start_student(
        self, profile: str, files: dict[str, bytes], limits: Limits
    ) -> socket.socket:
        """Fork a student's process; the socket that the judge talks to it with."""
        self._end_student()
        parent = self._parents["sandbox", profile]
        here, there = socket.socketpair()
        with there:
            more = sum(map(len, files.values()))
            request = (astuple(limits), more)
            parent.channel.send(request, fds=(there.fileno(),))
        self._busy = parent
        return here

    def _end_student(self, word: str = "stop") -> int | None:
        """End the student's process; its status if it ended by itself, else None."""
        parent, self._busy = self._busy, None
        if parent is None:
            return None
        try:
            parent.channel.send(word)
            return parent.channel.receive(deadline=time.monotonic() + 30)
        except (Closed, TimeoutError, OSError):
            return None
