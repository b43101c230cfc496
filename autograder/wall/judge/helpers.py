"""Error carried forward: a mistake in one question costs no points in the next.

Where a question builds on an earlier one that has lost points, its cells run with the
book's own answer to that one, or with that of the visible checks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from autograder.checks.assignment import Assignment
from autograder.checks.published import source
from autograder.checks.visible_hunt import Game
from autograder.notebook.test_cells import CHECKS
from autograder.wall.records import Cell

UNANSWERED = "no answer yet"


def assignments(cell: Cell) -> Iterator[Assignment]:
    """The assignments of whose checks a test cell has imported some."""
    for short in CHECKS.findall(cell.source):
        module = sys.modules.get(f"autograder.checks.{short}")
        if assignment := getattr(module, "assignment", None):
            yield assignment


def helpers(cell: Cell) -> list[tuple[str, str]]:
    """The names that a question is built on, each with a program that is right."""
    return [
        (used, source(used, assignment.name))
        for assignment in assignments(cell)
        for used in assignment.builds_on(question_of(cell))
    ]


def is_hunt(cell: Cell) -> bool:
    """Whether a question is known to ask for a test that the student writes."""
    questions = [one.questions.get(question_of(cell)) for one in assignments(cell)]
    return any(one and isinstance(one.checks[0], Game) for one in questions)


def question_of(cell: Cell) -> str:
    """The name of a question, by which its assignment knows it."""
    return (cell.test or "").removeprefix("test_")


def judged_with(names: Iterable[str], holds: bool) -> str:
    """The first line of a message about a question that was judged once more."""
    given = " and ".join(f"`{name}`" for name in names)
    told = f"this question uses {given}, the source of the mistake above; with a right "
    told += "version instead, "
    return told + ("it passes" if holds else "it still fails:")
