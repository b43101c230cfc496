"""What passes is asked in place, what loses points in forks; no other one notices."""

import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.notebook.cells import OutOfTime
from autograder.tools.judging import catalog_of
from autograder.wall import Cell, Grader, Limits
from autograder.wall.judge.forks import InPlace
from autograder.wall.judge.remote_exceptions import Stopped, Unsure
from autograder.wall.sandbox import request_handler

ORDER = tomllib.loads(Path(__file__).with_name("order.toml").read_text("utf-8"))
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


def test_from_the_first_that_loses_points_on_every_question_has_a_fork(judged):
    tests = "assert f()", "assert not f()", "assert f()", "assert not f()"
    assert judged(HOME, SAME, *tests)[0] == [4, 4, 0, 4]


def test_no_function_has_a_fork_when_a_students_check_is_right(judged, reference):
    inner = "def check_softmax(softmax):\n    assert os.getpid() == home"
    code = f"{reference}\nwhole = check_softmax\n{inner}\n    whole(softmax)"
    assert judged(HOME, code, HUNT)[0] == [4]


def test_a_check_is_tried_on_all_functions_once_more(judged, reference):
    """Both halves are in one process, so a check that fails after all but one fails."""
    from autograder.checks import attention

    known = catalog_of(attention)
    functions = len(known.right("softmax")) + len(known.hunted("softmax"))
    code = f"""{reference}
whole, tried = check_softmax, set()
def check_softmax(softmax):
    tried.add(len(tried))
    assert os.getpid() == home
    if len(tried) > MOST:
        raise ValueError
    whole(softmax)"""
    for most, points in ((functions - 1, 0), (functions, 4)):
        limited = code.replace("MOST", str(most))
        assert judged(HOME, limited, HUNT)[0] == [points]


def test_the_second_sandbox_never_meets_the_visible_half(judged, reference):
    """A check that breaks on some functions loses points if it meets them there.

    It knows the second sandbox by this: no question was asked there before.
    """
    from autograder.checks import attention

    catalog, x = catalog_of(attention), np.diag([1.0, 2.0, 4.0])

    def seen(entry):
        return repr(np.round(catalog.answer(entry)(x.copy()), 4).tolist())

    right = {seen(one) for one in catalog.right("softmax")}
    half = catalog.half("check_softmax").wrong
    known = {one.id: seen(one) for one in catalog.hunted("softmax")}
    visible = {text for id, text in known.items() if id in half} - right
    hidden = {text for id, text in known.items() if id not in half} - right - visible
    assert visible and hidden
    code = f"""{reference}
whole, asked = check_softmax, []
def f():
    asked.append(1)
    return True
def check_softmax(softmax):
    weights = softmax(np.array({x.tolist()}))
    if not asked and repr(np.round(weights, 4).tolist()) in SOME:
        raise ValueError
    whole(softmax)"""
    first, second = (
        judged(HOME, code.replace("SOME", repr(some)), "assert f()", HUNT)[0][1]
        for some in (visible, hidden)
    )
    assert first == 4 > second


def test_a_check_that_is_right_is_judged_in_two_sandboxes(
    judged, reference, monkeypatch
):
    """In the second one, the cells run once more, and then the check."""
    started, start = [], Grader._start_student
    monkeypatch.setattr(
        Grader, "_start_student", lambda *a: (started.append(1), start(*a))[1]
    )
    test = "assert home"
    assert judged(HOME, "print(1)", test, reference, HUNT)[0] == [4, 4]
    assert len(started) == 2


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


def test_what_hangs_is_not_waited_for():
    """Its process is ended as a whole, not asked to end the question first."""
    deaf = SimpleNamespace(end=1e9, given_up=None, ask=lambda *_: True)
    with pytest.raises(Unsure), InPlace(deaf, Limits()) as here:
        here.link.stopped = Stopped("it was not done")


def test_an_answer_that_is_out_of_time_gets_no_more_requests():
    def endless():
        raise OutOfTime

    with pytest.raises(OutOfTime):
        request_handler.answer(("call", endless, (), {}), {}, request_handler.Objects())


# What is left behind by a quick look that was all right, and one more question.
LEFT = {
    "a-thread-that-writes-to-all-sockets": """def f():
    import threading, socket, stat
    def write():
        for fd in range(3, 256):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b"\1\0\0\0N")
            except OSError: pass
    thread = threading.Thread(target=write)
    thread.start(); thread.join()
    return True""",
    "no-descriptor": """kept = []
def f():
    try:
        while True: kept.append(os.dup(1))
    except OSError: return True""",
    "no-process": """def f():
    import time
    try:
        while True:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
    except OSError: return True""",
    "limits": """def f():
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return True""",
    "an-alarm": """def f():
    import signal
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    return True""",
    "a-daemon": """def f():
    import time
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(60)
    return True""",
}


@pytest.mark.parametrize("what", LEFT)
def test_what_a_quick_answer_leaves_costs_no_other_submission(judged, grader, what):
    below = "import time; time.sleep(0.05); print(len(open('/dev/null').read()))"
    cells = [HOME, LEFT[what], "assert f()", below, "assert f()"]
    sources = [
        Cell(str(n), s, None if "assert" not in s else f"test_{n}", 4.0)
        for n, s in enumerate(cells)
    ]
    transcript = grader.judge(sources)  # held, or what its own forks are worth
    assert transcript.held or transcript.outputs["3"][0]["text"] == "0\n"
    assert judged(HOME, SAME, "assert f()", "assert f()")[0] == [4, 4]


@pytest.mark.parametrize("name", ORDER)
def test_the_order_of_questions_gives_nothing_and_costs_nothing(judged, name):
    points, due = judged(*ORDER[name]["cells"])[0], ORDER[name]["due"]
    for given, wanted in zip(points, due, strict=True):  # below 0: all or nothing
        assert given == wanted or (wanted < 0 and given in (0, 4)), points


STATEFUL = {  # checks that are right as long as each function meets a fresh process
    "an-input-that-a-function-changes": """x = np.diag([1.0, 2.0, 4.0]) + 1
powers = np.exp(x - x.max(axis=-1, keepdims=True))
right = powers / powers.sum(axis=-1, keepdims=True)
def check_softmax(softmax):
    before = x.copy()
    weights = softmax(x)
    assert np.array_equal(x, before)
    assert np.allclose(weights, right) and inner(softmax) is None""",
    "cases-that-are-used-up": """cases = iter([0])
def check_softmax(softmax):
    for case in cases:
        inner(softmax)""",
    "patience-for-three": """tried = []
def check_softmax(softmax):
    tried.append(1)
    if len(tried) < 4:
        inner(softmax)""",
    "anger-after-three": """tried = []
def check_softmax(softmax):
    tried.append(1)
    assert len(tried) < 4
    inner(softmax)""",
}


@pytest.mark.either_wall
@pytest.mark.parametrize("first", ["assert home", "assert not home"])
@pytest.mark.parametrize("how", STATEFUL)
def test_a_check_with_a_state_is_tried_in_forks(judged, reference, how, first):
    code = f"{reference}\ninner = check_softmax\n{STATEFUL[how]}"
    for _ in range(3):  # the functions have another order each time
        assert judged(HOME, first, code, HUNT)[0][-1] == 4
