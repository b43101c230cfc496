"""Killed processes leave nothing behind; where there is no sandbox, it is said."""

import contextlib
import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from corpus import Case, text_of
from machine import family, forbid, gone, missing
from shared import drawn

from autograder.course import Course
from autograder.errors import NoSandbox
from autograder.release.sample_class import write_class
from autograder.wall import Grader, available, backend_choice, fork_server
from autograder.wall.warm_process import WarmProcess

RIGHT = Case("right", first="import time; time.sleep(0.3)")


@pytest.mark.either_wall
@pytest.mark.parametrize("kind", ["sandbox", "judge"])
@pytest.mark.parametrize("seed", drawn([1, 2, 3]))
def test_after_a_kill_nothing_is_left_and_the_next_is_judged(
    wall, kind, seed, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # others use /tmp now
    mounts = Path("/proc/self/mounts").read_text()
    with Grader(wall=wall) as grader:
        grader.warm()
        assert any(tmp_path.iterdir()) == (wall == "landlock")
        parent = grader._parents[kind, "numpy"].process.pid
        seen = []

        def kill():
            seen.extend(family(parent))
            os.kill(parent, signal.SIGKILL)

        timer = threading.Timer(random.Random(seed).uniform(0, 0.4), kill)
        timer.start()
        grader.judge(RIGHT.cells())
        timer.join()
        assert parent in seen and gone(seen)
        results = grader.judge(RIGHT.cells()).results
        assert [r.score for r in results.values()] == [2.0, 3.0]
        last = [p for q in grader._parents.values() for p in family(q.process.pid)]
    assert gone(last)
    assert Path("/proc/self/mounts").read_text() == mounts
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seed", drawn(range(int(os.environ.get("MOMENTS", "3")))))
def test_a_judge_that_is_killed_is_started_again(wall, grader, seed):
    """The process that judges one submission, at any moment; MOMENTS=50 tries more."""
    grader.warm()
    parent = grader._parents["judge", "numpy"].process.pid
    moment = random.Random(seed).uniform(0, 0.36)  # some come when it is done
    seen = []

    def kill():
        while not (judges := family(parent)[1:]):  # it is forked any moment now
            time.sleep(0.001)
        seen.extend(judges)
        time.sleep(moment)
        with contextlib.suppress(ProcessLookupError):
            os.kill(judges[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    transcript = grader.judge(RIGHT.cells())
    thread.join(10)
    assert seen and gone(seen)
    assert transcript.held is None
    assert [r.score for r in transcript.results.values()] == [2.0, 3.0]
    assert list(transcript.results) == ["test_square", "test_total"]


@pytest.mark.either_wall
@pytest.mark.parametrize("kind", ["sandbox", "judge"])
def test_a_warm_parent_that_is_killed_while_it_starts_is_started_again(
    wall, monkeypatch, kind
):
    start, killed = WarmProcess.wait_until_ready, []

    def kill_the_first(parent):
        if parent.kind == kind and not killed:
            killed.append(parent.process.pid)
            parent.process.kill()
        start(parent)

    monkeypatch.setattr(WarmProcess, "wait_until_ready", kill_the_first)
    with Grader(wall=wall) as grader:
        results = grader.judge(RIGHT.cells()).results
    assert killed and [r.score for r in results.values()] == [2.0, 3.0]


def test_a_sandbox_that_never_starts_holds_the_submission(monkeypatch):
    def refuse(parent):
        raise NoSandbox("no namespaces today")

    monkeypatch.setattr(WarmProcess, "wait_until_ready", refuse)
    with Grader(wall="namespaces") as grader:
        assert grader.judge(RIGHT.cells()).held == "no namespaces today"


ONCE = """import os, signal, tempfile
def once(name):
    path = tempfile.gettempdir() + '/' + name
    if not os.path.exists(path):
        open(path, 'w').close()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_question_whose_process_is_killed_gets_a_second_try(grader):
    once = Case(
        "", first=ONCE, square="def square(x):\n    once('a')\n    return x * x"
    )
    always = Case("", first=ONCE, square="def square(x):\n    once(str(os.getpid()))")
    for case, score in ((once, 2.0), (always, 0.0)):
        seen = grader.judge(case.cells())
        assert seen.results["test_square"].score == score
        assert seen.results["test_total"].score == 3.0
    assert "was stopped (signal 9)" in seen.results["test_square"].message


def test_a_cell_that_is_killed_gets_a_second_try(grader):
    """From outside, as a machine that is short of memory does it."""
    cells = RIGHT.cells()
    cells[1] = dataclasses.replace(cells[1], source="import time; time.sleep(1.5)")
    grader.judge(RIGHT.cells())
    parent = grader._parents["sandbox", "numpy"].process.pid
    before, killed = set(family(parent)), []

    def kill():
        end = time.monotonic() + 60
        for _ in range(2):  # in the quick run of all that is right, and in the other
            new: set[int] = set()
            while not new and time.monotonic() < end:  # it is forked any moment now
                time.sleep(0.001)
                new = set(family(parent)) - before.union(killed)
            time.sleep(0.5)  # the cell runs
            killed.extend(new)
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    seen = grader.judge(cells)
    thread.join()
    assert len(killed) == 2 and seen.held is None
    assert [r.score for r in seen.results.values()] == [2.0, 3.0]
    assert "signal 9" not in text_of(seen)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_another_system_is_told_where_to_grade(monkeypatch, system):
    monkeypatch.setattr(backend_choice.sys, "platform", system)
    said = available()
    assert "neither user namespaces nor Landlock" in said and "--no-sandbox" in said


@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("apparmor_restrict_unprivileged_userns", "1", "On Ubuntu"),
        ("unprivileged_userns_clone", "0", "On Debian"),
        ("max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("none of them", "", "--security-opt seccomp=unconfined"),
    ],
)
def test_a_linux_that_forbids_namespaces_is_told_the_remedy(
    monkeypatch, tmp_path, setting, value, remedy
):
    def where(*parts):
        return tmp_path / Path(*parts).name

    (tmp_path / setting).write_text(value + "\n")
    monkeypatch.setattr(backend_choice, "Path", where)
    said = backend_choice._advice("Operation not permitted", "no Landlock")
    assert remedy in said and "Operation not permitted" in said
    assert "no Landlock" in said
    assert "--no-sandbox" in said


SIXTHS = [pytest.param(6, id="a-sixth"), pytest.param(1, marks=pytest.mark.long)]


@pytest.fixture(params=SIXTHS)
def sample_class(request, tmp_path, seed):
    """Grades the sample class, but for those that wait for endless loops to end."""
    course = Course(Path(__file__).resolve().parents[2])
    with contextlib.redirect_stdout(None):
        write_class(course, course.chosen(["01-attention"]), tmp_path)
    class_of = sorted(tmp_path.glob("submitted/*/*/*.ipynb"))
    for number, notebook in enumerate(class_of, start=seed):
        if b"while True" in notebook.read_bytes() or number % request.param:
            shutil.rmtree(notebook.parents[1])

    def grade(*forbidden):
        command = [sys.executable, "-m", "autograder", "grade", "--force", "--json"]
        graded = subprocess.run(
            [*command, "grades.json"],
            cwd=tmp_path,
            preexec_fn=partial(forbid, *forbidden),
            capture_output=True,
            text=True,
        )
        assert graded.returncode == 0, graded.stderr
        return graded.stderr, json.loads((tmp_path / "grades.json").read_text())

    return grade


def test_without_namespaces_the_sample_class_gets_the_same_points(sample_class):
    if reason := missing("landlock"):
        pytest.skip(reason)
    said, second = sample_class("unshare")
    assert "behind Landlock" in said
    assert walls(second) == {"landlock"}
    if reason := missing("namespaces"):
        pytest.skip(reason)
    said, first = sample_class()
    assert "in its own Linux namespaces" in said
    assert walls(first) == set()  # said only where it is weaker
    assert without_walls(second) == without_walls(first)


def walls(grades):
    """What the code ran behind; None where no code ran."""
    found = {each.get("wall") for each in grades["submissions"]}
    return found - {None}


def without_walls(grades):
    for each in grades["submissions"]:
        each.pop("wall", None)
    return grades


def test_without_the_sandbox_right_answers_earn_their_points(unprotected):
    results = unprotected.judge(RIGHT.cells()).results
    assert [r.score for r in results.values()] == [2.0, 3.0]


def test_pictures_beyond_what_is_kept_of_a_submission_are_left_out(run):
    draw = """import autograder.notebook.cells as c
picture = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(4_000_000)
c.Notebook.run = lambda *a: ([("figure", "", picture)], None)"""
    result, seen = run(draw, *["1"] * 15, test="0.5")
    assert result.score == 0.5 and seen.held is None
    assert "image/png" in seen.outputs["cell-2"][0]["data"]
    assert "too large to keep all of them" in text_of(seen, "cell-16")


def test_a_picture_that_would_unpack_to_gigabytes_is_left_out(run):
    draw = """import autograder.notebook.cells as c
size = (60_000).to_bytes(4, "big")
picture = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(4) + b"IHDR" + size + size
c.Notebook.run = lambda *a: ([("figure", "", picture)], None)"""
    _, seen = run(draw, "1")
    assert "40 million pixels" in text_of(seen, "cell-2")


def test_where_the_engine_is_a_wheel_other_packages_can_still_be_imported(monkeypatch):
    """It lies in the folder of all packages then; a source tree is forgotten."""
    home = str(Path(fork_server.__file__).resolve().parents[2])
    monkeypatch.setattr(sys, "orig_argv", [])
    monkeypatch.setattr(sys, "argv", [])
    for packages, left in ([home], [home, "/x"]), ([], ["/x"]):
        monkeypatch.setattr(sys, "path", [home, "/x"])
        monkeypatch.setattr("site.getsitepackages", lambda found=packages: found)
        fork_server.forget_places()
        assert sys.path == left
