"""Versions of a submission: all are kept in collected/, one counts in submitted/."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.intake.archive import Entry
from autograder.intake.names import Label
from autograder.intake.roster import Person
from autograder.intake.times import STAMP, read_stamp, stamp
from autograder.text import one_line

ORIGIN = "origin.json"


@dataclass(frozen=True)
class Origin:
    """Where the submission that counts came from, for feedback that goes back.

    ``label`` is what a platform's bulk upload knows the student by; ``version`` is the
    time in the archive, which for a platform is that of the download.
    """

    platform: str
    label: str
    version: str
    late: bool = False
    team: str = ""


@dataclass(frozen=True)
class Version:
    """A notebook of a student for an assignment."""

    student: str
    assignment: Assignment
    entry: Entry
    digest: str
    label: Label | None = None
    person: Person | None = None

    @property
    def order(self) -> tuple[datetime, int, str]:
        """Later versions come later. In a platform's archive times mean nothing, and
        Canvas counts its files."""
        path = str(self.entry.path)
        if self.label:
            return datetime.min.replace(tzinfo=UTC), self.label.file, path
        return self.entry.time, 0, path

    @property
    def handed_in(self) -> datetime | None:
        """When; None when nobody tells: a platform's archive has no such time."""
        if self.person and self.person.time:
            return self.person.time
        return None if self.label else self.entry.time

    @property
    def origin(self) -> Origin:
        """What to remember of it."""
        version = stamp(self.entry.time).strip()
        if self.label is None:
            return Origin("", "", version)
        team, name = "", self.label.name
        number = self.label.number
        if self.person and self.person.number not in ("", number):
            team, name, number = name, self.person.name, self.person.number
        label = self.entry.path.name if self.label.platform == "canvas" else name
        if self.label.platform == "moodle":
            label = f"{name.replace('_', ' ')}_{number}"
        return Origin(self.label.platform, label, version, self.label.late, team)


def origin_of(course: Course, student: str, assignment: str) -> Origin | None:
    """What collect remembers of a submission; None when it came another way."""
    try:
        text = (course.collected / student / assignment / ORIGIN).read_text("utf-8")
        return Origin(**json.loads(text))
    except (OSError, ValueError, TypeError):
        return None


class Keeper:
    """Puts versions into collected/ and submitted/; ``keep`` is latest or first."""

    def __init__(self, course: Course, keep: str) -> None:
        self.course, self.keep = course, keep
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()

    def put(self, group: list[Version]) -> None:
        """Keep every version; hand in the one that the rule says."""
        first = group[0]
        who = f"{first.student}, {first.assignment.name}"
        group.sort(key=lambda version: version.order)
        for version in group:
            self.keep_version(version)
        chosen = group[-1] if self.keep == "latest" else group[0]
        if len({version.digest for version in group}) > 1:
            known = len({version.order[:-1] for version in group}) > 1
            same = "all of one time, and this one is taken:"
            taken = f"the {self.keep} counts," if known else same
            self.lines.append(
                f"{who}: {len(group)} versions; {taken} "
                f"{one_line(str(chosen.entry.path))[:200]}"
            )
        folder = self.course.submitted / chosen.student / chosen.assignment.name
        path = folder / f"{chosen.assignment.notebook}.ipynb"
        if path.exists() or path.is_symlink():
            if not self.replaces(chosen, path, who):
                return
        else:
            self.counts["new"] += 1
        write_whole(path, chosen.entry.read())
        self.note(chosen, folder)

    def note(self, chosen: Version, folder: Path) -> None:
        """When it was handed in, and where it came from."""
        if chosen.handed_in:
            write_whole(folder / STAMP, stamp(chosen.handed_in))
        else:  # that of an earlier version would be wrong
            (folder / STAMP).unlink(missing_ok=True)
        text = json.dumps(asdict(chosen.origin), ensure_ascii=False, indent=1)
        write_whole(self.place(chosen) / ORIGIN, text + "\n")

    def place(self, version: Version) -> Path:
        return self.course.collected / version.student / version.assignment.name

    def keep_version(self, version: Version) -> None:
        name = f"{version.entry.time:%Y%m%dT%H%M%SZ}-{version.digest[:12]}.ipynb"
        if not (self.place(version) / name).exists():
            write_whole(self.place(version) / name, version.entry.read())

    def replaces(self, chosen: Version, path: Path, who: str) -> bool:
        """Whether this goes over what is in submitted/ already; a line says so."""
        if path.is_symlink() or not path.is_file():
            raise CourseError(f"{path} is not a regular file; move it away first.")
        before = path.read_bytes()
        time = self.version_time(chosen, path)
        newer = time is None or chosen.entry.time > time
        if hashlib.sha256(before).hexdigest() == chosen.digest:
            if chosen.handed_in and read_stamp(path.parent) is None:
                self.note(chosen, path.parent)  # a worksheet came later
            self.counts["there before"] += 1
            return False
        if time is None:
            self.lines.append(
                f"{who}: kept the one in submitted/, which has no time; "
                "move it away to take this one"
            )
        elif newer if self.keep == "latest" else chosen.entry.time < time:
            digest = hashlib.sha256(before).hexdigest()[:12]
            kept = self.place(chosen) / f"{time:%Y%m%dT%H%M%SZ}-{digest}.ipynb"
            if not kept.exists():
                write_whole(kept, before)
            self.lines.append(
                f"{who}: replaced by the {self.keep}; both are in collected/"
            )
            self.counts["replaced"] += 1
            return True
        else:
            self.lines.append(f"{who}: the one in submitted/ counts by the rule")
        self.counts["kept"] += 1
        return False

    def version_time(self, chosen: Version, path: Path) -> datetime | None:
        """The time in the archive of what is in submitted/."""
        origin = origin_of(self.course, chosen.student, chosen.assignment.name)
        if origin:
            time = datetime.strptime(origin.version, "%Y-%m-%d %H:%M:%S UTC")
            return time.replace(tzinfo=UTC)
        return read_stamp(path.parent)
