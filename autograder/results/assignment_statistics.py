"""Statistics of one assignment for the class report: scores, questions, mistakes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import StatisticsError, correlation, mean, median
from typing import NamedTuple

from autograder.course import Assignment
from autograder.grading.verdict import Verdict
from autograder.release.validation import catalog_of
from autograder.results.templates import counted
from autograder.text import one_line

BINS = 10
WIDTHS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
ENOUGH = 10  # answers, from which on a correlation is worth a sentence


class Bar(NamedTuple):
    """Submissions from ``label`` points on: final ones, and those that may change."""

    label: str
    final: int
    so_far: int

    @property
    def whole(self) -> int:
        """Both."""
        return self.final + self.so_far


class Question(NamedTuple):
    """How a question did; ``mean`` is None when only people give its points."""

    name: str
    most: float
    answers: int
    full: int
    mean: float | None = None
    discrimination: float | None = None

    @property
    def title(self) -> str:
        """The question's name, without the prefix of its test cell."""
        notebook, slash, cell = self.name.rpartition("/")
        return notebook + slash + cell.removeprefix("test_")

    @property
    def share(self) -> float | None:
        """The share of the points that was earned: near 1 is easy."""
        return None if self.mean is None or not self.most else self.mean / self.most


class Mistake(NamedTuple):
    """How often a known mistake was made, and where the book explains it."""

    id: str
    answers: int
    share: float
    diagnosis: str = ""
    place: str = ""
    address: str = ""


class Section:
    """One assignment of the report. ``remarks`` are sentences of the census.

    ``history`` has a line for each change of a student's points.
    """

    def __init__(
        self,
        assignment: Assignment,
        verdicts: Mapping[str, Verdict],
        book: str,
        remarks: Sequence[str] = (),
        history: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.name = assignment.name
        self.assignment, self.verdicts, self.book = assignment, verdicts, book
        self.remarks, self.history = remarks, history or {}
        self.graded = [v for v in verdicts.values() if not v.held]
        self.held = {s: v.reason for s, v in verdicts.items() if v.held}
        self.late = [v for v in self.graded if v.late]
        self.values = [v.score or 0.0 for v in self.graded if v.final]
        self.open = [v.score or 0.0 for v in self.graded if not v.final]
        self.highest = self.graded[0].max_score if self.graded else 0.0

    @property
    def average(self) -> str:
        """Mean and median of the final scores, in a sentence."""
        if not self.values:
            return "No score is final yet."
        found = f"mean {mean(self.values):.1f}, median {median(self.values):.1f}"
        final = "All scores are final"
        if self.open:
            some = f"{len(self.values)} of {len(self.graded)}"
            final = f"So far, {some} scores are final"
        return f"{final}: {found} of {self.highest:g}."

    @property
    def todo(self) -> list[str]:
        """What a person should do about this assignment, the most urgent first."""
        found = []
        if self.held:
            names = ", ".join(map(one_line, self.held))
            files = counted(len(self.held), "file")
            found.append(f"Repair {files}, or ask for resubmission: {names}.")
        if waiting := sum(len(v.waiting) for v in self.graded):
            found.append(f"Grade {counted(waiting, 'answer')} by hand.")
        for question in self.questions():
            if question.answers >= ENOUGH and (question.discrimination or 0) < 0:
                found.append(
                    f"Look at `{question.title}`: students who do well on other "
                    "questions do worse on this one."
                )
        return found

    @property
    def step(self) -> float:
        """The width of a bar in points, round where it can be."""
        least = self.highest / BINS
        return next((width for width in WIDTHS if width >= least), least)

    def scores(self) -> list[Bar]:
        """How many submissions have how many points."""
        step = self.step
        bars = max(math.ceil(self.highest / step - 1e-9), 1)
        final, so_far = (
            Counter(min(max(int(value / step + 1e-9), 0), bars - 1) for value in values)
            for values in (self.values, self.open)
        )
        return [Bar(f"{n * step:g}", final[n], so_far[n]) for n in range(bars)]

    def questions(self) -> list[Question]:
        """Mean, difficulty and discrimination of each question."""
        most = {q.id: q.max_score for v in self.graded for q in v.questions}
        rows = []
        for name, highest in most.items():
            pairs = [  # with the points of all other questions
                (question.score, verdict.earned - question.score)
                for verdict in self.graded
                for question in verdict.questions
                if question.id == name
                and question.score is not None
                and not question.waiting
            ]
            own, others = [mine for mine, _ in pairs], [rest for _, rest in pairs]
            try:
                tells = correlation(own, others)
            except StatisticsError:  # fewer than two, or all the same
                tells = None
            full = sum(score >= highest for score in own)
            average = mean(own) if own else None
            rows.append(Question(name, highest, len(own), full, average, tells))
        return rows

    def mistakes(self) -> list[Mistake]:
        """Which known mistakes were made how often, the most frequent first."""
        counts = Counter(
            question.misconception
            for verdict in self.graded
            for question in verdict.questions
            if question.misconception
        )
        catalog = catalog_of(self.assignment.notebook)
        known = {e.id: e for e in catalog.misconceptions} if catalog else {}
        rows = []
        for name, count in counts.most_common():
            about: tuple[str, ...] = ()
            if entry := known.get(name):
                page, _, place = entry.read.partition("#")
                address = f"{self.book}{page}.html#{place}" if self.book else ""
                about = entry.diagnosis, entry.read, address
            rows.append(Mistake(name, count, count / len(self.graded), *about))
        return rows
