"""A term by the guide alone: from Moodle's archives to Moodle's own worksheets.

The first assignment is marked blind, with late work and an extension; the second is
handed in by a team.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile

import pytest
from nbgrader.api import Gradebook

from autograder import wall
from autograder.cli import main
from autograder.release.plan import plan
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook

UNPROTECTED = ["--no-sandbox"] if wall.available() else []
FILE = "assignsubmission_file"
DOWNLOADED = (2026, 3, 20, 8, 0, 0)
BLIND = """\
Identifier,Status,Grade,"Maximum grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 12","Submitted for grading - ",,{most:.2f},Yes,\
"Monday, 9 March 2026, 11:30 PM",-,"Read again, please"
"Participant 13","Submitted for grading - ",,{most:.2f},Yes,\
"Thursday, 12 March 2026, 10:00 AM",-,
"Participant 14","Submitted for grading - ",,{most:.2f},Yes,\
"Thursday, 12 March 2026, 10:00 AM",-,
"Participant 15","No submission",,{most:.2f},Yes,-,-,
"""
TEAM = """\
Identifier,"Full name","Email address",Status,Group,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)"
"Participant 22","Ada Lovelace",ada@x.org,Submitted,Rocket,,{most},Yes,\
"Sunday, 15 March 2026, 9:00 AM",-
"Participant 23","Bob Ross",bob@x.org,Submitted,Rocket,,{most},Yes,\
"Sunday, 15 March 2026, 9:00 AM",-
"Participant 57","Cleo Dean",cleo@x.org,"No submission",,5.00,{most},Yes,-,-
"""
CONFIG = """
c.Exchange.timezone = "Europe/Berlin"
c.Autograder.due = {
    "01-attention": "2026-03-09 23:59",
    "02-scaling": "2026-03-16 23:59",
}
c.AssignLatePenalties.plugin_class = "late_days.PointADay"
"""
PLUGIN = '''
from nbgrader.plugins import BasePlugin


class PointADay(BasePlugin):
    """One point for each day that has begun."""

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return -(-total_seconds_late // 86400)
'''


@pytest.fixture
def second(course, repository):
    """The second assignment, and right answers to it."""
    source = repository.solutions / "02-scaling"
    shutil.copytree(source, course.solutions / "02-scaling")
    (assignment,) = repository.chosen(["02-scaling"])
    untouched = json.loads(notebook_text(students_notebook(repository, assignment)))
    return solved(untouched, reference_answers(assignment))


def give_points(course, assignment, points):
    """What formgrader does, without the clicks."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            for grade in submission.notebooks[0].grades:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def test_a_term_from_moodles_archives_to_its_worksheets(
    course, attention, archive, right, second, formgrader, page, tmp_path, capsys
):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write(CONFIG)
    (course.root / "late_days.py").write_text(PLUGIN)
    extension = "participant-14,01-attention,2026-03-13"
    (course.root / "extensions.csv").write_text(
        f"student_id,assignment,due\n{extension}\n"
    )
    blind, most = tmp_path / "blind.csv", plan(course, attention).max_score
    before = BLIND.format(most=most)
    blind.write_text(before)
    work = {
        f"Participant_{n}_{FILE}/attention.ipynb": (right, DOWNLOADED)
        for n in (12, 13, 14)
    }
    first = archive(work, "first.zip")
    assert main(["collect", str(first), "--roster", str(blind)]) == 0
    said = capsys.readouterr().out
    assert "1 of 4 students on the roster submitted nothing: participant-15." in said

    team = tmp_path / "team.csv"
    team.write_text(TEAM.format(most=""))
    other = archive(
        {f"Rocket_57_{FILE}/scaling (1).ipynb": (second, DOWNLOADED)}, "second.zip"
    )
    assert main(["collect", str(other), "--roster", str(team)]) == 0
    assert (
        "1 of 3 students on the roster submitted nothing: cleo"
        in capsys.readouterr().out
    )

    assert main(["grade", "--workers", "1", *UNPROTECTED]) == 0
    said = capsys.readouterr().out
    assert "late: participant-13: 2 d 10 h late, 3 points less" in said
    assert "late: participant-14" not in said
    assert "5 submissions: 5 graded, 0 held." in said

    # nothing is final yet, so nothing goes out
    command = ["export", "01-attention", "--format", "moodle", "--roster", str(blind)]
    assert main(command) == 0
    sheet = course.root / "moodle-01-attention.csv"
    assert len(sheet.read_text().splitlines()) == 1
    assert "there is nothing to import" in capsys.readouterr().out
    check_formgrader(course, formgrader, page)
    give_points(course, "01-attention", 3.0)
    give_points(course, "02-scaling", 1.0)

    assert main(command) == 0
    full = most - 4 + 3  # of the written answer's 4 points, 3
    rows = [line.split(",") for line in sheet.read_text().splitlines()[1:]]
    numbers = ("12", full), ("13", full - 3), ("14", full)
    assert [(row[0][-3:-1], float(row[2])) for row in rows] == [*numbers]

    command = ["export", "02-scaling", "--format", "moodle", "--roster", str(team)]
    assert main(command) == 0
    rows = (course.root / "moodle-02-scaling.csv").read_text().splitlines()[1:]
    ada, bob = (line.split(",")[5] for line in rows)  # Cleo keeps hers
    assert ada == bob and float(ada) > 1
    assert main(["feedback", "--zip", "moodle"]) == 0
    late = course.feedback / "participant-13/01-attention/attention.html"
    assert "Handed in 2 d 10 h late, which costs 3 points." in late.read_text()
    with zipfile.ZipFile(course.root / "feedback-moodle-02-scaling.zip") as pages:
        (name,) = pages.namelist()  # the team's, where no member stands
        assert name == "Rocket_57_assignfeedback_file_/scaling.html"
        page_of_team = pages.read(name).decode()
    assert "Rocket" in page_of_team
    assert not re.search("Ada|Bob|x\\.org", page_of_team)

    assert main(["report"]) == 0
    report = (course.root / "report.html").read_text()
    assert "All scores are final: mean" in report and "2 d 10 h late, −3" in report


def check_formgrader(course, formgrader, page):
    """Formgrader shows the due date, when work came, the extension and the penalty."""
    page.goto(f"{formgrader}?token=secret")
    page.goto(f"{formgrader}formgrader/manage_assignments")
    page.get_by_text("2026-03-09 22:59:00 UTC").wait_for()
    page.goto(f"{formgrader}formgrader/manage_submissions/01-attention")
    page.get_by_text("2026-03-12 09:00:00 UTC").first.wait_for()
    told = {
        "participant-13": "2 d 10 h late, 3 points less",
        "participant-14": "extended to 2026-03-13 22:59 UTC",
    }
    for student, words in told.items():
        where = ("attention", "01-attention", student)
        with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
            number = book.find_submission_notebook(*where).id
        page.goto(f"{formgrader}formgrader/submissions/{number}/")
        page.get_by_text(words).first.wait_for()
