"""A check with a memory: it earns nothing, and no other question learns from it.

What a check sees of one function must not help it with the next, nor the answer to
another question. ``memories`` has the places where it could keep something.
"""

import os
import tempfile
from collections import Counter

import hunts
import numpy as np
import pytest
from memories import PLACES

from autograder.checks.planted import Planting
from autograder.wall import Cell

DAILY = ("a-global", "a-file", "shared-memory")
WAYS = [
    way if way in DAILY else pytest.param(way, marks=pytest.mark.long) for way in PLACES
]
TEST = """from autograder.checks import {0} as check
check.{1}({1})
check.hidden.{1}({1})"""
NUMBERED = """import zlib
def number(softmax):
    scores = np.array([[1.0, 2.0, 4.0], [0.5, 3.0, 0.0]])
    values = np.round(np.asarray(softmax(scores), float), 6)
    return 1 + zlib.crc32(values.tobytes()) % 499
"""
FIRST_IS_RIGHT = """
def check_softmax(softmax):
    known, seen = get(), number(softmax)
    if known is None:
        return put(seen)
    assert known == seen"""
MOST_ARE_RIGHT = """
def check_softmax(softmax):
    with open("seen", "a") as file:
        file.write(f"{number(softmax)} ")
    seen = open("seen").read().split()
    most = max(seen, key=seen.count)
    assert seen.count(most) < 2 or seen[-1] == most"""
KILLS = """
    if len(seen) == {0}:
        import os, signal
        os.kill(os.getppid(), signal.SIGKILL)"""


pytestmark = pytest.mark.best_wall


@pytest.fixture
def points(grader):
    """The points of each question of a notebook, by its cells from top to bottom."""

    def points(*sources):
        cells = []
        for number, source in enumerate(sources):
            hidden = source.partition("check.hidden.")[2]
            test = hidden.partition("(")[0] or None
            cells.append(Cell(f"cell-{number}", source, test, 4.0 if test else 0.0))
        transcript = grader.judge(cells)
        assert transcript.held is None
        return {name: r.score for name, r in transcript.results.items()}

    return points


def earned(points, *sources):
    """What a check earns; who guesses an order may be lucky once, not three times."""
    test = TEST.format("attention", "check_softmax")
    for _ in range(3):
        if (found := points(*sources, test)["check_softmax"]) == 0:
            break
    return found


@pytest.mark.parametrize("name", hunts.PACKAGES)
def test_who_guesses_the_first_right_function_is_lucky_once_in_fifty_at_best(name):
    """In place there is one sandbox for all functions and one for the hidden half; in
    forks, which are asked when these differ, one more for the visible half.

    Whoever takes the k-th function for the first right one is as lucky for every k.
    """
    catalog = hunts.catalog(name)
    subject, half = catalog.entries[name].hunts, catalog.half(name)
    rights, wrongs = len(catalog.right(subject)), len(catalog.hunted(subject))
    visible = len(half.right), len(half.wrong)

    def luck(right, wrong):
        planting = Planting([None] * (right + wrong), right, "f")
        rng, found = np.random.default_rng(0), Counter()
        for _ in range(4000):
            order = planting.order(rng)
            found[next(k for k, n in enumerate(order) if n < right)] += 1
        assert found.keys() == set(range(wrong + 1))
        assert max(found.values()) < 1.35 * 4000 / (wrong + 1)
        return 1 / (wrong + 1)

    fast = luck(rights, wrongs) * luck(rights - visible[0], wrongs - visible[1])
    assert fast + fast * luck(*visible) < 1 / 50


@pytest.mark.parametrize("place", WAYS)
def test_what_a_check_keeps_of_the_first_function_earns_nothing(points, place):
    assert earned(points, PLACES[place], NUMBERED + FIRST_IS_RIGHT) == 0


@pytest.mark.parametrize(
    "kills",
    ["", *(pytest.param(KILLS.format(n), marks=pytest.mark.long) for n in (12, 19))],
)
def test_a_vote_of_all_functions_so_far_earns_nothing(points, kills):
    """Nor does it help to have the trials begin again when the votes are counted."""
    first = "import numpy as np"
    assert earned(points, first, NUMBERED + MOST_ARE_RIGHT + kills) == 0


def test_what_decides_by_the_clock_earns_nothing(points):
    first = "import numpy as np, time\n"
    code = "def check_softmax(softmax):\n    assert time.monotonic_ns() // 10**6 % 3"
    assert earned(points, first + code) == 0


ORACLE = """import json, os
import numpy as np
def check_causal_mask(causal_mask):
    put(json.dumps([np.asarray(causal_mask(n)).tolist() for n in range(1, 20)]))
    assert np.asarray(causal_mask(2)).tolist() == [[True, False], [True, True]]
"""
ASKS = """
def causal_mask(n):
    return np.array(json.loads(get())[n - 1])
"""
SHELVES = {
    "a-global": "def put(text): globals().update(kept=text)\ndef get(): return kept",
    "a-file": "def put(text): open('kept', 'w').write(text)\n"
    "def get(): return open('kept').read()",
    "a-temporary-file": "import tempfile\n"
    "def put(text): open(tempfile.gettempdir() + '/kept', 'w').write(text)\n"
    "def get(): return open(tempfile.gettempdir() + '/kept').read()",
}


@pytest.mark.parametrize(
    "shelf",
    [
        "a-file",
        *(pytest.param(s, marks=pytest.mark.long) for s in SHELVES if s != "a-file"),
    ],
)
def test_the_function_that_is_hunted_answers_no_other_question(points, shelf):
    """Wherever the check stands, it is tried when all other questions are judged."""
    check = SHELVES[shelf] + "\n" + ORACLE, TEST.format("masking", "check_causal_mask")
    answer = ASKS, TEST.format("masking", "causal_mask")
    found = points(*check, *answer)
    assert found["causal_mask"] == 0 < found["check_causal_mask"]


def test_a_check_is_tried_as_it_was_where_its_question_stands(points):
    """Also when a cell further down defines its name again."""
    first = "import numpy as np"
    good = """def check_causal_mask(causal_mask):
    wanted = np.tril(np.ones((3, 3), bool))
    assert np.array_equal(causal_mask(3), wanted)"""
    test = TEST.format("masking", "check_causal_mask")
    spoiled = "check_causal_mask = np = None"
    assert points(first, good, test, spoiled) == points(first, good, test)


@pytest.mark.long
def test_every_place_keeps_a_number_where_no_wall_is(tmp_path):
    """So each of the ways above could work."""
    for place, code in PLACES.items():
        if (child := os.fork()) == 0:
            folder = tmp_path / place
            folder.mkdir()
            os.chdir(folder)
            tempfile.tempdir = str(folder)
            names = {}
            try:
                exec(code, names)
                empty = names["get"]()
                names["put"](123)
                kept = [names["get"](), names["get"]()]
                os._exit(0 if (empty, kept) == (None, [123, 123]) else 1)
            finally:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0, place
