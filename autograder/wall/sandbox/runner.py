"""The student's process in the sandbox: runs cells, and answers the judge's questions.

It is a fork of a warm process. For each question it forks, so that a crash or a hang
costs that question alone, except in the first run, where all is thought to be right.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from random import getstate, setstate

from autograder.checks.isolation import seed
from autograder.errors import Closed
from autograder.notebook import threads
from autograder.wall.channel import Channel
from autograder.wall.locations import parts_of
from autograder.wall.sandbox import request_handler
from autograder.wall.sandbox.backends import Backend
from autograder.wall.sandbox.privileges import die_with_parent
from autograder.wall.sandbox.time_limits import LimitedNotebook, bound_time


def main(channel: Channel, backend: Backend) -> None:
    """Take up residence behind the wall and serve."""
    backend.enter()
    sys.path.append(os.getcwd())  # last: a file called random.py shadows nothing
    runner = Runner(channel, backend)  # its files in memory come before the filter
    backend.lock()
    seed()
    runner.serve()


class Runner:
    """Serves the judge's requests: files, cells, questions."""

    def __init__(self, channel: Channel, backend: Backend) -> None:
        self.channel, self.backend, self.limits = channel, backend, backend.bounds
        self.notebook = LimitedNotebook(self.limits)
        self.child: int | None = None
        self.seconds = 0.0  # of the question that it answers

    def serve(self) -> None:
        """Do what the judge asks until it hangs up."""
        while True:
            try:
                (what, *parts), files = self.channel.receive_with_files(1)
            except Closed:
                return
            if what == "files":
                _write(parts[0])
            elif what == "cell":
                self._cell(*parts)
            elif what == "question":
                self.seconds, apart = parts
                self._fork(files[0], apart)
            elif what == "here":
                self._here(files[0], parts[0])
            elif what == "end":
                self.channel.send(self._end())

    def _cell(self, number: int, source: str, seconds: float) -> None:
        """Run a cell; a few files stay in reserve for what comes after it."""
        own, (_, most) = os.getpid(), resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most - 16, most))
        outputs, failed = self.notebook.run_for(number, source, seconds)
        if os.getpid() != own:  # a fork that came back
            os._exit(0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # children have a status to tell
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.channel.send((outputs, failed, parts_of(self.notebook.place)))

    def _fork(self, descriptor: int, forks: bool) -> None:
        """Leave the question to a child, which sees all that the cells have made."""
        state = getstate()
        threads.before_fork()
        try:
            self.child = self.backend.fork_question()
        except OSError:  # too many processes are left from the cells
            self.backend.end_others(None)
            self._take_leave()
            self.child = self.backend.fork_question()
        if self.child:
            os.close(descriptor)
            return
        try:
            self.channel.close()
            die_with_parent()
            self.backend.enter_question()
            setstate(state)  # Python seeds this generator again in every fork
            bound_time(self.seconds)
            request_handler.hush()
            threads.after_fork()
            question = Channel(socket.socket(fileno=descriptor))
            notebook = self.notebook
            request_handler.serve(
                question, notebook.names, notebook.defined(), forks=forks
            )
        finally:
            os._exit(0)

    def _here(self, descriptor: int, seconds: float) -> None:
        """Answer a question in this process; what goes wrong ends it.

        With threads it is for a fork, which has none: so what earns points does not
        depend on the other questions, and `check`, which forks, says the same.
        """
        if threads.running():
            os._exit(1)
        notebook, own = self.notebook, os.getpid()
        with contextlib.closing(Channel(socket.socket(fileno=descriptor))) as question:
            try:
                with notebook.between_cells(seconds):
                    request_handler.serve(
                        question, notebook.names, notebook.defined(), forks=False
                    )
            except BaseException:
                os._exit(1)
        if os.getpid() != own:
            os._exit(0)

    def _end(self) -> int:
        """End the question and all it has started; how its process ended."""
        if self.child is None:  # it was answered here
            self.backend.end_others(None)
            self._take_leave()
            return 0
        # a child that ended on its own has a status to tell; give it a moment
        pid = status = 0
        for wait in (0, 0.0005, 0.0005, 0.001, 0.002, 0.004, 0.01, 0.04):
            time.sleep(wait)
            pid, status, used = os.wait4(self.child, os.WNOHANG)
            if pid:
                break
        self.backend.end_others(None if pid else self.child)
        if not pid:
            _, status, _ = os.wait4(self.child, 0)
        self._take_leave()
        self.child = None
        ending = os.waitstatus_to_exitcode(status)
        if pid and ending == -signal.SIGKILL:  # by the hard limit of its time?
            seconds = used.ru_utime + used.ru_stime
            if seconds >= self.seconds:
                return -signal.SIGXCPU
        return ending

    def _take_leave(self) -> None:
        """Of all children that have ended."""
        wait = 0 if self.backend.ends_all else os.WNOHANG
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, wait)[0]:
                continue


def _write(files: dict[str, bytes]) -> None:
    """Put the course's files and then the student's into the working folder.

    Of a student's, one may have the name of a folder: it is left out.
    """
    for name, content in files.items():
        path = Path(name)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
