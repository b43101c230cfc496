"""A sample of the mutants; `autograder try` runs them all."""

import pytest

from autograder.checks import attention
from autograder.checks.catalog import Catalog
from autograder.course import Course
from autograder.tools import mutants


def test_a_mutant_differs_in_one_place():
    names = [name for name, _ in mutants.mutants("y = x.T @ x\nz = y + 1")]
    assert "z = y + 1 -> z = y - 1" in names
    assert "y = x.T @ x -> y = x @ x" in names


def test_every_mutant_is_noticed_or_explained_and_what_is_not_is_told(
    monkeypatch,
):
    """One run for all: with an explanation too many, and then with one too few."""
    (assignment,) = Course.find().chosen(["01-attention"])
    known = attention.assignment.catalog.equivalents
    gone = {("softmax", "one line -> another"): "it was equivalent once"}
    monkeypatch.setattr(Catalog, "equivalents", known | gone)
    killed, equivalent, unknown = mutants.run(assignment)
    assert killed > 20
    assert equivalent == list(known) and len(known) == 1
    assert unknown == ["softmax: one line -> another"]

    ((question, change),) = known
    monkeypatch.setattr(Catalog, "equivalents", {})
    every = mutants.mutants
    monkeypatch.setattr(
        mutants, "mutants", lambda code: [m for m in every(code) if m[0] == change]
    )
    _, _, unknown = mutants.run(assignment)
    assert unknown == [f"{question}: {change}"]


@pytest.mark.parametrize("loop", ["while True:\n        pass"])
def test_an_endless_loop_does_not_survive(monkeypatch, loop):
    monkeypatch.setattr(mutants, "SECONDS", 0.2)
    code = f"def softmax(x, axis=-1):\n    {loop}\n"
    assert not mutants.survives(attention, "softmax", {}, code)
