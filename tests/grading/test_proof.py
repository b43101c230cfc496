"""A release is proven by its own solution, and says in a line what it refuses."""

import json

import pytest
from foreign.course import ForeignCourse
from foreign.idioms import IDIOMS, PYTHON, cell
from nbformat.v4 import new_notebook

from autograder.cli import main

SUBCLASS = next(idiom for idiom in IDIOMS if idiom.name == "subclass")


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ForeignCourse(tmp_path)


@pytest.fixture
def release(course, capsys):
    """Release one question; the exit code and what was said."""

    def release(right, test, *options, locked="x = 1"):
        answer = f"### BEGIN SOLUTION\n{right}\n### END SOLUTION"
        cells = [cell("start", locked, locked=True)]
        cells.append(cell("answer", answer, solution=True))
        cells.append(cell("test_answer", test, grade=True, locked=True, points=2))
        notebook = new_notebook(cells=cells, metadata={"kernelspec": PYTHON})
        course.write(notebook, "ps", "p")
        code = main(["release", *options])
        said = capsys.readouterr()
        return code, said.out + said.err

    return release


def test_a_solution_that_misses_points_is_not_released(release, course):
    code, said = release("def f(x):\n    return x", "assert f(1) == 2, 'f(1) is 2'")
    assert code == 2
    assert "test_answer: 0 of 2. seen: f(1) is 2" in said
    assert "c.Autograder.tests" not in said
    assert not (course.root / "release").exists()
    code, said = release("def f(x):\n    return x + 1", "assert f(1) == 2")
    assert code == 0, said
    assert (course.root / "release" / "ps" / "p.ipynb").is_file()


def test_partial_credit_below_full_is_named(release):
    code, said = release("def f(x):\n    return x", "f(1) * 0.5")
    assert (code, "test_answer: 0.5 of 2" in said) == (2, True)


def test_inside_is_suggested_where_the_idiom_needs_it(release, course):
    code, said = release(SUBCLASS.right, SUBCLASS.test)
    assert code == 2
    assert 'c.Autograder.tests = {"ps": "inside"}' in said
    course.configure('c.Autograder.tests = {"ps": "inside"}')
    assert release(SUBCLASS.right, SUBCLASS.test)[0] == 0


def test_a_setting_that_is_none_is_refused(release, course):
    course.configure('c.Autograder.tests = {"ps": "outside"}')
    code, said = release("x = 1", "assert x")
    assert (code, 'it takes "remote" or "inside"' in said) == (2, True)


def test_the_instructor_may_insist(release):
    code, said = release("def f(x):\n    return x", "assert f(1) == 2", "--unproven")
    assert code == 0, said


def test_a_leak_shows_its_line_and_a_given_line_is_none(release):
    right = "total = 0\nfor n in range(9):\n    total += n"
    test, locked = "assert total == 36", "for n in range(9):\n    print(n)"
    code, said = release(right, test, locked=locked)
    assert code == 2
    assert "the solution of answer: `for n in range(9):`" in said
    marked = right.replace("(9):", "(9):  # given")
    code, said = release(marked, test, locked=locked)
    assert code == 0, said
    code, said = release("import math\nx = math.pi", "assert x", locked="import math")
    assert code == 0, said


def test_points_that_differ_are_refused_by_release_and_grade(classroom, capsys, right):
    notebook = json.loads(classroom.solution.read_text())
    for each in notebook["cells"]:
        about = each["metadata"]["nbgrader"]
        if about["grade_id"] == "test_softmax":
            about["points"] = 6
    classroom.solution.write_text(json.dumps(notebook))
    classroom.hand_in("ada", right)
    for verb in ("release", "grade"):
        assert main([verb, "01-attention"]) == 2
        said = capsys.readouterr().err
        assert "test_softmax says 6 points, and its question says 4" in said


def test_an_autotest_is_released_and_graded(course, capsys):
    """nbgrader writes these tests itself, when it releases."""
    pytest.importorskip("jupyter_client")
    import shutil
    from pathlib import Path

    import nbgrader

    guide = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
    shutil.copytree(guide / "source" / "ps1_autotest", course.source / "ps1_autotest")
    (course.source / "ps1_autotest" / "problem2.ipynb").unlink(missing_ok=True)
    shutil.copy(guide / "autotests.yml", course.root / "autotests.yml")
    course.configure('c.Autograder.tests = {"ps1_autotest": "inside"}')
    assert main(["release"]) == 0, capsys.readouterr()
    released = (course.root / "release/ps1_autotest/problem1.ipynb").read_text()
    assert "AUTOTEST" not in released
    assert "assert" in released
