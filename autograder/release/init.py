"""``autograder init``: create a small course that can be released and graded."""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from autograder import registry
from autograder.course import CONFIG, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import describe
from autograder.release.new import SKELETON, new
from autograder.release.sample_class import reference_answers, solved, text_of
from autograder.release.solutions import notebook_text, students_notebook
from autograder.release.validation import catalog_of
from autograder.text import one_line

FIRST = "01-means"
NEXT = """\
{folder} is a course with one assignment, {first}, and five invented students. Next:
  cd {folder}
  autograder release    # the students' notebooks, into exercises/
  autograder grade      # what is in submitted/
  autograder report     # then open report.html
Your own assignments: autograder new 02-NAME. The wheel for students: autograder pack"""


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder init`."""
    describe(
        verb,
        "The folder has to be empty or new. The command prints what to run next.",
        "autograder init numerics",
    )
    verb.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path(),
        metavar="FOLDER",
        help="where the course is made (default: the current folder)",
    )
    verb.add_argument("--name", help="the course's name (default: the folder's)")


def run(options: argparse.Namespace) -> None:
    """Make the course, and say what comes next."""
    folder: Path = options.folder.resolve()
    init(folder, options.name or folder.name)
    print(NEXT.format(folder=one_line(str(folder)), first=FIRST))


def init(folder: Path, name: str) -> None:
    """Write a course: its two settings files, an assignment, and a class.

    Raises CourseError where the folder is not empty, or lies in another course.
    """
    if folder.exists() and any(folder.iterdir()):
        raise CourseError(f"{folder} is not empty; name a new folder.")
    for place in folder.parents:
        if (place / CONFIG).is_file() or (place / registry.FILE).is_file():
            raise CourseError(
                f"{folder} lies in the course {place}; make a course elsewhere."
            )
    package = re.sub(r"\W+", "_", name.lower()).strip("_")
    if not package.isidentifier():
        raise CourseError(
            f"{one_line(name)} gives no name for a Python package: it has to begin "
            "with a letter. Choose another one with --name."
        )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for source, target in (("course.txt", registry.FILE), ("config.txt", CONFIG)):
            text = (SKELETON / source).read_text("utf-8")
            text = text.replace("TITLE", json.dumps(name, ensure_ascii=False))
            write_whole(folder / target, text.replace("PACKAGE", package))
        (folder / "solutions").mkdir()
        course = Course.find(folder)
        new(course, FIRST)
        for student, text in submissions(course):
            home = folder / "submitted" / student / FIRST
            home.mkdir(parents=True)
            (home / "means.ipynb").write_text(text, "utf-8")
    except BaseException:
        shutil.rmtree(folder)  # it was empty, or not there
        raise


def submissions(course: Course) -> Iterator[tuple[str, str]]:
    """Five students: right, two with a mistake, one unfinished, one endless loop."""
    (assignment,) = course.chosen([FIRST])
    stub = json.loads(notebook_text(students_notebook(course, assignment)))
    right = reference_answers(assignment)
    catalog = catalog_of(assignment.notebook)
    assert catalog is not None
    mistakes = catalog.misconceptions
    rows, batches = (
        next(entry.code for entry in mistakes if entry.id.endswith(end))
        for end in ("columns", "axis-one")
    )
    yield "ada", solved(stub, right)
    yield "bela", solved(stub, {"row_means": rows})
    yield "chen", solved(stub, {"row_means": batches})
    yield "dana", text_of(stub)
    loop = "def row_means(x):\n    while True:\n        pass\n"
    yield "emil", solved(stub, {"row_means": loop})
