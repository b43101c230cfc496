"""Trials of a test that a student wrote, on right and wrong functions, in grading.

A question is asked first as if the test were perfect, and so tells what it tries the
test on. All these functions, of the visible and the hidden half, are then tried in one
order that is drawn, in a sandbox that has met none of them and ends with them. With
these verdicts the question is asked again. It earns points only if the test says the
same of the hidden half in a sandbox that never meets the visible one, and the other way
around; the fast path, which gives all points or none, does only the first.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from autograder.checks.planted import ACCEPTS, REJECTS, Planting, Verdict, tried
from autograder.errors import Held
from autograder.wall.judge.remote import Link, named

MOST_SANDBOXES = 8  # for the functions of one question
UNSTEADY = """your check gives different verdicts on the same function
  seen:     run again in a fresh process, it gave another verdict
  expected: verdicts that depend only on the function: fixed inputs, or a seed"""
LOST = """your check ends the process that tries it
  seen:     it was killed again and again
  expected: None when the function is right, an AssertionError when it is wrong"""


class Trials:
    """What the check of one question is tried on, and what it says."""

    def __init__(self) -> None:
        self.label = ""
        self.plantings: list[Planting] = []
        self.verdicts: list[list[Verdict]] = []  # of those that it was tried on

    @property
    def due(self) -> bool:
        """Whether the check has to be tried on more functions."""
        return len(self.plantings) > len(self.verdicts)

    def of(self, link: Link, planting: Planting, label: str) -> list[Verdict]:
        """The verdicts on a planting, and those of a perfect check until it is tried.

        Raises Held where the check has no name.
        """
        number = link.plantings
        link.plantings += 1
        if number < len(self.verdicts):
            return self.verdicts[number]
        if number == len(self.plantings):
            others = {(one.name, self.label) for one in self.plantings}
            if not label.isidentifier() or others - {(planting.name, label)}:
                raise Held("a question may try only one check, passed by its name")
            self.label = label
            self.plantings.append(planting)
        wrong = len(planting.functions) - planting.rights
        return [Verdict(ACCEPTS)] * planting.rights + [Verdict(REJECTS)] * wrong

    def found(self, link: Link, parts: list[Planting]) -> list[list[Verdict]]:
        """What the check says now of some plantings, their functions in one order."""
        link.greet()
        right = [f for part in parts for f in part.functions[: part.rights]]
        wrong = [f for part in parts for f in part.functions[part.rights :]]
        whole = Planting([*right, *wrong], len(right), parts[0].name)
        try:
            said = verdicts(link, self.label, whole)
        finally:
            link.uproot()
        rights, wrongs = iter(said[: len(right)]), iter(said[len(right) :])
        return [
            [
                *islice(rights, part.rights),
                *islice(wrongs, len(part.functions) - part.rights),
            ]
            for part in parts
        ]


def verdicts(link: Link, label: str, planting: Planting) -> list[Verdict]:
    """What the check of that name says of functions that are held by the judge."""
    host = link.plant(planting.functions)
    check, due = named(link, label), 0

    def trial(index: int) -> Any:
        nonlocal due
        host.begin(index, link.deadline)
        if due:
            due -= 1
            return link.another(label)
        due = len(planting.functions) - 1 if host.at_once else 0
        return link.request(label, "try", check, planting.name, due + 1)

    return tried(planting.order(), trial)


def said(verdicts: list[list[Verdict]]) -> list[list[str]]:
    """The parts of verdicts that must be the same whenever a test is tried."""
    return [[verdict.said for verdict in some] for some in verdicts]
