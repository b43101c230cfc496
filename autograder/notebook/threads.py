"""Repair of thread pools after a fork, which has no threads: each gets new workers.

Questions are answered in forks of the process that ran a notebook. What still waits for
a missing thread is ended after a few seconds, with a message.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

IDLE = 5.0  # seconds that a function may do nothing where threads are missing
TICK = 0.5
WAITS = (
    f"it did nothing for {IDLE:g} s, as if it waited for a thread; threads that a "
    "cell started are gone when a question is checked: start them in the function"
)
_kept: list[Any] = []  # pools end their workers when they go
_had = False


def running() -> bool:
    """Whether the notebook has threads now."""
    return threading.active_count() > 1


def before_fork() -> None:
    """Note that the notebook has threads, or had some when it was asked before."""
    global _had
    _had = _had or running()


def after_fork() -> None:
    """In the fork: give every pool of the notebook workers of its own."""
    if not _had:
        return
    makers = {
        ("concurrent.futures.thread", "ThreadPoolExecutor"): _executor,
        ("concurrent.futures.process", "ProcessPoolExecutor"): _processes,
        ("multiprocessing.pool", "ThreadPool"): _pool,
        ("multiprocessing.pool", "Pool"): _pool,
    }
    known = {
        getattr(sys.modules[module], name, None): make
        for (module, name), make in makers.items()
        if module in sys.modules
    }
    for pool in [one for one in gc.get_objects() if type(one) in known]:
        with contextlib.suppress(Exception):  # ended, or changed by the student
            if fresh := known[type(pool)](pool):
                _kept.append((pool.__dict__, fresh))
                pool.__dict__ = fresh.__dict__


def _executor(pool: Any) -> Any:
    own = pool._max_workers, pool._thread_name_prefix
    return None if pool._shutdown else type(pool)(*own, pool._initializer)


def _processes(pool: Any) -> Any:
    own = pool._max_workers, pool._mp_context, pool._initializer, pool._initargs
    return None if pool._shutdown_thread else type(pool)(*own)


def _pool(pool: Any) -> Any:
    running = pool._state == "RUN"
    return type(pool)(pool._processes, pool._initializer) if running else None


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """End what does nothing for some seconds, where threads may be missing."""
    if not _had:
        yield
        return
    used, idle = time.process_time(), 0.0

    def look(*_: object) -> None:
        nonlocal used, idle
        now = time.process_time()
        idle = idle + TICK if now - used < TICK / 50 else 0.0
        used = now
        if idle >= IDLE:
            idle = 0.0
            raise RuntimeError(WAITS)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
