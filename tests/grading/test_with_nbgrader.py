"""nbgrader's own tools work on what we write, and agree with us on honest work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from classroom import Classroom
from nbgrader.api import Gradebook
from shared import drawn

from autograder.course import Course
from autograder.release.sample_class import answers, reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.release.validation import catalog_of

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory, kernel_server):
    home = tmp_path_factory.mktemp("home")
    return {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "PYTHONPATH": os.environ["PYTHONPATH"],
        "HOME": str(home),
        "JUPYTER_PATH": str(kernel_server),
        "OMP_NUM_THREADS": "1",
    }


ASSIGNMENTS = [a.name for a in Course.find(Path(__file__)).assignments()]


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory, repository, environment):
    """What we give for the assignments of this run, and the gradebook nbgrader filled.

    The reference, another correct style, and a mistake in every question.
    """
    folder = tmp_path_factory.mktemp("course")
    items = [item for item in request.session.items if item.path == request.path]
    params = [item.callspec.params for item in items if hasattr(item, "callspec")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [each["name"] for each in params]:
            room = Classroom(folder, repository, name)
            hand_in_three(room, *room.course.chosen([name]))
        ours = json.loads(room.graded().read_text())
        room.let_nbgrader_grade()
        nbgrader_grades("*", environment)
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        drawn_one = isinstance(ours, dict)  # of one assignment there is no list
        every = [ours] if drawn_one else ours
        yield {each["assignment"]: each["submissions"] for each in every}, book


def hand_in_three(room, assignment):
    given = json.loads(notebook_text(students_notebook(room.course, assignment)))
    catalog = catalog_of(assignment.notebook)
    reference = reference_answers(assignment)
    file = assignment.source.name
    room.hand_in("ada", solved(given, reference), file)
    for student, entries in (
        ("bela", catalog.styles),
        ("chen", catalog.misconceptions),
    ):
        other = answers(catalog, entries)
        room.hand_in(student, solved(given, reference | other), file)


def nbgrader_grades(assignments, environment):
    """All that match, by one `nbgrader autograde` in the current folder."""
    command = [BIN / "nbgrader", "autograde", assignments, "--force"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize("name", drawn(ASSIGNMENTS))
def test_every_assignment_gets_the_same_points_from_nbgrader(name, graded, repository):
    (assignment,) = repository.chosen([name])
    given, book = graded
    ours = {each["student"]: each for each in given[name]}
    assert set(ours) == {"ada", "bela", "chen"}
    for student, result in ours.items():
        for question in result["questions"]:
            where = (question["id"], assignment.notebook, name, student)
            score = book.find_grade(*where).auto_score or 0.0
            assert score == question["score"], (student, question["id"])
    tests = [q for q in ours["bela"]["questions"] if q["id"].startswith("test_")]
    assert all(q["score"] == q["max_score"] for q in tests)
