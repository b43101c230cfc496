"""``autograder interview``: a sheet for each student, with questions on their own code.

The submission is run in the sandbox, and the questions are made there. No test cell is
run, and nothing of hidden checks, references or solutions comes near it. The sheet is
what a student's process says of itself: good for a talk, and never for points.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

from autograder.code_questions import CHECKS, defining
from autograder.course import Course, Submission
from autograder.errors import Held
from autograder.files import write_whole
from autograder.grading.gradebook import known_names
from autograder.intake.notebook_file import open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.notebook.records import Release
from autograder.notebook.time_limit import READING, at_most
from autograder.options import add_file, add_student, describe
from autograder.release.grading_plan import plans
from autograder.results.templates import render
from autograder.text import one_line
from autograder.wall import Cell, Grader

ASK = """\
from autograder.code_questions import in_notebook as _asked_
print(__import__("json").dumps(_asked_({name!r}, {test!r}, In[1:], globals(), {most})))
"""
MOST = 3  # questions on a page
ROOM = 20  # lines of code beside them
LONGEST, LONGEST_CHOICE = 4000, 600  # characters
FIELDS = {"kind": str, "text": str, "choices": list, "key": int, "why": str}
Json = dict[str, Any]


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder interview`."""
    describe(
        verb,
        "The pages are in interview/ASSIGNMENT.html; the answers are at the end of "
        "each page. The pages contain nothing from hidden checks.",
        "autograder interview 02-roots",
    )
    verb.add_argument("assignment", metavar="ASSIGNMENT")
    add_student(verb)
    verb.add_argument(
        "--seed", type=int, default=0, help="a different number draws new questions"
    )
    add_file(verb, "--json", "also write the questions to FILE")


def run(options: argparse.Namespace) -> int:
    """Write the sheets; 1 when nobody could be asked."""
    course = Course.find()
    (assignment,) = course.chosen([options.assignment])
    submissions = course.submissions([assignment], options.students)
    releases = plans(course, assignment)
    with Grader() as grader:
        sheets = [sheet(one, releases, grader, options.seed) for one in submissions]
    about = {"title": assignment.name, "people": known_names(course)}
    target = course.root / "interview" / f"{assignment.name}.html"
    write_whole(target, render("interview.html", sheets=sheets, **about))
    if options.json:
        content = {"assignment": assignment.name, "students": sheets}
        write_whole(options.json, json.dumps(content, indent=1) + "\n")
    for one in sheets:
        if one["note"]:
            print(f"{one_line(one['student'])}: {one_line(one['note'])}")
    asked = sum(bool(one["questions"]) for one in sheets)
    path = target.relative_to(course.root)
    print(f"{asked} of {len(sheets)} students can be asked: {path}")
    return 0 if asked else 1


def sheet(
    submission: Submission, releases: tuple[Release, ...], grader: Grader, seed: int
) -> Json:
    """What is on one student's page; ``note`` says why there is nothing."""
    found: list[list[Json]] = []
    note = ""
    names = [f"{release.notebook}.ipynb" for release in releases]
    for release in releases:
        try:
            data = open_submission(submission, release, names).data
            found += asked(release, data, grader)
        except Held as held:
            note = str(held)
    draw = random.Random(f"{seed} {submission.student} {submission.assignment}")
    draw.shuffle(found)
    chosen = on_a_page(found)
    if not chosen:
        note = note or "no passing answer allows a good question."
    return {"student": submission.student, "note": note, "questions": chosen}


def on_a_page(found: list[list[Json]]) -> list[Json]:
    """Questions about the first answers whose code fits on a page with them.

    An answer that does not fit alone is asked about only where there is no shorter one.
    """
    kept, room = [], ROOM
    lines = [answer[0]["code"].count("\n") + 1 for answer in found]
    for answer, length in zip(found, lines, strict=True):
        if length <= room:
            kept.append(answer)
            room -= length
    if found and not kept:
        kept = [found[lines.index(min(lines))]]
    turns = (answer[n] for n in range(MOST) for answer in kept if n < len(answer))
    return [question for question, _ in zip(turns, range(MOST), strict=False)]


def asked(release: Release, data: bytes, grader: Grader) -> list[list[Json]]:
    """For each answer that passes, questions about it; made behind the wall."""
    cells = [
        cell
        for cell in match(release, read_cells(data)).cells
        if cell.cell_type == "code" and cell.runs
    ]
    own = [cell.source for cell in cells if cell.kind != "test"]
    code = [Cell(str(place), source) for place, source in enumerate(own)]
    for cell in cells:
        name = cell.grade_id.removeprefix("test_")
        # the line that imports the checks, and no other line of the test
        if cell.kind == "test" and (checks := CHECKS.search(cell.source)):
            ask = ASK.format(name=name, test=checks[0], most=MOST)
            code.append(Cell(f"ask {name}", ask))
    transcript = grader.judge(code, profile=release.profile, files=dict(release.files))
    if transcript.held:
        raise Held(transcript.held)
    found = []
    with at_most(READING):
        for key, outputs in transcript.outputs.items():
            name = key.removeprefix("ask ")
            printed = (one for one in outputs if one["output_type"] == "stream")
            text = "".join(one.get("text", "") for one in printed)
            source = defining(name, own) if name != key else ""
            if source and (said := questions_in(text)):
                found.append([{"name": name, "code": source} | one for one in said])
    return found


def questions_in(text: str) -> list[Json]:
    """The questions in what a student's process has printed, which may be anything."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [one for one in found if is_question(one)] if type(found) is list else []


def is_question(one: Any) -> bool:
    """Whether it has the fields of a question, each of the right type and length."""
    return (
        isinstance(one, dict)
        and one.keys() == FIELDS.keys()
        and all(isinstance(one[name], kind) for name, kind in FIELDS.items())
        and max(len(one["text"]), len(one["why"])) <= LONGEST
        and all(type(c) is str and len(c) <= LONGEST_CHOICE for c in one["choices"])
        and 0 <= one["key"] < len(one["choices"]) <= 4
    )
