"""Points for a question whose answer is a test that the student wrote (a *hunt*).

In grading, the test has to accept right functions and to reject the wrong ones of the
catalog, also those that students have not been given.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from autograder.checks.assignment import Assignment
from autograder.checks.catalog import Catalog, words
from autograder.checks.planted import ACCEPTS, REJECTS, Verdict
from autograder.checks.question import Hidden, Question, Score
from autograder.checks.visible_hunt import Game, refusals

FEW = 1 / 3  # of the mistakes, and then of the points


class Hunt(Hidden):
    """Half of the points for accepting every right style, half for catching mistakes.

    A check that accepts all right styles but one keeps half of the first half. The
    second grows with the mistakes that are rejected. Those that the example on the card
    catches are worth nothing, but each that is missed counts as one more to find. A
    check that accepts no right style, or rejects no mistake beyond
    these, gets nothing. One that rejects no more than a third of them, such as a check
    of shapes alone, gets a third of the points at most.
    """

    def __init__(self, question: Question, assignment: Assignment) -> None:
        super().__init__(question, core=0.0)
        self.assignment = assignment
        self.game = cast("Game", question.checks[0])

    def verdicts(self, answer: Any, seed: int | None) -> dict[str, Verdict]:
        """What a check says of every function, by id: of both halves."""
        catalog = cast("Catalog", self.assignment.catalog)
        known = self.game.last
        seen = known[1] if known and known[0] is answer else self.game.tried(answer)
        rng, subject = np.random.default_rng(seed), self.game.subject
        return seen | catalog.tried(answer, subject, rng, without=seen)

    def __call__(self, answer: Any, seed: int | None = None) -> Score:
        """Points for ``answer``, and which mistakes it caught, by their diagnoses."""
        catalog, name = cast("Catalog", self.assignment.catalog), self.game.subject
        found, easy = self.verdicts(answer, seed), catalog.easy(self.question.name)
        right, wrong = catalog.right(name), catalog.hunted(name)
        rejected = [entry for entry in right if found[entry.id].said != ACCEPTS]
        caught = [entry for entry in wrong if found[entry.id].said == REJECTS]
        hard = [entry for entry in wrong if entry.id not in easy]
        share, worth = 0.0, [entry for entry in caught if entry in hard]
        if worth and len(rejected) < len(right):
            kept = {0: 0.5, 1: 0.25}.get(len(rejected), 0.0)
            missed = [entry for entry in wrong if entry not in [*caught, *hard]]
            found_of_all = len(worth) / (len(hard) + len(missed))
            share = kept + 0.5 * found_of_all
            if found_of_all <= FEW:
                share = min(share, FEW)
        lines = [
            f"{self.question.name}: your check accepts {len(right) - len(rejected)} of "
            f"{len(right)} right ways to write `{name}` and rejects {len(caught)} of "
            f"{len(wrong)} mistakes"
        ]
        misconception = None
        if share < 1:
            ids = [entry.id for entry in right] + [entry.id for entry in wrong]
            outcomes = [found[id].outcome for id in ids]
            misconception = catalog.named(self.question.name, outcomes)
        if misconception:
            lines.append(f"  likely:   {misconception.diagnosis}")
        lines += refusals(name, [(words(entry), found[entry.id]) for entry in right])
        for entry in sorted(wrong, key=lambda entry: entry in caught):
            word = "caught" if entry in caught else "missed"
            why = " (another error stopped your check)" if found[entry.id].why else ""
            if entry in caught and entry not in hard:
                why = " (no points: the card's example catches it too)"
            lines.append(f"  {word}:   {entry.diagnosis}{why}")
        if share < 1 and self.question.read:
            lines.append(f"  read:     {(misconception or self.question).read}")
        message = "\n".join(lines)
        print(message)
        points = round(self.question.points * share, 2)
        return Score(points, message if share < 1 else None, misconception)
