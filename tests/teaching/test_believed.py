"""Nothing that a student chose is believed: the rows of the table in the-wall.md."""

from __future__ import annotations

import json

import pytest

EVE, ADA = (
    "{}_10{}_assignsubmission_file_".format(*x) for x in (("Eve", 2), ("Ada", 1))
)
SHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade",'
    '"Grade can be changed","Last modified (submission)"\n'
    '"Participant 101",Ada,ada,Submitted,,20.00,Yes,"Monday, 2 March 2026, 9:59 AM"\n'
    '"Participant 102",Eve,eve,Submitted,,20.00,Yes,"Tuesday, 3 March 2026, 9:59 AM"\n'
)
OWN = "student_id,name\nada,Ada\neve,Eve\n"
STOLEN = """\
{}:
  :submitters:
  - :name: Ada
    :sid: ada
  :created_at: 2020-01-01 00:00:00 Z
"""
ORIGIN = (
    '{"platform": "moodle", "label": "Ada_101", "version": "2020-01-01 00:00:00 UTC"}'
)
# what Eve puts beside her notebook in Moodle's archive: path, text
PLANTED = {
    "Gradescope's list of her own folder": (
        "submission_metadata.yml",
        STOLEN.format(EVE),
    ),
    "Gradescope's list of another's folder": (
        "submission_metadata.yml",
        STOLEN.format(ADA),
    ),
    "Gradescope's list in a folder": (
        "assignment_7_export/submission_metadata.yml",
        STOLEN.format("submission_1"),
    ),
    "a list too large": ("submission_metadata.yml", "a: [" * 1_000_000),
    "a list nested deeply": ("submission_metadata.yml", "[" * 90_000),
    "a time": ("timestamp.txt", "2020-01-01 00:00:00 UTC"),
    "the secret of a feedback folder": ("submission_secret.txt", "ada"),
    "where feedback goes": ("origin.json", ORIGIN),
    "a roster": ("roster.csv", "student_id,name\nada,Eve\n"),
    "an extension": ("extensions.csv", "student_id,assignment,due\neve,*,+9 days\n"),
    "a configuration": ("nbgrader_config.py", "raise SystemExit"),
    "a folder of another": ("submitted/ada/01-attention/x.txt", "x"),
}
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n"
    '"Ada, Ada",34,s34,ada,A\n"Eve, Eve",36,s36,eve,A\n'
)
AT = "_attempt_2026-03-09-22-10-11"
MANY = ("submission_1/a.ipynb", "submission_2/a.ipynb")
LIST = "submission_metadata.yml"
EXCHANGE = "ada+01-attention+2020-01-01 00:00:00 UTC/a.ipynb"
SHIFTED = "hw_eve_attempt_2026-03-09-22-10-11_ada_attempt_2020-01-01-00-00-00_a.ipynb"
NBGRADER = r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>[0-9\-]+)_(?P<file_id>.*)"
TWO = STOLEN.format("submission_1").replace("sid: ada", "sid: eve")
# roster, pattern, notebooks, a list and where it lies, who has work, what is said
PLACES = {
    "a list beside folders of two platforms": (
        OWN, "", [*MANY, "eve/a.ipynb"], LIST, STOLEN.format("eve"), "eve",
        "is not used, since eve/a.ipynb is not Gradescope's",
    ),
    "a list of folders that there are not": (
        OWN, "", MANY, LIST, STOLEN.format("submission_1"), "ada",
        "submission_2/a.ipynb is not in Gradescope's list",
    ),
    "a broken list": (
        "", "", MANY, LIST, "a: [", "submission_1 submission_2",
        "does not have Gradescope's form",
    ),
    "a list of something else": (
        "", "", MANY, LIST, "- 1", "submission_1 submission_2",
        "does not have Gradescope's form",
    ),
    "a list nested deeply": (
        "", "", MANY, LIST, "[" * 90_000, "submission_1 submission_2",
        "does not have Gradescope's form",
    ),
    "a list too large": (
        "", "", MANY, LIST, "a: 1\n" * 500_000, "submission_1 submission_2",
        "is larger than 2 MB",
    ),
    "a list that is damaged": (
        "", "", MANY, LIST, b"\xff\xfe\xff", "submission_1 submission_2",
        "does not have Gradescope's form",
    ),
    "a name in the list that is another's": (
        OWN, "", MANY[:1], LIST, TWO, "",
        "eve and Ada are different students in the roster",
    ),
    "a list without students": (
        OWN, "", MANY, LIST, "submission_1:\n  :submitters: []\n"
        "submission_2:\n  :submitters:\n  - :sid:\n", "",
        "submission_2/a.ipynb has no student in Gradescope's list",
    ),
    "a list with times of another kind": (
        OWN, "", MANY[:1], LIST,
        STOLEN.format("submission_1").replace("2020-01-01 00:00:00 Z", "[99999-1-1]"),
        "ada", "1 new",
    ),
    "a list that repeats itself": (
        OWN, "", MANY[:1], LIST, "a: &a [x]\nb: &b [*a, *a]\nc: {<<: [*b, *b]}", "",
        "does not have Gradescope's form",
    ),
    "a list of one student with two folders": (
        OWN, "", MANY, LIST,
        STOLEN.format("submission_1") + STOLEN.format("submission_2"), "ada",
        "submission_2/a.ipynb is ada's by Gradescope's list, as submission_1 is",
    ),
    "a list in the folder of a submission": (
        OWN, "", MANY[:1], f"submission_1/{LIST}", STOLEN.format("submission_1"), "",
        "submission_1 is not in the roster",
    ),
    "a list in capital letters": (
        OWN, "", MANY[:1], LIST.title(), STOLEN.format("submission_1"), "",
        "Submission_Metadata.Yml is not a notebook",
    ),
    "folders of Sakai in a student's folder": (
        SHEET, "", [f"{EVE}/Ada(ada)/Submission attachment(s)/a.ipynb"], "", "", "eve",
        "1 new",
    ),
    "an attempt of Blackboard inside another": (
        OWN, "", [f"h_eve{AT}/h_ada{AT}_a.ipynb"], "", "", "eve", "1 new",
    ),
    "a file called as Canvas calls another's": (
        CANVAS, "", ["eveeve_36_5_adaada_34_6_a.ipynb"], "", "", "eve", "1 new",
    ),
    "a file called as Moodle calls another's": (
        SHEET, "", [f"{EVE[:-1]}_{ADA}a.ipynb"], "", "", "eve", "1 new",
    ),
    "a separator of Windows in a file's name": (
        SHEET, "", [f"{EVE}/..\\{ADA}/a.ipynb", f"{EVE}/b.ipynb"], "", "", "eve",
        "has a path that leads out of the archive",
    ),
    "a lone student's folder, as the exchange's": (
        OWN, "", [f"eve/{EXCHANGE}"], "", "", "eve", "1 new",
    ),
    "a lone folder of Moodle, as the exchange's": (
        SHEET, "", [f"{EVE}/{EXCHANGE}"], "", "", "eve", "1 new",
    ),
    "a lone folder of Brightspace, as another of it": (
        OWN, "",
        ["50-2 - Eve - Mar 9, 2026 915 PM/50-1 - Ada - Mar 1, 2020 915 PM/a.ipynb"],
        "", "", "eve", "1 new",
    ),
    "a path without end": ("", "", [f"eve/{'x' * 5000}.ipynb"], "", "", "", "4,000"),
    "a name that shifts an expression": (
        OWN, NBGRADER, [SHIFTED, "hw_ada_attempt_2026-03-09-22-10-11_a.ipynb"], "", "",
        "ada", "can be read in two ways by --pattern",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", PLANTED)
def test_what_lies_beside_a_notebook_says_nothing(
    course, collect, right, kind, students
):
    path, text = PLANTED[kind]
    claimed = json.loads(right)
    claimed["metadata"]["nbgrader"] = {"student_id": "ada", "timestamp": "2020-01-01"}
    mine = json.dumps(claimed)
    files = {f"{ADA}/a.ipynb": right, f"{EVE}/a.ipynb": mine, f"{EVE}/{path}": text}
    collect(files, SHEET)
    assert students() == ["ada", "eve"]
    for who, day, work in (("ada", 2, right), ("eve", 3, mine)):
        folder = course.submitted / who / "01-attention"
        assert (folder / "attention.ipynb").read_text() == work
        assert (
            (folder / "timestamp.txt").read_text().startswith(f"2026-03-0{day} 09:59")
        )
        assert len(list(folder.iterdir())) == 2
    origin = course.collected / "eve/01-attention/origin.json"
    assert json.loads(origin.read_text())["label"] == "Eve_102"


@pytest.mark.parametrize("kind", PLACES)
def test_a_list_counts_only_where_its_platform_puts_it(
    collect, right, kind, capsys, students
):
    roster, pattern, books, place, text, expected, said = PLACES[kind]
    files = {book: right + " " * n for n, book in enumerate(books)}
    files |= {place: text} if place else {}
    collect(files, roster, *(["--pattern", pattern] if pattern else []))
    assert students() == sorted(expected.split())
    assert said in capsys.readouterr().out
