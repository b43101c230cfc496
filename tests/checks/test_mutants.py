"""A sample of the mutants; `make mutants` runs them all."""

import importlib

import mutants
import pytest

from autograder.checks import attention
from autograder.course import Course


def test_a_mutant_differs_in_one_place():
    names = [name for name, _ in mutants.mutants("y = x.T @ x\nz = y + 1")]
    assert "z = y + 1 -> z = y - 1" in names
    assert "y = x.T @ x -> y = x @ x" in names


def test_the_checks_notice_a_sample_of_mutants():
    (assignment,) = Course.find().chosen(["01-attention"])
    total, _, unknown = mutants.run(assignment, every=4)
    assert total > 5
    assert unknown == []


def test_a_survivor_that_nobody_explained_is_told(monkeypatch):
    monkeypatch.setattr(mutants, "EQUIVALENT", {})
    (assignment,) = Course.find().chosen(["01-attention"])
    _, _, unknown = mutants.run(assignment)
    assert len(unknown) == 1


@pytest.mark.parametrize("loop", ["while True:\n        pass"])
def test_an_endless_loop_does_not_survive(monkeypatch, loop):
    monkeypatch.setattr(mutants, "SECONDS", 0.2)
    package = importlib.import_module(attention.__name__)
    code = f"def softmax(x, axis=-1):\n    {loop}\n"
    assert not mutants.survives(package, "softmax", {}, code)
