"""Trials of a test that a student wrote, on right and wrong functions, in grading.

A question is asked first as if the test were perfect, and so tells what it tries the
test on. All these functions, of the visible and the hidden half, are then tried in one
order that is drawn, in a sandbox that has met none of them and ends with them. With
these verdicts the question is asked again. Points rest on them only if the test says
the same of the hidden half in a sandbox that never met the visible one.

At first one process meets all functions, one after the other. A test with a state could
say something else there than where each function meets a process of its own. Nobody
gains by that: with all points, the test gave the right verdicts. With fewer, it has to
say the same again of all functions in another order, the hidden half first, and in a
fork for each of a few functions that cost points. Else, forks decide: one for each
function, and then each half alone in a sandbox.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

from autograder.checks.planted import ACCEPTS, REJECTS, Planting, Verdict, tried
from autograder.errors import Held
from autograder.wall.judge.remote import Link, named
from autograder.wall.judge.student import Numbered
from autograder.wall.records import Cell, QuestionResult

MOST_SANDBOXES = 8  # for the functions of one question
UNSTEADY = """your check gives different verdicts on the same function
  seen:     run again in a fresh process, it gave another verdict
  expected: verdicts that depend only on the function: fixed inputs, or a seed"""
LOST = """your check ends the process that tries it
  seen:     it was killed again and again
  expected: None when the function is right, an AssertionError when it is wrong"""


class Trials:
    """What the check of one question is tried on, and what it says."""

    def __init__(self, cell: Cell, ran: list[Numbered]) -> None:
        self.cell, self.ran = cell, ran  # the question's, and those before it
        self.result: QuestionResult | None = None  # of a process that met all functions
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

    def found(self, link: Link, groups: list[list[Planting]]) -> list[list[Verdict]]:
        """What the check says now of some plantings.

        Those of a group have their functions in one order; the groups come in turn.
        """
        link.hello()
        try:
            return [one for group in groups for one in self._together(link, group)]
        finally:
            link.release()

    def _together(self, link: Link, parts: list[Planting]) -> list[list[Verdict]]:
        right = [f for part in parts for f in part.functions[: part.rights]]
        wrong = [f for part in parts for f in part.functions[part.rights :]]
        whole = Planting([*right, *wrong], len(right), parts[0].name)
        said = verdicts(link, self.label, whole)
        rights, wrongs = iter(said[: len(right)]), iter(said[len(right) :])
        return [
            [
                *islice(rights, part.rights),
                *islice(wrongs, len(part.functions) - part.rights),
            ]
            for part in parts
        ]

    def of_planting(self, planting: Planting) -> list[Verdict]:
        """What the check has said of the functions of one planting."""
        return self.verdicts[self.plantings.index(planting)]

    def costly(self) -> tuple[Planting, list[Verdict]]:
        """A right function and a wrong one that the check has failed on, if it has."""
        kept: list[tuple[Any, Verdict]] = []
        rights = 0
        for right in (True, False):
            failed = [
                (function, verdict)
                for part, some in zip(self.plantings, self.verdicts, strict=True)
                for n, (function, verdict) in enumerate(
                    zip(part.functions, some, strict=True)
                )
                if (n < part.rights) == right
                and verdict.said != (ACCEPTS if right else REJECTS)
            ]
            kept += random.sample(failed, min(1, len(failed)))
            rights += right * len(kept)
        functions = [function for function, _ in kept]
        return Planting(functions, rights, self.plantings[0].name), [v for _, v in kept]


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
