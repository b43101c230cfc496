"""A student's check and the functions that it is tried on, while it is judged.

The judge keeps what the check said of them, planting by planting, and tries each
planting in a sandbox that has met no planted function: so nothing that a check leaves
in its process or its files tells it anything. To get there, the question is asked from
its beginning; what was said before is then not asked again.
"""

from __future__ import annotations

from typing import Any

from autograder.checks.planted import Planting, Verdict, tried
from autograder.errors import Held
from autograder.wall.judge.host import Later
from autograder.wall.judge.remote import Link, named
from autograder.wall.judge.student import StudentProcess

MOST_SANDBOXES = 8  # for one question
UNSTEADY = """your check gives different verdicts on the same function
  seen:     run again in a fresh process, it gave another verdict
  expected: verdicts that depend only on the function: fixed inputs, or a seed"""
LOST = """your check ends the process that tries it
  seen:     it was killed again and again
  expected: None when the function is right, an AssertionError when it is wrong"""


class Trials:
    """What the check of one question was tried on, and what it said."""

    def __init__(self, student: StudentProcess) -> None:
        self.student = student
        self.plantings: list[tuple[Planting, str, list[Verdict]]] = []

    def of(self, link: Link, planting: Planting, label: str) -> list[Verdict]:
        """The verdicts on a planting; those that are known are not asked for again.

        Raises Later where this sandbox has met planted functions.
        """
        link.plantings += 1
        if link.plantings <= len(self.plantings):
            return self.plantings[link.plantings - 1][2]
        if self.student.met:
            raise Later
        if not label.isidentifier():
            raise Held("a check that students write has to be a name of the notebook")
        self.student.met = True
        found = verdicts(link, label, planting)
        self.plantings.append((planting, label, found))
        return found

    def repeat(self, link: Link) -> bool:
        """Whether the check says the same once more; the last planting comes first."""
        link.greet()
        try:
            return all(
                [one.said for one in verdicts(link, label, planting)]
                == [one.said for one in said]
                for planting, label, said in reversed(self.plantings)
            )
        finally:
            link.uproot()


def verdicts(link: Link, label: str, planting: Planting) -> list[Verdict]:
    """What the check of that name says of functions that are held by the judge."""
    host = link.plant(planting.functions)
    check = named(link, label)

    def trial(index: int) -> Any:
        host.begin(index, link.deadline)
        return link.request(label, "try", check, planting.name)

    return tried(planting.order(), trial)
