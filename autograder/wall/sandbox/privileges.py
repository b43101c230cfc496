"""Privileges of a process: drops capabilities, changes user, dies with its parent."""

from __future__ import annotations

import os
import signal
import struct

from autograder.wall.sandbox.libc import done, libc

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS = 1, 4, 8
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
CAPABILITIES = struct.pack("Ii", 0x20080522, 0)  # version 3, of this process
PASS_THROUGH = 1 << 2  # CAP_DAC_READ_SEARCH
NOBODY = 65534
FIRST_USER = 1 << 30  # far from those that people and services have


def _prctl(option: int, value: int) -> None:
    done(libc.prctl(option, value, 0, 0, 0), "prctl")


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """The kernel signals this process when the one that forked it is gone."""
    _prctl(PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """What comes from this process and loses its parent gets this one."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """No other process of this user can read or trace this one."""
    _prctl(PR_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Undo :func:`hide_memory`."""
    _prctl(PR_SET_DUMPABLE, 1)


def give_up(kept: int = 0) -> None:
    """Give up every right there is left, but for ``kept`` capabilities, for good."""
    capability = 0
    while libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    sets = struct.pack("6I", kept, kept, 0, 0, 0, 0)
    done(libc.capset(CAPABILITIES, sets), "capset")
    hide_memory()
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    die_with_parent()  # a change of user clears it


def given_away(folder: str) -> int:
    """Give a folder and its own to a user that no other process has; who that is."""
    for user in (FIRST_USER + os.getpid(), NOBODY):
        try:
            for path, _, _ in os.walk(folder):
                os.chown(path, user, user)
        except OSError:  # such a user is not known in this container
            continue
        return user
    raise OSError("root cannot become another user here")


def become(user: int, paths: list[str]) -> None:
    """Root becomes a user without rights.

    Where that user cannot reach one of ``paths``, such as an environment in root's
    home, it keeps the right to pass through closed folders; other walls hide the rest.
    """
    _prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    give_up(0 if all(os.access(path, os.R_OK) for path in paths) else PASS_THROUGH)
