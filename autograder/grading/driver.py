"""Main loop of grading: files in, jobs through workers, verdicts into the gradebook."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course import Assignment, Course, Submission
from autograder.errors import CourseError, Held
from autograder.files import write_whole
from autograder.grading import point_history
from autograder.grading.deadlines import Deadlines
from autograder.grading.job import not_handed_in
from autograder.grading.jobs import Jobs, Task
from autograder.grading.missing_work import remarks
from autograder.grading.progress import Progress
from autograder.grading.store import Kept, Store
from autograder.grading.verdict import Run, Verdict, hold, together
from autograder.intake.notebook_file import (
    MISSING,
    RECEIPT,
    Opened,
    open_submission,
    receipt_of,
)
from autograder.notebook.records import Release
from autograder.release.grading_plan import one_hash, plans
from autograder.release.proof import note, prove
from autograder.release.solutions import solution_notebook
from autograder.release.validation import expect_points
from autograder.text import one_line

LOCK = ".grading.lock"
log = logging.getLogger(__name__)


@contextmanager
def grading_lock(course: Course) -> Iterator[None]:
    """Lock that refuses a second grading of one course, which would redo work.

    The lock belongs to this process and ends with it, even when it is killed.
    """
    with open(course.root / LOCK, "a") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(
                f"Another `autograder grade` is running in {course.root}. Start yours "
                "when that one has finished. Submissions that it has graded are not "
                "graded again."
            ) from None
        yield


@dataclass
class Driver:
    """Grades submissions of one course; the only one to write its gradebook."""

    course: Course
    store: Store
    workers: int = 1
    sandbox: bool = True
    force: bool = False
    scheduler: str | None = None
    dry_run: bool = False
    unproven: bool = False
    because: str = ""  # the reason that the person gives
    # assignments that cannot be graded and students that cannot be stored, with reasons
    broken: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    judged: list[tuple[Submission, Verdict]] = field(default_factory=list)  # dry run
    releases: dict[str, tuple[Release, ...]] = field(default_factory=dict)
    parts: dict[Submission, dict[str, Verdict]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.deadlines = Deadlines.of(self.course)
        self.why = point_history.user(), self.because

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
            [release for parts in self.releases.values() for release in parts],
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

    def prepare(self, assignment: Assignment) -> tuple[Release, ...]:
        """The release of each notebook, and its rows in the gradebook."""
        for part in assignment.parts:
            expect_points(part, solution_notebook(part))
        releases = plans(self.course, assignment)
        if not self.unproven:
            look = " --dry-run" if self.dry_run else ""
            prove(self.course, assignment, releases, look)
        elif not self.dry_run:
            note(self.course, *releases)
        if not self.dry_run:
            self.store.prepare(releases)
        return releases

    def remarks(
        self, results: Mapping[Assignment, Mapping[str, Verdict]]
    ) -> Iterator[str]:
        """Remarks to print about the assignments that were graded."""
        for assignment, verdicts in results.items():
            if releases := self.releases.get(assignment.name):
                by = one_hash(release.hash for release in releases)
                yield from remarks(self.course, self.store, assignment, verdicts, by)

    def open(self, submissions: list[Submission]) -> Iterator[Task]:
        """Tasks for the workers; what needs no run, as a missing file, is done here."""
        for submission in submissions:
            releases = self.releases[submission.assignment]
            receipt = receipt_of(submission.folder)
            opened = [self.opened(submission, release) for release in releases]
            keys = [
                self.key(release, found, reason)
                for release, (found, reason) in zip(releases, opened, strict=True)
            ]
            key = one_hash(keys)
            tasks = [
                Task(submission, release, key, *found, receipt)
                for release, (found, _) in zip(releases, opened, strict=True)
            ]
            if not self.force and self.is_done(tasks[0]):
                continue
            for task, (_, reason) in zip(tasks, opened, strict=True):
                if reason == MISSING:
                    self.finish(task, not_handed_in(task.release))
                elif reason:
                    self.finish(task, hold(reason, task.release.max_score))
                else:
                    yield task

    def opened(self, submission: Submission, release: Release) -> tuple[Opened, str]:
        """One notebook as it was handed in, and why it is held, or ""."""
        wanted = [f"{r.notebook}.ipynb" for r in self.releases[submission.assignment]]
        try:
            return open_submission(submission, release, wanted), ""
        except Held as held:
            return Opened(b""), str(held)

    def key(self, release: Release, found: Opened, reason: str) -> str:
        """What a verdict is about: the release, the bytes, and whether in a sandbox."""
        about = json.dumps([release.hash, self.sandbox, [*found.notes, reason]])
        digest = hashlib.sha256(about.encode() + b"\0" + found.data)
        for name, data in found.files.items():
            digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()

    def is_done(self, task: Task) -> bool:
        """A verdict on exactly this is stored, and so is its notebook."""
        submission, key = task.submission, task.key
        assignment = submission.assignment
        stored = self.store.verdict(submission.student, assignment)
        if stored is None or stored.key != key:
            return False
        status = stored.verdict.status
        files = [self.autograded(submission, r) for r in self.releases[assignment]]
        if status == "graded" and not all(file.is_file() for file in files):
            return False
        if status == "graded":
            self.carry(task)  # the same work may have come once more
        self.counts[status] += 1
        self.counts["before"] += 1
        line = f"{one_line(submission.student)}: {status} before"
        self.progress.step(line, worked=False)
        return True

    def autograded(self, submission: Submission, release: Release) -> Path:
        """Where nbgrader's tools look for the graded notebook."""
        folder = self.course.autograded / submission.student / submission.assignment
        return folder / f"{release.notebook}.ipynb"

    def carry(self, task: Task) -> None:
        """Put what the exchange left beside the work that was judged beside its result.

        By its secret, `nbgrader release_feedback` sends the page as the answer to this
        submission, and not to a newer one that nobody has judged.
        """
        folder = self.autograded(task.submission, task.release).parent
        for name in RECEIPT if folder.is_dir() and not self.dry_run else ():
            if name in task.receipt:
                write_whole(folder / name, task.receipt[name])
            else:
                (folder / name).unlink(missing_ok=True)

    def finish(self, task: Task, verdict: Verdict) -> None:
        """Take a notebook's verdict; the last one completes the submission's."""
        if verdict.notebook is not None and not self.dry_run:
            path = self.autograded(task.submission, task.release)
            self.carry(replace(task, receipt={}))  # it goes with the whole verdict
            write_whole(path, verdict.notebook)
        if task.name:
            verdict = replace(verdict, files={task.release.notebook: task.name})
        parts = self.parts.setdefault(task.submission, {})
        parts[task.release.notebook] = replace(verdict, notebook=None)
        releases = self.releases[task.release.assignment]
        if len(parts) < len(releases):
            return
        in_order = {r.notebook: parts[r.notebook] for r in releases}
        verdict = together(in_order)
        del self.parts[task.submission]
        kept = Kept(len(verdict.waiting), verdict.earned, 0.0)
        if self.dry_run:
            self.judged.append((task.submission, verdict))
        else:
            kept = self.keep(task, verdict)
            if not verdict.held:
                self.carry(task)
        self.counts[verdict.status] += 1
        line = describe(task.submission, verdict, kept)
        log.info("%s: %s", task.submission.assignment, line)
        self.progress.step(line)

    def keep(self, task: Task, verdict: Verdict) -> Kept:
        """Store points and verdict in one step; the notebooks are written by now."""
        seconds = round(time.monotonic() - self.clock, 3)
        hashes = [r.hash for r in self.releases[task.release.assignment]]
        run = Run(self.started, seconds, self.workers, one_hash(hashes), *self.why)
        verdict = replace(verdict, run=run)
        mine = task.submission

        def also(session: Any) -> None:  # a run that is cut off knows who was late
            whose = {mine.student: mine}
            self.deadlines.enter_assignment(session, mine.assignment, whose)

        return self.store.save(mine.student, mine.assignment, task.key, verdict, also)


def describe(submission: Submission, verdict: Verdict, kept: Kept) -> str:
    """A verdict in a line, with the points that people gave before."""
    student = one_line(submission.student)
    if verdict.held:
        return f"{student}: held. {one_line(verdict.reason or '')}"
    by_hand = f", {kept.by_hand:g} of them by hand" if kept.by_hand else ""
    waiting = f", {kept.waiting} to grade by hand" if kept.waiting else ""
    return f"{student}: {kept.score:g} of {verdict.max_score:g}{by_hand}{waiting}"
