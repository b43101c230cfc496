"""Matching of students for LTI: ids of the gradebook with the platform's users."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.files import write_whole
from autograder.intake.names import plain, safe
from autograder.intake.roster import Roster
from autograder.lti.files import Folder
from autograder.lti.sentences import Refused
from autograder.lti.service import Service
from autograder.results.export import table
from autograder.text import one_line

IDS = ("email", "lis_person_sourcedid", "user_id")
Member = dict[str, Any]


class People:
    """The students of the platform's course, found by any of their ids."""

    def __init__(self, members: list[Member]) -> None:
        self.students = [m for m in members if m.get("user_id") and learns(m)]
        self.others = {key for m in members if not learns(m) for key in keys_of(m)}
        self.by_key: dict[str, list[Member]] = defaultdict(list)
        for member in self.students:
            for key in keys_of(member):
                self.by_key[key].append(member)

    def user(self, student: str, roster: Roster | None) -> str:
        """The platform's id of a student; Refused when it is not one for sure."""
        key = plain(safe(student))
        found = self.by_key.get(key, [])
        person = roster.of_student(student) if roster and not found else None
        if person:
            named = (m for m in self.students if person.agrees(str(m.get("name", ""))))
            found = self.by_key.get(plain(person.number)) or list(named)
        if len(found) > 1:
            raise Refused("several", count=len(found))
        if not found:
            raise Refused("no-student" if key in self.others else "not-there")
        return str(found[0]["user_id"])


def learns(member: Member) -> bool:
    """Whether this is a student whose place in the course is active."""
    roles = [str(role) for role in member.get("roles") or []]
    here = any(role.rpartition("#")[2] == "Learner" for role in roles)
    return here and member.get("status", "Active") == "Active"


def keys_of(member: Member) -> set[str]:
    """The ids of one of the people, as they are compared."""
    return {plain(safe(str(member[name]))) for name in IDS if member.get(name)}


def write_roster(course: Course, path: Path) -> None:
    """Write the students of the linked course as a roster for `collect`."""
    service = Service(Folder(course))
    students = People(service.members()).students
    if not students:
        raise Refused("no-students", title=service.link.title)
    rows = [
        [next(str(m[n]) for n in IDS if m.get(n)), str(m.get("name") or "")]
        for m in students
    ]
    write_whole(path, table([["student_id", "name"], *sorted(rows)]))
    print(f"wrote {one_line(str(path))}: {len(rows)} students of {service.link.title}")
