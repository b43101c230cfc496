"""Binding to Landlock, by which a Linux process restricts its own access to files.

An ordinary process may do it, also in containers that forbid namespaces. What a version
of the kernel can restrict is its ABI: 1 files, 3 truncation, 4 connections, 6 signals
and abstract sockets.
"""

from __future__ import annotations

import os
import stat
import struct
from functools import cache

from autograder.wall.sandbox.libc import done, libc

# the same numbers on every architecture
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION, PATH_BENEATH = 1, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
MAKE_CHAR, MAKE_BLOCK, REFER, TRUNCATE, IOCTL = 64, 2048, 8192, 16384, 32768
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
EVERY = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}  # rights, since which ABI
READ = EXECUTE | READ_FILE | READ_DIR
OWN = EVERY[5] & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL)  # in a folder of its own
CONNECTIONS, CONNECTIONS_SINCE = 3, 4  # bind and connect of TCP
SCOPES, SCOPES_SINCE, SIGNALS = 3, 6, 2  # abstract sockets, signals


@cache
def abi() -> int:
    """What this kernel has of Landlock; 0 if nothing."""
    return max(libc.syscall(CREATE_RULESET, None, 0, VERSION), 0)


class Rules:
    """A set of rules; what they do not allow is forbidden once they are enforced."""

    def __init__(self, rights: int, connections: int = 0, scopes: int = 0) -> None:
        self.rights = rights
        asked = struct.pack("QQQ", rights, connections, scopes)
        while asked.endswith(bytes(8)):  # what an older kernel does not know
            asked = asked[:-8]
        made = libc.syscall(CREATE_RULESET, asked, len(asked), 0)
        self.descriptor = done(made, "landlock_create_ruleset")

    def allow(self, path: str, rights: int) -> None:
        """Allow ``rights`` on a file, or on a folder and all below."""
        where = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(where).st_mode):
                rights &= OF_FILES
            rule = struct.pack("=Qi", rights & self.rights, where)
            made = libc.syscall(ADD_RULE, self.descriptor, PATH_BENEATH, rule, 0)
            done(made, f"landlock_add_rule {path}")
        finally:
            os.close(where)

    def enforce(self) -> None:
        """Keep to the rules from now on; all that this process forks does, too."""
        made = libc.syscall(RESTRICT_SELF, self.descriptor, 0)
        done(made, "landlock_restrict_self")


def everything(version: int) -> Rules:
    """Rules that forbid all that a version of Landlock can forbid."""
    rights = EVERY[max(since for since in EVERY if since <= version)]
    return Rules(
        rights,
        CONNECTIONS if version >= CONNECTIONS_SINCE else 0,
        SCOPES if version >= SCOPES_SINCE else 0,
    )


def own_signals(folder: str) -> Rules | None:
    """Rules that keep a process from signalling those that it comes from.

    Files move between folders only where a rule says so, in every set.
    """
    if abi() < SCOPES_SINCE:
        return None
    rules = Rules(REFER, scopes=SIGNALS)
    rules.allow(folder, REFER)
    return rules
