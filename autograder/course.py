"""The course folder: paths of its parts, assignments, and what students handed in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from autograder import registry, settings
from autograder.errors import CourseError
from autograder.files import stays
from autograder.text import meant, nearest, one_line

CONFIG = "nbgrader_config.py"
OPTIONS = ["due", "given", "other_ways", "tests"]


@dataclass(frozen=True)
class Assignment:
    """One folder of solutions/ with its notebook, or with several."""

    name: str
    source: Path
    more: tuple[Path, ...] = ()

    @property
    def notebook(self) -> str:
        """The name of the notebook, or of the first."""
        return self.source.stem

    @property
    def parts(self) -> tuple[Assignment, ...]:
        """The same assignment with each of its notebooks alone."""
        return tuple(Assignment(self.name, path) for path in (self.source, *self.more))

    @property
    def notebooks(self) -> str:
        """The names of all notebooks."""
        return ", ".join(part.notebook for part in self.parts)


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one assignment: a folder, not yet opened."""

    student: str
    assignment: str
    folder: Path


@dataclass(frozen=True)
class Course:
    """A folder with an nbgrader_config.py."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None) -> Course:
        """The course that ``start`` (the current folder) lies in."""
        start = (start or Path.cwd()).resolve()
        for folder in [start, *start.parents]:
            if (folder / CONFIG).is_file():
                refuse_another_copy(folder)
                registry.work_on(folder)
                return cls(folder)
        raise CourseError(
            f"{start} is not in a course folder: there is no {CONFIG} here or in "
            "a folder above."
        )

    @property
    def solutions(self) -> Path:
        """The instructors' notebooks."""
        return self.folder("source")

    @property
    def exercises(self) -> Path:
        """The students' notebooks, as they go out."""
        return self.folder("release")

    @property
    def submitted(self) -> Path:
        """What students handed in."""
        return self.root / "submitted"

    @property
    def collected(self) -> Path:
        """Every version that ``autograder collect`` ever saw."""
        return self.root / "collected"

    @property
    def autograded(self) -> Path:
        return self.root / "autograded"

    @property
    def feedback(self) -> Path:
        return self.root / "feedback"

    def folder(self, kind: Literal["source", "release"]) -> Path:
        """A folder as nbgrader's configuration calls it; else ours, or nbgrader's."""
        given = self.nbgrader().get("CourseDirectory", {})
        ours = {"source": "solutions", "release": "exercises"}
        usual = ours if (self.root / ours["source"]).is_dir() else {}
        name = given.get(f"{kind}_directory", usual.get(kind, kind))
        return self.root / name

    def nbgrader(self) -> Any:
        """The settings of nbgrader_config.py, as nbgrader reads them."""
        from traitlets.config.loader import PyFileConfigLoader

        try:
            config = PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()
        except Exception as error:
            where = getattr(error, "lineno", None)
            line = f", line {where}" if where else ""
            raise CourseError(
                f"{CONFIG}{line} cannot be read: {type(error).__name__}: "
                f"{getattr(error, 'msg', None) or error}."
            ) from None
        for name in set(config.get("Autograder", {})) - set(OPTIONS):
            hint = meant(name, OPTIONS)
            raise CourseError(f"{CONFIG} has the unknown c.Autograder.{name}; {hint}")
        settings.refuse(config, self.root)
        return config

    def table(self, option: str) -> dict[str, Any]:
        """An option that says something of each assignment, by name."""
        found = self.nbgrader().get("Autograder", {}).get(option, {})
        if not isinstance(found, dict):
            raise CourseError(
                f"c.Autograder.{option} in {CONFIG} is not a table; write it as "
                '{"01-means": …}.'
            )
        return dict(found)

    def tests_of(self, assignment: str) -> Literal["remote", "inside"]:
        """Where an assignment's test cells run, by ``c.Autograder.tests``."""
        where = self.nbgrader().get("Autograder", {}).get("tests", {})
        chosen = where.get(assignment, "remote") if isinstance(where, dict) else where
        if chosen not in ("remote", "inside"):
            raise CourseError(
                f"c.Autograder.tests in {CONFIG} says {one_line(str(chosen))} for "
                f'{one_line(assignment)}; it takes "remote" or "inside".'
            )
        return chosen

    def ignored(self) -> list[str]:
        """Names of files that stay with the instructor, as in a shell."""
        return settings.ignored(self.nbgrader())

    def without_effect(self) -> list[str]:
        """A sentence about each of nbgrader's settings that nothing reads."""
        return list(settings.without_effect(self.nbgrader()))

    def book(self) -> str:
        """The address before the names of the book's pages.

        From html.baseurl in _config.yml; empty where the book is not published.
        """
        return f"{site}book/" if (site := self.site()) else ""

    def about(self) -> registry.CheckedCourse | None:
        """What course.toml says; a course made for nbgrader has none."""
        there = (self.root / registry.FILE).is_file()
        return registry.read(self.root) if there else None

    def site(self) -> str:
        """Address of the course's site, ending in a slash; empty if it is not known."""
        import yaml

        try:
            config = yaml.safe_load((self.root / "_config.yml").read_text("utf-8"))
        except FileNotFoundError:
            return ""
        address = ((config or {}).get("html") or {}).get("baseurl") or ""
        return f"{address.rstrip('/')}/" if address else ""

    def scanned(self) -> tuple[dict[str, Assignment], dict[str, str]]:
        """The assignments of solutions/, by name; and why other folders are none."""
        if not self.solutions.is_dir():
            raise CourseError(f"{self.root} has no {self.solutions.name}/ folder.")
        found, broken, ignored = {}, {}, self.ignored()
        for folder in sorted(listed(self.solutions, self.solutions)):
            path = Path(self.solutions.name, folder.name)
            if not folder.is_dir() or folder.name.startswith("."):
                continue
            try:
                listed(folder, path)  # glob finds nothing in a folder that is closed
            except CourseError as error:
                broken[folder.name] = str(error)
                continue
            every = sorted(folder.glob("*.ipynb"))
            notebooks = [p for p in every if not stays(Path(p.name), ignored)]
            if notebooks:
                first, *more = notebooks
                found[folder.name] = Assignment(folder.name, first, tuple(more))
            else:
                broken[folder.name] = (
                    f"{path} has 0 notebooks. Put the solution there, or move the "
                    "folder out."
                )
        return found, broken

    def assignments(self) -> list[Assignment]:
        """Every assignment of solutions/ that has a notebook, by name."""
        return self.chosen([])

    def broken(self) -> dict[str, str]:
        """Why folders of solutions/ are no assignment; they stop no other."""
        return self.scanned()[1]

    def chosen(self, names: list[str]) -> list[Assignment]:
        """The assignments called ``names``; all of them when there are no names."""
        known, broken = self.scanned()
        if not known:
            none = f"{self.solutions} has no assignment."
            raise CourseError(next(iter(broken.values()), none))
        for name in names:
            if name in broken:
                raise CourseError(broken[name])
            if name not in known:
                hint = meant(name, list(known))
                raise CourseError(f"There is no assignment {one_line(name)}; {hint}")
        return [known[name] for name in dict.fromkeys(names)] or list(known.values())

    def submissions(
        self, assignments: list[Assignment], chosen: Sequence[str] = ()
    ) -> list[Submission]:
        """What was handed in for ``assignments``, in the order of names.

        By everybody, or by the students in ``chosen``.
        """
        if not self.submitted.is_dir() or not any(self.submitted.iterdir()):
            raise CourseError(
                f"There is nothing to grade: {self.submitted} is empty or missing. Put "
                "work there as submitted/<student>/<assignment>/<notebook>.ipynb."
            )
        given = self.nbgrader().get("CourseDirectory", {})
        left_out = str(given.get("student_id_exclude", "")).split(",")
        students = {
            entry.name: entry
            for entry in folders(self.submitted)
            if entry.name not in left_out
        }
        for name in chosen:
            if name not in students:
                near = nearest(name, list(students))
                hint = f" Did you mean {one_line(near)}?" if near else ""
                raise CourseError(
                    f"There is no folder submitted/{one_line(name)}.{hint}"
                )
        submissions: list[Submission] = []
        for name in sorted(set(chosen) or students):
            try:
                inside = {e.name: Path(e.path) for e in folders(students[name])}
            except OSError:  # closed to us: it is held when it is opened
                path = Path(students[name].path)
                inside = {a.name: path / a.name for a in assignments}
            submissions += [
                Submission(name, assignment.name, inside[assignment.name])
                for assignment in assignments
                if assignment.name in inside
            ]
        if not submissions:
            names = ", ".join(assignment.name for assignment in assignments)
            who = ", ".join(f"submitted/{one_line(name)}" for name in chosen)
            who = who or "submitted/"
            raise CourseError(f"There is nothing to grade: {who} has no {names}.")
        return submissions


def refuse_another_copy(root: Path) -> None:
    """CourseError where a course has an autograder, and a different one is running.

    That one could judge in another way, and nobody would notice.
    """
    own, running = root / "autograder", Path(__file__).resolve().parent
    if not (own / "__init__.py").is_file() or own.resolve() == running:
        return

    def contents(folder: Path) -> dict[str, bytes]:
        files = (path for end in ("py", "toml") for path in folder.rglob(f"*.{end}"))
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    if contents(own) != contents(running):
        raise CourseError(
            f"This autograder belongs to {running.parent}, but {root} "
            f"has its own. Run {root}/.venv/bin/autograder. If that file is missing "
            f"or prints this message too, delete {root}/.venv and run `make setup` in "
            f"{root}."
        )


def listed(folder: Path, called: Path) -> list[Path]:
    """What is in a folder of the course; CourseError where it is closed."""
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError as error:
        raise CourseError(f"{called} cannot be read: {error.strerror}.") from None


def folders(folder: Path | os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    """The folders inside; links to elsewhere and hidden ones are passed over."""
    with os.scandir(os.fspath(folder)) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield entry
