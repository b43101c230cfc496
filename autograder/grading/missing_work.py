"""Remarks after a grading: who handed in nothing, and which files nobody uses.

It also lists verdicts that are out of date, and late work of unknown lateness.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict
from autograder.intake.versions import origin_of
from autograder.release.dates import STAMP, course_zone, read_stamp
from autograder.text import listed, nearest, one_line


def unused(course: Course, students: Sequence[str] = ()) -> Iterator[str]:
    """What is in submitted/ and not where a submission is looked for, and why."""
    names = [assignment.name for assignment in course.assignments()]
    for entry in entries(course.submitted):
        if students and entry.name not in students:
            continue
        place = f"submitted/{one_line(entry.name)}"
        if not entry.is_dir(follow_symlinks=False):
            yield f"{place} is not a student's folder"
            continue
        inside = list(entries(Path(entry.path)))
        if not inside:
            yield f"{place} is empty"
        for part in inside:
            path = f"{place}/{one_line(part.name)}"
            if part.is_symlink():
                yield f"{path} is a link"
            elif not part.is_dir():
                if part.name != STAMP:
                    yield f"{path} is not in an assignment's folder"
            elif part.name not in names and part.name not in course.broken():
                near = nearest(part.name.lower(), names)
                hint = f"did you mean {near}?" if near else f"known: {listed(names)}"
                yield f"{path}: there is no such assignment; {hint}"
            elif (Path(part.path) / STAMP).exists() and not read_stamp(
                Path(part.path), course_zone(course)
            ):
                yield f"{path}/{STAMP} has no readable time"


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, by name, but for what is hidden; nothing if it is closed."""
    try:
        found = [e for e in os.scandir(folder) if not e.name.startswith(".")]
    except OSError:  # what should be graded there has been held
        return
    yield from sorted(found, key=lambda entry: entry.name)


def without_work(course: Course, store: Store, assignment: str) -> list[str]:
    """Students with a folder or in the gradebook who handed in nothing for it."""
    folders = {entry.name for entry in entries(course.submitted) if entry.is_dir()}
    return sorted(
        student
        for student in folders | store.students()
        if not (course.submitted / student / assignment).is_dir()
    )


def remarks(
    course: Course,
    store: Store,
    assignment: Assignment,
    verdicts: Mapping[str, Verdict],
    release: str,
) -> Iterator[str]:
    """Remarks to print about an assignment after it was graded."""
    if course.tests_of(assignment.name) == "inside":
        yield (
            f"{assignment.name}: its tests run inside the students' process, where a "
            "dishonest student can get unearned points"
        )
    if missing := without_work(course, store, assignment.name):
        yield f"no work for {assignment.name}: {listed(missing)}"
    runs = {student: verdict.run for student, verdict in verdicts.items()}
    old = [s for s, run in runs.items() if run and run.release not in ("", release)]
    if old:
        yield (
            f"{assignment.name} has changed since these were graded: {listed(old)}; "
            f"`autograder grade {assignment.name}` grades them again"
        )
    origins = {s: origin_of(course, s, assignment.name) for s in verdicts}
    late = [s for s, origin in origins.items() if origin and origin.late]
    unknown = [student for student in late if not verdicts[student].lateness]
    if unknown:
        place = f"submitted/{one_line(unknown[0])}/{assignment.name}/{STAMP}"
        yield (
            f"late for {assignment.name} according to Canvas, which does not say by "
            f"how much: {listed(unknown)}; write the time of submission, such as "
            f"2026-03-10 08:00, into {place}, and run `autograder grade "
            f"{assignment.name}` again"
        )
    gone = [
        student
        for student in verdicts
        if not (course.submitted / student / assignment.name).is_dir()
    ]
    if gone:
        yield (
            f"{assignment.name}: the work of {listed(gone)} is no longer in "
            "submitted/; their verdicts are kept"
        )
