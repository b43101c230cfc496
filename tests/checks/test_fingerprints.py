"""Mistakes have the same name on a laptop, in the page and in grading."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from paying_attention.language_model.visible import probes

from autograder.checks import attention, fingerprints, masking
from autograder.checks.failures import CheckFailed
from autograder.release import mistakes
from autograder.tools.judging import catalog_of, packages

PACKAGES = packages()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.assignment.name)
def test_the_tables_hold_sentences_once_and_no_code(package):
    table = fingerprints.table(package.assignment.visible)
    entries = {entry.id: entry for entry in catalog_of(package).misconceptions}
    named = set()
    for question, one in table["questions"].items():
        for key, id in one["mistakes"].items():
            assert len(key) == 16 and entries[id].question == question
            named.add(id)
    sentences = {id: [entries[id].diagnosis, entries[id].read] for id in named}
    assert table["sentences"] == sentences


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.assignment.name)
def test_no_check_and_no_catalog_has_changed_since_its_table_was_made(package):
    """`make release` makes it."""
    assert not mistakes.stale(package)


def test_changed_code_makes_a_table_stale_and_a_docstring_does_not(
    monkeypatch, tmp_path
):
    changed = tmp_path / "attention" / "visible" / "__init__.py"
    changed.parent.mkdir(parents=True)
    changed.write_text("x = 1")
    monkeypatch.setattr(attention, "__file__", str(changed))
    folders = [changed.parents[1]]
    monkeypatch.setattr(mistakes.registry, "folders_used", lambda name: folders)
    table = f'{{"made_from": "{mistakes.key(attention)}"}}'
    (changed.parent / "known.json").write_text(table)
    changed.write_text('"""Some\n\nwords."""\nx = 1')
    assert not mistakes.stale(attention)
    changed.write_text('"""Some\n\nwords."""\nx = 2')
    assert mistakes.stale(attention)


def fresh(package):
    """The checksum of a table made in a fresh process."""
    name = package.assignment.name
    code = (
        f"from autograder.checks import {name} as package; "
        "from autograder.release import mistakes; "
        "print(mistakes.text_of(mistakes.made(package)[0]), end='')"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "random"},
        capture_output=True,
        check=True,
    )
    return hashlib.sha256(run.stdout).hexdigest()


@pytest.mark.parametrize(
    ("package", "times"),
    [
        pytest.param(attention, 1, id="attention"),  # the stored one is another
        *(
            pytest.param(package, 5, id=package.assignment.name, marks=pytest.mark.long)
            for package in PACKAGES
        ),
    ],
)
def test_a_table_is_the_same_in_every_process(package, times):
    stored = (package.assignment.visible / "known.json").read_bytes()
    found = {fresh(package) for _ in range(times)}
    assert found == {hashlib.sha256(stored).hexdigest()}


def named_without(package, question, answer, monkeypatch):
    """What a laptop says: there is no catalog."""
    with monkeypatch.context() as laptop:
        laptop.setattr(package.assignment, "catalog", None)
        try:
            getattr(package, question)(answer)
        except CheckFailed as failure:
            return failure
        return None


@pytest.mark.parametrize(
    "package", [attention, masking], ids=lambda p: p.assignment.name
)
def test_a_mistake_is_named_alike_with_and_without_the_catalog(
    package, monkeypatch, verdicts
):
    _, unnamed = mistakes.made(package)
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


def test_a_mistake_that_is_right_once_more_than_the_known_one_has_no_name(monkeypatch):
    """All visible checks have to note the same, not the failing one alone."""

    def batches_are_right(x, axis=-1):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        if x.ndim > 2 or axis in (0, 1):
            axis = axis if x.ndim > 2 else 1 - axis
            return e / e.sum(axis=axis, keepdims=True)
        return e / e.max(axis=-1, keepdims=True)

    failure = named_without(attention, "softmax", batches_are_right, monkeypatch)
    assert failure.title.startswith("softmax, visible check")
    assert failure.misconception is None


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.assignment.name)
def test_right_answers_have_no_name(package, monkeypatch):
    catalog = catalog_of(package)
    for style in catalog.styles:
        if not style.question.startswith(("plot_", "check_", "load_")):
            answer = catalog.answer(style)
            assert named_without(package, style.question, answer, monkeypatch) is None


NUMBERS = np.random.default_rng(1).normal(size=(20, 4))


def agree(one, two):
    return bool(set(fingerprints.rounded(one)) & set(fingerprints.rounded(two)))


@pytest.mark.parametrize(
    ("kind", "noise", "change"),
    [("f8", 1e-14, 1e-4), ("f4", 2e-7, 1e-2), ("f2", 1e-3, 0.4)],
)
def test_rounding_changes_no_fingerprint_and_more_than_that_does(kind, noise, change):
    values, noisy, other = (
        [(table * (1 + part)).astype(kind) for table in NUMBERS]
        for part in (0, noise, change)
    )
    assert all(map(agree, values, noisy)) and not any(map(agree, values, other))


def test_a_number_of_python_has_the_fingerprint_of_the_same_one_in_an_array():
    """Most numbers are spelled without an array."""
    values = [0, -3, 7, 0.0, -0.0, 0.5, 1 / 3, -2.5e-7, 1e-6, 123456.789, 3e14, 4e20]
    values += [*NUMBERS[:, 0].tolist(), 2**70, float("nan"), float("-inf")]
    assert all(
        fingerprints.rounded(v) == fingerprints.rounded(np.asarray(v)) for v in values
    )


def test_values_of_other_shapes_and_kinds_have_other_fingerprints():
    values = [1.0, True, None, "1.0", [1.0], {"a": 1.0}, np.ones(1), np.ones((1, 1))]
    texts = [fingerprints.rounded(value)[0] for value in values]
    assert len(set(texts)) == len(texts)
    assert fingerprints.rounded({"a": 1, "b": 2}) == fingerprints.rounded(
        {"b": 2, "a": 1}
    )


class Lookalike:
    """What has a tensor's attributes and is none."""

    shape = (60,)
    detach = numpy = flatten = lambda self: self


@pytest.mark.parametrize("value", [np.zeros(60, int), Lookalike()], ids=type)
def test_what_looks_like_a_tensor_is_none(value):
    assert not probes.one_for_all(lambda *given, **named: value)
    assert probes.twice(lambda *given, **named: value, None, None) == "no draw"
