"""``autograder names``: copy students' names from the class list to the gradebook."""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from autograder.course import Course
from autograder.grading.store import Store
from autograder.intake.columns import parse_columns
from autograder.intake.names import safe
from autograder.intake.roster import Person, Roster, read_roster, split_name
from autograder.options import add_columns, describe


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder names`."""
    describe(
        verb,
        "Formgrader and nbgrader's tables show these names. Students on the roster "
        "who have submitted nothing are added, so that they show as missing.",
        "autograder names students.csv",
    )
    verb.add_argument(
        "roster",
        type=Path,
        metavar="ROSTER",
        help="CSV with the students: your own, Canvas's gradebook or Moodle's "
        "worksheet",
    )
    add_columns(verb)


def run(options: argparse.Namespace) -> None:
    """Write the names."""
    course = Course.find()
    roster = read_roster(options.roster, parse_columns(options.columns))
    known, added = write_names(course, roster)
    print(f"names in the gradebook: {known}, new: {added}")


def write_names(course: Course, roster: Roster) -> tuple[int, int]:
    """Give students of the gradebook their names; how many, and how many were new."""
    with Store(course) as store:
        found: dict[Person | None, list[str]] = defaultdict(list)
        for student in store.students():  # blind marking gives a person several ids
            found[roster.of_student(student)].append(student)
        with store.reachable():
            for person in roster.people:
                if not person.name:  # a blind worksheet
                    continue
                first, last = split_name(person.name)
                for student in found.get(person, [safe(person.student)]):
                    store.gradebook.update_or_create_student(
                        student, first_name=first, last_name=last
                    )
    named = [person for person in roster.people if person.name]
    return sum(p in found for p in named), sum(p not in found for p in named)
