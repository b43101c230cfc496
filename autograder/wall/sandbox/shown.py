"""Paths that student code may read in the sandbox: Python and its libraries only."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[2])  # with the hidden checks
# not /dev/zero: mapped, it is memory that no limit counts
DEVICES = [f"/dev/{name}" for name in ("null", "full", "random", "urandom")]


@cache
def trees() -> list[str]:
    """Folders of programs and libraries; none lies in another one.

    Of an environment ``bin`` and ``lib`` alone: a course may lie in the same folder.
    """
    found = ["/lib", "/lib64", "/bin"]  # usually links into /usr
    bases = ["/usr", "/usr/local", sys.base_prefix, sys.prefix]
    for base in [*bases, os.path.realpath(sys.prefix)]:
        found += [f"{base}/{folder}" for folder in ("bin", "lib", "lib64")]
    shown: list[str] = []
    for tree in sorted({t for t in found if os.path.lexists(t)}, key=len):
        if not any(tree == top or tree.startswith(top + "/") for top in shown):
            shown.append(tree)
    return shown


@cache
def files() -> list[str]:
    """Single files that Python and its libraries need."""
    wanted = [*DEVICES, "/etc/ld.so.cache", f"{sys.prefix}/pyvenv.cfg"]
    return [path for path in wanted if os.path.exists(path)]


def holds(path: str | Path) -> str | None:
    """The tree that shows ``path`` to students, if one does."""
    real = os.path.realpath(path)
    for tree in trees():
        top = os.path.realpath(tree)
        if real == top or real.startswith(top + "/"):
            return tree
    return None


def paths() -> list[str]:
    """All of it: trees and files."""
    return [*trees(), *files()]


def masked() -> list[str]:
    """The folders in the trees that have to be covered."""
    return [PACKAGE] if any(PACKAGE.startswith(top + "/") for top in trees()) else []


@cache
def readable() -> tuple[list[str], list[str]]:
    """The same for rules that can only add: paths to read, and folders to list.

    A tree that holds the course's package is taken apart down to it.
    """
    read, listed = [*files()], []
    pending = [*trees()]
    while pending:
        path = pending.pop()
        if not (PACKAGE + "/").startswith(os.path.realpath(path) + "/"):
            read.append(path)
        elif os.path.realpath(path) != PACKAGE:
            listed.append(path)
            pending += [entry.path for entry in os.scandir(path)]
    return read, listed
