"""Late work, extensions and penalties, and points that are not final."""

from __future__ import annotations

import csv
import json

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum, parse_utc
from shared import GRADE
from solving import page_of

from autograder.cli import main
from autograder.errors import CourseError
from autograder.grading.deadlines import Deadlines, Penalties
from autograder.grading.store import Store
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.release.grading_plan import plan
from autograder.results.other_answers import last_moment
from autograder.results.standing import moments

STAMP = "timestamp.txt"  # entering times reads nothing else
WHERE = ("attention", "01-attention", "ada")


@pytest.fixture
def configured(course):
    """Add lines to the course's configuration."""

    def add(*lines):
        path = course.root / "nbgrader_config.py"
        path.write_text("\n".join([path.read_text(), *lines, ""]))

    return add


def enter(course, attention):
    submissions = course.submissions([attention])
    with Store(course) as store:
        Deadlines.of(course).enter(store, submissions)
        store.enter_penalties("01-attention", {s.student for s in submissions})
        return store.results("01-attention")


def scores(course):
    assert main(["export"]) == 0
    text = (course.root / "scores.csv").read_text("utf-8-sig")
    return {row["student"]: row for row in csv.DictReader(text.splitlines())}


ZERO = 'c.LateSubmissionPlugin.penalty_method = "zero"'
DUE = 'c.Autograder.due = {"01-attention": "2026-11-01 23:59"}'


def test_late_work_costs_what_nbgraders_plugin_says_and_an_extension_lifts_it(
    course, attention, marked, hand_in, configured
):
    configured(DUE, ZERO)
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    hand_in("bob", "2026-11-01 23:58:59 UTC", STAMP)
    marked({"ada": 16.0, "bob": 16.0})
    results = enter(course, attention)
    assert results["ada"].lateness == "3 d 12 h late"
    assert (results["ada"].score, results["ada"].penalty) == (0.0, 16.0)
    assert (results["bob"].score, results["bob"].late) == (16.0, 0.0)
    assert scores(course)["ada"]["late"] == "3 d 12 h late"
    told = "handed in 2026-11-05 12:00 UTC; due 2026-11-01 23:59 UTC; "
    late = "**3 d 12 h late, 16 points less**"
    assert moments(course, "01-attention", "ada") == told + late  # in formgrader
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        submission = book.find_submission("01-attention", "ada")
        assert submission.assignment.duedate == parse_utc("2026-11-01 23:59 UTC")
        assert submission.timestamp == parse_utc("2026-11-05 12:00 UTC")
        assert book.find_submission_notebook(*WHERE).late_submission_penalty == 16.0

    table = course.root / "extensions.csv"
    table.write_text("student_id,assignment,due\nada,01-attention,2026-11-06\n")
    results = enter(course, attention)
    assert (results["ada"].late, results["ada"].score) == (0.0, 16.0)
    longer = moments(course, "01-attention", "ada")
    assert longer == f"{told}extended to 2026-11-06 23:59 UTC"
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        assert book.find_submission("01-attention", "ada").total_seconds_late == 0
        assert not book.find_submission_notebook(*WHERE).late_submission_penalty
    table.write_text("student_id,assignment,due\n")
    assert enter(course, attention)["ada"].score == 0.0


def test_points_by_hand_change_the_penalty_too(
    course, attention, marked, hand_in, configured
):
    configured(DUE, ZERO)
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    marked({"ada": None})
    enter(course, attention)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        grade = book.find_grade("explain_roles", *WHERE)
        grade.manual_score, grade.needs_manual_grade = 3.0, False
        book.find_grade("test_softmax", *WHERE).extra_credit = 2.0
        book.db.commit()
    with Store(course) as store:
        verdict = store.results("01-attention")["ada"]
    assert (verdict.earned, verdict.penalty, verdict.score) == (5.0, 5.0, 0.0)


def test_a_plugin_of_the_course_and_the_due_date_of_the_gradebook_count(
    course, attention, marked, hand_in, configured
):
    (course.root / "half_a_point_a_day.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\n"
        "class Daily(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, seconds):\n"
        "        return 0.5 * (seconds // 86400)\n"
    )
    configured('c.AssignLatePenalties.plugin_class = "half_a_point_a_day.Daily"')
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    marked({"ada": 16.0})
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        book.update_or_create_assignment("01-attention", duedate="2026-11-01")
    assert enter(course, attention)["ada"].score == 14.0


HEAD = "student_id,assignment,due\n"
TWICE = "ada,01-attention,2026-11-01\nada,01-attention,2026-11-09\n"
SAID = 'c.Autograder.due = {"01-attention": "%s"}'
WRONG = [  # a line of the configuration, the table of extensions, what is said
    (
        'c.Autograder.due = {"01": "2026-11-01"}',
        "",
        "assignment 01; did you mean 01-at",
    ),
    (SAID % "soon", "", "'soon' is not a date and time"),
    (SAID % "2026-02-30", "", "not a valid date"),
    (SAID % "2026-02-03 Mars", "", "no time z"),
    ("", "student_id,assignment\n", "has no column due; it needs"),
    ("", f"{HEAD}ada,01,2026-11-01\n", "line 2: there is no"),
    ("", f"{HEAD}ada,01-attention,x\n", "line 2, ada: 'x' is no"),
    ("", f"{HEAD}ada,01-attention,2026-11-01\n", "no due date"),
    (DUE, f"{HEAD}{TWICE}", "line 3: ada has another extension for 01-attention in"),
    (DUE, f"{HEAD}ada,*,+3 dais\n", "line 2, ada: '.3 dais'"),
    (f'{DUE}\nc.AssignLatePenalties.plugin_class = "gone.Plugin"', "", "gone"),
    ("c.Autograder.due = ['2026-11-01']", "", "c.Autograder.due in nbg"),
    ("c.Autograder.deu = {}", "", "unknown c.Autograder.deu; did you mean due?"),
    ("c.Autograder.due = {", "", "cannot be read: SyntaxError: '{' was never"),
]


@pytest.mark.parametrize(("lines", "table", "why"), WRONG)
def test_what_is_wrong_is_said_in_a_sentence(
    course, attention, marked, hand_in, configured, lines, table, why
):
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    marked({"ada": 16.0})
    configured(lines)
    if table:
        (course.root / "extensions.csv").write_text(table)
    with pytest.raises(CourseError, match=why):
        enter(course, attention)


def test_what_waits_is_not_mistaken_for_a_score(course, marked):
    marked({"ada": None, "bob": 16.0, "zero": 0.0})
    found = scores(course)
    columns = ("final score", "score", "waiting", "reason")
    ada, bob, zero = ([found[s][c] for c in columns] for s in ("ada", "bob", "zero"))
    assert ada == ["", "0.0", "4.0", "waits for a grade by hand"]
    assert bob == ["16.0", "16.0", "0", ""]
    assert zero == ["0.0", "0.0", "0", ""]


def test_a_whole_class_with_late_lost_and_misplaced_work(
    course, attention, right, configured, hand_in, capsys
):
    configured(DUE, ZERO)
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    (course.submitted / "ada" / "01-attention" / "attention.ipynb").write_text(right)
    (course.submitted / "zoe" / "homework1").mkdir(parents=True)
    (course.submitted / "zed" / "01-Attention").mkdir(parents=True)
    (course.submitted / "yves").mkdir()
    (course.submitted / "yves" / "attention.ipynb").write_text(right)
    (course.solutions / "02-empty").mkdir()
    (course.root / "extensions.csv").write_text(
        "student_id,assignment,due\nyves,01-attention,2026-11-09\n"
        "yvse,01-attention,2026-11-09\n"
    )
    assert main(GRADE) == 1
    said = capsys.readouterr()
    (result,) = json.loads((course.root / "results.json").read_text())["submissions"]
    assert (result["score"], result["reason"]) == (0.0, "waits for a grade by hand")
    most = f"{result['max_score']:g}"
    full = f"{result['max_score'] - 4:g}"
    for line in (
        f"late: ada: 3 d 12 h late, {full} points less",
        "no work for 01-attention: yves, zed, zoe",
        "extensions for unknown students: yvse",
        "submitted/yves/attention.ipynb is not in an assignment's folder",
        "submitted/zed/01-Attention: there is no such assignment; did you mean 01-att",
        "submitted/zoe/homework1: there is no such assignment; known: 01-attention",
        "1 submission: 1 graded, 0 held.",
    ):
        assert line in said.out, line
    assert "not graded: 02-empty: solutions/02-empty has 0 notebooks" in said.err

    assert main(["feedback"]) == 0
    page = (course.feedback / "ada/01-attention/attention.html").read_text()
    for words in (
        f"Not final: 4 of {most} points are not graded yet (explain_roles).",
        f"Handed in 3 d 12 h late, which costs {full} points.",
        f"Score so far: <strong>0 of {most}</strong>",
    ):
        assert words in page, words
    assert page.count("not graded yet, of 4") == 2  # in the summary, above the answer
    assert "0.0 / 4.0" not in page


RULES = (
    "student_id,assignment,due\nada,*,+3 days\ncy,01-attention,+90 "
    "minutes\ncy,*,+2 weeks\ndan,01-attention,2026-11-02\n"
)


def test_extra_time_can_be_a_rule_for_all_assignments(
    course, attention, marked, hand_in, configured
):
    configured(
        'c.Exchange.timezone = "Europe/Berlin"',
        'c.Autograder.due = {"01-attention": "2026-03-27 12:00", '
        '"02-scaling": "2026-04-01 10:00"}',
    )
    (course.root / "extensions.csv").write_text(RULES)
    deadlines = Deadlines.of(course)

    def until(student, name):
        return deadlines.until(student, name, deadlines.due[name]).isoformat()[:16]

    ends = {who: until(who, "01-attention") for who in ("ada", "cy", "dan")}
    assert ends == {
        "ada": "2026-03-30T10:00",  # noon in Berlin, where summer time has begun
        "cy": "2026-03-27T12:30",
        "dan": "2026-11-02T22:59",
    }
    assert until("cy", "02-scaling") == "2026-04-15T08:00"
    assert until("eve", "02-scaling") == "2026-04-01T08:00"
    for student in ("ada", "eve"):
        hand_in(student, "2026-03-30 09:00 UTC", STAMP)
    marked({"ada": 16.0, "eve": 16.0})
    found = enter(course, attention)
    assert [found[who].lateness for who in ("ada", "eve")] == [None, "2 d 22 h late"]
    assert str(last_moment(course, Store(course), "01-attention"))[:10] == "2026-11-02"


def test_the_due_date_stands_below_the_title_and_changes_no_release(
    course, attention, configured, capsys
):
    before = plan(course, attention).hash
    configured(DUE, 'c.Exchange.timezone = "Europe/Berlin"')
    assert main(["release", "--unproven"]) == 0
    path = course.exercises / "01-attention" / "attention.ipynb"
    notebook = nbformat.read(path, as_version=4)
    title = notebook.cells[0]
    told = "**Due: Sunday, 1 November 2026, 23:59 (Europe/Berlin)**"
    assert title.source.startswith(f"# Attention in NumPy\n\n{told}\n\n**About")
    assert title.metadata.nbgrader.checksum == compute_checksum(title)
    page = page_of(json.loads(path.read_text()), "01-attention", "attention.ipynb", "")
    assert page.startswith(f"# Attention in NumPy\n\n{told}\n\n")
    assert plan(course, attention).hash == before
    assert match(plan(course, attention), read_cells(path.read_bytes())).notes == []


def test_due_dates_of_assignments_to_come_stop_nobody(course, configured):
    due = '{"01-attention": "2026-11-01", "07-heads": "2026-12-01"}'
    table = "student_id,assignment,due\nada,07-heads,2026-12-09\n"
    configured(f"c.Autograder.due = {due}")
    (course.root / "extensions.csv").write_text(table)
    deadlines = Deadlines.of(course)
    said = list(deadlines.unused(course, {"ada"}))
    assert said == ["due dates of assignments to come: 07-heads"]
    assert set(deadlines.due) == {"01-attention", "07-heads"}


def test_a_penalty_that_is_a_text_is_a_sentence(course, configured):
    (course.root / "wordy.py").write_text(
        "from nbgrader.plugins import BasePlugin\n"
        "class Wordy(BasePlugin):\n"
        "    def late_submission_penalty(self, student, score, late):\n"
        "        return '1 point'\n"
    )
    configured('c.AssignLatePenalties.plugin_class = "wordy.Wordy"')
    with pytest.raises(CourseError, match="plugin for late work failed on ada"):
        Penalties(course).of("ada", 10.0, 60.0)


def test_a_file_that_is_no_gradebook_is_named(course, hand_in, capsys):
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    (course.root / "gradebook.db").write_text("<html>" * 200)
    assert main(["grade", "--workers", "1"]) == 2
    assert "The gradebook cannot be used: file is not a database" in (
        capsys.readouterr().err
    )


def test_a_result_file_that_cannot_be_written_is_found_first(course, hand_in, capsys):
    hand_in("ada", "2026-11-05 12:00:00 UTC", STAMP)
    assert main(["grade", "--json", str(course.root)]) == 2
    assert "is a folder; give the name of a file" in capsys.readouterr().err
    assert not (course.root / "gradebook.db").exists()
