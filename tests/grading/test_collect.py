"""Archives of learning management systems end up in the right places, unharmed."""

import stat
import zipfile

import pytest

from autograder.cli import main

NOON = (2026, 11, 20, 12, 0, 0)
ONE = (2026, 11, 20, 13, 0, 0)


@pytest.fixture
def pack(classroom):
    """Write a zip from names and texts, all of them at noon or as given."""

    def pack(files, name="archive.zip", when=NOON):
        path = classroom.root / name
        with zipfile.ZipFile(path, "w") as archive:
            for entry, text in files.items():
                info = zipfile.ZipInfo(entry, when)
                archive.writestr(info, text)
        return str(path)

    return pack


def place(classroom, student):
    return classroom.root / "submitted" / student / "01-attention" / "attention.ipynb"


def test_a_moodle_archive_is_collected_by_name_and_time(classroom, pack, right):
    archive = pack(
        {
            "Ada Lovelace_123_assignsubmission_file_/my work (2).ipynb": right,
            "Emmy Noether_124_assignsubmission_file_attention.ipynb": right,
            "Emmy Noether_124_assignsubmission_onlinetext_onlinetext.html": "<p>",
        }
    )
    assert main(["collect", archive]) == 0
    assert place(classroom, "Ada-Lovelace").read_text() == right
    assert place(classroom, "Emmy-Noether").read_text() == right
    stamp = place(classroom, "Ada-Lovelace").with_name("timestamp.txt")
    assert stamp.read_text() == "2026-11-20 12:00:00 UTC\n"


def test_a_canvas_archive_is_collected_by_number(classroom, pack, right):
    roster = classroom.root / "roster.csv"
    roster.write_text("id,name,number\nada,Ada Lovelace,501\nemmy,Emmy Noether,502\n")
    archive = pack(
        {
            "lovelaceada_501_9001_attention-1.ipynb": right,
            "noetheremmy_LATE_502_9002_attention.ipynb": right,
        }
    )
    assert main(["collect", archive, "--roster", str(roster)]) == 0
    assert place(classroom, "ada").exists() and place(classroom, "emmy").exists()


def test_a_stranger_to_the_roster_is_left_out_and_told(classroom, pack, right, capsys):
    roster = classroom.root / "roster.csv"
    roster.write_text("id,name\nada,Ada Lovelace\n")
    archive = pack({"Eve_9_assignsubmission_file_/a.ipynb": right})
    assert main(["collect", archive, "--roster", str(roster)]) == 0
    assert "the roster has no such student" in capsys.readouterr().out
    assert not (classroom.root / "submitted").exists()


def test_a_folder_and_a_damaged_notebook_are_collected(classroom, right):
    folder = classroom.root / "inbox"
    (folder / "ada").mkdir(parents=True)
    (folder / "ada" / "solution.ipynb").write_text(right)
    (folder / "bela").mkdir()
    (folder / "bela" / "attention.ipynb").write_text(right[:-500])
    assert main(["collect", str(folder)]) == 0
    assert classroom.grade()["bela"]["status"] == "held"


def test_the_latest_version_is_graded_and_the_other_kept(
    classroom, pack, right, wrong, capsys
):
    entry = "Ada_1_assignsubmission_file_/attention.ipynb"
    main(["collect", pack({entry: right}, when=ONE)])
    main(["collect", pack({entry: wrong}, when=NOON)])
    assert "1 kept aside" in capsys.readouterr().out
    assert place(classroom, "Ada").read_text() == right
    (kept,) = (classroom.root / "collected").rglob("*.ipynb")
    assert kept.read_text() == wrong
    main(["collect", pack({entry: right}, when=ONE)])
    assert "1 unchanged" in capsys.readouterr().out


def test_the_first_version_is_graded_when_asked(classroom, pack, right, wrong):
    entry = "Ada_1_assignsubmission_file_/attention.ipynb"
    for text, when in ((right, NOON), (wrong, ONE)):
        main(["collect", pack({entry: text}, when=when), "--keep", "first"])
    assert place(classroom, "Ada").read_text() == right


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../../etc/cron.d/x.ipynb", "leads out of the archive"),
        ("a\\..\\..\\x.ipynb", "leads out of the archive"),
        ("/etc/x.ipynb", "has an absolute path"),
        ("C:\\x.ipynb", "has an absolute path"),
    ],
)
def test_an_entry_that_leads_elsewhere_is_refused(
    classroom, pack, right, capsys, name, reason
):
    archive = pack({"Ada_1_assignsubmission_file_/a.ipynb": right, name: right})
    assert main(["collect", archive]) == 2
    assert reason in capsys.readouterr().err
    assert not (classroom.root / "submitted").exists()


def test_a_link_in_an_archive_is_refused(classroom, capsys):
    path = classroom.root / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("ada/attention.ipynb", NOON)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert main(["collect", str(path)]) == 2
    assert "is a link" in capsys.readouterr().err


def test_a_bomb_is_refused(classroom, capsys):
    path = classroom.root / "archive.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/attention.ipynb", b"0" * 101_000_000)
    assert main(["collect", str(path)]) == 2
    assert "more than 100 MB" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("O'Hara, Jr.", "O-Hara-Jr"),
        ("=HYPERLINK(1)", "HYPERLINK-1"),
        ("אָדָה\u200fx", "אָדָה-x"),
        ("<script>alert(1)</script>", "script"),
        ("é" * 120, "é" * 100),
    ],
)
def test_a_strange_name_becomes_a_harmless_folder(
    classroom, pack, right, name, student
):
    clean = name.replace("/", "")
    archive = pack({f"{clean}_7_assignsubmission_file_/a.ipynb": right})
    assert main(["collect", archive]) == 0
    (folder,) = (classroom.root / "submitted").iterdir()
    assert folder.name.startswith(student[:6])
    assert not set(folder.name) & set("<>'\"=,/\\\u200f ")
    assert len(folder.name.encode()) <= 200


def test_two_students_of_one_name_need_a_roster(classroom, pack, right, capsys):
    archive = pack(
        {
            "Ada_1_assignsubmission_file_/a.ipynb": right,
            "Ada_2_assignsubmission_file_/a.ipynb": right,
        }
    )
    assert main(["collect", archive]) == 2
    assert "give a roster" in capsys.readouterr().err
    assert not (classroom.root / "submitted").exists()


@pytest.mark.parametrize("what", ["no-such.zip", "notes.txt"])
def test_what_is_no_archive_is_told(classroom, capsys, what):
    (classroom.root / "notes.txt").write_text("hello")
    assert main(["collect", str(classroom.root / what)]) == 2
    assert what in capsys.readouterr().err
