"""What grading needs to know about an assignment, and what its verdicts depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

import autograder
from autograder.checks.surroundings import BOOK_MODULES
from autograder.course import Assignment, Course
from autograder.notebook.questions import profile_of
from autograder.notebook.records import Release
from autograder.notebook.release import is_released, released_cell
from autograder.release.students import (
    extra_files,
    prepared,
)


def plans(course: Course, assignment: Assignment) -> tuple[Release, ...]:
    """The plan of each notebook of an assignment."""
    return tuple(plan(course, part) for part in assignment.parts)


def one_hash(hashes: Iterable[str]) -> str:
    """One for an assignment, by those of its notebooks."""
    first, *more = hashes
    return (
        hashlib.sha256("".join([first, *more]).encode()).hexdigest() if more else first
    )


def plan(course: Course, assignment: Assignment) -> Release:
    """Everything that grading needs to know about an assignment's notebook.

    Each graded or locked cell has its released text, and test cells have the
    instructor's text beside it. ``hash`` changes when a verdict could.
    """
    stored, given = prepared(course, assignment)
    cells = tuple(
        released_cell(plain(released), original.source)
        for released, original in zip(given.cells, stored.cells, strict=True)
        if is_released(released)
    )
    release = Release(
        assignment.name,
        assignment.notebook,
        cells,
        profile=profile_of([cell.released for cell in cells]),
        tests=course.tests_of(assignment.name),
        metadata=plain(given.metadata),
        files=extra_files(assignment),
    )
    return replace(release, hash=fingerprint(release))


def plain(node: NotebookNode) -> dict[str, Any]:
    """nbformat's dictionary as one of Python's, which can be sent to any worker."""
    return json.loads(json.dumps(node))


def fingerprint(release: Release) -> str:
    """What changes when the assignment does, or the code that decides its verdicts."""
    about = asdict(replace(release, files={}, hash=""))
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    parts = [*release.files.items(), *engine_files(release.notebook)]
    for path, data in parts:
        digest.update(f"\0{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def engine_files(checks: str) -> Iterator[tuple[str, bytes]]:
    """The code that decides an assignment's verdicts.

    Its own checks, what all checks share, the wall, the matching of cells and the
    book's modules, which students may import. A change in another assignment's checks
    is none of its business.
    """
    home = Path(autograder.__file__).parent
    paths = [
        *home.glob("checks/*.py"),
        *home.glob(f"checks/{checks}/**/*.py"),
        *home.glob(f"checks/{checks}/catalog/*.toml"),
        home / "checks" / "shared.toml",
        *home.glob("wall/**/*.py"),
        *home.glob("notebook/*.py"),
        home / "release" / "proof.py",
        home / "grading" / "job.py",
        home / "grading" / "autograded.py",
        *(home.parent / "book" / f"{name}.py" for name in BOOK_MODULES),
    ]
    for path in sorted(filter(Path.is_file, paths)):
        yield path.relative_to(home.parent).as_posix(), path.read_bytes()
