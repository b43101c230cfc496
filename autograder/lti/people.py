"""Matching of students for LTI: ids of the gradebook with the platform's users."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.files import write_whole
from autograder.intake.columns import same_count
from autograder.intake.names import safe
from autograder.intake.roster import Person, Roster
from autograder.lti.files import Folder
from autograder.lti.sentences import Refused
from autograder.lti.service import Service
from autograder.results.export import table
from autograder.text import one_line

NUMBER = re.compile(r"(participant-)?\d+")  # another table may give it to others
Member = dict[str, Any]


class People:
    """The students of the platform's course, found by what the platform has once.

    ``kind`` is Moodle or Canvas, whose numbers these people have.
    """

    def __init__(
        self, members: Iterable[Member], kind: str, roster: Roster | None = None
    ) -> None:
        self.kind, self.roster = kind, roster
        self.students: dict[str, Member] = {}
        self.by_key: dict[str, set[str]] = defaultdict(set)
        self.others: set[str] = set()
        for member in members:
            keys = {key for name in ids_of(member) for key in ways(name)}
            if not learns(member):
                self.others |= keys
            elif user := str(member.get("user_id") or ""):
                self.students[user] = member
                for key in keys:
                    self.by_key[key].add(user)

    def matched(
        self, students: Iterable[str]
    ) -> tuple[dict[str, str], dict[str, Refused]]:
        """The users of students; why not, of those who are nobody there for sure."""
        users: dict[str, list[str]] = defaultdict(list)
        refused: dict[str, Refused] = {}
        for student in students:
            try:
                users[self.user(student)].append(student)
            except Refused as why:
                refused[student] = why
        for same in users.values():
            for student in same if len(same) > 1 else ():
                others = (other for other in same if other != student)
                refused[student] = Refused("twin", other=", ".join(others))
        return {s[0]: u for u, s in users.items() if len(s) == 1}, refused

    def user(self, student: str) -> str:
        """The platform's id of a student; Refused when it is not one for sure.

        E-mail addresses and school ids count first, then a name that both sides have
        once. Where names disagree, it is another person.
        """
        person = self.roster.of_student(student) if self.roster else None
        if not person and NUMBER.fullmatch(student):
            raise Refused("number")
        ids = person.ids if person else (student,)
        keys = {key for one in ids for key in ways(one)}
        found = {user for key in keys for user in self.by_key.get(key, ())}
        if person and self.roster:
            platform = self.roster.columns.platform
            if same_count(platform, "roster", self.kind, "service"):
                found |= {person.number} & self.students.keys()
            if not found and not keys & self.others:
                found = self.namesakes(person, self.roster)
        if len(found) > 1:
            raise Refused("several", there=", ".join(map(self.shown, sorted(found))))
        if not found:
            raise Refused("no-student" if keys & self.others else "not-there")
        (user,) = found
        there = self.name(user)
        if person and person.named and there and not person.agrees(there):
            raise Refused("other-name", there=self.shown(user), here=person.name)
        return user

    def namesakes(self, person: Person, roster: Roster) -> set[str]:
        """The users of a student's name; Refused when the roster has the name twice.

        Whoever has another e-mail address is another person, of whatever name.
        """
        if not person.named:
            return set()
        found = {u for u in self.students if person.agrees(self.name(u))}
        same = [p for p in roster.people if any(p.agrees(self.name(u)) for u in found)]
        if len(same) > 1:
            raise Refused("several", there=", ".join(p.student for p in same))
        for user in found:
            address = self.students[user].get("email")
            if address and any("@" in one for one in person.ids):
                raise Refused("address", there=self.shown(user), address=address)
        return {u for u in found if len(found) > 1 or person.equals(self.name(u))}

    def name(self, user: str) -> str:
        """What the platform calls a user; empty where it does not tell."""
        return str(self.students.get(user, {}).get("name") or "").strip()

    def shown(self, user: str) -> str:
        """A user for the teacher's eyes: name and number."""
        return f"{self.name(user)} (user {user})".strip()


def learns(member: Member) -> bool:
    """Whether this is a student whose place in the course is active."""
    roles = [str(role) for role in member.get("roles") or []]
    here = any(role.rpartition("#")[2] == "Learner" for role in roles)
    return here and member.get("status", "Active") == "Active"


def ids_of(member: Member) -> list[str]:
    """E-mail address, school id, and the user's number as this course writes it."""
    names = ("email", "lis_person_sourcedid", "user_id")
    *ids, user = (str(member.get(name) or "").strip() for name in names)
    return [one for one in (*ids, f"user-{user}" if user.isdigit() else user) if one]


def ways(name: str) -> set[str]:
    """An id as it is compared: large letters are small, and folders have safe ones."""
    return {safe(name).casefold(), safe(name.casefold())}


def write_roster(course: Course, path: Path) -> None:
    """Write the students of the linked course as a roster for `collect`."""
    service = Service(Folder(course))
    people = People(service.members(), service.platform.kind)
    if not people.students:
        raise Refused("no-students", title=service.link.title)
    rows = []
    for user, member in people.students.items():
        own = (i for i in ids_of(member) if len(people.by_key[safe(i).casefold()]) == 1)
        rows.append([next(own), people.name(user)])
    write_whole(path, table([["student_id", "name"], *sorted(rows)]))
    print(f"wrote {one_line(str(path))}: {len(rows)} students of {service.link.title}")
