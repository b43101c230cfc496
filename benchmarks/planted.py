"""Do the tests notice? Ten faults, one in each part, each in a copy of the last commit.

    python -m benchmarks.planted [PART ...]

A line for each fault: what `make quick` says of it, and what `make test` does, with the
test that fails first. Of `make test`, the tests beside the part run first, and all
others only if those pass. Commit before: what is not committed is not in the copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEED = os.environ.get("SEED", "1")
MAKE = ["make", "--no-print-directory", "-o", "setup", "-o", "lint", "-o", "book"]


@dataclass(frozen=True)
class Fault:
    """One small error: in a file, an old text that occurs there once and a new one."""

    part: str
    says: str
    file: str
    old: str
    new: str
    beside: str  # the tests that run first


FAULTS = [
    Fault(
        "wire",
        "an array may be longer than its shape says",
        "autograder/wall/wire/decoding.py",
        "dtype.itemsize != len(",
        "dtype.itemsize > len(",
        "tests/wall/test_wire.py",
    ),
    Fault(
        "wall",
        "what students see of the environment can be written",
        "autograder/wall/sandbox/namespaces.py",
        "_attributes(root + folder, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV, deep=True)",
        "_attributes(root + folder, ATTR_NOSUID | ATTR_NODEV, deep=True)",
        "tests/wall/test_escape.py",
    ),
    Fault(
        "verdicts",
        "a held submission has points",
        "autograder/grading/verdict.py",
        "return None if self.held else round(",
        "return round(",
        "tests/grading/test_verdict.py tests/grading/test_grade.py",
    ),
    Fault(
        "names",
        "outcomes of different mistakes are rounded to the same",
        "autograder/checks/fingerprints.py",
        "8: 1e5}",
        "8: 1}",
        "tests/checks/test_fingerprints.py tests/checks/test_catalog.py",
    ),
    Fault(
        "release",
        "lines of the solution may be in what students get",
        "autograder/release/leaks.py",
        "plain = len(line) <= 8 or",
        "plain = len(line) <= 80 or",
        "tests/grading/test_proof.py",
    ),
    Fault(
        "collect",
        "of several versions the first is handed in",
        "autograder/intake/submissions.py",
        'max(moments) if self.keep == "latest" else min(moments)',
        "min(moments)",
        "tests/teaching/test_collect.py",
    ),
    Fault(
        "marks",
        "an answer that changed after a person graded it is not marked",
        "autograder/grading/store.py",
        "waits = changed and cell in by_hand",
        "waits = False",
        "tests/grading/test_grade.py",
    ),
    Fault(
        "export",
        "points that wait for a person are exported as final",
        "autograder/results/export.py",
        "verdict.score if verdict.final else None,",
        "verdict.score,",
        "tests/teaching/test_deadlines.py",
    ),
    Fault(
        "page script",
        "a toy divides by the wrong root",
        "book/static/score-scale.js",
        "root: Math.sqrt",
        "root: Math.cbrt",
        "tests/site/test_toys.py",
    ),
    Fault(
        "chapter",
        "a printed number is not what the cell prints",
        "book/02-scaling.ipynb",
        "measured 7.99, predicted 8.00",
        "measured 7.89, predicted 8.00",
        "book/02-scaling.ipynb",
    ),
]


def copy(folder: Path) -> None:
    """The last commit, with the environment and the built site of this checkout."""
    command = ["git", "worktree", "add", "--detach", "--quiet", str(folder), "HEAD"]
    subprocess.run(command, cwd=ROOT, check=True)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    for name in ("html", "pyodide", "ipython"):
        if (ROOT / "_build" / name).exists():
            shutil.copytree(
                ROOT / "_build" / name, folder / "_build" / name, copy_function=os.link
            )


def plant(folder: Path, fault: Fault) -> None:
    """Write the fault into the copy, and into the site that was built from it."""
    path = folder / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        sys.exit(f"{fault.file} does not have {fault.old!r} exactly once any more.")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    if path.suffix == ".js":
        served = folder / "_build/html/_static" / path.name
        served.unlink()  # a link
        shutil.copy(path, served)
        for packed in served.parent.glob(f"{path.name}.*"):
            packed.unlink()


def first_failure(folder: Path, command: list[str]) -> str:
    """The test that failed first, or nothing."""
    paths = [str(folder), str(folder / "book"), str(folder / "tests/light")]
    environment = os.environ | {
        "SEED": SEED,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(paths),
        "IPYTHONDIR": str(folder / "_build/ipython"),
        "BUILT_SITE": "_build/html",
    }
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    said = ran.stdout + ran.stderr
    lines = [s for s in said.splitlines() if s.startswith(("FAILED ", "ERROR "))]
    failed = lines[0].split(" ", 1)[1].partition(" - ")[0] if lines else ""
    if ran.returncode and not failed:
        sys.exit(f"No test failed, and it ended with {ran.returncode}:\n{said[-2000:]}")
    return failed


def main(parts: list[str]) -> None:
    """Print a table in Markdown."""
    print("| part | planted | `make quick` | `make test` |\n|---|---|---|---|")
    pytest = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-n", "2", "-m"]
    pytest += ["not long", "--dist", "loadfile", "--nbval"]
    pytest += ["--nbval-sanitize-with", "tests/book/nbval_sanitize.cfg"]
    for fault in FAULTS:
        if parts and fault.part not in parts:
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "copy"
            try:
                copy(folder)
                plant(folder, fault)
                quick = first_failure(folder, [*MAKE, "quick", "PYTEST_FLAGS=-q -x"])
                test = first_failure(folder, [*pytest, *fault.beside.split()])
                if not test:
                    whole = [*MAKE, "run-tests", "PYTEST_FLAGS=-q -x"]
                    test = first_failure(folder, whole)
            finally:
                command = ["git", "worktree", "remove", "--force", str(folder)]
                subprocess.run(command, cwd=ROOT, check=False)
        cells = [f"`{test}`" if test else "**not noticed**" for test in (quick, test)]
        print(f"| {fault.part} | {fault.says} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
