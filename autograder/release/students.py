"""``autograder release``: from solutions/ to exercises/, with a search for leaks.

nbgrader removes the answers. The result is written only if no answer can be read in it,
no rule is broken, and the solution earns all points.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Set
from pathlib import Path

from nbformat import NotebookNode

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.notebook.texts import with_due
from autograder.options import add_assignments, add_flag, describe
from autograder.release.plan import plan, plans
from autograder.release.proof import note, shortcomings
from autograder.release.rules import broken_rules, checks_of
from autograder.release.solutions import (
    extra_files,
    notebook_text,
    solution_notebook,
    students_notebook,
)
from autograder.release.times import course_zone, due_dates
from autograder.wall import Grader, available

# regions of a solution notebook that students never see
REGION = re.compile(
    r"^.*BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME).*$\n"
    r"(?P<text>(?:.*\n)*?)"
    r"^.*END \1.*$",
    re.MULTILINE,
)
# a line of a solution that may stand elsewhere in what students get
GIVEN = re.compile(r"#\s*given\s*$|^(import|from)\s")
# no secret: keywords, and names with a small number, a text or nothing
TRIVIAL = re.compile(
    r"(?:while|if|elif)\s+(?:not\s+)?\w+\s*:|return(?:\s+\w+)?|print\(\w*\)"
    r"|\w+\s*=\s*(?:\d|10|True|False|None|\[\]|\{\}|''|\"\"|0\.0|1\.0)"
    r"|(?:try|else|finally|except(?:\s+\w+)?)\s*:|[-=#*_\s]+"
)
GIVEN_HINT = (
    "To allow a line that students are meant to have, end it with `# given` in the "
    "solution; or allow all such lines in nbgrader_config.py:\n"
    '    c.Autograder.given = {{"{assignment}": "all"}}'
)
GUIDE = "AGENTS.md"  # what coding agents read; the course's own is in exercises/
MARKERS = (
    "BEGIN SOLUTION",
    "END SOLUTION",
    "HIDDEN TESTS",
    "MARK SCHEME",
    "check.hidden",
)


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
    # the solution is the instructor's own: it runs where there is no sandbox, too
    with Grader(wall="none" if available() else None) as grader:
        judge = None if options.unproven else grader
        for assignment in course.chosen(options.assignments):
            if assignment.more:
                plans(course, assignment)  # copies are refused
            for part in assignment.parts:
                path = release(course, part, judge)
                print(f"{assignment.name}: released to {path.relative_to(course.root)}")
                name_mistakes(part)


def name_mistakes(assignment: Assignment) -> None:
    """Write the table of known mistakes that students install, where it has changed."""
    from autograder.release.mistakes import write_known

    package = checks_of(assignment.notebook)
    unnamed = write_known(package) if package else None
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
    if broken := broken_rules(assignment, solution):
        rules = "".join(f"\n  {sentence}" for sentence in broken)
        raise CourseError(f"{assignment.name} is not released:{rules}")
    notebook = students_notebook(course, assignment)
    tell_when_due(course, assignment.name, notebook)
    text = notebook_text(notebook)
    if leaks := find_leaks(text, solution, given_lines(course, assignment.name)):
        listed = "".join(f"\n  {leak}" for leak in leaks)
        hint = (
            "\n" + GIVEN_HINT.format(assignment=assignment.name)
            if any("`" in leak for leak in leaks)
            else ""
        )
        raise CourseError(
            f"{assignment.name} is not released, since it would leak{listed}{hint}"
        )
    planned = plan(course, assignment)
    missed = (
        shortcomings(planned, assignment.source.read_bytes(), grader) if grader else []
    )
    if missed:
        listed = "".join(f"\n  {sentence}" for sentence in missed)
        raise CourseError(
            f"{assignment.name} is not released, since its own solution "
            f"({assignment.source.name}) does not get full points:{listed}"
        )
    target = course.exercises / assignment.name / assignment.source.name
    for name, data in extra_files(assignment).items():
        write_whole(target.parent / name, data)
    if (guide := course.exercises / GUIDE).is_file():  # nbgrader hands out folders
        write_whole(target.parent / GUIDE, guide.read_bytes())
    write_whole(target, text)
    note(course, planned)
    return target


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
    local = due[1].astimezone(zone)
    words = f"{local:%A, {local.day} %B %Y, %H:%M} ({zone})"
    title.source = with_due(title.source, words)
    if "checksum" in (about := title.metadata.get("nbgrader", {})):
        about["checksum"] = compute_checksum(title)


def given_lines(course: Course, assignment: str) -> Set[str] | None:
    """Lines that ``c.Autograder.given`` lets students have; None means all."""
    given = course.table("given").get(assignment, [])
    if given == "all":
        return None
    if isinstance(given, str) or not all(isinstance(line, str) for line in given):
        raise CourseError(
            f"c.Autograder.given in nbgrader_config.py says {given!r} for "
            f'{assignment}; it takes "all" or a list of lines.'
        )
    return {line.strip() for line in given}


def find_leaks(
    released: str, solution: NotebookNode, allowed: Set[str] | None = frozenset()
) -> list[str]:
    """What of the solution can be read in the text of the released notebook.

    ``allowed`` are lines that students are meant to have; None means all lines.
    """
    notebook = json.loads(released)
    where: dict[str, str] = {}  # the first cell of students in which a line stands
    for number, cell in enumerate(notebook["cells"], 1):
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        for line in "".join(cell["source"]).splitlines():
            where.setdefault(line.strip(), f"cell {number} {name}".strip())
    leaks = [f"the text '{marker}'" for marker in MARKERS if marker in released]
    for cell in solution.cells if allowed is not None else ():
        given = {line.strip() for line in REGION.sub("", cell.source).splitlines()}
        name = cell.metadata.get("nbgrader", {}).get("grade_id", cell.get("id"))
        for match in REGION.finditer(cell.source):
            for line in map(str.strip, match["text"].splitlines()):
                known = line in given or line in (allowed or ())
                plain = len(line) <= 8 or GIVEN.search(line) or TRIVIAL.fullmatch(line)
                if line in where and not known and not plain:
                    leaks.append(
                        f"a line of the {match[1].lower()} of {name}: `{line}` "
                        f"(in {where[line]})"
                    )
    if any(cell.get("outputs") for cell in notebook["cells"]):
        leaks.append("the outputs of the solution")
    return leaks
