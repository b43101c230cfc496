"""From a download of Moodle or Canvas, a zip or a folder, to submitted/.

Every version that ever came is kept in collected/; submitted/ has the one that counts.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course
from autograder.errors import CourseError, Held
from autograder.files import write_whole
from autograder.intake.archive import Entry, opened
from autograder.intake.roster import Roster, read_roster
from autograder.notebook.finding import resemblance
from autograder.notebook.reading import SIZE_LIMIT, read
from autograder.notebook.records import Release
from autograder.options import describe
from autograder.release.plan import plan
from autograder.text import one_line

# Ada Lovelace_1234_assignsubmission_file_/attention.ipynb, or all in one name
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_.*", re.S)
# lovelaceada_LATE_1234_56789_attention-1.ipynb
CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_.+", re.S)


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder collect`."""
    describe(
        verb,
        "Notebooks are told apart by their cells, not by their names. Every version is "
        "kept in collected/. The time of a submission is that of the archive, in the "
        "zone of this machine.",
        "autograder collect submissions.zip --roster students.csv",
    )
    verb.add_argument("archive", type=Path, metavar="ARCHIVE")
    verb.add_argument(
        "--roster",
        type=Path,
        metavar="FILE",
        help="CSV with the students: ours, Canvas's gradebook or Moodle's worksheet",
    )
    verb.add_argument(
        "--assignment",
        metavar="NAME",
        help="for notebooks that do not tell, such as damaged ones",
    )
    verb.add_argument(
        "--keep",
        choices=("latest", "first"),
        default="latest",
        help="which of several versions counts (default: latest)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Sort in one archive."""
    collector = Collector(
        Course.find(),
        roster=read_roster(options.roster) if options.roster else None,
        assignment=options.assignment,
        keep=options.keep,
    )
    counts = collector.collect(options.archive)
    for line in collector.lines:
        print(one_line(line))
    print(
        f"{counts['new']} new, {counts['replaced']} replaced, "
        f"{counts['kept'] + counts['there before']} as before, "
        f"{counts['left']} files not collected."
    )


class Left(Exception):
    """This file is not collected; the text says why."""


@dataclass(frozen=True)
class Version:
    """A notebook of a student for an assignment."""

    student: str
    assignment: Assignment
    entry: Entry
    digest: str


class Collector:
    """Sorts what an archive holds into submitted/."""

    def __init__(
        self,
        course: Course,
        *,
        roster: Roster | None = None,
        assignment: str | None = None,
        keep: str = "latest",
    ) -> None:
        self.course, self.roster, self.keep = course, roster, keep
        self.assignments = course.assignments()
        self.given = course.chosen([assignment])[0] if assignment else None
        self.releases: dict[str, Release] = {
            a.name: plan(course, a) for a in self.assignments
        }
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()

    def collect(self, archive: Path) -> Counter[str]:
        """Sort in the files of one archive. Every entry is read before a file is
        written, so that an archive that is refused leaves nothing behind."""
        groups: dict[tuple[str, str], list[Version]] = defaultdict(list)
        with opened(archive) as entries:
            entries = [entry for entry in entries if not hidden(entry.path)]
            self.start = self.wrapped([entry.path for entry in entries])
            for entry in entries:
                try:
                    version = self.identify(entry)
                except Left as why:
                    self.leave(entry, str(why))
                else:
                    groups[version.student, version.assignment.name].append(version)
            for key in sorted(groups):
                self.put(groups[key])
        if not self.counts:
            raise CourseError(f"{archive} holds no notebook of this course.")
        return self.counts

    # ------------------------------------------------------------ whose, what

    def identify(self, entry: Entry) -> Version:
        """Whose notebook for which assignment; Left when nobody knows."""
        if entry.path.suffix.lower() != ".ipynb":
            raise Left("is no notebook")
        student = self.student(entry.path)
        if student is None:
            raise Left("does not tell whose it is")
        data = entry.read()
        assignment = self.assignment(entry.path, data)
        if assignment is None:
            raise Left("does not tell its assignment; give it with --assignment")
        if len(data) > SIZE_LIMIT:
            raise Left(f"is larger than {SIZE_LIMIT // 1_000_000} MB")
        return Version(student, assignment, entry, hashlib.sha256(data).hexdigest())

    def leave(self, entry: Entry, why: str) -> None:
        """Do not collect a file, and say so."""
        self.lines.append(f"not collected: {one_line(str(entry.path))[:200]} {why}")
        self.counts["left"] += 1

    def wrapped(self, paths: list[PurePosixPath]) -> int:
        """1 when one folder holds the whole class, else 0."""
        names = {assignment.name for assignment in self.assignments}
        tops = {path.parts[0] for path in paths}
        inside = {path.parts[1] for path in paths if len(path.parts) > 1}
        deep = all(
            len(path.parts) > 2 or (len(path.parts) == 2 and of_lms(path.parts[1]))
            for path in paths
        )
        return int(len(tops) == 1 < len(inside) and deep and not names & inside)

    def student(self, path: PurePosixPath) -> str | None:
        """The student that a path names, as the name of a folder.

        Only the outermost name counts: what is inside it, the student has chosen.
        """
        parts = path.parts[self.start :]
        if match := of_lms(parts[0]):
            return self.known(match["name"], match["number"])
        names = {assignment.name for assignment in self.assignments}
        folders = [part for part in parts[:-1] if part not in names]
        return self.known(folders[0]) if folders else None

    def known(self, name: str, number: str = "") -> str:
        """The student's id: of the roster, else made of name and number."""
        if self.roster:
            if person := self.roster.find(name, number):
                return safe(person.student)
            line = f"not in the roster: {one_line(name)[:80]}"
            if line not in self.lines:
                self.lines.append(line)
        return f"{cleaned(name)}-{number}" if number else safe(name)

    def assignment(self, path: PurePosixPath, data: bytes) -> Assignment | None:
        """By the cells in it; of a file that cannot be read, as told or by its name."""
        try:
            cells = read(data)
        except Held:
            cells = []
        known = {
            a.name: resemblance(self.releases[a.name], cells) for a in self.assignments
        }
        best = max(self.assignments, key=lambda a: known[a.name])
        if known[best.name]:
            return best
        if self.given:
            return self.given
        folders = [a for a in self.assignments if a.name in path.parts]
        named = [a for a in self.assignments if a.notebook in path.name]
        longest = sorted(named, key=lambda a: -len(a.notebook))
        return next(iter(folders + longest), None)

    # ----------------------------------------------------------------- files

    def put(self, group: list[Version]) -> None:
        """Keep every version; hand in the one that the rule says."""
        first = group[0]
        who = f"{first.student}, {first.assignment.name}"
        group.sort(key=lambda version: (version.entry.time, str(version.entry.path)))
        for version in group:
            self.keep_version(version)
        chosen = group[-1] if self.keep == "latest" else group[0]
        if len({version.digest for version in group}) > 1:
            self.lines.append(
                f"{who}: {len(group)} versions; the {self.keep} counts, "
                f"{one_line(str(chosen.entry.path))[:200]}"
            )
        folder = self.course.submitted / chosen.student / chosen.assignment.name
        path = folder / f"{chosen.assignment.notebook}.ipynb"
        stamp = folder / "timestamp.txt"
        if path.exists() or path.is_symlink():
            if not self.replaces(chosen, path, stamp, who):
                return
        else:
            self.counts["new"] += 1
        write_whole(path, chosen.entry.read())
        write_whole(stamp, f"{chosen.entry.time:%Y-%m-%d %H:%M:%S} UTC\n")

    def keep_version(self, version: Version) -> None:
        folder = self.course.collected / version.student / version.assignment.name
        name = f"{version.entry.time:%Y%m%dT%H%M%SZ}-{version.digest[:12]}.ipynb"
        if not (folder / name).exists():
            write_whole(folder / name, version.entry.read())

    def replaces(self, chosen: Version, path: Path, stamp: Path, who: str) -> bool:
        """Whether this goes over what is in submitted/ already; a line says so."""
        if path.is_symlink() or not path.is_file():
            raise CourseError(f"{path} is no regular file; move it away first.")
        before = path.read_bytes()
        if hashlib.sha256(before).hexdigest() == chosen.digest:
            self.counts["there before"] += 1
            return False
        time = stamp_time(stamp)
        if time is None:
            self.lines.append(
                f"{who}: kept the one in submitted/, which has no time; "
                "move it away to take this one"
            )
        elif (
            chosen.entry.time > time
            if self.keep == "latest"
            else chosen.entry.time < time
        ):
            old = self.course.collected / chosen.student / chosen.assignment.name
            digest = hashlib.sha256(before).hexdigest()[:12]
            kept = old / f"{time:%Y%m%dT%H%M%SZ}-{digest}.ipynb"
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


def of_lms(part: str) -> re.Match[str] | None:
    """A name that Canvas or Moodle gave."""
    return CANVAS.fullmatch(part) or MOODLE.fullmatch(part)


def stamp_time(path: Path) -> datetime | None:
    """The time in nbgrader's timestamp.txt, when we wrote it."""
    try:
        text = path.read_text().strip().removesuffix(" UTC")
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None


def hidden(path: PurePosixPath) -> bool:
    """What systems add to archives, and nbgrader's file of the student's machine."""
    if {"__MACOSX", ".ipynb_checkpoints"} & set(path.parts):
        return True
    return path.name in ("timestamp.txt", ".DS_Store") or path.name.startswith("._")


def cleaned(name: str) -> str:
    """A name as a part of a path: letters and digits, the rest as dashes."""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc"))
    text = re.sub(r"[^\w.@]+", "-", text).strip("-.@")
    return text.encode()[:80].decode(errors="ignore") or "student"


def safe(name: str) -> str:
    """As ``cleaned``, and two names that differ never give the same."""
    clean = cleaned(name)
    if clean == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{clean}-{digest[:6]}"
