"""Habits of nbgrader's other courses: what they release, hand in and configure."""

import importlib
import io
import json
import pkgutil
import re
import zipfile
from dataclasses import dataclass, field

import nbgrader
import pytest
from foreign.course import UNPROTECTED, ForeignCourse
from foreign.idioms import PYTHON, cell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Configurable

from autograder import settings
from autograder.cli import main

LINE = "return sum(v) / len(v)"
MEAN = f"### BEGIN SOLUTION\ndef mean(v):\n    {LINE}\n### END SOLUTION"
TEST = "assert mean([1, 3]) == 2\n### BEGIN HIDDEN TESTS\nassert mean([5, 9]) == 7\n"
TEST += "### END HIDDEN TESTS"
# nbgrader's options by class; "*" is every option of the class. Those that are honored:
HONORED = {
    "AssignLatePenalties": "plugin_class",
    "Autograde": "autograde_preprocessors exclude_overwriting sanitize_preprocessors",
    "BaseConverter": "exporter_class",
    "ClearHiddenTests": "*",
    "ClearMarkScheme": "*",
    "ClearSolutions": "*",
    "CourseDirectory": "course_id db_url ignore max_dir_size max_file_size "
    "release_directory source_directory student_id_exclude",
    "Execute": "timeout",
    "GenerateAssignment": "preprocessors",
    "GenerateFeedback": "preprocessors",
    "GetGrades": "*",
    "IncludeHeaderFooter": "*",
    "InstantiateTests": "*",
    "LateSubmissionPlugin": "*",
    "LockCells": "*",
    "NbGraderPreprocessor": "enabled",
}
# and those for nbgrader's own commands and pages, or for one command of theirs
TOOLS = {
    "BaseConverter": "force permissions",
    "CourseDirectory": "assignment_id include root "
    "solution_directory source_with_tests_directory student_id",
    "GenerateAssignment": "create_assignment no_database",
}
OF_TOOLS = """
Authenticator DbAssignmentAddApp DbAssignmentRemoveApp DbStudentAddApp
DbStudentRemoveApp Exchange ExchangeCollect ExchangeFactory ExchangeFetchAssignment
ExchangeList ExchangeReleaseAssignment ExchangeSubmit ExportApp ExportPlugin
ExtractorPlugin FileNameCollectorPlugin FormgradeExtension GenerateAssignmentApp
GenerateConfigApp GenerateSolution GenerateSourceWithTests NbGrader NbGraderAPI
QuickStartApp UpdateApp Validator ZipCollectApp
"""
TOOLS |= dict.fromkeys(OF_TOOLS.split(), "*")
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
    assert "hw.ipynb.bak, a file of an earlier release: delete it there" in said


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


@dataclass
class Habit:
    """What a course comes with, what one student hands in, and what it gets."""

    answer: str
    test: str
    points: float | None  # None: it is held
    said: str = ""  # in the notes, or in the reason
    config: str = ""
    beside: dict = field(default_factory=dict)  # files of the course
    mine: dict = field(default_factory=dict)  # and of the student
    name: str = "hw.ipynb"


DATA = "x = sum(map(float, open('m.csv')))"
DOUBLE = "import mathutils\ny = mathutils.double(2)"
MODULE = "assert mathutils.double(3) == 6"
OWN = 'c.Autograde.exclude_overwriting = {"ps1": ["mathutils.py"]}'
RIGHT, WRONG = "def double(x):\n    return x * 2", "def double(x):\n    return x + 2"
KEY = "def key():\n    return 42"
WAIT = "import time\ntime.sleep(5)\nx = 6"
SIX = "assert x == 6"
ASK = "import socket\nx = socket.gethostbyname('data.example.org')"
HABITS = {
    "data of one's own": Habit(DATA, SIX, 1, mine={"m.csv": "1\n5\n"}),
    "data that was not handed in": Habit(DATA, SIX, 0),
    "data in a folder": Habit(
        DATA.replace("m.csv", "d/m.csv"), SIX, 1, mine={"d/m.csv": "6"}
    ),
    "the course's data, changed": Habit(
        DATA, SIX, 0, "not used: m.csv.", beside={"m.csv": "1"}, mine={"m.csv": "6"}
    ),
    "too much data": Habit(
        DATA,
        SIX,
        0,
        "not used: m.csv (more than 0.002 MB in all)",
        "c.CourseDirectory.max_dir_size = 2",
        mine={"m.csv": "0\n" * 1500 + "6"},
    ),
    "a file in the place of a folder": Habit(
        DATA.replace("m.csv", "d/m.csv"), SIX, 1, "", "", {"d/m.csv": "6"}, {"d": "1"}
    ),
    "a module that students write": Habit(
        DOUBLE, MODULE, 1, "", OWN, {"mathutils.py": WRONG}, {"mathutils.py": RIGHT}
    ),
    "the same, wrong": Habit(
        DOUBLE, MODULE, 0, "", OWN, {"mathutils.py": RIGHT}, {"mathutils.py": WRONG}
    ),
    "the same, not handed in": Habit(
        DOUBLE, MODULE, 0, "", OWN, {"mathutils.py": RIGHT}
    ),
    "a package in place of the course's module": Habit(
        "import helper\nx = helper.key()",
        "assert helper.key() == 42",
        1,
        "not used: helper/__init__.py",
        beside={"helper.py": KEY},
        mine={"helper/__init__.py": KEY.replace("42", "0")},
    ),
    "a folder in the folder": Habit(
        DATA, SIX, 1, "as ps1/hw.ipynb", mine={"ps1/m.csv": "6"}, name="ps1/hw.ipynb"
    ),
    "two folders": Habit(
        "x = 6",
        SIX,
        None,
        "below: new/b.ipynb, old/a.ipynb",
        mine={"old/a.ipynb": "{}"},
        name="new/b.ipynb",
    ),
    "a longer limit than the cell": Habit(WAIT, SIX, 1),
    "the course's time": Habit(WAIT, SIX, 0, "", "c.Execute.timeout = 1"),
    "the same by nbconvert's name": Habit(
        WAIT, SIX, 0, "", "c.ExecutePreprocessor.timeout = 1"
    ),
    "no limit": Habit(WAIT, SIX, 1, "", "c.Execute.timeout = -1"),
    "no network": Habit(ASK, "assert x", 0, "there is no network while grading"),
}


@pytest.mark.parametrize("habit", HABITS)
def test_habits_of_other_courses(course, habit):
    case = HABITS[habit]
    folder = course.write(homework(case.answer, case.test), "ps1", "hw")
    mine = course.root / "submitted" / "ada" / "ps1"
    files = {mine / case.name: writes(homework(case.answer, case.test))}
    for place, texts in ((folder, case.beside), (mine, case.mine)):
        files |= {place / name: text for name, text in texts.items()}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    course.configure(case.config)
    (graded,) = course.grade()
    assert graded["score"] == case.points, graded
    if case.points is None:
        assert case.said in graded["reason"]
    else:
        notebook = (course.root / "autograded/ada/ps1/hw.ipynb").read_text()
        assert case.said in notebook + str(graded["questions"])


def test_changed_data_is_judged_again(course):
    course.write(homework(DATA, SIX), "ps1", "hw")
    course.hand_in("ada", "ps1", "hw", writes(homework(DATA, SIX)))
    data = course.root / "submitted/ada/ps1/m.csv"
    for text, points in (("6", 1), ("7", 0)):
        data.write_text(text)
        assert course.grade()[0]["score"] == points
    data.unlink()
    secret = course.root / "secret.csv"
    secret.write_text("6")
    data.symlink_to(secret)  # no link is followed
    assert course.grade()[0]["score"] == 0


def test_a_module_of_the_given_cells_is_the_judge_s_own(course, capsys):
    course.config = ""
    given = new_code_cell("import pandas as pd\n%matplotlib inline")
    test = "assert pd.Timedelta(x).days == 2"
    sheet = homework("x = '2d'", test)
    sheet.cells.insert(0, given)
    course.configure()
    course.write(sheet, "ps1", "hw")
    assert main(["release"]) == 0, capsys.readouterr().err
    sheet.cells[1].source = "class pd:\n    class Timedelta:\n        days = 2\n"
    sheet.cells[1].source += "        def __init__(self, x): pass\nx = 1"
    course.hand_in("ada", "ps1", "hw", writes(sheet))
    assert course.grade()[0]["score"] == 0


def test_files_too_large_to_release_are_named(course, release):
    course.configure("c.CourseDirectory.max_file_size = 1_000")
    code, said, _ = release({"big.bin": bytes(2_000_000)})
    assert code == 2
    assert "larger than 1 MB: big.bin (2 MB)" in said
    assert "set c.CourseDirectory.max_file_size, in kB" in said
    course.configure()
    assert release()[0] == 0


def test_forty_megabytes_beside_the_notebook_are_there(course):
    """More than one file of a student's may have."""
    sheet = homework(
        "import os\nx = os.path.getsize('big.bin')", "assert x == 40 << 20"
    )
    folder = course.write(sheet, "ps1", "hw")
    (folder / "big.bin").write_bytes(bytes(40 << 20))
    course.hand_in("ada", "ps1", "hw", writes(sheet))
    assert course.grade()[0]["score"] == 1


STRUCTURE = '"{nbgrader_step}/{assignment_id}/{student_id}"'
SETTINGS = {
    f"c.CourseDirectory.directory_structure = {STRUCTURE}": 2,
    'c.CourseDirectory.submitted_directory = "in"': 2,
    'c.CourseDirectory.root = "/srv"': 2,
    "c.Execute.timeout = 'long'": 2,
    'c.CourseDirectory.ignore = "private"': 2,
    "c.LimitOutput.max_lines = 5": 0,
    'c.Autograde.post_convert_hook = "x.y"': 0,
    'c.CourseDirectory.notebook_id = "hw"': 0,
    "c.Exchange.path_includes_course = True": None,  # not ours to mention
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_that_are_not_honored_are_named(course, capsys, setting):
    course.configure(setting)
    course.hand_in("ada", "ps1", "hw", writes(homework()))
    code = main(["grade", "--workers", "1", *UNPROTECTED])
    assert code == (SETTINGS[setting] or 0)
    named = setting.partition(" ")[0] in capsys.readouterr().err
    assert named == (SETTINGS[setting] is not None)


def test_late_work_of_two_notebooks_loses_its_points_once(course):
    """As the guide says; nbgrader asks the plugin about each notebook."""
    (course.root / "daily.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\n"
        "class Daily(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, late):\n"
        "        return 0.25 * (late // 86400)\n"
    )
    course.configure(
        'c.AssignLatePenalties.plugin_class = "daily.Daily"\n'
        'c.Autograder.due = {"ps1": "2026-03-09 12:00"}'
    )
    other = homework()
    for each, name in zip(other.cells, "bu", strict=True):
        each.metadata.nbgrader.grade_id = name
    course.write(other, "ps1", "more")
    for sheet, name in ((homework(), "hw"), (other, "more")):
        course.hand_in("ada", "ps1", name, writes(sheet))
    stamp = course.root / "submitted/ada/ps1/timestamp.txt"
    stamp.write_text("2026-03-10 13:00:00 UTC")
    assert course.grade()[0]["score"] == 1.75
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        late = book.find_submission("ps1", "ada")
        assert (late.score, late.late_submission_penalty) == (2, 0.25)


def test_whom_the_course_excludes_is_not_graded(course):
    for who in ("ada", "bob"):
        course.hand_in(who, "ps1", "hw", writes(homework()))
    course.configure('c.CourseDirectory.student_id_exclude = "bob,cy"')
    assert [one["student"] for one in course.grade()] == ["ada"]


def test_every_option_of_nbgrader_has_an_answer():
    """Of the installed version; and no answer is about an option that is none."""
    options = set()
    for found in pkgutil.walk_packages(nbgrader.__path__, "nbgrader."):
        if not re.search(r"\.(tests|docs|alembic|__main__)\b", found.name):
            for each in vars(importlib.import_module(found.name)).values():
                if isinstance(each, type) and issubclass(each, Configurable):
                    own = each.class_own_traits(config=True)
                    if each.__module__.startswith("nbgrader"):
                        options |= {(each.__name__, name) for name in own}
    assert len(options) > 100
    answered = set()
    refused = {"CourseDirectory": settings.REFUSED}
    for table in (HONORED, TOOLS, settings.UNUSED, refused):
        for section, names in table.items():
            listed = names.split() if isinstance(names, str) else names
            known = {name for one, name in options if one == section}
            assert set(listed) <= known | {"*"}, section
            heirs = settings.CONVERTERS if section == "BaseConverter" else ()
            for heir in (section, *heirs):
                every = {name for one, name in options if one == heir}
                chosen = every if "*" in listed else listed
                answered |= {(heir, name) for name in chosen}
    left = options - answered
    assert not [one for one in sorted(left) if one[1] != "enabled"]
    assert CourseDirectory().ignore == settings.IGNORED
