"""One walk through a term, with the commands that an instructor types."""

from __future__ import annotations

import csv
import html
import json

import pytest
from nbgrader.api import Gradebook
from shared import GRADE

from autograder import registry
from autograder.cli import main
from autograder.release.sample_class import submissions

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,01-attention (4711)
    Points Possible,,,,,
"""
WORKSHEET = "Identifier,Full name,Email address,Status,Grade,Maximum grade\n"
BOOK = "https://course.example/book/"


def rows(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def hand_in(handed_in, archive, folder):
    """Half of the class uses Moodle, the other half Canvas."""
    moodle, canvas, worksheet, gradebook = {}, {}, WORKSHEET, CANVAS
    for number, (student, text) in enumerate(handed_in, start=100):
        if number % 2:
            canvas[f"{student}x_{number}_9{number}_attention-1.ipynb"] = text
            gradebook += f'"x, {student}",{number},,{student},A,\n'
        else:
            place = f"{student} X_{number}_assignsubmission_file_"
            moodle[f"{place}/attention (1).ipynb"] = text
            worksheet += f"Participant {number},{student} X,{student},Submitted,,\n"
    (folder / "worksheet.csv").write_text(worksheet)
    (folder / "gradebook.csv").write_text(gradebook)
    return archive(moodle, "moodle.zip"), archive(canvas, "canvas.zip")


def grades(course):
    """Grade, and what it says of each student."""
    assert main(GRADE) == 0
    text = (course.root / "results.json").read_text()
    return {result["student"]: result for result in json.loads(text)["submissions"]}


def give_points_in_formgrader(course, student, formgrader, page):
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "any") as book:
        number = book.find_submission_notebook("attention", "01-attention", student).id
    page.goto(f"{formgrader}?token=secret")  # who comes by this address is logged in
    page.goto(f"{formgrader}formgrader/submissions/{number}/")
    # what is typed before the page knows the grades is overwritten when they come
    page.wait_for_function("formgrader.grades && formgrader.grades.loaded")
    page.locator("#explain_roles").fill("2.5")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("Tab")  # leaving a field saves it


def give_points_to_all_others(course, points):
    """What formgrader does, without the clicks."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "any") as gradebook:
        for submission in gradebook.assignment_submissions("01-attention"):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if grade.needs_manual_grade:
                        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


WATCHED = {"ada", "fatou", "kofi", "tova", "wanda"}  # fatou writes `K.T`
CLASSES = [pytest.param(12, id="some"), pytest.param(1, marks=pytest.mark.long)]


@pytest.mark.parametrize("share", CLASSES)
def test_a_term_from_release_to_certificate(
    course,
    attention,
    repository,
    archive,
    formgrader,
    page,
    browser,
    tmp_path,
    capsys,
    share,
    seed,
):
    assert main(["release"]) == 0
    assert (course.exercises / "01-attention" / "attention.ipynb").is_file()

    # the sample class but for the one who waits until the clock runs out
    handed_in = [
        (student, text)
        for number, (student, text) in enumerate(submissions(repository, attention))
        if student != "aron" and (student in WATCHED or (number + seed) % share == 0)
    ]
    archives = hand_in(handed_in, archive, tmp_path)
    rosters = [tmp_path / "worksheet.csv", tmp_path / "gradebook.csv"]
    for path, roster in zip(archives, rosters, strict=True):
        command = ["collect", str(path), "--assignment", "01-attention"]
        assert main([*command, "--roster", str(roster)]) == 0
    students = {student for student, _ in handed_in}
    assert len(students) == 24 or share > 1
    assert {folder.name for folder in course.submitted.iterdir()} == students

    first = grades(course)
    assert first.keys() == students
    held = {s for s, result in first.items() if result["status"] == "held"}
    assert held == {"tova", "wanda"}
    full = first["ada"]["max_score"] - 4  # a person reads the rest
    assert first["ada"]["score"] == full and first["kofi"]["score"] < full / 2

    capsys.readouterr()
    assert main(["certificate", "ada"]) == 2
    assert "waits for a grade by hand" in capsys.readouterr().err
    give_points_in_formgrader(course, "ada", formgrader, page)
    give_points_to_all_others(course, 3.0)

    check_feedback(course, students - held, page)
    check_report(course, len(students), held, browser)
    points = check_exports(course, tmp_path)
    assert sum(map(bool, points.values())) == len(students - held)
    assert points["ada"] == str(full + 2.5)
    assert points["fatou"] == str(round(first["fatou"]["score"] + 3, 6))

    assert main(["certificate", "ada", "--name", "Ada Lovelace"]) == 0
    assert main(["certificate", "--verify", "certificates/ada.json"]) == 0
    assert "Ada Lovelace" in capsys.readouterr().out
    page.goto((course.root / "certificates/ada.html").as_uri())
    assert page.get_by_text("Ada Lovelace").first.is_visible()


def hidden_lines():
    """What must not be told: the code of the hidden checks, not their sentences."""
    path = registry.folder_of("attention") / "hidden" / "__init__.py"
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [line for line in lines if "(" in line and '"""' not in line]


def check_feedback(course, students, page):
    """A page for each, without hidden checks, with links into the book."""
    assert main(["feedback", "--book", BOOK]) == 0
    pages = {path.parts[-3]: path for path in course.feedback.glob("*/*/*.html")}
    assert pages.keys() == students
    secrets = ["check.hidden", "HIDDEN", *hidden_lines()]
    assert len(secrets) > 50
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    for path in pages.values():
        text = html.unescape(path.read_text())
        assert [secret for secret in secrets if secret in text] == []
        page.goto(path.as_uri())
        assert page.get_by_text("softmax").first.is_visible()
    page.goto(pages["kofi"].as_uri())
    assert page.get_by_text("likely:").first.is_visible()
    place = "01-queries-keys-values", "#the-dot-product"
    link = page.get_by_role("link", name="".join(place)).first
    assert link.get_attribute("href") == f"{BOOK}{place[0]}.html{place[1]}"
    page.goto(pages["ada"].as_uri())
    assert page.get_by_text("2.5").first.is_visible()
    assert problems == []


def check_report(course, size, held, browser):
    """The page tells all it has to tell without a script, light and dark."""
    assert main(["report", "--book", BOOK]) == 0
    papers = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(java_script_enabled=False, color_scheme=scheme)
        page = context.new_page()
        asked = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((course.root / "report.html").as_uri())
        assert len(asked) == 1
        for words in (
            f"{size} submissions: {size - len(held)} graded, {len(held)} held",
            "discrimination",
            "attention_scores-transpose-all",
            *held,
        ):
            assert page.get_by_text(words).first.is_visible(), words
        links = [link.get_attribute("href") for link in page.get_by_role("link").all()]
        assert links and all(link.startswith(BOOK) for link in links)
        body = page.locator("body")
        color = "element => getComputedStyle(element).backgroundColor"
        papers.add(body.evaluate(color))
        context.close()
    assert len(papers) == 2


def check_exports(course, folder):
    """The tables agree with one another; the points of each student."""
    assert main(["export"]) == 0
    points = {row["student"]: row["score"] for row in rows(course.root / "scores.csv")}
    roster = ["--roster", str(folder / "worksheet.csv")]
    assert main(["export", "--format", "moodle", *roster]) == 0
    moodle = rows(course.root / "moodle-01-attention.csv")
    assert {row["Identifier"] for row in moodle} >= {"Participant 100"}
    found = {row["Full name"].split()[0]: row["Grade"] for row in moodle}
    roster = ["--roster", str(folder / "gradebook.csv")]
    assert main(["export", "--format", "canvas", *roster]) == 0
    possible, *canvas = rows(course.root / "canvas.csv")
    scores = rows(course.root / "scores.csv")
    assert possible["01-attention (4711)"] == scores[0]["max_score"]
    found |= {row["SIS Login ID"]: row["01-attention (4711)"] for row in canvas}
    for student, given in points.items():
        assert found.get(student, "") == given, student
    return points
