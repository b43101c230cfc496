"""Downloads of learning platforms become submissions, unharmed or refused."""

from __future__ import annotations

import os
import stat
import zipfile

import pytest

from autograder.cli import main

MOODLE = "{}_{}_assignsubmission_file_/{}"
LATER = (2026, 3, 5, 5, 6, 8)


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def handed_in(course, student, file="attention.ipynb"):
    return (course.submitted / student / "01-attention" / file).read_text()


def students(course):
    if not course.submitted.is_dir():
        return []
    return sorted(folder.name for folder in course.submitted.iterdir())


def test_moodle_with_folders_renamed_files_and_no_time_of_its_own(
    course, archive, right, untouched
):
    path = archive(
        {
            MOODLE.format("Ada Lovelace", 12, "attention (1).ipynb"): right,
            MOODLE.format("Chen Wu", 7, "homework.ipynb"): untouched,
        }
    )
    assert main(["collect", str(path)]) == 0
    assert students(course) == ["Ada-Lovelace-12", "Chen-Wu-7"]
    assert handed_in(course, "Ada-Lovelace-12") == right
    # Moodle writes the time of the download: it is not when Ada handed in
    stamp = course.submitted / "Ada-Lovelace-12" / "01-attention" / "timestamp.txt"
    assert not stamp.exists()


def test_nbgrader_reads_the_time(course, archive, right):
    from nbgrader.utils import parse_utc

    main(["collect", str(archive({"ada/x.ipynb": right}))])
    stamp = handed_in(course, "ada", "timestamp.txt")
    assert parse_utc(stamp.strip()).hour == 5


def test_moodle_without_folders_and_canvas(course, archive, right):
    path = archive(
        {
            "Ada L_12_assignsubmission_file_attention.ipynb": right,
            "wuchen_LATE_34_5678_attention-1.ipynb": right,
            "okafoli_35_5679_attention.ipynb": right,
        }
    )
    assert main(["collect", str(path)]) == 0
    assert students(course) == ["Ada-L-12", "okafoli-35", "wuchen-34"]


def test_a_roster_gives_the_ids(course, archive, right, tmp_path, capsys):
    roster = tmp_path / "canvas.csv"
    roster.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n"
        '"Wu, Chen",34,s1,chen,A\n"Lovelace, Ada",99,s2,ada,A\n'
    )
    path = archive(
        {
            "wuchen_34_1_a.ipynb": right,
            "Ada Lovelace/b.ipynb": right,
            "Nobody/c.ipynb": right,
        }
    )
    assert main(["collect", str(path), "--roster", str(roster)]) == 0
    assert students(course) == ["ada", "chen"]
    assert "Nobody is not in the roster" in capsys.readouterr().out


def test_a_file_name_cannot_hand_in_for_somebody_else(course, archive, right):
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
    assert students(course) == ["Eve-12", "mallory-13", "oscar", "trudy"]


@pytest.mark.parametrize(("keep", "index"), [("latest", 1), ("first", 0)])
def test_of_two_versions_the_rule_chooses_and_both_are_kept(
    course, archive, right, untouched, keep, index
):
    path = archive({"ada/a.ipynb": untouched, "ada/b.ipynb": (right, LATER)})
    main(["collect", str(path), "--keep", keep])
    assert handed_in(course, "ada") == [untouched, right][index]
    assert len(list(course.collected.glob("ada/01-attention/*.ipynb"))) == 2


def test_collecting_again_changes_nothing_and_a_later_download_replaces(
    course, archive, right, untouched, capsys
):
    first = archive({"ada/a.ipynb": untouched})
    main(["collect", str(first)])
    main(["collect", str(first)])
    assert "0 new, 0 replaced, 1 as before" in capsys.readouterr().out
    second = archive({"ada/a.ipynb": (right, LATER)}, "second.zip")
    main(["collect", str(second)])
    assert handed_in(course, "ada") == right
    assert "replaced by the latest" in capsys.readouterr().out
    main(["collect", str(first)])
    assert handed_in(course, "ada") == right
    main(["collect", str(first), "--keep", "first"])
    assert handed_in(course, "ada") == untouched


def test_what_was_put_there_by_hand_is_not_replaced(
    course, archive, right, untouched, capsys
):
    folder = course.submitted / "ada" / "01-attention"
    folder.mkdir(parents=True)
    (folder / "attention.ipynb").write_text(untouched)
    main(["collect", str(archive({"ada/a.ipynb": right}))])
    assert handed_in(course, "ada") == untouched
    assert "has no time" in capsys.readouterr().out


def test_the_students_own_timestamp_is_not_used(course, archive, right):
    files = {"ada/a.ipynb": right, "ada/timestamp.txt": "1999-01-01 00:00:00 UTC"}
    main(["collect", str(archive(files))])
    assert handed_in(course, "ada", "timestamp.txt").startswith("2026-03-04")


def test_damaged_notebooks_come_along_and_other_files_are_named(
    course, archive, right, capsys
):
    files = {"ada/attention.ipynb": right[:500], "ada/photo.png": "x"}
    assert main(["collect", str(archive(files))]) == 0
    assert handed_in(course, "ada") == right[:500]
    assert "not collected: ada/photo.png is no notebook" in capsys.readouterr().out


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


def test_hostile_names_become_harmless_folders_one_each(course, archive, right):
    files = {f"{name}/a.ipynb": right for name in HOSTILE}
    assert main(["collect", str(archive(files))]) == 0
    found = students(course)
    assert len(found) == len(HOSTILE)
    for name in found:
        assert name[0] not in "=-.+@" and not set(name) & set("<>,\"'\n/\u202e ;")
        assert len(os.fsencode(name)) <= 100


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil.ipynb", "out of the archive"),
        ("ada/../../evil.ipynb", "out of the archive"),
        ("/etc/evil.ipynb", "out of the archive"),
        ("ada\\..\\..\\evil.ipynb", "out of the archive"),
        ("C:\\evil.ipynb", "out of the archive"),
    ],
)
def test_paths_that_lead_out_are_refused_by_name(
    course, archive, right, capsys, name, why
):
    assert main(["collect", str(archive({"bob/a.ipynb": right, name: "{}"}))]) == 2
    error = capsys.readouterr().err
    assert why in error and "evil.ipynb" in error
    assert students(course) == []


@pytest.mark.parametrize("name", ["", "."])
def test_an_entry_without_a_name_is_refused(course, archive, right, capsys, name):
    files = {"ada/a.ipynb": right, name: "x", "./": ""}
    assert main(["collect", str(archive(files))]) == 2
    assert f"The entry {name}: it has no name." in capsys.readouterr().err
    assert main(["collect", str(archive({"ada/a.ipynb": right, "./": ""}))]) == 0


def test_links_bombs_and_damage_are_refused_by_name(
    course, archive, right, tmp_path, capsys
):
    path = archive({"bob/a.ipynb": right})
    with zipfile.ZipFile(path, "a") as target:
        link = zipfile.ZipInfo("eve/link.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        target.writestr(link, "/etc/passwd")
    assert main(["collect", str(path)]) == 2
    assert "eve/link.ipynb: it is a link" in capsys.readouterr().err

    path = archive({"bob/a.ipynb": right, "eve/bomb.ipynb": "0" * 30_000_000})
    assert main(["collect", str(path)]) == 2
    assert "eve/bomb.ipynb: it would unpack" in capsys.readouterr().err

    path = archive({"bob/a.ipynb": right, "eve/bad.ipynb": "{}" * 500})
    data = bytearray(path.read_bytes())
    data[data.index(b"eve/bad.ipynb") + 15] ^= 0xFF
    path.write_bytes(data)
    assert main(["collect", str(path)]) == 2
    assert "eve/bad.ipynb: it is damaged" in capsys.readouterr().err
    assert students(course) == []

    folder = tmp_path / "folder"
    (folder / "eve").mkdir(parents=True)
    (folder / "eve" / "a.ipynb").symlink_to("/etc/passwd")
    assert main(["collect", str(folder)]) == 2
    assert "eve/a.ipynb: it is a link" in capsys.readouterr().err


def test_a_file_that_is_no_archive_and_one_that_is_missing(course, tmp_path, capsys):
    (tmp_path / "no.zip").write_text("<html>log in</html>")
    assert main(["collect", str(tmp_path / "no.zip")]) == 2
    assert main(["collect", str(tmp_path / "gone.zip")]) == 2
    assert "There is no archive" in capsys.readouterr().err


def test_work_under_a_name_that_two_students_have_goes_to_neither(
    course, archive, right, tmp_path, capsys
):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "student_id,name\nal1,Ada Lovelace\nal2,Ada Lovelace\nag,Ada Gray\n"
    )
    path = archive({"Ada Lovelace/x.ipynb": right, "Ada Gray/x.ipynb": right})
    assert main(["collect", str(path), "--roster", str(roster)]) == 0
    said = capsys.readouterr().out
    assert "Ada Lovelace is the name of 2 students in the roster" in said
    assert "2 of 3 students of the roster have no work: al1, al2." in said
    assert students(course) == ["ag"]
