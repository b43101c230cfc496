"""Name lookup for test cells: the student's objects by name, or why one is missing."""

from __future__ import annotations

from typing import Any

from autograder.errors import Held
from autograder.notebook.questions import Failed, why_missing
from autograder.wall.judge.raised import Stopped
from autograder.wall.judge.redaction import HIDDEN, is_written
from autograder.wall.judge.remote import Link, named


class Answers:
    """Finds what the student has defined, and says why it is missing."""

    def __init__(self, link: Link, failed: list[Failed], readable: list[str]) -> None:
        self.link, self.failed, self.readable = link, failed, readable
        self.found: dict[str, Any] = {}

    def find(self, name: str) -> Any:
        """What the student has under a name, as it is seen from here."""
        if name not in self.found:
            if not self.link.has(name):
                if not is_written(name, self.readable):
                    raise Stopped(HIDDEN)
                above = [*self.link.sources.values()][-1:]
                raise Stopped(why_missing(name, self.link.names, self.failed, *above))
            value = named(self.link, name)
            if type(value).__name__ == "module":
                raise Held(f"the test uses the module `{name}` without importing it")
            self.found[name] = value
        return self.found[name]
