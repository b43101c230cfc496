"""Points for work that was not done: refused, or admitted in the page on the wall."""

from pathlib import Path

import pytest

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
    "function": ("attention", "softmax", "from attention import softmax"),
    "other-name": (
        "attention",
        "softmax",
        "import attention as a; softmax = a.softmax",
    ),
    "module": (
        "multi_head",
        "MultiHeadAttention",
        "from attention import MultiHeadAttention",
    ),
    "class-below-it": (
        "encoder_layer",
        "FeedForward",
        "import attention\nclass FeedForward(attention.FeedForward): pass",
    ),
}


@pytest.mark.parametrize("how", BORROWED)
def test_what_is_imported_from_the_book_is_no_answer(earned, how):
    module, name, source = BORROWED[how]
    points, message = earned(source, module, name)
    assert points == 0
    assert f"`{name}` is imported from the book's `attention`" in message


FORGED = """
import autograder.wall.sandbox.answers as answers
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
    assert "can forge them, and so earn all points of a plot" in said
