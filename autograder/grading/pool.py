"""Worker processes. They import the wall and the checks, not nbgrader."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor


def new_pool(workers: int) -> ProcessPoolExecutor:
    """Fresh processes that share nothing with this one, and end with it."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=end_with, initargs=(os.getpid(),)
    )


def end_with(driver: int) -> None:
    """Have the kernel end this worker when the driver is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl:  # Linux
        prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != driver:
        os._exit(1)
