"""Open challenges: one for each assignment, the same number everywhere, no points."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from solving import page_of

from autograder.checks import challenge
from autograder.checks.challenge import Challenge, leanest, shortest
from autograder.cli import main

SOLUTIONS = sorted(Path("solutions").glob("*/*.ipynb"))


@pytest.fixture(params=SOLUTIONS, ids=lambda path: path.parent.name)
def solution(request):
    return request.param


def cells_of(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return {c["metadata"]["nbgrader"]["grade_id"]: "".join(c["source"]) for c in cells}


def challenge_of(path) -> Challenge:
    return assignment_of(path).challenge


def assignment_of(path):
    return importlib.import_module(f"autograder.checks.{path.stem}").assignment


def score(code: str, *given: str) -> str:
    """What a student's `f` is told in a challenge of the fewest tokens."""
    names: dict = {}
    exec(compile(code, "<cell 1>", "exec"), names)
    return shortest("f", 9, *given).told(names, {1: code})


def test_every_exercise_says_the_rule_of_its_challenge(solution):
    exercise = Path("exercises", *solution.parts[1:])
    rule = challenge_of(solution).card()
    assert rule.startswith("## Open challenge, no points\n\nWrite `")
    assert cells_of(solution)["challenge"] == cells_of(exercise)["challenge"] == rule


def test_a_challenge_is_about_a_question_of_its_exercise_and_has_no_points(solution):
    own = challenge_of(solution)
    assert f"test_{own.question}" in cells_of(solution)
    cells = json.loads(solution.read_text("utf-8"))["cells"]
    about = [c["metadata"]["nbgrader"] for c in cells]
    (cell,) = [one for one in about if one["grade_id"] == "challenge"]
    assert not (cell["grade"] or cell["solution"]) and cell["locked"]


def test_our_number_is_that_of_the_solution(solution):
    own, questions = challenge_of(solution), assignment_of(solution).questions
    names, sources = {}, {}
    for number, (name, source) in enumerate(cells_of(solution).items(), 1):
        if name in ("imports", "given", *questions):
            sources[number] = source
            exec(compile(source, f"<cell {number}>", "exec"), names)
    if "tokens" in own.ours:
        assert own.told(names, sources).count(own.ours) == 2
    elif "memory" in own.rule:
        assert f"{challenge.memory(names[own.question]):.1f} times" == own.ours
    else:  # a time, which tests do not rest on
        assert own.ours == "about 3 times"


@pytest.mark.parametrize(
    ("code", "tokens"),
    [
        ("def f(x):\n    return x", 8),
        ("def f(a_very_long_name):  # why\n    return a_very_long_name", 8),
        ('def f(x):\n    """What it does."""\n\n    return (\n        x\n    )', 10),
        ("def f(x):\n    return f'{x} and {x!r}'", 8),
        ("def f(x):\n    return '" + "x" * 38 + "'", 17),
        ("def g(x):\n    return x\n\ndef f(x):\n    return g(x)", 8 + 11),
        ("def f(x):\n    return f(x)", 11),
        ("class f:\n    'It is.'\n    def g(self):\n        return 1", 11),
        ("f = lambda x: x", 6),
        ("def g(x):\n    return x\n\nf = g", 3 + 8),
        ("x = [2] * 9\ndef f(x):\n    return x", 8),
        ("import functools\n@functools.cache\ndef f(x):\n    return x", 4 + 8),
        ("def f(x):\n    return 1\n\ndef f(x):\n    'Anew.'\n    return x", 8),
    ],
)
def test_tokens_count_and_names_and_comments_do_not(code, tokens):
    line = f"open challenge: your f: {tokens} tokens; ours: 9 tokens"
    assert score(code) == line


def test_what_cannot_be_counted_is_not_told_to_be_nothing():
    said = score("if True:\n    def f(x):\n        return x")
    assert said == f"open challenge: your f: {challenge.NOT_COUNTED}; ours: 9 tokens"


def test_what_is_given_is_free():
    code = "def g(x):\n    return x\n\ndef f(x):\n    return g(x)"
    assert "your f: 11 tokens" in score(code, "g")
    assert "`g` aside" in shortest("f", 9, "g").rule


def test_memory_is_counted_in_tables_of_weights():
    def two(Q, K, V):
        scores = Q @ K.T
        return V, scores * 2

    def one(Q, K, V):
        scores = Q @ K.T
        scores *= 2
        return V, scores

    own = leanest("f", "3.0")
    assert "2.0 times the table of weights; ours: 3.0 times" in own.told({"f": two}, {})
    assert "1.0 times" in own.told({"f": one}, {})


def test_a_slow_answer_is_not_waited_for(monkeypatch):
    sizes = []

    def slow(Q, K, V):
        sizes.append(len(Q))

    monkeypatch.setattr(challenge, "MOST_SECONDS", -1.0)
    assert challenge.speed(slow) == "too slow to be measured at n = 2048"
    assert set(sizes) == {512}


def test_a_time_is_a_ratio():
    assert re.fullmatch(
        r"\d+\.\d times its two matrix products", challenge.speed(challenge.products)
    )


def test_an_answer_that_breaks_there_keeps_what_it_has():
    def f(Q, K, V):
        raise ValueError

    assert "not measured, it raised ValueError" in leanest("f", "3").told({"f": f}, {})


def test_check_tells_the_number_of_an_answer_that_holds(capsys):
    (path,) = (p for p in SOLUTIONS if p.stem == "scaling")
    main(["check", str(path)])
    said = capsys.readouterr().out
    own = "open challenge: your softmax_jacobian: 38 tokens; ours: 38 tokens"
    assert said.count("open challenge") == said.count(own) == 1


def test_an_open_answer_has_no_number(capsys):
    main(["check", "exercises/02-scaling/scaling.ipynb"])
    assert "open challenge" not in capsys.readouterr().out


def test_inputs_are_the_same_in_every_run():
    assert np.array_equal(challenge.inputs(3), challenge.inputs(3))


def test_the_page_of_an_exercise_shows_the_rule_in_a_box():
    path = Path("exercises/01-attention/attention.ipynb")
    notebook = json.loads(path.read_text("utf-8"))
    page = page_of(notebook, "01-attention", path.name, "")
    rule = challenge_of(path).rule
    assert f"```{{admonition}} Open challenge, no points\n{rule}" in page
