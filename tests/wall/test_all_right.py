"""A submission in which all is right is judged without forks; no other one notices."""

import pytest

from autograder.tools.judging import catalog_of
from autograder.wall import Cell

HOME = "import os\nimport numpy as np\nhome = os.getpid()"
SAME = "def f():\n    return os.getpid() == home"
HUNT = """from autograder.checks import attention as check
check.check_softmax(check_softmax)
check.hidden.check_softmax(check_softmax)"""


@pytest.fixture
def judged(grader):
    """Points of the questions of a submission: student's cells and tests, in order."""

    def judged(*sources, points=4.0):
        cells = []
        for number, source in enumerate(sources):
            test = f"test_{number}" if source.startswith(("assert", "from")) else None
            cells.append(Cell(f"cell-{number}", source, test, points if test else 0.0))
        transcript = grader.judge(cells)
        assert transcript.held is None
        return [result.score for result in transcript.results.values()], transcript

    return judged


@pytest.fixture(scope="module")
def reference():
    """A student's check that earns all points."""
    from autograder.checks import attention

    return catalog_of(attention).references["check_softmax"].code


def test_no_question_has_a_fork_when_all_is_right(judged):
    assert judged(HOME, SAME, "assert f()", "assert f()")[0] == [4, 4]


def test_every_question_has_a_fork_when_one_is_wrong(judged):
    assert judged(HOME, SAME, "assert f()", "assert not f()")[0] == [0, 4]


def test_no_function_has_a_fork_when_a_students_check_is_right(judged, reference):
    inner = "def check_softmax(softmax):\n    assert os.getpid() == home"
    code = f"{reference}\nwhole = check_softmax\n{inner}\n    whole(softmax)"
    assert judged(HOME, code, HUNT)[0] == [4]


def test_a_check_that_changes_what_it_checks_with_loses_nothing(judged, reference):
    """It works once in each process: behind the shortcut there are forks as ever."""
    code = f"""{reference}
whole, used = check_softmax, []
def check_softmax(softmax):
    if not used:
        used.append(True)
        whole(softmax)"""
    assert judged(HOME, code, HUNT)[0] == [4]


def test_what_a_question_leaves_reaches_no_other(judged):
    code = "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)"
    scores, transcript = judged(
        code, "assert f() == 1", "assert f() == 1", "print(f())"
    )
    assert scores == [4, 4]
    assert transcript.outputs["cell-3"][0]["text"] == "1\n"


def test_cells_show_nothing_of_the_questions_before_them(judged):
    code = """import os, random, sys
import numpy as np, matplotlib.pyplot as plt
def f():
    print("of a question")
    os.write(1, b"of a question")
    plt.plot([1, 2])
    np.seterr(all="raise")
    np.set_printoptions(precision=2)
    return random.random() + np.random.rand()
def now():
    return random.random(), np.random.rand(), np.geterr(), np.get_printoptions()"""
    alone = judged(code, "now()")[1].outputs["cell-1"]
    scores, asked = judged(code, "assert f() > 0", "now()")
    assert scores == [4]
    assert asked.outputs["cell-2"] == [alone[0] | {"execution_count": 3}]


def test_cells_cannot_show_what_a_question_asked_before_them(judged):
    code = "seen = []\ndef f(x):\n    seen.append(x)\n    return x"
    scores, transcript = judged(code, "assert f(4711) == 4711", "print(seen)")
    assert scores == [4]
    assert transcript.outputs["cell-2"][0]["text"] == "[]\n"


@pytest.mark.parametrize("what", ["os._exit(0)", "os.kill(os.getpid(), 9)", "1 / 0"])
def test_what_ends_a_question_costs_that_one_alone(judged, what):
    bad = f"def bad():\n    {what}"
    scores = judged(HOME, SAME, bad, "assert not f()", "assert bad()", "assert not f()")
    assert scores[0] == [4, 0, 4]
