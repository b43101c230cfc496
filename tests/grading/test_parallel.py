"""Others at work at the same time: a second grading, and people in formgrader."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from multiprocessing import synchronize

import pytest
from classroom import ASSIGNMENT, UNPROTECTED

from autograder.cli import main

CLASS = [f"s{number}" for number in range(4)]


@pytest.fixture(autouse=True)
def pool(inline):
    """What grades beside us is a process; we need none ourselves."""
    inline(most=1)


@pytest.fixture
def grading(classroom, right, wrong):
    """Another process that grades; it has stored one submission, and goes on."""
    for number, student in enumerate(CLASS):
        classroom.hand_in(student, wrong if number % 2 else right)

    @contextmanager
    def at_work(*options):
        command = [sys.executable, "-m", "autograder", "grade", "--workers", "1"]
        with subprocess.Popen(
            [*command, *UNPROTECTED, *options],
            cwd=classroom.root,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            first = process.stdout.readline()
            assert first.startswith("[1/4] s0: "), first
            yield process
            process.communicate(timeout=60)
            assert process.returncode == 0

    return at_work


def test_the_lock_ends_with_a_grading_that_is_killed(classroom, grading):
    with pytest.raises(AssertionError), grading() as process:
        process.kill()
    assert set(classroom.grade()) == set(CLASS)


def test_a_second_grading_is_told_and_people_grade_by_hand_meanwhile(
    classroom, grading, gradebook, capsys
):
    """While everything is graded again; nothing is lost."""
    scores = {name: result["score"] for name, result in classroom.grade().items()}
    given = dict.fromkeys(CLASS, 0.0)
    with grading("--force") as process:
        process.send_signal(signal.SIGSTOP)  # so that it is still there
        try:
            assert main(["grade", *UNPROTECTED]) == 2
        finally:
            process.send_signal(signal.SIGCONT)
        assert "Another `autograder grade` is running" in capsys.readouterr().err
        rounds = 0
        while rounds == 0 or process.poll() is None:
            rounds += 1
            with gradebook() as book:
                for student in CLASS:
                    where = "explain_roles", "attention", ASSIGNMENT, student
                    grade = book.find_grade(*where)
                    grade.manual_score, grade.needs_manual_grade = rounds % 4, False
                    given[student] = grade.manual_score
                    book.find_comment(*where).manual_comment = f"round {rounds}"
                    book.db.commit()
    after = classroom.grade()
    assert "4 of them done before: 4 graded" in capsys.readouterr().out
    for student in CLASS:
        assert after[student]["score"] == scores[student] + given[student]
        with gradebook() as book:
            where = "explain_roles", "attention", ASSIGNMENT, student
            assert book.find_comment(*where).manual_comment == f"round {rounds}"
            assert not book.find_grade(*where).needs_manual_grade


def test_where_no_semaphore_can_be_made_one_is_graded_after_the_other(
    classroom, right, wrong, monkeypatch, capsys
):
    """As in a container whose /dev/shm cannot be written."""

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(synchronize.SemLock, "__init__", refused)
    classroom.hand_in("ada", right)
    classroom.hand_in("bob", wrong)
    found = classroom.grade("--workers", "2")
    assert found["ada"]["score"] > found["bob"]["score"]
    assert "make /dev/shm writable" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["gradebook.db", None])
def test_what_the_system_refuses_is_said_with_its_name_and_what_to_do(
    classroom, right, monkeypatch, capsys, name
):
    def refused(*_, **__):
        raise OSError(28, "No space left on device", *filter(None, [name]))

    classroom.hand_in("ada", right)
    monkeypatch.setattr("autograder.course.Course.submissions", refused)
    assert main(["grade", *UNPROTECTED]) == 2
    said = capsys.readouterr().err
    assert (name or "test_parallel.py") in said
    assert "Free some space" in said
