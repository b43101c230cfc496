"""The student's process: process 1 of the sandbox, a fork of a warm parent.

It runs the cells it is sent. For each question it forks, so that a crash or a hang in
one question costs that question alone.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import getstate, setstate

from autograder.errors import Closed
from autograder.notebook.running import seed
from autograder.wall.channel import Channel
from autograder.wall.records import Limits
from autograder.wall.sandbox import answers, namespaces, seccomp
from autograder.wall.sandbox.clock import LimitedNotebook, bound_time


def main(
    channel: Channel, limits: Limits, mapped: Callable[[], None] | None, more: int
) -> None:
    """Take up residence in the sandbox and serve; without ``mapped``, without one."""
    sandboxed = mapped is not None
    if mapped is not None:
        namespaces.close_world(limits, more, mapped)
    else:
        os.setsid()
        folder = Path(f"/tmp/autograder-{os.getpid()}")
        folder.mkdir(0o700)
        os.chdir(folder)
        set_environment(str(folder))
    sys.path.append(os.getcwd())  # last: a file called random.py shadows nothing
    runner = Runner(channel, limits)  # its files in memory come before the filter
    namespaces.restrict(limits)
    if sandboxed:
        namespaces.lock()
        namespaces.restrict_processes(limits)
        seccomp.install()
    else:
        namespaces.die_with_parent()
    seed()
    runner.serve()


class Runner:
    """Serves the judge's requests: files, cells, questions."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self.channel, self.limits = channel, limits
        self.notebook = LimitedNotebook(limits)
        self.child: int | None = None

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
                self._fork(files[0])
            elif what == "end":
                self.channel.send(self._end())

    def _cell(self, number: int, source: str, seconds: float) -> None:
        """Run a cell; a few files stay in reserve for what comes after it."""
        own, (_, most) = os.getpid(), resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most - 16, most))
        outputs, failed = self.notebook.run_for(number, source, seconds)
        if os.getpid() != own:  # a fork that came back
            os._exit(0)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        place = self.notebook.place
        where = place and (place.cell, place.line, place.start, place.end)
        self.channel.send((outputs, failed, where))

    def _fork(self, descriptor: int) -> None:
        """Leave the question to a child, which sees all that the cells have made."""
        state = getstate()
        try:
            self.child = os.fork()
        except OSError:  # too many processes are left from the cells
            _kill_all_others()
            self.child = os.fork()
        if self.child:
            os.close(descriptor)
            return
        try:
            self.channel.close()
            namespaces.die_with_parent()
            setstate(state)  # Python seeds this generator anew in every fork
            bound_time(self.limits.question_seconds)
            answers.hush()
            question = Channel(socket.socket(fileno=descriptor))
            notebook = self.notebook
            answers.serve(question, notebook.names, notebook.defined())
        finally:
            os._exit(0)

    def _end(self) -> int:
        """End the question and all it has started; how its process ended."""
        if self.child is None:
            return 0
        # a child that ended on its own has a status to tell; give it a moment
        pid = status = 0
        for wait in (0, 0.0005, 0.0005, 0.001, 0.002, 0.004, 0.01, 0.04):
            time.sleep(wait)
            pid, status, used = os.wait4(self.child, os.WNOHANG)
            if pid:
                break
        if not pid:
            os.kill(self.child, signal.SIGKILL)
            _, status, _ = os.wait4(self.child, 0)
        _kill_all_others()
        self.child = None
        ending = os.waitstatus_to_exitcode(status)
        if pid and ending == -signal.SIGKILL:  # by the hard limit of its time?
            seconds = used.ru_utime + used.ru_stime
            if seconds >= self.limits.question_seconds:
                return -signal.SIGXCPU
        return ending


def _kill_all_others() -> None:
    """End what the student's code has started, and nothing outside the sandbox."""
    if os.getpid() != 1:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _write(files: dict[str, bytes]) -> None:
    """Put the files of the assignment into the working folder."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def set_environment(home: str) -> None:
    """The variables that a student's code sees, and no other."""
    os.environ.clear()
    os.environ |= {
        "HOME": home,
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "MPLBACKEND": "agg",
        **ONE_THREAD,
    }


ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
}
