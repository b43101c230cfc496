"""Points go into the platforms' own files, and every other byte stays."""

from __future__ import annotations

import re
import shutil

import pytest
from test_platforms import GERMAN, GRADEBOOK, SEMICOLONS, WORKSHEET

from autograder.cli import main
from autograder.intake.sheet import Sheet
from autograder.release.grading_plan import plan

COLUMN = ["--column", "Homework 1 (4711)"]
EXPORTED = {
    # the file with students' points: what is written there, and as what
    "moodle": (WORKSHEET, [], 'grading",16.0,20.00'),
    "moodle, in German": (GERMAN, [], 'abgegeben","16,0","20,00"'),
    "canvas": (GRADEBOOK, COLUMN, ",ada,A,16.0,"),
    "canvas, semicolons": (SEMICOLONS, COLUMN, ";ada;A;16.0;"),
    "with a byte order mark and Windows' line ends": (
        *("\ufeff" + WORKSHEET.replace("\n", "\r\n"), [], 'grading",16.0,20.00'),
    ),
}


@pytest.fixture
def fit(course, attention):
    """A platform's file in which the highest grade is that of the assignment."""
    most = plan(course, attention).max_score

    def replaced(text):
        for old, new in (
            ("20.00", f"{most:.2f}"),
            ("sible,,,,,20", f"sible,,,,,{most:g}"),
        ):
            for wide in (
                str,
                lambda t: t.replace(".", ","),
                lambda t: t.replace(",", ";"),
            ):
                text = text.replace(wide(old), wide(new))
        return text

    return replaced


@pytest.fixture
def export(course, tmp_path, fit):
    """Export into a platform's file; the exit code, and the new text."""

    def run(text, *more):
        roster = tmp_path / "list.csv"
        roster.write_bytes(fit(text).encode())
        form = "canvas" if "Section" in text else "moodle"
        command = ["export", "--format", form, "--roster", str(roster), *more]
        code = main(command)
        name = "canvas.csv" if form == "canvas" else "moodle-01-attention.csv"
        path = course.root / name
        return code, path.read_bytes().decode() if path.exists() else ""

    return run


def given(text):
    """Number and grade of each row of a worksheet."""
    sheet = Sheet(text)
    return {
        sheet.value(row, 0).split()[-1]: sheet.value(row, sheet.find("Grade"))
        for row in sheet.rows
    }


@pytest.mark.parametrize("form", EXPORTED)
def test_only_the_cells_of_final_points_change(marked, export, fit, form):
    """Canvas gets its whole file, Moodle the rows that change, without comments."""
    text, options, cell = EXPORTED[form]
    marked(dict.fromkeys(("ada@x.org", "ada"), 16.0) | {"grace": None})
    code, new = export(text, *options)
    text, cell = fit(text), fit(cell)
    assert code == 0 and new.count(cell) == 1
    before = text.splitlines(keepends=True)
    back = new.replace(cell, re.sub('"?16.0"?', "", cell)).splitlines(keepends=True)
    if "canvas" not in form:
        before = [re.sub(",[^,]*?(\r?\n)$", r"\1", line) for line in before[:2]]
    assert back == before


def test_what_a_platform_holds_is_never_cleared(marked, export, fit, capsys):
    held = GRADEBOOK.replace("grace,A,,", "grace,A,12.5,").replace(
        "ada,A,,", "ada,A,EX,"
    )
    marked({"grace": None, "ada": 16.0})
    code, new = export(held, *COLUMN)
    assert (code, new) == (0, fit(held))
    said = capsys.readouterr().out
    assert "not exported: grace waits for a grade by hand" in said
    assert "not exported: ada has EX there" in said


def test_equal_points_are_left_out_and_a_zero_is_no_blank(marked, export):
    before = WORKSHEET.replace('grading",,', 'grading",16.00,')
    marked({"ada@x.org": 16.0, "grace@x.org": 0.0})
    _, new = export(before)
    assert given(new) == {"57": "0.0"}


def test_a_team_that_was_collected_without_a_list_goes_to_nobody(
    marked, export, capsys
):
    marked({"Team-Rocket-57": 11.0, "Ada-Lovelace-12": 16.0})
    _, new = export(WORKSHEET)
    assert given(new) == {"12": "16.0"}
    assert (
        "not exported: Team-Rocket-57 is not in the roster" in capsys.readouterr().out
    )


def test_the_column_is_asked_for_and_named_exactly(marked, export, capsys):
    marked({"ada": 16.0})
    assert export(GRADEBOOK)[0] == 2
    said = capsys.readouterr().err
    assert '--column "01-attention=TITLE". It has: Homework 1 (4711)' in said
    assert export(GRADEBOOK, "--column", "Homework 2")[0] == 2
    assert "has no column 'Homework 2'" in capsys.readouterr().err
    both = export(GRADEBOOK, "--column", "01-attention=Homework 1 (4711)")
    assert both == export(GRADEBOOK, *COLUMN)
    named = GRADEBOOK.replace("Homework 1", "01-attention")
    assert ",ada,A,16.0," in export(named)[1]


def test_the_wrong_kind_of_file_is_refused(marked, tmp_path, capsys):
    marked({"ada": 16.0})
    path = tmp_path / "list.csv"
    path.write_text(WORKSHEET)
    assert main(["export", "--format", "canvas", "--roster", str(path)]) == 2
    assert "is not Canvas's gradebook" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a,b\n",
        'a,"b ""c""\nd",e\r\n\r\n"x"y,,z',
        'a,"open\nb',
        "a;b;c\n1;2,5;3",
    ],
)
def test_a_sheet_that_nobody_changed_is_the_same_to_the_byte(text):
    assert Sheet(text).text() == text
    assert Sheet("\ufeff" + text).text() == "\ufeff" + text


def test_a_changed_cell_is_quoted_where_it_has_to_be():
    sheet = Sheet('a,"b"\n1,"2"\n')
    sheet.change(1, 0, "x,y")
    sheet.change(1, 1, 'z"')
    assert sheet.text() == 'a,"b"\n"x,y","z"""\n'
    assert Sheet(sheet.text()).row(1) == ["x,y", 'z"']


@pytest.fixture
def two(course, repository, marked):
    """Points in two assignments."""
    source = repository.solutions / "02-scaling"
    shutil.copytree(source, course.solutions / "02-scaling")
    marked({"ada": 16.0})
    marked({"ada": 3.0}, "02-scaling")


@pytest.mark.usefixtures("two")
def test_a_title_without_an_assignment_is_never_taken_for_two(export, capsys):
    code, new = export(GRADEBOOK, *COLUMN)
    assert (code, new) == (2, "")
    said = capsys.readouterr().err
    assert "does not name an assignment" in said
    assert '--column "01-attention=Homework 1 (4711)"' in said


@pytest.mark.usefixtures("two")
def test_an_assignment_without_a_column_stops_no_other(export, capsys):
    code, new = export(GRADEBOOK, "--column", "01-attention=Homework 1 (4711)")
    assert code == 0 and ",ada,A,16.0," in new
    said = capsys.readouterr().out
    assert "not exported: 02-scaling: Canvas's gradebook has no column" in said


def test_the_list_of_another_course_is_refused(marked, export, capsys):
    marked({"zoe": 16.0, "yves": 3.0})
    assert export(WORKSHEET) == (2, "")
    said = capsys.readouterr().err
    assert "No student who handed in 01-attention is in" in said
