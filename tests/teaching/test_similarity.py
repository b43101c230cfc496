"""Copies are found though names differ; the course's own text makes nobody alike."""

from __future__ import annotations

import json

import pytest

from autograder.cli import main
from autograder.release.sample_class import solved


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


def softmax_alone(untouched, body):
    """A notebook with one answer."""
    return solved(untouched, {"softmax": f"def softmax(x, axis=-1):\n    {body}\n"})


def test_what_many_wrote_makes_no_pair_and_what_two_wrote_does(
    hand_in, untouched, capsys
):
    notebook = json.loads(untouched)
    for number in range(4):
        hand_in(f"usual{number}", softmax_alone(notebook, "return np.exp(x) / 10"))
    for number, name in enumerate(("ada", "bob")):
        body = f"return {'xy'[number] * 2} - np.tanh(x) ** 3"
        hand_in(name, softmax_alone(notebook, body))
    for number in range(6):
        own = " + ".join(["x"] * (number + 2))
        hand_in(f"own{number}", softmax_alone(notebook, f"return ({own})[{number}]"))
    assert main(["similarity", "01-attention"]) == 0
    pair, count, _ = capsys.readouterr().out.splitlines()
    assert pair.split()[1:] == ["ada", "bob"]
    assert count == "Alike pairs: 1. No points were changed."
