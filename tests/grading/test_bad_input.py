"""A wrong command or folder gets one clear sentence, and nothing is half-written."""

import json
import os
from pathlib import Path

import pytest
from classroom import UNPROTECTED

from autograder import wall
from autograder.cli import main
from autograder.wall.sandbox import readable_paths


def sentence(capsys) -> str:
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


def test_a_folder_without_a_course(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["grade"]) == 2
    assert "is not in a course folder" in sentence(capsys)


def test_a_wrong_assignment_name_is_told_the_nearest(classroom, capsys):
    assert main(["release", "01-atention"]) == 2
    assert "did you mean 01-attention?" in sentence(capsys)
    assert not (classroom.root / "exercises").exists()


def test_an_empty_submitted_folder(classroom, capsys):
    (classroom.root / "submitted").mkdir()
    assert main(["grade", "01-attention"]) == 2
    assert "There is nothing to grade" in sentence(capsys)
    assert not (classroom.root / "gradebook.db").exists()


def test_nobody_handed_in_this_assignment(classroom, capsys):
    (classroom.root / "submitted" / "ada").mkdir(parents=True)
    assert main(["grade", "01-attention"]) == 2
    assert "submitted/ has no 01-attention" in sentence(capsys)


def test_an_unknown_student_is_told_the_nearest(classroom, capsys, right):
    classroom.hand_in("ada", right)
    assert main(["grade", "--student", "adda"]) == 2
    assert "Did you mean ada?" in sentence(capsys)


def test_a_solution_that_is_no_notebook(classroom, capsys):
    classroom.solution.write_text("{")
    assert main(["release"]) == 2
    assert "cannot be read as a notebook" in sentence(capsys)


@pytest.mark.parametrize("verb", ["feedback", "report", "export"])
def test_nothing_graded_yet(classroom, capsys, verb):
    assert main([verb]) == 2
    assert "Nothing is graded yet" in sentence(capsys)
    assert not [*classroom.root.glob("*.csv")]


def test_without_namespaces_grading_refuses(classroom, capsys, monkeypatch, right):
    monkeypatch.setattr(wall, "available", lambda: "User namespaces are off.")
    classroom.hand_in("ada", right)
    assert main(["grade"]) == 2
    told = sentence(capsys)
    assert "User namespaces are off." in told
    assert "--no-sandbox" in told
    assert not (classroom.root / "gradebook.db").exists()


def test_no_sandbox_says_what_is_not_protected(classroom, capsys, right):
    classroom.hand_in("ada", right)
    target = classroom.root / "out.json"
    assert main(["grade", "--no-sandbox", "--json", str(target)]) == 0
    assert "runs with your rights" in capsys.readouterr().err
    assert json.loads(target.read_text())["submissions"][0]["score"] == 20.0


@pytest.mark.parametrize("which", ["student", "assignment"])
def test_a_folder_that_cannot_be_read_holds_that_student_alone(
    classroom, capsys, right, monkeypatch, which
):
    classroom.hand_in("ada", right)
    closed = classroom.hand_in("bela", right)
    path = str(closed if which == "assignment" else closed.parent)
    scan = os.scandir

    def scandir(folder="."):  # also for root, who can read everything
        if os.fspath(folder).startswith(path):
            raise PermissionError(13, "Permission denied", path)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    found = classroom.grade()
    assert found["ada"]["status"] == "graded" and found["ada"]["score"] > 0
    assert found["bela"]["status"] == "held"
    assert "cannot be read: Permission denied" in found["bela"]["reason"]


def test_a_solution_folder_that_cannot_be_read_stops_no_other(
    classroom, capsys, right, monkeypatch
):
    classroom.hand_in("ada", right).rename(classroom.root / "submitted/ada/02-closed")
    classroom.hand_in("ada", right)
    closed = classroom.root / "solutions" / "02-closed"
    closed.mkdir()
    (closed / "closed.ipynb").write_text("{}")
    listdir, glob = os.listdir, Path.glob

    def refuse(folder="."):  # also for root, who can read everything
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return listdir(folder)

    def find(folder, pattern, **options):
        return iter(()) if folder == closed else glob(folder, pattern, **options)

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(Path, "glob", find)
    assert main(["grade", *UNPROTECTED]) == 1
    printed = capsys.readouterr()
    why = "solutions/02-closed cannot be read: Permission denied."
    assert f"not graded: 02-closed: {why}" in printed.err.splitlines()
    assert "1 submission: 1 graded, 0 held." in printed.out
    assert main(["grade", "02-closed"]) == 2
    assert sentence(capsys).strip().endswith(why)


def test_a_course_among_the_libraries_that_students_see_is_not_graded(
    classroom, capsys, monkeypatch, right
):
    if wall.available():
        pytest.skip("there is no wall here that would show it")
    monkeypatch.setattr(readable_paths, "trees", lambda: [str(classroom.root.parent)])
    classroom.hand_in("ada", right)
    assert main(["grade"]) == 2
    assert "The course is in" in sentence(capsys)
    assert not (classroom.root / "gradebook.db").exists()
