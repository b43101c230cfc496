"""Checks that students write, behind the wall: what they earn, and what cheats earn."""

import json
from pathlib import Path

import pytest
from hunts import KINDS, PACKAGES, TEXTS, catalog, code
from shared import drawn, of_each

from autograder.checks.hunt import Hunt
from autograder.tools.judging import packages
from autograder.wall import Cell, Grader, Limits


@pytest.fixture
def hunt(grader):
    """Points and message of a student's check."""

    def hunt(code, name="check_softmax", first="import numpy as np", by=grader):
        short = PACKAGES[name]
        test = f"""from autograder.checks import {short} as check
check.{name}({name})
check.hidden.{name}({name})"""
        cells = [Cell("first", first), Cell("check", code)]
        cells.append(Cell("test", test, f"test_{name}", 4.0))
        torch = name in ("check_split_heads", "check_feed_forward")
        transcript = by.judge(cells, profile="torch" if torch else "numpy")
        assert transcript.held is None
        (result,) = transcript.results.values()
        return result.score, result.message or ""

    return hunt


@pytest.mark.either_wall
@pytest.mark.parametrize("name", drawn(PACKAGES, 3))
def test_the_reference_check_catches_every_mistake_behind_the_wall(hunt, name):
    known = catalog(name)
    assert hunt(known.references[name].code, name, known.prelude) == (4.0, "")


@pytest.mark.parametrize("name", drawn(PACKAGES, 3))
def test_a_check_of_shapes_earns_less_than_half_of_one_and_only_the_careful_one_all(
    hunt, best_grader, name
):
    first = catalog(name).prelude
    (careless, _), (half, said), (careful, _), (flawed, _) = (
        hunt(code(name, kind), name, first, best_grader) for kind in KINDS
    )
    assert careless < half < careful == 4.0 and flawed < half
    assert half >= 2.5 and "rejects" in said and "missed:" in said


def test_the_table_has_every_question_in_which_students_write_the_check():
    found = {
        name
        for one in packages()
        for name in one.assignment.questions
        if isinstance(getattr(one.hidden, name), Hunt)
    }
    assert found == PACKAGES.keys() == TEXTS.keys()


LADDER = {
    "careless": ("    assert np.ndim(softmax(np.ones((3, 3)))) == 2", 0),
    "sums": (
        "    w = softmax(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.0, 1.0, 0.0]]))"
        "\n    assert np.allclose(np.sum(w, axis=-1), 1)",
        4 / 3,  # a test that catches few of them
    ),
    "good": (
        "    x = np.array([[1.0, 2.0, 4.0], [900.0, 0.0, 1.0], [0.0, 0.5, 1.0]])"
        "\n    e = np.exp(x - x.max(axis=-1, keepdims=True))"
        "\n    assert np.allclose(softmax(x), e / e.sum(axis=-1, keepdims=True))",
        2 + 2 * 6 / 11,
    ),
}


@pytest.mark.either_wall
@pytest.mark.parametrize("kind", LADDER)
def test_points_grow_with_the_mistakes_that_are_caught(hunt, kind):
    body, points = LADDER[kind]
    score, message = hunt(f"def check_softmax(softmax):\n{body}\n")
    assert score == pytest.approx(points, abs=0.01), message
    assert "missed:" in message or score == 0


def test_what_slipped_through_is_told_by_diagnosis_and_never_as_code(hunt):
    body, _ = LADDER["good"]
    _, message = hunt(f"def check_softmax(softmax):\n{body}\n")
    assert "missed:   The rows sum to 1 along the last axis, whatever" in message
    assert "caught:   The sigmoid is used" in message
    for entry in catalog("check_softmax").of("softmax"):
        code = [line.strip() for line in entry.code.splitlines()]
        assert not [line for line in code if len(line) > 12 and line in message]


SHARED = """
import mmap, os, zlib
import numpy as np
seen = mmap.mmap(-1, 4096)
"""
with Path(__file__).with_name("cheats.jsonl").open(encoding="utf-8") as file:
    LINES = [json.loads(line) for line in file]
CHEATS = {line["name"]: line["code"] for line in LINES}
WAYS = [
    [line["name"] for line in LINES if line["kind"] == kind]
    for kind in dict.fromkeys(line["kind"] for line in LINES)
]


@pytest.fixture
def brief(wall, graders):
    """A grader whose patience with one question is short."""
    return graders(wall, Limits(question_seconds=2.0, patience=4.5))


def test_what_is_no_cheat_earns_points_by_the_same_grader(hunt, brief):
    """A cheat earns nothing for what it does, and not because no fork can be made."""
    body, points = LADDER["good"]
    code = f"def check_softmax(softmax):\n{body}\n"
    assert hunt(code, by=brief)[0] == pytest.approx(points, abs=0.01)


@pytest.mark.either_wall
@pytest.mark.parametrize("cheat", of_each(WAYS, 2))
def test_a_cheat_earns_nothing(hunt, brief, cheat):
    score, message = hunt(CHEATS[cheat], first=SHARED, by=brief)
    assert score == 0, message


@pytest.mark.either_wall
@pytest.mark.parametrize("status", [0, 77])
@pytest.mark.parametrize("fork", ["", "if not os.fork(): time.sleep(3)"])
def test_a_check_that_ends_its_process_is_not_waited_for(hunt, status, fork):
    """Whatever its exit status says, and whoever else has its pipe."""
    lines = ("import os, time", fork or "pass", f"os._exit({status})")
    code = "def check_softmax(softmax):\n" + "".join(f"    {one}\n" for one in lines)
    assert "it ended the process" in hunt(code)[1]


def test_a_function_that_is_asked_for_too_much_harms_nobody(hunt):
    code = """def check_causal_mask(causal_mask):
    assert causal_mask(2).tolist() == [[True, False], [True, True]]
    for n in (10**5, 10**9):
        try:
            causal_mask(n)
        except Exception:
            pass
"""
    score, message = hunt(code, "check_causal_mask")
    assert 2 < score < 4, message


@pytest.mark.either_wall
def test_what_a_check_asks_of_numpys_errors_prints_nothing_beside_the_judge(
    hunt, wall, capfd
):
    """NumPy would print on the terminal of whoever grades."""
    code = """def check_softmax(softmax):
    np.seterr(all="print")
    assert np.allclose(softmax(np.array([800.0, 800.0])), 0.5)
"""
    with Grader(wall=wall) as own:  # that writes where we read
        score, message = hunt(code, by=own)
    assert 0 < score < 2, message
    assert "encountered" not in "".join(capfd.readouterr())


def test_what_a_function_changes_raises_and_warns_of_reaches_the_check(hunt):
    """So the mistakes that can only be seen there can be caught."""
    known = catalog("check_softmax")
    code = """import warnings
def check_softmax(softmax):
    x = np.array([[0.0, 800.0], [3.0, 1.0]])
    before = x.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            softmax(x)
        except RuntimeWarning:
            assert False, "overflow"
    assert (x == before).all()
    assert abs(np.sum(softmax(x)) - 2) < 1e-9
"""
    _, message = hunt(code)
    caught = [line for line in message.splitlines() if "caught:" in line]
    caught = [
        line.partition("caught:")[2].partition(" (no points")[0] for line in caught
    ]
    named = {e.diagnosis: e.id.partition("-")[2] for e in known.of("softmax")}
    caught = {named[diagnosis.strip()] for diagnosis in caught}
    assert {"overflow", "in-place"} <= caught


@pytest.mark.either_wall
def test_gradients_and_random_numbers_cross_to_a_planted_module(hunt):
    code = """def check_feed_forward(FeedForward):
    torch.manual_seed(1)
    network = FeedForward(3, 5, dropout=0.5)
    x = torch.ones(2, 3, requires_grad=True)
    state = torch.get_rng_state()
    first = network(x)
    second = network(x)
    torch.set_rng_state(state)
    assert torch.equal(network(x), first)
    network.linear2.weight.grad = None
    network.eval()
    network(x).sum().backward()
    assert x.grad is not None and network.linear1.weight.grad.abs().sum() > 0
    assert len(list(network.parameters())) == 4 and isinstance(network, nn.Module)
    assert network.linear1.weight.shape == (5, 3)
"""
    first = "import torch\nfrom torch import nn"
    score, message = hunt(code, "check_feed_forward", first)
    assert "caught:   The layers have no biases" in message
    assert message.count("caught:") == 2  # the other one earns nothing: it is easy
    assert score == pytest.approx(4 / 3, abs=0.01), message  # for few of them
