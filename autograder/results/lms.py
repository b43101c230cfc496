"""Points in the files that Canvas and Moodle import."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.grading.verdict import Verdict
from autograder.intake.roster import Roster, read_roster
from autograder.results.export import Row, table

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def export_lms(
    course: Course,
    assignments: list[Assignment],
    folder: Path,
    form: str,
    roster_file: Path | None,
) -> tuple[list[Path], list[str]]:
    """Write the files for Canvas or Moodle; their paths, and lines about the rest."""
    from autograder.grading.store import Store

    if roster_file is None:
        raise CourseError(
            f"{form.title()} knows students by its own numbers; give the list it "
            "exports with --roster (Canvas: the gradebook, Moodle: the grading "
            "worksheet)."
        )
    roster = read_roster(roster_file)
    with Store(course) as store:
        results = {a.name: store.results(a.name) for a in assignments}
    lines: list[str] = []
    points = {name: points_of(roster, results[name], lines) for name in results}
    most = {
        name: next((v.max_score for v in results[name].values() if v.max_score), None)
        for name in results
    }
    if form == "canvas":
        files = {"canvas.csv": canvas_rows(roster, points, most)}
    else:
        files = {
            f"moodle-{name}.csv": moodle_rows(roster, points[name], most[name])
            for name in points
        }
    for name, rows in files.items():
        write_whole(folder / name, table(rows))
    return [folder / name for name in files], lines


def points_of(
    roster: Roster, results: Mapping[str, Verdict], lines: list[str]
) -> dict[str, float]:
    """Points by the roster's student id, of those whose points are final."""
    points = {}
    for student, verdict in results.items():
        person = roster.of_student(student)
        if person is None:
            lines.append(f"not exported: {student} is not in the roster")
        elif verdict.score is None or verdict.unfinished:
            lines.append(f"not exported: {student} {verdict.unfinished}")
        else:
            points[person.student] = verdict.score
    return points


def canvas_rows(
    roster: Roster,
    points: dict[str, dict[str, float]],
    most: dict[str, float | None],
) -> list[Row]:
    """Canvas's gradebook with a column for each assignment.

    Canvas names a column "01-attention (4711)"; that of the roster is taken.
    """
    if missing := [column for column in CANVAS[:2] if column not in roster.columns]:
        raise CourseError(f"This is not Canvas's gradebook: no column {missing[0]}.")
    known = [column for column in CANVAS if column in roster.columns]

    def column(name: str) -> str:
        starts = (c for c in roster.columns if c == name or c.startswith(f"{name} ("))
        return next(starts, name)

    rows: list[Row] = [[*known, *(column(name) for name in points)]]
    possible = ["    Points Possible", *[""] * (len(known) - 1)]
    rows.append([*possible, *(most[name] for name in points)])
    for person in roster.people:
        own = [points[name].get(person.student) for name in points]
        rows.append([*(person.row[c] for c in known), *own])
    return rows


def moodle_rows(
    roster: Roster, points: dict[str, float], most: float | None
) -> list[Row]:
    """Moodle's grading worksheet with the column Grade filled in."""
    if "Identifier" not in roster.columns:
        raise CourseError("This is not Moodle's worksheet: no column Identifier.")
    columns = [c for c in roster.columns if c not in ("Grade", "Maximum grade")]
    place = columns.index("Status") + 1 if "Status" in columns else len(columns)
    rows: list[Row] = [[*columns[:place], "Grade", "Maximum grade", *columns[place:]]]
    for person in roster.people:
        own = [person.row[c] for c in columns]
        grade = points.get(person.student)
        rows.append([*own[:place], grade, most, *own[place:]])
    return rows
