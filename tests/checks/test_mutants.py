"""A sample of the mutants; `make mutants` runs them all."""

import pytest

from autograder.checks import attention
from autograder.checks.catalog import Catalog
from autograder.course import Course
from autograder.tools import mutants


def test_a_mutant_differs_in_one_place():
    names = [name for name, _ in mutants.mutants("y = x.T @ x\nz = y + 1")]
    assert "z = y + 1 -> z = y - 1" in names
    assert "y = x.T @ x -> y = x @ x" in names


def test_the_checks_notice_a_sample_of_mutants():
    (assignment,) = Course.find().chosen(["01-attention"])
    killed, _, unknown = mutants.run(assignment, every=4)
    assert killed > 5
    assert unknown == []


def test_a_survivor_that_nobody_explained_is_told(monkeypatch):
    monkeypatch.setattr(Catalog, "equivalents", {})
    (assignment,) = Course.find().chosen(["01-attention"])
    _, _, unknown = mutants.run(assignment)
    assert len(unknown) == 1


def test_an_explanation_of_no_survivor_is_told(monkeypatch):
    gone = {("softmax", "one line -> another"): "it was equivalent once"}
    known = attention.assignment.catalog.equivalents
    monkeypatch.setattr(Catalog, "equivalents", known | gone)
    (assignment,) = Course.find().chosen(["01-attention"])
    _, equivalent, unknown = mutants.run(assignment)
    assert len(equivalent) == 1
    assert unknown == ["softmax: one line -> another"]


@pytest.mark.parametrize("loop", ["while True:\n        pass"])
def test_an_endless_loop_does_not_survive(monkeypatch, loop):
    monkeypatch.setattr(mutants, "SECONDS", 0.2)
    code = f"def softmax(x, axis=-1):\n    {loop}\n"
    assert not mutants.survives(attention, "softmax", {}, code)
