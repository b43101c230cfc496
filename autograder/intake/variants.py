"""Write a notebook for each student of a roster, with examples of their own."""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

from autograder.course import CONFIG, Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.intake.names import safe
from autograder.intake.roster import Person, read_roster
from autograder.notebook.variants import vary, worked_in
from autograder.options import describe
from autograder.release.students import extra_files, notebook_text, students_notebook
from autograder.release.variants import FOLDER, TABLE, code_of, enter

OFF = (
    f"Variants are off: {CONFIG} has no c.Autograder.variants, the secret text that "
    "they are drawn with. Everybody has the notebook in exercises/."
)


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder variants`."""
    describe(
        verb,
        f"They lie in {FOLDER}/<student>/<assignment>/, and {FOLDER}/{TABLE} has the "
        "codes that open the same variants on exercise pages. Needs "
        f"c.Autograder.variants in {CONFIG}.",
        "autograder variants students.csv 01-attention",
    )
    verb.add_argument("roster", type=Path, metavar="ROSTER")
    verb.add_argument(
        "assignments",
        nargs="*",
        metavar="ASSIGNMENT",
        help="names of folders in solutions/ (default: all)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Write the variants of the chosen assignments."""
    course = Course.find()
    if not course.variants():
        raise CourseError(OFF)
    people = read_roster(options.roster).people
    if not people:
        raise CourseError(f"{options.roster} names no student.")
    for assignment in course.chosen(options.assignments):
        for part in assignment.parts:
            of = f", {part.notebook}.ipynb" if assignment.more else ""
            if worked_in(part.notebook):
                write_variants(course, part, people)
                many = "1 notebook" if len(people) == 1 else f"{len(people)} notebooks"
                told = f"{many} in {FOLDER}/"
            else:
                told = "nothing on its cards varies; everybody gets the same notebook"
            print(f"{part.name}{of}: {told}")
    enter(course, {safe(person.student): person.name for person in people})
    print(f"wrote {FOLDER}/{TABLE}")


def write_variants(
    course: Course, assignment: Assignment, people: list[Person]
) -> None:
    """Write the notebook of each student, and the files that come with it."""
    notebook = students_notebook(course, assignment)
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    for question, worked in worked_in(assignment.notebook).items():
        if text.count(worked.printed) != 1:
            raise CourseError(
                f"{assignment.name} has no variants: the card of {question} has to say "
                f"once, word for word: {worked.printed}"
            )
    secret, files = course.variants(), extra_files(assignment)
    for person in people:
        student = safe(person.student)
        own = copy.deepcopy(notebook)
        vary(own, assignment.notebook, code_of(secret, student))
        folder = course.root / FOLDER / student / assignment.name
        for name, data in files.items():
            write_whole(folder / name, data)
        write_whole(folder / assignment.source.name, notebook_text(own))
