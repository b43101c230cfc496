"""One page of all assignments, with a line for each student."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    """A student: a verdict for each assignment, None where there is no work."""

    student: str
    name: str
    verdicts: Mapping[str, Verdict | None]
    silent: str
    total: str
    waiting: int  # answers that a person still has to read
    held: int


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
    deadlines, now = Deadlines.of(course), datetime.now(UTC)
    rows = []
    for who in sorted({*folders, *names}):
        due = {n: end for n in results if (end := deadlines.due.get(n))}
        open_ = [n for n in due if (deadlines.until(who, n, due[n]) or now) > now]
        over = [name for name in results if name not in open_]
        rows.append(row(who, names.get(who, ""), results, over))
    todo = list(to_do(results, rows))
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
    there = [verdict for verdict in mine.values() if verdict]
    final = [verdict for verdict in there if verdict.final]
    missing = [results[title].values() for title in over if not mine[title]]
    most = sum(verdict.max_score for verdict in final)
    most += sum(max(verdict.max_score for verdict in found) for found in missing)
    total = f"{sum(verdict.score or 0.0 for verdict in final):g} of {most:g}"
    waiting = sum(len(verdict.waiting) for verdict in there if not verdict.held)
    held = sum(verdict.held for verdict in there)
    return Row(student, name, mine, silent, total, waiting, held)


def to_do(results: Results, rows: list[Row]) -> Iterator[str]:
    """What a person should do, the most urgent first."""
    for kind, told in (
        ("silent since", "Stopped submitting"),
        ("no work at all", "No work at all"),
    ):
        if who := [r.student for r in rows if r.silent.startswith(kind)]:
            yield f"{told}: {listed(who)}."
    for name, verdicts in results.items():
        held = sum(verdict.held for verdict in verdicts.values())
        answers = sum(len(v.waiting) for v in verdicts.values() if not v.held)
        open_ = [f"{counted(answers, 'answer')} to grade by hand"] if answers else []
        open_ += [f"{counted(held, 'submission')} held"] if held else []
        if open_:
            yield f"{name}: {', '.join(open_)}."
