"""Error carried forward: a mistake in one question costs no points in the next.

Where a question builds on an earlier one that has lost points, its cells run with the
book's own answer to that one, or with that of the visible checks.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from autograder.checks.published import source
from autograder.wall.records import Cell

UNANSWERED = "no answer yet"
_CHECKS = re.compile(r"autograder\.checks(?:\.| import )(\w+)")


def helpers(cell: Cell) -> list[tuple[str, str]]:
    """The names that a question is built on, each with a program that is right."""
    found = []
    for short in _CHECKS.findall(cell.source):
        module = sys.modules.get(f"autograder.checks.{short}")
        if assignment := getattr(module, "assignment", None):
            name = (cell.test or "").removeprefix("test_")
            found += [
                (used, source(used, short)) for used in assignment.builds_on(name)
            ]
    return found


def judged_with(names: Iterable[str], holds: bool) -> str:
    """The first line of a message about a question that was judged once more."""
    given = " and ".join(f"`{name}`" for name in names)
    told = f"this question uses {given}, the source of the mistake above; with a right "
    told += "version instead, "
    return told + ("it passes" if holds else "it still fails:")
