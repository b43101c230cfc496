"""Limits on a submission as a whole by control groups (cgroup v2), where one is lent.

``limits`` bounds each process. A group bounds all of them together: memory, also the
kernel's for them, their number, and their share of the processors. Whoever starts the
grading lends a group, as ``systemd-run --user --scope -p Delegate=yes autograder
grade`` does. A sandbox has one student at a time, so its group is the submission's.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path

from autograder.errors import NoSandbox
from autograder.wall.records import Limits

ROOT = Path("/sys/fs/cgroup")
GRADING = "autograder"  # holds the grading itself: a group with groups has no processes
CONTROLLERS = ("memory", "pids", "cpu")
OWN_PROCESSES = 16  # of the wall, beside those that a submission may start
WEIGHT = 50  # the grading itself has 100
_count = itertools.count(1)


def own() -> Path | None:
    """The group of this process."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::") and (ROOT / "cgroup.controllers").exists():
                return ROOT / line[3:].lstrip("/")
    return None


def claim() -> bool:
    """Take the group that this process was started in, if it is lent.

    It is when this process may change it and is alone in it. Then this process moves
    into a group below, and all that it starts from now on.
    """
    group = own()
    if group is None or group.name == GRADING:
        return lent() is not None
    try:
        if (group / "cgroup.procs").read_text().split() != [str(os.getpid())]:
            return False
        below = group / GRADING
        below.mkdir(exist_ok=True)
    except OSError:
        return False
    try:
        _write(below / "cgroup.procs", "0")
        _write(group / "cgroup.subtree_control", " ".join(f"+{c}" for c in CONTROLLERS))
    except OSError:  # not all of them are here: leave it as it was
        with contextlib.suppress(OSError):
            _write(group / "cgroup.procs", "0")
            below.rmdir()
        return False
    return True


def lent() -> Path | None:
    """The group that the grading has claimed, for groups of submissions below it."""
    group = own()
    if group is None or group.name != GRADING:
        return None
    above = group.parent
    here = (above / "cgroup.subtree_control").read_text().split()
    return above if {*CONTROLLERS} <= {*here} and os.access(above, os.W_OK) else None


def new(limits: Limits) -> Path | None:
    """A group for the submissions of one warm parent; None where none is lent."""
    above = lent()
    if above is None:
        return None
    group = above / f"submission-{os.getpid()}-{next(_count)}"
    try:
        group.mkdir()
        _write(group / "memory.max", str(limits.submission_bytes))
        with contextlib.suppress(OSError):  # a kernel that does not count swap
            _write(group / "memory.swap.max", "0")
        _write(group / "pids.max", str(limits.processes + OWN_PROCESSES))
        _write(group / "cpu.weight", str(WEIGHT))
    except OSError as error:
        raise NoSandbox(f"no control group for a submission: {error}") from None
    return group


def join(group: str) -> None:
    """Put this process into a group, and with it all that it forks."""
    _write(Path(group, "cgroup.procs"), "0")


def remove(group: Path | None) -> None:
    """End what is left in a group, and remove it."""
    if group is None:
        return
    with contextlib.suppress(OSError):  # since Linux 5.14
        _write(group / "cgroup.kill", "1")
    for _ in range(200):
        try:
            return group.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # its processes are about to end
            time.sleep(0.01)


def _write(file: Path, text: str) -> None:
    with open(file, "w") as opened:
        opened.write(text)
