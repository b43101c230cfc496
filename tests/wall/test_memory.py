"""The memory that an answer holds, here and behind the wall."""

import tracemalloc

import numpy as np
import pytest

from autograder.checks import cost
from autograder.checks.failures import CheckFailed
from autograder.checks.memory import peak
from autograder.tools.judging import catalog_of
from autograder.wall import Cell

FORGERS = {
    "stops": "tracemalloc.stop()",
    "resets": "tracemalloc.reset_peak()",
    "lies": "tracemalloc.get_traced_memory = lambda: (0, 300_000)",
}


def test_the_peak_counts_what_was_held_and_let_go():
    def answer(n):
        return np.zeros(n * 1000).sum() + np.zeros(n).sum()

    _, small = peak(answer, 100)
    value, large = peak(answer, 1000)
    assert value == 0 and 7_000_000 < large - small < 9_000_000
    assert not tracemalloc.is_tracing()


def test_who_measures_already_goes_on_measuring():
    tracemalloc.start()
    try:
        _, held = peak(lambda: np.zeros(10**6).sum())
        assert tracemalloc.is_tracing() and 8_000_000 <= held < 9_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("forger", ["stops", "resets"])
def test_an_answer_that_disturbs_the_measurement_is_told(forger):
    def answer():
        exec(FORGERS[forger], {"tracemalloc": tracemalloc})

    with pytest.raises(CheckFailed, match="stops or resets"):
        peak(answer)


@pytest.mark.parametrize("forger", [None, *FORGERS])
def test_a_table_of_all_scores_is_found_behind_the_wall(grader, forger):
    """Also where the student's code stops, resets or replaces what measures."""
    (plain,) = [
        entry
        for entry in catalog_of(cost).of("tiled_attention")
        if entry.id == "tiled_attention-plain"
    ]
    code = plain.code.replace(
        "    return", f"    {FORGERS.get(forger, 'pass')}\n    return"
    )
    test = "from autograder.checks import cost as check\n"
    test += "check.tiled_attention(tiled_attention)\n"
    test += "check.hidden.tiled_attention(tiled_attention)"
    cells = [
        Cell("first", "import tracemalloc\nimport numpy as np"),
        Cell("answer", code),
        Cell("test", test, "test_tiled_attention", 8.0),
    ]
    (result,) = grader.judge(cells, profile="numpy").results.values()
    assert result.score == 0
    assert ("stops or resets" in result.message) == (forger == "stops")
