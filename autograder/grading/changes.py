"""What a dry run would change, per student and question."""

from __future__ import annotations

from typing import Any

from autograder.course import Submission
from autograder.grading.store import Store


def changes(
    store: Store, judged: list[tuple[Submission, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """New verdicts beside the stored ones, as far as they differ.

    Dictionaries with "assignment", "student", "question" and the points "before" and
    "after"; None stands for no points yet. A held submission has the question None,
    and its reasons in place of points. Points that a person gave do not change.
    """
    names = {submission.assignment for submission, _ in judged}
    stored = {
        (name, result["student"]): result
        for name in names
        for result in store.results(name)
    }
    found = []
    for submission, verdict in judged:
        where = {"assignment": submission.assignment, "student": submission.student}
        before = stored.get((submission.assignment, submission.student))
        reasons = (before or {}).get("reason"), verdict["reason"]
        if reasons[0] != reasons[1]:
            before_after = {"before": reasons[0], "after": reasons[1]}
            found.append(where | {"question": None} | before_after)
        old = {q["id"]: q for q in (before or {}).get("questions", [])}
        for question in verdict["questions"]:
            known = old.get(question["id"], {})
            after = question["score"]
            if after is None or known.get("by_hand"):
                continue  # a person's
            if known.get("score") != after:
                line = {"question": question["id"], "before": known.get("score")}
                found.append(where | line | {"after": after})
    return found


def told(change: dict[str, Any]) -> str:
    """A change in a line."""
    if change["question"] is None:
        before, after = change["before"], change["after"]
        return f"held: {after}" if after else f"no longer held ({before})"
    points = [
        "none" if change[when] is None else f"{change[when]:g}"
        for when in ("before", "after")
    ]
    return f"{change['question'].removeprefix('test_')}: {points[0]} -> {points[1]}"
