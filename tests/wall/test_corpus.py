"""Every hostile or broken submission has the outcome that is due to it."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from corpus import PLAIN_SQUARE, TEST_SQUARE, WRONG, Case, text_of
from corpus.attacks import GREEDY, TAMPERING, WIRE
from corpus.mistakes import MISTAKES
from shared import of_each

SHORT_OF_TIME = {"endless-iterator", "reads-the-requests", "threads-that-write"}
SHORT_OF_TIME |= {"reads-nothing-any-more"}


def ids(case):
    return case.id


def assert_due(case, transcript):
    everything = text_of(transcript) + "\n".join(transcript.notes)
    everything += "\n".join(r.message or "" for r in transcript.results.values())
    everything += transcript.held or ""
    if case.points is None:
        assert transcript.held, everything
    else:
        assert transcript.held is None
        square, total = (
            transcript.results[name] for name in ("test_square", "test_total")
        )
        assert (square.score, total.score) == case.points, everything
        for result, due in ((square, case.points[0]), (total, case.points[1])):
            assert result.message if due == 0 else result.message is None
    second = transcript.wall == "landlock" and case.landlock is not None
    assert (case.landlock if second else case.says) in everything
    if case.never:
        assert case.never not in everything


@pytest.mark.best_wall
@pytest.mark.parametrize("case", MISTAKES, ids=ids)
def test_an_honest_mistake_is_explained_and_costs_its_question_at_most(grader, case):
    assert_due(case, grader.judge(case.cells(), files=case.files))


@pytest.mark.either_wall
@pytest.mark.parametrize("case", of_each(GREEDY.values()), ids=ids)
def test_a_greedy_submission_harms_itself_alone(hasty, case):
    assert_due(case, hasty.judge(case.cells()))


CHEATS = TAMPERING + WIRE


@pytest.mark.either_wall
@pytest.mark.parametrize(
    "case", [case for case in CHEATS if case.id not in SHORT_OF_TIME], ids=ids
)
def test_a_cheating_submission_earns_nothing(grader, case):
    assert_due(case, grader.judge(case.cells()))


@pytest.mark.either_wall
@pytest.mark.parametrize(
    "case", [case for case in CHEATS if case.id in SHORT_OF_TIME], ids=ids
)
def test_a_cheat_that_takes_its_time_earns_nothing(hasty, case):
    assert_due(case, hasty.judge(case.cells()))


def test_the_next_submission_after_all_of_them_is_judged_as_ever(grader, hasty):
    right = MISTAKES[0].__class__("right")
    for by in (grader, hasty):
        assert_due(right, by.judge(right.cells()))


def case_id(value):
    return getattr(value, "id", "")


NAIVE = [
    (case, TEST_SQUARE, case.naive) for case in TAMPERING if case.naive is not None
]
NAIVE += [(case, PLAIN_SQUARE, 2.0) for case in TAMPERING if case.plain]


@pytest.mark.parametrize(("case", "test", "points"), NAIVE, ids=case_id)
def test_the_cheat_works_where_tests_run_in_the_students_process(case, test, points):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, b"%f" % points_in_one_process(case, test))
        finally:  # whatever the cheat did: this is no second run of the tests
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert float(answer.read()) == points
    os.waitpid(pid, 0)


@pytest.mark.parametrize("test", [TEST_SQUARE, PLAIN_SQUARE])
def test_without_a_cheat_the_wrong_answer_earns_nothing_there(test):
    assert points_in_one_process(Case("wrong", WRONG), test) == 0.0


def points_in_one_process(case, test):
    """What nbgrader's way of judging gives for square with this test cell."""
    names = {}
    for cell in case.cells():
        try:
            exec(test if cell.test == "test_square" else cell.source, names)
            passed = True
        except BaseException:
            passed = False
        if cell.test == "test_square":
            return cell.max_score if passed else 0.0
