"""Habits of nbgrader's other courses: what they release, hand in and configure."""

import io
import json
import zipfile

import pytest
from foreign.course import ForeignCourse
from foreign.idioms import PYTHON, cell
from nbformat.v4 import new_markdown_cell, new_notebook, writes

from autograder.cli import main

LINE = "return sum(v) / len(v)"
MEAN = f"### BEGIN SOLUTION\ndef mean(v):\n    {LINE}\n### END SOLUTION"
TEST = "assert mean([1, 3]) == 2\n### BEGIN HIDDEN TESTS\nassert mean([5, 9]) == 7\n"
TEST += "### END HIDDEN TESTS"
PICTURE = "iVBORw0KGgogdGhlIHNrZXRjaCBvZiB0aGUgYW5zd2Vy"


def homework(answer=MEAN, test=TEST, *more):
    """An instructor's notebook: an answer, its test, and more cells."""
    cells = [cell("a", answer, solution=True)]
    cells.append(cell("t", test, grade=True, locked=True, points=1))
    return new_notebook(cells=[*cells, *more], metadata={"kernelspec": PYTHON})


def written(text, **attachments):
    """A written answer that a person grades."""
    about = {"schema_version": 3, "grade_id": "w", "points": 2, "task": False}
    about |= {"solution": True, "grade": True, "locked": False}
    pictures = {name: {"image/png": PICTURE} for name in attachments.values()}
    return new_markdown_cell(text, metadata={"nbgrader": about}, attachments=pictures)


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    course = ForeignCourse(tmp_path, 'c.Autograder.tests = "inside"')
    course.write(homework(), "ps1", "hw")
    return course


@pytest.fixture
def release(course, capsys):
    """Release with files beside the notebook; exit code, what was said, what is out."""

    def release(files=(), folder="source"):
        for name, data in dict(files).items():
            path = course.root / folder / "ps1" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        code = main(["release", "ps1"])
        said = capsys.readouterr()
        out = course.root / "release" / "ps1"
        names = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
        return code, said.out + said.err, names

    return release


NOTEBOOK = writes(homework())
LEFT_BEHIND = [  # by editors, browsers, systems and version control
    *("hw.ipynb.bak", "hw.ipynb~", ".#hw.ipynb", "#hw.ipynb#", "hw.ipynb.orig"),
    *(".ipynb_checkpoints/hw-checkpoint.ipynb", "._hw.ipynb"),
    *(".git/objects/ab/cdef", "data/.hw.swp", "hw.ipynb.txt"),
    *("__pycache__/key.cpython-311.pyc", "feedback/old.html", "Thumbs.db"),
]


def test_what_editors_leave_and_what_the_course_ignores_is_kept_back(course, release):
    files = dict.fromkeys(LEFT_BEHIND, NOTEBOOK)
    private = ["private.ipynb", "data/private_key.csv", "private/deep/x.txt", "x.bak"]
    files |= dict.fromkeys(private, "42")
    given = {"data/d.csv": "1", "tools/__init__.py": "", "tools/plots.py": "x = 1"}
    course.configure('c.CourseDirectory.ignore.append("private*")')
    code, said, out = release(files | given)
    assert code == 0, said
    assert out == {"hw.ipynb", *given}
    beside, kept = said.splitlines()[1:]
    assert beside == f"ps1: files beside it: {', '.join(sorted(given))}"
    assert all(name in kept for name in private)


def archive(text):
    with zipfile.ZipFile(data := io.BytesIO(), "w") as target:
        target.writestr("old/hw.py", text)
    return data.getvalue()


CODE = f"def mean(v):\n    {LINE}\n"
LEAKS = {
    "a module with the answer": ("mine.py", CODE),
    "a notebook in a folder": ("old/hw.ipynb", NOTEBOOK),
    "a hidden test": ("tests.txt", "assert mean([5, 9]) == 7"),
    "a page": ("hw.html", f"<pre><b>{LINE[:6]}</b>{LINE[6:]}</pre>"),
    "an archive": ("hw.zip", archive(CODE)),
    "another alphabet": ("hw.txt", CODE.encode("utf-16")),
    "markers of another notebook": ("b.md", "### BEGIN SOLUTION\n1\n### END SOLUTION"),
}


@pytest.mark.parametrize("folder", ["source", "release"])
@pytest.mark.parametrize("leak", LEAKS)
def test_a_file_with_an_answer_is_not_released(release, leak, folder):
    name, data = LEAKS[leak]
    code, said, out = release({name: data}, folder)
    assert code == 2
    assert f"(in {name})" in said
    assert "c.CourseDirectory.ignore" in said
    assert "hw.ipynb" not in out


def test_private_files_of_an_earlier_release_are_named(release):
    code, said, out = release({"hw.ipynb.bak": NOTEBOOK}, "release")
    assert (code, out) == (2, {"hw.ipynb.bak"})
    assert "students must not get: hw.ipynb.bak. Delete them there." in said


SCHEME = "Draw {given}.\n\n### BEGIN SOLUTION\nLike {it}\n### END SOLUTION\n"


def test_pictures_of_removed_text_go_with_it(course, release):
    text = SCHEME.format(given="![](attachment:my%20g.png)", it="![](attachment:s.png)")
    answer = written(text, one="s.png", two="my g.png", three="unused.png")
    course.write(homework(MEAN, TEST, answer), "ps1", "hw")
    assert release()[0] == 0
    cells = json.loads((course.root / "release/ps1/hw.ipynb").read_text())["cells"]
    assert set(cells[2]["attachments"]) == {"my g.png"}


def test_a_picture_that_only_the_mark_scheme_shows_is_not_released(course, release):
    text = SCHEME.format(given="a density", it="![](img/sketch.png)")
    course.write(homework(MEAN, TEST, written(text)), "ps1", "hw")
    code, said, _ = release({"img/sketch.png": b"\x89PNG\0", "logo.png": b"\x89PNG\0"})
    assert code == 2
    assert "the picture img/sketch.png, which only the solution of w shows" in said
    assert "logo.png" not in said


def test_answers_between_markers_of_the_course_s_own_are_found(course, release):
    course.configure('c.ClearSolutions.begin_solution_delimeter = "ANSWER>"')
    answer = MEAN.replace("BEGIN SOLUTION", "ANSWER>")
    course.write(homework(answer), "ps1", "hw")
    assert "a line of the solution of a" in release({"mine.py": CODE})[1]
