"""What does a submission cost the processor, and who spends it?

    python -m benchmarks.processor [--some 100] [ASSIGNMENT ...]
    python -m benchmarks.processor --wrong [--wall landlock] [ASSIGNMENT ...]

Grades right submissions one after the other, with the worker's side in this process,
and adds up the processor time of every role, and how much of it is the kernel's. Beside
it the same cells, visible and hidden checks run directly, over and over. With
``--wrong``, a submission of each kind of a mixed class follows. Others on the machine
change the seconds of a run, and its ratios little.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections import Counter

import psutil

from autograder.course import Assignment, Course
from autograder.grading import job
from autograder.notebook.records import Release
from autograder.release.grading_plan import plan
from autograder.wall import Grader, Wall
from benchmarks.classes import ROOT, kinds, machine

ROLES = ("worker", "parents", "judge", "student")
KERNEL = "kernel"  # beside the roles, its part of all of them


class Measured(Grader):
    """A grader that can tell what all its processes have used."""

    def used(self) -> Counter[str]:
        """Processor seconds so far by role, of all that has ended or waits."""
        self._end_student()
        own = os.times()
        found = Counter(worker=own.user + own.system, kernel=own.system)
        for (kind, _), parent in self._parents.items():
            process, role = psutil.Process(parent.process.pid), "judge"
            if kind == "sandbox":  # the one in the namespaces, or the guarded one
                process, role = process.children()[0], "student"
            used = process.cpu_times()
            found["parents"] += used.user + used.system
            found[role] += used.children_user + used.children_system
            found[KERNEL] += used.system + used.children_system
        return found


def cost(grader: Measured, release: Release, texts: list[str]) -> Counter[str]:
    """Milliseconds of the processor for a submission, by role."""
    before = grader.used()
    for text in texts:
        if (verdict := job.grade(release, text.encode(), grader)).held:
            sys.exit(f"held: {verdict.reason}")
    spent = grader.used()
    spent.subtract(before)
    return Counter({role: 1000 * spent[role] / len(texts) for role in spent})


def runnable(release: Release, text: str) -> list[str]:
    """The code of a submission, with the instructor's test cells."""
    sources = {c.grade_id: c.source for c in release.cells}
    return [
        sources.get(c["metadata"]["nbgrader"]["grade_id"], "")
        if c["metadata"].get("nbgrader", {}).get("grade_id", "").startswith("test_")
        else "".join(c["source"])
        for c in json.loads(text)["cells"]
        if c["cell_type"] == "code"
    ]


def directly(cells: list[str], rounds: int) -> float:
    """Milliseconds of the processor to run all cells once in a warm process."""
    for number in range(3 + rounds):
        if number == 3:
            start = time.process_time()
        names: dict = {"__name__": "__main__"}
        with contextlib.redirect_stdout(io.StringIO()):
            for source in cells:
                exec(compile(source, "<cell>", "exec", dont_inherit=True), names)
        if plt := sys.modules.get("matplotlib.pyplot"):
            plt.close("all")
    return 1000 * (time.process_time() - start) / rounds


def measure(
    course: Course, assignment: Assignment, some: int, wall: Wall | None, wrong: bool
) -> None:
    """Print what a submission costs, of each kind or a right one."""
    release, found = plan(course, assignment), kinds(course, assignment)
    direct = directly(runnable(release, found["right"][0]), some)
    with Measured(wall=wall) as grader:
        grader.warm(release.profile)
        cost(grader, release, found["right"] * 3)
        print(f"{assignment.name}, {grader.wall}: {direct:.1f} ms directly")
        right = 0.0
        for kind, texts in found.items() if wrong else [("right", found["right"])]:
            few = 1 if kind == "endless loop" else some
            chosen = [texts[n * len(texts) // few] for n in range(few)]
            spent = cost(grader, release, chosen)
            total = sum(spent[role] for role in ROLES)
            right = right or total
            parts = ", ".join(f"{role} {spent[role]:.1f}" for role in (*ROLES, KERNEL))
            said = f"{total:.0f} ms, {total / right:.2f} times right"
            print(f"    {kind}: {said} ({parts})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ["01-attention", "03-multi-head"]
    parser.add_argument("assignments", nargs="*", default=default)
    parser.add_argument("--some", type=int, default=100)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--wall", choices=["namespaces", "landlock"])
    given = parser.parse_args()
    course = Course(ROOT)
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}")
    for assignment in course.chosen(given.assignments):
        measure(course, assignment, given.some, given.wall, given.wrong)


if __name__ == "__main__":
    main()
