"""Name lookup for test cells: the student's objects by name, or why one is missing."""

from __future__ import annotations

import ast
import contextlib
from functools import cache
from typing import Any

from autograder.errors import Held
from autograder.notebook.test_cells import Failed, expect_answer, why_missing
from autograder.wall.judge.redaction import HIDDEN, is_written
from autograder.wall.judge.remote import Link, named
from autograder.wall.judge.remote_exceptions import Stopped


class Answers:
    """Finds what the student has defined, and says why it is missing."""

    def __init__(
        self, link: Link, failed: list[Failed], readable: list[str], imports: str = ""
    ) -> None:
        self.link, self.failed, self.readable = link, failed, readable
        self.imports = imports
        self.found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """What the student has under a name, as it is seen from here."""
        if name not in self.found:
            own = imported(name, self.imports)
            if own is not None:
                self.found[name] = own
        if name not in self.found:
            above, there = [*self.link.sources.values()][-1:], self.link.has(name)
            if not there and not is_written(name, self.readable):
                raise Stopped(HIDDEN)
            expect_answer(name, there, self.failed, *above)
            if not there:
                raise Stopped(why_missing(name, self.link.names, self.failed, *above))
            value = named(self.link, name)
            if type(value).__name__ == "module":
                raise Held(f"the test uses the module `{name}` without importing it")
            self.found[name] = value
        return self.found[name]


def imported(name: str, lines: str) -> Any:
    """What the course's own cells import under a name, as it is here; else None.

    So no student can replace it. Modules beside the notebook are not here.
    """
    line = bound(lines).get(name)
    names: dict[str, Any] = {}
    with contextlib.suppress(Exception):
        exec(line or "", names)
    return names.get(name)


@cache
def bound(lines: str) -> dict[str, str]:
    """The lines of imports by the names that they bind."""
    found: dict[str, str] = {}
    for line in lines.splitlines():
        with contextlib.suppress(SyntaxError):
            for node in ast.walk(ast.parse(line)):
                if isinstance(node, ast.alias):
                    found[node.asname or node.name.partition(".")[0]] = line
    return found
