"""The class list (roster): our own CSV, Canvas's gradebook or Moodle's worksheet.

It is read into students and teams, and finds the student whom a file's name means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.errors import CourseError
from autograder.intake.columns import NUMBERED, Columns, recognize
from autograder.intake.names import Label, cleaned, plain, safe, tokens, within
from autograder.intake.sheet import Sheet
from autograder.release.dates import of_worksheet

# Moodle's word for a grade that nobody can change, in languages with many users
NO = ("no", "nein", "non", "não", "nee", "nej", "nei", "nie", "ne", "нет", "否")
# what Moodle's status begins with
STATUS = {
    "draft": (
        *("draft", "entwurf", "brouillon", "borrador", "bozza", "kladwerk", "rascunho"),
        *("esborrany", "下書き", "草稿", "مسودة"),
    ),
    "reopened": (
        *("reopened", "erneut geöffnet", "wieder geöffnet", "wiedereröffnet"),
        *("rouvert", "réouver", "reabiert", "reabert", "reobert", "riapert"),
        *("heropend", "再オープン", "重新开启"),
    ),
}


class Unknown(Exception):
    """No student found for sure; the text says why, after "not collected: X"."""


@dataclass(frozen=True)
class Person:
    """A student: the id in this course, the full name, the number in this table.

    ``word`` is what a blind worksheet calls everybody, ``time`` when the worksheet says
    that the work was handed in, ``row`` the row of the sheet. ``ids`` are what a school
    or a site knows one person by: e-mail address, login, school id. ``named`` tells
    whether the table has a name, else an id stands for it.
    """

    student: str
    name: str
    number: str = ""
    team: str = ""
    word: str = ""
    time: datetime | None = None
    row: int = 0
    ids: tuple[str, ...] = ()
    named: bool = True

    def agrees(self, name: str) -> bool:
        """Whether a platform may write this student's name so."""
        mine, other = words_of(self.name), words_of(name)
        part = len(mine & other) > 1 and (mine <= other or other <= mine)
        return part or self.equals(name)

    def equals(self, name: str) -> bool:
        """Whether this is the student's whole name, in whatever order."""
        words = words_of(name)
        same = bool(words) and words == words_of(self.name)
        return same or plain(name) in names_of(self)


@dataclass(frozen=True)
class Roster:
    """The students of a course, as a table names them."""

    sheet: Sheet
    columns: Columns
    people: list[Person]
    unread: tuple[str, ...] = ()  # times that nobody can read

    def find(self, label: Label) -> list[Person]:
        """Whose work it is: one student, or all of a team. Unknown when it is unsure.

        A number alone is never enough: those of teams are from another count.
        """
        number = label.number
        teams = self.moodle and self.columns["team"] is not None
        if teams and (team := self.team(label.name)):  # no participant hands in there
            return team
        by_number = [p for p in self.people if number and p.number == number]
        for person in by_number:
            if person.agrees(label.name):
                return [person]
        if team := self.team(label.name):
            return team
        if label.anonymous:
            raise Unknown("is anonymous; download it again once Canvas shows names")
        if by_number:
            other = by_number[0]
            raise Unknown(
                f"has the number {number}, which in the roster is "
                f"{other.name or other.student}'s; for the work of a team, give its "
                "members with --teams"
            )
        named = [p for p in self.people if plain(label.name) in names_of(p)]
        if len(named) > 1:
            raise Unknown(f"is the name of {len(named)} students in the roster")
        if not named and label.platform == "moodle" and not number:
            raise Unknown(
                "is a team whose members are not in the roster; list them with --teams"
            )
        if not named and not label.platform:
            named = self.among(label.name)
        if not named:
            raise Unknown("is not in the roster")
        if number and named[0].number:
            raise Unknown(
                f"has the number {number}, but in the roster {named[0].name} has "
                f"{named[0].number}"
            )
        return named

    def among(self, text: str) -> list[Person]:
        """The one student whose id or name stands in a text between separators.

        A name inside a longer one does not count. Unknown when there are several.
        """
        words = tokens(text)
        found = [
            (set(range(*place)), person)
            for person in self.people
            for way in ways_of(person)
            for place in within(list(way), words)
        ]
        people = {
            person.student: person
            for mine, person in found
            if not any(mine < longer for longer, _ in found)
        }
        if len(people) > 1:
            listed = ", ".join(sorted(people)[:5])
            raise Unknown(
                f"names {len(people)} students of the roster ({listed}); say with "
                "--pattern which part of the path names the student, or give --teams"
            )
        return list(people.values())

    def team(self, name: str) -> list[Person]:
        """The members of a team. Unknown when the name may be of several teams."""
        teams = {person.team for person in self.people if person.team}
        found = {team for team in teams if " ".join(name.split()) in in_folders(team)}
        if wanted := plain(name):
            found = found or {team for team in teams if plain(team) == wanted}
        if len(found) > 1:
            listed = " or ".join(sorted(found))
            raise Unknown(f"may be the team {listed}; give them different names")
        return [person for person in self.people if person.team in found]

    def is_team(self, name: str, people: list[Person]) -> bool:
        """Whether these are all members of a team, and the name is the team's."""
        try:
            return bool(people) and people == self.team(name)
        except Unknown:
            return False

    @property
    def moodle(self) -> bool:
        """Whether it is Moodle's worksheet."""
        return self.columns.platform == "moodle"

    @property
    def individual(self) -> bool:
        """Whether it is Moodle's worksheet of an assignment without teams.

        Teams would stand between the status and the grade.
        """
        status, grade = self.columns["status"], self.columns["grade"]
        return self.moodle and status is not None and grade == status + 1

    def has_status(self, person: Person, status: str) -> bool:
        """Whether Moodle's worksheet calls work a draft, or an attempt reopened."""
        text = self.sheet.value(person.row, self.columns["status"]).casefold()
        return self.moodle and text.startswith(STATUS[status])

    def is_locked(self, person: Person) -> bool:
        """Whether Moodle's worksheet says that a grade cannot be changed."""
        word = self.sheet.value(person.row, self.columns["open"]).casefold()
        return self.moodle and word in NO

    def of_student(self, student: str) -> Person | None:
        """By the name of a folder in submitted/."""
        for person in self.people:
            if student in (person.student, safe(person.student)):
                return person
        name, _, number = student.rpartition("-")
        for person in self.people:
            if not number.isdigit() or person.number != number:
                continue
            blind = name == "participant" and person.word  # collected without names
            if blind or person.agrees(name):
                return person
        return None

    def with_teams(self, path: Path) -> Roster:
        """The roster with the teams of another table, such as Canvas's groups."""
        sheet = Sheet.read(path)
        headings = [heading.strip().lower() for heading in sheet.columns]
        team = next((h for h in ("team", "group_name", "group") if h in headings), None)
        ids = ("student_id", "login_id", "username", "email", "student")
        # Moodle's numbers belong to one assignment
        numbers = () if self.moodle else ("canvas_user_id", "number", "id")
        keys = [name for name in (*ids, *numbers) if name in headings]
        if team is None or not keys:
            raise CourseError(
                f"{path} has no teams; it needs the columns student_id and team."
            )
        found: dict[str, str] = {}
        for row in sheet.rows:
            value = {h: sheet.value(row, n) for n, h in enumerate(headings)}
            if not value[team]:
                continue
            pairs = {(key in ids, value[key]) for key in keys if value[key]}
            for person in self.people:
                if pairs & {(True, person.student), (False, person.number)}:
                    found[person.student] = value[team]
                    break
            else:
                raise CourseError(
                    f"{path}, line {row + 1}: {value[keys[0]]} is not in the roster."
                )
        people = [replace(p, team=found.get(p.student, p.team)) for p in self.people]
        return replace(self, people=people)


def in_folders(team: str) -> set[str]:
    """The ways in which Moodle writes a team in the name of a folder.

    It escapes the name as HTML, and then drops what is not allowed in a file's name.
    """
    escaped = team.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    ways = (re.sub(r"[\x00-\x1f&<>\"`|':\\/]", "", way) for way in (team, escaped))
    return {" ".join(way.replace("_", " ").split()) for way in (team, *ways)}


def words_of(name: str) -> set[str]:
    """The words of a name, in lower case."""
    return {plain(word) for word in re.findall(r"\w+", name)}


def split_name(name: str) -> tuple[str, str]:
    """First and last name; a single word is a last name."""
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.rpartition(" ")
    return first.strip(), last.strip()


def ways_of(person: Person) -> set[tuple[str, ...]]:
    """The id and the full name of a student as words, in either order, or as one."""
    name = person.name.replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    first, last = split_name(name)
    texts = [f"{first} {last}", f"{last} {first}", person.student]
    ways = [tokens(text) for text in texts]
    ways += [[way] for way in names_of(person) if way != plain(person.word)]
    return {tuple(way) for way in ways if way}


def names_of(person: Person) -> set[str]:
    """The ways an archive may write a student: Canvas writes ``lovelaceada``."""
    first, last = split_name(person.name)
    ways = {person.student, first + last, last + first, person.word}
    return {plain(way) for way in ways} - {""}


def read_roster(
    path: Path, given: Mapping[str, str] | None = None, zone: tzinfo = UTC
) -> Roster:
    """The roster in a CSV file; CourseError when it is none."""
    sheet = Sheet.read(path)
    columns = recognize(sheet, given)
    name = columns["name"]
    real = name is None or name != columns["number"]  # else marking is blind
    moodle = columns.platform == "moodle"
    if moodle and real and name is not None and columns["student"] is None:
        raise CourseError(
            f"{sheet.name} has names but no e-mail addresses, and Moodle's "
            "numbers are different in each assignment. Include the addresses in "
            "the worksheet, or use the names: --columns "
            f"student={sheet.columns[name]!r}."
        )
    people: list[Person] = []
    unread = []
    for row in sheet.rows:
        value = {kind: sheet.value(row, place) for kind, place in columns.known.items()}
        person = person_of(value, row, columns.platform)
        if person is None:
            if not columns.platform and any(value.values()):
                who = value.get("name") or "a student"
                raise CourseError(f"{sheet.name}, line {row + 1}: {who} has no id.")
            continue
        written = value.get("time", "")
        time = of_worksheet(written, zone)
        if time is None and written not in ("", "-"):
            unread.append(written)
        named = person.named and real
        people.append(replace(person, time=time, named=named))
    if not people:
        raise CourseError(f"The roster {sheet.name} lists no students.")
    return Roster(sheet, columns, without_twins(people, sheet.name), tuple(unread))


def person_of(value: Mapping[str, str], row: int, platform: str) -> Person | None:
    """The student of a row, from its values by what they tell; None without one."""
    number, word = value.get("number", ""), ""
    if platform == "moodle":
        match = NUMBERED.fullmatch(number)
        if match is None:
            return None
        word, number = match["word"].strip(), match["digits"]
    number = number.removeprefix("Participant ").strip()
    name = value.get("name", "")
    if "last" in value:
        name = f"{value['last']}, {value.get('first', '')}"
    student = value.get("student", "") or number
    ids = [value[k] for k in ("student", "email", "school") if value.get(k)]
    if not platform and student:
        ids.append(student)
    if platform == "moodle" and not value.get("student"):
        student = f"participant-{number}"
    if not student or (platform == "canvas" and not number):
        return None  # in Canvas, a row above the students
    known = name or ("" if word else student)
    real = bool(name.strip(", "))
    about = value.get("team", ""), word, None, row, tuple(ids), real
    return Person(student, known, number, *about)


def without_twins(people: list[Person], table: str) -> list[Person]:
    """Each student once; CourseError when one id is given to two of them.

    One id in two forms of Unicode is one id.
    """
    known: dict[str, Person] = {}
    for person in people:
        first = known.setdefault(safe(person.student), person)
        if (plain(first.name), first.number) != (plain(person.name), person.number):
            raise CourseError(
                f"{table}, line {person.row + 1}: {person.student} is the id of "
                f"{person.name}, but in line {first.row + 1} it is the id of "
                f"{first.name}; give each student a different id."
            )
    return list(known.values())


def invented(label: Label) -> str:
    """The id of a student without a roster: of name and number."""
    if label.number:
        return f"{cleaned(label.name)}-{label.number}"
    return safe(label.name)
