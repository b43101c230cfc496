"""What does a submission cost the processor, and who spends it?

    python -m benchmarks.processor [--some 100] [ASSIGNMENT ...]
    python -m benchmarks.processor --wrong [--wall landlock] [ASSIGNMENT ...]

Grades honest submissions one after the other, with the workers' side in this process,
and adds up the processor time (user and system) of every role. Beside it the same
cells, visible and hidden checks run directly, over and over in one process. With
``--wrong``, a submission of each kind of a mixed class beside a right one. Others on
the machine change the seconds of a run, and its ratio little.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.grading import job, jobs
from autograder.grading.driver import Driver
from autograder.grading.progress import Progress
from autograder.grading.store import Store
from autograder.notebook.records import Release
from autograder.release.grading_plan import plan
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.wall import Grader, Wall
from benchmarks.__main__ import ROOT, classroom, machine, runnable
from benchmarks.mixed import kinds

TICKS = os.sysconf("SC_CLK_TCK")
ROLES = ("driver", "worker", "parents", "judge", "student", "questions")


class Measured(Grader):
    """A grader that looks at its processes before they end."""

    def __init__(self, *, wall: Wall | None = None) -> None:
        super().__init__(wall=wall)
        self.questions = 0.0  # seconds of all forks that answered questions

    def _end_student(self, word: str = "stop") -> int | None:
        if self._busy is not None:
            for student in children(first_child(self._busy.process.pid)):
                self.questions += spent(student)[1]
        return super()._end_student(word)

    def seconds(self) -> Counter[str]:
        """Processor time so far by role, of all that has ended or waits."""
        found: Counter[str] = Counter(questions=self.questions)
        for (kind, _), parent in self._parents.items():
            own, ended = spent(parent.process.pid)
            if kind == "judge":
                found["judge"] += ended
            else:
                own, ended = spent(first_child(parent.process.pid))
                found["student"] += ended - self.questions
            found["parents"] += own
        return found


class Here(Executor):
    """Does jobs in this process, and adds up what they cost it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def submit(self, function, *job) -> Future:
        start = time.process_time()
        *job, _ = job
        verdict, lines = function(*job, False)  # nobody waits behind it
        self.seconds += time.process_time() - start
        if verdict.held:
            sys.exit(f"held: {verdict.reason}")
        future: Future = Future()
        future.set_result((verdict, lines))
        return future


def spent(pid: int) -> tuple[float, float]:
    """Processor time of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, users, systems = map(int, fields[11:15])
    return (user + system) / TICKS, (users + systems) / TICKS


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def first_child(pid: int) -> int:
    """The process in the namespaces, or the guarded one."""
    return children(pid)[0]


def by_role(folder: Path, size: int) -> Counter[str]:
    """Processor time of grading a class, by role."""
    course = Course(folder)
    with Measured() as grader, Store(course) as store, open(os.devnull, "w") as null:
        chosen = course.submissions(course.chosen([]))
        here = Here()

        def instead(workers: int, releases: dict) -> Executor:
            jobs.learn(releases)
            return here

        pool, jobs.local_pool = jobs.local_pool, instead
        own, jobs.grader_of = jobs.grader_of, lambda sandbox: grader
        try:
            for group in chosen[:3], chosen[3:]:  # the first ones warm up
                before = grader.seconds()
                mine, jobs_before = time.process_time(), here.seconds
                Driver(course, store).grade(group, Progress(len(group), null))
                after = grader.seconds()
                after["worker"] = here.seconds - jobs_before
                after["driver"] = time.process_time() - mine - after["worker"]
        finally:
            jobs.local_pool, jobs.grader_of = pool, own
        after.subtract(before)
        return Counter({role: after[role] / size for role in ROLES})


def directly(cells: list[str], rounds: int) -> float:
    """Processor time to run all cells once, in a process that is warm."""
    here, there = os.pipe()
    pid = os.fork()
    if not pid:
        with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
            for number in range(3 + rounds):
                if number == 3:
                    start = time.process_time()
                names: dict = {"__name__": "__main__"}
                for source in cells:
                    exec(compile(source, "<cell>", "exec", dont_inherit=True), names)
                if plt := sys.modules.get("matplotlib.pyplot"):
                    plt.close("all")
        os.write(there, str((time.process_time() - start) / rounds).encode())
        os._exit(0)
    os.close(there)
    os.waitpid(pid, 0)
    return float(os.read(here, 100))


def cost(grader: Measured, release: Release, texts: list[str]) -> float:
    """Milliseconds of the processor for a submission, of all roles together."""
    before, start = sum(grader.seconds().values()), time.process_time()
    for text in texts:
        if (verdict := job.grade(release, text.encode(), grader)).held:
            sys.exit(f"held: {verdict.reason}")
    grader._end_student()
    own = time.process_time() - start
    return 1000 * (own + sum(grader.seconds().values()) - before) / len(texts)


def by_kind(
    course: Course, assignment: Assignment, some: int, wall: Wall | None
) -> None:
    """Print what a submission of each kind costs."""
    release, found = plan(course, assignment), kinds(course, assignment)
    with Measured(wall=wall) as grader:
        grader.warm(release.profile)
        cost(grader, release, found["right"] * 2)
        right = cost(grader, release, found["right"] * some)
        print(f"{assignment.name}, {grader.wall}: right {right:.0f} ms")
        for kind, texts in list(found.items())[1:]:
            few = 1 if kind == "endless loop" else some
            chosen = [texts[n * len(texts) // few] for n in range(few)]
            spent = cost(grader, release, chosen)
            print(f"    {kind}: {spent:.0f} ms, {spent / right:.2f} times", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ["01-attention", "03-multi-head"]
    parser.add_argument("assignments", nargs="*", default=default)
    parser.add_argument("--some", type=int, default=100)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--wall", choices=["namespaces", "landlock"])
    options = parser.parse_args()
    course = Course(ROOT)
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}")
    for assignment in course.chosen(options.assignments):
        if options.wrong:
            by_kind(course, assignment, options.some, options.wall)
            continue
        given = json.loads(notebook_text(students_notebook(course, assignment)))
        text = solved(given, reference_answers(assignment))
        cells = runnable(plan(course, assignment), text)
        before = directly(cells, options.some)
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "class")
            classroom(folder, assignment, [text] * (options.some + 3))
            found = by_role(folder, options.some)
        direct = (before + directly(cells, options.some)) / 2
        told = ", ".join(f"{role} {1000 * found[role]:.1f}" for role in ROLES)
        whole = sum(found.values())
        print(f"{assignment.name}: {1000 * whole:.1f} ms a submission ({told})")
        ratio = whole / direct
        print(f"    {1000 * direct:.1f} ms directly: {ratio:.1f} times")


if __name__ == "__main__":
    main()
