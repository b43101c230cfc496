"""Paths that student code may read in the sandbox: Python and its libraries only."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from autograder import registry

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


def private() -> list[str]:
    """The courses' folders, with their hidden checks."""
    return [os.path.realpath(path) for path in registry.private()]


def masked() -> list[str]:
    """The folders in the trees that have to be covered."""
    tops = tuple(f"{top}/" for top in trees())
    return [path for path in private() if path.startswith(tops)]


@cache
def readable() -> tuple[list[str], list[str]]:
    """The same for rules that can only add: paths to read, and folders to list.

    A tree that holds a course is taken apart down to it.
    """
    read, listed = [*files()], []
    pending = [*trees()]
    while pending:
        path = pending.pop()
        real = os.path.realpath(path)
        if not any(f"{course}/".startswith(f"{real}/") for course in private()):
            read.append(path)
        elif real not in private():
            listed.append(path)
            pending += [entry.path for entry in os.scandir(path)]
    return read, listed
