"""Downloads of learning platforms become submissions, unharmed or refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.cli import main

LATER = (2026, 3, 5, 5, 6, 8)


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_nbgrader_reads_the_time(archive, right, handed_in):
    from nbgrader.utils import parse_utc

    main(["collect", str(archive({"ada/x.ipynb": right}))])
    stamp = handed_in("ada", "timestamp.txt")
    assert parse_utc(stamp.strip()).hour == 5


def test_a_file_name_cannot_hand_in_for_somebody_else(archive, right, students):
    trick = "bob_99_assignsubmission_file_x.ipynb"
    path = archive(
        {
            f"Eve_12_assignsubmission_file_{trick}": right,
            f"mallory_13_14_{trick}": right,
            f"trudy/{trick}": right,
            "oscar/bob/attention.ipynb": right,
        }
    )
    main(["collect", str(path)])
    assert students() == ["Eve-12", "mallory-13", "oscar", "trudy"]


@pytest.mark.parametrize(("keep", "index"), [("latest", 1), ("first", 0)])
def test_of_two_versions_the_rule_chooses_and_both_are_kept(
    course, archive, right, keep, index, handed_in
):
    earlier = right.replace("np.", "numpy.", 1)
    files = {"ada/a.ipynb": earlier, "ada/b.ipynb": (right, LATER), "bo/a.ipynb": right}
    main(["collect", str(archive(files)), "--keep", keep])
    assert handed_in("ada") == [earlier, right][index]
    assert len(list(course.collected.glob("ada/01-attention/*.ipynb"))) == 2


def test_collecting_again_changes_nothing_and_a_later_download_replaces(
    archive, right, capsys, handed_in
):
    earlier = right.replace("np.", "numpy.", 1)
    first = archive({"ada/a.ipynb": earlier})
    main(["collect", str(first)])
    main(["collect", str(first)])
    assert "0 new, 0 replaced, 1 as before" in capsys.readouterr().out
    second = archive({"ada/a.ipynb": (right, LATER)}, "second.zip")
    main(["collect", str(second)])
    assert handed_in("ada") == right
    assert "replaced by the latest" in capsys.readouterr().out
    main(["collect", str(first)])
    assert handed_in("ada") == right
    main(["collect", str(first), "--keep", "first"])
    assert handed_in("ada") == earlier


def test_what_was_put_there_by_hand_is_not_replaced(
    archive, right, untouched, capsys, handed_in, hand_in
):
    hand_in("ada", untouched)
    main(["collect", str(archive({"ada/a.ipynb": right}))])
    assert handed_in("ada") == untouched
    assert "(time unknown)" in capsys.readouterr().out


def test_the_students_own_timestamp_is_not_used(archive, right, handed_in):
    files = {"ada/a.ipynb": right, "ada/timestamp.txt": "1999-01-01 00:00:00 UTC"}
    main(["collect", str(archive(files))])
    assert handed_in("ada", "timestamp.txt").startswith("2026-03-04")


def test_damaged_notebooks_come_along_and_other_files_are_named(
    archive, right, capsys, handed_in
):
    files = {"ada/attention.ipynb": right[:500], "ada/photo.png": "x"}
    assert main(["collect", str(archive(files))]) == 0
    assert handed_in("ada") == right[:500]
    assert "not collected: ada/photo.png is not a notebook" in capsys.readouterr().out


HOSTILE = [
    "Lovelace, Ada",
    'Ada "the" Lovelace',
    "=HYPERLINK(1)",
    "@SUM(A1)",
    "Ada \u202egnp.\u202c",
    "<script>alert(1)<script>",
    "x" * 200,
    "\u00e9" * 100,
    "Ada\nLovelace",
    "-rf",
    "..Ada",
    "CON",
    "'; DROP TABLE student",
]


def test_hostile_names_become_harmless_folders_one_each(archive, right, students):
    files = {f"{name}/a.ipynb": right for name in HOSTILE}
    assert main(["collect", str(archive(files))]) == 0
    found = students()
    assert len(found) == len(HOSTILE)
    for name in found:
        assert name[0] not in "=-.+@" and not set(name) & set("<>,\"'\n/\u202e ;")
        assert len(os.fsencode(name)) <= 100


def test_one_file_never_costs_the_folder(right, tmp_path, capsys, students):
    folder = tmp_path / "folder"
    for student in ("ada", "bob", "eve"):
        (folder / student).mkdir(parents=True)
    (folder / "ada" / "a.ipynb").write_text(right)
    (folder / "bob" / "b.ipynb").symlink_to("/etc/passwd")
    (folder / "bob" / "c.ipynb").symlink_to(folder / "ada", target_is_directory=True)
    os.mkfifo(folder / "eve" / "a.ipynb")
    with open(folder / "eve" / "b.ipynb", "wb") as file:
        file.truncate(1 << 30)  # takes no room
    with open(os.path.join(os.fsencode(folder), b"M\xfcller.ipynb"), "w") as file:
        file.write(right)
    os.utime(folder / "ada" / "a.ipynb", (1 << 40, 1 << 40))
    assert main(["collect", str(folder)]) == 0
    said = capsys.readouterr().out
    assert students() == ["ada"]
    for name in ("bob/b.ipynb", "bob/c.ipynb", "eve/a.ipynb"):
        assert f"not collected: {name} is a link or a device" in said
    assert "not collected: eve/b.ipynb is larger than 20 MB" in said
    assert "ller.ipynb has a name that is not UTF-8" in said


def test_a_folder_that_cannot_be_read_costs_no_other(
    right, tmp_path, monkeypatch, capsys, students
):
    folder = tmp_path / "folder"
    for student in ("ada", "eve"):
        (folder / student).mkdir(parents=True)
        (folder / student / "a.ipynb").write_text(right)
    scan = os.scandir

    def scandir(path):  # as for an ordinary user; root may read everything
        if Path(path).name == "eve":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert main(["collect", str(folder)]) == 0
    monkeypatch.undo()
    assert "not collected: eve cannot be read: Permiss" in capsys.readouterr().out
    assert students() == ["ada"]


def test_the_notebooks_of_one_student_have_a_limit_together(
    archive, right, monkeypatch, capsys, students
):
    monkeypatch.setattr("autograder.intake.collect.MOST", 3 * len(right) // 2)
    files = {f"eve/{n}.ipynb": right + " " * n for n in range(5)} | {
        "kim/a.ipynb": right
    }
    assert main(["collect", str(archive(files))]) == 0
    said = capsys.readouterr().out
    assert students() == ["eve", "kim"]
    assert said.count("not collected: eve/") == 3


def test_a_file_that_is_no_archive_and_one_that_is_missing(course, tmp_path, capsys):
    (tmp_path / "no.zip").write_text("<html>log in</html>")
    assert main(["collect", str(tmp_path / "no.zip")]) == 2
    assert main(["collect", str(tmp_path / "gone.zip")]) == 2
    assert "There is no archive" in capsys.readouterr().err


def test_work_under_a_name_that_two_students_have_goes_to_neither(
    archive, right, tmp_path, capsys, students
):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "student_id,name\nal1,Ada Lovelace\nal2,Ada Lovelace\nag,Ada Gray\n"
    )
    path = archive({"Ada Lovelace/x.ipynb": right, "Ada Gray/x.ipynb": right})
    assert main(["collect", str(path), "--roster", str(roster)]) == 0
    said = capsys.readouterr().out
    assert "Ada Lovelace is the name of 2 students in the roster" in said
    assert "2 of 3 students on the roster submitted nothing: al1, al2." in said
    assert students() == ["ag"]
