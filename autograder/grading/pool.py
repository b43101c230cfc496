"""Worker processes. They import the wall and the checks, not nbgrader."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

from autograder.course import CourseError


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


class Cluster(Executor):
    """The workers of a Dask cluster, behind the same interface.

    Dask gives the jobs of a worker that died to another one; a job that ends four
    workers fails with KilledWorker, and its submission is held.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client

            self.client = Client(address, timeout=10)
        except ImportError:
            raise CourseError(
                "`--scheduler` needs the package distributed: pip install distributed."
            ) from None
        except (OSError, ValueError) as error:
            raise CourseError(
                f"There is no scheduler at {address} ({type(error).__name__})."
            ) from None
        self.executor = self.client.get_executor(pure=False)

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future:
        return self.executor.submit(function, *arguments, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.executor.shutdown(wait)
        self.client.close()

    @property
    def threads(self) -> int:
        """How many jobs run at the same time."""
        return max(1, sum(self.client.nthreads().values()))
