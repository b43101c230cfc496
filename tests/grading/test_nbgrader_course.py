"""nbgrader's own documentation course, as it is installed, graded by us.

Its notebooks are read where pip put them; none of them is copied into this project.
"""

import shutil
from pathlib import Path

import nbgrader
import pytest
from foreign.course import ForeignCourse, table
from nbgrader.api import Gradebook
from shared import some

from autograder.cli import main

GUIDE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
GUIDE_PAGE = Path(__file__).parents[2] / "book" / "from-nbgrader.md"
TASK = "problem1/cell-938593c4a215c6cc"


@pytest.fixture
def ps1(tmp_path, monkeypatch, quick_kernels):
    monkeypatch.chdir(tmp_path)
    guide = GUIDE_PAGE.read_text("utf-8")
    settings = guide.partition("```python\n")[2].partition("```")[0]
    course = ForeignCourse(tmp_path, settings)
    shutil.copytree(GUIDE / "source" / "ps1", tmp_path / "source" / "ps1")
    for student in ("bitdiddle", "hacker"):
        handed_in = Path("submitted", student, "ps1")
        shutil.copytree(GUIDE / handed_in, tmp_path / handed_in)
    return course


def test_ps1_gets_nbgraders_points_question_by_question(ps1):
    results = {r["student"]: r for r in ps1.grade()}
    ours = {
        (student, question["id"]): question["score"]
        for student, result in results.items()
        for question in result["questions"]
    }
    ps1.config = ""  # nbgrader by itself
    ps1.configure()
    theirs = {
        (student, f"{notebook}/{question}"): score
        for (student, notebook, question), score in ps1.nbgrader("ps1").items()
    }
    rows = [("student", "question", "nbgrader", "ours")]
    rows += [(*key, theirs[key], ours.get(key)) for key in sorted(theirs)]
    print(table(rows))
    assert ours.keys() == theirs.keys()
    assert {k: v or 0.0 for k, v in ours.items()} == {
        k: v or 0.0 for k, v in theirs.items()
    }  # None: a person decides
    assert ours["hacker", "problem1/correct_squares"] == 1
    assert ours["hacker", "problem1/sum_of_squares_uses_squares"] == 0.5
    assert results["hacker"]["notebook"] == "problem1, problem2"
    assert results["hacker"]["max_score"] == 13
    tasks = [q for q in results["hacker"]["questions"] if q["id"] == TASK]
    assert tasks[0]["message"] == "waits to be graded by hand"


def test_a_task_gets_points_a_comment_and_feedback(ps1):
    ps1.grade()
    with Gradebook(f"sqlite:///{ps1.root}/gradebook.db") as book:
        where = TASK.partition("/")[2], "problem1", "ps1", "hacker"
        grade = book.find_grade(*where)
        assert (grade.needs_manual_grade, grade.max_score) == (True, 4)
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.find_comment(*where).manual_comment = "Both sums, well checked."
        book.db.commit()
        before = book.find_submission("ps1", "hacker").score
    (hacker,) = [r for r in ps1.grade("--force") if r["student"] == "hacker"]
    assert hacker["score"] == before
    assert {q["id"]: q["score"] for q in hacker["questions"]}[TASK] == 3.0
    assert main(["feedback"]) == 0
    page = (ps1.root / "feedback" / "hacker" / "ps1" / "problem1.html").read_text()
    assert "Both sums, well checked." in page
    assert (ps1.root / "feedback" / "bitdiddle" / "ps1" / "problem2.html").is_file()


def test_one_notebook_of_two_counts_for_itself(ps1):
    (ps1.root / "submitted" / "hacker" / "ps1" / "problem2.ipynb").unlink()
    shutil.rmtree(ps1.root / "submitted" / "bitdiddle")
    (result,) = ps1.grade()
    points = {q["id"]: (q["score"], q["message"]) for q in result["questions"]}
    assert points["problem1/correct_squares"][0] == 1
    missing = [p for name, p in points.items() if name.startswith("problem2/")]
    assert missing == [(0, "problem2.ipynb was not handed in")] * 2
    (again,) = ps1.grade()
    assert again == result


FILES = Path(nbgrader.__file__).parent / "tests"
SOURCES = {  # the notebooks of an assignment, from nbgrader's own tests
    "answers": "apps/files/submitted-unchanged.ipynb",
    "simple": "apps/files/autotest-simple.ipynb",
    "hashed": "apps/files/autotest-hashed.ipynb",
    "multi": "apps/files/autotest-multi.ipynb",
    "hidden": "apps/files/autotest-hidden.ipynb",
    "squares": "preprocessors/files/test.ipynb",
    "task": "preprocessors/files/test_taskcell.ipynb",
}
AUTOTESTS = ("simple", "hashed", "multi", "hidden")
SUBMITTED = {
    "unchanged": {
        "answers": SOURCES["answers"],
        **{name: f"apps/files/autotest-{name}-unchanged.ipynb" for name in AUTOTESTS},
        "squares": SOURCES["squares"],
        "task": SOURCES["task"],
    },
    "changed": {
        "answers": "apps/files/submitted-changed.ipynb",
        **{name: f"apps/files/autotest-{name}-changed.ipynb" for name in AUTOTESTS[:3]},
        "hidden": "apps/files/autotest-hidden-changed-right.ipynb",
    },
    "wrong": {"hidden": "apps/files/autotest-hidden-changed-wrong.ipynb"},
}
for kind in ("apps", "preprocessors"):
    for change in ("grade-cell", "locked-cell"):
        name = f"{kind}/files/submitted-{change}-changed.ipynb"
        SUBMITTED[f"{change}-{kind}"] = {"answers": name}
for change in ("answer", "grade"):
    name = f"preprocessors/files/submitted-{change}-cell-type-changed.ipynb"
    SUBMITTED[f"{change}-type"] = {"answers": name}
for cheat in ("cheat-attempt", "cheat-attempt-alternative"):
    SUBMITTED[cheat] = {"answers": f"apps/files/submitted-{cheat}.ipynb"}


@pytest.mark.parametrize("students", some(SUBMITTED, 3))
def test_nbgraders_test_notebooks_get_its_points(
    tmp_path, monkeypatch, quick_kernels, students
):
    monkeypatch.chdir(tmp_path)
    course = ForeignCourse(tmp_path, 'c.Autograder.tests = {"all": "inside"}')
    shutil.copy(FILES / "apps" / "files" / "autotests.yml", tmp_path)
    for folder, files in (
        ("source/all", SOURCES),
        *((f"submitted/{student}/all", SUBMITTED[student]) for student in students),
    ):
        (tmp_path / folder).mkdir(parents=True)
        for name, file in files.items():
            shutil.copy(FILES / file, tmp_path / folder / f"{name}.ipynb")
    ours = {
        (result["student"], question["id"]): question["score"] or 0.0
        for result in course.grade()
        for question in result["questions"]
    }
    # nbgrader gives up on cells that have become text; here the answers count
    failing = [name for name in students if name.endswith("-type")]
    points = course.nbgrader("all", failing).items()
    theirs = {(who, f"{name}/{q}"): score or 0.0 for (who, name, q), score in points}
    rows = [("student", "question", "nbgrader", "ours")]
    rows += [(*key, theirs[key], ours.get(key)) for key in sorted(theirs)]
    print(table(rows))
    assert {key: ours[key] for key in theirs} == theirs
    assert {student for student, _ in ours} - {student for student, _ in theirs} == {
        *failing
    }
    assert len(theirs) >= len(students) - len(failing)
    assert sum(theirs.values()) > 10 or len(students) < len(SUBMITTED)
