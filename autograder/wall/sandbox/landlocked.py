"""Sandbox back end without namespaces: Landlock, seccomp, and killing of orphans."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import NoReturn

from autograder.wall.sandbox import (
    landlock,
    limits,
    privileges,
    process_tree,
    readable_paths,
    seccomp,
)
from autograder.wall.sandbox.backends import Backend
from autograder.wall.sandbox.workdir import free, remove, runs_out, too_full

WATCHED_EVERY = 1.0  # seconds


class Landlocked(Backend):
    """Isolation by Landlock: the machine as it is, with nearly everything forbidden.

    The warm parent is the subreaper: a process whose parent has ended becomes its
    child. So it finds every process that a student's code has started, and kills it.
    The runner has to ask for that.
    """

    ends_all = True

    def open(self) -> None:
        """Look for what it takes; leave behind a process that cleans up if need be."""
        if not landlock.abi():
            raise OSError("this kernel has no Landlock")
        if not process_tree.listed():
            raise OSError("this kernel does not list the children of a process")
        self.scoped = self.abi >= landlock.SCOPES_SINCE
        self.calls = seccomp.tried(alone=False, signals=self.scoped)
        readable_paths.readable()  # once for all forks
        privileges.adopt_orphans()
        guardian = os.getpid()
        first = os.fork()
        if first:
            self.channel.close()
            os.waitpid(first, 0)
            self.close()
            os._exit(0)
        privileges.die_with_parent(signal.SIGTERM)
        signal.signal(signal.SIGTERM, _stop)
        if os.getppid() != guardian:
            sys.exit()
        privileges.adopt_orphans()
        privileges.hide_memory()

    def close(self) -> None:
        """End all processes and remove all files of students."""
        process_tree.end()
        remove(self.base)

    def _fork(self) -> int:
        self.keeper, there = socket.socketpair()
        # what is raised while Python forks is lost, the word to stop too
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        pid = os.fork()
        if pid:
            there.close()
        else:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self.keeper.close()
            self.keeper = there
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return pid

    def wait_for_word(self) -> None:
        """End processes when the runner asks for it, and watch the disk meanwhile."""
        waiting = [self.channel.socket, self.keeper]
        disk = os.path.dirname(self.base)
        look, before = time.monotonic() + WATCHED_EVERY, free(disk)
        while True:
            left = max(look - time.monotonic(), 0.0)
            ready, _, _ = select.select(waiting, [], [], left)
            if self.channel.socket in ready:
                return
            if self.keeper in ready and not self._answer():
                waiting.remove(self.keeper)
            if time.monotonic() < look:
                continue
            full = too_full(self.folder, self.bounds, self.more)
            if full or runs_out(disk, before):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.student, signal.SIGKILL)
            look = time.monotonic() + WATCHED_EVERY

    def _answer(self) -> bool:
        """Serve the runner; False when it has hung up."""
        try:
            if not self.keeper.recv(1):
                return False
            process_tree.end(but=self.student)
            self.keeper.send(b".", socket.MSG_DONTWAIT)
        except BlockingIOError:  # it does not read what it has asked for
            return True
        except OSError:
            return False
        return True

    def clean(self) -> None:
        """End what the student's process has left, and remove its folder."""
        self.keeper.close()
        process_tree.end()
        remove(self.folder)

    def enter(self) -> None:
        """An empty folder, and for root's students a user id of their own."""
        super().enter()
        self.user = privileges.given_away(self.folder) if os.geteuid() == 0 else None

    def lock(self) -> None:
        """Limits, rights, files, system calls, in this order."""
        limits.first_to_end()
        limits.restrict(self.bounds)
        self.nested = landlock.own_signals(self.folder) if self.scoped else None
        rules = landlock.everything(self.abi)
        rules.allow(self.folder, landlock.OWN)
        read, listed = readable_paths.readable()
        for path in read:
            rules.allow(path, landlock.READ)
        for path in listed:
            rules.allow(path, landlock.READ_DIR)
        for device in ("/dev/null", "/dev/full"):
            rules.allow(device, landlock.WRITE_FILE | landlock.TRUNCATE)
        if self.user is not None:
            privileges.become(self.user, paths=[self.folder, *readable_paths.trees()])
        else:
            privileges.give_up()
        self.processes = limits.started_now() + self.bounds.processes
        self._allow(self.processes, self.processes + limits.MORE_THREADS)
        rules.enforce()
        os.close(rules.descriptor)
        seccomp.install(self.calls)

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


def _stop(*_: object) -> NoReturn:
    sys.exit()
