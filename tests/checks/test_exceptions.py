"""Exceptions are told with the shapes in the line and the likely reason, everywhere.

``exceptions.jsonl`` was written down before there were rules: code, a call of it, the
arrays in the line, and the likely reason: empty where nobody could be sure of one.
"""

import builtins
import importlib.util
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from autograder.checks.failures import failure_from
from autograder.errors import Violation
from autograder.grading.jobs import grader_of
from autograder.notebook.running import Run
from autograder.wall import Cell, available
from autograder.wall.locations import location_from

RUNNER = Path(__file__).parents[2] / "book/static/runner.py"


class Raised(NamedTuple):
    """One answer, ``answer``, that raises; ``args`` is a text, for both sides."""

    name: str
    code: str
    args: str
    inside: str
    likely: str


with Path(__file__).with_name("exceptions.jsonl").open(encoding="utf-8") as table:
    RAISED = [Raised(**json.loads(line)) for line in table]

PRELUDE = """import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
"""
TEST = """from autograder.checks.question import Question
import numpy as np
import torch
question = Question("answer", 1, "chapter#section")

@question.visible
def works(answer):
    "It works."
    answer({args})

question(answer)
"""


@pytest.fixture(scope="module", autouse=True)
def undone():
    """A notebook changes the process that it runs in; here that goes back."""
    main, finders, own = sys.modules["__main__"], [*sys.meta_path], {**vars(builtins)}
    yield
    sys.modules["__main__"], sys.meta_path[:] = main, finders
    for name in vars(builtins).keys() - own.keys():
        delattr(builtins, name)
    vars(builtins).update(own)
    for name in [n for n in sys.modules if n.partition(".")[0] == "IPython"]:
        if not getattr(sys.modules[name], "__file__", None):
            del sys.modules[name]


def said(message, label):
    """What stands behind a label of a message."""
    found = [line for line in message.splitlines() if line.startswith(f"  {label}:")]
    return found[0].partition(":")[2].strip() if found else ""


@pytest.fixture(scope="module")
def here():
    """The messages of `autograder check` and the page, by the name of the case."""
    messages = {}
    for case in RAISED:
        run = Run()
        run.cell(1, PRELUDE)
        _, outcome = run.cell(2, case.code)
        assert outcome.problem is None
        outcome = run.question(3, TEST.format(args=case.args), "answer")
        messages[case.name] = outcome.problem
    return messages


@pytest.fixture(scope="module")
def behind_the_wall():
    """The messages of `autograder grade`, by the name of the case."""
    if reason := available():
        pytest.skip(reason)
    cells = [Cell("prelude", PRELUDE)]
    for case in RAISED:
        cells.append(Cell(case.name, case.code))
        test = TEST.format(args=case.args)
        cells.append(Cell(f"test {case.name}", test, case.name, 1.0))
    transcript = grader_of(True).judge(cells, profile="torch")
    assert transcript.held is None
    return {id: result.message for id, result in transcript.results.items()}


@pytest.mark.parametrize("case", RAISED, ids=lambda case: case.name)
def test_the_line_is_told_with_its_arrays_and_the_likely_reason(here, case):
    message = here[case.name]
    assert said(message, "in it") == case.inside, message
    assert said(message, "likely") == case.likely, message


@pytest.mark.parametrize("case", RAISED, ids=lambda case: case.name)
def test_grading_says_the_same(here, behind_the_wall, case):
    number = str(2 * RAISED.index(case) + 2)
    there = behind_the_wall[case.name].replace(f"cell {number},", "cell 2,")
    assert there == here[case.name]


def test_the_page_says_the_same(here, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")  # the page's program sets it for good
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    spec = importlib.util.spec_from_file_location("runner", RUNNER)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    case = RAISED[0]
    sources = [PRELUDE, case.code, TEST.format(args=case.args) + "\ncheck.answer(0)"]
    (seen,) = json.loads(page.run(json.dumps({"sources": sources, "wanted": [2]})))
    assert seen["problem"] == here[case.name]


def test_a_cell_that_fails_by_itself_is_told_alike():
    source = "import numpy as np\nQ = np.ones((2, 3))\nQ @ Q"
    problem = Run().cell(1, source)[1].problem
    assert said(problem, "in it") == "Q (2, 3)"
    assert said(problem, "likely").startswith("`Q @ Q` pairs the last axis")
    test = "from autograder.checks import attention as check\ncheck.softmax(softmax)"
    source += "\ndef softmax(x):\n    return x"
    message = graded(source, test)
    assert message.startswith("softmax: ") or "`softmax` is missing" in message
    assert problem.partition("\n")[2] in message


def test_a_call_that_does_not_enter_the_function_gets_the_cards_signature():
    test = "from autograder.checks import attention as check\ncheck.softmax(softmax)"
    run = Run()
    run.cell(1, "def softmax(): return 1")
    problem = run.question(2, test, "softmax").problem
    assert said(problem, "likely") == "the card writes `softmax(x, axis=-1)`"
    assert graded("def softmax(): return 1", test) == problem


def test_a_missing_key_is_told_with_the_nearest_one():
    tensors = {"blk.0.attn_q.weight": 1, "blk.0.ffn_up.weight": 2}
    with pytest.raises(KeyError) as raised:
        tensors["blk.0.attn_query.weight"]
    assert "did you mean 'blk.0.attn_q.weight'?" in failure_from(raised.value).reason
    assert failure_from(raised.value, hidden=True).reason == ""
    with pytest.raises(KeyError) as raised:
        tensors["unlike"]
    assert failure_from(raised.value).reason == ""


def test_of_hidden_inputs_no_shape_is_told():
    """An answer could make up shapes that spell the numbers it is called with."""
    source = """import numpy as np
def answer(x):
    if x is None:
        return 0
    told = np.ones((len(x), 7))
    return told @ told"""
    test = """from autograder.checks.question import Hidden, Question
question = Question("answer", 4, "chapter#section")
hidden = Hidden(question, core=0.5)
@question.visible
def works(answer):
    "It works."
    answer(None)
@hidden.check(0.25)
def secret(answer, rng):
    "It works on more."
    answer([1, 2, 3])
@hidden.check(0.25)
def other(answer, rng):
    "Another."
    answer(None)
question(answer)
hidden(answer)"""
    message = graded(source, test)
    assert "your code raised ValueError" in message
    assert "7" not in message and "in it" not in message and "likely" not in message


@pytest.mark.parametrize(
    "parts",
    [
        (1, 2, 0, 4, [("x", "array", (1, "2"), "")]),
        (1, 2, 0, 4, [("x", "array", (1,))]),
        (1, 2, 0, 4, [("x", "array", (1,), "")] * 99),
        (1, 2, 0, "4", []),
        (1, 2, 0, 4),
        "cell",
    ],
)
def test_what_is_no_place_breaks_the_rules_of_the_wall(parts):
    with pytest.raises(Violation):
        location_from(parts)


def test_what_a_line_cannot_be_about_is_not_believed():
    source = "def answer(x, y):\n    return x @ y"
    told = [
        ("x", "array", (2, 3), "float64"),
        ("secret", "array", (4, 2), ""),  # not in the line
        ("y", "a word", (1,), ""),
        ("y", "array", (-1,), ""),
        ("y", "array", (2,), "a word"),
    ]
    place = location_from((1, 2, 11, 16, told))
    assert place.reason(source, "dtype")[0] == "x (2, 3) float64"


def test_a_cell_that_cannot_be_read_has_no_reason():
    place = location_from((1, 1, 0, 1, [("x", "array", (2,), "")]))
    for source in ("x +", "(" * 5000, "x" + "+x" * 30_000, "\0"):
        assert place.reason(source, "broadcast together with shapes (2,) (3,)") == (
            "",
            "",
        )


def graded(source, test):
    """The message of grading about one question."""
    if reason := available():
        pytest.skip(reason)
    cells = [Cell("cell", source), Cell("test", test, "test", 4.0)]
    transcript = grader_of(True).judge(cells)
    assert transcript.held is None
    return transcript.results["test"].message
