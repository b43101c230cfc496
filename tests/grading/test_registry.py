"""What is wrong with a course is a sentence with the file, and nothing is written."""

import os
import re
import shutil
import sys
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from autograder import registry
from autograder.cli import main

OURS = re.compile(r"(numerics|autograder\.checks\.(means|roots))(\.|$)")
VISIBLE, HIDDEN = "visible/__init__.py", "hidden/__init__.py"
ADDED = [  # the file, a line more in it, what is said, and by which commands
    ("course.toml", "color = 1", "course.toml has the unknown key color; it can"),
    ("course.toml", "needs = '99.5'", "needs nbjudge 99.5 or newer, but"),
    ("course.toml", "published = 'm'", "published has to be a list of texts in quotes"),
    ("course.toml", "published = ['m']", "'m', but the modules of library are none"),
    ("course.toml", "needs = '1.x'", "needs has to be like \"1.2\", not '1.x'"),
    ("course.toml", "least = ['3', 2]", "has to be a list of two whole numbers"),
    ("course.toml", "solutions = 's'", "numerics/s, which is no folder"),
    ("course.toml", "book = {unit = 3}", "book.unit has to be a text in quotes, not 3"),
    ("course.toml", "wheel = {size = 3}", "unknown key wheel.size; it can have"),
    ("course.toml", "library = ['m.py']", "lists the module m.py, but"),
    ("course.toml", "package = 'os'", "'os' is no name for the course's package"),
    (VISIBLE, "import nosuch", "'nosuch' ({}/visible/__init__.py, line 38)"),
    (VISIBLE, "1 / 0", "ZeroDivisionError: division by zero ({}/visible/__in"),
    (VISIBLE, "x = (", "'(' was never closed ({}/visible/__init__.py, line 38)"),
    (VISIBLE, "from ..hidden import y", "Move what it needs into visible/"),
    (HIDDEN, "import nosuch", "'nosuch' ({}/hidden/__init__.py, line 34)"),
]
WRITTEN = [  # what stands in the checks, what replaces it, and what is said then
    (VISIBLE, '"row_means", 4', '"row_means", "four"', "points of the question row"),
    (VISIBLE, '"row_means", 4', '"row_means", -1', "is -1; it has to be a number"),
    (VISIBLE, '"row_means", 4', '"row means", 4', "question is 'row means'; it has"),
    (VISIBLE, ', 4, ""', ", 4, 7", "section of the question row_means is 7; it has"),
    (VISIBLE, ', 4, ""', ', 4, uses="x"', "uses of the question row_means is 'x'; it"),
    (VISIBLE, ', 4, ""', ', 4, uses=["x"]', "has to be a tuple of questions above it"),
    (VISIBLE, "__name__", '"numerics"', "is 'numerics'; it has to be `__name__`"),
    (VISIBLE, 'page=""', "page=3", "Assignment's page is 3; it has to be a text"),
    (HIDDEN, "core=0.5", "core='half'", "row_means is 'half'; it has to be a number"),
    (HIDDEN, "core=0.5", "core=0.25", "the shares of row_means add up to 0.75; make"),
    (HIDDEN, "means.check(0.25)", "means.check('1')", "@row_means.check(0.3) above"),
    (HIDDEN, "visible.row_means", "'row_means'", "argument of Hidden is 'row_means'"),
    (HIDDEN, "row_means = Hidden", "other = Hidden", "name 'row_means' is not defined"),
]
LOST = [
    (VISIBLE, "There is no {}/visible/__init__.py; the checks need both"),
    (HIDDEN, "There is no {}/hidden/__init__.py; the checks need both"),
    ("hidden/catalog", "{}/hidden/ has no catalog."),
    ("means.ipynb", "01-means has 0 notebooks. Put the solution there"),
]


@pytest.fixture
def pool():
    """A grader for each course: the one that stays warm has another's checks."""


def forget():
    """Let the next command import the checks, as in a process of its own."""
    for name in [name for name in sys.modules if OURS.match(name)]:
        del sys.modules[name]


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A course made by `init`; its first assignment."""
    monkeypatch.chdir(tmp_path)
    assert main(["init", "numerics"]) == 0
    monkeypatch.chdir("numerics")
    forget()  # `init` has imported them
    yield Path.cwd() / "solutions/01-means"
    registry.work_on(None)
    forget()


def refused(capsys, *verbs):
    """What each command says that ends with code 2."""
    for verb in verbs:
        capsys.readouterr()
        assert main([verb]) == 2
        yield capsys.readouterr().err


def test_the_folder_comes_before_the_students_wheel(made, monkeypatch, tmp_path):
    """On a hub where everybody shares an environment, graders have both."""
    assert main(["pack"]) == 0
    (wheel,) = Path("dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    forget()
    registry.work_on(Path.cwd())
    assert registry.checks_of("means").__file__ == str(made / VISIBLE)


@pytest.mark.parametrize(("file", "line", "says"), ADDED)
def test_a_wrong_line_is_named_with_its_file(
    made, capsys, monkeypatch, file, line, says
):
    path = made.parents[1] / file if "toml" in file else made / file
    key = line.partition(" ")[0] if "toml" in file else "never"
    kept = [ln for ln in path.read_text().splitlines() if not ln.startswith(key)]
    path.write_text("\n".join([*kept, line, ""]))
    if "toml" in file:  # no process has started that would fail by itself
        monkeypatch.setattr("autograder.release.students_version.Grader", None)
    verbs = ["release", *["pack"] * ("toml" in file or "hidden" in line)]
    for said in refused(capsys, *verbs):
        assert says.format(made) in said
        assert str(path) in said
    assert not Path("exercises").exists() and not list(Path().glob("dist/*"))


@pytest.mark.parametrize(("file", "old", "new", "says"), WRITTEN)
def test_a_wrong_argument_is_named(made, capsys, file, old, new, says):
    text = (made / file).read_text()
    assert old in text
    (made / file).write_text(text.replace(old, new, 1))
    os.utime(made / file, (2e9, 2e9))  # Python's cache takes a second for one time
    (said,) = refused(capsys, "release")
    assert says in said and ("add up" in says or f"{made / file}, line " in said)


@pytest.mark.parametrize(("part", "says"), LOST)
def test_what_is_missing_is_named(made, capsys, part, says):
    path = made / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    (said,) = refused(capsys, "release")
    assert says.format(made) in said


def test_a_missing_folder_of_pages_is_named(made, capsys):
    with Path("course.toml").open("a") as file:
        file.write("[book]\ntexts = 'pages'\n")
    Path("_config.yml").write_text('html: {baseurl: "https://course.example"}')
    (said,) = refused(capsys, "release")
    assert "numerics/pages, which is no folder" in said


def test_one_folder_without_a_notebook_stops_no_other(made, capsys):
    assert main(["new", "02-roots"]) == 0
    (made / "means.ipynb").unlink()
    assert main(["release"]) == 0
    said = capsys.readouterr()
    assert "not released: solutions/01-means has 0 notebooks." in said.err
    assert "02-roots: released" in said.out


def test_two_notebooks_of_one_name_are_refused(made, capsys):
    shutil.copytree(made, made.with_name("03-means"))
    for said in refused(capsys, "release", "pack"):
        assert f"{made} and {made.with_name('03-means')} both" in said
        assert "have checks called means; rename one of the notebooks" in said


def test_two_courses_that_register_one_name_are_both_named(made, capsys, monkeypatch):
    other = made.parents[2] / "other"
    shutil.copytree(made.parents[1], other)
    text = (other / "course.toml").read_text().replace('"numerics"', '"other"')
    (other / "course.toml").write_text(text)
    point = EntryPoint("other", "other", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    monkeypatch.setattr(registry, "root_of", lambda point: other)
    (said,) = refused(capsys, "release")
    assert f"numerics ({made.parents[1]}) and other ({other}). Uninstall" in said


def test_init_asks_for_an_empty_folder_outside_of_any_course(made, capsys):
    before = sorted(Path().rglob("*"))
    assert main(["init"]) == 2 and main(["init", "second"]) == 2
    said = capsys.readouterr().err
    assert f"{Path.cwd()} is not empty; name a new folder." in said
    assert f"second lies in the course {Path.cwd()}; make a course" in said
    assert main(["init", "../9"]) == 2
    assert "Choose another one with --name." in capsys.readouterr().err
    assert sorted(Path().rglob("*")) == before
    (made.parents[2] / "empty").mkdir()
    assert main(["init", "../empty"]) == 0 and Path("../empty/course.toml").is_file()
