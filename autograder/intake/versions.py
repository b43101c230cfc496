"""A version of a submission: the file, its time, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import median_high

from autograder.course import Assignment, Course
from autograder.files import write_whole
from autograder.intake.archive import Entry
from autograder.intake.names import Label
from autograder.intake.roster import Person, Roster
from autograder.release.dates import read_stamp, stamp

ORIGIN = "origin.json"
REOPENED = "has a reopened attempt there without new work"
TOLERANCE = timedelta(hours=1)  # of the clocks of two machines


@dataclass(frozen=True)
class Origin:
    """Where the submission that counts came from, for feedback that goes back.

    ``label`` is what a platform's bulk upload knows the student by, ``group`` what it
    knows the team by; that is None in what earlier versions of ``collect`` wrote.
    ``version`` is the time in the archive, for some platforms that of the download.
    ``other_work`` says why the platform has other work now, empty where it has this.
    """

    platform: str
    label: str
    version: str
    late: bool = False
    team: str = ""
    group: str | None = None
    other_work: str = ""


@dataclass(frozen=True)
class Version:
    """A notebook of a student for an assignment.

    ``label`` is the one in the archive; ``own`` is the student's where that one is the
    team's. ``newest`` is the time of the last file in the archive. ``other_time``: the
    worksheet's time is that of other work.
    """

    student: str
    assignment: Assignment
    entry: Entry
    digest: str
    label: Label | None = None
    person: Person | None = None
    own: Label | None = None
    newest: datetime | None = None
    other_time: bool = False

    @property
    def platform(self) -> str:
        return self.label.platform if self.label else ""

    @property
    def time(self) -> datetime:
        """When it came, as far as the archive tells."""
        return (self.label and self.label.time) or self.entry.time

    @property
    def named(self) -> bool:
        """Whether the file has the name that the course gave it."""
        return self.entry.path.stem == self.assignment.notebook

    @property
    def order(self) -> tuple[datetime, int]:
        """Later versions come later. In Moodle's and Canvas's archives times may mean
        nothing, and Canvas counts its files."""
        if self.label and self.platform:
            return datetime.min.replace(tzinfo=UTC), self.label.file
        return self.time, 0

    @property
    def outdated(self) -> bool:
        """Whether the worksheet's time may be that of a later version: a guess.

        It is later than every file in the archive. That one file is older than the
        submission says nothing: a draft is uploaded, and submitted hours later.
        """
        time = self.person and self.person.time
        return bool(time and self.newest and time > self.newest + TOLERANCE)

    @property
    def stated_time(self) -> datetime | None:
        """When it was handed in, as a worksheet or a platform's name tells."""
        if self.person and self.person.time:
            return self.person.time
        return self.label.time if self.label else None

    @property
    def handed_in(self) -> datetime | None:
        """When it came; None if unknown, as in the archive of a platform."""
        if self.stated_time or self.label:
            return self.stated_time
        return self.entry.time

    @property
    def origin(self) -> Origin:
        """What to remember of it."""
        version = stamp(self.time).strip()
        team = self.person.team if self.person else ""
        if self.label is None or not self.platform:
            return Origin("", "", version, team=team, group="")
        label = group = self.entry.path.name
        if self.platform == "moodle":
            label, group = in_moodle(self.own or self.label), in_moodle(self.label)
        group = group if self.own else ""
        return Origin(self.platform, label, version, self.label.late, team, group)


def hours_apart(versions: Iterable[Version]) -> float:
    """How far Moodle's worksheet and archive are apart in their zones; 0 if unknown.

    The one is in the zone of a teacher's profile, the other in the server's. Most files
    are as old as their submission, so in one zone most pairs of times are alike.
    """
    times = {
        version.student: (version.entry.time, version.person.time)
        for version in versions
        if version.platform == "moodle" and version.person and version.person.time
    }
    if not times:
        return 0.0
    middle = median_high(file - sheet for file, sheet in times.values())
    alike = [f for f, s in times.values() if abs(f - s - middle) < timedelta(minutes=3)]
    told = 2 * len(alike) > len(times) and max(alike) - min(alike) > TOLERANCE
    return round(middle / timedelta(minutes=15)) / 4 if told else 0.0


def in_moodle(label: Label) -> str:
    """What the name of a folder begins with: name and number, where that is known."""
    name = label.name.replace("_", " ")
    return f"{name}_{label.number}" if label.number else name


def origin_of(course: Course, student: str, assignment: str) -> Origin | None:
    """What collect remembers of a submission; None when it came another way."""
    try:
        text = (course.collected / student / assignment / ORIGIN).read_text("utf-8")
        found = json.loads(text)
        found.pop("not_at", None)  # of earlier versions of collect
        return Origin(**found)
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def save_origin(course: Course, student: str, assignment: str, origin: Origin) -> None:
    """Remember where a submission came from."""
    text = json.dumps(asdict(origin), ensure_ascii=False, indent=1)
    write_whole(course.collected / student / assignment / ORIGIN, text + "\n")


def other_work(course: Course, roster: Roster, student: str, assignment: str) -> str:
    """Why Moodle has other work than submitted/, by its worksheet; empty if it has not.

    A reopened attempt without work has the status, or at least a later time. What is
    found is remembered, since points and page of the earlier work must not go there.
    """
    origin = origin_of(course, student, assignment)
    person = roster.of_student(student)
    place = roster.columns["time"]
    why = ""
    if person and roster.has_status(person, "reopened"):
        why = REOPENED
    elif person and place is not None and origin and origin.platform == "moodle":
        folder = course.collected / student / assignment
        stamps = (read_stamp(folder, file=path) for path in folder.glob("*.txt"))
        known = [time for time in stamps if time]
        if roster.sheet.value(person.row, place) in ("", "-"):
            why = "has no submission there any more"
        elif person.time and known and person.time > max(known):
            why = "handed in again there since; collect and grade that first"
    if why and origin:
        save_origin(course, student, assignment, replace(origin, other_work=why))
    return why


def without_time(version: Version) -> Version:
    """A version of which a worksheet tells no time."""
    person = version.person and replace(version.person, time=None)
    return replace(version, person=person)
