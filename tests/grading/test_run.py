"""One run of `autograder grade`: what it takes, shows and writes."""

import json
from pathlib import Path

from classroom import UNPROTECTED

from autograder.cli import main
from autograder.grading import jobs
from autograder.grading.progress import Progress
from autograder.grading.store import Store


def test_a_failure_of_the_grader_itself_is_held(classroom, right, monkeypatch):
    classroom.hand_in("ada", right)
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "work", lambda *job: int("x"))
        result = classroom.grade("--log", "grading.log")["ada"]
    assert result["reason"] == "The grader failed with ValueError."
    log = Path("grading.log").read_text()
    assert "student='ada'" in log and "ValueError: invalid literal" in log
    assert classroom.grade("--force")["ada"]["score"] == 20.0


def test_progress_on_a_terminal_has_rate_and_time_left():
    class Terminal(list):
        write = list.append
        flush = staticmethod(lambda: None)
        isatty = staticmethod(lambda: True)

    terminal = Terminal()
    progress = Progress(4, terminal)
    progress.step("ada: 16 of 20")
    assert "1 of 4" in terminal[-1]
    assert "a second" in terminal[-1]
    assert "s left" in terminal[-1]


def test_every_student_that_is_named_is_graded_and_nobody_else(classroom, right):
    for student in ("ada", "bela", "cleo"):
        classroom.hand_in(student, right)
    graded = classroom.grade("--student", "cleo", "--student", "ada")
    assert list(graded) == ["ada", "cleo"]
    assert main(["feedback", "--student", "cleo", "--student", "ada"]) == 0
    folders = sorted(path.name for path in (classroom.root / "feedback").iterdir())
    assert folders == ["ada", "cleo"]


def test_several_assignments_give_a_list(classroom, right, repository, monkeypatch):
    other = classroom.root / "solutions" / "02-other"
    other.mkdir()
    (other / "other.ipynb").write_text(classroom.solution.read_text())
    classroom.hand_in("ada", right)
    target = classroom.root / "all.json"
    assert main(["grade", *UNPROTECTED, "--json", str(target)]) == 0
    names = [each["assignment"] for each in json.loads(target.read_text())]
    assert names == ["01-attention", "02-other"]


def test_a_verdict_has_its_time_and_that_of_its_run(classroom, right):
    classroom.hand_in("ada", right)
    classroom.grade()
    with Store(classroom.course) as store:
        ada = store.results("01-attention")["ada"]
    assert 0 < ada.seconds <= ada.run.seconds and ada.run.workers == 1
