"""The grading plan of an assignment: its cells, tests and points, for a worker process.

It has a hash of all that verdicts depend on. When the hash changes, work that has been
graded is graded again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

import autograder
from autograder import registry, settings
from autograder.checks.published import books_of, module_file
from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.notebook.records import Release
from autograder.notebook.release import is_released, nameless, released_cell
from autograder.notebook.test_cells import profile_of
from autograder.release.solutions import extra_files, prepared
from autograder.text import one_line

LIBRARIES = ("numpy", "matplotlib")  # plots are checked, too
CODE = (".py", ".toml")


def plans(course: Course, assignment: Assignment) -> tuple[Release, ...]:
    """The plan of each notebook of an assignment."""
    return tuple(plan(course, part) for part in assignment.parts)


def one_hash(hashes: Iterable[str]) -> str:
    """One for an assignment, by those of its notebooks."""
    first, *more = hashes
    whole = "".join([first, *more]).encode()
    return hashlib.sha256(whole).hexdigest() if more else first


def plan(course: Course, assignment: Assignment) -> Release:
    """Everything that grading needs to know about an assignment's notebook.

    Each graded or locked cell has its released text, and test cells have the
    instructor's text beside it. ``hash`` changes when a verdict could.
    """
    stored, given = prepared(course, assignment)
    config = course.nbgrader()
    cells = tuple(
        released_cell(plain(released), original.source)
        for released, original in zip(given.cells, stored.cells, strict=True)
        if is_released(released)
    )
    sources = [cell.released for cell in cells]
    books = {f"{b}.py": module_file(b).read_bytes() for b in books_of(sources)}
    release = Release(
        assignment.name,
        assignment.notebook,
        cells,
        profile=profile_of(sources),
        tests=course.tests_of(assignment.name),
        metadata=plain(given.metadata),
        files=books | extra_files(course, assignment),
        own=settings.own_files(config, assignment.name),
        room=settings.sizes(config)[1],
        seconds=settings.seconds(config),
        nameless=nameless(plain(given)["cells"]),
    )
    language = language_of(release)
    if release.judged and language != "python":
        raise CourseError(
            f"{assignment.source} is in {one_line(language)}; the grader runs "
            "only Python."
        )
    return replace(release, hash=fingerprint(release))


def language_of(release: Release) -> str:
    """The language of a notebook's kernel, whatever the kernel is called."""
    kernel = release.metadata.get("kernelspec", {})
    info = release.metadata.get("language_info", {})
    language = str(kernel.get("language") or info.get("name") or "python").lower()
    return "python" if "python" in language else language


def plain(node: NotebookNode) -> dict[str, Any]:
    """nbformat's dictionary as one of Python's, which can be sent to any worker."""
    return json.loads(json.dumps(node))


def fingerprint(release: Release) -> str:
    """What changes when the assignment does, or the code that decides its verdicts."""
    about = asdict(replace(release, files={}, hash=""))
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, data in release.files.items():
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    for path in engine_files(release.notebook):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    for name in dict.fromkeys([*LIBRARIES, release.profile]):
        digest.update(f"\0{name}\0{version(name)}".encode())
    return digest.hexdigest()


def engine_files(checks: str) -> list[Path]:
    """The code that decides an assignment's points.

    Its own checks, those that they import, what all checks share, the wall and the
    matching of cells; but not ``explain``, which finds the words about exceptions.
    """
    home = Path(autograder.__file__).parent
    own = registry.folders_used(checks)
    paths = [
        *home.glob("checks/*.py"),
        *(p for f in own for p in f.glob("visible/**/*.py")),
        *(p for f in own for p in f.glob("hidden/**/*") if p.suffix in CODE),
        *(registry.library()[name] for name in registry.published()),
        home / "checks" / "shared.toml",
        *home.glob("wall/**/*.py"),
        *home.glob("notebook/*.py"),
        *home.glob("torch_support/*.py"),
        home / "libraries.py",
        home / "errors.py",
        home / "text.py",
        home / "release" / "proof.py",
        home / "grading" / "job.py",
        home / "grading" / "autograded.py",
    ]
    return sorted(filter(Path.is_file, paths))
