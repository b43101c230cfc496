"""One mistake costs once: with the book's helper, what is built on it holds."""

import pytest
import torch

from autograder.checks import attention, encoder_layer
from autograder.checks.failures import CheckFailed
from autograder.checks.published import published, source
from autograder.checks.question import unexplained
from autograder.course import Course
from autograder.release.sample_class import reference_answers
from autograder.tools.judging import catalog_of, judge, packages

ASSIGNMENTS = {each.notebook: each for each in Course.find().chosen([])}
PAIRS = [
    pytest.param(package, name, used, id=f"{used}-{name}")
    for package in packages()
    for name in package.assignment.questions
    for used in package.assignment.builds_on(name)
]


@pytest.mark.parametrize(("package", "name", "used"), PAIRS)
def test_a_mistake_in_one_question_costs_nothing_in_the_next(package, name, used):
    """Whatever the mistake: with the book's function in its place, all points."""
    catalog, short = catalog_of(package), package.assignment.name
    answers = reference_answers(ASSIGNMENTS[short])
    points = package.assignment.questions[name].points
    spread = False  # one that would cost points in both suffices
    for entry in catalog.of(used):
        names = {"__name__": "student"}
        for code in (catalog.prelude, *(answers | {used: entry.code}).values()):
            exec(code, names)
        spread = spread or judge(package, name, names[name])[0] < points
        names[used] = published(used, short)
        assert judge(package, name, names[name])[:2] == (points, None), entry.id
    assert spread or name == "shift_matrix" or used in ("AttentionHead", "window_mask")


def test_a_failure_that_nobody_reads_takes_no_more_calls():
    calls = []

    def softmax(x, axis=-1):
        calls.append(x)
        return x * 0 + 1

    question = attention.assignment.questions["softmax"]
    with unexplained() as short, pytest.raises(CheckFailed) as failed:
        question(softmax)
    assert (short, failed.value.misconception) == (["softmax"], None)
    few = len(calls)
    with pytest.raises(CheckFailed):
        question(softmax)
    assert len(calls) > 3 * few


def test_what_is_given_is_what_the_book_publishes():
    program = source("decode_step")
    assert "def rotate" in program and "def masked_softmax" in program
    assert "torch" not in program and "class EncoderLayer" not in program
    with pytest.raises(KeyError):
        source("to_halves")
    assert source("to_halves", "real_llm").startswith("import torch\n\n\ndef to_halves")


def test_a_question_is_built_on_what_its_helpers_are_built_on(small_assignment):
    assert small_assignment.builds_on("third") == ["first", "second"]


@pytest.fixture
def small_assignment():
    from autograder.checks.assignment import Assignment

    assignment = Assignment("json", "01-chapter")
    assignment.question("first", 1, "a")
    assignment.question("second", 1, "a", uses=("first",))
    assignment.question("third", 1, "a", uses=("second", "first"))
    return assignment


def test_the_published_functions_hold_in_their_questions():
    for package in packages():
        short = package.assignment.name
        for name in package.assignment.uses:
            for used in package.assignment.builds_on(name):
                try:
                    package.assignment.questions[used](published(used, short))
                except CheckFailed as failure:
                    pytest.fail(f"{used}: {failure}")


def test_a_name_does_not_depend_on_the_dtype_that_a_notebook_sets():
    catalog = catalog_of(encoder_layer)
    entry = next(one for one in catalog.misconceptions if one.id.endswith("no-biases"))
    torch.set_default_dtype(torch.float64)
    try:
        named = judge(encoder_layer, "FeedForward", catalog.answer(entry))[2]
    finally:
        torch.set_default_dtype(torch.float32)
    assert named == entry.id
