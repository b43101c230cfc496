"""Back ends of the sandbox: namespaces, Landlock, or none; one interface for all.

A warm process opens one and forks students' processes in it; such a process enters it,
gives up its rights and runs the cells. ``Namespaces`` show it a machine of its own.
Where the kernel forbids them, ``landlocked.Landlocked`` restricts what it can reach.
``NoWall`` is for those who trust every submission.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket

from autograder.wall.channel import Channel
from autograder.wall.records import Limits
from autograder.wall.sandbox import limits, namespaces, privileges, seccomp
from autograder.wall.sandbox.environment import set_environment
from autograder.wall.sandbox.workdir import remove


class Backend:
    """Base class of the walls: a folder for each process, and no protection.

    Students' code runs as the user; a wall overrides what it does better.
    """

    ends_all = False  # whether processes that left their group are found and killed

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
        """Clean up when the grader has ended."""
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
        privileges.die_with_parent()

    def fork_question(self) -> int:
        """Fork a process that answers a question."""
        return os.fork()

    def enter_question(self) -> None:
        """In that process: give up the means to signal the one it comes from."""

    def end_others(self, child: int | None) -> None:
        """End what the student's code has started, and above all ``child``."""
        if child:
            os.kill(child, signal.SIGKILL)


class NoWall(Backend):
    """No isolation: the base class as it is."""


class Namespaces(Backend):
    """Isolation by Linux namespaces: its own files, with Python and nothing else."""

    ends_all = True

    def open(self) -> None:
        """Enter namespaces, as process 1 of them, and build the tree of files."""
        self.calls = seccomp.tried(alone=True)
        namespaces.open_world()
        self.channel.send("unshared")
        self.channel.receive()  # the grader has said who is who
        first = os.fork()
        if first:
            self.channel.close()
            _, status = os.waitpid(first, 0)
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
        privileges.die_with_parent()
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
        """Part with the warm parent, whose group a signal could reach from inside."""
        os.setsid()
        namespaces.close_world(self.bounds, self.more, self._mapped)

    def _mapped(self) -> None:
        self.there.send(b"?")
        if self.there.recv(1) != b"!":
            os._exit(1)
        self.there.close()

    def lock(self) -> None:
        """Limits, rights, system calls; the number of processes is counted inside."""
        limits.restrict(self.bounds)
        privileges.give_up()
        limits.bound(resource.RLIMIT_NPROC, self.bounds.processes)
        seccomp.install(self.calls)

    def end_others(self, child: int | None) -> None:
        """As process 1, end all others."""
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
