"""The file of a dry run: its verdicts, kept until ``grade --apply`` stores them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder.course import Course, Submission
from autograder.errors import CourseError
from autograder.grading.verdict import Verdict

SEEN = ".dry-run.jsonl"


@dataclass(frozen=True)
class Seen:
    """The verdicts on a submission's notebooks, by name, and what they are about."""

    release: str
    key: str
    parts: Mapping[str, Verdict]


class DryRun:
    """The file that a dry run writes, a line for each submission.

    It has students' notebooks, so only its owner can read it.
    """

    def __init__(self, course: Course) -> None:
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        descriptor = os.open(course.root / SEEN, flags, 0o600)
        os.close(descriptor)
        self.path = course.root / SEEN

    def note(self, submission: Submission, seen: Seen) -> None:
        """Add one submission."""
        parts = {
            name: {"verdict": verdict.to_json(), "notebook": verdict.notebook}
            for name, verdict in seen.parts.items()
        }
        who = {"assignment": submission.assignment, "student": submission.student}
        about = {"release": seen.release, "key": seen.key, "parts": parts}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(who | about) + "\n")


def read(course: Course) -> dict[tuple[str, str], Seen]:
    """What the last dry run saw, by assignment and student."""
    try:
        lines = (course.root / SEEN).read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise CourseError(
            "There is no dry run to apply; run this first: autograder grade --dry-run"
        ) from None
    return dict(line for line in map(read_line, lines) if line)


def read_line(text: str) -> tuple[tuple[str, str], Seen] | None:
    """One submission; None for a line that was cut off."""
    try:
        line: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    parts = {
        name: replace(Verdict.from_json(part["verdict"]), notebook=part["notebook"])
        for name, part in line["parts"].items()
    }
    where = line["assignment"], line["student"]
    return where, Seen(line["release"], line["key"], parts)
