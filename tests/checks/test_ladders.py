"""Ladders: the lines that belong make a right answer, the others come from mistakes."""

import html
import json
import re
from pathlib import Path

import nbformat
import pytest
import solving

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


@pytest.mark.parametrize(
    ("name", "notebook"),
    [
        ("MultiHeadAttention", "03-multi-head/multi_head.ipynb"),
        ("EncoderLayer", "06-encoder-layer/encoder_layer.ipynb"),
    ],
)
def test_a_notebook_that_needs_torch_ends_with_its_ladder(name, notebook):
    ladder = next(param.values[1] for param in LADDERS if param.id == name)
    last = nbformat.read(Path("exercises") / notebook, as_version=4).cells[-1].source
    shown = re.findall("<li><code>(.*)</code></li>", last)
    assert [html.unescape(line) for line in shown] == ladder.lines
    assert f"## Stuck on `{name}`?" in last
    assert f"\n{len(ladder.strays)} of these lines do not belong" in last


@pytest.mark.parametrize(
    ("name", "page"),
    [("causal_attention", "04-masking"), ("decode_step", "10-generating")],
)
def test_a_page_holds_its_ladder_in_a_fold_that_waits(name, page):
    (path,) = Path("exercises", page).glob("*.ipynb")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text = solving.page_of(notebook, page, path.name, "")
    (fold,) = re.findall('<details class="ladder".*?</details>', text, re.DOTALL)
    assert f'data-cell="{name}" hidden>' in fold
    ladder = next(param.values[1] for param in LADDERS if param.id == name)
    shown = re.findall("<code>(.*?)</code>", fold)
    assert [html.unescape(line) for line in shown] == ladder.lines
