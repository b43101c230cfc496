"""The verdict on a submission: points, messages, and whether the points are final.

A job makes it, and it is stored as JSON. When it is read again, points come from the
gradebook, where people may have changed them, and everything else from the verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from autograder.wall import QuestionResult, Wall

__all__ = ["QuestionResult", "Run", "Verdict", "hold", "together"]


@dataclass(frozen=True)
class Run:
    """The run of ``autograder grade`` that a verdict comes from.

    ``started`` is in seconds since 1970, ``seconds`` the time until this verdict,
    ``release`` the hash of what it was judged by; ``by`` and ``because`` are who
    started it, and the reason that they gave.
    """

    started: int
    seconds: float
    workers: int
    release: str = ""
    by: str = ""
    because: str = ""


@dataclass(frozen=True)
class Verdict:
    """What grading says of one submission: graded, or held for a person to look at.

    ``files`` are the names that the student gave the notebooks, by ours; ``answers``
    are fingerprints of what each question's points rest on, ``unanswered``
    the names of cells that are as they were released. ``notebook`` is the text for
    autograded/, and ``timed_out_under_load`` tells that time ran out while the machine
    was busy with others; both are not stored. ``wall`` is what the student's code ran
    behind, None when nothing ran. ``late``, seconds after the deadline or None where
    nobody knows, and ``penalty`` are the gradebook's.
    """

    status: Literal["graded", "held"]
    max_score: float
    reason: str | None = None
    questions: tuple[QuestionResult, ...] = ()
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    unanswered: tuple[str, ...] = ()
    seconds: float = 0.0
    run: Run | None = None
    wall: Wall | None = None
    late: float | None = None
    penalty: float = 0.0
    notebook: str | None = None
    timed_out_under_load: bool = False

    @property
    def held(self) -> bool:
        """A person has to look; no score counts."""
        return self.status == "held"

    @property
    def waiting(self) -> tuple[QuestionResult, ...]:
        """The questions that wait for a person."""
        return tuple(question for question in self.questions if question.waiting)

    @property
    def unfinished(self) -> str | None:
        """Why the points are not final, as the end of a sentence; None when they are.

        The one place that decides it, for platforms, tables, report and certificate.
        """
        if self.held:
            return "is held"
        return "waits for a grade by hand" if self.waiting else None

    @property
    def final(self) -> bool:
        """The points can be handed on."""
        return self.unfinished is None

    @property
    def earned(self) -> float:
        """The points so far, before a penalty for late work."""
        return sum(question.score or 0.0 for question in self.questions)

    @property
    def score(self) -> float | None:
        """The points so far; None when the submission is held."""
        return None if self.held else round(self.earned - self.penalty, 6)

    @property
    def open_points(self) -> float:
        """How many points wait for a person."""
        return sum(question.max_score for question in self.waiting)

    @property
    def lateness(self) -> str | None:
        """``4 d 2 h late``, in the two largest units; None when it is in time."""
        if not self.late:
            return None
        minutes = max(int(self.late // 60), 1)
        parts = {"d": minutes // 1440, "h": minutes // 60 % 24, "min": minutes % 60}
        units = [f"{count} {unit}" for unit, count in parts.items() if count]
        return f"{' '.join(units[:2])} late"

    def to_json(self) -> str:
        """What is stored. Decisions of people are not in it: the gradebook has them."""
        stored = asdict(self)
        for name in ("notebook", "timed_out_under_load", "penalty", "late"):
            del stored[name]
        for question in stored["questions"]:
            del question["waiting"], question["by_hand"]
        return json.dumps(stored)

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """The inverse of :meth:`to_json`.

        What an old verdict lacks is empty; what it alone has is passed over.
        """
        stored: dict[str, Any] = json.loads(text)
        if stored.get("run"):
            stored["run"] = known(Run, stored["run"])
        stored["questions"] = [
            QuestionResult(**{**question, "waiting": question["score"] is None})
            for question in stored["questions"]
        ]
        for name in ("questions", "notes", "unanswered"):
            stored[name] = tuple(stored.get(name, ()))
        return known(cls, stored)


def known(kind: Any, stored: Mapping[str, Any]) -> Any:
    """A data class from what is stored; parts that it does not have are left out."""
    names = {part.name for part in fields(kind)}
    return kind(**{name: part for name, part in stored.items() if name in names})


def together(parts: Mapping[str, Verdict]) -> Verdict:
    """The verdict on an assignment, from those on its notebooks, by name.

    Of several notebooks, the questions are called after theirs: problem1/test_softmax.
    """
    if len(parts) == 1:
        return next(iter(parts.values()))
    reasons = [f"{name}: {v.reason}" for name, v in parts.items() if v.reason]
    return Verdict(
        "held" if reasons else "graded",
        sum(verdict.max_score for verdict in parts.values()),
        " ".join(reasons) or None,
        tuple(
            replace(question, id=f"{name}/{question.id}")
            for name, verdict in parts.items()
            for question in verdict.questions
            if not reasons
        ),
        tuple(f"{name}: {note}" for name, v in parts.items() for note in v.notes),
        {name: file for v in parts.values() for name, file in v.files.items()},
        {
            f"{name}/{question}": text
            for name, verdict in parts.items()
            for question, text in verdict.answers.items()
        },
        tuple(f"{name}/{cell}" for name, v in parts.items() for cell in v.unanswered),
        round(sum(verdict.seconds for verdict in parts.values()), 3),
    )


def hold(
    reason: str, max_score: float, notes: tuple[str, ...] = (), seconds: float = 0.0
) -> Verdict:
    """The verdict that there is none: a person has to look, and why."""
    return Verdict("held", max_score, reason, notes=notes, seconds=round(seconds, 3))
