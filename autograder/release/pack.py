"""``autograder pack``: the wheel that a course's students install.

It has the visible checks, the released notebooks and the library modules of the course,
but nothing of ``hidden``, and no solution. From the same files comes the same wheel.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.errors import CourseError
from autograder.options import describe
from autograder.release import wheels
from autograder.text import one_line

HIDDEN = re.compile(r"^\s*(?:from|import)\s[^#\n]*\bhidden\b.*", re.MULTILINE)


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder pack`."""
    describe(
        verb,
        "Students install the wheel with pip, or get it with the page; then "
        "`autograder check` works with their notebooks.",
        "autograder pack --output dist",
    )
    verb.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where the wheel is written (default: dist/)",
    )


def run(options: argparse.Namespace) -> None:
    """Write the wheel of the course around the current folder."""
    root = registry.enclosing(Path.cwd())
    if root is None:
        raise CourseError(
            f"There is no {registry.FILE} here or in a folder above. `autograder init` "
            "makes a course that has one."
        )
    registry.work_on(root)
    folder = options.output or root / "dist"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / write(root, folder)
    course = registry.read(root)
    count = len(course.folders)
    print(f"{count} assignment{'s' * (count != 1)}: wrote {one_line(str(path))}")


def files(course: registry.CheckedCourse) -> Iterator[tuple[str, bytes]]:
    """What the wheel contains: a name in the archive, and the content.

    Raises CourseError where a name would stand there twice.
    """
    home = course.package
    yield f"{home}/__init__.py", f'"""{course.name}: checks, notebooks."""\n'.encode()
    yield f"{home}/{registry.FILE}", (course.root / registry.FILE).read_bytes()
    for name, folder in course.folders.items():
        refuse_hidden_in_visible(folder / "visible")
        for place, data in wheels.files_in(folder / "visible"):
            yield f"{home}/{name}/visible/{place}", data
    for path in sorted(course.exercises.glob("*/*.ipynb")):
        place = path.relative_to(course.exercises).as_posix()
        yield f"{home}/exercises/{place}", path.read_bytes()
    more = about(course).get("modules", [])
    for path in [*course.library.values(), *(course.root / one for one in more)]:
        if not path.is_file():
            raise CourseError(f"{course.root / registry.FILE}: there is no {path}.")
        yield path.name, path.read_bytes()


def refuse_hidden_in_visible(visible: Path) -> None:
    """CourseError where what students install imports what they must not see."""
    for path in sorted(visible.rglob("*.py")):
        if found := HIDDEN.search(path.read_text("utf-8")):
            raise CourseError(
                f"{path} imports hidden checks (`{found[0].strip()}`), which students "
                "do not have. Move what it needs into visible/."
            )


def about(course: registry.CheckedCourse) -> dict[str, Any]:
    """What the course's ``[wheel]`` says, or, where it has one, its pyproject.toml."""
    said = dict(course.wheel)
    project = course.root / "pyproject.toml"
    if project.is_file():
        said |= tomllib.loads(project.read_text("utf-8")).get("project", {})
    name = re.sub(r"[^a-z0-9]+", "-", course.name.lower()).strip("-")
    usual = {"name": name, "version": "1.0"}
    return usual | {"dependencies": ["numpy", registry.ENGINE]} | said


def write(root: Path, folder: Path, editable: bool = False) -> str:
    """Write the wheel into a folder; its name.

    One that is ``editable`` only says where the course is: its modules are found there.
    """
    course = registry.read(root)
    project = about(course)
    contents: dict[str, bytes] = {}
    if editable:
        places = {str(path.parent) for path in course.library.values()}
        contents[f"{course.package}.pth"] = "\n".join([*sorted(places), ""]).encode()
    for place, data in () if editable else files(course):
        if place in contents:
            raise CourseError(f"Two files of the course are {place} in its wheel.")
        contents[place] = data
    point = {registry.GROUP: {project["name"]: course.package}}
    return wheels.write(folder, project, contents, point)


# ---- pip's side: a course's pyproject.toml may name this module as its build-backend


def build_wheel(folder: str, settings: Any = None, metadata: Any = None) -> str:
    """Build the wheel for pip, which starts in the course's folder."""
    return write(Path.cwd(), Path(folder))


def build_editable(folder: str, settings: Any = None, metadata: Any = None) -> str:
    """Build what `pip install --editable` installs."""
    return write(Path.cwd(), Path(folder), editable=True)


def build_sdist(folder: str, settings: Any = None) -> str:
    """Refuse: a source archive would hold the hidden checks."""
    raise CourseError("A course has no source archive: it would hold hidden checks.")
