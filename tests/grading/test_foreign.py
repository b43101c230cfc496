"""Assignments of other courses get nbgrader's points, behind our wall."""

import base64
import io
import json

import matplotlib.pyplot as plt
import pytest
from foreign.course import UNPROTECTED, ForeignCourse, table
from foreign.idioms import HELPER, IDIOMS, PYTHON, Idiom, answered, cell, notebook
from nbformat.v4 import new_markdown_cell, new_notebook
from shared import drawn, some

from autograder.cli import main
from autograder.grading.jobs import grader_of
from autograder.release.proof import PROVED
from autograder.release.solutions import notebook_text, students_notebook
from autograder.wall import Cell, Grader

UNASKED = "not drawn"
FILES = {"numbers.txt": b"10\n20\n30\n"}
INSIDE = 'c.Autograder.tests = {"idioms": "inside"}'


@pytest.fixture
def foreign(tmp_path, monkeypatch, quick_kernels):
    monkeypatch.chdir(tmp_path)
    return ForeignCourse(tmp_path, INSIDE)


def remotely(idiom: Idiom, answer: str, grader: Grader) -> float | None:
    """The points of an idiom whose test runs in the judge; None when it is held."""
    (helper,) = (i for i in IDIOMS if i.name == "help of an earlier test")
    cells = [Cell("helper", HELPER), Cell("answer", answer)]
    if "check_first" in idiom.test and idiom is not helper:
        cells.insert(1, Cell("first", helper.right))
        cells.append(Cell("test_first", helper.test, "first", 1.0))
    cells.append(Cell("test", idiom.test, "test", idiom.points))
    transcript = grader.judge(cells, files=FILES)
    return None if transcript.held else transcript.results["test"].score


@pytest.mark.parametrize("apart", some(IDIOMS, 6))
def test_every_idiom_gets_nbgraders_points(foreign, apart):
    """Right and wrong answers to all idioms: a table of points, in three ways.

    Those that are judged apart, each in a sandbox of its own, are drawn.
    """
    folder = foreign.write(notebook(), "idioms", "idioms")
    for name, data in FILES.items():
        (folder / name).write_bytes(data)
    (assignment,) = foreign.course.assignments()
    given = json.loads(notebook_text(students_notebook(foreign.course, assignment)))
    foreign.hand_in("right", "idioms", "idioms", answered(given))
    foreign.hand_in("wrong", "idioms", "idioms", answered(given, wrong=True))
    inside = {
        (result["student"], question["id"]): question["score"]
        for result in foreign.grade()
        for question in result["questions"]
    }
    theirs = foreign.nbgrader("idioms")
    rows = [("idiom", "answer", "nbgrader", "remote", "inside")]
    grader = grader_of(not UNPROTECTED)
    for number, idiom in enumerate(IDIOMS):
        for student in ("right", "wrong"):
            test, remote = f"test_{number}", UNASKED
            if idiom in apart:
                remote = remotely(idiom, getattr(idiom, student), grader)
            points = theirs[student, "idioms", test]
            rows.append((idiom.name, student, points, remote, inside[student, test]))
    print(table(rows))
    known = {idiom.name: idiom for idiom in IDIOMS}
    for name, student, points, remote, ours in rows[1:]:
        assert ours == points, (name, student)
        assert (points == known[name].points) == (student == "right"), (name, student)
        if remote != UNASKED:
            assert remote == points or not known[name].remote, (name, student)
            assert remote is None or remote <= points, (name, student)


HIDING = """\
assert f(1) == 2, "visible: f(1)"
### BEGIN HIDDEN TESTS
assert f(2) == 3, "SECRET text of f(2)"
### END HIDDEN TESTS"""
PRINTABLE = HIDING.replace(
    "### END", 'assert f(5), "think of five"  # printable\n### END'
)
RIGHT = "def f(x):\n    return x + 1"
# a student who looks for the test in every way there is inside one process
SPY = """\
import inspect, linecache, sys
seen = []
def f(x):
    frame = sys._getframe(1)
    seen.extend(map(str, linecache.cache.values()))
    seen.append(inspect.getsource(frame))
    open("seen.txt", "a").write("".join(seen))
    print("".join(seen), file=sys.stderr)
    if x == 2:
        raise AssertionError("".join(seen))
    raise type("".join(seen), (Exception,), {})
"""
TELLS = """\
import glob, linecache
print(seen, In, [open(p).read() for p in glob.glob("*.txt")], linecache.cache.values())
"""


@pytest.fixture(params=drawn(["inside", "remote"]))
def small(request, tmp_path, monkeypatch):
    """One question with a hidden assertion, in both modes."""
    monkeypatch.chdir(tmp_path)
    course = ForeignCourse(
        tmp_path, f'c.Autograder.tests = {{"ps": "{request.param}"}}'
    )

    def grade(answer, test, *more):
        cells = [cell("f", answer, solution=True)]
        cells.append(cell("test_f", test, grade=True, locked=True, points=2))
        source = new_notebook(cells=cells, metadata={"kernelspec": PYTHON})
        course.write(source, "ps", "p")
        (assignment,) = course.course.assignments()
        given = students_notebook(course.course, assignment)
        given.cells[0].source = answer
        for text in more:
            given.cells.append(cell("mine", text))
            del given.cells[-1].metadata["nbgrader"]
        course.hand_in("ada", "ps", "p", notebook_text(given))
        # another course each time: its solution need not get all points
        (course.root / PROVED).unlink(missing_ok=True)
        (result,) = course.grade()
        return result["questions"][0]

    grade.course = course
    return grade


def test_a_hidden_assertion_says_that_it_is_hidden(small):
    question = small("def f(x):\n    return 2", HIDING)
    assert question["score"] == 0
    assert "a hidden check of this question fails" in question["message"]
    assert small(RIGHT, HIDING)["score"] == 2


def test_the_report_names_the_weaker_promise(small):
    small(RIGHT, HIDING)
    assert main(["report"]) == 0
    inside = "inside" in small.course.config
    report = (small.course.root / "report.html").read_text()
    assert ("run inside the students" in report) == inside


def test_a_visible_assertion_says_what_it_says(small):
    assert "visible: f(1)" in small("def f(x):\n    return 0", HIDING)["message"]
    bare = small("def f(x):\n    return 0", "assert (f(1)\n    == 2)")
    assert "`assert (f(1) == 2)` fails" in bare["message"]


def test_the_instructor_can_let_a_hidden_line_speak(small):
    answer = "def f(x):\n    return (x + 1) * (x != 5)"
    assert "think of five" in small(answer, PRINTABLE)["message"]
    assert "SECRET" not in small("def f(x):\n    return 2", PRINTABLE)["message"]


def test_no_way_leads_a_hidden_text_to_students(small):
    """Not through messages, exceptions, outputs, files, or a cell after the test."""
    question = small(SPY, HIDING, TELLS, TELLS)
    assert question["score"] == 0
    assert main(["feedback"]) == 0
    root = small.course.root
    public = [root / "results.json", *root.glob("feedback/**/*.html")]
    public += root.glob("autograded/**/*.ipynb")
    assert len(public) == 3
    for path in public:
        assert "SECRET" not in path.read_text(), path
    assert "linecache" in public[2].read_text()


def test_a_missing_name_is_told_and_a_hidden_one_is_not(small):
    asks = "def f(x):\n    return x + offset"
    assert "`offset`" in small(asks, HIDING)["message"]
    hidden = "### BEGIN HIDDEN TESTS\nassert secret_helper(1)\n### END HIDDEN TESTS"
    assert "secret_helper" not in small(RIGHT, "f(1);\n" + hidden)["message"]


def picture() -> str:
    """A PNG with one pixel, in base64."""
    figure = plt.figure(figsize=(0.01, 0.01))
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=100)
    plt.close(figure)
    return base64.b64encode(content.getvalue()).decode()


def test_half_metadata_and_pictures_of_the_course(foreign):
    """A cell that nbgrader has half forgotten runs; the course's pictures are shown."""
    half = cell("", "y = 2")
    del half.metadata.nbgrader["grade_id"]
    shown = new_markdown_cell("Look: ![up](attachment:up.png)")
    about = dict(cell("up", "", locked=True).metadata.nbgrader)
    shown.metadata["nbgrader"] = about
    shown["attachments"] = {"up.png": {"image/png": picture()}}
    cells = [shown, half, cell("x", "x = y", solution=True)]
    cells.append(cell("test_x", "assert x == 2", grade=True, locked=True, points=1))
    foreign.write(new_notebook(cells=cells, metadata={"kernelspec": PYTHON}), "a", "a")
    (assignment,) = foreign.course.assignments()
    given = students_notebook(foreign.course, assignment)
    given.cells[2].source = "x = y"
    foreign.hand_in("ada", "a", "a", notebook_text(given))
    (result,) = foreign.grade()
    assert result["questions"][0]["score"] == 1
    path = foreign.root / "autograded" / "ada" / "a" / "a.ipynb"
    first = json.loads(path.read_text())["cells"][0]
    assert first["source"] == shown.source
    assert first["attachments"] == shown["attachments"]
