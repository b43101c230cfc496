"""A verdict: whether it is final, how it is stored, and what people change about it."""

import json
from collections import Counter

import pytest

from autograder.errors import PutOff
from autograder.grading import jobs
from autograder.grading.driver import Driver
from autograder.grading.progress import Progress
from autograder.grading.store import Store
from autograder.grading.verdict import QuestionResult, Run, Verdict, hold
from autograder.intake.columns import Columns
from autograder.intake.roster import Person, Roster
from autograder.intake.sheet import Sheet
from autograder.results.lms import points_of
from autograder.text import LeftOut

JUDGED = QuestionResult("test_softmax", 3.0, 4.0, "half right", "no-exp", 0.5)
WRITTEN = QuestionResult("explain_roles", None, 4.0, waiting=True)
GRADED = Verdict(
    "graded",
    8.0,
    questions=(JUDGED, WRITTEN),
    notes=("a note",),
    answers={"test_softmax": "1f", "explain_roles": "2e"},
    unanswered=("softmax",),
    seconds=1.5,
    run=Run(1_700_000_000, 2.5, 4),
)
DONE = Verdict("graded", 4.0, questions=(JUDGED,))


def test_points_are_final_when_nobody_has_to_look_any_more():
    assert (DONE.final, DONE.unfinished) == (True, None)
    assert (GRADED.final, GRADED.unfinished) == (False, "waits for a grade by hand")
    assert (hold("cut off", 8.0).final, hold("cut off", 8.0).unfinished) == (
        False,
        "is held",
    )


def test_a_score_counts_what_is_decided_and_a_held_one_has_none():
    assert GRADED.score == 3.0
    assert hold("cut off", 8.0).score is None
    assert Verdict("graded", 4.0, questions=(JUDGED,), penalty=0.5).score == 2.5


def test_what_is_stored_comes_back():
    assert Verdict.from_json(GRADED.to_json()) == GRADED
    held = hold("cut off", 8.0, ("a note",), 0.25)
    assert Verdict.from_json(held.to_json()) == held


def test_the_form_of_stored_verdicts_stays():
    stored = json.loads(GRADED.to_json())
    names = "status max_score reason questions notes answers unanswered seconds run"
    assert set(stored) == {*names.split(), "wall", "files"}
    names = "id score max_score message misconception seconds"
    assert {frozenset(q) for q in stored["questions"]} == {frozenset(names.split())}


def test_a_verdict_stored_before_runs_were_noted_is_read():
    stored = json.loads(GRADED.to_json())
    for name in ("run", "seconds", "unanswered", "wall", "files"):
        del stored[name]
    for question in stored["questions"]:
        del question["seconds"]
    stored["speed"] = "of another version"
    verdict = Verdict.from_json(json.dumps(stored))
    assert (verdict.score, verdict.run, len(verdict.waiting)) == (3.0, None, 1)


def test_a_run_that_another_version_noted_is_read():
    stored = json.loads(GRADED.to_json())
    about = {"started": 100, "seconds": 1.0, "workers": 1, "release": "a"}
    stored["run"] = about | {"node": "of another version"}
    assert Verdict.from_json(json.dumps(stored)).run == Run(**about)


def test_points_that_wait_for_a_person_do_not_go_to_a_platform():
    people = [Person(name, name) for name in ("ada", "bela", "chen")]
    results = {"ada": DONE, "bela": GRADED, "chen": hold("cut off", 8.0)}
    lines = LeftOut("not exported")
    assert points_of(Roster(Sheet(""), Columns(""), people), results, lines) == {
        "ada": ("ada", 3.0)
    }
    assert lines.lines() == [
        "not exported: bela waits for a grade by hand",
        "not exported: chen is held",
    ]


def test_points_given_by_hand_need_no_second_look_after_a_broken_upload(
    classroom, right, gradebook
):
    where = "explain_roles", "attention", "01-attention", "ada"
    classroom.hand_in("ada", right)
    classroom.grade()
    with gradebook() as book:
        grade = book.find_grade(*where)
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.db.commit()
    classroom.hand_in("ada", right[:2000])
    assert classroom.grade()["ada"]["status"] == "held"
    classroom.hand_in("ada", right)
    again = classroom.grade()["ada"]
    assert again["score"] == again["max_score"] - 1
    with gradebook() as book:
        assert not book.find_grade(*where).needs_manual_grade


def test_a_lost_autograded_notebook_is_made_again(classroom, ada, capsys):
    before = classroom.autograded("ada")
    (classroom.root / "autograded/ada/01-attention/attention.ipynb").unlink()
    classroom.grade()
    assert classroom.autograded("ada") == before
    assert "before" not in capsys.readouterr().out.splitlines()[-1]


@pytest.fixture
def graded(classroom, right, monkeypatch):
    """Hand in for some, and grade with a job in place of the real one.

    The names in the order of their verdicts, the verdicts, and how many were there.
    """

    def run(job, *students, **options):
        monkeypatch.setattr(jobs, "work", job)
        for student in students:
            classroom.hand_in(student, right.replace("A query", f"I, {student}: a q"))
        submissions = classroom.course.submissions(classroom.course.assignments())
        with Store(classroom.course) as store:
            driver = Driver(classroom.course, store, **options)
            order, finish = [], driver.finish
            monkeypatch.setattr(
                driver,
                "finish",
                lambda task, verdict: (
                    order.append(task.submission.student),
                    finish(task, verdict),
                ),
            )
            counts = driver.grade(submissions, Progress(len(submissions)))
            return order, store.results("01-attention"), counts["before"]

    return run


def test_a_verdict_without_the_sandbox_is_none_for_the_sandbox(graded):
    def job(*_):
        return hold("for a person", 20.0), []

    assert graded(job, "ada", sandbox=False)[2] == 0
    assert graded(job, "ada", sandbox=False)[2] == 1
    assert graded(job, "ada", sandbox=True)[2] == 0


def test_what_ran_out_of_time_among_others_is_judged_again_after_them(graded):
    tries = []

    def job(release, submission, *_):
        if b"I, bela" not in submission:
            return hold("fine", 20.0), []
        tries.append(submission)
        return Verdict("held", 20.0, f"try {len(tries)}", timed_out_under_load=True), []

    order, results, _ = graded(job, "ada", "bela", "chen")
    assert order == ["ada", "chen", "bela"]
    assert (results["bela"].reason, len(tries)) == ("try 2", 2)


def long_for(*students):
    """A job that takes long for these, and says how often it was put off before."""
    tries = Counter()

    def job(release, submission, *_):
        hurried = _[-1]
        name = next((n for n in students if f"I, {n}".encode() in submission), None)
        tries[name] += 1
        if name and hurried:
            raise PutOff
        return hold(f"after {tries[name] - 1}", 20.0), []

    return job


def test_what_takes_long_comes_last_and_is_judged_all_the_same(graded):
    order, results, _ = graded(long_for("bela"), "ada", "bela", "chen", "dana")
    assert (sorted(order[:3]), order[3]) == (["ada", "chen", "dana"], "bela")
    assert results["bela"].reason == "after 1"


def test_where_all_take_long_half_of_them_are_not_put_off(graded):
    names = ["ada", "bela", "chen", "dana", "eva", "fay"]
    order, results, _ = graded(long_for(*names), *names, workers=1)
    assert (sorted(order[:3]), sorted(order[3:])) == (names[3:], names[:3])
    before = [results[name].reason for name in names]
    assert before == ["after 1"] * 3 + ["after 0"] * 3
