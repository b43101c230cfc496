"""Copies are found though names differ; the course's own text makes nobody alike."""

from __future__ import annotations

import pytest

from autograder.cli import main


@pytest.fixture
def hand_in(course):
    def write(student, text):
        folder = course.submitted / student / "01-attention"
        folder.mkdir(parents=True)
        (folder / "attention.ipynb").write_text(text)

    return write


def test_a_copy_is_found_and_untouched_notebooks_are_not(
    hand_in, right, untouched, course, capsys
):
    hand_in("ada", right)
    hand_in("bob", right.replace("weights", "copied"))
    hand_in("eve", untouched)
    hand_in("zoe", untouched)
    hand_in("tom", "<html>")
    assert main(["similarity", "01-attention"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[1:] == ["ada", "bob"]
    assert lines[1] == "Alike pairs: 1. No points were changed."
    assert not (course.root / "gradebook.db").exists()
