"""Points for work that was not done: refused, or admitted in the page on the wall."""

from pathlib import Path

import pytest

from autograder.checks.published import module_file

PAGE = Path(__file__).resolve().parents[2] / "book" / "the-wall.md"
LIBRARIES = (
    "import numpy as np, torch, matplotlib.pyplot as plt\nfrom torch import nn\n"
)
TEST = """from autograder.checks import {module} as check
check.{name}({name})
check.hidden.{name}({name})"""


@pytest.fixture
def earned(run):
    """Points of 4 and message for an answer."""

    def earned(source, module, name):
        test = TEST.format(module=module, name=name)
        result, transcript = run(
            LIBRARIES + source, test=test, points=4.0, profile="torch"
        )
        assert transcript.held is None
        return result.score, result.message

    return earned


BORROWED = {
    "function": "from attention import MultiHeadAttention",
    "other-name": "import attention as a\nMultiHeadAttention = a.MultiHeadAttention",
    "class-below-it": "import attention\n"
    "class MultiHeadAttention(attention.MultiHeadAttention): pass",
    "renamed": "import attention\nattention.__name__ = 'mine'\n"
    "MultiHeadAttention = attention.MultiHeadAttention",
    "partial": "import functools, attention\n"
    "MultiHeadAttention = functools.partial(attention.MultiHeadAttention)",
    "by-importlib": "import importlib\nMultiHeadAttention = "
    "importlib.import_module('attention').MultiHeadAttention",
}


@pytest.mark.parametrize("how", BORROWED)
def test_the_books_module_is_not_there_where_no_given_cell_imports_it(earned, how):
    points, message = earned(BORROWED[how], "multi_head", "MultiHeadAttention")
    assert points == 0
    assert "because cell 1 failed: ModuleNotFoundError: " in message


def test_the_books_module_is_beside_the_notebook_where_a_given_cell_imports_it(run):
    """What was imported from it answers like what was pasted from it."""
    name = "MultiHeadAttention"
    result, transcript = run(
        LIBRARIES + BORROWED["function"],
        test=TEST.format(module="multi_head", name=name),
        points=4.0,
        profile="torch",
        files={"attention.py": module_file("attention").read_bytes()},
    )
    assert transcript.held is None and result.score == 4.0
    said = " ".join(PAGE.read_text("utf-8").split())
    assert "earns as much as the chapter's code pasted into the notebook" in said


ASKING = """from autograder.checks import attention as course
from autograder.checks.failures import CheckFailed
def asked(softmax):
    try: course.softmax(softmax)
    except CheckFailed: return False
    return True
{0}
def check_softmax(softmax):
    assert {1}"""
ASKED = {
    "plainly": ("", "asked(softmax)"),
    "under-another-name": ("course.__name__ = 'mine'", "asked(softmax)"),
    "in-another-thread": (
        "from concurrent.futures import ThreadPoolExecutor",
        "ThreadPoolExecutor(1).submit(asked, softmax).result()",
    ),
    "as-what-tries-it": (
        "from autograder.checks import planted\nplanted.attempt = asked",
        "planted.attempt(softmax)",
    ),
}


@pytest.mark.either_wall
def test_the_courses_visible_checks_earn_the_same_however_a_check_asks_them(earned):
    """What the page admits: every student has them, and could copy them."""
    found = {
        how: earned(ASKING.format(*parts), "attention", "check_softmax")[0]
        for how, parts in ASKED.items()
    }
    assert set(found.values()) == {found["plainly"]} and 2 < found["plainly"] < 4, found
    said = " ".join(PAGE.read_text("utf-8").split())
    assert "It then earns what a copy of them would earn" in said


FORGED = """
import autograder.wall.sandbox.request_handler as answers
class Axes:
    def __init__(self, values, labels): self.values, self.labels = values, labels
def forged(axes):
    places = np.arange(len(axes.labels), dtype=float)
    grid = {"values": axes.values, "x": places, "y": places, "colorbar": True,
            "limits": (float(axes.values.min()), float(axes.values.max()))}
    ticks = list(zip(places.tolist(), axes.labels))
    return {"curves": [], "grids": [grid], "title": "", "xlabel": "key",
            "ylabel": "query", "xscale": "linear", "yscale": "linear", "legend": [],
            "texts": [], "xticks": ticks, "yticks": ticks}
answers.HELPERS["describe_axes"] = forged
def plot_attention(weights, tokens): return Axes(weights, tokens)
"""


def test_a_picture_is_forged_as_the_page_admits(earned):
    assert earned(FORGED, "multi_head", "plot_attention") == (4.0, None)
    points, _ = earned(
        FORGED.replace("axes.values,", "axes.values.T,"), "multi_head", "plot_attention"
    )
    assert points == 0  # what is reported is compared here, number by number
    said = " ".join(PAGE.read_text("utf-8").split())
    assert "can forge these observations, and so earn all points for a plot" in said
