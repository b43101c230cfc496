"""``autograder release``: from solutions/ to exercises/, with a search for leaks.

nbgrader removes the answers. The result is written only if no answer can be read in it,
no rule is broken, and the solution earns all points.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nbformat import NotebookNode

from autograder import settings
from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import stays, write_whole
from autograder.notebook.text_diff import with_due
from autograder.options import add_assignments, add_flag, describe
from autograder.release.dates import course_zone, due_dates
from autograder.release.grading_plan import plan
from autograder.release.leaks import find_leaks, leaks_of_files
from autograder.release.proof import note, shortcomings
from autograder.release.solutions import (
    extra_files,
    files_in,
    kept_back,
    notebook_text,
    solution_notebook,
    students_notebook,
)
from autograder.release.validation import broken_rules, checks_of
from autograder.text import one_line
from autograder.wall import Grader, available

GIVEN_HINT = (
    "To allow a line that students are meant to have, end it with `# given` in the "
    "solution; or allow all such lines in nbgrader_config.py:\n"
    '    c.Autograder.given = {{"{assignment}": "all"}}'
)
IGNORE_HINT = "To keep a file back, name it in c.CourseDirectory.ignore."
MANY = 20  # files of a kind that are listed one by one
GUIDE = "AGENTS.md"  # what coding agents read; the course's own is in exercises/


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder release`."""
    describe(
        verb,
        "The command refuses to write a notebook that would leak an answer or that "
        "breaks a rule of grading.",
        "autograder release 01-means",
    )
    add_assignments(verb)
    add_flag(
        verb, "--unproven", "release it even if its solution does not get full points"
    )


def run(options: argparse.Namespace) -> None:
    """Release the chosen assignments."""
    course = Course.find()
    for line in course.without_effect():
        print(line, file=sys.stderr)
    if not options.assignments:
        for reason in course.broken().values():
            print(f"not released: {reason}", file=sys.stderr)
    # the solution is the instructor's own: it runs where there is no sandbox, too
    with Grader(wall="none" if available() else None) as grader:
        judge = None if options.unproven else grader
        for assignment in course.chosen(options.assignments):
            for part in assignment.parts:
                path = release(course, part, judge)
                print(f"{assignment.name}: released to {path.relative_to(course.root)}")
                name_mistakes(course, part)
            for line in other_files(course, assignment):
                print(f"{assignment.name}: {line}")


def other_files(course: Course, assignment: Assignment) -> Iterator[str]:
    """What goes out beside the notebooks, and what does not, by name."""
    names = map(Path, in_release(course, assignment))
    if out := [name for name in names if name.name[0] != "."]:
        yield f"files beside it: {', '.join(grouped(out))}"
    if stay := kept_back(course, assignment):
        yield f"not released: {', '.join(grouped(stay))}"


def too_large(course: Course, assignment: str, files: Mapping[str, bytes]) -> None:
    """CourseError when files are larger than the course allows."""
    one, every = settings.sizes(course.nbgrader())
    large = [name for name, data in files.items() if len(data) > one]
    option, limit = "max_file_size", one
    if not large and sum(map(len, files.values())) > every:
        large = sorted(files, key=lambda name: -len(files[name]))[:3]
        option, limit = "max_dir_size", every
    if large:
        listed = ", ".join(f"{n} ({len(files[n]) / 1e6:.0f} MB)" for n in large)
        most = (
            f"More than {settings.SYSTEM_LIMIT / 1e6:g} MB do not fit into a sandbox."
            if limit == settings.SYSTEM_LIMIT
            else f"To allow more, set c.CourseDirectory.{option}, in kB."
        )
        raise CourseError(
            f"{assignment} is not released: its files are larger than "
            f"{limit / 1e6:g} MB: {listed}. {most}"
        )


def grouped(names: list[Path]) -> list[str]:
    """Names of files; of many of one kind in a folder, as ``data/*.png (500)``."""
    kinds: dict[Path, list[str]] = {}
    for name in names:
        kind = name.with_name(f"*{name.suffix}")
        kinds.setdefault(kind, []).append(one_line(name.as_posix()))
    for kind, alike in kinds.items():
        if len(alike) > MANY:
            kinds[kind] = [f"{one_line(kind.as_posix())} ({len(alike)})"]
    return [name for alike in kinds.values() for name in alike]


def in_release(course: Course, assignment: Assignment) -> dict[str, bytes]:
    """The files that are in an assignment's folder for students, but for notebooks."""
    notebooks = {part.source.name for part in assignment.parts}
    folder = course.exercises / assignment.name
    names = [n for n in files_in(folder) if str(n) not in notebooks]
    return {name.as_posix(): (folder / name).read_bytes() for name in names}


def kept_back_before(course: Course, files: Iterable[str]) -> Iterator[str]:
    """Those of the files whose names say that they stay with the instructor."""
    for name in files:
        if name[0] != "." and stays(Path(name), course.ignored()):
            yield f"{one_line(name)}, a file of an earlier release: delete it there"


def name_mistakes(course: Course, assignment: Assignment) -> None:
    """Write the table of known mistakes that students install, where it has changed.

    Checks of an installed course stay as they are.
    """
    from autograder.release.mistakes import write_known

    package = checks_of(assignment.notebook)
    if package is None or course.root not in package.assignment.folder.parents:
        return
    unnamed = write_known(package)
    if unnamed is not None:
        listed = ", ".join(unnamed) or "none"
        print(
            f"{assignment.name}: wrote known.json; mistakes that messages cannot "
            f"name: {listed}"
        )


def release(
    course: Course, assignment: Assignment, grader: Grader | None = None
) -> Path:
    """Write exercises/<assignment>/<notebook>.ipynb.

    CourseError when it would leak an answer, breaks a rule that grading relies on, or
    when ``grader`` does not give all points to the solution.
    """
    solution = solution_notebook(assignment)
    expect_none(assignment, [*broken_rules(assignment, solution)])
    notebook = students_notebook(course, assignment)
    tell_when_due(course, assignment.name, notebook)
    text = notebook_text(notebook)
    target = course.exercises / assignment.name / assignment.source.name
    files = extra_files(course, assignment)
    too_large(course, assignment.name, files)
    given = lines_are_given(course, assignment.name)
    leaks = find_leaks(text, solution, given)
    before = in_release(course, assignment)  # of earlier ones
    outside = leaks_of_files(before | files, text, solution, given)
    outside += kept_back_before(course, before)
    hint = f"\n{IGNORE_HINT}" if outside else ""
    if any("`" in leak for leak in leaks + outside):
        hint += "\n" + GIVEN_HINT.format(assignment=assignment.name)
    expect_none(assignment, leaks + outside, ", since it would leak", hint)
    planned = plan(course, assignment)
    if grader:
        missed = shortcomings(planned, assignment.source.read_bytes(), grader)
        own = f"its own solution ({assignment.source.name})"
        expect_none(assignment, missed, f", since {own} does not get full points")
    for name, data in files.items():
        write_whole(target.parent / name, data)
    if (guide := course.exercises / GUIDE).is_file():  # nbgrader hands out folders
        write_whole(target.parent / GUIDE, guide.read_bytes())
    write_whole(target, text)
    note(course, planned)
    return target


def expect_none(
    assignment: Assignment, wrong: list[str], why: str = "", hint: str = ""
) -> None:
    """CourseError where anything is wrong with an assignment."""
    if wrong:
        listed = "".join(f"\n  {sentence}" for sentence in wrong)
        raise CourseError(f"{assignment.name} is not released{why}:{listed}{hint}")


def tell_when_due(course: Course, assignment: str, notebook: NotebookNode) -> None:
    """Put the due date below the title, where the course sets one.

    It is not in the release that verdicts rest on: another date judges nobody again.
    """
    from nbgrader.utils import compute_checksum

    due = due_dates(course).get(assignment)
    title = notebook.cells[0] if notebook.cells else None
    if due is None or title is None or title.cell_type != "markdown":
        return
    zone = course_zone(course)
    local = due.astimezone(zone)
    words = f"{local:%A, {local.day} %B %Y, %H:%M} ({zone})"
    title.source = with_due(title.source, words)
    if "checksum" in (about := title.metadata.get("nbgrader", {})):
        about["checksum"] = compute_checksum(title)


def lines_are_given(course: Course, assignment: str) -> bool:
    """Whether ``c.Autograder.given`` lets students have lines of the solution."""
    given = course.table("given").get(assignment)
    if given not in (None, "all"):
        raise CourseError(
            f"c.Autograder.given in nbgrader_config.py says {given!r} for "
            f'{assignment}; it takes "all".'
        )
    return given == "all"
