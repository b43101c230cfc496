"""From solutions/ to exercises/: nbgrader makes the students' notebook, we check it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

import autograder
from autograder.course import Assignment, Course, CourseError, write_whole

# regions of a solution notebook that students never see
REGION = re.compile(
    r"^.*BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME).*$\n"
    r"(?P<text>(?:.*\n)*?)"
    r"^.*END \1.*$",
    re.MULTILINE,
)
MARKERS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "HIDDEN TESTS",
    "MARK SCHEME",
    "check.hidden",
)


def release(course: Course, assignment: Assignment) -> Path:
    """Write exercises/<assignment>/<notebook>.ipynb, unless it would leak an answer."""
    text = notebook_text(students_notebook(course, assignment))
    leaks = find_leaks(text, solution_notebook(assignment))
    if leaks:
        raise CourseError(
            f"{assignment.name} is not released, it would leak {', '.join(leaks)}."
        )
    target = course.exercises / assignment.name / assignment.source.name
    for name, data in extra_files(assignment).items():
        write_whole(target.parent / name, data)
    write_whole(target, text)
    return target


def solution_notebook(assignment: Assignment) -> NotebookNode:
    """The instructor's notebook."""
    try:
        return nbformat.read(assignment.source, as_version=4)
    except Exception as error:
        raise CourseError(
            f"{assignment.source} cannot be read as a notebook: {error}"
        ) from None


def students_notebook(course: Course, assignment: Assignment) -> NotebookNode:
    """What nbgrader's GenerateAssignment makes of the solution notebook.

    Its steps run on the notebook in memory; the one that writes the gradebook is left
    out, so that a release never touches grades.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import SaveCells

    config = course.nbgrader()
    steps = GenerateAssignment(coursedir=CourseDirectory(config=config)).preprocessors
    notebook = solution_notebook(assignment)
    for step in steps:
        if step is SaveCells:
            continue
        try:
            notebook, _ = step(config=config).preprocess(notebook, {"nbgrader": {}})
        except Exception as error:
            raise CourseError(
                f"nbgrader cannot release {assignment.name}: {error}"
            ) from error
    for number, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{number}")
    notebook.nbformat_minor = max(notebook.nbformat_minor, 5)
    return notebook


def notebook_text(notebook: NotebookNode) -> str:
    """The notebook as text, always the same for the same content."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def find_leaks(released: str, solution: NotebookNode) -> list[str]:
    """What of the solution can be read in the text of the released notebook."""
    notebook = json.loads(released)
    sources = "\n".join("".join(cell["source"]) for cell in notebook["cells"])
    lines = {line.strip() for line in sources.splitlines()}
    leaks = [f"the text '{marker}'" for marker in MARKERS if marker in released]
    for cell in solution.cells:
        given = {line.strip() for line in REGION.sub("", cell.source).splitlines()}
        for match in REGION.finditer(cell.source):
            secret = {line.strip() for line in match["text"].splitlines()} - given
            if any(len(line) > 8 and line in lines for line in secret):
                name = cell.metadata.get("nbgrader", {}).get("grade_id", cell.get("id"))
                leaks.append(f"a line of the {match[1].lower()} of {name}")
    if any(cell.get("outputs") for cell in notebook["cells"]):
        leaks.append("the outputs of the solution")
    return leaks


def extra_files(assignment: Assignment) -> dict[str, bytes]:
    """The files that come with the notebook: data, pictures, helper modules."""
    folder = assignment.source.parent
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and path != assignment.source
        and not any(part.startswith((".", "__")) for part in path.parts[-2:])
    }


def plan(course: Course, assignment: Assignment) -> dict[str, Any]:
    """Everything that grading needs to know about an assignment, as plain JSON.

    Each graded or locked cell has its released text, and test cells have the
    instructor's text beside it. ``hash`` changes when a verdict could.
    """
    given = students_notebook(course, assignment)
    solution = solution_notebook(assignment)
    cells = [
        plan_cell(released, original.source)
        for released, original in zip(given.cells, solution.cells, strict=True)
        if "nbgrader" in released.metadata
    ]
    everything = "\n".join(cell.source for cell in solution.cells)
    needs_torch = re.search(r"^\s*(import|from) torch\b", everything, re.MULTILINE)
    release = {
        "assignment": assignment.name,
        "notebook": assignment.notebook,
        "profile": "torch" if needs_torch else "numpy",
        "metadata": json.loads(json.dumps(given.metadata)),
        "cells": cells,
        "files": {
            name: base64.b64encode(data).decode()
            for name, data in extra_files(assignment).items()
        },
    }
    digest = hashlib.sha256(json.dumps(release, sort_keys=True).encode())
    for path, data in engine_files(assignment.notebook):
        digest.update(f"\0{path}\0".encode() + data)
    return release | {"hash": digest.hexdigest()}


def plan_cell(released: NotebookNode, original: str) -> dict[str, Any]:
    """One cell of the release: what it is for, and both of its texts."""
    about = released.metadata["nbgrader"]
    if about.get("solution"):
        by_hand = about.get("grade") or released.cell_type != "code"
        kind = "written" if by_hand else "answer"
    elif about.get("grade") and released.cell_type == "code":
        kind = "test"
    else:
        kind = "locked"
    return {
        "kind": kind,
        "grade_id": about["grade_id"],
        "points": float(about.get("points", 0)),
        "id": released.id,
        "cell_type": released.cell_type,
        "metadata": json.loads(json.dumps(released.metadata)),
        "released": released.source,
        "source": original if kind == "test" else released.source,
    }


def engine_files(checks: str) -> Iterator[tuple[str, bytes]]:
    """The code that decides an assignment's verdicts.

    Its own checks, what all checks share, the wall, the matching of cells and the
    book's modules, which students may import. A change in another assignment's checks
    is none of its business.
    """
    home = Path(autograder.__file__).parent
    paths = [
        *home.glob("checks/*.py"),
        *home.glob(f"checks/{checks}/**/*.py"),
        *home.glob("wall/**/*.py"),
        home / "submission.py",
        home / "grading" / "job.py",
        home.parent / "book" / "attention.py",
        home.parent / "book" / "minilm.py",
    ]
    for path in sorted(paths):
        yield path.relative_to(home.parent).as_posix(), path.read_bytes()
