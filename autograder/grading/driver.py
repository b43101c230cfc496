"""Grade a class: files in, jobs through workers, verdicts into the gradebook."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from autograder.course import Assignment, Course, Submission
from autograder.errors import CourseError, Held
from autograder.files import write_whole
from autograder.grading.jobs import Jobs, Task
from autograder.grading.progress import Progress
from autograder.grading.store import Store
from autograder.grading.verdict import Run, Verdict, hold
from autograder.intake.opening import open_submission
from autograder.notebook.records import Release
from autograder.release.plan import plan
from autograder.text import one_line

LOCK = ".grading.lock"
log = logging.getLogger(__name__)


@contextmanager
def alone(course: Course) -> Iterator[None]:
    """Two gradings of one course would redo each other's work; the second is refused.

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
        alone: bool = False,
    ) -> None:
        self.course, self.store = course, store
        self.workers, self.sandbox, self.force = workers, sandbox, force
        self.scheduler, self.dry_run = scheduler, dry_run
        self.alone = alone  # one student's grading changes nobody else's points
        self.broken: dict[str, str] = {}  # assignments that cannot be graded, and why
        self.refused: dict[str, str] = {}  # students that cannot be stored, and why
        self.judged: list[tuple[Submission, Verdict]] = []  # by a dry run
        self.releases: dict[str, Release] = {}
        self.counts: Counter[str] = Counter()

    def grade(self, submissions: list[Submission], progress: Progress) -> Counter[str]:
        """Grade what has no verdict yet. Counts: graded, held, kept from before.

        A dry run stores nothing; its verdicts are in ``judged``.
        """
        self.progress = progress
        self.started, self.clock = int(time.time()), time.monotonic()
        self.refused = self.store.refused({s.student for s in submissions})
        submissions = [s for s in submissions if s.student not in self.refused]
        for assignment in self.course.chosen([s.assignment for s in submissions]):
            try:
                self.releases[assignment.name] = self.prepare(assignment)
            except CourseError as error:  # it stops no other
                self.broken[assignment.name] = str(error)
            except Exception as error:
                log.exception("%s cannot be prepared", assignment.name)
                why = f"{type(error).__name__}: {error}"
                self.broken[assignment.name] = one_line(why)[:300]
        if not self.releases:
            raise CourseError(next(iter(self.broken.values())))
        submissions = [s for s in submissions if s.assignment in self.releases]
        progress.total = len(submissions)
        jobs = Jobs(
            self.releases.values(),
            workers=self.workers,
            sandbox=self.sandbox,
            scheduler=self.scheduler,
        )
        self.workers = jobs.workers
        try:
            with jobs:
                for task, verdict in jobs.run(self.open(submissions)):
                    self.finish(task, verdict)
        finally:
            progress.close()
        return self.counts

    def prepare(self, assignment: Assignment) -> Release:
        """The release, and its rows in the gradebook."""
        release = plan(self.course, assignment)
        changed = self.store.unlike(release) if self.alone else []
        if changed and not self.dry_run:
            raise CourseError(
                f"{assignment.name} has changed in {', '.join(changed)} since the "
                "class was graded, which changes everybody's points; grade without "
                "--student."
            )
        if not self.dry_run:
            self.store.prepare(release)
        return release

    def open(self, submissions: list[Submission]) -> Iterator[Task]:
        """Open one submission after the other; what is done or unreadable ends here."""
        for submission in submissions:
            release = self.releases[submission.assignment]
            reason = ""
            try:
                data, notes = open_submission(submission, release)
            except Held as held:
                data, notes, reason = b"", (), str(held)
            key = self.key(release, data, [*notes, reason])
            if not self.force and self.is_done(submission, key):
                continue
            task = Task(submission, release, key, data, notes)
            if reason:
                self.finish(task, hold(reason, release.max_score))
            else:
                yield task

    def key(self, release: Release, data: bytes, notes: list[str]) -> str:
        """What a verdict is about: the release, the bytes, and whether in a sandbox."""
        about = json.dumps([release.hash, self.sandbox, notes])
        return hashlib.sha256(about.encode() + b"\0" + data).hexdigest()

    def is_done(self, submission: Submission, key: str) -> bool:
        """A verdict on exactly this is stored, and so is its notebook."""
        stored = self.store.verdict(submission.student, submission.assignment)
        if stored is None or stored.key != key:
            return False
        status = stored.verdict.status
        if status == "graded" and not self.autograded(submission).is_file():
            return False
        self.counts[status] += 1
        self.counts["before"] += 1
        line = f"{one_line(submission.student)}: {status} before"
        self.progress.step(line, worked=False)
        return True

    def autograded(self, submission: Submission) -> Path:
        """Where nbgrader's tools look for the graded notebook."""
        name = self.releases[submission.assignment].notebook
        folder = self.course.autograded / submission.student / submission.assignment
        return folder / f"{name}.ipynb"

    def finish(self, task: Task, verdict: Verdict) -> None:
        """A submission has its verdict."""
        waiting = len(verdict.waiting)
        if self.dry_run:
            self.judged.append((task.submission, verdict))
        else:
            waiting = self.keep(task, verdict)
        self.counts[verdict.status] += 1
        line = describe(task.submission, verdict, waiting)
        log.info("%s: %s", task.submission.assignment, line)
        self.progress.step(line)

    def keep(self, task: Task, verdict: Verdict) -> int:
        """Store a verdict: the notebook first, then points and verdict in one step.

        How many answers wait for a person.
        """
        if verdict.notebook is not None:
            write_whole(self.autograded(task.submission), verdict.notebook)
        seconds = round(time.monotonic() - self.clock, 3)
        run = Run(self.started, seconds, self.workers, task.release.hash)
        verdict = replace(verdict, run=run)
        return self.store.save(task.submission.student, task.release, task.key, verdict)


def describe(submission: Submission, verdict: Verdict, waiting: int) -> str:
    """A verdict in a line."""
    student = one_line(submission.student)
    if verdict.held:
        return f"{student}: held. {one_line(verdict.reason or '')}"
    by_hand = f", {waiting} to grade by hand" if waiting else ""
    return f"{student}: {verdict.score:g} of {verdict.max_score:g}{by_hand}"
