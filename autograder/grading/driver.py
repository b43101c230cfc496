"""Grade a class: files in, jobs through a pool, verdicts into the gradebook."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import (
    Course,
    CourseError,
    Submission,
    printable,
    read_regular,
    write_whole,
)
from autograder.grading import job
from autograder.grading.pool import Cluster, new_pool
from autograder.grading.store import Store
from autograder.progress import Progress
from autograder.release import plan
from autograder.submission import SIZE_LIMIT, Held, read, resemblance

LOCK = ".grading.lock"


@dataclass(frozen=True)
class Task:
    """A submission that was opened and has no verdict yet."""

    submission: Submission
    key: str
    data: bytes
    notes: list[str]


@contextmanager
def alone(course: Course) -> Iterator[None]:
    """Two gradings of one course would redo each other's work; the second is told.

    The lock belongs to this process and ends with it, even when it is killed.
    """
    with open(course.root / LOCK, "a") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(
                f"Another `autograder grade` is at work in {course.root}. Start this "
                "one when it has ended; what it has stored is not graded again."
            ) from None
        yield


class Driver:
    """Grades submissions of one course; the only one to write its gradebook."""

    def __init__(
        self,
        course: Course,
        store: Store,
        *,
        workers: int = 1,
        sandbox: bool = True,
        force: bool = False,
        scheduler: str | None = None,
        dry_run: bool = False,
    ) -> None:
        self.course, self.store = course, store
        self.workers, self.sandbox, self.force = workers, sandbox, force
        self.scheduler, self.dry_run = scheduler, dry_run
        self.judged: list[tuple[Submission, dict[str, Any]]] = []  # by a dry run
        self.releases: dict[str, dict[str, Any]] = {}
        self.counts: Counter[str] = Counter()

    def grade(self, submissions: list[Submission], progress: Progress) -> Counter[str]:
        """Grade what has no verdict yet. Counts: graded, held, kept from before.

        A dry run stores nothing; its verdicts are in ``judged``.
        """
        self.progress = progress
        self.started, self.clock = int(time.time()), time.monotonic()
        self.store.accept({s.student for s in submissions})
        for assignment in self.course.chosen([s.assignment for s in submissions]):
            self.releases[assignment.name] = plan(self.course, assignment)
            if not self.dry_run:
                self.store.prepare(self.releases[assignment.name])
        pool: Executor
        if self.scheduler:
            pool = Cluster(self.scheduler)
            self.workers = pool.threads
        else:
            pool = new_pool(self.workers)
        pending: dict[Future, Task] = {}
        try:
            for task in self.open(submissions):
                while len(pending) >= 2 * self.workers:
                    pool = self.collect(pool, pending)
                pool = self.start(pool, pending, task)
            while pending:
                pool = self.collect(pool, pending)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            progress.close()
        return self.counts

    # ---------------------------------------------------------------- files

    def open(self, submissions: list[Submission]) -> Iterator[Task]:
        """Open one submission after the other; what is done or unreadable ends here."""
        for submission in submissions:
            release = self.releases[submission.assignment]
            try:
                data, notes = open_submission(submission, release)
                reason = ""
            except Held as held:
                data, notes, reason = b"", [], str(held)
            key = self.key(release, data, [*notes, reason])
            if not self.force and self.is_done(submission, key):
                continue
            task = Task(submission, key, data, notes)
            if reason:
                self.finish(task, job.held(release, reason))
            else:
                yield task

    def key(self, release: dict[str, Any], data: bytes, notes: list[str]) -> str:
        """What a verdict is about: the release, the bytes, and whether in a sandbox."""
        about = json.dumps([release["hash"], self.sandbox, notes])
        return hashlib.sha256(about.encode() + b"\0" + data).hexdigest()

    def is_done(self, submission: Submission, key: str) -> bool:
        """A verdict on exactly this is stored, and so is its notebook."""
        stored = self.store.verdict(submission.student, submission.assignment)
        if stored is None or stored[0] != key:
            return False
        status = stored[1]["status"]
        if status == "graded" and not self.autograded(submission).is_file():
            return False
        self.counts[status] += 1
        self.counts["before"] += 1
        line = f"{printable(submission.student)}: {status} before"
        self.progress.step(line, worked=False)
        return True

    def autograded(self, submission: Submission) -> Path:
        """Where nbgrader's tools look for the graded notebook."""
        name = self.releases[submission.assignment]["notebook"]
        folder = self.course.autograded / submission.student / submission.assignment
        return folder / f"{name}.ipynb"

    # ----------------------------------------------------------------- jobs

    def submit(self, pool: Executor, task: Task) -> Future:
        release = json.dumps(self.releases[task.submission.assignment])
        return pool.submit(job.work, release, task.data, task.notes, self.sandbox)

    def start(
        self, pool: Executor, pending: dict[Future, Task], task: Task
    ) -> Executor:
        """Give a job to the pool. The pool, or a new one when a worker has died."""
        try:
            pending[self.submit(pool, task)] = task
        except BrokenProcessPool:
            pool = self.collect(pool, pending) if pending else new_pool(self.workers)
            return self.start(pool, pending, task)
        return pool

    def collect(self, pool: Executor, pending: dict[Future, Task]) -> Executor:
        """Store what is finished. The pool, or a new one when a worker has died."""
        done, _ = wait(pending, return_when=FIRST_COMPLETED)
        suspects = []
        for future in done:
            task = pending.pop(future)
            try:
                self.finish(task, json.loads(future.result()))
            except BrokenProcessPool:
                suspects.append(task)
            except CourseError:
                raise
            except Exception as error:
                self.fail(task, f"The grader failed with {type(error).__name__}.")
        if not suspects:
            return pool
        # nobody can tell whose job the dead worker had, so they go one by one
        suspects += pending.values()
        pending.clear()
        pool.shutdown(wait=False, cancel_futures=True)
        self.retry(suspects)
        return new_pool(self.workers)

    def retry(self, tasks: list[Task]) -> None:
        """Once more, one by one; a submission that ends its worker again is held."""
        pool = new_pool(1)
        for task in tasks:
            try:
                self.finish(task, json.loads(self.submit(pool, task).result()))
            except BrokenProcessPool:
                self.fail(task, "The process that graded this ended, twice.")
                pool = new_pool(1)
        pool.shutdown(wait=False)

    def fail(self, task: Task, reason: str) -> None:
        release = self.releases[task.submission.assignment]
        self.finish(task, job.held(release, reason, task.notes))

    def finish(self, task: Task, verdict: dict[str, Any]) -> None:
        """A submission has its verdict."""
        if self.dry_run:
            self.judged.append((task.submission, verdict))
        else:
            self.keep(task, verdict)
        self.counts[verdict["status"]] += 1
        self.progress.step(describe(task.submission, verdict))

    def keep(self, task: Task, verdict: dict[str, Any]) -> None:
        """Store a verdict: the notebook first, then points and verdict in one step."""
        submission = task.submission
        release = self.releases[submission.assignment]
        if "notebook" in verdict:
            write_whole(self.autograded(submission), verdict["notebook"])
        run = {
            "started": self.started,  # seconds since 1970, as of time.time()
            "seconds": round(time.monotonic() - self.clock, 3),
            "workers": self.workers,
        }
        verdict = verdict | {"run": run}
        self.store.save(submission.student, release, task.key, verdict)


def describe(submission: Submission, verdict: dict[str, Any]) -> str:
    """A verdict in a line."""
    student = printable(submission.student)
    if verdict["status"] == "held":
        return f"{student}: held. {printable(verdict['reason'])}"
    score = sum(question["score"] or 0.0 for question in verdict["questions"])
    waiting = sum(question["score"] is None for question in verdict["questions"])
    by_hand = f", {waiting} to grade by hand" if waiting else ""
    return f"{student}: {score:g} of {verdict['max_score']:g}{by_hand}"


def open_submission(
    submission: Submission, release: dict[str, Any]
) -> tuple[bytes, list[str]]:
    """The bytes of the notebook that was handed in, and notes about the files.

    Only regular files are opened; links are not followed.
    """
    wanted = f"{release['notebook']}.ipynb"
    modes = {
        entry.name: entry.stat(follow_symlinks=False).st_mode
        for entry in os.scandir(submission.folder)
    }
    files = [name for name, mode in modes.items() if stat.S_ISREG(mode)]
    notebooks = [name for name in files if name.endswith(".ipynb")]
    notes = []
    if wanted in modes and wanted not in notebooks:
        raise Held(f"{wanted} is a link or a device, not a file.")
    name = wanted
    if wanted not in notebooks:
        if not notebooks:
            raise Held(f"There is no notebook; {wanted} was expected.")
        name = most_like(release, submission.folder, sorted(notebooks))
        notes.append(f"The notebook was handed in as {printable(name)}.")
    known = {name, "timestamp.txt", *release["files"]}
    others = sorted(n for n in modes if n not in known and not n.startswith("."))
    if others:
        listed = ", ".join(printable(other)[:60] for other in others[:5])
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.append(f"Files beside the notebook were not used: {listed}{more}.")
    return read_notebook(submission.folder / name), notes


def most_like(release: dict[str, Any], folder: Path, names: list[str]) -> str:
    """Of several notebooks, the one with most cells of the assignment."""

    def cells_found(name: str) -> int:
        try:
            return resemblance(release, read(read_notebook(folder / name)))
        except Held:
            return -1

    return max(names, key=cells_found) if len(names) > 1 else names[0]


def read_notebook(path: Path) -> bytes:
    try:
        return read_regular(path, SIZE_LIMIT)
    except OSError as error:
        reason = error.strerror or "it is no regular file"
        raise Held(f"{printable(path.name)} cannot be opened: {reason}.") from None
