"""Yours beside expected: what a wrong table looks like, and when it is drawn."""

import json
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

from autograder.check import report
from autograder.checks import attention, expect, masking, positional_encoding, scaling
from autograder.checks.drawing import beside
from autograder.checks.failures import CheckFailed
from autograder.checks.question import Hidden, Question
from autograder.notebook.process import Plan
from autograder.notebook.running import Outcome, Run
from autograder.tools.judging import catalog_of

ONE_AHEAD = "import numpy as np\ncausal_mask = lambda n: np.tri(n, k=1) == 1\n"
MASKS = """\
  yours         expected
  x  x* .  .    x  .  .  .
  x  x  x* .    x  x  .  .
  x  x  x  x*   x  x  x  .
  x  x  x  x    x  x  x  x
  * not as expected; x is True, . is False"""


def failure_of(question, answer):
    with pytest.raises(CheckFailed) as failed:
        question(answer)
    return failed.value


def test_numbers_have_as_many_decimals_as_tell_them_apart():
    right = np.array([[0.5, 0.25], [0.12, 0.0]])
    drawing = beside(np.array([[0.5, 0.25], [0.1201, -1e-9]]), right)
    assert drawing.yours == [["0.5000", "0.2500"], ["0.1201", "0.0000"]]
    assert drawing.differ == [[False, False], [True, False]]
    assert beside(np.eye(2) * 3, np.eye(2)).yours == [["3", "0"], ["0", "3"]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_what_is_no_small_number_is_drawn_as_well(value):
    drawing = beside(np.full((2, 2), value), np.eye(2))
    assert float(drawing.yours[0][0]) == value or np.isnan(value)
    assert all(map(all, drawing.differ))


def test_of_a_large_table_the_part_with_the_first_wrong_cell_is_drawn():
    right = np.zeros((12, 9))
    wrong = right.copy()
    wrong[10, 1] = 1
    drawing = beside(wrong, right)
    assert (len(drawing.yours), len(drawing.yours[0])) == (8, 8)
    assert drawing.differ[7] == [False, True] + [False] * 6
    assert str(drawing).endswith("these are rows 3 to 10 of 12 and columns 0 to 7 of 9")


def test_two_wide_tables_stand_one_below_the_other():
    lines = str(beside(np.full((2, 8), 0.123), np.zeros((2, 8)))).splitlines()
    assert [lines[0], lines[3]] == ["  yours", "  expected"]
    assert max(map(len, lines)) <= 79


@pytest.mark.parametrize(
    "yours, expected",
    [
        (np.ones(3), np.zeros(3)),
        (np.ones((1, 3)), np.zeros((1, 3))),
        (np.ones((2, 2, 2)), np.zeros((2, 2, 2))),
        (np.ones((2, 3)), np.zeros((3, 2))),
        (np.ones((2, 3)), np.ones((2, 3))),
    ],
    ids=["row", "one row", "three axes", "another shape", "the same"],
)
def test_what_a_sentence_says_as_well_is_not_drawn(yours, expected):
    assert beside(yours, expected) is None


# the mistakes that are drawn, by question: each shows the student's numbers
DRAWN = {
    "causal_mask": (masking, 4),
    "masked_softmax": (masking, 3),
    "causal_attention": (masking, 2),
    "padding_mask": (masking, 3),
    "softmax": (attention, 2),
    "attention_scores": (attention, 2),
    "scaled_dot_product_attention": (attention, 1),
    "positional_encoding": (positional_encoding, 3),
    "shift_matrix": (positional_encoding, 3),
    "plot_encoding_heatmap": (positional_encoding, 1),
    "softmax_jacobian": (scaling, 2),
}


@pytest.mark.parametrize("name", DRAWN)
def test_known_mistakes_are_drawn_and_the_message_stays_as_it_was(name):
    package, least = DRAWN[name]
    catalog = catalog_of(package)
    drawn = 0
    for entry in catalog.of(name):
        try:
            getattr(package, name)(catalog.answer(entry))
        except CheckFailed as failure:
            assert "yours" not in str(failure)
            if failure.drawing:
                drawn += 1
                assert any(map(any, failure.drawing.differ))
                assert failure.drawing.yours != failure.drawing.expected
    assert drawn >= least


def test_a_notebook_shows_the_drawing_below_the_message():
    failure = failure_of(masking.causal_mask, lambda n: np.tri(n, k=1) == 1)
    assert failure._render_traceback_() == [str(failure), "", MASKS]


def test_a_terminal_shows_it_between_empty_lines(capsys):
    drawing = asdict(beside(np.tri(4, k=1) == 1, np.tri(4) == 1))
    outcome = Outcome(2, "causal_mask", "", "the message", drawing)
    assert report(Plan([(2, "", "causal_mask")], "numpy"), iter([outcome])) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"the message\n\n{MASKS}\n\n0 of 1 questions pass")


def test_an_outcome_brings_the_drawing_along_as_json():
    run = Run()
    run.cell(1, ONE_AHEAD)
    outcome = run.question(2, "check.causal_mask(causal_mask)", "causal_mask")
    assert outcome.drawing is None  # `check` is not there yet
    run.cell(1, "from autograder.checks import masking as check")
    outcome = run.question(2, "check.causal_mask(causal_mask)", "causal_mask")
    assert outcome.problem.splitlines()[-1].strip().startswith("read:")
    drawing = json.loads(json.dumps(outcome.drawing))
    assert drawing["yours"][0] == ["x", "x", ".", "."]
    assert drawing["differ"][0] == [False, True, False, False]


# ---------------------------------------------------------------- hidden stays hidden


def test_a_hidden_check_draws_nothing(monkeypatch):
    question = Question("table", 2, "01-queries-keys-values#softmax")
    hidden, kept = Hidden(question, 0.5), []

    @hidden.check(0.5)
    def is_zero(answer, rng):
        """It is zero."""
        expect.close(answer, np.zeros((2, 2)), "a number", "zero")

    monkeypatch.setattr(
        hidden, "_message", lambda broken, *_: kept.extend(broken) or "broken"
    )
    hidden(np.ones((2, 2)))
    ((_, failure),) = kept
    assert failure.seen == "a number" and failure.drawing is None


def test_commands_that_check_nothing_need_no_numpy():
    program = "import sys, autograder.check; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
