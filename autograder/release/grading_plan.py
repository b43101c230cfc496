"""The grading plan of an assignment: its cells, tests and points, for a worker process.

It has a hash of all that verdicts depend on. When the hash changes, work that has been
graded is graded again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

import autograder
from autograder import registry, settings
from autograder.checks.published import books_of, module_file
from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.notebook.records import BY_POINTS, Release
from autograder.notebook.release import is_released, nameless, released_cell
from autograder.notebook.test_cells import profile_of
from autograder.release.solutions import extra_files, prepared
from autograder.text import one_line

LIBRARIES = ("numpy", "matplotlib")  # plots are checked, too
CODE = (".py", ".toml")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
WORDS = {"says", "differs", "why", "unseen"}  # of a catalog: sentences


def plans(course: Course, assignment: Assignment) -> tuple[Release, ...]:
    """The plan of each notebook of an assignment.

    CourseError when one is a copy of another: its questions would count twice.
    """
    found = tuple(plan(course, part) for part in assignment.parts)
    for first, second in combinations(found, 2):
        if shared := copied(first, second):
            names = ", ".join(shared[:3])
            raise CourseError(
                f"{first.notebook}.ipynb and {second.notebook}.ipynb of "
                f"{assignment.name} have the same questions ({names}"
                f"{', …' if len(shared) > 3 else ''}); move the copy out of "
                f"{assignment.source.parent}."
            )
    return found


def copied(first: Release, second: Release) -> list[str]:
    """The questions of a notebook and its copy; empty for two that differ.

    Courses call the first question q1 in each notebook, and a notebook may go on where
    another ends: in a copy all names are the same, and the text of one test at least.
    """
    one, other = (
        {
            cell.grade_id: (cell.kind, cell.source)
            for cell in r.cells
            if cell.kind in BY_POINTS
        }
        for r in (first, second)
    )
    same = {name for name in one if one[name] == other.get(name)}
    tests = {name for name in same if one[name][0] == "test"}
    return (
        sorted(one)
        if one.keys() == other.keys() and (tests or same == set(one))
        else []
    )


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
        digest.update(f"\0{path.name}\0{without_words(path)}".encode())
    for name in dict.fromkeys([*LIBRARIES, release.profile]):
        digest.update(f"\0{name}\0{version(name)}".encode())
    return digest.hexdigest()


def without_words(path: Path) -> str:
    """The code or data of a file, without what is only read by people.

    Of Python: without comments, layout and docstrings, which are the sentences of
    checks. Of a table: without the keys in WORDS.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return json.dumps(decisive(tomllib.loads(text)), sort_keys=True)
    return code_of(text)


@cache
def code_of(text: str) -> str:
    """The syntax tree of a module without docstrings; most serve every assignment."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree)


def decisive(value: Any) -> Any:
    """A value of a table, without the keys in WORDS at any depth."""
    if isinstance(value, dict):
        return {k: decisive(v) for k, v in value.items() if k not in WORDS}
    return [decisive(each) for each in value] if isinstance(value, list) else value


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
