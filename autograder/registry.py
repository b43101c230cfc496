"""Registry of courses: where the checks of assignments lie, and how to import them.

A course is a folder with a ``course.toml``. Each folder of its assignments may hold two
packages: ``visible``, which students install, and ``hidden``, which stays with the
instructor. Notebooks import the visible one by the assignment's name, ``from
autograder.checks import roots``; everybody else by the course's own package, such as
``numerics.roots.visible``. A wheel that ``autograder pack`` makes has the same file and
folders inside, and an entry point of the group ``autograder.checks``.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import json
import operator
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from autograder.errors import CourseError

FILE = "course.toml"
GROUP = "autograder.checks"
ENGINE = "nbjudge"
OWN = "AUTOGRADER_COURSE"  # the course that is worked on; child processes inherit it
_own = [Path(os.environ[OWN])] if OWN in os.environ else []
TEXT, TEXTS, TABLE = "a text in quotes", "a list of texts in quotes", "a table"
COUNTS = "a list of two whole numbers, such as [3, 2]"
KEYS = dict.fromkeys(("name", "package", "solutions", "needs"), TEXT)
KEYS |= dict.fromkeys(("library", "published"), TEXTS)
KEYS |= {"least": COUNTS, "book": TABLE, "book.texts": TEXT, "book.unit": TEXT}
WHEEL = ("name", "version", "description", "license", "requires-python")
KEYS |= {"wheel": TABLE, **{f"wheel.{key}": TEXT for key in WHEEL}}
KEYS |= dict.fromkeys(("wheel.dependencies", "wheel.modules"), TEXTS)


@dataclass(frozen=True)
class CheckedCourse:
    """What a ``course.toml`` says.

    ``library`` are modules that assignments may come with, by name; in ``published``
    ones stand right answers that are no secret, with which checks compare and which
    take the place of a wrong helper. ``least`` says how many wrong and right answers
    the catalog has to know of each question. ``texts`` has the pages of the course's
    book; page 3 is called "lesson 3" where that is its ``unit``.
    """

    root: Path
    name: str
    package: str
    folders: dict[str, Path]
    library: dict[str, Path]
    published: tuple[str, ...]
    exercises: Path
    least: tuple[int, int]
    texts: Path | None
    unit: str
    wheel: Mapping[str, Any]

    def pages(self, number: str = "[0-9][0-9]") -> list[Path]:
        """The texts of the book's pages, or of the one with this number."""
        if self.texts and not self.texts.is_dir():
            says = (
                f"{self.root / FILE}: book.texts is {self.texts}, which is no folder."
            )
            raise CourseError(says)
        return sorted(self.texts.glob(f"{number}-*.md")) if self.texts else []


def read(root: Path) -> CheckedCourse:
    """The course in a folder.

    Raises CourseError for a file that is not TOML, has keys that are unknown or of
    another type, lists a module that is not there, or needs a newer engine.
    """
    path = root / FILE
    try:
        written = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is not valid TOML: {error}.") from None
    found = dict(keys_of(path, written))
    refuse_old_engine(path, found.get("needs", ""))
    name = found.get("name", root.name)
    package = found.get("package", re.sub(r"\W", "_", name.lower()))
    taken = package == "autograder" or package in sys.stdlib_module_names
    if taken or not package.isidentifier():
        raise CourseError(
            f"{path}: {package!r} is no name for the course's package, or another "
            "package has it; set package to another name."
        )
    library = {}
    for entry in found.get("library", []):
        # a wheel has the modules beside the package
        here, beside = root / entry, root.parent / Path(entry).name
        library[here.stem] = here if here.is_file() else beside
        if not library[here.stem].is_file():
            raise CourseError(
                f"{path} lists the module {entry}, but {here} is missing."
            )
    for one in set(found.get("published", [])) - library.keys():
        known = ", ".join(library) or "none"
        raise CourseError(
            f"{path}: published has {one!r}, but the modules of library are {known}."
        )
    place = root / found.get("solutions", "")
    if not place.is_dir() and not (root / "__init__.py").is_file():  # as a wheel has
        raise CourseError(f"{path}: solutions is {place}, which is no folder.")
    released, pages = root / "release", found.get("book.texts")
    return CheckedCourse(
        root,
        name,
        package,
        folders(root, found.get("solutions")),
        library,
        tuple(found.get("published", [])),
        released if released.is_dir() else root / "exercises",
        tuple(found.get("least", (3, 2))),
        root / pages if pages is not None else None,
        found.get("book.unit", "page"),
        written.get("wheel", {}),
    )


def keys_of(path: Path, found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of a file with their values; those of a table as ``book.unit``.

    CourseError for a key that is unknown or has a value of another kind.
    """
    for key, value in found.items():
        known = ", ".join(sorted(KEYS))
        if key not in KEYS:
            raise CourseError(f"{path} has the unknown key {key}; it can have {known}.")
        if kind_of(value) != KEYS[key]:
            raise CourseError(f"{path}: {key} has to be {KEYS[key]}, not {value!r}.")
        yield key, value
        if KEYS[key] == TABLE:
            inside = {f"{key}.{part}": given for part, given in value.items()}
            yield from keys_of(path, inside)


def kind_of(value: Any) -> str:
    """The words for what a value is, of those that a key may have."""
    if isinstance(value, list):
        counts = [*map(type, value)] == [int, int]
        texts = all(isinstance(one, str) for one in value)
        return COUNTS if counts else TEXTS if texts else ""
    return TEXT if isinstance(value, str) else TABLE if isinstance(value, dict) else ""


def refuse_old_engine(path: Path, needed: str) -> None:
    """CourseError where the course was made for a newer engine."""
    if not re.fullmatch(r"(\d+(\.\d+)*)?", needed):
        raise CourseError(f'{path}: needs has to be like "1.2", not {needed!r}.')
    try:
        here = version(ENGINE)
    except PackageNotFoundError:  # its source, while it is being installed
        return
    numbers = ([*map(int, re.findall(r"\d+", text))] for text in (here, needed))
    if operator.lt(*numbers):
        raise CourseError(
            f"{path} needs {ENGINE} {needed} or newer, but {here} is installed: "
            f"pip install --upgrade {ENGINE}"
        )


def folders(root: Path, solutions: str | None) -> dict[str, Path]:
    """The folders that have checks, by the name under which notebooks import them.

    That is the name of the notebook, or the folder's without its number. In a wheel,
    the folders lie in the course's package itself.
    """
    places = [root / solutions] if solutions else []
    places += [root / "solutions", root / "source", root]
    found: dict[str, Path] = {}
    for place in places:
        for part in sorted(place.glob("*/visible/__init__.py")):
            folder = part.parents[1]
            names = [path.stem for path in sorted(folder.glob("*.ipynb"))]
            numberless = re.sub(r"\d+-", "", folder.name, count=1)
            name = [*names, numberless.replace("-", "_")][0]
            if name in found:
                raise CourseError(
                    f"{found[name]} and {folder} both have checks called {name}; "
                    "rename one of the notebooks."
                )
            found[name] = folder
        if found:
            break
    return found


def work_on(root: Path | str | None) -> None:
    """Take the checks of this course first, here and in the processes started later.

    Raises CourseError where its file is wrong, before any of them starts.
    """
    place = Path(root or "/nowhere").resolve()
    _own[:] = [place] if (place / FILE).is_file() else []
    os.environ.pop(OWN, None)
    os.environ.update((OWN, str(one)) for one in _own)
    courses.cache_clear()
    own_code.cache_clear()
    claim()


def claim() -> None:
    """Import the checks of the course that is worked on from its folder.

    Where the students' wheel is installed as well, it would be found first.
    """
    for root in _own:
        if not os.access(root / FILE, os.R_OK):
            continue  # behind the sandbox
        package = read(root).package
        spec = PathFinder.find_spec(package)
        if spec and str(root) not in (spec.submodule_search_locations or []):
            module = importlib.util.module_from_spec(namespace(package, root))
            sys.modules[package] = module


def enclosing(folder: Path) -> Path | None:
    """The course that a folder lies in; None where it lies in none."""
    for place in [folder, *folder.parents]:
        if (place / FILE).is_file():
            return place
    return None


@cache
def courses() -> tuple[CheckedCourse, ...]:
    """The course that is worked on, and those that are installed."""
    found = [read(root) for root in _own]
    for point in sorted(entry_points(group=GROUP), key=str):
        root = root_of(point)
        if root is not None and point.value not in {c.package for c in found}:
            found.append(read(root))
    return tuple(found)


def root_of(point: EntryPoint) -> Path | None:
    """Where the course of an entry point lies: its package, or an editable tree."""
    spec = PathFinder.find_spec(point.value)
    for place in (spec and spec.submodule_search_locations) or []:
        if (Path(place) / FILE).is_file():
            return Path(place)
    text = point.dist.read_text("direct_url.json") if point.dist else None
    url = json.loads(text)["url"] if text else ""
    tree = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    return tree if tree and (tree / FILE).is_file() else None


def names() -> list[str]:
    """The names under which checks can be imported."""
    return sorted({name for course in courses() for name in course.folders})


def course_of(name: str) -> CheckedCourse | None:
    """The course that has checks called ``name``; None where none has.

    Raises CourseError where two have.
    """
    found = [course for course in courses() if name in course.folders]
    if len(found) > 1:
        listed = " and ".join(f"{one.name} ({one.root})" for one in found)
        raise CourseError(
            f"Two courses have checks called {name}: {listed}. Uninstall one of them, "
            "or rename an assignment."
        )
    return found[0] if found else None


def folder_of(name: str) -> Path | None:
    """The folder with the packages ``visible`` and ``hidden`` of an assignment."""
    course = course_of(name)
    return course.folders[name] if course else None


def folders_used(name: str) -> list[Path]:
    """The folder of an assignment, and of those whose checks its own import."""
    course, used = course_of(name), [name]
    if course is None:
        return []
    imported = re.compile(rf"\b{course.package}\.(\w+)\.(?:visible|hidden)\b")
    for one in used:  # grows meanwhile
        for path in sorted(course.folders[one].rglob("*.py")):
            more = imported.findall(path.read_text("utf-8"))
            used += [n for n in more if n in course.folders and n not in used]
    return [course.folders[one] for one in dict.fromkeys(used)]


def short_name(package: str) -> str:
    """The name under which notebooks import a package of checks.

    >>> short_name("numerics.roots.visible")
    'roots'
    """
    return package.removesuffix(".visible").rpartition(".")[2]


def checks_of(name: str) -> ModuleType:
    """The visible checks called ``name``, imported.

    Raises ModuleNotFoundError where no course has them; what is wrong inside them is
    raised as it is.
    """
    return importlib.import_module(f"{GROUP}.{name}")


def library() -> dict[str, Path]:
    """The library modules of all courses, by name; the first course's come first."""
    return {
        name: path
        for course in reversed(courses())
        for name, path in course.library.items()
    }


def published() -> list[str]:
    """The library modules in which right answers stand that are no secret."""
    return [name for course in courses() for name in course.published]


@cache
def own_code() -> tuple[str, ...]:
    """How the files of the engine and of all checks begin: no student wrote these."""
    engine = str(Path(__file__).resolve().parent)
    found = [str(f) for course in courses() for f in course.folders.values()]
    return engine, *found


def private() -> list[Path]:
    """Folders of the courses, which no student's code may read."""
    return [course.root for course in courses()]


class Finder(importlib.abc.MetaPathFinder):
    """Finder of the courses' packages, and of the names that notebooks import.

    It comes after all others: a course that is installed as a wheel needs it for the
    second only.
    """

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> ModuleSpec | None:
        if name.startswith(f"{GROUP}."):
            return self.alias(name, name.split(".")[2:])
        top, *rest = name.split(".")
        for course in courses():
            if top == course.package and len(rest) < 2:
                place = course.folders.get(rest[0]) if rest else course.root
                return namespace(name, place) if place else None
        return None

    def alias(self, name: str, rest: list[str]) -> ModuleSpec | None:
        """``autograder.checks.roots`` is the package ``visible`` of its folder."""
        course = course_of(rest[0])
        if course is None:
            known = ", ".join(names()) or "none"
            says = f"no course here has checks called {rest[0]} (there are: {known})"
            # without its name: `from … import` would put a sentence of its own in place
            raise ModuleNotFoundError(says)
        part = ["visible"] if rest[1:] != ["hidden"] else []
        full = ".".join([course.package, rest[0], *part, *rest[1:]])
        return importlib.util.spec_from_loader(name, Alias(full))


def namespace(name: str, place: Path) -> ModuleSpec:
    """A package without a file of its own, whose parts lie in ``place``."""
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [str(place)] if "." in name else []
    return spec


class Alias(importlib.abc.Loader):
    """Loader of a module under a second name: both names stand for the same object."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system has put that of the alias there


def install() -> None:
    """Let imports find the courses."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
        claim()
