"""A class is graded to the end, whatever dies on the way."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from classroom import UNPROTECTED
from dying import dies_on_eve
from shared import drawn

from autograder import wall
from autograder.grading import jobs
from autograder.grading.driver import Driver
from autograder.grading.progress import Progress
from autograder.grading.store import Store


@pytest.fixture(autouse=True)
def pool(inline):
    """Two workers are processes; one, which tells what is due, is this process."""
    inline(most=1)


@pytest.mark.parametrize("how_often", drawn(["once", "always"]))
def test_a_worker_that_dies_costs_the_others_nothing(
    classroom, right, how_often, monkeypatch
):
    names = ["ada", "bela", "eve", "fatou"]
    for name in names:
        says = "# eve was here" if name == "eve" else ""
        classroom.hand_in(name, right.replace("A query says", f"{says} A query says"))
    marker = classroom.root / "marker"
    marker.write_text(how_often)
    monkeypatch.setattr(jobs, "work", partial(dies_on_eve, str(marker)))
    with Store(classroom.course) as store:
        driver = Driver(
            classroom.course, store, workers=2, sandbox=not wall.available()
        )
        submissions = classroom.course.submissions(classroom.course.assignments())
        counts = driver.grade(submissions, Progress(len(submissions)))
        results = store.results("01-attention")
    scores = {student: verdict.score for student, verdict in results.items()}
    if how_often == "once":
        assert scores == dict.fromkeys(names, 20.0)
        assert counts["held"] == 0
    else:
        assert scores.pop("eve") is None
        assert "ended unexpectedly, twice" in results["eve"].reason
        assert set(scores.values()) == {20.0}


def test_a_run_that_is_cut_off_has_stored_who_was_late(classroom, right):
    """Exports and platforms take points off without waiting for the class's end."""
    with open(classroom.root / "nbgrader_config.py", "a") as config:
        config.write('c.Autograder.due = {"01-attention": "2026-11-01 23:59"}\n')
        config.write('c.LateSubmissionPlugin.penalty_method = "zero"\n')
    folder = classroom.hand_in("ada", right)
    (folder / "timestamp.txt").write_text("2026-11-05 12:00:00 UTC")
    with Store(classroom.course) as store:
        driver = Driver(classroom.course, store, sandbox=not wall.available())
        submissions = classroom.course.submissions(classroom.course.assignments())
        driver.grade(submissions, Progress(1))  # `grade` has more to do after it
        verdict = store.results("01-attention")["ada"]
    assert (verdict.lateness, verdict.score) == ("3 d 12 h late", 0.0)


def grade(classroom, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "autograder", "grade", "--workers", "2"]
    return subprocess.Popen(
        [*command, *UNPROTECTED, *options],
        cwd=classroom.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def workers_of(process: subprocess.Popen) -> list[int]:
    """The process ids of all that a process started, and what those started."""
    found = children_of(process.pid)
    for pid in found:  # grows while we go
        found += children_of(pid)
    return found


def children_of(pid: int) -> list[int]:
    """What a process and its threads have started; either may end meanwhile."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/task/{task}/children").read_text()
                found += map(int, text.split())
    return found


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


MOMENTS = int(os.environ.get("MOMENTS", "3"))  # MOMENTS=50 kills more often
TIMES = [pytest.param(1, id="once"), pytest.param(MOMENTS, marks=pytest.mark.long)]


def kill_a_helper(process: subprocess.Popen, chance: random.Random) -> list[int]:
    """End a worker or a warm parent of a grading, and list all that it started."""
    process.stdout.readline()
    time.sleep(chance.random() / 4)
    workers = children_of(process.pid)
    parents = [pid for worker in workers for pid in children_of(worker)]
    family = workers_of(process)
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(workers + parents), signal.SIGKILL)
    return family + workers_of(process)


@pytest.mark.parametrize("kills", TIMES)
def test_a_killed_run_goes_on_where_it_was(classroom, right, wrong, kills):
    """Whatever dies then; and two workers give the same as one."""
    size = 4 * kills + 1
    for number in range(size):
        classroom.hand_in(f"s{number:03}", wrong if number % 3 else right)
    undisturbed = classroom.grade()
    (classroom.root / "gradebook.db").unlink()
    last_of_all = classroom.root / f"submitted/s{size - 1:03}"
    last_of_all.rename(classroom.root / "late")  # so that one is left after the kills
    chance = random.Random(7)
    for _ in range(kills):
        process = grade(classroom)
        new = 0
        while new < 2:  # two verdicts of its own, and a moment more
            new += "before" not in process.stdout.readline()
        time.sleep(chance.random() / 20)
        children = workers_of(process)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 60
        while any(map(alive, children)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(alive, children))
    (classroom.root / "late").rename(last_of_all)
    done = len(stored(classroom))
    assert 2 * kills <= done < size
    last = grade(classroom)
    kill_a_helper(last, chance)
    printed, _ = last.communicate(timeout=60 + size)
    assert last.returncode == 0
    said = f"{done} of them done before: {size} graded, 0 held."
    assert said in printed.splitlines()[-1]
    assert classroom.grade() == undisturbed


def stored(classroom) -> list[str]:
    with Store(classroom.course) as store:
        return list(store.results("01-attention"))
