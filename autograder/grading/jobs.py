"""A pool of worker processes for grading jobs, on this machine or on a Dask cluster.

The ``Driver`` walks through a class and writes the gradebook; ``Jobs`` gives its tasks
to workers, which import no nbgrader. Each worker has a ``Grader``, which keeps warm
processes for the sandbox: a fork of one runs the student's cells, and a fork of the
other, the judge, decides about points.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from logging.handlers import BufferingHandler
from typing import Any

from autograder.course import Submission
from autograder.errors import CourseError, PutOff
from autograder.grading import job
from autograder.grading.verdict import Verdict, hold
from autograder.notebook.records import Release
from autograder.wall import Grader, Wall, best

log = logging.getLogger(__name__)

ONE_BY_ONE = (
    "Worker processes need a semaphore in /dev/shm, but none could be made "
    "({error}). Submissions are therefore graded one after the other. In a "
    "container, make /dev/shm writable (`--shm-size 64m`) to grade several at the "
    "same time."
)


@dataclass(frozen=True)
class Task:
    """A submission that was opened and has no verdict yet.

    ``key`` is the fingerprint of all that the verdict will rest on, ``name`` what the
    student called the notebook, ``files`` and ``receipt`` are what lay beside it:
    the student's own, and those of nbgrader's exchange.
    """

    submission: Submission
    release: Release
    key: str
    data: bytes
    notes: tuple[str, ...] = ()
    name: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    receipt: Mapping[str, bytes] = field(default_factory=dict)


class Jobs:
    """Judges tasks on worker processes. A context manager."""

    def __init__(
        self,
        releases: Iterable[Release],
        *,
        workers: int = 1,
        sandbox: bool = True,
        scheduler: str | None = None,
    ) -> None:
        self.releases = {release.hash: release for release in releases}
        self.sandbox, self.scheduler = sandbox, scheduler
        self.pool = self.new_pool(workers)
        self.workers = getattr(self.pool, "threads", workers)

    def __enter__(self) -> Jobs:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Verdict]]:
        """Each task with its verdict, as they are ready; what takes long comes last.

        It is put off as long as fewer are put off than have a verdict. When a worker
        dies, nobody can tell whose job it had. So all that were at work then are judged
        once more at the end, one by one; and so is what ran out of time because others
        were at work.
        """
        done, long, again = 0, list[Task](), []
        first = self.together((task, len(long) <= done) for task in tasks)
        then = self.together((task, False) for task in long)
        for task, future in chain(first, then):
            try:
                verdict = self.outcome(task, future)
            except PutOff:
                long.append(task)
                continue
            if verdict is None or verdict.timed_out_under_load:
                again.append(task)
            else:
                done += 1
                yield task, verdict
        for task in again:
            log.info("%s is judged once more, on its own", task.submission)
            reason = (
                "The process that graded this submission ended unexpectedly, twice."
            )
            verdict = self.outcome(task, self.submit(task, hurried=False))
            yield task, verdict or hold(reason, task.release.max_score, task.notes)

    def together(
        self, tasks: Iterable[tuple[Task, bool]]
    ) -> Iterator[tuple[Task, Future]]:
        """Several tasks at the same time, hurried or not; each with its future."""
        pending: dict[Future, Task] = {}
        for task, hurried in tasks:
            if len(pending) >= 2 * self.workers:
                yield from finished(pending)
            pending[self.submit(task, hurried)] = task
        while pending:
            yield from finished(pending)

    def submit(self, task: Task, hurried: bool) -> Future:
        """Submit a task to the workers; to new ones when one has died."""
        release, wall = task.release.hash, self.sandbox
        job = (release, task.data, task.notes, task.files, wall, hurried)
        try:
            return self.pool.submit(work, *job)
        except BrokenProcessPool:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = self.new_pool(self.workers)
            return self.pool.submit(work, *job)

    def outcome(self, task: Task, future: Future) -> Verdict | None:
        """The verdict; None when the worker has died. A job that failed is held.

        Raises PutOff where the job was hurried and takes long.
        """
        try:
            verdict, lines = future.result()
        except BrokenProcessPool:
            log.warning("a worker died while %s was at work", task.submission)
            return None
        except (CourseError, PutOff):
            raise
        except Exception as error:
            log.exception("the job of %s failed", task.submission)
            reason = f"The grader failed with {type(error).__name__}."
            return hold(reason, task.release.max_score, task.notes)
        for line in lines:
            log.warning("%s: %s", task.submission, line)
        return verdict

    def new_pool(self, workers: int) -> Executor:
        """Fresh workers that know the releases."""
        if self.scheduler:
            return Cluster(self.scheduler, self.releases)
        return local_pool(workers, self.releases)


def finished(pending: dict[Future, Task]) -> Iterator[tuple[Task, Future]]:
    """Wait for one or more, and take them out."""
    done, _ = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        yield pending.pop(future), future


# ------------------------------------------------------------ in the worker

known: dict[str, Release] = {}  # by hash: sent once to each worker, not with each job
tried: dict[str, Wall] = {}  # the "wall" that the driver has tried, if it has


def learn(releases: Mapping[str, Release]) -> None:
    """Keep these releases for the jobs of this process."""
    known.update(releases)


def work(
    release: str,
    submission: bytes,
    notes: tuple[str, ...],
    files: Mapping[str, bytes],
    sandbox: bool,
    hurried: bool,
) -> tuple[Verdict, list[str]]:
    """The verdict of :func:`job.grade`, and the lines that were logged on the way.

    When ``hurried``, it raises PutOff for what takes long.
    """
    logged = BufferingHandler(sys.maxsize)  # the driver logs it
    logger = logging.getLogger("autograder")
    logger.addHandler(logged)
    try:
        grader = grader_of(sandbox)
        grader.hurried = hurried
        verdict = job.grade(known[release], submission, grader, notes, files)
    finally:
        logger.removeHandler(logged)
    return verdict, [logged.format(record) for record in logged.buffer]


@lru_cache
def grader_of(sandbox: bool) -> Grader:
    """This process's grader, which lives as long as the process does."""
    grader = Grader(wall=tried.get("wall") if sandbox else "none")
    atexit.register(grader.__exit__, None, None, None)
    return grader.__enter__()


# ---------------------------------------------------------- where they come from


def local_pool(workers: int, releases: Mapping[str, Release]) -> Executor:
    """Fresh processes that share nothing with this one, and end with it.

    They need semaphores. Where there are none, a thread gives the wall its work.
    """
    context = multiprocessing.get_context("spawn")
    try:
        context.Lock()
    except (OSError, ImportError) as error:
        print(ONE_BY_ONE.format(error=error), file=sys.stderr)
        learn(releases)
        return OneByOne(1)
    found = best() if best.cache_info().currsize else None
    return ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=begin,
        initargs=(os.getpid(), releases, found),
    )


class OneByOne(ThreadPoolExecutor):
    """One thread as a pool; its jobs do their work in the sandbox's processes."""

    threads = 1


def begin(driver: int, releases: Mapping[str, Release], wall: Wall | None) -> None:
    """Learn the releases; have the kernel end this worker when the driver is gone.

    It need not try again which wall stands here.
    """
    learn(releases)
    if wall:
        tried["wall"] = wall
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

    def __init__(self, address: str, releases: Mapping[str, Release]) -> None:
        try:
            from distributed import Client, WorkerPlugin
        except ImportError:
            raise CourseError(
                "`--scheduler` needs the package distributed: pip install distributed."
            ) from None

        class Learn(WorkerPlugin):  # type: ignore[misc]
            """Every worker learns the releases, those that join later too."""

            def setup(self, worker: Any) -> None:
                learn(releases)

        try:
            self.client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise CourseError(
                f"There is no scheduler at {address} ({type(error).__name__})."
            ) from None
        except TypeError:  # Dask finds no certificates in its configuration
            raise CourseError(
                f"{address} uses TLS, but Dask has no certificate here; point "
                "DASK_CONFIG to Dask's configuration."
            ) from None
        self.plugin = f"autograder-{os.getpid()}-{'-'.join(releases)}"
        self.client.register_plugin(Learn(), name=self.plugin)
        self.executor = self.client.get_executor(pure=False)

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future:
        """Give a job to the cluster."""
        return self.executor.submit(function, *arguments, **options)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster as it was."""
        self.executor.shutdown(wait)
        self.client.unregister_worker_plugin(self.plugin)
        self.client.close()

    @property
    def threads(self) -> int:
        """How many jobs run at the same time."""
        return max(1, sum(self.client.nthreads().values()))
