"""A class as it is, right work and what else students hand in: how fast is grading?

    python -m benchmarks [--size 300] [--few 8] [--loops 100] [--many 2000]
                         [--wall namespaces landlock] [ASSIGNMENT ...]

(a) `autograder grade` of a mixed class, with and without its endless loops, and of one
    in which all is right, against plain `nbgrader autograde`, which has right answers,
    its best case; starts are included,
(b) a class in which one in ten never ends, and one in which one in ten prints too much,
    against a class with neither: when do all others have their verdicts,
(c) memory, and the rate, over a large mixed class without endless loops.

A part is left out where its size is 0. ``benchmarks.processor`` has the cost of one
submission.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from autograder.course import CONFIG, Assignment, Course
from benchmarks.classes import ROOT, classroom, kinds, machine, mixed

VERDICT = re.compile(r"\[\d+/\d+\] student-(\d+): ")
ROWS = 10  # of a large class
# `autograder`, on a machine where no other wall stands
BEHIND = """import sys
from autograder.errors import NoSandbox
from autograder.wall import backend_choice

def try_wall(wall, tried=backend_choice.try_wall):
    if wall != sys.argv[1]:
        raise NoSandbox("another one is measured")
    tried(wall)

backend_choice.try_wall = try_wall
from autograder.cli import main
sys.exit(main(sys.argv[2:]))
"""


def seconds(command: list[str], folder: Path) -> float:
    """How long a command takes; it has to succeed."""
    start = time.perf_counter()
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    run = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},  # nbgrader calls a program beside it
    )
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return time.perf_counter() - start


def nbgraders(folder: Path, assignment: Assignment) -> float:
    """Seconds of `nbgrader autograde` on the same layout, by its own steps."""
    config = folder / CONFIG
    lines = config.read_text("utf-8").splitlines(keepends=True)
    ours = [line for line in lines if line.startswith("c.Autograde.")]
    config.write_text("".join(line for line in lines if line not in ours), "utf-8")
    program = str(Path(sys.executable).parent / "nbgrader")
    command = [program, "generate_assignment", assignment.name, "--create", "--force"]
    seconds(command, folder)
    return seconds([program, "autograde", assignment.name, "--create"], folder)


def verdicts(folder: Path, assignment: Assignment, wall: str) -> Iterator[tuple]:
    """Of each verdict on two workers: seconds so far, the number, the process."""
    grade = ["grade", assignment.name, "--workers", "2"]
    start, held = time.perf_counter(), ""
    with subprocess.Popen(
        [sys.executable, "-c", BEHIND, wall, *grade],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            held += line if ": held. " in line else ""
            if found := VERDICT.match(line):
                yield time.perf_counter() - start, int(found[1]), process.pid
    if process.returncode or held:
        sys.exit(f"grading failed: {held}")


def last(folder: Path, assignment: Assignment, wall: str, every: int = 1) -> float:
    """Seconds until all have their verdicts, or all but the first in ``every``."""
    found = verdicts(folder, assignment, wall)
    return max(at for at, number, _ in found if every == 1 or number % every)


def peak(pid: int) -> float:
    """The largest size in memory that a process has had, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) / 1024  # type: ignore[index]


def memory(pid: int) -> float:
    """Memory of a process and its descendants in MiB; shared pages count once."""
    first, total = psutil.Process(pid), 0
    for member in (first, *first.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has ended
            total += member.memory_full_info().pss
    return total / (1 << 20)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    walls = ["namespaces", "landlock"]
    parser.add_argument("assignments", nargs="*", default=["01-attention"])
    parser.add_argument("--size", type=int, default=300, help="of the classes of (a)")
    parser.add_argument("--few", type=int, default=8, help="for nbgrader")
    parser.add_argument("--loops", type=int, default=100, help="of the classes of (b)")
    parser.add_argument("--many", type=int, default=0, help="of the class of (c)")
    parser.add_argument("--wall", nargs="+", choices=walls, default=walls)
    options = parser.parse_args()
    course = Course(ROOT)
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}")
    for assignment in course.chosen(options.assignments):
        found = kinds(course, assignment)
        ends = {kind: texts for kind, texts in found.items() if kind != "endless loop"}
        with tempfile.TemporaryDirectory() as scratch:
            count = iter(range(sys.maxsize))

            def new(texts, home=Path(scratch), assignment=assignment, count=count):
                return classroom(home / f"class-{next(count)}", assignment, texts)

            theirs = 0.0
            if options.size:
                folder = new(found["right"] * options.few)
                theirs = nbgraders(folder, assignment) / options.few
            for wall in options.wall:
                print(f"{assignment.name}, {wall}", flush=True)
                if size := options.size:
                    for name, texts in (
                        ("mixed", mixed(found, size)),
                        ("without endless loops", mixed(ends, size)),
                        ("all right", found["right"] * size),
                    ):
                        rate = size / last(new(texts), assignment, wall)
                        times = f"{rate * theirs:.0f} times nbgrader's rate"
                        print(f"(a) {name}: {rate:.1f} a second, {times}", flush=True)
                if size := options.loops:
                    tenth = size // 10
                    others = [*mixed(ends, size - tenth)]
                    alone = last(new(others), assignment, wall)
                    print(f"(b) {len(others)} alone: {alone:.1f} s", flush=True)
                    for kind in ("too much output", "endless loop"):
                        among = others.copy()
                        for place in range(0, size, 10):
                            among.insert(place, found[kind][0])
                        took = last(new(among), assignment, wall, 10)
                        said = f"{took:.1f} s, {took / alone:.2f} times"
                        print(f"    among {tenth} with {kind}: {said}", flush=True)
                if size := options.many:
                    before, rows = 0.0, max(size // ROWS, 1)
                    folder = new(mixed(ends, size))
                    for done, (at, _, pid) in enumerate(
                        verdicts(folder, assignment, wall), 1
                    ):
                        if not done % rows:
                            rate = rows / (at - before)
                            sizes = f"peak {peak(pid):.0f} MiB, all {memory(pid):.0f}"
                            said = f"{done}: {rate:.1f} a second, {sizes} MiB"
                            print(f"(c) {said}", flush=True)
                            before = at


if __name__ == "__main__":
    main()
