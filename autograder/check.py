"""Restart a notebook, run all of it, and say which visible checks hold.

For students: it needs the visible checks only, no kernel and no nbgrader.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from autograder.checks.question import CheckFailed, told
from autograder.course import CourseError
from autograder.submission import SIZE_LIMIT, Held, read

CHECKED = re.compile(r"^check\.(\w+)\(", re.MULTILINE)


def check(path: Path, seconds: float) -> int:
    """Print a line or a message for each question; 0 when every check holds."""
    cells = code_cells(path)
    questions = [cell["question"] for cell in cells if cell["question"]]
    if not questions:
        raise CourseError(f"{path} has no check of this course.")
    finished = run(cells, path.resolve().parent, seconds)
    for number, outcome in enumerate(finished, 1):
        question, problem = outcome["question"], outcome["problem"]
        if question:
            print(problem or outcome["said"].strip() or f"{question}: holds")
        elif problem:
            print(f"Code cell {number}: {problem}")
    if len(finished) < len(cells):
        print(
            f"Code cell {len(finished) + 1} did not finish in {seconds:g} s; the rest "
            "was not run."
        )
    held = sum(bool(o["question"]) and not o["problem"] for o in finished)
    print(f"The visible checks of {held} of {len(questions)} questions hold.")
    return 0 if held == len(questions) else 1


def code_cells(path: Path) -> list[dict[str, Any]]:
    """The notebook's code; ``question`` is the name that a cell checks, or None."""
    try:
        with path.open("rb") as file:
            cells = read(file.read(SIZE_LIMIT + 1))
    except OSError as error:
        raise CourseError(f"{path} cannot be opened: {error.strerror}.") from None
    except Held as held:
        raise CourseError(f"{path}: {held}") from None
    found = []
    for cell in cells:
        if cell["cell_type"] == "code":
            checked = CHECKED.search(cell["source"])
            question = checked[1] if checked else None
            found.append({"source": cell["source"], "question": question})
    return found


def run(
    cells: list[dict[str, Any]], folder: Path, seconds: float
) -> list[dict[str, Any]]:
    """Run the cells in a fresh process; the outcomes of those that finished."""
    home = str(Path(__file__).resolve().parent.parent)
    paths = [home, os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "MPLBACKEND": "agg",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch, "results")
        results.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "autograder.check", str(results)],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.communicate(json.dumps(cells).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        lines = results.read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


# ------------------------------------------------------- in the fresh process


def run_here(cells: list[dict[str, Any]], results: Path) -> None:
    """Run cell after cell in one namespace; a line of JSON for each, at once."""
    names: dict[str, Any] = {"__name__": "__main__", "display": print}
    with results.open("a", encoding="utf-8") as file:
        for cell in cells:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                problem = problem_of(cell, names)
            outcome = {
                "question": cell["question"],
                "said": said.getvalue()[:10_000],
                "problem": problem,
            }
            file.write(json.dumps(outcome) + "\n")
            file.flush()


def problem_of(cell: dict[str, Any], names: dict[str, Any]) -> str | None:
    """Run one cell; what went wrong, in the words of the checks."""
    try:
        exec(compiled(cell["source"]), names)
    except CheckFailed as failure:
        return str(failure)
    except (Exception, SystemExit) as error:
        if not cell["question"]:
            return traceback.format_exception_only(error)[-1].strip()
        failure = told(error)
        failure.title = cell["question"]
        return str(failure)
    return None


def compiled(source: str) -> Any:
    """The code of a cell, without the lines that only Jupyter understands."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        tree = ast.parse(re.sub(r"^[ \t]*[%!].*$", "", source, flags=re.MULTILINE))
    return compile(tree, "<cell>", "exec", dont_inherit=True)  # no __future__ of ours


if __name__ == "__main__":
    run_here(json.load(sys.stdin), Path(sys.argv[1]))
