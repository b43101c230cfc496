"""One page of all assignments, with a line for each student."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.results.templates import counted, render
from autograder.text import listed

SILENT = 2  # assignments in a row without work, from which on somebody is silent
Results = Mapping[str, Mapping[str, Verdict]]  # by assignment and student


@dataclass(frozen=True)
class Row:
    """A student: a verdict for each assignment, None where there is no work.

    ``missing`` are the points of work that is due and not there.
    """

    student: str
    name: str
    verdicts: Mapping[str, Verdict | None]
    silent: str = ""
    missing: float = 0.0

    @property
    def final(self) -> list[Verdict]:
        """The verdicts whose points are final."""
        return [v for v in self.verdicts.values() if v and v.final]

    @property
    def total(self) -> str:
        """The final points, of all in these assignments and in missing work."""
        most = sum(verdict.max_score for verdict in self.final) + self.missing
        return f"{sum(v.score or 0.0 for v in self.final):g} of {most:g}"

    @property
    def waiting(self) -> int:
        """Answers that a person still has to read."""
        return sum(len(v.waiting) for v in self.verdicts.values() if v and not v.held)

    @property
    def held(self) -> int:
        """Submissions that could not be judged."""
        return sum(v.held for v in self.verdicts.values() if v)


def write_term(course: Course, assignments: list[Assignment], path: Path) -> list[str]:
    """Write the page; returns what a person should do."""
    from autograder.grading.deadlines import Deadlines
    from autograder.grading.missing_work import entries
    from autograder.grading.store import Store

    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
        names = store.names()
    results = {name: found for name, found in results.items() if found}
    if not results:
        raise CourseError("Nothing is graded yet, so there is no term to show.")
    folders = (e.name for e in entries(course.submitted) if e.is_dir())
    names = {who: names.get(who, "") for who in sorted({*folders, *names})}
    deadlines, now = Deadlines.of(course), datetime.now(UTC)

    def over(student: str) -> list[str]:
        due = {name: deadlines.due.get(name) for name in results}
        ends = {n: deadlines.until(student, n, end) for n, end in due.items() if end}
        return [name for name in results if (ends.get(name) or now) <= now]

    rows = [row(who, name, results, over(who)) for who, name in names.items()]
    todo = to_do(results, rows)
    write_whole(path, render("term.html", rows=rows, names=list(results), todo=todo))
    return todo


def row(student: str, name: str, results: Results, over: list[str]) -> Row:
    """A student's line; ``over`` are the assignments that are due for them."""
    mine = {title: found.get(student) for title, found in results.items()}
    last = next((n for n, title in enumerate(reversed(over)) if mine[title]), len(over))
    silent = ""
    if over and last == len(over):
        silent = "no work at all"
    elif last >= SILENT:
        silent = f"silent since {over[len(over) - last]}"
    missing = [results[title].values() for title in over if not mine[title]]
    most = sum(max(v.max_score for v in found) for found in missing)
    return Row(student, name, mine, silent, most)


def to_do(results: Results, rows: list[Row]) -> list[str]:
    """What a person should do, the most urgent first."""
    found = []
    for kind in ("silent since", "no work at all"):
        if who := [r.student for r in rows if r.silent.startswith(kind)]:
            what = "Stopped submitting" if kind == "silent since" else kind.capitalize()
            found.append(f"{what}: {listed(who)}.")
    for name, verdicts in results.items():
        held = sum(verdict.held for verdict in verdicts.values())
        answers = sum(len(v.waiting) for v in verdicts.values() if not v.held)
        open_ = [f"{counted(answers, 'answer')} to grade by hand"] if answers else []
        open_ += [f"{counted(held, 'submission')} held"] if held else []
        if open_:
            found.append(f"{name}: {', '.join(open_)}.")
    return found
