"""Feedback pages go back in the form in which the platforms take them."""

from __future__ import annotations

import re
import zipfile

import pytest
from nbgrader.api import Gradebook
from shared import GRADE
from test_platforms import FILE, GRADEBOOK, GROUPS, TEAMS, WORKSHEET, collect

from autograder.cli import main
from autograder.errors import CourseError
from autograder.intake.versions import origin_of
from autograder.results.feedback_zip import write_zips

assert collect  # a fixture


def moodle_takes(path, participants):
    """Whose feedback a file is, by the rules of Moodle's importziplib.php."""
    parts = path.split("/")
    for place, part in enumerate(parts):
        info = part.split("_", 4)
        if len(info) > 4 and info[1] in participants and info[2] == "assignfeedback":
            return info[1], "/".join([info[4], *parts[place + 1 :]]).strip("/")
    return None


def canvas_takes(name):
    """User and attachment, by the rules of Canvas's infer_comment_context."""
    return [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]


def teams(course, *students):
    """The teams that collect remembers, by which a team is graded once."""
    return [origin_of(course, student, "01-attention").team for student in students]


@pytest.fixture
def pages(course):
    """A page for each student, without the work of making it."""

    def write(*students, text=""):
        for student in students:
            folder = course.feedback / student / "01-attention"
            folder.mkdir(parents=True)
            (folder / "attention.html").write_text(text or f"<p>{student}</p>")

    return write


def sent(course, attention, platform):
    (path,), lines = write_zips(course, [attention], platform)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}, lines


def test_moodle_finds_every_student_and_what_waits_stays_here(
    course, attention, collect, marked, pages
):
    paths = [f"Ada Lovelace_12_{FILE}/a.ipynb", f"Grace Hopper_57_{FILE}/a.ipynb"]
    assert collect(paths, WORKSHEET) == 0
    marked({"ada@x.org": 16.0, "grace@x.org": None, "by-hand": 11.0})
    pages("ada@x.org", "grace@x.org", "by-hand")
    files, lines = sent(course, attention, "moodle")
    assert [moodle_takes(path, {"12", "57"}) for path in files] == [
        ("12", "attention.html")
    ]
    assert list(files.values()) == ["<p>ada@x.org</p>"]
    assert lines == [
        "not in the zip: by-hand has work that was not collected from Moodle",
        "not in the zip: grace@x.org waits for a grade by hand",
    ]


def test_canvas_finds_student_and_submission_and_a_group_gets_one_page(
    course, attention, collect, marked, pages
):
    paths = ["rocket_7team_LATE_34_567_a-1.ipynb", "wuchen_li_35_568_a.ipynb"]
    assert collect(paths, GRADEBOOK, teams=GROUPS) == 0
    marked({"ada": 16.0, "grace": 16.0, "35": 3.0})
    pages("ada", "grace", text="the team")
    pages("35")
    files, lines = sent(course, attention, "canvas")
    assert sorted(map(canvas_takes, files)) == [["34", "567"], ["35", "568"]]
    assert all(name.endswith(".html") for name in files)
    assert lines == []
    assert teams(course, "ada", "grace", "35") == [*["Rocket_7 team"] * 2, ""]


def test_a_team_reads_one_page_without_the_names_of_its_members(course, collect):
    assert collect([f"Team Rocket_57_{FILE}/a.ipynb"], TEAMS) == 0
    assert main(GRADE) == 0
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "any") as book:
        for submission in book.assignment_submissions("01-attention"):
            for grade in submission.notebooks[0].grades:
                grade.needs_manual_grade = False
        book.db.commit()
    assert main(["feedback", "--zip", "moodle"]) == 0
    with zipfile.ZipFile(course.root / "feedback-moodle-01-attention.zip") as pages:
        (name,) = pages.namelist()
        page = pages.read(name).decode()
    assert name.startswith("Team Rocket_57_") and "Team Rocket" in page
    assert not re.search(r"Ada|Alan|ada@|alan@|x\.org", page)


def test_nothing_to_send_is_an_error_that_says_why(course, attention, marked, pages):
    marked({"ada": None})
    pages("ada")
    with pytest.raises(CourseError, match="Not in the zip: ada waits for a grade"):
        write_zips(course, [attention], "moodle")
    with pytest.raises(SystemExit):
        main(["feedback", "--zip", "olat"])
