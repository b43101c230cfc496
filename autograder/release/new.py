"""``autograder new``: create an assignment with one working sample question.

An instructor replaces the sample by the real questions.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from autograder import registry
from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import describe
from autograder.text import one_line

SKELETON = Path(__file__).with_name("skeleton")
FOLDER = re.compile(r"\d\d-(?P<words>[a-z][a-z0-9]*(-[a-z0-9]+)*)")
PLACES = {
    "checks.txt": "visible/__init__.py",
    "probes.txt": "visible/probes.py",
    "hidden.txt": "hidden/__init__.py",
    "prelude.txt": "hidden/catalog/prelude.py",
    "catalog.txt": "hidden/catalog/row_means.toml",
}
NEXT = """\
You can release and grade the assignment as it is. To make it yours:
  1. rewrite the notebook, and then the checks in visible/ and hidden/
  2. run `autograder try {folder}`, which releases it and says what its checks notice"""


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder new`."""
    describe(
        verb,
        "The command writes a folder beside the other assignments, with a notebook "
        "and its checks, and prints what is left to do.",
        "autograder new 14-tokenizers",
    )
    verb.add_argument("folder", metavar="NN-NAME", help="a number, a dash, words")


def run(options: argparse.Namespace) -> None:
    """Write the files, and say what comes next."""
    course = Course.find()
    for path in new(course, options.folder):
        print(f"wrote {path}")
    print(NEXT.format(folder=options.folder))


def new(course: Course, folder: str) -> list[Path]:
    """Write a new assignment; the paths of its files. Nothing is overwritten."""
    parts = FOLDER.fullmatch(folder)
    if parts is None:
        raise CourseError(
            f"{one_line(folder)} is not a valid name for an assignment; use two "
            "digits, a dash, and words in lower case, such as 14-tokenizers."
        )
    name = parts["words"].replace("-", "_")
    target = course.solutions / folder
    for there in (target, registry.folder_of(name)):
        if there and there.exists():
            raise CourseError(f"{there} already exists.")
    if registry.enclosing(course.root) is None:  # a course made for nbgrader
        write_whole(course.root / registry.FILE, f'name = "{course.root.name}"\n')
    words = {
        "FOLDER": folder,
        "NAME": name,
        "TITLE": parts["words"].replace("-", " ").capitalize(),
    }
    places = PLACES | {"notebook.ipynb": f"{name}.ipynb"}
    for source, place in places.items():
        text = (SKELETON / source).read_text("utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        write_whole(target / place, text)
    registry.work_on(course.root)
    return [target / place for place in places.values()]
