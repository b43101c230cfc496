"""``autograder new``: an assignment with one question that works, to be rewritten."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import autograder
from autograder.course import Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import describe
from autograder.text import one_line

SKELETON = Path(__file__).with_name("skeleton")
FOLDER = re.compile(r"(?P<number>\d\d)-(?P<words>[a-z][a-z0-9]*(-[a-z0-9]+)*)")
NEXT = """\
It can be released and graded as it is. To make it yours:
  1. rewrite the notebook, and then the checks that it calls
  2. autograder try {folder}: releases it, and says what its checks notice
  3. if it has a chapter, link it there; a page to solve it in is optional"""


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder new`."""
    describe(
        verb,
        "It lies in solutions/NN-name/ and autograder/checks/name/, and what is left "
        "to do is printed.",
        "autograder new 12-tokenizers",
    )
    verb.add_argument("folder", metavar="NN-NAME", help="a number, a dash, words")


def run(options: argparse.Namespace) -> None:
    """Write the files, and say what comes next."""
    for path in new(Course.find(), options.folder):
        print(f"wrote {path}")
    print(NEXT.format(folder=options.folder))


def new(course: Course, folder: str) -> list[Path]:
    """Write a new assignment; the paths of its files. Nothing is overwritten."""
    parts = FOLDER.fullmatch(folder)
    if parts is None:
        raise CourseError(
            f"{one_line(folder)} is not a name for an assignment; it takes two digits, "
            "a dash, and words in lower case, such as 12-tokenizers."
        )
    name = parts["words"].replace("-", "_")
    checks = Path(autograder.__file__).parent / "checks" / name
    solution = course.solutions / folder
    for there in (solution, checks):
        if there.exists():
            raise CourseError(f"{there} is there already.")
    chapter, section = place(course, parts["number"], folder)
    words = {
        "FOLDER": folder,
        "NAME": name,
        "TITLE": parts["words"].replace("-", " ").capitalize(),
        "CHAPTER": chapter,
        "SECTION": section,
    }
    targets = {
        "notebook.ipynb": solution / f"{name}.ipynb",
        "checks.txt": checks / "__init__.py",
        "hidden.txt": checks / "hidden.py",
        "probes.txt": checks / "probes.py",
        "prelude.txt": checks / "catalog" / "prelude.py",
        "catalog.txt": checks / "catalog" / "row_means.toml",
    }
    for source, target in targets.items():
        text = (SKELETON / source).read_text("utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        write_whole(target, text)
    return list(targets.values())


def place(course: Course, number: str, folder: str) -> tuple[str, str]:
    """Chapter and section to read: of the chapter with this number, if there is one."""
    for path in sorted(course.root.glob(f"book/text/{number}-*.md")):
        headings = re.findall(r"^## (.+)$", path.read_text("utf-8"), re.MULTILINE)
        if headings:
            words = re.findall(r"[a-z0-9]+", headings[0].lower())
            return path.stem, "-".join(words)
    return folder, "first-section"
