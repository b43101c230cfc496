"""What a live Moodle 4.5.6 wrote is read, and written back, to the right people.

The files are in tests/platforms/moodle-4.5.6; each has a row here.
"""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from shared import rows

from autograder.cli import main
from autograder.course import Course
from autograder.errors import CourseError
from autograder.grading.store import Store
from autograder.intake.columns import parse_columns
from autograder.intake.roster import read_roster
from autograder.intake.versions import origin_of
from autograder.results.feedback_zip import write_zips

FILES = Path(__file__).parents[1] / "platforms" / "moodle-4.5.6"
BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"
WALK = "ada joerg kim1 kim2 cher sio bob eve zoe lina tom"
TERM = "ada1 ada2 joerg prius conor leo rea dora wim eva max"
PARTICIPANTS = "18 14 16 23 17 20 13 22 15 24 19"  # of TERM, when marking was blind


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine whose zone is nobody's."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def school(course, repository):
    """The course in a zone, with one assignment more."""

    def made(zone: str = BERLIN, assignment: str = "01-attention") -> Course:
        with (course.root / "nbgrader_config.py").open("a") as file:
            file.write(f'\nc.Exchange.timezone = "{zone}"\n')
        if not (course.solutions / assignment).is_dir():
            source = repository.solutions / assignment
            shutil.copytree(source, course.solutions / assignment)
        return course

    return made


def collect(archive: str, sheet: str, *more: str) -> int:
    return main(
        ["collect", str(FILES / archive), "--roster", str(FILES / sheet), *more]
    )


def entries(archive: str) -> dict[str, bytes]:
    """The notebooks by the number that their folder has."""
    with zipfile.ZipFile(FILES / archive) as opened:
        return {
            name.split("_")[1]: opened.read(name)
            for name in opened.namelist()
            if name.endswith(".ipynb")
        }


def work(course: Course, assignment: str) -> dict[str, bytes]:
    """What is in submitted/, by the name before the @."""
    return {
        path.parts[-3].removesuffix("@example.org"): path.read_bytes()
        for path in course.submitted.glob(f"*/{assignment}/*.ipynb")
    }


def handed_in(course: Course, assignment: str) -> dict[str, str]:
    """Hour and minute of each submission, in UTC."""
    return {
        path.parts[-3].removesuffix("@example.org"): path.read_text()[11:16]
        for path in course.submitted.glob(f"*/{assignment}/timestamp.txt")
    }


PLACES = {"zip": "term/downloads/", "csv": "term/worksheets/"}
BLIND = " ".join(f"participant-{number}" for number in PARTICIPANTS.split())
# archive, worksheet, zone, who has work, times in UTC of some
COLLECTED = rows(
    """
walk | submissions.zip | worksheet.csv | UTC | {walk} | eve 07:25
walk, blind | blind-submissions.zip | blind-worksheet.csv | UTC | {walk} |
individual | {zip}01.zip | {csv}01-first.csv | {de} | {term} | leo 07:56, ada1 06:00
flat | {zip}01-flat.zip | {csv}01-first.csv | {de} | {term} | leo 07:56
one suspended | {zip}01.zip | {csv}01-one-suspended.csv | {de} | {but_wim} | leo 07:56
blind | {zip}02-blind.zip | {csv}02-blind.csv | {de} | {blind} |
revealed | {zip}02-blind.zip | {csv}02-blind-revealed.csv | {de} | {term} | ada1 06:33
attempts | {zip}{two}.zip | {csv}{two}.csv | {de} | rea eva | rea 07:43, eva 05:26
draft, late | {zip}{draft}.zip | {csv}{draft}.csv | {de} | {five} | dora 07:56
a second file, late | {zip}{file}.zip | {csv}{file}.csv | {de} | ada1 eva | ada1 08:06
New York | {zip}{ny}.zip | {csv}{ny}.csv | {us} | {five} | conor 07:55, dora 05:43
German | {zip}{wf}.zip | {csv}{wf}-german.csv | {de} | ada1 eva | ada1 05:43, eva 05:43
""",
    **{**PLACES, "de": BERLIN, "us": NEW_YORK, "walk": WALK, "term": TERM},
    **{"but_wim": TERM.replace(" wim", ""), "blind": BLIND},
    **{"five": "conor leo dora eva max", "two": "04-attempt-2", "wf": "06-workflow"},
    **{"draft": "05-draft-submitted-late", "file": "06-second-file-late"},
    ny="05-new-york",
)
PS = "01-attention"
NUMBERED = ("01-attention", "02-scaling", "03-multi-head", "04-masking")


def assignment_of(archive: str) -> str:
    """The files of the term begin with its number; later ones are of the first."""
    number = int(archive.rpartition("/")[2][:2]) if "term" in archive else 1
    return NUMBERED[number - 1] if number < 5 else NUMBERED[0]


@pytest.mark.parametrize("form", COLLECTED)
def test_each_gets_the_own_work_and_the_worksheets_time(school, capsys, form):
    archive, sheet, zone, who, times = COLLECTED[form]
    assignment = assignment_of(archive)
    course = school(zone, assignment)
    assert collect(archive, sheet) == 0
    found, there = work(course, assignment), entries(archive)
    assert found.keys() == set(who.split())
    for person in read_roster(FILES / sheet).people:
        student = person.student.removesuffix("@example.org")
        assert found.get(student) == there.get(person.number) or "suspended" in form
    moments = handed_in(course, assignment)
    assert moments.keys() == found.keys()
    for one in filter(None, times.split(", ")):
        student, moment = one.split()
        assert moments[student] == moment
    said = capsys.readouterr().out
    assert not any(words in said for words in ("handed in again", "such as", "zones"))


def test_a_worksheet_of_another_zone_than_the_archives_is_named(school, capsys):
    school()
    assert collect("made/other-zone.zip", "made/other-zone.csv") == 0
    assert "times are 6 hours before those of the files" in capsys.readouterr().out


# archive, worksheet, the members of each team, in the order of the groups' numbers
TEAM_WORK = rows(
    """
walk | team-submissions.zip | team-worksheet.csv | ada bob kim1, kim2 tom, zoe lina
one with &, one with _ | {zip}03-teams.zip | {csv}03-teams.csv | {three}
numbers that collide | {zip}{collide}.zip | {csv}{collide}.csv | {three}
""",
    **PLACES,
    three="ada1 joerg prius, ada2 conor leo, rea eva max",
    collide="03-teams-colliding-numbers",
)


@pytest.mark.parametrize("form", TEAM_WORK)
def test_every_member_of_a_team_gets_its_work(school, form):
    archive, sheet, teams = TEAM_WORK[form]
    assignment = assignment_of(archive)
    course = school(BERLIN, assignment)
    assert collect(archive, sheet) == 0
    pairs = zip(teams.split(", "), sorted(entries(archive).items()), strict=True)
    assert work(course, assignment) == {
        student: notebook for team, (_, notebook) in pairs for student in team.split()
    }


# ------------------------------------------------------------------ pages go back

COLLIDING = (
    "term/downloads/03-teams-colliding-numbers.zip",
    "term/worksheets/03-teams-colliding-numbers.csv",
)


@pytest.fixture
def sent(marked):
    """The zip of pages: its names and pages, and lines on others.

    A page shows its student, or the team that handed in the work.
    """

    def write(course: Course, assignment: str, platform: str = "moodle", **other: str):
        students = [path.parts[-2] for path in course.submitted.glob("*/*")]
        marked(dict.fromkeys(students, 3.0), assignment)
        (chosen,) = course.chosen([assignment])
        for student in students:
            origin = origin_of(course, student, assignment)
            page = other.get(student, origin.group or student)
            folder = course.feedback / student / assignment
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{chosen.notebook}.html").write_text(page)
        (path,), lines = write_zips(course, [chosen], platform)
        with zipfile.ZipFile(path) as opened:
            return {n: opened.read(n).decode() for n in opened.namelist()}, lines

    return write


def own_table(sheet: str, path: Path) -> Path:
    """The roster of a school that has teams and no numbers of Moodle's."""
    people = read_roster(FILES / sheet).people
    rows = [f"{p.student},{p.name},{p.team}" for p in people]
    path.write_text("\n".join(["student_id,name,team", *rows]))
    return path


@pytest.mark.parametrize("own", [False, True])
def test_a_teams_page_goes_to_the_groups_number(school, sent, tmp_path, own):
    course = school(BERLIN, "03-multi-head")
    archive, sheet = COLLIDING
    roster = own_table(sheet, tmp_path / "own.csv") if own else sheet
    assert collect(archive, str(roster)) == 0
    files, lines = sent(course, "03-multi-head")
    names = (FILES / "term/feedback/03-teams-group-numbers.txt").read_text()
    assert sorted(files) == sorted(names.splitlines()) and lines == []
    assert all(name.startswith(page) for name, page in files.items())
    if own:
        with pytest.raises(CourseError, match="without the participant's number"):
            sent(course, "03-multi-head", "moodle-4.1")
        return
    files, lines = sent(course, "03-multi-head", "moodle-4.1")
    names = (FILES / "term/feedback/03-teams-participant-numbers.txt").read_text()
    assert sorted(files) == sorted(names.splitlines()) and lines == []


def test_a_team_whose_pages_differ_gets_none_and_is_listed(school, sent):
    course = school(BERLIN, "03-multi-head")
    assert collect(*COLLIDING) == 0
    files, lines = sent(course, "03-multi-head", **{"leo@example.org": "extra points"})
    assert [name.split("_")[0] for name in sorted(files)] == ["South", "West"]
    (line,) = lines
    assert "different pages" in line
    assert line.endswith(": ada2@example.org, conor@example.org, leo@example.org")


# archive, worksheet, teams that Moodle does not know
INDIVIDUAL = rows(
    """
walk | submissions.zip | worksheet.csv |
walk, blind | blind-submissions.zip | blind-worksheet.csv |
term | {zip}01.zip | {csv}01-first.csv |
teams of one's own | {zip}01.zip | {csv}01-first.csv | ada1 leo
""",
    **PLACES,
)


@pytest.mark.parametrize("platform", ["moodle", "moodle-4.1"])
@pytest.mark.parametrize("form", INDIVIDUAL)
def test_a_students_page_goes_to_the_own_number(school, sent, tmp_path, form, platform):
    archive, sheet, teams = INDIVIDUAL[form]
    course, more = school(), []
    if teams:
        mine = "".join(f"{who(student)},Ada Test\n" for student in teams.split())
        (tmp_path / "teams.csv").write_text(f"student_id,team\n{mine}")
        more = ["--teams", str(tmp_path / "teams.csv")]
    assert collect(archive, sheet, *more) == 0
    files, lines = sent(course, "01-attention", platform)
    numbers = {p.student: p.number for p in read_roster(FILES / sheet).people}
    found = {page: name.split("_")[1] for name, page in files.items()}
    assert lines == [] and len(found) == 11
    assert found == {student: numbers[student] for student in found}


def test_what_an_earlier_version_collected_is_collected_again(school, sent):
    """It kept one number of a team, and nobody knows which."""
    course = school(BERLIN, "03-multi-head")
    assert collect(*COLLIDING) == 0
    for path in course.collected.glob("*/*/origin.json"):
        found = json.loads(path.read_text())
        del found["group"]
        path.write_text(json.dumps(found | {"not_at": ""}))
    with pytest.raises(CourseError, match="without the team's number; collect the zip"):
        sent(course, "03-multi-head")
    assert collect(*COLLIDING) == 0
    assert len(sent(course, "03-multi-head")[0]) == 3


# ------------------------------------------------------------------ points go back


@pytest.fixture
def export(course, marked, capsys):
    """Points into a worksheet: the exit code, grades by student, and what is said."""

    def run(sheet: str, points: dict[str, float], *more: str, assignment=""):
        assignment = assignment or assignment_of(sheet)
        if points:
            marked(
                {who(student): given for student, given in points.items()}, assignment
            )
        path = course.root / f"moodle-{assignment}.csv"
        path.unlink(missing_ok=True)
        capsys.readouterr()
        command = ["export", assignment, "--format", "moodle", *more]
        code = main([*command, "--roster", str(FILES / sheet)])
        return (
            code,
            grades(path, more) if code == 0 else {},
            "".join(capsys.readouterr()),
        )

    return run


def who(student: str) -> str:
    """The id of a student of the files."""
    return student if set(student) & set("- ") else f"{student}@example.org"


def grades(path: Path, more: tuple[str, ...] = ()) -> dict[str, str]:
    """What a file to import has, by the name before the @."""
    if len(path.read_text().splitlines()) == 1:
        return {}
    columns = parse_columns(more[1]) if "--columns" in more else {}
    roster = read_roster(path, columns)
    return {
        person.student.removesuffix("@example.org"): roster.sheet.value(
            person.row, roster.columns["grade"]
        )
        for person in roster.people
    }


def all_of(names: str, points: float = 7.5) -> dict[str, float]:
    return dict.fromkeys(names.split(), points)


# of those of 01 after the first import
THERE = "ada1: 22.5; ada2 prius: 10.5; joerg conor: 6.5; leo: 5.5"
NAMES = ["Ada Test", "Jörg Müller", "Kim Lee", "Cher .", "Eve Late"]
# worksheet, points here, options, grades in the file, what is said
EXPORTED = rows(
    """
walk | worksheet.csv | {walk}: 7.5 | | {walk}: 7.5 | next: in Moodle, import
walk, after the zip | worksheet-after-feedback.csv | {walk}: 7.5 | | {walk}: 7.5 |
walk, blind | blind-worksheet.csv | {walk}: 7.5 | | {walk}: 7.5 |
walk, teams | team-worksheet.csv | ada bob kim1: 3 | | ada bob kim1: 3.0 |
a maximum of 100 | worksheet-maximum-100.csv | ada: 6 | --scale | ada: 25.0 |
first | {csv}01-first.csv | {term}: 7.5 | | {term}: 7.5 |
after the zip | {csv}01-after-feedback-zip.csv | {term}: 7.5 | | {term}: 7.5 |
typed comments | {csv}01-with-typed-comments.csv | {there}; eva: 1 | | | eva@
typed, German | {german} | {there} | | | ada1@example.org: 23 there, 22.5 here
replaced, German | {german} | {there} | {replace} | ada1: 22,5 | {unread}
one suspended | {csv}01-one-suspended.csv | {there}; wim: 3 | | | {not_there}
semicolons | {csv}01-semicolons.csv | prius: 3 | {of_prius} | prius: 3.0 | {semicolon}
blind | {csv}02-blind.csv | {blind}: 6 | | {blind}: 6.0 |
blind, later | {csv}02-blind-after-feedback-zip.csv | {blind}: 6 | | {blind}: 6.0 |
revealed | {csv}02-blind-revealed.csv | participant-13: 6 | {of_rea} | rea: 6.0 |
teams | {csv}03-teams.csv | rea eva max: 7.5 | | rea eva max: 7.5 |
workflow | {csv}06-workflow.csv | ada1: 3 | | ada1: 3.0 | {released}
workflow, German | {csv}06-workflow-german.csv | ada1: 3 | | ada1: 3,0 | {released}
""",
    **{**PLACES, "walk": WALK, "term": TERM, "blind": BLIND, "there": THERE},
    german="term/worksheets/01-german-decimal-comma.csv",
    replace="--replace ada1@example.org",
    of_prius="--replace prius@example.org",
    of_rea="--replace participant-13",
    unread="Moodle will skip 1 of these rows, because it cannot read 'Samstag",
    not_there="not exported: wim@example.org is not in the roster",
    semicolon="(Upload grading worksheet) with the separator Semicolon",
    released="once Moodle's state is Released; now it is Not marked (1)",
)


def by_student(cell: str) -> dict[str, str]:
    """The value of each student in a cell such as "ada bob: 3; eva: 1"."""
    pairs = (part.split(": ") for part in cell.split("; ") if part)
    return {student: value for names, value in pairs for student in names.split()}


def test_another_maximum_is_asked_about(school, export):
    school()
    code, _, said = export("worksheet-maximum-100.csv", {"ada": 6.0})
    assert code == 2 and "has 24 points here and 100.00 in" in said


@pytest.mark.parametrize("form", EXPORTED)
def test_points_go_into_the_own_row_alone(school, export, form):
    sheet, points, options, expected, words = EXPORTED[form]
    school(BERLIN, assignment_of(sheet))
    given = {student: float(value) for student, value in by_student(points).items()}
    code, found, said = export(sheet, given, *options.split())
    assert code == 0 and words in said
    assert found == by_student(expected)
    assert ("Moodle will skip" in said) == ("erman" in form and bool(found))
    assert ("there is nothing to import" in said) == (not found)


def test_names_may_be_the_ids(school, export):
    school()
    columns = "--columns", "student=Full name"
    code, found, _ = export(
        "worksheet-one-kim.csv", dict.fromkeys(NAMES, 3.0), *columns
    )
    assert (code, found) == (0, dict.fromkeys(NAMES, "3.0"))


def test_grades_that_moodle_would_skip_are_listed(school, export):
    course = school()
    export("made/locked.csv", all_of("ada bob cy dora", 24.0), assignment=PS)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        (notebook,) = book.find_submission(PS, "cy@example.org").notebooks
        notebook.grades[0].extra_credit = 1.0
        book.db.commit()
    code, found, said = export("made/locked.csv", {}, assignment=PS)
    assert (code, found) == (0, {"dora": "24.0"})
    assert "locked or overridden grade there" in said
    assert "ada@example.org, bob@example.org" in said
    assert "cy@example.org has more than 24 points" in said


def copied(sheet: str, path: Path, **changes: str) -> str:
    """A worksheet in which something is written otherwise."""
    text = (FILES / sheet).read_bytes().decode()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_bytes(text.encode())
    return str(path)


def test_a_file_to_import_has_no_comments_and_is_written_as_the_worksheet(
    school, export
):
    course = school()
    export("term/worksheets/01-first.csv", {"leo": 3.0})
    rows = (FILES / "term/worksheets/01-first.csv").read_bytes().splitlines()
    assert (course.root / "moodle-01-attention.csv").read_bytes().splitlines() == [
        rows[0].removesuffix(b',"Feedback comments"'),
        rows[7].replace(b",,", b",3.0,").removesuffix(b","),
    ]
    export("term/worksheets/01-semicolons.csv", {"nina": 3.0})
    back = (course.root / "moodle-01-attention.csv").read_bytes()
    assert back.endswith(b" -  - ;3.0;24.00;Yes;-;-\r\n") and back.count(b"\r\n") == 2


@pytest.mark.parametrize("word", ["Reopened", "A word of no language"])
def test_a_reopened_attempt_gets_no_points_until_its_work_is_graded(
    school, export, sent, tmp_path, capsys, word
):
    course = school(BERLIN, "04-masking")
    name = "term/{}/04-attempt-{}"
    first, second = (
        (name.format("downloads", n) + ".zip", name.format("worksheets", n) + ".csv")
        for n in (1, 2)
    )
    assert collect(*first) == 0
    reopened = "term/worksheets/04-reopened.csv"
    empty = copied(reopened, tmp_path / "04.csv", Reopened=word)
    assert collect("term/downloads/04-reopened.zip", empty) == 0
    told = "1 submitted nothing in a reopened attempt; submitted/ has earlier work: rea"
    assert (told in capsys.readouterr().out) == (word == "Reopened")
    points = all_of("rea eva", 19.13)
    code, found, said = export(empty, points, assignment="04-masking")
    assert (code, found) == (0, {}) and "not exported: rea@example.org ha" in said
    files, lines = sent(course, "04-masking")
    assert [*files.values()] == ["eva@example.org"]
    assert len(lines) == 1 and "not in the zip: rea@example.org ha" in lines[0]
    _, found, _ = export(second[1], {}, assignment="04-masking")
    assert found == {"eva": "3.0"}  # rea handed in again; nobody has collected that
    assert collect(*second) == 0
    # what is there is from here, so it is no change by a person
    _, found, _ = export(second[1], {"rea": 12.0}, assignment="04-masking")
    assert found == {"rea": "12.0", "eva": "3.0"}


MADE = "made/reopened-teams{}"


@pytest.mark.parametrize("again", ["collected", "exported"])
def test_a_reopened_teams_earlier_page_stays_here(school, sent, export, again):
    course = school()
    before, now = (
        (MADE.format(n) + ".zip", MADE.format(n) + ".csv") for n in ("", "-again")
    )
    assert collect(*before) == 0
    if again == "collected":
        assert collect(*now) == 0
    else:
        _, found, _ = export(now[1], all_of("ada cy"))
        assert found.keys() == {"cy"}
    files, lines = sent(course, "01-attention")
    assert {name.partition("_")[0] for name in files} == {"East", "North"}
    assert lines == [
        "not in the zip: 2 (has a reopened attempt there without new work): "
        "ada@example.org, bob@example.org"
    ]
    assert collect(*before) == 0  # as with new work of theirs
    assert len(sent(course, "01-attention")[0]) == 3


def test_a_draft_is_named_and_can_be_left_out(school, capsys):
    course = school()
    files = "term/downloads/05-drafts.zip", "term/worksheets/05-drafts.csv"
    assert collect(*files, "--no-drafts") == 0
    assert work(course, "01-attention").keys() == {"eva"}
    assert "Draft_51_assignsubmission_file/attention.ipynb is a draft" in (
        capsys.readouterr().out
    )
    assert collect(*files) == 0
    assert work(course, "01-attention").keys() == {"eva", "dora"}
    said = capsys.readouterr().out
    assert "1 saved a draft and did not submit it" in said and ": dora@" in said


def test_a_worksheet_from_before_the_zip_of_pages_is_named(school, export, tmp_path):
    course = school()
    sheet = copied("term/worksheets/01-first.csv", tmp_path / "sheet.csv")
    zipped = course.root / "feedback-moodle-01-attention.zip"
    zipped.touch()
    for before, said_then in ((60, True), (-60, False)):
        moment = zipped.stat().st_mtime - before
        os.utime(sheet, (moment, moment))
        _, _, said = export(sheet, {"leo": 3.0}, assignment="01-attention")
        words = f"{zipped.name} is newer than {sheet}. If it is uploaded, Moodle will"
        assert (words in said) == said_then


def test_comments_by_hand_go_into_their_column_and_typed_ones_stay(school, export):
    course = school()
    sheet = "term/worksheets/01-with-typed-comments.csv"
    there = {student: float(value) for student, value in by_student(THERE).items()}
    points = there | {"conor": 7.0}
    export(sheet, points)
    written = {"ada1": "Look again.", "prius": "x < y & z:\nsee §2", "ada2": "Fine."}
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        for student, text in written.items():
            submission = gradebook.find_submission("01-attention", who(student))
            comment = submission.notebooks[0].comments[-1]
            comment.manual_comment, name = text, comment.name.removeprefix("test_")
        gradebook.db.commit()
    replaced = ["--replace", "conor@example.org", "--replace", "ada2@example.org"]
    _, found, said = export(sheet, {}, "--comments", *replaced)
    assert "another comment is there, and kept" in said and ": ada1@" in said
    assert found == {"ada2": "10.50", "prius": "10.50"}
    other = course.root / "moodle-01-attention-without-comments.csv"
    assert grades(other) == {"conor": "7.0"} and "Typed" not in other.read_text()
    text = (course.root / "moodle-01-attention.csv").read_text()
    assert f"<p><strong>{name}</strong> x &lt; y &amp; z:<br>see §2</p>" in text
    assert "Look again" not in text and "axismask" not in text


def test_both_ids_of_a_person_get_the_name_once_moodle_shows_it(school, marked):
    course = school(BERLIN, "02-scaling")
    marked(all_of("participant-13 participant-24 rea@example.org"), "02-scaling")
    roster = str(FILES / "term/worksheets/02-blind-revealed.csv")
    assert main(["names", roster]) == 0
    with Store(course) as store:
        names = store.names()
    assert names["participant-13"] == names["rea@example.org"] == "Rea Resubmit"
    assert names["participant-24"] == "Eva Under_Score"


# ------------------------------------- cases of the same kinds that no file has

HEADINGS = (
    'Identifier,"Full name","Email address",Status,{}Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (submission)","Last modified (grade)"'
)
MOMENT = "Monday, 9 March 2026, 9:59 AM"


@pytest.fixture
def invented(school, right, tmp_path):
    """Collect work of these labels with a worksheet: name and team by number."""

    def made(labels, people, zone=BERLIN, moment=MOMENT, clock=(2026, 3, 9, 9, 59, 0)):
        course, teams = school(zone), any(team for _, team in people.values())
        lines = [HEADINGS.format("Group," if teams else "")]
        for number, (name, team) in people.items():
            group = f'"{team}",' if teams else ""
            lines.append(
                f'"Participant {number}","{name}",{number}@example.org,Submitted,'
                f'{group},24.00,Yes,"{moment}",-'
            )
        (tmp_path / "sheet.csv").write_text("\n".join(lines))
        with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
            for label in labels:
                notebook = json.loads(right)
                notebook["metadata"]["label"] = label
                path = f"{label}_assignsubmission_file/a.ipynb"
                archive.writestr(zipfile.ZipInfo(path, clock), json.dumps(notebook))
        teams_table = tmp_path / "teams.csv"
        more = ["--teams", str(teams_table)] if teams_table.exists() else []
        assert (
            collect(str(tmp_path / "work.zip"), str(tmp_path / "sheet.csv"), *more) == 0
        )
        found = work(course, "01-attention")
        return {
            int(student): json.loads(text)["metadata"]["label"]
            for student, text in found.items()
        }

    return made


# labels in the archive; name and team by number; whose work is whose
ODD = {
    "two groups of one name": (
        ["West_75", "West_80", "East_9"],
        {1: ("A", "West"), 2: ("B", "West"), 3: ("C", "East")},
        {3: "East_9"},
    ),
    "teams that only signs tell apart": (
        ["C++_5", "C#_6", "C_7", "1+2_8", "12_9"],
        {
            1: ("A", "C++"),
            2: ("B", "C#"),
            3: ("D", "C"),
            4: ("E", "1+2"),
            5: ("F", "12"),
        },
        {1: "C++_5", 2: "C#_6", 3: "C_7", 4: "1+2_8", 5: "12_9"},
    ),
    "teams that Moodle writes alike": (
        ["Team X_4", "Team X_5", "A amp; B_6", "A and B_7"],
        {
            1: ("A", "Team_X"),
            2: ("B", "Team X"),
            3: ("C", "A & B"),
            4: ("D", "A and B"),
        },
        {3: "A amp; B_6", 4: "A and B_7"},
    ),
    "signs that no file's name may have": (
        ["lt;3 q_1", "\N{ROCKET}_2", "AB x_3", "Zwei Leer_8"],
        {
            **{1: ("A", "<3 q"), 2: ("B", "\N{ROCKET}"), 3: ("C", "A/B: x")},
            **{4: ("D", "Zwei  Leer")},
        },
        {1: "lt;3 q_1", 2: "\N{ROCKET}_2", 3: "AB x_3", 4: "Zwei Leer_8"},
    ),
    "teams as a live Moodle wrote them": (
        ["Ramp;D, Group _1", "Team 7 \N{ROCKET}_2", "A amp; B  C_3"],
        {
            **{1: ("A", 'R&D, ""Group"" '), 2: ("B", "Team 7_\N{ROCKET}")},
            **{3: ("C", "A & B / C")},
        },
        {1: "Ramp;D, Group _1", 2: "Team 7 \N{ROCKET}_2", 3: "A amp; B  C_3"},
    ),
    "a team called as a participant of the same number": (
        ["Ada Test_80", "Bob Ross_81"],
        {80: ("Ada Test", "Bob Ross"), 81: ("Bob Ross", "Ada Test")},
        {80: "Bob Ross_81", 81: "Ada Test_80"},
    ),
    "names with commas": (
        ["Müller, Dr., Jörg_5", "Lee_7", "Lee Lee_8"],
        {5: ("Müller, Dr., Jörg", ""), 7: ("Lee", ""), 8: ("Lee Lee", "")},
        {5: "Müller, Dr., Jörg_5", 7: "Lee_7", 8: "Lee Lee_8"},
    ),
}


@pytest.mark.parametrize("form", ODD)
def test_odd_names_never_lead_to_somebody_else(invented, sent, course, form):
    labels, people, expected = ODD[form]
    assert invented(labels, people) == expected
    files, _ = sent(course, "01-attention")
    numbers = {int(name.split("_")[1]) for name in files}
    assert numbers == {int(label.rpartition("_")[2]) for label in expected.values()}


def test_a_team_of_an_assignment_without_teams_has_its_members_numbers(
    invented, sent, course, tmp_path
):
    (tmp_path / "teams.csv").write_text(
        "student_id,team\n1@example.org,Rocket\n2@example.org,Rocket\n"
    )
    people = {1: ("A", ""), 2: ("B", ""), 57: ("C", "")}
    assert invented(["Rocket_57"], people) == {1: "Rocket_57", 2: "Rocket_57"}
    files, lines = sent(course, "01-attention")
    assert {int(name.split("_")[1]) for name in files} == {1, 2} and lines == []


def test_without_a_groups_number_its_page_stays_here(invented, sent, course):
    people = {7: ("A", "Default group"), 8: ("B", "Default group"), 9: ("C", "West")}
    invented(["Default group", "West_7"], people)
    files, lines = sent(course, "01-attention")
    assert list(files) == ["West_7_assignfeedback_file_/attention.html"]
    assert "2 (is in no group on Moodle, or in several" in lines[0]


@pytest.mark.parametrize(
    ("zone", "moment", "clock", "utc"),
    [
        (BERLIN, "Sunday, 29 March 2026, 3:10 AM", (3, 29, 1, 50), "01:10"),
        (BERLIN, "Sunday, 25 October 2026, 2:30 AM", (10, 25, 2, 30), "00:30"),
        (BERLIN, "Sunday, 25 October 2026, 3:10 AM", (10, 25, 2, 50), "02:10"),
        ("Asia/Kolkata", "Sunday, October 25, 2026, 3:10 AM", (10, 25, 3, 9), "21:40"),
        ("Pacific/Auckland", "25 October 2026, 23:10", (10, 25, 23, 9), "10:10"),
    ],
)
def test_times_of_other_zones_and_of_the_hour_that_comes_twice(
    invented, course, capsys, zone, moment, clock, utc
):
    invented(["A_1"], {1: ("A", "")}, zone, moment, (2026, *clock, 0))
    assert handed_in(course, "01-attention") == {"1": utc}
    assert "guess" not in capsys.readouterr().out


FRENCH = """\
Identifiant,"Nom complet","Adresse de courriel",Statut,Note,"Note maximale",\
"La note peut être modifiée","Dernière modification (travail remis)",\
"Dernière modification (note)","Feedback par commentaires",Remarques
Participant1,"Zoé Né",zoe@example.org,"Brouillon (non remis) - ",,"24,00",Oui,\
"samedi 28 novembre 2026, 08:46",-,,
Participant2,"Al Bo",al@example.org,"Remis pour évaluation - ",,"24,00",Oui,\
"samedi 28 novembre 2026, 08:46","samedi 28 novembre 2026, 09:46",mot,privé
Participant3,"Cy Do",cy@example.org,"Rouvert - ",,"24,00",Oui,\
"samedi 28 novembre 2026, 08:46",-,,
"""


def test_a_worksheet_in_french_with_a_column_more(school, export, tmp_path):
    course = school()
    (tmp_path / "sheet.csv").write_text(FRENCH)
    points, sheet = all_of("zoe al cy"), str(tmp_path / "sheet.csv")
    _, found, said = export(sheet, points, assignment="01-attention")
    assert found == {"zoe": "7,5", "al": "7,5"}
    assert "Moodle will skip 1 of these rows" in said and said.count("al@example") == 1
    assert "cy@example.org has a reopened attempt" in said
    back = (course.root / "moodle-01-attention.csv").read_text()
    assert "privé" not in back and "mot" not in back
