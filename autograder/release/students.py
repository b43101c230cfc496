"""From solutions/ to exercises/: nbgrader makes the students' notebook, we check it."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import add_assignments, describe
from autograder.release.rules import broken_rules

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


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder release`."""
    describe(
        verb,
        "A notebook that would leak an answer, or breaks a rule that grading relies "
        "on, is not written.",
        "autograder release 01-attention",
    )
    add_assignments(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Release the chosen assignments."""
    course = Course.find()
    for assignment in course.chosen(options.assignments):
        path = release(course, assignment)
        print(f"{assignment.name}: released to {path.relative_to(course.root)}")


def release(course: Course, assignment: Assignment) -> Path:
    """Write exercises/<assignment>/<notebook>.ipynb.

    CourseError when it would leak an answer, or breaks a rule that grading relies on.
    """
    solution = solution_notebook(assignment)
    if broken := broken_rules(assignment, solution):
        rules = "".join(f"\n  {sentence}" for sentence in broken)
        raise CourseError(f"{assignment.name} is not released:{rules}")
    text = notebook_text(students_notebook(course, assignment))
    leaks = find_leaks(text, solution)
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
