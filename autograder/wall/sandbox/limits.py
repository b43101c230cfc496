"""Resource limits (rlimits) of each process in the sandbox, and of judges."""

from __future__ import annotations

import contextlib
import os
import resource
import threading
import time
from pathlib import Path

from autograder.wall.records import Limits
from autograder.wall.sandbox import privileges

STACK = 8 << 20
TIMERS = 1024  # of the kernel: what counts them counts those of the whole user
# Beyond its data a process may have addresses without memory behind them: stacks of
# threads, pools of the allocator, files. Each needs entries in tables that no limit
# counts, a five-hundredth of its size.
ADDRESSES = 4 << 30
MORE_THREADS = 1024  # of the runner itself, so that it can always fork


def first_to_end() -> None:
    """Have the kernel end this process before others when memory is short."""
    privileges.show_memory()  # of a process that hides, the owner cannot change this
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def restrict(limits: Limits) -> None:
    """Bound memory, time and files; called while /proc can still be read."""
    addresses, data = _used()
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(limits.total_seconds) + 10),
        (resource.RLIMIT_DATA, data + limits.memory_bytes),
        (resource.RLIMIT_AS, addresses + limits.memory_bytes + ADDRESSES),
        (resource.RLIMIT_STACK, STACK),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, TIMERS),
    ):
        bound(kind, value)


def restrict_judge(limits: Limits) -> None:
    """Bound the memory of a judge, which holds what students' code gives it."""
    bound(resource.RLIMIT_DATA, _used()[1] + limits.judge_bytes)


def bound(kind: int, value: int) -> None:
    """Set a limit for good, but not above what is allowed here."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def started_now() -> int:
    """How many threads this user has, as RLIMIT_NPROC counts them.

    Found by trying: /proc does not show those in other containers, which count too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 22
    before = _threads()

    def starts(limit: int) -> bool:
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
        thread = threading.Thread(target=int)
        try:
            thread.start()
        except RuntimeError:
            return False
        thread.join()
        # Joined is not yet gone: until then it counts, and a filter would miss it.
        while _threads() > before:
            time.sleep(0.0001)
        return True

    try:
        low, high = 0, 16
        while high < most and not starts(high):
            low, high = high, 2 * high
        high = min(high, most)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if starts(middle) else (middle, high)
        return high
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


def _threads() -> int:
    """How many threads this process has, those included that are about to end."""
    return len(os.listdir("/proc/self/task"))


def _used() -> tuple[int, int]:
    """Addresses and data of this process in bytes, as the kernel counts them."""
    with open("/proc/self/statm") as statm:
        pages = statm.read().split()
    return tuple(int(pages[i]) * resource.getpagesize() for i in (0, 5))  # type: ignore[return-value]
