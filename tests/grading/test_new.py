"""A new assignment works at once, and `release` says in sentences what breaks it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from autograder.cli import main
from autograder.release.solutions import solution_notebook
from autograder.release.validation import broken_rules


def test_all_entries_of_a_new_assignment_pass(repository, tmp_path):
    shutil.copytree(repository.root / "autograder", tmp_path / "autograder")
    shutil.copy(repository.root / "nbgrader_config.py", tmp_path)
    (tmp_path / "solutions").mkdir()
    env = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    for verb in ("new", "try"):
        command = [sys.executable, "-m", "autograder", verb, "13-row-means"]
        subprocess.run(command, cwd=tmp_path, env=env, check=True)


@pytest.mark.parametrize("name", ["12", "12-Row", "row-means", "../12-x", "12-x_y"])
def test_a_name_that_is_none_is_refused(classroom, name, capsys):
    assert main(["new", name]) == 2
    assert "is not a valid name for an assignment" in capsys.readouterr().err


def test_nothing_that_is_there_is_overwritten(classroom, capsys):
    before = classroom.solution.read_text()
    assert main(["new", "01-attention"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert classroom.solution.read_text() == before


# ------------------------------------------------------------------- the rules


@pytest.fixture
def solution(attention):
    """The solution notebook, and its cells by name."""
    notebook = solution_notebook(attention)
    return notebook, {c.metadata.nbgrader.grade_id: c for c in notebook.cells}


def test_the_course_s_own_assignments_keep_the_rules(repository):
    for assignment in repository.assignments():
        assert not [*broken_rules(assignment, solution_notebook(assignment))]


def change_points(notebook, cells):
    cells["test_softmax"].metadata.nbgrader.points = 5


def add_a_plain_cell(notebook, cells):
    notebook.cells.insert(2, nbformat.v4.new_code_cell("x = 1"))


def rename_a_test(notebook, cells):
    cells["test_softmax"].metadata.nbgrader.grade_id = "softmax_test"


def lose_the_hidden_half(notebook, cells):
    cell = cells["test_softmax"]
    cell.source = cell.source.replace("check.hidden.softmax(softmax)", "")


def start_with_an_import(notebook, cells):
    cells["softmax"].source = "import math\n" + cells["softmax"].source


def add_an_answer(notebook, cells):
    cell = json.loads(json.dumps(cells["softmax"]).replace("softmax", "logits"))
    notebook.cells.append(nbformat.from_dict(cell))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change_points, "test_softmax says 5 points, but its question says 4."),
        (add_a_plain_cell, "Cell 3 (x = 1) has no grade_id from nbgrader"),
        (rename_a_test, "The test cell softmax_test belongs to no answer"),
        (rename_a_test, "The answer softmax has no test cell"),
        (lose_the_hidden_half, "has no line check.hidden.softmax(softmax)."),
        (start_with_an_import, "softmax does not start with its def or class."),
        (add_an_answer, "The answer logits has no test cell"),
    ],
)
def test_a_broken_rule_is_a_sentence(attention, solution, change, says):
    notebook, cells = solution
    change(notebook, cells)
    assert [line for line in broken_rules(attention, notebook) if says in line]


def test_release_writes_nothing_when_a_rule_is_broken(classroom, capsys):
    text = classroom.solution.read_text()
    assert text.count('"points": 4') > 1
    classroom.solution.write_text(text.replace('"points": 4', '"points": 5'))
    assert main(["release"]) == 2
    error = capsys.readouterr().err
    assert "test_softmax says 5 points" in error
    assert not Path("exercises").exists()


def test_a_thin_catalog_is_a_broken_rule(attention, solution, monkeypatch):
    monkeypatch.setattr("autograder.checks.question.Question.catalogued", (99, 3))
    says = [*broken_rules(attention, solution[0])]
    assert len(says) == 4 and "it needs at least 99 and 3." in says[0]
