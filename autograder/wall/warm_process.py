"""Handle of a warm process, which forks sandboxes or judges: starts and stops it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder import registry
from autograder.errors import Closed, NoSandbox
from autograder.wall.channel import Channel
from autograder.wall.records import Limits, Wall
from autograder.wall.sandbox import cgroups, landlock, namespaces
from autograder.wall.sandbox.environment import NO_DEVICE, ONE_THREAD

ROOT = str(Path(__file__).resolve().parents[2])
START = (
    "import os, sys; sys.path.insert(0, {root!r}); "
    "from autograder import registry; registry.work_on({course!r}); "
    "from autograder.wall import fork_server; del sys.path[0]; "
    "fork_server.main({kind!r}, {profile!r}, {wall!r}, {folder!r}, {group!r}, {abi}, "
    "{descriptor}); "
    "os._exit(0)"  # without half a second of taking libraries apart
)
START_SECONDS = 120
# A fork copies the table of the parent's pages. Objects on large pages make it short:
# a parent with torch forks in 4 ms instead of 11.
LARGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
# A set of words has the same order in every run, so that verdicts can be repeated.
SAME_ORDER = {"PYTHONHASHSEED": "0"}


class WarmProcess:
    """A warm parent, seen from the grader."""

    def __init__(
        self,
        kind: str,
        profile: str,
        wall: Wall,
        abi: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.kind, self.profile, self.wall = kind, profile, wall
        self.group = cgroups.new(limits) if limits and kind == "sandbox" else None
        self.folder = ""
        if kind == "sandbox" and wall != "namespaces":  # where students' folders go
            self.folder = tempfile.mkdtemp(prefix="autograder-")
            os.chmod(self.folder, 0o711)  # root's students are other users
        here, there = socket.socketpair()
        code = START.format(
            root=ROOT,
            course=os.environ.get(registry.OWN),
            kind=kind,
            profile=profile,
            wall=wall,
            folder=self.folder,
            group=str(self.group or ""),
            abi=landlock.abi() if abi is None else abi,
            descriptor=there.fileno(),
        )
        self.process = subprocess.Popen(
            # alone with its own environment: no user's site, no current folder
            [sys.executable, "-s", "-P", "-c", code],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            env={
                "PATH": os.defpath,
                "HOME": os.path.expanduser("~"),
                **ONE_THREAD,
                **NO_DEVICE,
                **LARGE_PAGES,
                **(SAME_ORDER if kind == "sandbox" else {}),
            },
        )
        there.close()
        self.channel = Channel(here)

    def wait_until_ready(self) -> None:
        """Introduce the users of the namespaces, and wait for the imports."""
        deadline = time.monotonic() + START_SECONDS
        try:
            while (word := self.channel.receive(deadline=deadline)) != "ready":
                if word != "unshared":
                    raise NoSandbox(word)
                namespaces.map_users(self.process.pid)
                self.channel.send("mapped")
        except (Closed, TimeoutError):
            raise NoSandbox(f"the warm parent ({self.kind}) did not start") from None

    def stop(self) -> None:
        """End it, and with it all that it has forked."""
        self.channel.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        cgroups.remove(self.group)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
