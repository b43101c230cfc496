"""Validation of an assignment before its release: each broken rule as a sentence."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from nbformat import NotebookNode

from autograder import registry
from autograder.checks.catalog import Catalog
from autograder.checks.question import Hidden
from autograder.course import Assignment
from autograder.errors import CourseError
from autograder.release.pack import refuse_hidden_in_visible
from autograder.text import one_line

HALVES = ("visible/__init__.py", "hidden/__init__.py")


def broken_rules(assignment: Assignment, solution: NotebookNode) -> Iterator[str]:
    """What is wrong with an assignment that has checks of its own.

    One with plain asserts in its test cells is nbgrader's business alone.
    """
    halves = [assignment.source.parent / half for half in HALVES]
    missing = [half for half in halves if not half.is_file()]
    if len(missing) == 1:
        yield f"There is no {missing[0]}; the checks need both halves."
        return
    package = checks_of(assignment.notebook)
    if package is None:
        return
    for number, cell in enumerate(solution.cells, 1):
        if not about(cell).get("grade_id"):
            first = (cell.source.strip().splitlines() or ["empty"])[0][:40]
            yield (
                f"Cell {number} ({first}) has no grade_id from nbgrader; add one, and "
                "lock the cell."
            )
    cells = {about(cell).get("grade_id", ""): cell for cell in solution.cells}
    code = [name for name, cell in cells.items() if cell.cell_type == "code"]
    answers = [name for name in code if about(cells[name]).get("solution")]
    tests = [
        name for name in code if about(cells[name]).get("grade") and name not in answers
    ]
    for name in answers:
        yield from broken_answer(name, cells, package)
    for test in tests:
        if not test.startswith("test_") or test.removeprefix("test_") not in answers:
            yield (
                f"The test cell {test} belongs to no answer; its grade_id has to be "
                "test_ followed by an answer's grade_id."
            )
    questions: dict[str, Any] = package.assignment.questions
    for name in questions:
        if f"test_{name}" not in tests:
            yield f"There are checks for {name}, but no test cell test_{name}."
    yield from thin_catalog(assignment.notebook, questions)


def broken_answer(
    name: str, cells: dict[str, NotebookNode], package: ModuleType
) -> Iterator[str]:
    """What is wrong with one answer, its test cell and its question."""
    question, test = package.assignment.questions.get(name), cells.get(f"test_{name}")
    if not cells[name].source.startswith((f"def {name}(", f"class {name}")):
        yield f"The answer {name} does not start with its def or class."
    elif test is None:
        yield f"The answer {name} has no test cell; add one called test_{name}."
    elif question is None:
        yield f"{package.__name__} has no question called {name}."
    else:
        yield from different_points(name, test, question.points)
        yield from uneven_shares(name, package.assignment.load("hidden"))
        for call in (f"check.{name}({name})", f"check.hidden.{name}({name})"):
            if call not in test.source.splitlines():
                yield f"The test cell test_{name} has no line {call}."


def different_points(name: str, test: NotebookNode, points: float) -> Iterator[str]:
    """That a test cell and its question say different points."""
    said = about(test).get("points")
    if said != points:
        yield (
            f"The test cell test_{name} says {said:g} points, but its question says "
            f"{points:g}."
        )


def uneven_shares(name: str, hidden: ModuleType | None) -> Iterator[str]:
    """That a question has no hidden half, or one whose parts do not make 1."""
    half = getattr(hidden, name, None)
    if not isinstance(half, Hidden):
        file = getattr(hidden, "__file__", "hidden/__init__.py")
        yield f"{file} has no `{name} = Hidden(visible.{name}, core=…)`."
    elif type(half) is Hidden:
        parts = round(half.core + sum(share for share, _ in half.checks), 6)
        if parts != 1:
            yield f"The core and the shares of {name} add up to {parts:g}; make it 1."


def expect_points(assignment: Assignment, solution: NotebookNode) -> None:
    """CourseError when points are written in two places and differ."""
    package = checks_of(assignment.notebook)
    if package is None:
        return
    tests = {about(cell).get("grade_id"): cell for cell in solution.cells}
    broken = [
        sentence
        for name, question in package.assignment.questions.items()
        if f"test_{name}" in tests
        for sentence in different_points(name, tests[f"test_{name}"], question.points)
    ]
    if broken:
        raise CourseError(f"{assignment.name} cannot be graded: {' '.join(broken)}")


def thin_catalog(checks: str, questions: dict[str, Any]) -> Iterator[str]:
    """Questions with too few known mistakes to trust their checks."""
    catalog, course = catalog_of(checks), registry.course_of(checks)
    if catalog is None or course is None:
        yield f"{registry.folder_of(checks)}/hidden/ has no catalog."
        return
    for name, question in questions.items():
        least = question.catalogued or course.least
        mistakes = len(catalog.of(name))
        styles = sum(style.question == name for style in catalog.styles)
        if mistakes < least[0] or styles < least[1]:
            yield (
                f"The catalog has {mistakes} wrong and {styles} right answers to "
                f"{name}; it needs at least {least[0]} and {least[1]}."
            )


def checks_of(name: str) -> ModuleType | None:
    """The package of an assignment's checks; None where it has none."""
    folder = registry.folder_of(name)
    if folder is None:
        return None
    refuse_hidden_in_visible(folder / "visible")
    try:
        package = registry.checks_of(name)
        if hasattr(package, "assignment"):
            package.assignment.load("hidden")
    except Exception as error:  # whatever their code does
        frames = traceback.extract_tb(error.__traceback__)[::-1]
        own = (one for one in frames if Path(one.filename).is_relative_to(folder))
        frame = next(own, frames[0])
        file, line, said = frame.filename, frame.lineno, str(error)
        if isinstance(error, SyntaxError):  # its frame is that of the import
            file, line, said = str(error.filename), error.lineno, error.msg
        if not isinstance(error, CourseError):
            said = f"{type(error).__name__}: {said}"
        said = one_line(said.rstrip("."))
        raise CourseError(
            f"The checks in {folder} cannot be imported: {said} ({file}, line {line})."
        ) from error
    if not hasattr(package, "assignment"):
        raise CourseError(
            f"{package.__file__} has no `assignment = Assignment(__name__, …)`."
        )
    return package


def catalog_of(name: str) -> Catalog | None:
    """The catalog of misconceptions of an assignment's checks; None: there is none."""
    package = checks_of(name)
    return package.assignment.catalog if package else None


def about(cell: NotebookNode) -> Any:
    """nbgrader's metadata of a cell; empty where it has none."""
    return cell.metadata.get("nbgrader", {})
