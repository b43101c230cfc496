"""The hidden half of a question in which the student writes the check.

The check is tried on every right style of the catalog and on every mistake. It is part
of the instructor's side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from autograder.checks.assignment import Assignment
from autograder.checks.planted import ACCEPTS, NEITHER, REJECTS
from autograder.checks.question import Hidden, Question, Score

if TYPE_CHECKING:
    from autograder.checks.catalog import Catalog


class Hunt(Hidden):
    """Half of the points for accepting every right style of ``subject``.

    The other half in proportion to the mistakes that are rejected. A check that accepts
    no right style, or rejects no mistake, gets nothing.
    """

    def __init__(
        self, question: Question, subject: Question, assignment: Assignment
    ) -> None:
        super().__init__(question, core=0.0)
        self.subject, self.assignment = subject, assignment

    def __call__(self, answer: Any, seed: int | None = None) -> Score:
        """Points for ``answer``, and which mistakes it caught, by their diagnoses."""
        catalog = cast("Catalog", self.assignment.catalog)
        name = self.subject.name
        found = catalog.tried(answer, name, np.random.default_rng(seed))
        right, wrong = catalog.right(name), catalog.hunted(name)
        accepted = [entry for entry in right if found[entry.id].said == ACCEPTS]
        caught = [entry for entry in wrong if found[entry.id].said == REJECTS]
        share = 0.0
        if accepted and caught:
            share = 0.5 * (len(accepted) == len(right)) + 0.5 * len(caught) / len(wrong)
        lines = [
            f"{self.question.name}: it accepts {len(accepted)} of {len(right)} right "
            f"ways to write `{name}` and rejects {len(caught)} of {len(wrong)} mistakes"
        ]
        misconception = None
        if share < 1:
            outcomes = [verdict.outcome for verdict in found.values()]
            misconception = catalog.named(self.question.name, outcomes)
        if misconception:
            lines.append(f"  likely:   {misconception.diagnosis}")
        for entry in sorted(wrong, key=lambda entry: entry in caught):
            word = "caught" if entry in caught else "missed"
            stopped = " (another error stopped your check)"
            why = stopped if found[entry.id].said == NEITHER else ""
            lines.append(f"  {word}:   {entry.diagnosis}{why}")
        if share < 1:
            lines.append(f"  read:     {(misconception or self.question).read}")
        message = "\n".join(lines)
        print(message)
        points = round(self.question.points * share, 2)
        return Score(points, message if share < 1 else None, misconception)
