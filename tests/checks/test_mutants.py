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
    every = mutants.mutants

    def some(code):
        numbered = enumerate(every(code), seed)
        return [m for n, m in numbered if n % share == 0 or m[0] == change]

    monkeypatch.setattr(mutants, "mutants", some)
    gone = {("softmax", "one line -> another"): "it was equivalent once"}
    monkeypatch.setattr(Catalog, "equivalents", known | gone)
    killed, equivalent, unknown = mutants.run(assignment)
    assert killed > 20 / share
    assert equivalent == list(known) and len(known) == 1
    assert unknown == ["softmax: one line -> another"]

    monkeypatch.setattr(Catalog, "equivalents", {})
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
