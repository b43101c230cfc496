"""Lists and archives as they should not be: a sentence, or the right result."""

from __future__ import annotations

import unicodedata

import pytest

from autograder.intake.names import safe

OWN = "student_id,name\nada,Ada Lovelace\njose,José Núñez\n"
REFUSED = {
    # what the file holds, and what is said of it
    "UTF-16, as Excel's Unicode text": (
        OWN.replace(",", "\t").encode("utf-16"),
        'is in UTF-16, not in UTF-8; save it as CSV in UTF-8 (in Excel: "CSV UTF-8").',
    ),
    "another encoding": (OWN.encode("latin-1"), "is not in UTF-8; save it as CSV"),
    "a workbook": (b"PK\x03\x04\xff\xfe", "is a workbook or another archive"),
    "nothing": (b"\xef\xbb\xbf\r\n", "is empty."),
    "a header alone": (b"student_id,name\n", "lists no students."),
    "one id for two": (
        f"{OWN}ada,Ada Byron\n".encode(),
        "line 4: ada is the id of Ada Byron, but in line 2 it is the id of Ada",
    ),
    "one id for two, in two normal forms": (
        "student_id,name\nrené,A\nrene\u0301,B\n".encode(),
        "but in line 2 it is the id of A; give each student a different id.",
    ),
    "a student without an id": (
        f"{OWN},Alan Turing\n".encode(),
        "line 4: Alan Turing has no id.",
    ),
}
READ = {
    "with a byte order mark": ("\ufeff" + OWN).encode(),
    "semicolons": OWN.replace(",", ";").encode(),
    "tabs": OWN.replace(",", "\t").encode(),
    "the other normal form": unicodedata.normalize("NFD", OWN).encode(),
    "a student twice": f"{OWN}ada,Ada Lovelace\n".encode(),
    "empty lines": f"{OWN}\n,\n".encode(),
    "spaces around": OWN.replace(",", " , ").replace("\n", " \n").encode(),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_list_that_cannot_be_used_is_refused_with_its_reason(
    course, collect, right, capsys, kind
):
    data, words = REFUSED[kind]
    assert collect({"ada/attention.ipynb": right}, data) == 2
    assert words in capsys.readouterr().err
    assert not course.submitted.exists()


@pytest.mark.parametrize("kind", READ)
def test_a_list_that_is_clear_is_read(collect, right, capsys, kind, students):
    files = {"Ada Lovelace/a.ipynb": right, "José Núñez/a.ipynb": right}
    assert collect(files, READ[kind]) == 0
    assert students() == ["ada", "jose"]
    assert "0 of 2 students on the roster submitted nothing." in capsys.readouterr().out


@pytest.mark.parametrize("id", ["dept/ada", "..", "."])
def test_an_id_that_is_no_name_of_a_folder_is_a_student_all_the_same(
    collect, right, capsys, id, students
):
    roster = f"student_id,name\n{id},Ada Lovelace\n".encode()
    assert collect({"Ada Lovelace/a.ipynb": right}, roster) == 0
    assert students() == [safe(id)]
    assert "0 of 1 students on the roster submitted nothing." in capsys.readouterr().out


def test_one_name_in_two_normal_forms_is_one_student(
    collect, right, untouched, students
):
    assert collect({"José Núñez/a.ipynb": right}) == 0
    name = unicodedata.normalize("NFD", "José Núñez")
    assert collect({f"{name}/a.ipynb": untouched}) == 0
    assert len(students()) == 1


def test_what_is_left_says_what_to_do(collect, right, capsys):
    files = {"ada/a.ipynb": right, "ada/work.zip": b"PK", "jose/x.ipynb": b""}
    assert collect(files, OWN.encode()) == 0
    said = capsys.readouterr().out
    assert "work.zip is an archive inside the archive; unpack it" in said
    assert "jose/x.ipynb is empty, and cannot be matched to an assignment" in said


def test_of_two_files_of_one_time_nobody_claims_to_know_the_later(
    collect, right, capsys
):
    other = right.replace("np.", "numpy.", 1)
    files = {"ada/a.ipynb": right, "ada/b.ipynb": other, "bo/a.ipynb": right}
    assert collect(files) == 0
    said = capsys.readouterr().out
    assert "2 versions; several have the same time; this one counts: ada/b" in said


def test_after_blind_marking_nobody_is_there_twice(collect, right, capsys, students):
    files = {"Participant_12_assignsubmission_file/a.ipynb": right}
    head = "Identifier,{}Status,Grade,Maximum grade\nParticipant 12,{}Submitted,,20\n"
    assert collect(files, head.format("", "").encode()) == 0
    names = "Full name,Email address,", "Ada Lovelace,ada@x.org,"
    files = {"Ada Lovelace_12_assignsubmission_file/a.ipynb": right}
    assert collect(files, head.format(*names).encode()) == 0
    assert students() == ["participant-12"]
    said = capsys.readouterr().out
    assert "students who kept the number from blind marking: 1" in said
    assert said.endswith("0 of 1 students on the roster submitted nothing.\n")
