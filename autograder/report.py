"""One page about the class: scores, questions, misconceptions, held submissions."""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from statistics import StatisticsError, correlation, mean, median
from typing import Any

from autograder.course import Assignment, Course, CourseError, printable, write_whole

STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --line: #b5b5b5;
  --bar: #3b6ea5; --link: #0b57a4; --soft: #f3f3f3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #16181c;
  --line: #5a5f68; --bar: #7fb0e0; --link: #9cc7f5; --soft: #22252b; } }
body { font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background:
  var(--paper); max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
a { color: var(--link); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); }
thead th { background: var(--soft); }
.number { display: block; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.bar { display: block; height: .9rem; min-width: 1px; background: var(--bar); }
"""


def write_report(
    course: Course, assignments: list[Assignment], path: Path, book: str
) -> None:
    """Write the page; ``book`` is the address before the chapters' names, or empty."""
    from autograder.grading.store import Store

    with Store(course) as store:
        results = {a: store.results(a.name) for a in assignments}
    results = {a: found for a, found in results.items() if found}
    if not results:
        raise CourseError("Nothing is graded yet, so there is nothing to report.")
    parts = [section(a, found, book) for a, found in results.items()]
    write_whole(path, page("\n".join(parts)))


def page(body: str) -> str:
    """A whole page, which needs nothing from anywhere."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Class report</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>Class report</h1>
{body}
</main>
</body>
</html>
"""


def section(assignment: Assignment, results: list[dict[str, Any]], book: str) -> str:
    """Everything about one assignment."""
    graded = [result for result in results if result["status"] == "graded"]
    held = [result for result in results if result["status"] == "held"]
    waiting = sum(q["needs_manual_grade"] for r in graded for q in r["questions"])
    parts = [
        f"<h2>{escape(assignment.name)}</h2>",
        f"<p>{len(results)} submissions: {len(graded)} graded, {len(held)} held for "
        f"you. {waiting} answers wait to be graded by hand.</p>",
    ]
    if graded:
        parts += [scores(graded), questions(graded)]
        parts.append(misconceptions(assignment, graded, book))
    if held:
        rows = [[text(r["student"]), text(r["reason"])] for r in held]
        parts.append(table("Held submissions", ["student", "reason"], rows))
    noted = [
        [text(result["student"]), "<br>".join(map(text, result["notes"]))]
        for result in results
        if result["notes"]
    ]
    if noted:
        parts.append(table("Notes on submissions", ["student", "notes"], noted))
    parts.append(runs(results))
    return "\n".join(parts)


def scores(graded: list[dict[str, Any]]) -> str:
    """How many submissions have how many points."""
    highest = graded[0]["max_score"]
    step = highest / 10
    places = Counter(
        min(max(int(result["score"] / step), 0), 9) if step else 0 for result in graded
    )
    values = [result["score"] for result in graded]
    most = max(places.values())
    rows = [
        [
            f"{place * step:g} to {(place + 1) * step:g}",
            number(places[place]),
            bar(places[place] / most),
        ]
        for place in range(10)
    ]
    caption = (
        f"Scores: mean {mean(values):.1f}, median {median(values):.1f} of {highest:g}"
    )
    return table(caption, ["points", "submissions", "share"], rows)


def questions(graded: list[dict[str, Any]]) -> str:
    """Mean, difficulty and discrimination of each question."""
    shares: dict[str, list[tuple[float, float]]] = defaultdict(list)
    points = {q["id"]: q["max_score"] for r in graded for q in r["questions"]}
    for result in graded:
        for question in result["questions"]:
            if not question["needs_manual_grade"]:
                rest = result["score"] - question["score"]
                shares[question["id"]].append((question["score"], rest))
    rows = []
    for name, highest in points.items():
        own = [score for score, _ in shares[name]]
        if not own:
            rows.append([f"<code>{text(name)}</code>", "by hand", "", "", ""])
            continue
        full = sum(score >= highest for score in own)
        rows.append(
            [
                f"<code>{text(name)}</code>",
                number(f"{mean(own):.2f} of {highest:g}"),
                number(f"{mean(own) / highest:.0%}" if highest else "–"),
                number(f"{full} of {len(own)}"),
                number(discrimination(shares[name])),
            ]
        )
    headings = ["question", "mean", "share of points", "all points", "discrimination"]
    return table("Questions", headings, rows) + (
        "<p>Discrimination is the correlation of a question's points with the points "
        "of all other questions: near 1, it tells strong from weak work; near 0 or "
        "below, look at the question.</p>"
    )


def discrimination(pairs: list[tuple[float, float]]) -> str:
    """The correlation of a question's points with all others; "–" where undefined."""
    try:
        return f"{correlation([a for a, _ in pairs], [b for _, b in pairs]):.2f}"
    except StatisticsError:  # fewer than two, or all alike
        return "–"


def misconceptions(
    assignment: Assignment, graded: list[dict[str, Any]], book: str
) -> str:
    """Which known mistakes were made how often, and where the book explains them."""
    counts = Counter(
        question["misconception"]
        for result in graded
        for question in result["questions"]
        if question["misconception"]
    )
    if not counts:
        return "<p>No known misconception was recognized.</p>"
    known = catalog(assignment)
    rows = []
    for name, count in counts.most_common():
        entry = known.get(name)
        diagnosis, link = "", ""
        if entry:
            chapter, _, place = entry.read.partition("#")
            address = escape(f"{book}{chapter}.html#{place}")
            diagnosis, link = text(entry.diagnosis), escape(entry.read)
            link = f'<a href="{address}">{link}</a>' if book else link
        rows.append([f"<code>{text(name)}</code>", number(count), diagnosis, link])
    headings = ["misconception", "answers", "diagnosis", "in the book"]
    return table("Misconceptions", headings, rows)


def runs(results: list[dict[str, Any]]) -> str:
    """When these verdicts were reached, how long it took, and what it cost."""
    started = defaultdict(list)
    for result in results:
        started[result["run"]["started"]].append(result)
    rows = []
    for at, members in sorted(started.items()):
        seconds = max(member["run"]["seconds"] for member in members)
        slowest = max(members, key=lambda member: member["seconds"])
        cost = sum(member["seconds"] for member in members)
        rows.append(
            [
                f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC",
                number(len(members)),
                number(members[0]["run"]["workers"]),
                number(f"{seconds:.1f} s"),
                number(f"{cost:.1f} s"),
                f"{text(slowest['student'])}, {slowest['seconds']:.1f} s",
            ]
        )
    headings = ["run of", "verdicts", "workers", "time", "worker time", "slowest"]
    return table("Time and cost", headings, rows) + (
        "<p>Time is from the start of the run to the last of these verdicts. Worker "
        "time is the sum over the submissions; several workers share it.</p>"
    )


def catalog(assignment: Assignment) -> dict[str, Any]:
    """The catalog's entries by id; empty where an assignment has none."""
    try:
        module = importlib.import_module(
            f"autograder.checks.{assignment.notebook}.catalog"
        )
    except ModuleNotFoundError:
        return {}
    return {entry.id: entry for entry in module.catalog.misconceptions}


# --------------------------------------------------------------- small pieces


def text(value: str) -> str:
    """Text of anybody's, as HTML."""
    return escape(printable(value))


def number(value: Any) -> str:
    return f'<span class="number">{escape(str(value))}</span>'


def bar(share: float) -> str:
    """A bar beside the number that it shows."""
    return f'<span class="bar" style="width:{share:.0%}" aria-hidden="true"></span>'


def table(caption: str, headings: list[str], rows: list[list[str]]) -> str:
    """A table; cells are HTML already."""
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        '<div class="wide" role="region" tabindex="0" '
        f'aria-label="{escape(caption)}">'
        f"<table>\n<caption>{escape(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )
