"""Diff of a dry run of grading: whose points would change, per student and question."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.course import Submission
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict


@dataclass(frozen=True)
class Change:
    """What a question would have in place of what it has; None: no points yet.

    For a submission that is held, before or after, ``question`` is None, and its
    reasons stand in place of points.
    """

    assignment: str
    student: str
    question: str | None
    before: float | str | None
    after: float | str | None

    def __str__(self) -> str:
        if self.question is None:
            held = f"no longer held ({self.before})"
            return f"held: {self.after}" if self.after else held
        before, after = (
            "none" if points is None else f"{points:g}"
            for points in (self.before, self.after)
        )
        return f"{self.question.removeprefix('test_')}: {before} -> {after}"


def changes(store: Store, judged: list[tuple[Submission, Verdict]]) -> list[Change]:
    """New verdicts beside the stored ones, as far as they differ.

    Points that a person gave do not change.
    """
    names = {submission.assignment for submission, _ in judged}
    stored = {name: store.results(name) for name in names}
    changed = []
    for submission, verdict in judged:
        where = submission.assignment, submission.student
        old = stored[submission.assignment].get(submission.student)
        reason = old.reason if old else None
        if reason != verdict.reason:
            changed.append(Change(*where, None, reason, verdict.reason))
        known = {question.id: question for question in old.questions} if old else {}
        for question in verdict.questions:
            before = known.get(question.id)
            if question.score is None or (before and before.by_hand):
                continue  # a person's
            points = before.score if before else None
            if points != question.score:
                changed.append(Change(*where, question.id, points, question.score))
    return changed
