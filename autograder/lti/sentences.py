"""Error messages of the LTI commands: texts of sentences.toml, filled in and raised."""

from __future__ import annotations

import tomllib
from pathlib import Path

from autograder.errors import CourseError
from autograder.text import one_line

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Refused(CourseError):
    """What somebody or something else sent is not accepted; ``name`` is the sentence's.

    ``unknown`` when a score may have arrived all the same.
    """

    def __init__(
        self, name: str, /, *, unknown: bool = False, **values: object
    ) -> None:
        super().__init__(sentence(name, **values))
        self.name, self.unknown = name, unknown


def sentence(name: str, /, **values: object) -> str:
    """One of the sentences, with foreign texts put on one line each."""
    safe = {key: one_line(str(value)) for key, value in values.items()}
    return str(TEXTS[name]).format(**safe)
