"""Ladders: the lines that belong make a right answer, the others come from mistakes."""

import pytest

from autograder.checks.catalog import Style
from autograder.checks.ladder import Ladder
from autograder.tools.judging import catalog_of, judge, packages

LADDERS = [
    pytest.param(package, ladder, id=name)
    for package in packages()
    for name, ladder in catalog_of(package).ladders.items()
]


def test_the_hardest_questions_have_one():
    names = {param.id for param in LADDERS}
    assert names >= {"MultiHeadAttention", "EncoderLayer", "decode_step"}


@pytest.mark.parametrize(("package", "ladder"), LADDERS)
def test_the_lines_that_belong_earn_all_points_in_their_order(package, ladder):
    style = Style(f"{ladder.question}-ladder", ladder.question, ladder.code)
    answer = catalog_of(package).answer(style)
    points, message, _ = judge(package, ladder.question, answer)
    assert (points, message) == (getattr(package, ladder.question).points, None)


@pytest.mark.parametrize(("package", "ladder"), LADDERS)
def test_every_other_line_is_one_of_a_mistake_and_of_no_rung(package, ladder):
    mistakes = {m.id: m.code for m in catalog_of(package).of(ladder.question)}
    assert len(ladder.strays) >= 3
    for mistake, line in ladder.strays:
        assert line.strip() in map(str.strip, mistakes[mistake].splitlines())
        assert line not in ladder.rungs


@pytest.mark.parametrize(("package", "ladder"), LADDERS)
def test_the_order_in_which_lines_are_shown_is_not_the_right_one(package, ladder):
    shown = [line for line in ladder.lines if line in ladder.rungs]
    assert sorted(shown) == sorted(ladder.rungs) and shown != ladder.rungs
    assert len(set(ladder.lines)) == len(ladder.rungs) + len(ladder.strays)


def test_the_rungs_are_the_body_of_the_last_function():
    code = "class A:\n    def f(x):\n        if x:\n            y\n        return z\n"
    assert Ladder("A", code, ()).rungs == ["if x:", "    y", "return z"]
