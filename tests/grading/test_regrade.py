"""After a fix in the checks: what is judged again, and a look before it counts."""

import json
from pathlib import Path

import pytest
from classroom import UNPROTECTED
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course import Course
from autograder.grading.store import Store
from autograder.release import grading_plan
from autograder.release.grading_plan import engine_files, plans

ROOT = Path(__file__).resolve().parents[2]


def fix(classroom):
    """The instructor decides that the hidden checks of softmax count half."""
    text, call = classroom.solution.read_text(), "check.hidden.softmax(softmax)"
    assert text.count(call) == 1
    classroom.solution.write_text(text.replace(call, f"{call} / 2"))


def files_of(classroom):
    """Every byte that a grading could change."""
    paths = [classroom.root / "gradebook.db", *classroom.root.glob("autograded/**/*.*")]
    return {path: path.read_bytes() for path in paths}


def dry_run(classroom):
    target = classroom.root / "changes.json"
    command = [
        "grade",
        "--workers",
        "1",
        "--unproven",
        "--dry-run",
        "--json",
        str(target),
    ]
    assert main([*command, *UNPROTECTED]) == 0
    return json.loads(target.read_text())["changes"]


def test_a_dry_run_shows_what_would_change_and_stores_nothing(
    classroom, right, wrong, gradebook, capsys
):
    classroom.hand_in("ada", right)
    classroom.hand_in("bob", wrong)
    classroom.grade()
    fix(classroom)
    before = files_of(classroom)
    capsys.readouterr()
    change = {"assignment": "01-attention", "student": "ada"}
    change |= {"question": "test_softmax", "before": 4.0, "after": 2.0}
    found = dry_run(classroom)
    assert change in found and files_of(classroom) == before
    said = capsys.readouterr().out
    assert "01-attention, ada: softmax: 4 -> 2\n" in said
    assert "2 judged again" in said and "Nothing was stored." in said
    after = {(c["student"], c["question"]): c["after"] for c in found}
    for student, result in classroom.grade("--unproven").items():
        for question in result["questions"]:
            expected = after.get((student, question["id"]), question["score"])
            assert question["score"] == expected
    assert dry_run(classroom) == []


def test_a_dry_run_leaves_out_what_a_person_decided(classroom, ada, gradebook):
    with gradebook() as book:
        where = ("attention", "01-attention", "ada")
        book.find_grade("test_softmax", *where).manual_score = 3.5
        book.db.commit()
    fix(classroom)
    assert dry_run(classroom) == []
    assert classroom.grade("--unproven")["ada"]["score"] == 19.5


def test_a_dry_run_tells_of_held_and_of_new_submissions(classroom, right, capsys):
    classroom.hand_in("ada", right)
    classroom.hand_in("bob", right[:2000])
    classroom.grade()
    classroom.hand_in("ada", right[:2000])
    classroom.hand_in("bob", right)
    classroom.hand_in("eve", right)
    found = {(c["student"], c["question"]): c for c in dry_run(classroom)}
    assert "is cut off" in found["ada", None]["after"]
    assert found["bob", None]["after"] is None
    assert found["bob", "test_softmax"]["before"] is None
    assert found["eve", "test_softmax"]["after"] == 4.0
    said = capsys.readouterr().out
    assert "bob: no longer held (" in said and "eve: softmax: none -> 4" in said


def test_a_dry_run_needs_something_to_compare_with(classroom, right, capsys):
    classroom.hand_in("ada", right)
    assert main(["grade", "--dry-run", *UNPROTECTED]) == 2
    nothing = "Nothing is graded yet, so a dry run has nothing to compare with"
    assert nothing in capsys.readouterr().err
    assert not (classroom.root / "gradebook.db").exists()
    with Store(Course(classroom.root)):  # as a grading leaves it that was refused
        pass
    assert main(["grade", "--dry-run", *UNPROTECTED]) == 2
    assert nothing in capsys.readouterr().err


def test_only_the_assignments_whose_checks_changed_are_judged_again():
    names = {path.relative_to(ROOT).as_posix() for path in engine_files("attention")}
    assert "solutions/01-attention/hidden/__init__.py" in names
    assert {"autograder/checks/question.py", "autograder/wall/judge/judge.py"} <= names
    assert {"autograder/notebook/matching.py", "autograder/grading/job.py"} <= names
    assert {"autograder/text.py", "book/attention.py"} <= names
    others = ("solutions/02-scaling", "autograder/explain", "book/minilm")
    assert not [name for name in names if name.startswith(others)]
    imported = ROOT / "solutions/06-encoder-layer/visible/cases.py"
    assert imported in engine_files("language_model")


def test_the_books_modules_judge_again_the_assignments_that_come_with_them(monkeypatch):
    course = Course(ROOT)
    parts = course.chosen(["01-attention", "07-real-model"])
    before = [grading_plan.plan(course, part) for part in parts]
    assert [sorted(release.files) for release in before] == [
        [],
        ["attention.py", "minilm.py", "payoff.py", "smollm2.py"],
    ]
    monkeypatch.setattr(
        grading_plan, "module_file", lambda name: ROOT / "pyproject.toml"
    )
    after = [grading_plan.plan(course, part).hash for part in parts]
    same = [one.hash == other for one, other in zip(before, after, strict=True)]
    assert same == [True, False]


@pytest.mark.parametrize(
    ("library", "assignment", "again"),
    [
        ("numpy", "01-attention", True),
        ("torch", "01-attention", False),  # it is not there
        ("torch", "03-multi-head", True),
    ],
)
def test_another_version_of_a_library_judges_again_what_rests_on_it(
    monkeypatch, library, assignment, again
):
    course = Course(ROOT)
    (assignment,) = course.chosen([assignment])
    before = [release.hash for release in plans(course, assignment)]
    installed = grading_plan.version
    monkeypatch.setattr(
        grading_plan,
        "version",
        lambda name: "99.0" if name == library else installed(name),
    )
    after = [release.hash for release in plans(course, assignment)]
    assert (before != after) is again


def test_the_rows_of_an_assignment_are_written_all_or_none(
    classroom, release, gradebook, monkeypatch
):
    last = release.cells[-1].grade_id
    add = Gradebook.add_source_cell

    def stopped(book, name, *where, **values):
        if name == last:
            raise KeyboardInterrupt
        return add(book, name, *where, **values)

    with monkeypatch.context() as patch, Store(classroom.course) as store:
        patch.setattr(Gradebook, "add_source_cell", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.prepare([release])
    with gradebook() as book:
        assert book.assignments == []
    with Store(classroom.course) as store:
        store.prepare([release])
    with gradebook() as book:
        cells = book.find_notebook("attention", "01-attention").source_cells
        assert {cell.name for cell in cells} == {c.grade_id for c in release.cells}
