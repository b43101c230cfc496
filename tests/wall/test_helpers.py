"""A question whose helper has lost points is judged once more, with the book's."""

import pytest

from autograder.checks import attention
from autograder.wall import Cell, Limits

NAMES = ("softmax", "attention_scores", "scaled_dot_product_attention")
catalog = attention.assignment.catalog
CODE = {name: catalog.references[name].code for name in NAMES}
ENTRIES = {entry.id: entry.code for entry in catalog.misconceptions}
OWN = """def scaled_dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    return weights @ V, weights
"""


# a loop in a helper is waited for three times
BRIEF = Limits(question_seconds=0.5, patience=16.0)


@pytest.fixture
def grade(wall, graders):
    """Results of the three questions, by name."""
    grader = graders(wall, BRIEF)

    def grade(**answers):
        cells = [Cell("imports", "import numpy as np")]
        given = CODE | {NAMES[2]: OWN} | answers
        for name, points in zip(NAMES, (4.0, 4.0, 8.0), strict=True):
            test = f"""from autograder.checks import attention as check
check.{name}({name})
check.hidden.{name}({name})"""
            cells.append(Cell(name, given[name]))
            cells.append(Cell(f"test {name}", test, f"test_{name}", points))
        transcript = grader.judge(cells)
        assert transcript.held is None
        return [transcript.results[f"test_{name}"] for name in NAMES]

    return grade


@pytest.mark.either_wall
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("attention_scores", ENTRIES["attention_scores-unscaled"]),
        ("attention_scores", ENTRIES["attention_scores-transpose-all"]),
        ("softmax", ENTRIES["softmax-overflow"]),
        ("softmax", "def softmax(x, axis=-1):\n    raise NotImplementedError"),
        ("softmax", "def softmax(x, axis=-1:\n    return x"),
        ("softmax", "def softmax(x, axis=-1):\n    while True: x = x + 1"),
    ],
)
def test_a_mistake_costs_its_own_question_alone(grade, name, code):
    results = grade(**{name: code})
    lost = [result for result in results if result.score < result.max_score]
    assert [result.id for result in lost] == [f"test_{name}"]
    told = results[2].message.splitlines()
    assert told[0].startswith(f"this question uses `{name}`, the source of the")
    assert told[0].endswith("it passes") and results[2].misconception is None


def test_a_mistake_of_its_own_is_still_told_and_costs_points(grade):
    wrong = ENTRIES["attention_scores-unscaled"]
    own = OWN.replace("weights @ V,", "weights.T @ V,")
    last = grade(attention_scores=wrong, scaled_dot_product_attention=own)[2]
    assert last.score < 8
    assert "it still fails:" in last.message and "read:" in last.message


def test_what_is_open_stays_open(grade):
    stub = "def scaled_dot_product_attention(Q, K, V):\n    raise NotImplementedError"
    wrong = ENTRIES["attention_scores-unscaled"]
    last = grade(attention_scores=wrong, scaled_dot_product_attention=stub)[2]
    assert last.message == "scaled_dot_product_attention: no answer yet"


def test_a_failure_that_counts_after_all_is_explained(grade):
    """This answer is open with a right helper, and fails a check without."""
    wrong = "def softmax(x, axis=-1):\n    return x"
    own = """def mixed(weights, V):
    raise NotImplementedError

def scaled_dot_product_attention(Q, K, V):
    weights = softmax(attention_scores(Q, K))
    if not np.allclose(weights.sum(-1), 1):
        return weights @ V, weights
    return mixed(weights, V), weights
"""
    last = grade(softmax=wrong, scaled_dot_product_attention=own)[2]
    assert last.message.startswith("scaled_dot_product_attention, visible check ")


def test_a_right_helper_is_the_students_own(grade):
    """Nothing is given where nothing has lost points."""
    spy = OWN + "    \nassert softmax.__module__ == '__main__'\n"
    assert [result.score for result in grade(**{NAMES[2]: spy})] == [4, 4, 8]
