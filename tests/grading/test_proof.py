"""A release is proven by its own solution, and says in a line what it refuses."""

import json

import pytest
from foreign.course import UNPROTECTED, ForeignCourse
from foreign.idioms import IDIOMS, PYTHON, cell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError
from autograder.release.leaks import find_leaks
from autograder.release.solutions import solution_notebook

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


def test_cells_with_one_name_are_named(release, course):
    assert release("def f(x):\n    return x + 1", "assert f(1) == 2")[0] == 0
    path = course.source / "ps/p.ipynb"
    notebook = json.loads(path.read_text())
    notebook["cells"].append(notebook["cells"][0] | {"id": "another"})
    path.write_text(json.dumps(notebook))
    assert main(["release", "ps"]) == 2
    with pytest.raises(CourseError, match=r"the same grade id: start\. Give each"):
        solution_notebook(Course(course.root).chosen(["ps"])[0])


def test_the_instructor_may_insist(release):
    code, said = release("def f(x):\n    return x", "assert f(1) == 2", "--unproven")
    assert code == 0, said


def test_a_leak_shows_its_line_and_a_given_line_is_none(release):
    right = "total = 0\nfor n in range(9):\n    total += n"
    test, locked = "assert total == 36", "for n in range(9):\n    print(n)"
    code, said = release(right, test, locked=locked)
    assert code == 2
    assert "the solution of answer: `for n in range(9):` (in cell 1 start)" in said
    assert 'c.Autograder.given = {"ps": "all"}' in said
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
        assert "test_softmax says 6 points, but its question says 4" in said


TWICE = "total = 0\nfor n in range(9):\n    total += n"


@pytest.mark.parametrize(("given", "code"), [("'all'", 0), ("'some'", 2)])
def test_lines_that_a_course_repeats_are_allowed_once(release, course, given, code):
    course.configure(f'c.Autograder.given = {{"ps": {given}}}')
    locked = "for n in range(9):\n    print(n)"
    assert release(TWICE, "assert total == 36", locked=locked)[0] == code


@pytest.mark.parametrize(
    ("line", "leaks"),
    [
        ("while True:", False),
        ("finally:", False),
        ("return counts", False),
        ("points_in_row = 2", False),
        ("print(total)", False),
        ("return counts + 1", True),
        ("points_in_row = 2 * n", True),
        ("return mask(scores)", True),
        ("num_points = 117", True),
    ],
)
def test_a_trivial_line_is_no_leak(line, leaks):
    text = f"### BEGIN SOLUTION\n{line}\n### END SOLUTION"
    solution = new_notebook(cells=[cell("answer", text, solution=True)])
    shown = new_notebook(cells=[cell("start", f"a = 1\n{line}", locked=True)])
    assert bool(find_leaks(json.dumps(shown), solution)) == leaks


def test_a_lesson_beside_the_questions_is_copied_and_never_held(
    release, course, capsys
):
    """With any kernel, with or without cells of nbgrader's, whatever comes back."""
    lesson = new_notebook(
        cells=[new_code_cell("1 / 0"), cell("text", "y = 1", locked=True)],
        metadata={
            "kernelspec": {"name": "java", "language": "java", "display_name": "J"}
        },
    )
    folder = course.write(lesson, "ps", "a_lesson")
    code, said = release("def f(x):\n    return x + 1", "assert f(1) == 2")
    assert code == 0, said
    given = course.root / "release/ps"
    for student, text in (
        ("ada", (folder / "p.ipynb").read_text()),
        ("bob", (given / "p.ipynb").read_text()),
    ):
        course.hand_in(student, "ps", "p", text)
    course.hand_in("ada", "ps", "a_lesson", "no notebook at all")
    found = {each["student"]: each for each in course.grade()}
    assert [found[name]["status"] for name in ("ada", "bob")] == ["graded"] * 2
    assert [found[name]["score"] for name in ("ada", "bob")] == [2, 0]
    assert (course.root / "autograded/ada/ps/a_lesson.ipynb").is_file()


def test_an_untouched_answer_in_words_gets_nothing_and_waits_for_nobody(course):
    """Also below a text of the course that has no name, as nbgrader allows."""
    words = cell("why", "Your answer.", grade=True, solution=True, points=3)
    words["cell_type"] = "markdown"
    del words["outputs"], words["execution_count"]
    cells = [new_markdown_cell("Why is that so?"), words]
    course.write(new_notebook(cells=cells, metadata={}), "ps", "p")
    assert main(["release"]) == 0
    released = (course.root / "release/ps/p.ipynb").read_text()
    course.hand_in("ada", "ps", "p", released)
    course.hand_in("bob", "ps", "p", released.replace("ANSWER HERE", "answer: 2"))
    ada, bob = (each["questions"][0]["message"] for each in course.grade())
    assert (ada, bob) == ("no answer yet", "waits to be graded by hand")


def test_a_copy_of_a_solution_is_no_second_notebook(release, course):
    right, test = "def f(x):\n    return x + 1", "assert f(1) == 2"
    copy = course.source / "ps/p-Copy1.ipynb"
    assert release(right, test)[0] == 0
    copy.write_text((course.source / "ps/p.ipynb").read_text())
    code, said = release(right, test)
    assert code == 0 and "ps: not released: p-Copy1.ipynb" in said
    assert not (course.root / "release/ps/p-Copy1.ipynb").exists()


def test_questions_of_one_name_in_two_notebooks_are_two_questions(release, course):
    right, test = "def f(x):\n    return x + 1", "assert f(1) == 2"
    assert release(right, test)[0] == 0
    text = (course.source / "ps/p.ipynb").read_text()
    other = text.replace("x + 1", "x + 2").replace("f(1) == 2", "f(1) == 3")
    (course.source / "ps/q.ipynb").write_text(other)
    code, said = release(right, test)
    assert code == 0, said


@pytest.mark.parametrize(
    ("kernel", "code"),
    [
        ({"name": "xpython", "language": "python"}, 0),
        ({"name": "conda-env-x-py"}, 0),
        ({"name": "java", "language": "java"}, 2),
        ({"name": "ir", "language": "R"}, 2),
    ],
)
def test_a_kernel_of_another_name_is_python_and_another_language_is_none(
    release, course, capsys, kernel, code
):
    assert release("x = [1, 2]", "assert len(x) == 2")[0] == 0
    path = course.source / "ps/p.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"] = {"kernelspec": {"display_name": "Other", **kernel}}
    path.write_text(json.dumps(notebook))
    assert main(["release"]) == code
    assert ("the grader runs only Python" in capsys.readouterr().err) == bool(code)


def test_partial_credit_that_falls_short_says_so(release, course):
    course.configure('c.Autograder.tests = {"ps": "inside"}')
    code, said = release("def f(x):\n    return x", "assert f(1) == 1\nf(1)")
    assert code == 2
    assert "test_answer: 1 of 2. The points are the value of the test's last line." in (
        " ".join(said.split())
    )


def test_cells_of_an_old_format_stay_without_ids(release, course):
    assert release("x = [1, 2]", "assert len(x) == 2")[0] == 0
    path = course.source / "ps/p.ipynb"
    notebook = json.loads(path.read_text())
    notebook["nbformat_minor"] = 4
    for each in notebook["cells"]:
        each.pop("id", None)
    path.write_text(json.dumps(notebook))
    assert main(["release"]) == 0
    given = json.loads((course.root / "release/ps/p.ipynb").read_text())
    assert given["nbformat_minor"] == 4
    assert not any("id" in each for each in given["cells"])
    course.hand_in("ada", "ps", "p", path.read_text())
    assert course.grade()[0]["score"] == 2


def scores(course, *options):
    return {each["student"]: each["score"] for each in course.grade(*options)}


def test_a_check_that_changed_is_tried_on_the_solution_before_a_class_is(
    release, course, capsys
):
    assert release("def f(x):\n    return x + 1", "assert f(1) == 2")[0] == 0
    path = course.source / "ps/p.ipynb"
    right = path.read_text()
    course.hand_in("ada", "ps", "p", right)
    assert scores(course) == {"ada": 2}
    path.write_text(right.replace("f(1) == 2", "f(1) == 20"))
    for options, same in ((["--dry-run"], " --dry-run"), ([], "")):
        assert main(["grade", "ps", *UNPROTECTED, *options]) == 2
        said = capsys.readouterr().err
        assert "ps has changed, and its own solution no longer gets full points" in said
        assert "test_answer: 0 of 2" in said
        assert said.endswith(f"autograder grade ps{same} --unproven\n")
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        assert book.find_submission("ps", "ada").score == 2
    assert scores(course, "--unproven") == {"ada": 0}
    assert scores(course, "--force") == {"ada": 0}  # once is enough
    path.write_text(right.replace("f(1) == 2", "f(2) == 3"))  # right again
    assert scores(course) == {"ada": 2}


def test_a_record_of_what_was_proved_that_cannot_be_read_is_written_again(
    release, course
):
    assert release("def f(x):\n    return x + 1", "assert f(1) == 2")[0] == 0
    (course.root / ".proved.json").write_text("[[")
    course.hand_in("ada", "ps", "p", (course.source / "ps/p.ipynb").read_text())
    assert scores(course) == {"ada": 2}
    assert json.loads((course.root / ".proved.json").read_text()).keys() == {"ps/p"}
