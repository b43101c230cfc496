"""What a student reads of a check of their own while they work on it."""

import linecache

import numpy as np
import pytest
import torch

from autograder.checks import attention, masking, multi_head
from autograder.checks.failures import CheckFailed
from autograder.checks.visible_hunt import HuntFunctions

GOOD = """
def check_softmax(softmax):
    x = np.array([[1.0, 2.0, 4.0], [900.0, 0.0, 1.0], [0.0, 0.5, 1.0]])
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    assert np.allclose(softmax(x), e / e.sum(axis=-1, keepdims=True))
"""
EXACT = GOOD.replace("np.allclose", "np.array_equal")


def written(code, name="check_softmax"):
    """A check as a cell of a notebook defines it."""
    file = "<cell 7>"
    linecache.cache[file] = len(code), None, code.splitlines(keepends=True), file
    names = {"np": np}
    exec(compile(code, file, "exec"), names)
    return names[name]


def test_the_mistakes_of_the_visible_half_are_counted_and_listed(capsys):
    attention.check_softmax(written(GOOD))
    said = capsys.readouterr().out
    assert "check_softmax: caught 4 of 8 mistakes" in said
    assert "missed:   The rows sum to 1 along the last axis, whatever `axis` is" in said
    assert said.count("caught:") == 4 and said.count("missed:") == 4


def test_the_line_that_refuses_a_right_style_is_named_with_the_difference(capsys):
    attention.check_softmax(written(EXACT))
    said = capsys.readouterr().out
    assert "refused:  a right `softmax` (" in said
    assert "e-1" in said and "np.array_equal(softmax(x)" in said and "line 5" in said
    assert "likely:   `array_equal` fails on rounding errors" in said


def test_a_check_that_asks_for_the_same_object_reads_what_is_asks():
    code = """
def check_causal_mask(causal_mask):
    assert causal_mask(3)[0, 0] is True
"""
    with pytest.raises(CheckFailed) as failed:
        masking.check_causal_mask(written(code, "check_causal_mask"))
    assert "`==` compares values" in failed.value.reason


def test_results_lie_in_memory_as_they_do_behind_the_wall(capsys):
    code = """
def check_softmax(softmax):
    weights = softmax(np.array([[1.0, 2.0], [0.0, 3.0]]))
    assert weights.flags["OWNDATA"] or not weights.flags["C_CONTIGUOUS"]
    assert np.allclose(weights.sum(axis=-1), 1)
"""
    attention.check_softmax(written(code))
    assert "refused" not in capsys.readouterr().out


def test_a_packed_half_is_the_same_when_it_is_unpacked():
    half = attention.assignment.catalog.half("check_softmax")
    assert HuntFunctions.unpacked(
        attention.assignment.table["questions"]["check_softmax"]["half"]
    ) == HuntFunctions(
        half.prelude,
        {id: list(one) for id, one in half.right.items()},
        {id: list(one) for id, one in half.wrong.items()},
    )


def reasons(*lines):
    """The likely reason for a check of softmax that refuses every right one."""
    code = "def check_softmax(softmax):\n" + "".join(f"    {line}\n" for line in lines)
    with pytest.raises(CheckFailed) as failed:
        attention.check_softmax(written(code))
    return failed.value.reason, failed.value.seen


@pytest.mark.parametrize(
    "test, reason",
    [
        ("w.dtype == np.float16", "does not promise this dtype"),
        ("np.all(w <= 1) and np.all(w > 0)", "exactly 0"),
        ("bool(np.all((w > 0).all(axis=1)))", "exactly 0"),
        (
            "(w[1] == np.array([[1.0, 0.0]]) + 1e-9).all()",
            "`==` fails on rounding errors",
        ),
        ("np.allclose(w, np.exp(x) / np.exp(x).sum())", "One side is NaN"),
        ("np.allclose(w.sum(), 3)", "your expected value is wrong"),
    ],
)
def test_why_a_right_function_is_refused(test, reason):
    lines = "x = np.array([[0.0, -1e5], [900, 0]])", "w = softmax(x)", f"assert {test}"
    said, seen = reasons(*lines)
    assert reason in said, (said, seen)
    assert " against " in seen or "differ by" in seen


def test_a_check_that_demands_a_mistake_reads_which_one():
    x = "x = np.array([[1.0, -2.0], [0.0, 3.0]])"
    said, _ = reasons(x, "assert np.allclose(softmax(x), 1 / (1 + np.exp(-x)))")
    assert said.startswith("It demands a mistake: The sigmoid is used")


def test_a_check_that_rejects_whatever_it_gets_reads_so():
    shape = "if softmax(np.ones((1, 2))).shape == (1, 2): raise AssertionError"
    assert "rejects every function that was tried" in reasons(shape)[0]


def test_a_check_that_raises_another_error_reads_that_only_an_assertion_rejects():
    w = "w = softmax(np.array([[1.0, 2.0], [0.0, 3.0]]))"
    raises = "if abs(w.sum() - 2) > 1e-9: raise ValueError('wrong')"
    assert "only an AssertionError rejects" in reasons(w, raises)[0]


def test_an_error_of_the_function_is_not_called_one_of_the_check():
    assert "The function under test raises" in reasons("softmax(np.ones(2), axis=5)")[0]
    own = reasons("softmax(np.ones(2))", "assert np.ones(2) + np.ones(3)")[0]
    assert "The function under test" not in own


def test_what_only_some_right_ways_fulfill_is_once_said_not_to_be_on_the_card(capsys):
    code = """
def check_split_heads(split_heads):
    x = np.arange(24.0).reshape(1, 4, 6)
    heads = split_heads(tensor(x), 3)
    assert heads.shape == (1, 3, 4, 2) and heads.is_contiguous()
"""
    check = written(code, "check_split_heads")
    check.__globals__["tensor"] = torch.from_numpy
    multi_head.check_split_heads(check)
    said = capsys.readouterr().out
    assert said.count("refused:") == 2
    reason = "but it rejects this one for something that the card does not ask for"
    assert said.count(reason) == 1
