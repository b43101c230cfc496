"""The course folder: where its parts are, and what was handed in."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.checks.question import nearest

CONFIG = "nbgrader_config.py"


class CourseError(Exception):
    """What is wrong with the course folder or the command, in one clear sentence."""


@dataclass(frozen=True)
class Assignment:
    """One folder of solutions/ with its one notebook."""

    name: str
    source: Path

    @property
    def notebook(self) -> str:
        return self.source.stem


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
                return cls(folder)
        raise CourseError(
            f"{start} is not in a course folder: no {CONFIG} here or above."
        )

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def exercises(self) -> Path:
        return self.root / "exercises"

    @property
    def submitted(self) -> Path:
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

    def nbgrader(self):
        """The settings of nbgrader_config.py, as nbgrader reads them."""
        from traitlets.config.loader import PyFileConfigLoader

        return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()

    def book(self) -> str:
        """The address before the names of the book's chapters.

        From html.baseurl in _config.yml; empty where the book is not published.
        """
        import yaml

        try:
            settings = yaml.safe_load((self.root / "_config.yml").read_text("utf-8"))
        except FileNotFoundError:
            return ""
        address = (settings.get("html") or {}).get("baseurl") or ""
        return f"{address.rstrip('/')}/book/" if address else ""

    def assignments(self) -> list[Assignment]:
        """Every assignment of solutions/, by name."""
        if not self.solutions.is_dir():
            raise CourseError(f"{self.root} has no solutions/ folder.")
        found = []
        for folder in sorted(self.solutions.iterdir()):
            if not folder.is_dir() or folder.name.startswith("."):
                continue
            notebooks = sorted(folder.glob("*.ipynb"))
            if len(notebooks) != 1:
                raise CourseError(
                    f"solutions/{folder.name} has {len(notebooks)} notebooks; "
                    "an assignment has exactly one."
                )
            found.append(Assignment(folder.name, notebooks[0]))
        if not found:
            raise CourseError(f"{self.solutions} has no assignment.")
        return found

    def chosen(self, names: list[str]) -> list[Assignment]:
        """The assignments called ``names``; all of them when there are no names."""
        known = {assignment.name: assignment for assignment in self.assignments()}
        for name in names:
            if name not in known:
                near = nearest(name, list(known))
                names = ", ".join(known)
                hint = f"did you mean {near}?" if near else f"there is {names}."
                raise CourseError(f"There is no assignment {printable(name)}; {hint}")
        return [known[name] for name in dict.fromkeys(names)] or list(known.values())

    def submissions(
        self, assignments: list[Assignment], student: str | None = None
    ) -> list[Submission]:
        """What was handed in for ``assignments``, in the order of names."""
        if not self.submitted.is_dir() or not any(self.submitted.iterdir()):
            raise CourseError(
                f"There is nothing to grade: {self.submitted} is empty or missing. Put "
                "work there as submitted/<student>/<assignment>/<notebook>.ipynb."
            )
        students = {entry.name: entry for entry in folders(self.submitted)}
        if student is not None and student not in students:
            near = nearest(student, list(students))
            hint = f" Did you mean {printable(near)}?" if near else ""
            raise CourseError(
                f"There is no folder submitted/{printable(student)}.{hint}"
            )
        found = []
        for name in [student] if student is not None else sorted(students):
            inside = {entry.name: Path(entry.path) for entry in folders(students[name])}
            found += [
                Submission(name, assignment.name, inside[assignment.name])
                for assignment in assignments
                if assignment.name in inside
            ]
        if not found:
            names = ", ".join(assignment.name for assignment in assignments)
            who = f"submitted/{printable(student)}" if student else "submitted/"
            raise CourseError(f"There is nothing to grade: {who} has no {names}.")
        return found


def folders(folder: Path | os.DirEntry) -> Iterator[os.DirEntry]:
    """The folders inside; links to elsewhere and hidden ones are passed over."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield entry


def read_regular(path: Path, limit: int) -> bytes:
    """The bytes of a regular file; OSError for links, pipes and devices.

    At most ``limit`` + 1 bytes are read, so that the caller can see when it is longer.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path.name} is not a regular file")
        return file.read(limit + 1)


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file so that it is there as a whole, or as it was before."""
    data = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def printable(text: str) -> str:
    """``text`` on one line, with control and direction characters made visible."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode()
        for char in text.encode("utf-8", "backslashreplace").decode()
    )
