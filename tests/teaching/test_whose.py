"""Archives of many platforms: each file goes to its owner, or the archive is refused.

Nothing is guessed: no class becomes one student, and no student becomes two.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.release.dates import platform_time, zone_of

OWN = """\
student_id,name
ada,Ada Lovelace
grace,Grace Hopper
zoe,Zo\u00eb N\u00fa\u00f1ez
ol,Miles O'Brien
"""
MAIL = """\
student_id,name
ada@x.org,Ada Lovelace
grace@x.org,"Hopper, Grace"
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",34,s34,ada,A
"Hopper, Grace",36,s36,grace,A
"""
ATTEMPT = "Homework 1_{}_attempt_2026-03-0{}-22-10-11_{}"
BRIGHT = "50-10{} - {} - Mar {}, 2026 {} PM"
GRADESCOPE = """\
submission_101:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@x.org
  :created_at: 2026-03-09 22:10:11 Z
submission_102:
  :submitters:
  - :name: Grace Hopper
    :sid:
    :email: grace@x.org
  - :name: Zo\u00eb N\u00fa\u00f1ez
    :sid: zoe
    :email: zoe@x.org
"""
ROSTERS = {"OWN": OWN, "MAIL": MAIL, "CANVAS": CANVAS}
# paths and students with work; perhaps a roster or its name, a pattern, what is said
with Path(__file__).with_name("whose.jsonl").open(encoding="utf-8") as file:
    RIGHT = {form.pop("form"): form for form in map(json.loads, file)}
# a pattern, paths, what is said
WHOSE = "Are they one student's versions, or the work of a class?"
FROM = "downloaded from {}. Pass a list of the students with --roster"
DRIVE = ["Homework 1/Ada - attention.ipynb", "Homework 1/Grace - attention.ipynb"]
SECTIONS = ["A/ada.ipynb", "A/bob.ipynb", "B/cy.ipynb", "B/dan.ipynb"]
GITHUB = ["01-attention-ada/a.ipynb", "01-attention-bob/a.ipynb"]
BOARD = [ATTEMPT.format("ada", 9, "a.ipynb")]
SPACE = [BRIGHT.format(50, "Ada", 9, 1122) + "/a.ipynb"]
REFUSED = {
    "a folder of Drive": ("", DRIVE, WHOSE),
    "two folders, each of a section": ("", SECTIONS, WHOSE),
    "blackboard": ("", BOARD, FROM.format("Blackboard")),
    "brightspace": ("", SPACE, FROM.format("Brightspace")),
    "github classroom": ("", GITHUB, "--pattern '{assignment}-{student}'"),
    "a pattern without a student": ("{file}", ["a.ipynb"], "has no {student}"),
    "a field that there is not": ("{studnt}", ["a"], "did you mean student?"),
    "a pattern that is none": ("(?P<student>", ["a"], "cannot be used"),
}
STAMP = "timestamp.txt"


@pytest.fixture
def collect(collect, right):
    """Collect these paths, each with another notebook; the exit code."""

    def run(paths, roster="", pattern=""):
        files = {path: f"{right}{' ' * number}" for number, path in enumerate(paths)}
        files |= {path: GRADESCOPE for path in paths if path.endswith(".yml")}
        return collect(files, roster, *(["--pattern", pattern] if pattern else []))

    return run


@pytest.mark.parametrize("form", RIGHT)
def test_every_notebook_goes_to_its_owner(collect, capsys, form, students):
    case = RIGHT[form]
    roster = case.get("roster", "")
    roster = ROSTERS.get(roster, roster)
    assert collect(case["paths"], roster, case.get("pattern", "")) == 0
    assert set(students()) == set(case["students"].split())
    assert case.get("said", "") in capsys.readouterr().out


@pytest.mark.parametrize("form", REFUSED)
def test_what_could_be_read_in_two_ways_is_refused(collect, capsys, form, students):
    pattern, paths, said = REFUSED[form]
    assert collect(paths, "", pattern) == 2
    assert said in capsys.readouterr().err
    assert students() == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (ATTEMPT.format("ada", 9, "a.ipynb"), "2026-03-09 22:10:11"),
        (BRIGHT.format(50, "Ada Lovelace", 9, 112) + "/a.ipynb", "2026-03-09 13:12:00"),
    ],
)
def test_the_time_in_a_platforms_name_is_that_of_the_submission(
    collect, path, expected, handed_in
):
    assert collect([path], OWN) == 0
    assert handed_in("ada", STAMP).startswith(expected)


def test_times_are_read_in_the_zone_of_the_course():
    berlin = zone_of("Europe/Berlin")
    assert str(platform_time("2026-03-09-22-10-11", berlin))[-6:] == "+01:00"
    assert str(platform_time("Mar 9, 2026 1122 PM", berlin))[11:] == "23:22:00+01:00"
    assert platform_time("yesterday, at noon", berlin) is None


def test_a_name_inside_a_longer_one_is_not_found(collect, students):
    roster = OWN + "lovelace,Bob Byron\nking,Ada Lovelace King\n"
    paths = ["x_Ada Lovelace_y/a.ipynb", "x_Ada Lovelace King_y/a.ipynb"]
    assert collect(paths, roster) == 0
    assert set(students()) == {"ada", "king"}


def test_a_worksheet_with_names_and_no_addresses_is_refused(collect, capsys):
    sheet = (
        'Identifier,"Full name",Status,Grade,"Maximum grade"\n'
        '"Participant 12","Ada Lovelace",Submitted,,20.00\n'
    )
    assert collect(["Ada Lovelace_12_assignsubmission_file/a.ipynb"], sheet) == 2
    assert "--columns student='Full name'" in capsys.readouterr().err


# ------------------------------------------------------- times of several versions

MOODLE = "Ada Lovelace_12_assignsubmission_file/attention.ipynb"
SHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (submission)"\n'
    '"Participant 12","Ada Lovelace",ada,Submitted,,20.00,Yes,"{}"\n'
)
FIRST, SECOND = "Monday, 9 March 2026, 9:59 AM", "Wednesday, 11 March 2026, 9:59 AM"


@pytest.fixture
def moodle(archive, tmp_path):
    """Collect Ada's file from an archive of that day, with what the worksheet says."""

    def run(text, day, time, *options):
        files = {MOODLE: (text, (2026, 3, day, 12, 0, 0))}
        path = archive(files, f"{day}.zip")
        (tmp_path / "sheet.csv").write_text(SHEET.format(time))
        roster = ["--roster", str(tmp_path / "sheet.csv")]
        assert main(["collect", str(path), *roster, *options]) == 0

    return run


def test_the_first_attempt_never_gets_the_time_of_the_second(
    course, moodle, right, untouched, capsys, handed_in
):
    changed = right.replace("np.", "numpy.", 1)
    moodle(changed, 11, SECOND)
    assert handed_in("ada", STAMP).startswith("2026-03-11 09:59")
    moodle(right, 9, SECOND, "--keep", "first")
    folder = course.submitted / "ada/01-attention"
    assert (folder / "attention.ipynb").read_text() == right
    assert not (folder / "timestamp.txt").exists()
    assert "1 got earlier work back, of which the worksheet" in capsys.readouterr().out


def test_a_version_keeps_the_time_that_was_known_of_it(moodle, right, handed_in):
    changed = right.replace("np.", "numpy.", 1)
    moodle(right, 9, FIRST)
    moodle(changed, 11, SECOND)
    moodle(right, 9, SECOND, "--keep", "first")
    assert handed_in("ada", STAMP).startswith("2026-03-09 09:59")


def test_new_work_with_the_time_of_the_old_is_listed_until_there_is_another(
    moodle, right, capsys, handed_in
):
    changed = right.replace("np.", "numpy.", 1)
    moodle(right, 9, FIRST)
    moodle(changed, 11, FIRST)
    assert handed_in("ada", STAMP).startswith("2026-03-09 09:59")
    assert "still has the time of the old work, which is" in capsys.readouterr().out
    moodle(changed, 11, SECOND)
    assert handed_in("ada", STAMP).startswith("2026-03-11 09:59")
    assert "the old work" not in capsys.readouterr().out


def test_a_time_after_every_file_of_the_archive_is_stored_and_called_a_guess(
    moodle, right, capsys, handed_in
):
    moodle(right, 9, SECOND)
    assert handed_in("ada", STAMP).startswith("2026-03-11 09:59")
    said = capsys.readouterr().out
    assert "1 may have handed in again" in said and "This is a guess" in said


def test_a_time_zone_that_comes_later_changes_the_times(
    course, moodle, right, capsys, handed_in
):
    moodle(right, 9, FIRST)
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.Exchange.timezone = 'Europe/Berlin'\n")
    capsys.readouterr()
    moodle(right, 9, FIRST)
    assert handed_in("ada", STAMP).startswith("2026-03-09 08:59")
    assert "1 got a different time of submission: ada" in capsys.readouterr().out
    moodle(right, 9, FIRST)
    assert "another time" not in capsys.readouterr().out


# ------------------------------------------------------------- untouched copies


@pytest.mark.parametrize("keep", ["latest", "first"])
@pytest.mark.parametrize("other", ["attention_original.ipynb", "a.ipynb"])
def test_an_untouched_copy_never_counts_beside_answers(
    course, archive, right, untouched, capsys, keep, other
):
    files = {
        f"ada/{other}": untouched,
        "ada/attention.ipynb": right,
        "b/x.ipynb": right,
    }
    later = {**files, f"ada/{other}": (untouched, (2026, 3, 6, 1, 1, 2))}
    for number, each in enumerate((files, later)):
        path = archive(each, f"{number}.zip")
        assert main(["collect", str(path), "--keep", keep]) == 0
        folder = course.submitted / "ada/01-attention"
        assert (folder / "attention.ipynb").read_text() == right
        said = "1 sent several notebooks of one assignment; look at them: ada"
        assert said in capsys.readouterr().out


def test_an_untouched_notebook_does_not_replace_answers_and_they_replace_it(
    course, archive, right, untouched, capsys
):
    path = course.submitted / "ada/01-attention/attention.ipynb"
    days = [(untouched, 4), (right, 3), (untouched, 6)]
    for number, (text, day) in enumerate(days):
        files = {"ada/a.ipynb": (text, (2026, 3, day, 1, 1, 2))}
        main(["collect", str(archive(files, f"{number}.zip"))])
        assert path.read_text() == (untouched if number == 0 else right)
    assert "the collected one has no answers" in capsys.readouterr().out


def test_of_equal_times_the_name_of_the_course_counts(course, archive, right):
    changed = right.replace("np.", "numpy.", 1)
    files = {"ada/zz.ipynb": changed, "ada/attention.ipynb": right, "b/x.ipynb": right}
    assert main(["collect", str(archive(files))]) == 0
    path = course.submitted / "ada/01-attention/attention.ipynb"
    assert path.read_text() == right
