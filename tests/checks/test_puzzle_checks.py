"""Puzzles: answers are compared by value, and what breaks a function is run."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from card_pictures import picture

from autograder.checks import puzzles
from autograder.checks.failures import CheckFailed
from autograder.checks.puzzle import SIDE, Agrees, made_up
from autograder.notebook.running import Run
from autograder.tools.judging import catalog_of, judge

QUESTIONS = puzzles.assignment.questions
NOTEBOOK = Path(__file__).parents[2] / "exercises/00-puzzles/puzzles.ipynb"
CELLS = {
    cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
}
WRITTEN = [name for name, q in QUESTIONS.items() if isinstance(q.checks[0], Agrees)]
SHOWN = [name for name in QUESTIONS if name not in WRITTEN]


def test_there_are_24_to_write_8_to_break_and_4_to_spot_for_a_point_each():
    kinds = [name.partition("_")[0] for name in SHOWN]
    assert (len(WRITTEN), kinds) == (24, ["break"] * 8 + ["spot"] * 4)
    assert {question.points for question in QUESTIONS.values()} == {1}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_card_draws_the_example_that_the_check_runs(name):
    check = QUESTIONS[name].checks[0]
    drawn = picture(check.example, check.right(**check.example), check.result)
    assert f"```text\n{drawn}\n```" in CELLS[f"card_{name}"]


def test_a_pass_promises_no_hidden_checks(capsys):
    QUESTIONS["entropy"](QUESTIONS["entropy"].checks[0].right)
    said = capsys.readouterr().out
    assert "1 of 1 visible checks pass; there are no others" in said


@pytest.mark.parametrize("name", SHOWN)
def test_a_card_shows_the_functions_that_the_check_runs(name):
    for function in QUESTIONS[name].checks[0].shown.values():
        assert inspect.getsource(function).strip() in CELLS[f"shown_{name}"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_right_answer_has_at_most_ten_lines(name):
    assert len(catalog_of(puzzles).references[name].code.strip().splitlines()) <= 11


@pytest.mark.parametrize("name", WRITTEN)
def test_inputs_are_new_each_time_though_the_first_ones_are_not(name):
    seen = []

    def watched(*args):
        seen[-1].append([np.asarray(arg).tolist() for arg in args])
        return check.right(*args)

    check = QUESTIONS[name].checks[0]
    for _ in range(2):
        seen.append([])
        check(watched)
    assert seen[0][:5] == seen[1][:5] and seen[0][5:] != seen[1][5:]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_table_of_the_inputs_that_are_the_same_for_everybody_is_rejected(name):
    check = QUESTIONS[name].checks[0]
    table = [check.example]
    table += [check.draw(np.random.default_rng(n), n) for n in range(4)]
    known = {repr(list(inputs.values())): inputs for inputs in table}

    def remembered(*args):
        return check.right(**known.get(repr(list(args)), check.example))

    with pytest.raises(CheckFailed):
        for _ in range(5):  # a number of tokens may have been drawn before
            check(remembered)


def told(question, code):
    """What the check says of an answer; the functions of its card are defined above."""
    run = Run()
    if shown := CELLS.get(f"shown_{question}"):
        run.cell(2, f"import numpy as np\n{shown}")
    run.cell(3, f"import numpy as np\n{code}")
    test = f"from autograder.checks import puzzles\npuzzles.{question}({question})"
    return run.question(4, test, question).problem


LIST = "  likely:   `np.array([...])` makes an array of the numbers in a list"


@pytest.mark.parametrize(
    ("question", "code", "seen", "hint"),
    [
        ("softmax_row", "return [0.5 for s in scores]", "the result is a list", True),
        ("softmax_row", "return None or 1", "the result is an int", False),
        ("break_softmax", "return [1000, 1000]", "`scores` is a list", True),
        ("break_softmax", "return 1000", "`scores` is an int", True),
        ("break_softmax", "return np.ones((1, 2))", "array of float64, shape", False),
    ],
)
def test_a_list_where_an_array_is_due_is_told_how_to_become_one(
    question, code, seen, hint
):
    parameter = "scores" * (question == "softmax_row")
    said = told(question, f"def {question}({parameter}):\n    {code}")
    assert seen in said and (LIST in said) == hint


def test_the_wrong_function_on_the_card_is_not_taken_for_a_misspelled_answer():
    said = told("break_softmax", "1000")
    assert said.endswith("no cell defines `break_softmax`")
    said = told("break_softmax", "def breaks_softmax():\n    return np.array([1000.0])")
    assert said.endswith("where you wrote `breaks_softmax`?")


@pytest.mark.parametrize("name", SHOWN)
def test_an_input_on_which_all_agree_shows_nothing(name):
    line = next(x for x in CELLS[f"card_{name}"].splitlines() if "`return " in x)
    code = line.partition("`return ")[2].partition("`")[0]
    answer = eval(f"lambda: ({code})", {"np": np})
    points, message, _ = judge(puzzles, name, answer)
    assert points == 0 and "gives what a right function gives" in message
    if name.startswith("spot"):
        assert "all functions on the card give the same result" in message


def test_a_row_of_wrong_numbers_is_told_beside_the_right_one():
    _, message, _ = judge(puzzles, "softmax_row", lambda scores: scores / scores.sum())
    assert "expected: [0.09, 0.2447, 0.6652] for scores = [1.0, 2.0, 3.0]" in message
    assert "; yours is [0.1667, 0.3333, 0.5]" in message
    _, message, _ = judge(puzzles, "scores", lambda Q, K: Q @ K.T)
    assert "[[1.0, 5.0]] for" in message and "; yours is [[2.0, 10.0]]" in message


def test_of_a_wrong_mask_the_first_wrong_row_is_shown():
    with pytest.raises(CheckFailed) as failed:
        QUESTIONS["causal_mask"](lambda n: np.tri(n, k=-1, dtype=bool) | (n < 4))
    assert failed.value.seen.endswith(": row 0 is .... (x = True)")
    assert failed.value.expected == "x... for n = 4"


def test_of_numbers_too_many_for_a_line_the_worst_is_told_beside_the_right_one():
    code = "def layer_norm(x, gain, shift):\n    z = x - x.mean(-1, keepdims=True)\n"
    code += "    return z / np.sqrt((z**2).mean(-1, keepdims=True) + 1e-5) + shift"
    assert "expected: 0.1412 at [2, 1] for x = an array of" in told("layer_norm", code)
    assert "; yours is -1.8305" in told("layer_norm", code)


@pytest.mark.parametrize("letter", ["A", "C"])
def test_the_letter_of_a_right_function_is_rejected_with_any_input(letter):
    answer = letter, np.array([0.0, 0.0, 3000.0])
    points, message, _ = judge(puzzles, "spot_softmax", lambda: answer)
    assert points == 0 and f"{letter} gives what a right function gives" in message
    assert "one function on the card gives another result" in message


OUTSIDE = {
    "break_softmax": [np.array([np.inf]), np.array([20_000.0]), [1.0], np.zeros(0)],
    "break_scores": [(np.eye(2), np.eye(3)), np.eye(2), None],
    "break_masked_row": [(np.array([-200.0, 1.0]), np.array([False, False]))],
    "break_split_heads": [(np.eye(4), 3), (np.eye(4), 2.0), (np.eye(4), True)],
    "break_repeat_kv": [(np.ones((2, 2)), 2), (np.ones((2, 2, 2)), 0)],
    "break_entropy": [np.array([0.9, 0.005]), np.array([1.1, -0.1])],
    "break_layer_norm": [(np.eye(2) * 3, np.ones(3), np.zeros(2))],
    "break_top_p": [(np.array([0.5, 0.5]), 0.4), (np.array([0.2, 0.8]), 1.0)],
    "spot_softmax": [("D", np.array([0.0, 3000.0])), np.array([0.0, 3000.0])],
    "spot_document_mask": [("C", np.array([1.0, 2.0, 1.0]))],
    "spot_next_token_loss": [("B", (np.eye(2), np.array([1, 2])))],
    "spot_rotate_pair": [("C", (np.array([-1.0, 0.0]), -1, 0.1))],
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_input_that_the_card_rules_out_is_rejected(name):
    said = []
    for answer in OUTSIDE[name]:
        points, message, _ = judge(puzzles, name, lambda answer=answer: answer)
        assert points == 0 and "gives what a right function gives" not in message
        said.append("The card does not allow this input" in message)
    assert any(said) is (name != "spot_softmax")  # whose answers name no function


def test_an_input_that_is_made_up_has_a_size_that_can_be_run():
    assert made_up(np.ones(SIDE), "`x`", 1).shape == (SIDE,)
    with pytest.raises(CheckFailed, match="1 to 64 entries"):
        made_up(np.ones(SIDE + 1), "`x`", 1)


def test_an_answer_that_changes_its_input_spoils_no_later_check():
    """A page runs many answers in one process."""

    def in_place(scores):
        scores -= scores.max()
        powers = np.exp(scores)
        return powers / powers.sum()

    right = puzzles.assignment.catalog.references["softmax_row"]
    for _ in range(2):
        points, message, _ = judge(puzzles, "softmax_row", in_place)
        assert points == 0 and "changed what it was given" in message
    answer = puzzles.assignment.catalog.answer(right)
    assert judge(puzzles, "softmax_row", answer)[:2] == (1.0, None)
    assert puzzles.ROW.tolist() == [1.0, 2.0, 3.0]
