"""How long would a large class take? A simulation from job times measured here.

    python -m benchmarks.scale [--submissions 20000] [ASSIGNMENT]

It grades the sample class, right, wrong and hostile, job by job, and notes how long
each job takes, and what the driver needs to store a verdict. Then it lets n workers
draw from these jobs, with one driver that stores one verdict after the other. With two
workers on this machine the simulation stands beside a measured run.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import os
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path

from autograder.course import CONFIG, Assignment, Course
from autograder.grading import jobs
from autograder.grading.driver import Driver
from autograder.grading.progress import Progress
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict
from autograder.release.sample_class import submissions
from benchmarks.__main__ import ROOT, machine, ours

Outcome = tuple[Verdict, list[str]]
WORKERS = [1, 2, 4, 8, 16, 32, 64]


class Recorder(Executor):
    """Does jobs here and now, and notes their seconds."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.outcomes: list[Outcome] = []

    def submit(self, function, *arguments) -> Future:
        start = time.perf_counter()
        self.outcomes.append(function(*arguments))
        self.seconds.append(time.perf_counter() - start)
        return done(self.outcomes[-1])


class Replayer(Executor):
    """Gives recorded verdicts, at once."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        self.outcomes = iter(outcomes)

    def submit(self, function, *arguments) -> Future:
        return done(next(self.outcomes))


def done(result: Outcome) -> Future:
    future: Future = Future()
    future.set_result(result)
    return future


def instead(executor: Executor, workers: int, releases: dict) -> Executor:
    """In place of a pool of worker processes."""
    jobs.learn(releases)
    return executor


def grade(course: Course, executor: Executor) -> float:
    """Seconds of a grading of everything with this executor in place of a pool."""
    chosen = course.submissions(course.chosen([]), None)
    with Store(course) as store, open(os.devnull, "w") as nowhere:
        jobs.local_pool, before = partial(instead, executor), jobs.local_pool
        start = time.perf_counter()
        try:
            Driver(course, store, force=True).grade(
                chosen, Progress(len(chosen), nowhere)
            )
        finally:
            jobs.local_pool = before
        return time.perf_counter() - start


def simulate(jobs: list[float], workers: int, storing: float, cores: int = 0) -> float:
    """Seconds until the last of ``jobs`` is stored.

    Workers take the next job as soon as they are free. The driver stores verdicts one
    by one, ``storing`` seconds each. With ``cores``, workers and driver share them, so
    the whole work cannot be done faster than they allow.
    """
    free = [0.0] * workers
    finished = []
    for seconds in jobs:
        start = heapq.heappop(free)
        heapq.heappush(free, start + seconds)
        finished.append(start + seconds)
    stored = 0.0
    for at in sorted(finished):
        stored = max(stored, at) + storing
    least = (sum(jobs) + storing * len(jobs)) / cores if cores else 0.0
    return max(stored, least)


def sample(folder: Path, assignment: Assignment) -> Course:
    """The sample class, without the one who never ends: a limit is no job time."""
    shutil.copy(ROOT / CONFIG, folder)
    shutil.copytree(assignment.source.parent, folder / "solutions" / assignment.name)
    for student, text in submissions(Course(ROOT), assignment):
        if "while True" not in text:
            home = folder / "submitted" / student / assignment.name
            home.mkdir(parents=True)
            (home / assignment.source.name).write_text(text)
    return Course(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("assignment", nargs="?", default="01-attention")
    parser.add_argument("--submissions", type=int, default=20_000)
    options = parser.parse_args()
    (assignment,) = Course(ROOT).chosen([options.assignment])
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        course = sample(Path(scratch), assignment)
        recorder = Recorder()
        grade(course, recorder)  # the first job warms the parents
        recorder = Recorder()
        grade(course, recorder)
        storing = grade(course, Replayer(recorder.outcomes)) / len(recorder.seconds)
        size = len(recorder.seconds)
        graded = [not verdict.held for verdict, _ in recorder.outcomes]
        mean = sum(recorder.seconds) / size
        print(f"{time.strftime('%Y-%m-%d')}, {machine()}, {assignment.name}")
        print(f"{size} jobs of the sample class, {sum(graded)} of them graded:")
        print(f"    {1000 * mean:.0f} ms a job, {1000 * storing:.0f} ms to store one")

        rounds = 8
        for number in range(rounds - 1):
            for student in list(course.submitted.glob("[!~]*")):
                if "~" not in student.name:
                    shutil.copytree(student, f"{student}~{number}")
        measured = ours(course.root, assignment, 2)
        cores = len(os.sched_getaffinity(0))
        expected = simulate(recorder.seconds * rounds, 2, storing, cores)
    print(f"2 workers on this machine, {rounds * size} submissions:")
    print(f"    simulated {expected:.0f} s, measured {measured:.0f} s with its start")

    draw = random.Random(0)
    jobs = draw.choices(recorder.seconds, k=options.submissions)
    print(f"{options.submissions} submissions, each worker with a core of its own:")
    for workers in WORKERS:
        minutes = simulate(jobs, workers, storing) / 60
        limit = storing * len(jobs) / 60
        told = "  the driver is the limit" if minutes < 1.05 * limit else ""
        print(f"    {workers:3} workers: {minutes:7.1f} minutes{told}")


if __name__ == "__main__":
    sys.exit(main())
