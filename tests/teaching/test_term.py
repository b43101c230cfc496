"""One walk through a term, with the commands that an instructor types."""

from __future__ import annotations

import csv
import json

from nbgrader.api import Gradebook

from autograder import wall
from autograder.cli import main
from autograder.sample_class import submissions

UNPROTECTED = ["--no-sandbox"] if wall.available() else []
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,01-attention (4711)
    Points Possible,,,,,
"""
WORKSHEET = "Identifier,Full name,Email address,Status,Grade,Maximum grade\n"


def rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def is_json(text):
    try:
        return bool(json.loads(text))
    except ValueError:
        return False


def grade_by_hand(course):
    """What formgrader does when the instructor gives full points."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        for submission in gradebook.assignment_submissions("01-attention"):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.needs_manual_grade:
                        grade.manual_score = grade.max_score
                        grade.needs_manual_grade = False
        gradebook.db.commit()


def test_a_term_from_release_to_certificate(
    course, attention, repository, archive, tmp_path, capsys
):
    assert main(["release"]) == 0
    assert (course.exercises / "01-attention" / "attention.ipynb").is_file()

    handed_in = list(submissions(repository, attention))
    quick = [each for each in handed_in if "while True" not in each[1]]
    handed_in = [quick[0], *quick[5:7], next(s for s in quick if not is_json(s[1]))]
    moodle, canvas, worksheet, gradebook = {}, {}, WORKSHEET, CANVAS
    for number, (student, text) in enumerate(handed_in, start=100):
        if number % 2:
            canvas[f"{student}x_{number}_9{number}_attention-1.ipynb"] = text
            gradebook += f'"x, {student}",{number},,{student},A,\n'
        else:
            moodle[
                f"{student} X_{number}_assignsubmission_file_/attention (1).ipynb"
            ] = text
            worksheet += f"Participant {number},{student} X,{student},Submitted,,\n"
    (tmp_path / "worksheet.csv").write_text(worksheet)
    (tmp_path / "gradebook.csv").write_text(gradebook)
    for name, files, roster in [
        ("moodle.zip", moodle, "worksheet.csv"),
        ("canvas.zip", canvas, "gradebook.csv"),
    ]:
        command = ["collect", str(archive(files, name)), "--assignment", "01-attention"]
        assert main([*command, "--roster", str(tmp_path / roster)]) == 0
    students = {student for student, _ in handed_in}
    assert {folder.name for folder in course.submitted.iterdir()} == students

    command = ["grade", "--workers", "1", *UNPROTECTED]
    assert main(command) == 0
    assert f"{len(handed_in)} submissions" in capsys.readouterr().out

    ada = handed_in[0][0]
    assert main(["certificate", ada]) == 2
    assert "waits for a grade by hand" in capsys.readouterr().err
    grade_by_hand(course)

    assert main(["feedback"]) == 0
    assert list(course.feedback.glob(f"{ada}/01-attention/*.html"))
    assert main(["report"]) == 0
    assert "<script" not in (course.root / "report.html").read_text()

    assert main(["export"]) == 0
    points = {row["student"]: row["score"] for row in rows(course.root / "scores.csv")}
    roster = ["--roster", str(tmp_path / "worksheet.csv")]
    assert main(["export", "--format", "moodle", *roster]) == 0
    found = rows(course.root / "moodle-01-attention.csv")
    assert found[0]["Identifier"] == "Participant 100"
    assert found[0]["Grade"] == points[ada]
    roster = ["--roster", str(tmp_path / "gradebook.csv")]
    assert main(["export", "--format", "canvas", *roster]) == 0
    possible, *found = rows(course.root / "canvas.csv")
    assert float(possible["01-attention (4711)"]) > 0
    for row in found:
        given = row["01-attention (4711)"]
        assert given in ("", points[row["SIS Login ID"]])
    assert any(row["01-attention (4711)"] for row in found)

    # a locked text of the release changes: everything is judged again, and the
    # points that a person gave stay
    solution = course.solutions / "01-attention" / "attention.ipynb"
    notebook = json.loads(solution.read_text())
    test = next(
        cell
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("grade")
        and cell["cell_type"] == "code"
    )
    source = "".join(test["source"])
    test["source"] = f"# changed after the deadline\n{source}"
    solution.write_text(json.dumps(notebook))
    capsys.readouterr()
    assert main(command) == 0
    assert "of them before" not in capsys.readouterr().out
    assert main(["export"]) == 0
    again = {row["student"]: row["score"] for row in rows(course.root / "scores.csv")}
    assert again == points

    assert main(["certificate", ada, "--name", "Ada Lovelace"]) == 0
    assert main(["verify", f"certificates/{ada}.json"]) == 0
    assert "Ada Lovelace" in capsys.readouterr().out
    assert "Ada Lovelace" in (course.root / f"certificates/{ada}.html").read_text()


def test_export_for_a_platform_needs_its_list(course, capsys):
    assert main(["export", "--format", "canvas"]) == 2
    assert "--roster" in capsys.readouterr().err
