"""A sample of the mutants; `autograder try` runs them all."""

import pytest

from autograder.checks import attention
from autograder.checks.catalog import Catalog
from autograder.course import Course
from autograder.tools import mutants


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.long)])
def test_every_mutant_is_noticed_or_explained_and_what_is_not_is_told(
    monkeypatch, seed, share
):
    """One run for all: with an explanation too many, and then with one too few.

    The seed draws a third of them; those that are explained are among them.
    """
    (assignment,) = Course.find().chosen(["01-attention"])
    known = attention.assignment.catalog.equivalents
    ((question, change),) = known
    every = mutants.changes

    def explained(code):
        return [c for c in every(code) if f"{c.old} -> {c.new}" == change]

    def some(code):
        return [*every(code)[seed % share :: share], *explained(code)]

    monkeypatch.setattr(mutants, "changes", some)
    gone = {("softmax", "one line -> another"): "it was equivalent once"}
    monkeypatch.setattr(Catalog, "equivalents", known | gone)
    killed, equivalent, unknown = mutants.run(assignment)
    assert killed > 20 / share
    assert set(equivalent) == set(known)
    assert unknown == ["softmax: one line -> another"]

    monkeypatch.setattr(Catalog, "equivalents", {})
    monkeypatch.setattr(mutants, "changes", explained)
    _, _, unknown = mutants.run(assignment)
    assert unknown == [f"{question}: {change}"]


@pytest.mark.parametrize("loop", ["while True:\n        pass"])
def test_an_endless_loop_does_not_survive(monkeypatch, loop):
    monkeypatch.setattr(mutants, "SECONDS", 0.2)
    code = f"def softmax(x, axis=-1):\n    {loop}\n"
    assert not mutants.survives(attention, "softmax", {}, code)
