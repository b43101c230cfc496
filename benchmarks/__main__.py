"""How fast is grading? Ratios of things measured in one run.

    python -m benchmarks [--few 8] [--some 200] [--many 2000] [ASSIGNMENT ...]

(a) `autograder grade` against plain `nbgrader autograde`: a class as it is (``mixed``)
    and one in which all is right; nbgrader's has right answers, its best case,
(b) two workers against one, when each worker has a core and when one has all cores,
(c) many submissions: rate and memory over time.

``benchmarks.processor`` has the cost of one submission.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course import CONFIG, Assignment, Course
from autograder.notebook.records import Release
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from benchmarks.mixed import kinds, mixed

ROOT = Path(__file__).resolve().parents[1]


def classroom(folder: Path, assignment: Assignment, texts: Iterable[str]) -> Path:
    """A course with these submissions; each has bytes of its own."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / CONFIG, folder)
    shutil.copytree(assignment.source.parent, folder / "solutions" / assignment.name)
    for number, text in enumerate(texts):
        home = folder / "submitted" / f"student-{number:05}" / assignment.name
        home.mkdir(parents=True)
        mine = text.replace("your answer", f"your answer {number}")
        notebook = json.loads(mine)
        notebook["cells"].append(
            {
                "cell_type": "markdown",
                "id": "signature",
                "metadata": {},
                "source": f"submission {number}",
            }
        )
        (home / assignment.source.name).write_text(json.dumps(notebook))
    return folder


def seconds(command: list[str], folder: Path, cores: int | None = None) -> float:
    """How long a command takes, on so many cores; it has to succeed."""
    mine = sorted(os.sched_getaffinity(0))[:cores]
    start = time.perf_counter()
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
    run = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},  # nbgrader calls a program beside it
        preexec_fn=lambda: os.sched_setaffinity(0, mine),
    )
    if run.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{run.stdout}{run.stderr}")
    return time.perf_counter() - start


def ours(
    folder: Path, assignment: Assignment, workers: int, cores: int | None = None
) -> float:
    """Seconds of `autograder grade`, the start of the program included."""
    command = [sys.executable, "-m", "autograder", "grade", assignment.name]
    return seconds([*command, "--workers", str(workers)], folder, cores)


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


def family(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from family(int(child))


def memory(pid: int) -> float:
    """Memory of a process and its descendants in MiB; shared pages count once."""
    total = 0
    for member in family(pid):
        try:
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
        except OSError:
            continue
        found = [line for line in rollup.splitlines() if line.startswith("Pss:")]
        total += int(found[0].split()[1]) if found else 0
    return total / 1024


def over_time(folder: Path, assignment: Assignment, size: int) -> None:
    """Rate and memory in the quarters of a long run."""
    command = [sys.executable, "-m", "autograder", "grade", assignment.name]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    start, quarter, done = time.perf_counter(), 0, 0
    last = start
    for line in process.stdout:
        if not line.startswith("["):
            continue
        done += 1
        if done >= size * (quarter + 1) // 4:
            quarter += 1
            now = time.perf_counter()
            rate = size / 4 / (now - last)
            print(
                f"    quarter {quarter}: {rate:.1f} submissions a second, "
                f"{memory(process.pid):.0f} MiB"
            )
            last = now
    if process.wait():
        sys.exit("grading failed")


def machine() -> str:
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ["01-attention", "03-multi-head"]
    parser.add_argument("assignments", nargs="*", default=default)
    parser.add_argument("--few", type=int, default=8, help="for nbgrader")
    parser.add_argument("--some", type=int, default=200, help="for (a) and (b)")
    parser.add_argument("--many", type=int, default=0, help="for (c); 0: leave it out")
    options = parser.parse_args()
    course = Course(ROOT)
    print(f"{time.strftime('%Y-%m-%d')}, {machine()}")
    for assignment in course.chosen(options.assignments):
        print(f"\n{assignment.name}")
        given = json.loads(notebook_text(students_notebook(course, assignment)))
        text = solved(given, reference_answers(assignment))
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch)

            def new(name: str, size: int, home=home, assignment=assignment, text=text):
                return classroom(home / name, assignment, [text] * size)

            theirs = options.few / nbgraders(new("theirs", options.few), assignment)
            texts = mixed(kinds(course, assignment), options.some)
            real = classroom(home / "real", assignment, texts)
            both = options.some / ours(real, assignment, 2, 2)
            print(f"(a) a mixed class: {both:.1f} a second, nbgrader {theirs:.2f} with")
            print(f"    right answers: {both / theirs:.0f} times")
            two = options.some / ours(new("two", options.some), assignment, 2, 2)
            one = options.some / ours(new("one", options.some), assignment, 1, 1)
            free = options.some / ours(new("free", options.some), assignment, 1)
            print(f"    all right: {two:.1f} a second,", end=" ")
            print(f"{two / theirs:.0f} times")
            print(f"(b) two workers on two cores {two / one:.2f} times one on one;")
            print(f"    {two / free:.2f} times one worker that may use all cores")
            if options.many:
                print(f"(c) {options.many} submissions")
                over_time(new("many", options.many), assignment, options.many)


if __name__ == "__main__":
    main()
