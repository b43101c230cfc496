"""What tests of the wall ask of the machine: its walls, its processes, less of both."""

import ctypes
import platform
import struct
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

from autograder.errors import NoSandbox
from autograder.wall import Limits
from autograder.wall.backend_choice import try_wall
from autograder.wall.sandbox import seccomp, syscalls
from autograder.wall.sandbox.process_tree import descendants

WALLS = ["namespaces", "landlock"]
SHORT = Limits(
    cell_seconds=1.0,
    patience=8.0,  # a busy machine gives a second of its time in fewer than eight
    question_seconds=1.0,
    total_seconds=120.0,  # of the clock, on a busy machine as well
    memory_bytes=400 << 20,
    output_bytes=20_000,
    disk_bytes=4 << 20,
    file_bytes=2 << 20,
    files=200,
    processes=24,
    crashes=2,
)
HASTY = replace(SHORT, cell_seconds=0.5, question_seconds=0.5, patience=16.0)


@cache
def missing(wall):
    """Why a wall does not stand on this machine, or None."""
    try:
        try_wall(wall)
    except NoSandbox as error:
        return f"{wall}: {error}"
    return None


FORBIDDEN = "unshare 272 97\nlandlock_create_ruleset 444 444"


def forbid(*names):
    """In a child, before it becomes another program: as a container does it."""
    if not names:
        return
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    numbers = syscalls.numbers(FORBIDDEN, platform.machine())
    steps = [(seccomp.LOAD, 0, 0, seccomp.NUMBER)]
    for name in names:
        steps.append((seccomp.JUMP_EQUAL, 0, 1, numbers[name]))
        steps.append((seccomp.RETURN, 0, 0, seccomp.ANSWER | 1))
    steps.append((seccomp.RETURN, 0, 0, seccomp.ALLOW))
    seccomp.install(b"".join(struct.pack("HBBI", *step) for step in steps))


def family(pid):
    """The process and all that it has started."""
    return [pid, *descendants(pid)]


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def gone(pids, patience=10):
    end = time.monotonic() + patience
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(alive, pids))
