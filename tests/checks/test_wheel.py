"""What students install holds the visible checks, and nothing hidden."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

from autograder.course import Course
from autograder.release.sample_class import reference_answers, solved
from autograder.tools.judging import catalog_of, packages

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["alice", "attention", "minilm", "payoff", "plots", "smollm2"]  # of the book


def test_the_courses_wheel_holds_what_students_need_and_nothing_else(wheel):
    expected = ["course.toml", "__init__.py"]
    for path in ROOT.glob("exercises/*/*.ipynb"):
        expected.append(path.relative_to(ROOT).as_posix())
        (notebook,) = (ROOT / "solutions" / path.parent.name).glob("*.ipynb")
        home = notebook.parent / "visible"
        expected += [
            f"{notebook.stem}/{one.relative_to(notebook.parent).as_posix()}"
            for one in (*home.glob("*.py"), home / "known.json")
        ]
    files = [name for name in wheel.namelist() if ".dist-info/" not in name]
    own = [f"paying_attention/{name}" for name in expected]
    assert sorted(files) == sorted(own + [f"{name}.py" for name in MODULES])


def test_the_engine_has_no_word_of_the_course(wheels):
    engine = zipfile.ZipFile(wheels[0])
    word = re.compile(
        rb"attention|smollm|minilm|chapter|pytorch|(?<!Node)transformer", re.IGNORECASE
    )
    found = [name for name in engine.namelist() if word.search(engine.read(name))]
    assert found == []


def test_no_word_of_a_hidden_check_is_in_the_wheel(wheel):
    text = "".join(wheel.read(name).decode() for name in wheel.namelist())
    for secret in ("Mistake(", "[wrong.", "BEGIN SOLUTION", "Hidden(", "def oracle_"):
        assert secret not in text


def test_no_code_of_a_catalog_is_in_the_wheel(wheel):
    """What a mistake or another right way returns is not to be read there."""
    names = [n for n in wheel.namelist() if "/visible/" in n]
    text = "".join(wheel.read(name).decode() for name in names)
    found = []
    for package in packages():
        catalog = catalog_of(package)
        ways = [style.differs for style in catalog.styles if style.differs]
        found += [sentence for sentence in ways if sentence in text]
        wrong = [*catalog.misconceptions, *catalog.variants]
        for entry in [*wrong, *catalog.styles]:
            lines = [line.strip() for line in entry.code.splitlines()]
            body = [line for line in lines if "return" in line and len(line) > 25]
            found += [(entry.id, line) for line in body if line in text]
    assert not found


@pytest.fixture
def beside_others(wheels, tmp_path):
    """The wheels after packages of PyPI with the names `attention` and `autograder`."""
    for path in wheels:
        zipfile.ZipFile(path).extractall(tmp_path / "site")
    theirs = tmp_path / "site/attention/__init__.py"
    theirs.parent.mkdir()
    theirs.write_text("class Attention:\n    pass\n")
    for name in ("__init__", "__main__"):  # they replace ours
        (tmp_path / f"site/autograder/{name}.py").write_text("main = None\n")

    def python(code, *arguments):
        command = [sys.executable, "-c", code, *map(str, arguments)]
        env = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
        done = subprocess.run(
            command, cwd=tmp_path, env=env, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    return python


def test_packages_with_our_names_change_no_verdict(beside_others, tmp_path):
    course = Course(ROOT)
    (assignment,) = course.chosen(["01-attention"])
    released = ROOT / "exercises/01-attention/attention.ipynb"
    answers = reference_answers(assignment)
    path = tmp_path / "attention.ipynb"
    path.write_text(solved(json.loads(released.read_text("utf-8")), answers))
    check = "import sys; from autograder.cli import main; main(['check', sys.argv[1]])"
    said = beside_others(check, path)
    assert "4 of 4 questions" in said.splitlines()[-1], said


def test_cells_import_the_books_modules_whatever_else_has_their_names(beside_others):
    pytest.importorskip("torch")
    said = beside_others(
        "from autograder.notebook.running import Job, work\n"
        "import_it = 'from attention import softmax as s; assert s.__doc__'\n"
        "work(Job([(1, import_it, None)], 'torch', ('attention',)), print)"
    )
    assert "'problem': None" in said


def test_the_wheel_says_what_it_is_and_what_more_it_can_use(wheel):
    (path,) = (n for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    about = message_from_bytes(wheel.read(path))
    assert about.get_all("Requires-Dist") == [
        "numpy",
        "nbjudge>=1.0",
        "matplotlib; extra == 'plots'",
        "seaborn; extra == 'plots'",
        "torch; extra == 'torch'",
    ]
    assert "autograder check" in about.get_payload()


def test_the_engines_wheel_has_the_command_under_two_names(wheels):
    engine = zipfile.ZipFile(wheels[0])
    (path,) = (n for n in engine.namelist() if n.endswith("entry_points.txt"))
    for name in ("autograder", "nbjudge"):
        assert f"{name} = autograder.cli:main\n" in engine.read(path).decode()


def test_every_file_that_names_the_version_names_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    version, day = citation["version"], citation["date-released"]
    assert version == project["version"]
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    released = [line for line in changes if line.startswith("## ")]
    released.remove("## Unreleased")
    assert released[0] == f"## {version}, {day}"


def test_the_addresses_of_the_package_are_those_of_the_site():
    """None before somebody has said where the course is published."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    site = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    known = {"Source": site["repository"]["url"], "Book": site["html"]["baseurl"]}
    named = {name: address for name, address in known.items() if address}
    assert project.get("urls", {}) == named
