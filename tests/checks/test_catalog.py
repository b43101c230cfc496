"""The tests are tested: every misconception loses points and is named, every correct
style earns all points, and the reference and the stub get what they deserve."""

import contextlib
import importlib
import inspect
import io
import pkgutil
from collections import Counter

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import autograder.checks
from autograder.checks.question import CheckFailed, Hidden, Question

matplotlib.use("Agg")

PACKAGES = [
    importlib.import_module(f"autograder.checks.{module.name}")
    for module in pkgutil.iter_modules(autograder.checks.__path__)
    if module.ispkg
]


def catalog_of(package):
    return importlib.import_module(f"{package.__name__}.catalog").catalog


QUESTIONS = [
    pytest.param(package, name, id=name)
    for package in PACKAGES
    for name, value in vars(package).items()
    if isinstance(value, Question)
]
MISCONCEPTIONS = [
    pytest.param(package, entry, id=entry.id)
    for package in PACKAGES
    for entry in catalog_of(package).misconceptions
]
STYLES = [
    pytest.param(package, entry, id=entry.id)
    for package in PACKAGES
    for entry in catalog_of(package).styles
]


def judge(package, question, answer, seed=0):
    """Points as the test cell gives them: visible first, then hidden.

    Returns (points, message, misconception id or None).
    """
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            getattr(package, question)(answer)
            score = getattr(package.hidden, question)(answer, seed)
        except CheckFailed as failure:
            named = failure.misconception
            return 0.0, str(failure), named.id if named else None
        finally:
            plt.close("all")
    named = score.misconception
    return float(score), score.message, named.id if named else None


@pytest.mark.parametrize(("package", "entry"), MISCONCEPTIONS)
def test_a_misconception_loses_points_and_is_named(package, entry):
    """And its message, which feedback shows, holds no code of the hidden checks."""
    answer = catalog_of(package).answer(entry)
    points, message, named = judge(package, entry.question, answer)
    assert points < getattr(package, entry.question).points
    assert named == entry.id
    assert entry.diagnosis in message
    code = map(str.strip, inspect.getsource(package.hidden).splitlines())
    assert not [line for line in code if len(line) > 12 and line in message]


@pytest.mark.parametrize(("package", "style"), STYLES)
def test_a_correct_style_gets_all_points_and_is_never_misnamed(package, style):
    answer = catalog_of(package).answer(style)
    points, message, _ = judge(package, style.question, answer)
    assert (points, message) == (getattr(package, style.question).points, None)
    assert catalog_of(package).diagnose(style.question, answer) is None


@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_an_untouched_stub_gets_nothing_and_hears_no_answer_yet(package, question):
    def stub(*args, **kwargs):
        raise NotImplementedError

    assert judge(package, question, stub) == (0.0, f"{question}: no answer yet", None)


@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_the_shares_of_a_question_make_one(package, question):
    hidden = getattr(package.hidden, question)
    assert isinstance(hidden, Hidden)
    assert hidden.question is getattr(package, question)
    assert hidden.core + sum(share for share, _ in hidden.checks) == pytest.approx(1)


@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_every_question_has_eight_misconceptions_and_three_styles(package, question):
    catalog = catalog_of(package)
    styles = [style for style in catalog.styles if style.question == question]
    assert len(catalog.of(question)) >= 8
    assert len(styles) >= 3


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: p.__name__)
def test_ids_of_misconceptions_are_unique(package):
    ids = Counter(entry.id for entry in catalog_of(package).misconceptions)
    assert max(ids.values()) == 1


@pytest.mark.parametrize(("package", "question"), QUESTIONS)
def test_hidden_checks_decide_alike_for_many_seeds(package, question):
    """A few seeds here; `make catalog` runs two hundred."""
    catalog = catalog_of(package)
    points = getattr(package, question).points
    for seed in range(1, 3 if question.startswith("plot_") else 6):
        for style in catalog.styles:
            if style.question == question:
                assert (
                    judge(package, question, catalog.answer(style), seed)[0] == points
                )
        for entry in catalog.of(question):
            assert judge(package, question, catalog.answer(entry), seed)[0] < points


def test_messages_of_hidden_checks_hold_no_number_that_was_drawn(monkeypatch):
    """Feedback may name a property, never an input or a value."""
    from autograder.checks import attention

    def tells_its_input(x, axis=-1):
        if x.shape == (2, 3) or x.shape == (3,):
            e = np.exp(x - x.max(axis=axis, keepdims=True))
            return e / e.sum(axis=axis, keepdims=True)
        raise ValueError(f"input was {x}")

    _, message, _ = judge(attention, "softmax", tells_its_input)
    assert "ValueError" in message and "input was" not in message


def test_a_prepared_catalog_names_answers_without_running_its_entries(monkeypatch):
    catalog = catalog_of(autograder.checks.attention)
    entry, *_ = catalog.of("softmax")
    answer = catalog.answer(entry)
    catalog.prepare()
    monkeypatch.setattr(type(catalog), "answer", None)
    assert catalog.diagnose("softmax", answer) is entry
