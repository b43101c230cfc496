"""The list of students: our own CSV, Canvas's gradebook or Moodle's worksheet."""

from __future__ import annotations

import csv
import io
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import CourseError

# columns by what they tell, the first that is there counts
STUDENT = ("student_id", "sis login id", "username", "email address", "email", "id")
NUMBER = ("identifier", "id", "number")
NAME = ("full name", "name", "student")


@dataclass(frozen=True)
class Person:
    """A student: the id in this course, the full name, the number in the LMS."""

    student: str
    name: str
    number: str
    row: dict[str, str]


@dataclass(frozen=True)
class Roster:
    columns: list[str]
    people: list[Person]

    def find(self, name: str, number: str = "") -> Person | None:
        """By number, else by a name or id that only one student has."""
        if number:
            for person in self.people:
                if person.number == number:
                    return person
        wanted = plain(name)
        found = [p for p in self.people if wanted in names_of(p)]
        return found[0] if wanted and len(found) == 1 else None

    def of_student(self, student: str) -> Person | None:
        """By the name of a folder in submitted/."""
        for person in self.people:
            if student == person.student:
                return person
        number = student.rpartition("-")[2]
        return self.find("", number) if number.isdigit() else None


def names_of(person: Person) -> set[str]:
    """The ways an archive may write a student: Canvas writes ``lovelaceada``."""
    if "," in person.name:
        last, _, first = person.name.partition(",")
    else:
        first, _, last = person.name.rpartition(" ")
    return {plain(person.student), plain(first + last), plain(last + first)}


def plain(text: str) -> str:
    """Letters and digits alone, in lower case."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in normal if char.isalnum())


def read_roster(path: Path) -> Roster:
    """The roster in a CSV file; CourseError when it is none."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"The roster {path} cannot be read: {error}.") from None
    reader = csv.DictReader(io.StringIO(text))
    columns = [column or "" for column in reader.fieldnames or []]
    by_name = {column.strip().lower(): column for column in columns}
    if "student" in by_name and not {"id", *STUDENT[:4]} & set(by_name):
        by_name["student_id"] = by_name.pop("student")

    def first(kinds: tuple[str, ...]) -> str | None:
        return next((by_name[kind] for kind in kinds if kind in by_name), None)

    student, number, name = first(STUDENT), first(NUMBER), first(NAME)
    if student is None:
        raise CourseError(
            f"The roster {path} has no column that names students; give it a column "
            "student_id, or use the list that Canvas or Moodle exports."
        )
    people = []
    for row in reader:
        value = (row[student] or "").strip()
        if not value or value in (".", "..") or "/" in value or "\0" in value:
            continue
        digits = (row[number] or "") if number else ""
        people.append(
            Person(
                value,
                ((row[name] or "") if name else value).strip(),
                digits.removeprefix("Participant ").strip(),
                {k: v or "" for k, v in row.items() if k is not None},
            )
        )
    return Roster(columns, people)
