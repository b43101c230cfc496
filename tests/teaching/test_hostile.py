"""Hostile names of students, through everything that shows or stores a name."""

from __future__ import annotations

import csv
import json
import os
from html.parser import HTMLParser

import pytest
from nbgrader.api import Gradebook
from shared import GRADE

from autograder.cli import main
from autograder.text import one_line

NAMES = [
    'Lovelace, Ada "the first"',
    "=HYPERLINK(1)",
    "@SUM(A1)",
    "-1+1",
    "\u202eecalevoL \u2066adA",
    "<script>alert(1)<",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }} {% raw %} ${x} %s {0}",
    "'; DROP TABLE student; --",
    "two\nlines\x1b[31m",
    "\u00e9" * 127,
    "x" * 255,
]
HELD = "</p><script>alert(2)<\u202e".replace("/", "|")
TASK = "01-attention"
COLUMN = "01-attention (4711)"
ROSTERS = {
    "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", COLUMN],
    "moodle": ["Identifier", "Full name", "Email address", "Status", "Grade"],
}


class Page(HTMLParser):
    """Whatever could run, and what a reader reads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.dangers, self.text = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        running = [n for n, v in attributes if n.startswith("on")]
        links = [v for _, v in attributes if (v or "").startswith("javascript:")]
        if tag in ("script", "iframe", "object", "embed") or running or links:
            self.dangers.append((tag, attributes))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def graded(course, hand_in, right):
    for name in [*NAMES, HELD]:
        hand_in(name, "<html>" if name == HELD else right)
    command = GRADE
    assert main(command) == 0
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        for submission in book.assignment_submissions(TASK):
            for grade in submission.notebooks[0].grades:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = 1.0, False
        book.db.commit()
    return course


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def neutral(name):
    """A name as in a table, where a formula may start after a semicolon, too."""
    name = name.replace("; --", ";' --")
    return "'" + name if name[0] in "=+-@" else name


def test_a_class_of_hostile_names_has_a_term(capsys, graded, tmp_path):
    results = json.loads((graded.root / "results.json").read_text())["submissions"]
    assert {r["student"]: r["status"] for r in results} == dict.fromkeys(
        NAMES, "graded"
    ) | {HELD: "held"}

    assert main(["export"]) == 0
    scores = table(graded.root / "scores.csv")
    points = {row["student"]: row["score"] for row in scores}
    assert points == {neutral(name): "21.0" for name in NAMES} | {HELD: ""}
    questions = table(graded.root / "questions.csv")
    assert len(questions) == 5 * len(NAMES)

    for form, columns in ROSTERS.items():
        roster = tmp_path / f"{form}.csv"
        with open(roster, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(columns)
            if form == "canvas":
                rows.writerow(["    Points Possible", *[""] * 5])
            for number, name in enumerate(NAMES):
                if form == "canvas":
                    rows.writerow([name, number, "", name, "A", ""])
                else:
                    rows.writerow([f"Participant {number}", name, name, "", ""])
        assert main(["export", "--format", form, "--roster", str(roster)]) == 0
        made = "canvas.csv" if form == "canvas" else f"moodle-{TASK}.csv"
        rows = table(graded.root / made)[form == "canvas" :]
        # the platform's own file comes back as it was but for the points
        names = [row[columns[0 if form == "canvas" else 1]] for row in rows]
        assert names == NAMES
        grade = COLUMN if form == "canvas" else "Grade"
        assert [row[grade] for row in rows] == ["21.0"] * len(NAMES)

    assert main(["report"]) == 0
    report = Page((graded.root / "report.html").read_text())
    assert report.dangers == [] and one_line(HELD) in report.text

    assert main(["feedback"]) == 0
    for name in NAMES:
        path = graded.feedback / name / TASK / "attention.html"
        assert Page(path.read_text()).dangers == []

    assert main(["similarity", TASK]) == 0
    printed = capsys.readouterr().out
    assert not set(printed) & set("\u202e\u2066\x1b\r")
    assert all(f"{one_line(name)}: 20 of 24" in printed for name in NAMES)
    assert "Alike: nobody." in printed  # what everybody wrote is left out

    for name in NAMES:
        too_long = len(name.encode()) > 240  # there is an ending to add
        assert main(["certificate", "--", name]) == (2 if too_long else 0)
        written = capsys.readouterr()
        if too_long:
            assert "File name too long" in written.err
            continue
        path = f"certificates/{name}.json"
        assert main(["certificate", "--verify", path]) == 0
        printed = capsys.readouterr().out
        assert not set(printed + written.out) & set("\u202e\u2066\x1b\r")
        assert len(printed.splitlines()) == 1
        page = Page((graded.root / path).with_suffix(".html").read_text())
        assert page.dangers == []
        assert " ".join(name.split()) in " ".join(page.text.split())
    assert main(["certificate", "--", HELD]) == 2
    assert "is held" in capsys.readouterr().err


def test_a_name_that_is_no_text_costs_nobody_else(course, right, capsys):
    for name in (b"ada", b"M\xfcller"):
        folder = os.path.join(os.fsencode(course.submitted), name, TASK.encode())
        os.makedirs(folder)
        with open(os.path.join(folder, b"attention.ipynb"), "w") as file:
            file.write(right)
    assert main(GRADE) == 1
    said = capsys.readouterr()
    assert "is not in UTF-8. Rename the folder" in said.err
    assert "1 submission: 1 graded, 0 held." in said.out
    assert os.listdir(course.autograded) == ["ada"]
