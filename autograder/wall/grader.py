"""The grader owns the warm parents and hands them submissions, one at a time."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

from autograder.errors import Closed, NoSandbox, Violation
from autograder.wall.channel import Channel
from autograder.wall.records import Cell, Limits, Transcript, Wall
from autograder.wall.sandbox import landlock, namespaces
from autograder.wall.sandbox.environment import NO_DEVICE, ONE_THREAD

ROOT = str(Path(__file__).resolve().parents[2])
START = (
    "import os, sys; sys.path.insert(0, {root!r}); "
    "from autograder.wall import zygote; del sys.path[0]; "
    "zygote.main({kind!r}, {profile!r}, {wall!r}, {folder!r}, {abi}, {descriptor}); "
    "os._exit(0)"  # without half a second of taking libraries apart
)
START_SECONDS = 120
# A fork copies the table of the parent's pages. Objects on large pages make it short:
# a parent with torch forks in 4 ms instead of 11.
LARGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
# A set of words has the same order in every run, so that verdicts can be repeated.
SAME_ORDER = {"PYTHONHASHSEED": "0"}


class Parent:
    """A warm parent, seen from the grader."""

    def __init__(
        self, kind: str, profile: str, wall: Wall, abi: int | None = None
    ) -> None:
        self.kind, self.profile, self.wall = kind, profile, wall
        self.folder = ""
        if kind == "sandbox" and wall != "namespaces":  # where students' folders go
            self.folder = tempfile.mkdtemp(prefix="autograder-")
            os.chmod(self.folder, 0o711)  # root's students are other users
        here, there = socket.socketpair()
        code = START.format(
            root=ROOT,
            kind=kind,
            profile=profile,
            wall=wall,
            folder=self.folder,
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
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


class Grader:
    """Judges submissions. A context manager; not to be shared between threads.

    ``wall`` is what students' code runs behind: by itself, the best that works here.
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
        self._parents: dict[tuple[str, str], Parent] = {}
        self._busy: Parent | None = None

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
            missing[kind, profile] = Parent(kind, profile, self.wall, self.abi)
        self._parents |= missing
        for parent in missing.values():
            parent.wait_until_ready()

    def judge(
        self,
        cells: list[Cell],
        *,
        profile: str = "numpy",
        files: dict[str, bytes] | None = None,
    ) -> Transcript:
        """Run and judge one submission.

        ``files`` are put beside the notebook, by relative name. When processes end
        without a transcript, all is tried once more; then the submission is held.
        """
        for name in files or {}:
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise ValueError(f"not a relative file name: {name}")
        reason = "the judge stopped without a verdict"
        for _ in range(2):
            try:
                return self._judge(cells, profile, files or {})
            except (Closed, TimeoutError, Violation):
                logging.getLogger(__name__).exception("a judge stopped")
            except NoSandbox as error:
                reason = str(error)
            self._end_student()
            for kind in ("sandbox", "judge"):  # whoever may hang is started anew
                if parent := self._parents.pop((kind, profile), None):
                    parent.process.kill()
                    parent.stop()
        return Transcript(held=reason, wall=self.wall)

    def _judge(
        self, cells: list[Cell], profile: str, files: dict[str, bytes]
    ) -> Transcript:
        self.warm(profile)
        here, there = socket.socketpair()
        student = self._start_student(profile, files)
        with contextlib.closing(Channel(here)) as judge, there, student:
            request = ([astuple(cell) for cell in cells], astuple(self.limits), files)
            self._parents["judge", profile].channel.send(
                request, fds=(there.fileno(), student.fileno())
            )
            there.close()
            student.close()
            question = self.limits.question_seconds * self.limits.patience
            runs = 2 if any(cell.inside for cell in cells) else 1
            seconds = runs * self.limits.total_seconds + 2 * question + 60
            deadline = time.monotonic() + seconds
            while True:
                message = judge.receive(deadline=deadline)
                if message[0] == "transcript":
                    break
                status = self._end_student(message[1])
                self.warm(profile)
                with self._start_student(profile, files) as student:
                    judge.send((status,), fds=(student.fileno(),))
        self._end_student()
        transcript = Transcript.from_json(message[1])
        transcript.wall = self.wall
        return transcript

    def _start_student(self, profile: str, files: dict[str, bytes]) -> socket.socket:
        """Fork a student's process; the socket that the judge talks to it with."""
        self._end_student()
        parent = self._parents["sandbox", profile]
        here, there = socket.socketpair()
        with there:
            more = sum(map(len, files.values()))
            request = (astuple(self.limits), more)
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


@cache
def best() -> Wall:
    """The wall that students' code is put behind here, or NoSandbox."""
    try:
        try_wall("namespaces")
        return "namespaces"
    except NoSandbox as no_namespaces:
        try:
            try_wall("landlock")
            return "landlock"
        except NoSandbox as no_landlock:
            raise NoSandbox(_advice(str(no_namespaces), str(no_landlock))) from None


def try_wall(wall: Wall) -> None:
    """Build a wall and take it down again; NoSandbox if it does not stand here."""
    parent = Parent("sandbox", "none", wall)
    try:
        parent.wait_until_ready()
    except OSError as error:
        raise NoSandbox(str(error)) from None
    finally:
        parent.stop()


def available() -> str | None:
    """None if a wall works here, else a sentence: why not, and what to do."""
    if sys.platform != "linux":
        return (
            f"{platform.system()} has neither user namespaces nor Landlock, which the "
            "sandbox is made of. Grade in a Linux virtual machine or container, or "
            "with --no-sandbox if you trust every submission."
        )
    try:
        best()
    except NoSandbox as error:
        return str(error)
    return None


def _advice(error: str, second: str) -> str:
    """What to do on this Linux, by the settings that forbid namespaces."""
    reason = (
        f"Linux does not let this user create namespaces here ({error}), and without "
        f"them there is no sandbox either ({second}). "
    )
    otherwise = " Or grade with --no-sandbox if you trust every submission."
    for setting, forbidding, remedy in (
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "On Ubuntu, an administrator allows them with "
            "`sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`.",
        ),
        (
            "kernel/unprivileged_userns_clone",
            "0",
            "On Debian, an administrator allows them with "
            "`sudo sysctl kernel.unprivileged_userns_clone=1`.",
        ),
        (
            "user/max_user_namespaces",
            "0",
            "An administrator allows them with "
            "`sudo sysctl user.max_user_namespaces=10000`.",
        ),
    ):
        with contextlib.suppress(OSError):
            if Path("/proc/sys", setting).read_text().strip() == forbidding:
                return reason + remedy + otherwise
    return (
        reason
        + "In a container, its seccomp profile is the usual reason: start it with "
        "`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, "
        "or grade outside it." + otherwise
    )
