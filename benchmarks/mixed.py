"""A class as it is: right work, and what else students hand in. How fast is it?

    python -m benchmarks.mixed [--size 300] [--few 8] [--loops 100] [--many 2000]
                               [--wall namespaces landlock] [ASSIGNMENT ...]

(a) `autograder grade` of a mixed class, and of one in which all is right, against plain
    `nbgrader autograde`, which has right answers, its best case; starts are included,
(b) a class in which one in ten never ends, and one in which one in ten prints too much,
    against a class with neither: when do all others have their verdicts,
(c) memory, and the rate, over a large mixed class.

A part is left out where its size is 0; the mixed class of (c) has no endless loops.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from autograder import registry
from autograder.course import Assignment, Course
from autograder.release.sample_class import answers, reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.tools.judging import catalog_of

# Of 300 students. Two fifths are right, and two fifths have mistakes: rather one than
# several. The others stopped early and handed in what was there. What ends a cell, or
# never ends, is rare: whoever ran the notebook before handing it in has seen it.
SHARES = {
    "right": 120,
    "one mistake": 80,
    "several mistakes": 40,
    "unfinished": 47,
    "exception": 10,
    "too much output": 2,
    "endless loop": 1,
}
CHECKS = re.compile(r"autograder\.checks import (\w+)")
LOOP = "\n\ndef {0}(*args, **kwargs):\n    while True:\n        pass\n"
PRINTS = "for _ in range(200):\n    print('x' * 100_000)\n"
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


def answered(notebook: dict, others: dict[str, str]) -> str:
    """The notebook with other answers, by question."""
    cells = [
        cell | {"source": others.get(name_of(cell), cell["source"])}
        if cell["cell_type"] == "code"
        else cell
        for cell in notebook["cells"]
    ]
    return json.dumps(notebook | {"cells": cells})


def name_of(cell: dict) -> str:
    """The name of the question that a cell answers."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def kinds(course: Course, assignment: Assignment) -> dict[str, list[str]]:
    """Notebooks of each kind; there is one with each mistake of the catalog."""
    given = json.loads(notebook_text(students_notebook(course, assignment)))
    own = reference_answers(assignment)
    right = json.loads(solved(given, own))
    checks = CHECKS.search(json.dumps(right))
    assert checks, f"{assignment.name} has no checks"
    catalog = catalog_of(registry.checks_of(checks[1]))
    names = [name for name in catalog.assignment.questions if catalog.of(name)]
    stubs = {name_of(cell): cell["source"] for cell in given["cells"]}
    first, second = names[:2]
    several = [catalog.of(name)[0] for name in names[:3]]
    return {
        "right": [answered(right, {})],
        "one mistake": [
            answered(right, answers(catalog, [entry]))
            for name in names
            for entry in catalog.of(name)
        ],
        "several mistakes": [answered(right, answers(catalog, several))],
        "unfinished": [
            answered(right, {name: stubs[name] for name in names[start:]})
            for start in range(1, len(names))
        ],
        "exception": [answered(right, {second: f"1 / 0\n{own[second]}"})],
        "too much output": [answered(right, {first: PRINTS + own[first]})],
        "endless loop": [answered(right, {first: own[first] + LOOP.format(first)})],
    }


def mixed(found: dict[str, list[str]], size: int) -> Iterator[str]:
    """So many of these in those shares, in an order that is the same each time."""
    rng, whole = random.Random(0), sum(SHARES.values())
    names = [
        kind
        for kind, share in SHARES.items()
        if kind in found
        for _ in range(round(size * share / whole))
    ]
    names += ["right"] * (size - len(names))
    rng.shuffle(names)
    for kind in names[:size]:
        yield rng.choice(found[kind])


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


def main() -> None:
    from benchmarks.__main__ import ROOT, classroom, machine, memory, nbgraders

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
