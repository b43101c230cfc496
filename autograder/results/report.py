"""One page about the class: scores, questions, misconceptions, held submissions."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import StatisticsError, correlation, mean, median

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.notebook.records import Tests
from autograder.options import add_assignments, add_book, describe
from autograder.release.catalogs import catalog_of
from autograder.results.templates import render
from autograder.text import one_line


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder report`."""
    describe(verb, "", "autograder report --output report.html")
    add_assignments(verb)
    verb.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report.html of the course"
    )
    add_book(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the report."""
    course = Course.find()
    path = options.output or course.root / "report.html"
    book = options.book or course.book()
    write_report(course, course.chosen(options.assignments), path, book)
    print(f"wrote {one_line(str(path))}")


def write_report(
    course: Course, assignments: list[Assignment], path: Path, book: str
) -> None:
    """Write the page; ``book`` is the address before the chapters' names, or empty."""
    from autograder.grading.store import Store

    with Store(course) as store:
        results = {a: store.results(a.name) for a in assignments}
    sections = [
        Section(assignment, verdicts, book, course.tests_of(assignment.name))
        for assignment, verdicts in results.items()
        if verdicts
    ]
    if not sections:
        raise CourseError("Nothing is graded yet, so there is nothing to report.")
    write_whole(path, render("report.html", sections=sections))


@dataclass(frozen=True)
class Bin:
    """Submissions whose scores lie between two numbers of points."""

    low: float
    high: float
    submissions: int
    share: float


@dataclass(frozen=True)
class Question:
    """How a question did; ``mean`` is None when only people give its points."""

    name: str
    most: float
    answers: int = 0
    full: int = 0
    mean: float | None = None
    discrimination: str = "–"


@dataclass(frozen=True)
class Mistake:
    """How often a known mistake was made, and where the book explains it."""

    id: str
    answers: int
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
    """What the report tells of one assignment."""

    def __init__(
        self,
        assignment: Assignment,
        verdicts: Mapping[str, Verdict],
        book: str,
        tests: Tests = "remote",
    ) -> None:
        self.inside = tests == "inside"  # with a weaker promise, which is named
        self.assignment, self.verdicts, self.book = assignment, verdicts, book
        self.graded = [v for v in verdicts.values() if not v.held]
        self.held = {s: v.reason for s, v in verdicts.items() if v.held}
        self.waiting = sum(len(v.waiting) for v in self.graded)
        self.noted = {s: v.notes for s, v in verdicts.items() if v.notes}
        self.values = [verdict.score or 0.0 for verdict in self.graded]

    @property
    def name(self) -> str:
        """The assignment's."""
        return self.assignment.name

    @property
    def highest(self) -> float:
        """All the points there are."""
        return self.graded[0].max_score

    @property
    def mean(self) -> float:
        """Of the scores."""
        return mean(self.values)

    @property
    def median(self) -> float:
        """Of the scores."""
        return median(self.values)

    def bins(self) -> list[Bin]:
        """How many submissions have how many points."""
        step = self.highest / 10
        places = Counter(
            min(max(int(value / step), 0), 9) if step else 0 for value in self.values
        )
        most = max(places.values())
        return [
            Bin(place * step, (place + 1) * step, places[place], places[place] / most)
            for place in range(10)
        ]

    def questions(self) -> list[Question]:
        """Mean, difficulty and discrimination of each question."""
        pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        most = {q.id: q.max_score for v in self.graded for q in v.questions}
        for verdict, whole in zip(self.graded, self.values, strict=True):
            for question in verdict.questions:
                if question.score is not None and not question.waiting:
                    pairs[question.id].append((question.score, whole - question.score))
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
            if entry := known.get(name):
                chapter, _, place = entry.read.partition("#")
                address = f"{self.book}{chapter}.html#{place}" if self.book else ""
                rows.append(Mistake(name, count, entry.diagnosis, entry.read, address))
            else:
                rows.append(Mistake(name, count))
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


def discrimination(pairs: list[tuple[float, float]]) -> str:
    """The correlation of a question's points with all others; "–" where undefined."""
    try:
        return f"{correlation([a for a, _ in pairs], [b for _, b in pairs]):.2f}"
    except StatisticsError:  # fewer than two, or all the same
        return "–"
