"""A version of a submission: the file, its time, and where it came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from autograder.course import Assignment, Course
from autograder.intake.archive import Entry
from autograder.intake.names import Label
from autograder.intake.roster import Person
from autograder.release.times import stamp

ORIGIN = "origin.json"
TOLERANCE = timedelta(hours=1)  # of the clocks of two machines


@dataclass(frozen=True)
class Origin:
    """Where the submission that counts came from, for feedback that goes back.

    ``label`` is what a platform's bulk upload knows the student by; ``version`` is the
    time in the archive, which for a platform is that of the download. ``not_at`` is a
    worksheet's time that is of earlier work.
    """

    platform: str
    label: str
    version: str
    late: bool = False
    team: str = ""
    not_at: str = ""


@dataclass(frozen=True)
class Version:
    """A notebook of a student for an assignment."""

    student: str
    assignment: Assignment
    entry: Entry
    digest: str
    label: Label | None = None
    person: Person | None = None
    not_at: str = ""

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
        """Later versions come later. In a platform's archive times mean nothing, and
        Canvas counts its files."""
        if self.label and self.platform:
            return datetime.min.replace(tzinfo=UTC), self.label.file
        return self.time, 0

    @property
    def outdated(self) -> bool:
        """Whether the worksheet's time is that of a later version.

        No file lies in an archive before it was handed in.
        """
        time = self.person and self.person.time
        return bool(time and time > self.entry.time + TOLERANCE)

    @property
    def stated_time(self) -> datetime | None:
        """When it was handed in, as a worksheet or a platform's name tells."""
        if self.person and self.person.time:
            return None if self.outdated else self.person.time
        return self.label.time if self.label else None

    @property
    def handed_in(self) -> datetime | None:
        """When it came; None if unknown, as in the archive of a platform."""
        if self.stated_time or self.outdated or self.label:
            return self.stated_time
        return self.entry.time

    @property
    def origin(self) -> Origin:
        """What to remember of it."""
        version = stamp(self.time).strip()
        team = self.person.team if self.person else ""
        if self.label is None or not self.platform:
            return Origin("", "", version, team=team, not_at=self.not_at)
        name, number = self.label.name, self.label.number
        if self.person and self.person.number not in ("", number):
            name, number = self.person.name, self.person.number
        label = self.entry.path.name if self.label.platform == "canvas" else name
        if self.label.platform == "moodle":
            label = f"{name.replace('_', ' ')}_{number}"
        late = self.label.late
        return Origin(self.label.platform, label, version, late, team, self.not_at)


def origin_of(course: Course, student: str, assignment: str) -> Origin | None:
    """What collect remembers of a submission; None when it came another way."""
    try:
        text = (course.collected / student / assignment / ORIGIN).read_text("utf-8")
        return Origin(**json.loads(text))
    except (OSError, ValueError, TypeError):
        return None


def without_time(version: Version) -> Version:
    """A version of which a worksheet tells nothing."""
    person = version.person and replace(version.person, time=None)
    return replace(version, person=person)
