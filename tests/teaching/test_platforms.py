"""Archives and lists as Moodle and Canvas write them: who gets the work, or why not.

The forms are those of mod/assign/classes/downloader.php and gradingtable.php (Moodle),
lib/content_zipper.rb and lib/gradebook_exporter.rb (Canvas).
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.grading.deadlines import Deadlines
from autograder.release.dates import of_worksheet, read_stamp, zone_of

WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)",\
"Feedback comments"
"Participant 12","Ada Lovelace",ada@x.org,"Submitted for grading",,20.00,Yes,\
"Monday, 2 March 2026, 5:30 PM",-,
"Participant 57","Grace Hopper",grace@x.org,"No submission",,20.00,Yes,-,-,
"Participant 60","Miles O'Brien",miles@x.org,"No submission",,20.00,Yes,-,-,
"""
TEAMS = """\
Identifier,"Full name","Email address",Status,Group,Grade,"Maximum grade",\
"Grade can be changed","Last modified (submission)","Last modified (grade)"
"Participant 12","Ada Lovelace",ada@x.org,Submitted,"Team Rocket",,20.00,Yes,-,-
"Participant 13","Alan Turing",alan@x.org,Submitted,"Team Rocket",,20.00,Yes,-,-
"Participant 57","Grace Hopper",grace@x.org,Submitted,"Default group",,20.00,Yes,-,-
"""
GERMAN = """\
ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,\
"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)",\
"Zuletzt geändert (Bewertung)","Feedback als Kommentar"
Teilnehmer/in12,"Ada Lovelace",ada@x.org,"Zur Bewertung abgegeben",,"20,00",Ja,\
"Montag, 2. März 2026, 17:30",-,
Teilnehmer/in57,"Grace Hopper",grace@x.org,"Keine Abgabe",,"20,00",Ja,-,-,
"""
BLIND = """\
Identifier,Status,Grade,"Maximum grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)"
"Participant 12",Submitted,,20.00,Yes,-,-
"Participant 57",Submitted,,20.00,Yes,-,-
"""
BLIND_GERMAN = """\
ID,Status,Bewertung,Bestwertung,"Bewertung änderbar","Zuletzt geändert (Abgabe)"
Teilnehmer/in12,Abgegeben,,"20,00",Ja,-
Teilnehmer/in57,Abgegeben,,"20,00",Ja,-
Teilnehmer/in58,Abgegeben,,"20,00",Ja,-
Teilnehmer/in59,Abgegeben,,"20,00",Ja,-
"""
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (4711),Current Score
,,,,,Manual Posting,
    Points Possible,,,,,20,(read only)
"Lovelace, Ada",34,s34,ada,A,,
"Wu, Chen_Li",35,,,A,,
"Hopper, Grace",36,s36,grace,A,,
"""
NAMES_APART = """\
LastName,FirstName,ID,SIS Login ID,Section,Homework 1 (4711)
    Points Possible,,,,,20
Lovelace,Ada,34,ada,A,
Hopper,Grace,36,grace,A,
"""
SEMICOLONS = GRADEBOOK.replace(",", ";").replace("; ", ", ").replace("ce; A", "ce, A")
GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id
"Ada Lovelace",34,s34,ada,A,"Rocket_7 team",900,
"Grace Hopper",36,s36,grace,A,"Rocket_7 team",900,
"Chen Wu",35,,,A,,,
"""
OWN = "student_id,name\nada,Ada Lovelace\ngrace,Grace Hopper\n"
FILE = "assignsubmission_file"
# where the work of whom lies; `roster` and `teams` are a list, or the name of one here
with Path(__file__).with_name("platforms.jsonl").open(encoding="utf-8") as file:
    GOLDEN = {form.pop("form"): form for form in map(json.loads, file)}


@pytest.fixture
def collect(collect, right):
    """Collect right work under these paths; the exit code."""

    def run(paths, *more, **teams):
        return collect(dict.fromkeys(paths, right), *more, **teams)

    return run


@pytest.mark.parametrize("form", GOLDEN)
def test_work_goes_to_whom_the_platform_names(collect, capsys, form, students):
    case = GOLDEN[form]
    roster, teams = (
        globals().get(text, text) for text in (case["roster"], case.get("teams", ""))
    )
    assert collect(case["paths"], roster, teams=teams) == 0
    assert students() == sorted(case["students"])
    text = capsys.readouterr().out
    for words in case["said"]:
        assert words in text, text


def test_of_two_files_on_canvas_the_one_uploaded_later_counts(
    course, archive, right, capsys
):
    other = right.replace("np.", "numpy.", 1)
    later, earlier = (2026, 3, 5, 5, 6, 8), (2026, 3, 5, 5, 6, 2)
    path = archive(
        {
            "lovelaceada_34_999_attention-1.ipynb": (right, earlier),
            "lovelaceada_34_567_attention.ipynb": (other, later),
        }
    )
    assert main(["collect", str(path)]) == 0
    folder = course.submitted / "lovelaceada-34" / "01-attention"
    assert (folder / "attention.ipynb").read_text() == right
    assert "2 versions; the latest counts" in capsys.readouterr().out


def test_when_nobody_is_recognized_the_command_fails(collect, capsys, students):
    assert collect([f"Team Rocket_57_{FILE}/a.ipynb"], WORKSHEET) == 1
    assert students() == []
    said = capsys.readouterr().out
    assert "0 new, 0 replaced, 0 as before, 1 file not collected." in said


@pytest.mark.parametrize(
    "paths",
    [
        ["ada/part 1/a.ipynb", "ada/part 2/a.ipynb"],
        [f"trudy/Bob_13_{FILE}/a.ipynb"],
        [f"trudy/bob_99_{FILE}_x.ipynb", "trudy/wu_34_5_x.ipynb"],
    ],
)
def test_a_folder_that_could_be_a_class_or_a_student_is_asked_about(
    collect, capsys, paths, students
):
    assert collect(paths) == 2
    assert "Is it one student's folder, or the class's?" in capsys.readouterr().err
    assert students() == []


def test_the_worksheet_tells_when_in_its_own_language_and_time_zone(course, collect):
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.Exchange.timezone = "Europe/Berlin"\n')
    assert collect([f"Ada Lovelace_12_{FILE}/a.ipynb"], GERMAN) == 0
    folder = course.submitted / "ada@x.org" / "01-attention"
    assert (folder / "timestamp.txt").read_text() == "2026-03-02 16:30:00 UTC\n"


def test_a_worksheet_that_comes_later_adds_the_time(course, collect):
    paths = [f"Ada Lovelace_12_{FILE}/a.ipynb"]
    stamp = course.submitted / "ada@x.org" / "01-attention" / "timestamp.txt"
    without = WORKSHEET.replace('"Monday, 2 March 2026, 5:30 PM"', "-")
    assert collect(paths, without) == 0
    assert not stamp.exists()
    assert collect(paths, WORKSHEET) == 0
    assert stamp.read_text() == "2026-03-02 17:30:00 UTC\n"


def test_what_columns_tell_is_asked_for_when_it_is_unclear(collect, capsys, students):
    two = BLIND_GERMAN.replace("Status", "Zustand").split("Teilnehmer/in58")[0]
    paths = [f"Teilnehmerin_12_{FILE}/a.ipynb"]
    assert collect(paths, two) == 2
    assert "if marking is blind, --columns name='ID'." in capsys.readouterr().err
    assert collect(paths, two, "--columns", "name=ID") == 0
    assert students() == ["participant-12"]
    capsys.readouterr()
    assert collect(paths, two, "--columns", "nmae=ID") == 2
    assert "did you mean name?" in capsys.readouterr().err
    assert collect(paths, two, "--columns", "name=Idd") == 2
    assert (
        "has no column 'Idd'; its columns are 'ID', 'Zustand'"
        in capsys.readouterr().err
    )


TIMES = {
    "Monday, 9 March 2026, 5:30 PM": "2026-03-09 17:30",
    "Monday, 9 March 2026, 12:05 AM": "2026-03-09 00:05",
    "Montag, 9. März 2026, 17:30": "2026-03-09 17:30",
    "lundi 9 mars 2026, 17:30": "2026-03-09 17:30",
    "lundi 9 mars 2026 à 17h30": "2026-03-09 17:30",
    "lunes, 9 de marzo de 2026, 17:30": "2026-03-09 17:30",
    "maandag 9 maart 2026, 17:30": "2026-03-09 17:30",
    "poniedziałek, 9 marca 2026, 17:30": "2026-03-09 17:30",
    "2026年03月9日(月曜日) 17:30": "2026-03-09 17:30",
    "9 listopad 2026, 17:30": None,  # October in Croatian, November in Polish
    "09/03/2026 17:30": None,
    "soon": None,
    "-": None,
}


@pytest.mark.parametrize("text", TIMES)
def test_times_are_read_in_the_languages_of_moodle_or_not_at_all(text):
    time = of_worksheet(text, UTC)
    assert (time and f"{time:%Y-%m-%d %H:%M}") == TIMES[text]


def test_a_time_that_cannot_be_read_is_named(collect, capsys):
    strange = WORKSHEET.replace("Monday, 2 March 2026, 5:30 PM", "02/03/2026 17:30")
    assert collect([f"Ada Lovelace_12_{FILE}/a.ipynb"], strange) == 0
    said = capsys.readouterr().out
    assert "which make nobody late: 1, such as '02/03/2026 17:30'" in said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-09 17:30:05.948203 UTC", "2026-03-09 17:30:05.948203+00:00"),
        ("2026-03-09 17:30:05 PDT", "2026-03-10 00:30:05+00:00"),
        ("2026-03-09 17:30 +02:00", "2026-03-09 15:30:00+00:00"),
        ("2026-03-09 17:30 XYZ", "None"),
        ("yesterday", "None"),
    ],
)
def test_the_exchanges_times_are_read_as_nbgrader_writes_them(tmp_path, text, expected):
    (tmp_path / "timestamp.txt").write_text(text)
    zone = zone_of("America/Los_Angeles")
    assert str(read_stamp(tmp_path, zone)) == expected


def test_canvas_says_late_and_grade_passes_it_on(
    course, attention, collect, marked, capsys
):
    from autograder.grading.missing_work import remarks
    from autograder.grading.store import Store

    paths = ["lovelaceada_LATE_34_567_a.ipynb", "hoppergrace_36_9_a.ipynb"]
    assert collect(paths, GRADEBOOK) == 0
    marked({"ada": 16.0, "grace": 16.0})
    with Store(course) as store:
        results = store.results("01-attention")
        said = list(remarks(course, store, attention, results, ""))
    (line,) = said
    assert line.startswith(
        "late for 01-attention according to Canvas, which does not say by how much: ada"
    )
    # what the line says to do makes the work late by so much
    time, place = re.search(r"such as (\S+ \S+), into (\S+),", line).groups()
    (course.root / place).write_text(time)
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write('\nc.Autograder.due = {"01-attention": "2026-03-09 23:00"}\n')
    with Store(course) as store:
        handed_in = course.submissions([attention])
        Deadlines.of(course).enter(store, handed_in)
        results = store.results("01-attention")
        said = list(remarks(course, store, attention, results, ""))
    assert (results["ada"].lateness, said) == ("9 h late", [])
