"""The walls, each as a world that a student's process lives in.

The warm parent opens a world and forks students' processes in it; such a process enters
it, locks it behind itself and runs the cells. ``Namespaces`` show it a machine of its
own. Where the kernel forbids them, ``Landlocked`` shuts it out of all that it has no
business with. ``Nothing`` is for those who trust every submission.
"""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
from typing import NoReturn

from autograder.wall.channel import Channel
from autograder.wall.records import Limits, Wall
from autograder.wall.sandbox import (
    family,
    landlock,
    limits,
    namespaces,
    rights,
    seccomp,
    shown,
)
from autograder.wall.sandbox.environment import set_environment

WATCHED_EVERY = 1.0  # seconds


class Nothing:
    """No wall: students' code runs as the user, in a folder of its own."""

    ends_all = False  # what has gone its own way is not found

    def __init__(self, channel: Channel, base: str, abi: int) -> None:
        self.channel, self.base, self.abi = channel, base, abi
        self.folder, self.count = base, 0
        self.student = 0  # the process of the one student that there is at a time

    # ------------------------------------------------------ in the warm parent

    def open(self) -> None:
        """Get ready to fork students' processes, or raise OSError."""

    def fork(self, bounds: Limits, more: int) -> int:
        """Fork a student's process; ``more`` bytes of files go with it."""
        self.bounds, self.more = bounds, more
        self.count += 1
        self.folder = f"{self.base}/{self.count}"
        self.student = self._fork()
        return self.student

    def _fork(self) -> int:
        return os.fork()

    def wait_for_word(self) -> None:
        """Return when the grader says something."""

    def clean(self) -> None:
        """The student's process has ended: leave nothing of it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.student, signal.SIGKILL)
        remove(self.folder)

    def close(self) -> None:
        """The grader is gone."""
        remove(self.base)

    # ------------------------------------------------ in the student's process

    def enter(self) -> None:
        """Take up residence: an empty folder, and no variable of others."""
        os.setsid()
        os.makedirs(f"{self.folder}/tmp", 0o700)
        os.chdir(self.folder)
        set_environment(self.folder, f"{self.folder}/tmp")

    def lock(self) -> None:
        """Give up all rights that students' cells must not have."""
        limits.first_to_end()
        limits.restrict(self.bounds)
        rights.die_with_parent()

    def fork_question(self) -> int:
        """Fork a process that answers a question."""
        return os.fork()

    def enter_question(self) -> None:
        """In that process: keep away from the one it comes from."""

    def end_others(self, child: int | None) -> None:
        """End what the student's code has started, and above all ``child``."""
        if child:
            os.kill(child, signal.SIGKILL)


class Namespaces(Nothing):
    """A world of its own, with nothing in it but Python."""

    ends_all = True

    def open(self) -> None:
        """Enter namespaces, as process 1 of them, and build the tree of files."""
        seccomp.require()
        namespaces.open_world()
        self.channel.send("unshared")
        self.channel.receive()  # the grader has said who is who
        first = os.fork()
        if first:
            self.channel.close()
            _, status = os.waitpid(first, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        rights.die_with_parent()
        namespaces.build_tree()
        set_environment(namespaces.HOME, "/tmp")

    def _fork(self) -> int:
        here, self.there = socket.socketpair()
        with here:
            pid = namespaces.fork_first()
            if pid:
                self.there.close()
                if here.recv(1):
                    namespaces.map_users(pid, nested=True)
                    here.send(b"!")
        return pid

    def clean(self) -> None:
        """Nothing is left when process 1 of its namespaces has ended."""

    def close(self) -> None:
        """Nothing was made outside."""

    def enter(self) -> None:
        """Part with the warm parent."""
        namespaces.close_world(self.bounds, self.more, self._mapped)

    def _mapped(self) -> None:
        self.there.send(b"?")
        if self.there.recv(1) != b"!":
            os._exit(1)
        self.there.close()

    def lock(self) -> None:
        """Limits, rights, system calls; the number of processes is counted inside."""
        limits.restrict(self.bounds)
        rights.give_up()
        limits.bound(resource.RLIMIT_NPROC, self.bounds.processes)
        seccomp.install(seccomp.program(platform.machine(), alone=True))

    def end_others(self, child: int | None) -> None:
        """As process 1, end all others."""
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)


class Landlocked(Nothing):
    """The machine that everybody sees, with nearly all of it shut.

    The warm parent inherits what loses its parent, so it finds every process that a
    student's code has started, and ends it; the runner has to ask for that.
    """

    ends_all = True

    def open(self) -> None:
        """Look for what it takes; leave behind a process that cleans up if need be."""
        if not landlock.abi():
            raise OSError("this kernel has no Landlock")
        if not family.listed():
            raise OSError("this kernel does not list the children of a process")
        seccomp.require()
        shown.readable()  # once for all forks
        rights.adopt_orphans()
        guardian = os.getpid()
        first = os.fork()
        if first:
            self.channel.close()
            os.waitpid(first, 0)
            self.close()
            os._exit(0)
        rights.die_with_parent(signal.SIGTERM)
        signal.signal(signal.SIGTERM, _stop)
        if os.getppid() != guardian:
            sys.exit()
        rights.adopt_orphans()
        rights.hide_memory()

    def close(self) -> None:
        """End all processes and remove all files of students."""
        family.end()
        remove(self.base)

    def _fork(self) -> int:
        self.keeper, there = socket.socketpair()
        pid = os.fork()
        if pid:
            there.close()
        else:
            self.keeper.close()
            self.keeper = there
        return pid

    def wait_for_word(self) -> None:
        """End processes when the runner asks for it, and watch the disk."""
        waiting = [self.channel.socket, self.keeper]
        while True:
            ready, _, _ = select.select(waiting, [], [], WATCHED_EVERY)
            if self.channel.socket in ready:
                return
            if self.keeper in ready and not self._answer():
                waiting.remove(self.keeper)
            if not ready and too_full(self.folder, self.bounds, self.more):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.student, signal.SIGKILL)

    def _answer(self) -> bool:
        """Serve the runner; False when it has hung up."""
        try:
            if not self.keeper.recv(1):
                return False
            family.end(but=self.student)
            self.keeper.send(b".", socket.MSG_DONTWAIT)
        except BlockingIOError:  # it does not read what it has asked for
            return True
        except OSError:
            return False
        return True

    def clean(self) -> None:
        """End what the student's process has left, and remove its folder."""
        self.keeper.close()
        family.end()
        remove(self.folder)

    def enter(self) -> None:
        """An empty folder, and for root's students a user that nobody else is."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        super().enter()
        self.user = rights.given_away(self.folder) if os.geteuid() == 0 else None

    def lock(self) -> None:
        """Limits, rights, files, system calls, in this order."""
        limits.first_to_end()
        limits.restrict(self.bounds)
        scoped = self.abi >= landlock.SCOPES_SINCE
        self.nested = landlock.own_signals(self.folder) if scoped else None
        rules = landlock.everything(self.abi)
        rules.allow(self.folder, landlock.OWN)
        read, listed = shown.readable()
        for path in read:
            rules.allow(path, landlock.READ)
        for path in listed:
            rules.allow(path, landlock.READ_DIR)
        for device in ("/dev/null", "/dev/full"):
            rules.allow(device, landlock.WRITE_FILE | landlock.TRUNCATE)
        if self.user is not None:
            rights.become(self.user, paths=[self.folder, *shown.trees()])
        else:
            rights.give_up()
        self.processes = limits.started_now() + self.bounds.processes
        self._allow(self.processes, self.processes + limits.MORE_THREADS)
        rules.enforce()
        os.close(rules.descriptor)
        calls = seccomp.program(platform.machine(), alone=False, signals=scoped)
        seccomp.install(calls)

    def _allow(self, processes: int, at_most: int) -> None:
        hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        if hard != resource.RLIM_INFINITY:
            at_most = min(at_most, hard)
        limit = min(processes, at_most), at_most
        resource.setrlimit(resource.RLIMIT_NPROC, limit)

    def fork_question(self) -> int:
        """Fork, with room for it though other programs of this user have grown."""
        most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
        self._allow(most, most)
        pid = -1
        try:
            pid = os.fork()
        finally:
            self._allow(self.processes, most if pid else self.processes)
        return pid

    def enter_question(self) -> None:
        """It cannot signal the runner."""
        self.keeper.close()
        if self.nested:
            self.nested.enforce()

    def end_others(self, child: int | None) -> None:
        """Ask the warm parent, which finds all that comes from this process."""
        self.keeper.send(b"?")
        self.keeper.recv(1)


WORLDS: dict[Wall, type[Nothing]] = {
    "namespaces": Namespaces,
    "landlock": Landlocked,
    "none": Nothing,
}


def _stop(*_: object) -> NoReturn:
    sys.exit()


def remove(folder: str) -> None:
    """Remove a folder, whatever a student's code has made of it."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):  # folders closed by their mode, or very deep
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL)


def too_full(folder: str, bounds: Limits, more: int) -> bool:
    """Whether there are more files below than a submission may have, or larger ones."""
    left, files = bounds.disk_bytes + more, bounds.files
    pending = [folder]
    try:
        while pending:
            for entry in os.scandir(pending.pop()):
                with contextlib.suppress(FileNotFoundError):
                    left -= entry.stat(follow_symlinks=False).st_blocks * 512
                files -= 1
                if left < 0 or files < 0:
                    return True
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    except FileNotFoundError:  # changes while we look
        return False
    except OSError:  # a folder that is closed to us
        return True
    return False
