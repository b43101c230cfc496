"""Loader of the solution notebook, and of the students' version made by nbgrader."""

from __future__ import annotations

import contextlib
import copy
import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
from nbformat import NotebookNode
from traitlets.utils.importstring import import_item

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import stays
from autograder.text import one_line

CHECKS = ("visible", "hidden")  # packages of checks, which go nowhere with a notebook


def solution_notebook(assignment: Assignment) -> NotebookNode:
    """The instructor's notebook."""
    try:
        notebook = nbformat.read(assignment.source, as_version=4)
    except Exception as error:
        raise CourseError(
            f"{assignment.source} cannot be read as a notebook: {error}"
        ) from None
    cells = (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
    names = Counter(about["grade_id"] for about in cells if about.get("grade_id"))
    if twice := [name for name, times in names.items() if times > 1]:
        raise CourseError(
            f"{assignment.source} has several cells with the same grade id: "
            f"{', '.join(map(one_line, twice))}. Give each cell its own id."
        )
    return notebook


def prepared(
    course: Course, assignment: Assignment
) -> tuple[NotebookNode, NotebookNode]:
    """The notebook with all of its tests, as grading runs them, and the students'.

    The steps of nbgrader's GenerateAssignment run on the notebook in memory. In place
    of the one that writes the gradebook, what it would write is kept: a release never
    touches grades.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.preprocessors import SaveCells

    config = course.nbgrader()
    directory = CourseDirectory(config=config)
    steps = GenerateAssignment(coursedir=directory, config=config).preprocessors
    notebook = stored = solution_notebook(assignment)
    link_pages(notebook, course)
    folder = str(assignment.source.parent)
    resources = {"nbgrader": {}, "metadata": {"path": folder}}
    for named in steps:
        step = import_item(named) if isinstance(named, str) else named
        if step is SaveCells:
            stored = copy.deepcopy(notebook)
            continue
        try:
            # the settings give a header's path relative to the course
            with contextlib.chdir(course.root):
                notebook, _ = step(config=config)(notebook, resources)
        except Exception as error:
            old = type(error).__name__ == "SchemaTooOldError"
            advice = f"; run `nbgrader update {assignment.source}`" if old else ""
            raise CourseError(
                f"nbgrader cannot release {assignment.name}: {error}"
                f"{where(step, config, notebook)}{advice}"
            ) from error
    pictures_removed(notebook)
    if notebook.nbformat_minor >= 5:  # cells of older formats have no ids
        for number, cell in enumerate(notebook.cells):
            cell.setdefault("id", f"cell-{number}")
    return stored, notebook


def where(step: type, config: Any, notebook: NotebookNode) -> str:
    """The first cell that a step of nbgrader which clears something fails on."""
    if step.__name__.startswith("Clear"):
        for number, cell in enumerate(copy.deepcopy(notebook.cells), 1):
            try:
                step(config=config).preprocess_cell(cell, {}, number)
            except Exception:
                name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                return f" (cell {number}, {one_line(name)})"
    return ""


def students_notebook(course: Course, assignment: Assignment) -> NotebookNode:
    """What nbgrader's GenerateAssignment makes of the solution notebook."""
    return prepared(course, assignment)[1]


def notebook_text(notebook: NotebookNode) -> str:
    """The notebook as text, always the same for the same content."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"


def extra_files(course: Course, assignment: Assignment) -> dict[str, bytes]:
    """The files that come with the notebook: data, pictures, helper modules."""
    folder, ignored = assignment.source.parent, course.ignored()
    return {
        name.as_posix(): (folder / name).read_bytes()
        for name in files_in(folder)
        if not stays(name, ignored) and (len(name.parts) > 1 or name.suffix != ".ipynb")
    }


def kept_back(course: Course, assignment: Assignment) -> list[Path]:
    """The names of files in an assignment's folder that stay with the instructor."""
    ignored = course.ignored()
    return [n for n in files_in(assignment.source.parent) if stays(n, ignored)]


def files_in(folder: Path) -> list[Path]:
    """All files in a folder and below, as they are called from there.

    Packages of checks are no files of the notebook's.
    """
    checks = [part for part in CHECKS if (folder / part / "__init__.py").is_file()]
    names = [p.relative_to(folder) for p in sorted(folder.rglob("*")) if p.is_file()]
    return [name for name in names if name.parts[0] not in checks]


def pictures_removed(notebook: NotebookNode) -> None:
    """Take out the pictures that no text shows: those of answers and mark schemes."""
    for cell in notebook.cells:
        shown = unquote(cell.source)
        for name in list(cell.get("attachments", {})):
            if f"attachment:{name}" not in shown:
                del cell.attachments[name]
        if "attachments" in cell and not cell.attachments:
            del cell["attachments"]


def link_pages(notebook: NotebookNode, course: Course) -> None:
    """Make links of the pages that a notebook's text names by their number.

    Only where `_config.yml` says where the site is served; lines of HTML stay.
    """
    address, about = course.site(), course.about()
    if not address or about is None:
        return
    pages = {int(path.stem[:2]): path.stem for path in about.pages()}
    named = re.compile(rf"\b{re.escape(about.unit)} (\d{{1,2}})\b(?!\])")

    def link(match: re.Match[str]) -> str:
        page = pages.get(int(match[1]))
        return f"[{match[0]}]({address}book/{page}.html)" if page else match[0]

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = cell.source.split("\n")
            cell.source = "\n".join(
                line if line.startswith("<") else named.sub(link, line)
                for line in lines
            )
