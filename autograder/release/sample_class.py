"""Generator of a sample class: invented students with right, wrong and broken work.

``python -m autograder.release.sample_class FOLDER`` writes a course folder with them,
to try grading on, for the assignments of the course around the current folder. The same
course gives the same class, byte for byte.
"""

from __future__ import annotations

import argparse
import copy
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from autograder import registry
from autograder.checks.catalog import Catalog
from autograder.checks.entries import Mistake, Style
from autograder.course import CONFIG, Assignment, Course
from autograder.errors import CourseError
from autograder.release.solutions import (
    notebook_text,
    solution_notebook,
    students_notebook,
)
from autograder.release.validation import catalog_of

NAMES = (
    "ada bela chen dana emil fatou goro hana ines jonas kofi lena mateo nadia oskar "
    "priya quang rosa sami tova"
)
WRITTEN = (
    "A query says what a token looks for, a key says what it can be found by, and a "
    "value says what it hands over. With one vector for all three, the scores are "
    "symmetric and every token looks mostly at itself."
)
Cell = dict[str, Any]  # of a notebook file, as JSON has it
READS_SOLUTIONS = """\
import glob

for path in glob.glob("../../../solutions/*/*.ipynb"):
    print(open(path).read())
raise SystemExit("found no solution")
"""


def write_class(course: Course, assignments: list[Assignment], folder: Path) -> int:
    """Write a course folder with a class; how many submissions there are."""
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty.")
    folder.mkdir(parents=True, exist_ok=True)
    for name in (CONFIG, registry.FILE):
        if (course.root / name).is_file():
            shutil.copy(course.root / name, folder / name)
    known = registry.enclosing(course.root)
    for path in registry.read(known).library.values() if known else ():
        (folder / path.parent.name).mkdir(exist_ok=True)
        shutil.copy(path, folder / path.parent.name)
    written = 0
    for assignment in assignments:
        place = assignment.source.parent.relative_to(course.root)
        shutil.copytree(assignment.source.parent, folder / place)
        for student, text in submissions(course, assignment):
            path = folder / "submitted" / student / assignment.name
            path.mkdir(parents=True)
            (path / assignment.source.name).write_text(text, "utf-8")
            written += 1
    return written


def submissions(course: Course, assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Each student of the class and the text of the file they hand in."""
    untouched = json.loads(notebook_text(students_notebook(course, assignment)))
    catalog = catalog_of(assignment.notebook)
    if catalog is None:
        raise CourseError(f"{assignment.name} has no catalog to invent answers from.")
    reference = reference_answers(assignment)
    first, *_, last = reference
    half = dict(list(reference.items())[: (len(reference) + 1) // 2])
    right = solved(untouched, reference)
    loops = f"def {last}(*args, **kwargs):\n    while True:\n        pass\n"
    names = iter(NAMES.split())

    yield next(names), right
    for number in range(4):  # right, in other styles
        other = answers(catalog, catalog.styles[number::4])
        yield next(names), solved(untouched, reference | other)
    for number in range(11):  # one mistake, two, or three
        mistakes = Random(52 + number).sample(catalog.misconceptions, number % 3 + 1)
        wrong = answers(catalog, mistakes)
        yield next(names), solved(untouched, reference | wrong)
    yield next(names), solved(untouched, half, written="")
    yield next(names), text_of(untouched)
    yield next(names), without_metadata(right)
    yield next(names), right[:-900]  # an upload that broke off
    yield "una", with_cells(right, repeat_test)
    yield "vito", with_cells(right, delete_tests)
    yield "wanda", "<!DOCTYPE html>\n<html><title>Log in</title></html>\n"
    yield "aron", solved(untouched, reference | {last: loops})
    yield "yara", solved(untouched, reference | {first: READS_SOLUTIONS})


def reference_answers(assignment: Assignment) -> dict[str, str]:
    """The code of the solution notebook, by question."""
    answers = {}
    for cell in solution_notebook(assignment).cells:
        about = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and about.get("solution"):
            lines = cell.source.splitlines(keepends=True)
            kept = [line for line in lines if " SOLUTION" not in line]
            answers[about["grade_id"]] = "".join(kept)
    return answers


def answers(catalog: Catalog, entries: Iterable[Style | Mistake]) -> dict[str, str]:
    """The code of these entries with the helpers that they use, by question."""
    helpers = catalog.prelude.strip()
    return {e.question: f"{helpers}\n\n\n{e.code.strip()}\n" for e in entries}


def solved(
    notebook: dict[str, Any], answers: dict[str, str], written: str = WRITTEN
) -> str:
    """The notebook with these answers filled in."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "markdown" and about.get("solution") and written:
            cell["source"] = written
        elif about.get("grade_id") in answers:
            cell["source"] = answers[about["grade_id"]]
    return text_of(notebook)


def text_of(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def with_cells(text: str, change: Callable[[list[Cell]], list[Cell]]) -> str:
    """The notebook with its list of cells changed."""
    notebook = json.loads(text)
    notebook["cells"] = change(notebook["cells"])
    return text_of(notebook)


def without_metadata(text: str) -> str:
    """What is left when another editor saves the notebook."""

    def strip(cells: list[Cell]) -> list[Cell]:
        return [dict(cell, metadata={}, id=f"c{n}") for n, cell in enumerate(cells)]

    return with_cells(text, strip)


def repeat_test(cells: list[Cell]) -> list[Cell]:
    """The first test cell pasted once more at the end."""
    return [*cells, next(filter(is_test, cells)) | {"id": "pasted"}]


def delete_tests(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if not is_test(cell)]


def is_test(cell: Cell) -> bool:
    about = cell["metadata"].get("nbgrader", {})
    return bool(about.get("grade") and not about.get("solution"))


def main() -> int:
    """Write a class for each assignment in the arguments, or for the first one."""
    options = argparse.ArgumentParser(
        prog="python -m autograder.release.sample_class",
        description="Write a course folder with a class of invented students.",
        epilog="example: python -m autograder.release.sample_class /tmp/class",
    )
    options.add_argument("folder", type=Path, metavar="FOLDER")
    shown = "folder names in solutions/ (default: the first with a catalog)"
    options.add_argument("assignments", nargs="*", metavar="ASSIGNMENT", help=shown)
    given = options.parse_args()
    try:
        course = Course.find()
        chosen = course.chosen(given.assignments)
        if not given.assignments:
            numbered = [one for one in chosen if not one.name.startswith("00")]
            chosen = [one for one in numbered if catalog_of(one.notebook)][:1]
        written = write_class(course, chosen, given.folder)
    except CourseError as error:
        print(f"sample_class: {error}", file=sys.stderr)
        return 2
    print(f"{written} submissions are in {given.folder / 'submitted'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
