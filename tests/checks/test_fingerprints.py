"""Mistakes have the same name on a laptop, in the page and in grading."""

import json
from functools import cache

import numpy as np
import pytest

from autograder.checks import attention, masking
from autograder.checks.failures import CheckFailed
from autograder.tools import fingerprints
from autograder.tools.judging import catalog_of, packages

made = cache(fingerprints.made)


@pytest.mark.parametrize("package", packages(), ids=lambda p: p.__name__)
def test_the_tables_hold_sentences_and_no_code(package):
    catalog = catalog_of(package)
    tables = json.loads(fingerprints.path_of(package).read_text(encoding="utf-8"))
    known = {entry.id: entry for entry in catalog.misconceptions}
    for question, table in tables.items():
        for key, named in table.items():
            if named is None or key in ("chance", "half"):
                continue
            id, diagnosis, read = named
            assert len(key) == 16 and known[id].question == question
            assert (known[id].diagnosis, known[id].read) == (diagnosis, read)


@pytest.mark.parametrize("package", [attention, masking], ids=lambda p: p.__name__)
def test_the_tables_are_fresh(package):
    """The others are compared by `python -m autograder.tools.fingerprints`."""
    table, _ = made(package)
    stored = fingerprints.path_of(package).read_text(encoding="utf-8")
    assert fingerprints.text_of(table) == stored


def named_without(package, question, answer, monkeypatch):
    """What a laptop says: there is no catalog."""
    with monkeypatch.context() as laptop:
        laptop.setattr(package.assignment, "known", None)
        laptop.setattr(package.assignment, "load", lambda part: None)
        try:
            getattr(package, question)(answer)
        except CheckFailed as failure:
            return failure
        return None


@pytest.mark.parametrize("package", [attention, masking], ids=lambda p: p.__name__)
def test_a_mistake_is_named_alike_with_and_without_the_catalog(
    package, monkeypatch, verdicts
):
    _, unnamed = made(package)
    catalog, seen = catalog_of(package), 0
    for entry in catalog.misconceptions:
        answer = catalog.answer(entry)
        failure = named_without(package, entry.question, answer, monkeypatch)
        if failure is None or entry.id in unnamed:
            continue
        seen += 1
        assert failure.misconception.id == entry.id
        assert verdicts.of(package, entry)[1] == str(failure)
    assert seen > 30 and len(unnamed) < 5


def test_how_a_student_prints_numbers_changes_no_name(monkeypatch):
    def undivided(x, axis=-1):
        powers = np.exp(x - x.max(axis=axis, keepdims=True))
        return powers / powers.max(axis=axis, keepdims=True)

    with np.printoptions(precision=2, sign="+", formatter={"all": lambda x: "?"}):
        failure = named_without(attention, "softmax", undivided, monkeypatch)
    assert failure.misconception.id == "softmax-divides-by-max"
    assert failure.seen == "the rows sum to [1.503 1.273]"


def test_what_is_not_known_has_no_name(monkeypatch):
    def odd(x, axis=-1):
        return x * 0 + 0.123

    failure = named_without(attention, "softmax", odd, monkeypatch)
    assert failure is not None and failure.misconception is None


@pytest.mark.parametrize("package", packages(), ids=lambda p: p.__name__)
def test_right_answers_have_no_name(package, monkeypatch):
    catalog = catalog_of(package)
    for style in catalog.styles:
        if not style.question.startswith(("plot_", "check_", "load_")):
            answer = catalog.answer(style)
            assert named_without(package, style.question, answer, monkeypatch) is None
