"""Nothing is lost silently, and nobody's points change with somebody else's."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest
from shared import GRADE

from autograder.cli import main
from autograder.grading.missing_work import remarks, unused
from autograder.grading.store import Store
from autograder.grading.verdict import Run
from autograder.release.grading_plan import plan
from autograder.results.report import write_report


@pytest.fixture
def folder(course):
    """Make a folder in submitted/."""

    def make(path):
        place = course.submitted / path
        place.mkdir(parents=True)
        return place

    return make


def test_what_nobody_uses_is_named_with_the_reason(course, folder):
    folder("ada/01-attention")
    (course.submitted / "ada/01-attention/timestamp.txt").write_text("at noon")
    folder("bob/01_attention")
    folder("cleo")
    (course.submitted / "dan").symlink_to(course.root)
    (course.submitted / "list.csv").write_text("x")
    (folder("eve") / "attention.ipynb").write_text("{}")
    (course.submitted / "eve" / "01-attention").symlink_to(course.root)
    assert list(unused(course)) == [
        "submitted/ada/01-attention/timestamp.txt has no readable time",
        "submitted/bob/01_attention: there is no such assignment; did you mean "
        "01-attention?",
        "submitted/cleo is empty",
        "submitted/dan is not a student's folder",
        "submitted/eve/01-attention is a link",
        "submitted/eve/attention.ipynb is not in an assignment's folder",
        "submitted/list.csv is not a student's folder",
    ]
    assert list(unused(course, ["cleo"])) == ["submitted/cleo is empty"]


def test_when_only_misplaced_work_is_there_grade_says_where(course, folder, capsys):
    folder("zoe/homework1")
    assert main(GRADE) == 2
    said = capsys.readouterr().err
    assert "submitted/ has no 01-attention. submitted/zoe/homework1: there is" in said


def test_verdicts_of_another_release_and_missing_work_are_in_the_report_too(
    course, attention, marked, folder
):
    marked({"ada": 16.0, "bob": 16.0})
    folder("ada/01-attention")
    folder("cleo/notes")
    release = plan(course, attention)
    with Store(course) as store:
        old = store.results("01-attention")["ada"]
        store.prepare((release,))
        old = replace(old, run=Run(0, 1.0, 1, "another"))
        answers = {question.id: "" for question in old.questions}
        store.save("ada", "01-attention", "key", replace(old, answers=answers))
        results = store.results("01-attention")
        said = list(remarks(course, store, attention, results, release.hash))
    assert said == [
        "no work for 01-attention: bob, cleo",
        "01-attention has changed since these were graded: ada; "
        "`autograder grade 01-attention` grades them again",
        "01-attention: the work of bob is no longer in submitted/; their verdicts are "
        "kept",
    ]
    write_report(course, [attention], course.root / "report.html", "")
    page = (course.root / "report.html").read_text()
    assert "no work for 01-attention: bob, cleo" in page
    assert "submitted/cleo/notes: there is no such assignment" in page


def test_git_takes_nothing_of_a_class(course, repository, marked, capsys):
    """What commands write and instructors put beside it, as `git add -A` sees it."""

    def seen(*more):
        command = ["git", "-C", str(course.root), *more]
        return subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout

    shutil.copy(repository.root / ".gitignore", course.root)
    seen("init", "-q")
    seen("add", "-A")
    course.submitted.mkdir()
    marked({"ada": 24.0})
    roster = "Grades-CS101-4242 (1).csv"
    (course.root / roster).write_text("student_id,name\nada,Ada Lovelace\n")
    (course.root / "extensions.csv").write_text("student_id,assignment,due\n")
    for name in ("CS101.zip", "results.json", "grade.log"):
        (course.root / name).touch()
    commands = [["names", roster], ["export"], ["report"], ["report", "--term"]]
    for command in [*commands, ["certificate", "ada"], ["history"]]:
        assert main(command) == 0, command
    assert seen("ls-files", "--others", "--exclude-standard") == "certificate.pub\n"
    assert "report.html" in seen("ls-files", "--others")
