"""Storage of submissions: all versions in collected/, one that counts in submitted/."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError, Held
from autograder.files import write_whole
from autograder.intake.versions import Version, origin_of, save_origin, without_time
from autograder.notebook.reading import read_cells
from autograder.notebook.records import Release
from autograder.notebook.text_diff import text_key
from autograder.release.dates import STAMP, read_stamp, stamp
from autograder.text import listed, one_line

# what is said in the end, of all students that it is about
SEVERAL = "sent several notebooks of one assignment; look at them"
STAMPED = "got a different time of submission"
OUTDATED = (
    "may have handed in again after this archive was downloaded: the worksheet's time, "
    "which is stored, is later than every file in the archive. This is a guess; "
    "download both again to be sure"
)
SAME_TIME = (
    "sent new work, and the worksheet still has the time of the old work, which is "
    "stored. It may be too early; download the worksheet again, and collect once more"
)
UNDATED = (
    "got earlier work back, of which the worksheet has no time; only the time of the "
    "later work stands there"
)


class Submissions:
    """Puts versions into collected/ and submitted/; ``keep`` is latest or first.

    A notebook that is as it was released never counts while another has answers.
    """

    def __init__(
        self, course: Course, keep: str, releases: Mapping[Assignment, Release]
    ) -> None:
        self.course, self.keep, self.releases = course, keep, releases
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()
        kinds = SEVERAL, STAMPED, OUTDATED, SAME_TIME, UNDATED
        self.remarks: dict[str, list[str]] = {kind: [] for kind in kinds}

    def put(self, group: list[Version]) -> None:
        """Keep every version; hand in the one that the rule says."""
        group.sort(key=lambda version: (version.order, str(version.entry.path)))
        *earlier, newest = group
        if self.keep == "first":  # the worksheet tells the time of the newest alone
            group = [without_time(v) for v in earlier if v.digest != newest.digest]
            group.append(newest)
        name = newest.assignment.name
        folder = self.course.submitted / newest.student / name
        path = folder / f"{newest.assignment.notebook}.ipynb"
        group = [self.dated(version, path) for version in group]
        for version in group:
            kept = self.kept(version, "ipynb")
            if not kept.exists():
                write_whole(kept, version.entry.read())
            if version.handed_in:
                write_whole(self.kept(version, "txt"), stamp(version.handed_in))
        chosen = self.chosen(group, f"{newest.student}, {name}")
        if path.exists() or path.is_symlink():
            if not self.replaces(chosen, path, f"{newest.student}, {name}"):
                return
        else:
            self.counts["new"] += 1
        write_whole(path, chosen.entry.read())
        self.look_at_time(chosen)
        self.note(chosen, folder)

    def dated(self, version: Version, path: Path) -> Version:
        """A version; without the worksheet's time where that is of later work.

        The archive is older than that time, which came with what is in submitted/.
        """
        if not version.outdated or path.is_symlink() or not path.is_file():
            return version
        there = hashlib.sha256(path.read_bytes()).hexdigest()
        known = version.stated_time in self.times(version, there)
        if there == version.digest or not known:
            return version
        return replace(without_time(version), other_time=True)

    def times(self, version: Version, digest: str) -> set[datetime | None]:
        """The times that were known of a student's notebook."""
        place = self.place(version)
        files = place.glob(f"*-{digest[:12]}.txt")
        return {read_stamp(place, file=file) for file in files}

    def look_at_time(self, chosen: Version) -> None:
        """Remember whose worksheet and archive may not belong together."""
        if chosen.outdated:
            self.remarks[OUTDATED].append(chosen.student)
        if chosen.other_time:
            self.remarks[UNDATED].append(chosen.student)

    def chosen(self, group: list[Version], who: str) -> Version:
        """The version that counts; a line says so where there are several."""
        if len({version.digest for version in group}) == 1:
            return group[-1]
        answered = [v for v in group if not self.untouched(v, v.entry.read())]
        counting = answered or group
        moments = [version.order for version in counting]
        moment = max(moments) if self.keep == "latest" else min(moments)
        same = [version for version in counting if version.order == moment]
        chosen = next((v for v in reversed(same) if v.named), same[-1])
        self.remarks[SEVERAL].append(chosen.student)
        taken = f"the {self.keep} counts:"
        if len(same) > 1:
            taken = "several have the same time; this one counts:"
        elif len(counting) < len(group):
            taken = "the one with answers counts:"
        path = one_line(str(chosen.entry.path))[:200]
        self.lines.append(f"{who}: {len(group)} versions; {taken} {path}")
        return chosen

    def untouched(self, version: Version, data: bytes) -> bool:
        """Whether a notebook holds nothing but what was released."""
        release = self.releases[version.assignment]
        texts = [*release.nameless, *(cell.released for cell in release.cells)]
        known = {text_key(text) for text in texts} | {()}
        try:
            return all(text_key(cell.source) in known for cell in read_cells(data))
        except Held:
            return False

    def note(self, chosen: Version, folder: Path) -> None:
        """When it was handed in, and where it came from."""
        time = chosen.handed_in or read_stamp(folder, file=self.kept(chosen, "txt"))
        if time:
            write_whole(folder / STAMP, stamp(time))
        else:  # that of another version would be wrong
            (folder / STAMP).unlink(missing_ok=True)
        save_origin(self.course, chosen.student, chosen.assignment.name, chosen.origin)

    def place(self, version: Version) -> Path:
        """The folder of all versions of a student's work."""
        return self.course.collected / version.student / version.assignment.name

    def kept(self, version: Version, kind: str) -> Path:
        """Where a version lies, and the time that it was handed in."""
        name = f"{version.time:%Y%m%dT%H%M%SZ}-{version.digest[:12]}.{kind}"
        return self.place(version) / name

    def replaces(self, chosen: Version, path: Path, who: str) -> bool:
        """Whether this goes over what is in submitted/ already; a line says so."""
        if path.is_symlink() or not path.is_file():
            raise CourseError(f"{path} is not a regular file; move it away first.")
        before = path.read_bytes()
        digest = hashlib.sha256(before).hexdigest()
        time = self.version_time(chosen, path)
        if digest == chosen.digest:
            self.correct(chosen, path.parent)
            self.counts["there before"] += 1
            return False
        by_rule = time and (
            chosen.time > time if self.keep == "latest" else chosen.time < time
        )
        old, new = (self.untouched(chosen, d) for d in (before, chosen.entry.read()))
        gained, lost = old and not new, new and not old
        if time and not lost and (by_rule or gained):
            if chosen.stated_time and chosen.stated_time in self.times(chosen, digest):
                self.remarks[SAME_TIME].append(chosen.student)
            kept = self.place(chosen) / f"{time:%Y%m%dT%H%M%SZ}-{digest[:12]}.ipynb"
            if not kept.exists():
                write_whole(kept, before)
            told = f"replaced by the {self.keep}; both are in collected/"
            self.counts["replaced"] += 1
        else:
            told = f"kept the notebook in submitted/ (--keep {self.keep})"
            if time is None:
                told = (
                    "kept the notebook in submitted/ (time unknown); move it away to "
                    "use the collected one"
                )
            elif lost:
                told = (
                    "kept the notebook in submitted/; the collected one has no answers"
                )
            self.counts["kept"] += 1
        self.lines.append(f"{who}: {told}")
        return told.startswith("replaced")

    def correct(self, chosen: Version, folder: Path) -> None:
        """A worksheet or a time zone that came later tells more, or another time."""
        before = read_stamp(folder)
        self.look_at_time(chosen)
        name = chosen.assignment.name
        old = origin_of(self.course, chosen.student, name)
        if old and chosen.person:
            origin = replace(chosen.origin, version=old.version)
            save_origin(self.course, chosen.student, name, origin)
        stated = chosen.stated_time
        if stated and (not before or stamp(before) != stamp(stated)):
            self.remarks[STAMPED].append(chosen.student)
            self.note(chosen, folder)

    def version_time(self, chosen: Version, path: Path) -> datetime | None:
        """The time in the archive of what is in submitted/."""
        origin = origin_of(self.course, chosen.student, chosen.assignment.name)
        if origin:
            time = datetime.strptime(origin.version, "%Y-%m-%d %H:%M:%S UTC")
            return time.replace(tzinfo=UTC)
        return read_stamp(path.parent)

    def conclude(self) -> None:
        """Add the remarks that are about all stored versions."""
        for text, students in self.remarks.items():
            if students:
                self.lines.append(f"{len(students)} {text}: {listed(students)}")
