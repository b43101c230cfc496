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
from random import getstate, seed, setstate
from typing import Any

from autograder.wall import answers, namespaces, seccomp
from autograder.wall.cells import Notebook
from autograder.wall.channel import Channel, Closed
from autograder.wall.records import Limits


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
    _seed()
    runner.serve()


class Runner:
    """Serves the judge's requests: files, cells, questions."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self.channel, self.limits = channel, limits
        self.notebook = Notebook(limits)
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

    def _cell(self, name: str, source: str, seconds: float) -> None:
        """Run a cell; a few files stay in reserve for what comes after it."""
        own, (_, most) = os.getpid(), resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most - 16, most))
        reply = self.notebook.run(name, source, seconds)
        if os.getpid() != own:  # a fork that came back
            os._exit(0)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.channel.send(reply)

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
            answers.hush()
            question = Channel(socket.socket(fileno=descriptor))
            answers.serve(question, self.notebook.names)
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
            pid, status = os.waitpid(self.child, os.WNOHANG)
            if pid:
                break
        if not pid:
            os.kill(self.child, signal.SIGKILL)
            _, status = os.waitpid(self.child, 0)
        _kill_all_others()
        self.child = None
        return os.waitstatus_to_exitcode(status)


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


def _seed() -> None:
    """Unseeded random numbers are the same in every run: verdicts can be repeated."""
    modules: dict[str, Any] = sys.modules
    seed(0)
    if numpy := modules.get("numpy"):
        numpy.random.seed(0)
    if torch := modules.get("torch"):
        # torch.manual_seed would also prepare the seeds of devices that are not there
        torch.default_generator.manual_seed(0)
