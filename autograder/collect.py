"""From what a learning management system gives to submitted/<student>/<assignment>/.

Reads Moodle's and Canvas's archives of submissions, plain zips, and folders. The whole
archive is examined before anything is written. Nothing is overwritten: what gives way
to another version is kept in collected/.
"""

from __future__ import annotations

import csv
import re
import stat
import time
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course, CourseError, printable, write_whole
from autograder.release import plan
from autograder.submission import SIZE_LIMIT, Held, read, resemblance

TOTAL_LIMIT = 2_000_000_000
ENTRY_LIMIT = 100_000
STAMP = "timestamp.txt"  # nbgrader's name for the time of a submission

# "Ada Lovelace_123_assignsubmission_file_/a.ipynb", or in one name
MOODLE = re.compile(
    r"(?P<name>[^/]+)_(?P<number>\d+)_assignsubmission_file_?/?(?P<file>[^/]+)$"
)
# "lovelaceada_LATE_12_345_a-1.ipynb"
CANVAS = re.compile(r"(?P<name>[^/_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<file>[^/]+)$")


@dataclass(frozen=True)
class Entry:
    """One file that was handed in."""

    path: str
    data: bytes
    stamp: str  # the archive's own time, as nbgrader writes it


@dataclass(frozen=True)
class Handed:
    """An entry, and whose work for which assignment it is."""

    student: str
    assignment: Assignment
    entry: Entry


def collect(
    course: Course,
    archive: Path,
    *,
    assignment: str | None = None,
    roster: Path | None = None,
    keep: str = "latest",
) -> tuple[Counter[str], list[str]]:
    """Put an archive's notebooks in place; counts, and a line for each one left out.

    ``keep`` is "latest" or "first". Raises CourseError before anything is written,
    when the archive is unsafe or two students would share a name.
    """
    chosen = course.chosen([assignment] if assignment else [])
    known = Roster(roster)
    releases = {each.name: plan(course, each) for each in chosen}
    handed, left_out = [], []
    for entry in entries(archive):
        try:
            handed.append(placed(entry, chosen, releases, known))
        except Held as reason:
            left_out.append(f"{printable(entry.path)}: {reason}")
    known.refuse_mix_ups()
    counts: Counter[str] = Counter()
    handed.sort(key=lambda each: each.entry.stamp)
    for each in handed:
        counts[put(course, each, keep)] += 1
    return counts, left_out


# ------------------------------------------------------------------ archives


def entries(archive: Path) -> Iterator[Entry]:
    """The files of a zip or a folder, in the order of their names."""
    if archive.is_dir():
        yield from folder_entries(archive)
    elif zipfile.is_zipfile(archive):
        yield from zip_entries(archive)
    elif archive.exists():
        raise CourseError(f"{archive} is neither a zip archive nor a folder.")
    else:
        raise CourseError(f"There is no {archive}.")


def zip_entries(archive: Path) -> list[Entry]:
    with zipfile.ZipFile(archive) as opened:
        members = [m for m in opened.infolist() if not m.is_dir()]
        if len(members) > ENTRY_LIMIT:
            raise CourseError(f"{archive} has more than {ENTRY_LIMIT} entries.")
        for member in members:
            if reason := unsafe(member):
                raise CourseError(
                    f"{archive} was refused: {printable(member.filename)[:200]} "
                    f"{reason}. Nothing was collected."
                )
        if sum(member.file_size for member in members) > TOTAL_LIMIT:
            raise CourseError(f"{archive} would unpack to more than 2 GB.")
        try:
            return [
                Entry(m.filename, whole(opened, m), stamp_of(m.date_time))
                for m in sorted(members, key=lambda m: m.filename)
                if not hidden(m.filename)
            ]
        except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
            raise CourseError(f"{archive} is damaged: {error}.") from None


def unsafe(member: zipfile.ZipInfo) -> str | None:
    """Why an entry must not be unpacked."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if path.is_absolute() or re.match(r"[A-Za-z]:", member.filename):
        return "has an absolute path"
    if ".." in path.parts:
        return "leads out of the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "is a link"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.file_size > 5 * SIZE_LIMIT:
        return "would unpack to more than 100 MB"
    return None


def whole(opened: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry, no more than it announces."""
    with opened.open(member) as file:
        data = file.read(member.file_size + 1)
    if len(data) > member.file_size:
        raise zipfile.BadZipFile(f"{printable(member.filename)} is larger than it says")
    return data


def folder_entries(folder: Path) -> Iterator[Entry]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise CourseError(f"{printable(str(path))} is a link; it was refused.")
        if path.is_file() and not hidden(name):
            if path.stat().st_size > 5 * SIZE_LIMIT:
                raise CourseError(f"{printable(str(path))} is larger than 100 MB.")
            moment = time.gmtime(path.stat().st_mtime)
            yield Entry(name, path.read_bytes(), stamp_of(moment[:6]))


def hidden(name: str) -> bool:
    """Files that systems add, such as .DS_Store, checkpoints and __MACOSX."""
    return any(part.startswith((".", "__")) for part in PurePosixPath(name).parts)


def stamp_of(moment: tuple[int, ...]) -> str:
    year, month, day, hour, minute, second = moment[:6]
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC"


# ------------------------------------------------------------- whose, and what


class Roster:
    """Students' ids, from a CSV file with the columns id, name and number.

    Without a file the id is made from the name. ``number`` is the learning management
    system's own; Moodle and Canvas put it into their file names.
    """

    def __init__(self, path: Path | None) -> None:
        self.by_number: dict[str, str] = {}
        self.by_name: dict[str, str] = {}
        self.seen: dict[str, set[str]] = {}
        self.given = path is not None
        if path is not None:
            self._load(path)

    def _load(self, path: Path) -> None:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(f"The roster {path} cannot be read: {error}.") from None
        rows = csv.DictReader(text.splitlines())
        if "id" not in (rows.fieldnames or []):
            raise CourseError(f"The roster {path} has no column `id`.")
        for line, row in enumerate(rows, 2):
            if safe_id(row["id"] or "") != row["id"]:
                raise CourseError(
                    f"{path}, line {line}: {printable(row['id'] or 'nothing')} cannot "
                    "be a student's id; use letters, digits, dots and dashes."
                )
            for table, column in ((self.by_number, "number"), (self.by_name, "name")):
                if key := plain(row.get(column) or ""):
                    if table.get(key, row["id"]) != row["id"]:
                        raise CourseError(
                            f"{path}, line {line}: two students have the {column} "
                            f"{printable(key)}."
                        )
                    table[key] = row["id"]

    def student(self, name: str, number: str) -> str:
        """The id of a student; Held when the roster does not know them."""
        found = self.by_number.get(plain(number)) or self.by_name.get(plain(name))
        if found:
            return found
        if self.given:
            raise Held("the roster has no such student")
        student = safe_id(name)
        if not student:
            raise Held("no student's name can be read from it")
        self.seen.setdefault(student, set()).add(number or name)
        return student

    def refuse_mix_ups(self) -> None:
        """Two persons whose names give one id need a roster."""
        for student, persons in self.seen.items():
            if len(persons) > 1:
                raise CourseError(
                    f"{len(persons)} students would both be called {student}; give a "
                    "roster (a CSV file with the columns id, name, number)."
                )


def plain(text: str) -> str:
    """A name as it is compared: no accents of encoding, case, or extra spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def safe_id(name: str) -> str:
    """A name as a folder: letters and digits of any language, dots and dashes."""
    text = unicodedata.normalize("NFC", name).strip()
    kept = "".join(c if wordlike(c) else "-" for c in text)
    text = re.sub("-+", "-", kept).strip("-.")
    while len(text.encode()) > 200:
        text = text[:-1]
    return text


def wordlike(char: str) -> bool:
    """Letters and digits with their accents and vowel signs, dots and underscores."""
    return char.isalnum() or char in "._" or unicodedata.category(char)[0] == "M"


def placed(
    entry: Entry, chosen: list[Assignment], releases: dict[str, dict], roster: Roster
) -> Handed:
    """Whose work an entry is, and for what; Held when that cannot be told."""
    path = entry.path.replace("\\", "/")
    if not path.lower().endswith(".ipynb"):
        raise Held("it is not a notebook")
    if found := MOODLE.search(path) or CANVAS.search(path):
        student = roster.student(found["name"], found["number"])
        file = found["file"]
    else:
        parts = PurePosixPath(path).parts
        names = [part for part in parts[:-1] if part not in releases]
        student = roster.student(names[-1] if names else parts[-1][:-6], "")
        file = parts[-1]
    return Handed(student, assignment_of(entry, path, file, chosen, releases), entry)


def assignment_of(
    entry: Entry,
    path: str,
    file: str,
    chosen: list[Assignment],
    releases: dict[str, dict],
) -> Assignment:
    """By folder, by content, and last by the file's name."""
    for each in chosen:
        if each.name in PurePosixPath(path).parts:
            return each
    try:
        cells = read(entry.data)
        likeness = {n: resemblance(release, cells) for n, release in releases.items()}
        best = max(likeness, key=lambda name: likeness[name])
        if likeness[best] > 0:
            return next(each for each in chosen if each.name == best)
    except Held:
        pass  # damaged; the grader will tell why, once it is in its place
    for each in chosen:
        if file.startswith(each.notebook):
            return each
    if len(chosen) == 1:
        return chosen[0]
    raise Held("it belongs to no assignment; say which with --assignment")


# ------------------------------------------------------------------- writing


def put(course: Course, handed: Handed, keep: str) -> str:
    """Put a notebook in its place; what became of it, in a word."""
    where = course.submitted / handed.student / handed.assignment.name
    target = where / handed.assignment.source.name
    stamp = where / STAMP
    if not target.exists():
        write_whole(target, handed.entry.data)
        write_whole(stamp, handed.entry.stamp + "\n")
        return "new"
    if target.read_bytes() == handed.entry.data:
        return "unchanged"
    before = stamp.read_text().strip() if stamp.exists() else ""
    if keep == "latest" and handed.entry.stamp >= before:
        aside(course, handed, before or "before", target.read_bytes())
        write_whole(target, handed.entry.data)
        write_whole(stamp, handed.entry.stamp + "\n")
        return "replaced"
    aside(course, handed, handed.entry.stamp, handed.entry.data)
    return "kept aside"


def aside(course: Course, handed: Handed, stamp: str, data: bytes) -> None:
    """Keep a version that is not graded in collected/."""
    folder = course.root / "collected" / handed.student / handed.assignment.name
    name = re.sub(r"[^\w-]+", "-", stamp).strip("-")
    path, number = folder / f"{name}.ipynb", 2
    while path.exists() and path.read_bytes() != data:
        path, number = folder / f"{name}-{number}.ipynb", number + 1
    write_whole(path, data)
