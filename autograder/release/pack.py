"""``autograder pack``: the wheel that a course's students install.

It has the visible checks, the released notebooks and the library modules of the course,
but nothing of ``hidden``, and no solution. From the same files comes the same wheel.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.errors import CourseError
from autograder.options import describe
from autograder.text import one_line

SKIPPED = {"__pycache__", ".ipynb_checkpoints"}
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # a zip file knows no earlier one
WHEEL = """\
Wheel-Version: 1.0
Generator: nbjudge
Root-Is-Purelib: true
Tag: py3-none-any
"""


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
    count = len([name for name in course.folders if name != "shared"])
    print(f"{count} assignment{'s' * (count != 1)}: wrote {one_line(str(path))}")


def files(course: registry.CheckedCourse) -> Iterator[tuple[str, bytes]]:
    """What the wheel contains: a name in the archive, and the content.

    Raises CourseError where a name would stand there twice.
    """
    home = course.package
    yield f"{home}/__init__.py", f'"""{course.name}: checks, notebooks."""\n'.encode()
    yield f"{home}/{registry.FILE}", (course.root / registry.FILE).read_bytes()
    for name, folder in course.folders.items():
        for path in sorted((folder / "visible").rglob("*")):
            if path.is_file() and not SKIPPED.intersection(path.parts):
                place = path.relative_to(folder).as_posix()
                yield f"{home}/{name}/{place}", path.read_bytes()
    for path in sorted(course.exercises.glob("*/*.ipynb")):
        place = path.relative_to(course.exercises).as_posix()
        yield f"{home}/exercises/{place}", path.read_bytes()
    more = about(course.root).get("modules", [])
    for path in [*course.library.values(), *(course.root / one for one in more)]:
        if not path.is_file():
            raise CourseError(f"{course.root / registry.FILE}: there is no {path}.")
        yield path.name, path.read_bytes()


def about(root: Path) -> dict[str, Any]:
    """What the course's ``[wheel]`` says, or, where it has one, its pyproject.toml."""
    found = tomllib.loads((root / registry.FILE).read_text("utf-8"))
    said: dict[str, Any] = found.get("wheel", {})
    project = root / "pyproject.toml"
    if project.is_file():
        text = project.read_text("utf-8")
        said = said | tomllib.loads(text).get("project", {})
    name = re.sub(r"[^a-z0-9]+", "-", str(found.get("name", root.name)).lower())
    return {"name": name.strip("-"), "version": "1.0"} | said


def metadata(root: Path) -> str:
    """The text of METADATA."""
    said = about(root)
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {said['name']}",
        f"Version: {said['version']}",
    ]
    if "description" in said:
        lines.append(f"Summary: {said['description']}")
    lines.append(f"Requires-Python: {said.get('requires-python', '>=3.11')}")
    needed = said.get("dependencies", ["numpy", registry.ENGINE])
    lines += [f"Requires-Dist: {one}" for one in needed]
    for extra, packages in said.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {one}; extra == '{extra}'" for one in packages]
    readme = said.get("readme", {})
    if isinstance(readme, dict) and "text" in readme:
        lines += ["Description-Content-Type: text/markdown", "", readme["text"]]
    return "\n".join(lines) + "\n"


def write(root: Path, folder: Path, editable: bool = False) -> str:
    """Write the wheel into a folder; its name.

    One that is ``editable`` only says where the course is: its modules are found there.
    """
    course, said = registry.read(root), about(root)
    name = f"{re.sub('[-.]+', '_', said['name'])}-{said['version']}"
    if editable:
        places = {str(path.parent) for path in course.library.values()}
        contents = {f"{course.package}.pth": "\n".join(sorted(places)).encode() + b"\n"}
    else:
        contents = {}
        for place, data in files(course):
            if place in contents:
                raise CourseError(f"Two files of the course are {place} in its wheel.")
            contents[place] = data
    point = f"[{registry.GROUP}]\n{said['name']} = {course.package}\n"
    contents[f"{name}.dist-info/METADATA"] = metadata(root).encode()
    contents[f"{name}.dist-info/WHEEL"] = WHEEL.encode()
    contents[f"{name}.dist-info/entry_points.txt"] = point.encode()
    record = f"{name}.dist-info/RECORD"
    lines = [f"{place},{digest(data)},{len(data)}" for place, data in contents.items()]
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(folder / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, data in contents.items():
            entry = zipfile.ZipInfo(place, FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return wheel


def digest(data: bytes) -> str:
    """A hash as RECORD writes it."""
    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={found.rstrip(b'=').decode()}"


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
