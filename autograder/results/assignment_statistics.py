"""Statistics of one assignment for the class report: scores, questions, mistakes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import StatisticsError, correlation, mean, median

from markupsafe import Markup

from autograder.course import Assignment
from autograder.grading.verdict import Verdict
from autograder.release.validation import catalog_of
from autograder.results.drawing import Bar, histogram
from autograder.text import one_line

BINS = 10
ENOUGH = 10  # answers, from which on a correlation is worth a sentence


@dataclass(frozen=True)
class Question:
    """How a question did; ``mean`` is None when only people give its points."""

    name: str
    most: float
    answers: int = 0
    full: int = 0
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


@dataclass(frozen=True)
class Mistake:
    """How often a known mistake was made, and where the book explains it."""

    id: str
    answers: int
    share: float
    diagnosis: str = ""
    place: str = ""
    address: str = ""


@dataclass(frozen=True)
class RunCost:
    """What one run of `autograder grade` took."""

    started: datetime
    verdicts: int
    workers: int
    seconds: float
    cost: float
    slowest: str
    longest: float


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
        self.assignment, self.verdicts, self.book = assignment, verdicts, book
        self.remarks, self.history = remarks, history or {}
        self.graded = [v for v in verdicts.values() if not v.held]
        self.held = {s: v.reason for s, v in verdicts.items() if v.held}
        self.waiting = sum(len(v.waiting) for v in self.graded)
        self.late = [v for v in self.graded if v.late]
        self.values = [v.score or 0.0 for v in self.graded if v.final]
        self.open = [v.score or 0.0 for v in self.graded if not v.final]

    @property
    def name(self) -> str:
        """The assignment's name."""
        return self.assignment.name

    @property
    def highest(self) -> float:
        """All the points there are."""
        return self.graded[0].max_score

    @property
    def average(self) -> str:
        """Mean and median of the final scores, in a sentence."""
        if not self.values:
            return "No score is final yet."
        found = f"mean {mean(self.values):.1f}, median {median(self.values):.1f}"
        if not self.open:
            return f"All scores are final: {found} of {self.highest:g}."
        return (
            f"So far, {len(self.values)} of {len(self.graded)} scores are final: "
            f"{found} of {self.highest:g}."
        )

    @property
    def todo(self) -> list[str]:
        """What a person should do about this assignment, the most urgent first."""
        found = []
        if self.held:
            names = ", ".join(map(one_line, self.held))
            files = counted(len(self.held), "file")
            found.append(f"Repair {files}, or ask for resubmission: {names}.")
        if self.waiting:
            found.append(f"Grade {counted(self.waiting, 'answer')} by hand.")
        for question in self.questions():
            tells = question.discrimination
            if question.answers >= ENOUGH and tells is not None and tells < 0:
                found.append(
                    f"Look at `{question.title}`: students who do well on other "
                    "questions do worse on this one."
                )
        return found

    def scores(self) -> list[Bar]:
        """How many submissions have how many points, final and so far."""
        step = rounded(self.highest / BINS)
        bars = max(math.ceil(self.highest / step - 1e-9), 1)

        def place(value: float) -> int:
            return min(max(int(value / step + 1e-9), 0), bars - 1)

        final, so_far = Counter(map(place, self.values)), Counter(map(place, self.open))
        return [Bar(f"{n * step:g}", final[n], so_far[n]) for n in range(bars)]

    def scores_drawn(self) -> Markup:
        """The distribution of the scores."""
        bars = self.scores()
        told = (f"{bar.whole} from {bar.label}" for bar in bars if bar.whole)
        return histogram(
            bars,
            f"{len(bars) * rounded(self.highest / BINS):g}",
            "points",
            "Distribution of scores",
            f"Submissions by points: {', '.join(told)}. {self.average}",
        )

    def questions(self) -> list[Question]:
        """Mean, difficulty and discrimination of each question."""
        pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        most = {q.id: q.max_score for v in self.graded for q in v.questions}
        for verdict in self.graded:
            for question in verdict.questions:
                if question.score is not None and not question.waiting:
                    rest = verdict.earned - question.score
                    pairs[question.id].append((question.score, rest))
        rows = []
        for name, highest in most.items():
            own = [score for score, _ in pairs[name]]
            if not own:
                rows.append(Question(name, highest))
                continue
            full = sum(score >= highest for score in own)
            tells = discrimination(pairs[name])
            rows.append(Question(name, highest, len(own), full, mean(own), tells))
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
            share = count / len(self.graded)
            if entry := known.get(name):
                page, _, place = entry.read.partition("#")
                address = f"{self.book}{page}.html#{place}" if self.book else ""
                about = (entry.diagnosis, entry.read, address)
                rows.append(Mistake(name, count, share, *about))
            else:
                rows.append(Mistake(name, count, share))
        return rows

    def runs(self) -> list[RunCost]:
        """When these verdicts were reached, how long it took, and what it cost."""
        started: dict[int, list[str]] = defaultdict(list)
        for student, verdict in self.verdicts.items():
            if verdict.run:
                started[verdict.run.started].append(student)
        rows = []
        for at, students in sorted(started.items()):
            verdicts = [self.verdicts[student] for student in students]
            runs = [verdict.run for verdict in verdicts if verdict.run]
            slowest = max(students, key=lambda student: self.verdicts[student].seconds)
            rows.append(
                RunCost(
                    datetime.fromtimestamp(at, UTC),
                    len(verdicts),
                    runs[0].workers,
                    max(run.seconds for run in runs),
                    sum(verdict.seconds for verdict in verdicts),
                    slowest,
                    self.verdicts[slowest].seconds,
                )
            )
        return rows


def counted(number: int, noun: str) -> str:
    """Such as "1 file" and "2 files"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rounded(step: float) -> float:
    """The next larger width that is easy to read."""
    for width in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if step <= width:
            return float(width)
    return step


def discrimination(pairs: list[tuple[float, float]]) -> float | None:
    """The correlation of a question's points with all others; None where undefined."""
    try:
        return correlation([a for a, _ in pairs], [b for _, b in pairs])
    except StatisticsError:  # fewer than two, or all the same
        return None
