"""Limits that are meant for the greedy cost honest work nothing."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace

import pytest
from corpus import SQUARE, Case, text_of
from machine import SHORT, alive, family, gone
from shared import drawn

from autograder.errors import PutOff
from autograder.wall import Cell, Grader
from autograder.wall.judge import student


def body(*lines):
    return "import time\ndef square(x):\n" + "".join(f"    {line}\n" for line in lines)


def points(transcript):
    assert transcript.held is None
    return [result.score for result in transcript.results.values()]


@pytest.mark.either_wall
def test_a_second_of_waiting_is_no_second_of_work(strict):
    """A busy machine gives a process little of each second; that costs no points."""
    waits = 2 * SHORT.question_seconds
    slow = body(f"time.sleep({waits})", "return x * x")
    seen = strict.judge(Case("", square=slow).cells())
    assert points(seen) == [2.0, 3.0]
    assert seen.results["test_square"].seconds > waits
    busy = body("while True: pass")
    assert points(strict.judge(Case("", square=busy).cells())) == [0.0, 3.0]


class OutOfTime:
    """A channel to a student's process in which every cell runs out of time."""

    def send(self, *_, **__):
        pass

    def receive(self, **_):
        return [], "OutOfTime", None


@pytest.mark.parametrize("patience, again", [(5.0, False), (0.0, True)])
def test_only_time_on_the_clock_runs_out_because_others_are_at_work(
    monkeypatch, patience, again
):
    """Else each endless cell of a class would be run twice on a busy machine."""
    monkeypatch.setattr(student, "busy", lambda: True)
    limits = replace(SHORT, patience=patience)
    process = student.StudentProcess(None, OutOfTime(), limits, {})
    assert process.run(1, Cell("cell", "")).failed == "OutOfTime"
    assert process.timed_out_under_load is again


@pytest.fixture
def short(best_grader, graders):
    """A short patience, behind the best wall here: judges are the same everywhere."""
    return graders(best_grader.wall, replace(SHORT, patience=4.0))


@pytest.mark.parametrize("word", drawn(["cell", "question"]))
def test_a_judge_that_was_stopped_for_a_while_takes_the_reply_that_lies_there(
    short, word
):
    """Ctrl-Z, or a laptop that sleeps: its deadline is over when it goes on."""
    short.warm()
    parent = short._parents["judge", "numpy"].process.pid
    late = short.limits.question_seconds * short.limits.patience + 3
    stopped = []

    def stop():
        while not (judges := family(parent)[1:]):  # it is forked any moment now
            time.sleep(0.001)
        time.sleep(0.5)
        stopped.extend(pid for pid in judges if alive(pid))
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        time.sleep(late)
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    waits = "time.sleep(1)"
    case = {
        "cell": Case("", first=f"import time\n{waits}"),
        "question": Case("", square=body(waits, "return x * x")),
    }[word]
    while not stopped:  # once more where this test was too late
        thread = threading.Thread(target=stop)
        thread.start()
        seen = short.judge(case.cells())
        thread.join()
    assert stopped and points(seen) == [2.0, 3.0]
    assert "ran longer" not in text_of(seen)


def test_threads_of_torch_in_a_cell_hang_no_later_question(best_grader):
    """Threads are not there in a fork, which would wait for them."""
    large = "(torch.ones(1000, 1000) @ torch.ones(1000, 1000)).sum().item()"
    cells = [
        Cell("cell", f"import torch\ntorch.set_num_threads(4)\n{large}"),
        Cell("answer", f"def f(): return {large}"),
        Cell("test", "f()", "test_f", 1.0),
    ]
    seen = best_grader.judge(cells, profile="torch")
    assert points(seen) == [1.0] and str(1000.0**3) in text_of(seen)


SPINNING = """import os, time
for _ in range(20):
    try:
        if os.fork() == 0:
            while True: pass
    except OSError: break
time.sleep(3)"""


@pytest.mark.either_wall
def test_many_spinning_processes_cost_no_neighbour_points(wall, strict):
    """Or it is known that the neighbour was in a hurry; then it is judged once more."""
    work = body("for _ in range(10**6): pass", "return x * x")
    neighbour = Case("", square=work).cells()
    strict.judge(neighbour)  # its grader is warm
    started = threading.Event()
    with Grader(wall=wall, limits=SHORT) as other:
        other.warm()

        def spin():
            started.set()
            other.judge([Cell("cell", SPINNING)])

        thread = threading.Thread(target=spin)
        thread.start()
        started.wait()
        spinning = other._parents["sandbox", "numpy"].process.pid
        while thread.is_alive() and len(family(spinning)) < 10:
            time.sleep(0.001)
        seen = strict.judge(neighbour)
        thread.join()
    assert seen.timed_out_under_load or points(seen) == [2.0, 3.0]


def test_an_honest_answer_without_waiting_is_in_no_hurry(strict):
    seen = strict.judge(Case("", square=SQUARE).cells())
    assert points(seen) == [2.0, 3.0] and not seen.timed_out_under_load


ENDLESS = body("while True: pass")
WRONG = body("return x + x")
PUT_OFF = {
    "in-the-first-run": {"square": ENDLESS},
    "below-a-mistake": {"square": WRONG, "total": ENDLESS.replace("square", "total")},
    "in-a-cell": {"first": "while True: pass"},
}
NOT_PUT_OFF = {
    "right": {},
    "wrong": {"square": WRONG},
    "ends-the-process": {"square": body("import os", "os._exit(1)")},
}


@pytest.fixture
def hurried(wall, graders):
    """A grader behind which others wait."""
    patient = replace(SHORT, question_seconds=5.0, patience=20.0)
    grader = graders(wall, patient)
    grader.hurried = True
    yield grader
    grader.hurried = False


@pytest.mark.either_wall
@pytest.mark.parametrize("how", PUT_OFF)
def test_what_never_ends_is_put_off_and_leaves_nothing_running(hurried, how):
    with pytest.raises(PutOff):
        hurried.judge(Case("", **PUT_OFF[how]).cells())
    parent = hurried._parents["sandbox", "numpy"].process.pid
    assert gone(family(parent)[2:])
    assert points(hurried.judge(Case("").cells())) == [2.0, 3.0]


@pytest.mark.either_wall
@pytest.mark.parametrize("how", NOT_PUT_OFF)
def test_what_ends_has_the_verdict_that_it_has_without_hurry(hurried, strict, how):
    """On a busy machine it may be put off as well, and then has it later."""
    cells = Case("", **NOT_PUT_OFF[how]).cells()
    try:
        seen = hurried.judge(cells)
    except PutOff:
        assert how == "ends-the-process"
        return
    due = strict.judge(cells)
    assert points(seen) == points(due)
    for name, result in due.results.items():
        assert seen.results[name].message == result.message
