"""The record: who had what, when, and why; and a dry run that is stored as it is."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook
from shared import GRADE

from autograder.cli import main
from autograder.files import write_whole
from autograder.grading import point_history
from autograder.grading.store import Store
from autograder.grading.verdict import Run, hold
from autograder.results.feedback_zip import write_zips
from autograder.results.history import sentences
from autograder.text import Left

NAME = "01-attention"
MOODLE = {"platform": "moodle", "version": "2026-03-10 08:12:00 UTC"}


def read(course):
    with Store(course) as store:
        return store.results(NAME)


def whys(course, student="ada"):
    return [
        line["why"]
        for line in point_history.states(point_history.lines(course), NAME)[student]
    ]


def by_hand(course, student, score=None, comment=None):
    """As formgrader does it."""
    where = ("explain_roles", "attention", NAME, student)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        if score is not None:
            grade = book.find_grade(*where)
            grade.manual_score, grade.needs_manual_grade = score, False
        if comment is not None:
            book.find_comment(*where).manual_comment = comment
        book.db.commit()


@pytest.fixture
def again(course, attention):
    """Store a changed verdict on a student's work."""

    def store(student, change, **changes):
        with Store(course) as store:
            old = store.results(NAME)[student]
            questions = (change(old.questions[0]), *old.questions[1:])
            verdict = replace(old, questions=questions, **changes)
            from autograder.release.grading_plan import plan

            store.prepare([plan(course, attention)])
            store.save(student, NAME, "key", verdict)

    return store


def test_every_reason_for_other_points_is_in_the_record(course, marked, again):
    marked({"ada": None, "bob": 16.0})
    read(course)
    by_hand(course, "ada", score=3.0)
    read(course)
    by_hand(course, "ada", comment="Two effects, both measured.")
    read(course)
    less = lambda question: replace(question, score=1.0)  # noqa: E731
    run = Run(100, 1.0, 1, "other checks")
    again("ada", less, run=run)
    read(course)
    other = {question.id: "more" for question in read(course)["ada"].questions}
    again("ada", lambda question: question, answers=other)
    read(course)
    assert whys(course) == [
        ["graded"],
        ["by hand"],
        ["comment"],
        ["checks"],
        ["other work"],
    ]
    assert whys(course, "bob") == [["graded"]]
    mine = point_history.states(point_history.lines(course), NAME)["ada"]
    assert [line["score"] for line in mine[:2]] == [0.0, 3.0]
    assert mine[0]["questions"]["explain_roles"] is None
    assert mine[3]["time"] == "1970-01-01T00:01:41+00:00"  # that of the grading
    assert " (checks): " in list(sentences(mine))[3]


def test_nothing_is_written_twice_and_a_line_that_was_cut_off_comes_again(
    course, marked
):
    marked({"ada": 16.0, "bob": 12.0})
    read(course)
    path = course.root / point_history.RECORD
    whole = path.read_bytes()
    read(course)
    assert path.read_bytes() == whole and whole.count(b"\n") == 2
    for end in range(0, len(whole), 41):  # a kill after any byte
        path.write_bytes(whole[:end])
        read(course)
        found = point_history.states(point_history.lines(course), NAME)
        assert path.read_bytes().startswith(whole[:end])
        assert [len(found[who]) for who in ("ada", "bob")] == [1, 1]


def test_history_tells_it_of_one_and_finds_what_was_done_since(course, marked, capsys):
    marked({"ada": None, "bob": 16.0})
    read(course)
    by_hand(course, "ada", score=3.0)
    assert main(["history", "ada", "--json", "ada.json"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "0 of 24 so far (graded)" in first and first.startswith("ada, 01-att")
    assert second.endswith("3 of 24 (by hand): explain_roles none -> 3")
    assert [
        line["score"] for line in json.loads((course.root / "ada.json").read_text())
    ] == [0.0, 3.0]
    with Store(course) as store:
        store.save("bob", NAME, "key", hold("It is cut off.", 24.0))
    assert main(["history", "bob"]) == 0
    assert capsys.readouterr().out.endswith("UTC, held: It is cut off.\n")
    assert main(["history", NAME]) == 0
    assert "bob, 01-attention: " in capsys.readouterr().out
    assert main(["history", "aba"]) == 2
    assert "did you mean ada?" in capsys.readouterr().err
    assert main(["history", "--json", str(course.root)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_pages_go_out_again_to_those_whose_points_have_changed(course, marked, capsys):
    marked({"ada": 16.0, "bob": 12.0})
    read(course)
    assert point_history.to_send(point_history.lines(course), NAME) == {}
    point_history.sent(course, NAME, ["ada", "bob"])
    assert point_history.to_send(point_history.lines(course), NAME) == {}
    by_hand(course, "bob", comment="Look at the axis.")
    assert main(["history"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("feedback pages of 01-attention to send: bob\n")
    assert main(["report"]) == 0
    report = (course.root / "report.html").read_text()
    assert "pages to send: bob; <code>autograder feedback 01-att" in report
    assert "12 of 24 (comment)" in report and "16 of 24 (graded)" not in report
    point_history.sent(course, NAME, ["bob"])
    assert main(["feedback", "--again"]) == 2
    assert "There are no new or changed feedback pages." in capsys.readouterr().err


def test_a_first_page_goes_out_with_those_that_changed_in_a_zip_of_their_own(
    course, attention, marked, capsys
):
    marked({"ada": 16.0, "bob": 12.0})
    read(course)
    point_history.sent(course, NAME, ["ada"])
    assert main(["history", "bob"]) == 0
    first = "feedback pages of 01-attention to send: bob (first page)\n"
    assert capsys.readouterr().out.endswith(first)
    for student in ("ada", "bob"):
        origin = course.collected / student / NAME / "origin.json"
        write_whole(
            origin, json.dumps({**MOODLE, "label": f"{student}_{len(student)}"})
        )
        write_whole(course.feedback / student / NAME / "attention.html", student)
    due = {NAME: point_history.to_send(point_history.lines(course), NAME)}
    (every,), _ = write_zips(course, [attention], "moodle")
    (some,), _ = write_zips(course, [attention], "moodle", due)
    assert (every.name, some.name) == (
        "feedback-moodle-01-attention.zip",
        "feedback-moodle-01-attention-again.zip",
    )
    with zipfile.ZipFile(some) as archive:
        assert [archive.read(name) for name in archive.namelist()] == [b"bob"]
    with Store(course) as store:
        store.save("bob", NAME, "key", hold("The file is empty.", 24.0))
    assert main(["feedback", "--again"]) == 2  # there is no page of what is held


def test_a_reason_that_many_share_is_one_line_with_ten_names():
    left = Left("not exported")
    for number in range(217):
        left.add(f"s{number}", "waits for a grade by hand")
    left.add("ada", "is held")
    rare, often = left.lines()
    assert rare == "not exported: ada is held"
    assert often.startswith("not exported: 217 (waits for a grade by hand): s0, s1, ")
    assert often.endswith("s9 and 207 more")


def test_points_by_hand_are_kept_and_said_when_work_is_graded_again(
    course, hand_in, right, capsys
):
    grade = GRADE
    hand_in("ada", right)
    assert main(grade) == 0
    by_hand(course, "ada", score=3.0)
    capsys.readouterr()
    assert main([*grade, "--force"]) == 0
    assert whys(course)[-1] == ["by hand"]
    assert "ada: 23 of 24, 3 of them by hand\n" in capsys.readouterr().out
