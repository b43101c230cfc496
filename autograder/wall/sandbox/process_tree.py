"""Process trees: finds the descendants of a process in /proc and kills them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started and not taken leave of."""
    found: list[int] = []
    ended = contextlib.suppress(FileNotFoundError, ProcessLookupError)
    with ended:
        for thread in os.listdir(f"/proc/{pid}/task"):
            # a thread may end, and the others have children still
            with ended, open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def descendants(pid: int) -> list[int]:
    """All processes that come from one, itself left out."""
    found = children(pid)
    for child in found:  # grows while we go
        found += children(child)
    return found


def alive(pid: int) -> bool:
    """Whether a process runs, and is not only waiting for its parent to take leave."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def end(but: int | None = None) -> None:
    """End all that comes from this process, ``but`` one itself.

    This process has to be a subreaper (:func:`prctl(2) <PR_SET_CHILD_SUBREAPER>`): what
    lost its parent is its child then, and stays in the family.
    """
    own = os.getpid()
    while True:
        found = [pid for pid in descendants(own) if pid != but]
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not any(map(alive, found)):
            return
        time.sleep(0.0005)


def listed() -> bool:
    """Whether this kernel lists the children of a process."""
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()
