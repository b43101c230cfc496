"""What people open in a browser: formgrader, and pages with hostile work on them."""

import json
import time

import pytest
from nbgrader.api import Gradebook
from shared import GRADE, UNPROTECTED

from autograder.cli import main
from autograder.release.sample_class import with_cells

MARKUP = """\
<script>window.hacked = 1; fetch("http://example.org/")</script>
<img src="http://example.org/pixel.png" onerror="window.hacked = 2">
<svg onload="window.hacked = 3"></svg>
<iframe srcdoc="<script>top.hacked = 4</script>"></iframe>
<meta http-equiv="refresh" content="0; url=http://example.org/">
<style>body { background: url("http://example.org/") }</style>
<a href="javascript:window.hacked = 5">answer</a>
<object data="http://example.org/"></object>
<form action="http://example.org/"><button>press</button></form>

Written by a student.
"""
SHOWN = f"""
import matplotlib.pyplot as plt
from IPython.display import HTML, display
display(HTML({MARKUP!r}))
print({MARKUP!r})
plt.plot([1, 2])
plt.show()
"""


@pytest.fixture
def hostile(right):
    """Right work with markup wherever a student can write."""

    def change(cells):
        for cell in cells:
            if cell["metadata"]["nbgrader"]["grade_id"] == "explain_roles":
                cell["source"] = MARKUP
        mine = [
            {"cell_type": "markdown", "source": MARKUP, "metadata": {}},
            {"cell_type": "code", "source": SHOWN, "metadata": {}},
        ]
        return [*cells, *mine]

    return with_cells(right, change)


def test_nothing_of_a_student_runs_on_feedback_and_report(
    course, hostile, page, hand_in
):
    hand_in("<script>window.hacked=6<|script>", hostile)
    assert main(GRADE) == 0
    assert main(["feedback"]) == 0
    assert main(["report"]) == 0
    (feedback,) = course.feedback.glob("**/*.html")
    assert "Rubric" not in feedback.read_text()
    for path in (feedback, course.root / "report.html"):
        page.asked.clear()
        page.goto(path.as_uri(), wait_until="networkidle")
        for link in page.get_by_text("answer", exact=True).all():
            link.click()
        assert page.evaluate("window.hacked") is None
        outside = [url for url in page.asked if not url.startswith(("file:", "data:"))]
        assert not outside
    page.goto(feedback.as_uri())
    assert page.get_by_text("Written by a student.").first.is_visible()
    figure = page.locator("img[src^='data:image/png']").first
    assert figure.evaluate("image => image.naturalWidth") > 100


def test_an_answer_is_graded_in_formgrader_a_regrade_keeps_it_and_names_are_seen(
    course, hostile, formgrader, page, capsys, hand_in
):
    hand_in("ada", hostile)
    assert main(GRADE) == 0
    url = f"sqlite:///{course.root}/gradebook.db"
    where = "attention", "01-attention", "ada"
    with Gradebook(url, "paying-attention") as book:
        number = book.find_submission_notebook(*where).id
        before = book.find_submission("01-attention", "ada").score
    page.goto(f"{formgrader}?token=secret")  # who comes by this address is logged in
    page.goto(f"{formgrader}formgrader/gradebook/01-attention/attention")
    page.get_by_text("Submission #1").wait_for()
    page.asked.clear()
    page.goto(f"{formgrader}formgrader/submissions/{number}/")

    # the answer, its rubric and the figure can be seen; nothing of the student's ran
    page.get_by_text("Rubric of explain_roles").wait_for()
    assert page.get_by_text("with Q = K the scores are symmetric").is_visible()
    page.get_by_text("Written by a student.").first.wait_for()
    figure = page.locator("img[src^='data:image/png']").first
    assert figure.evaluate("image => image.naturalWidth") > 100
    assert page.evaluate("window.hacked") is None

    # nothing is asked for elsewhere, and formgrader's script goes on without MathJax
    page.wait_for_function("MathJax.loaded && formgrader.comments.loaded")
    page.wait_for_function("formgrader.loaded && formgrader.grades.loaded")
    assert not [url for url in page.asked if not url.startswith((formgrader, "data:"))]
    for field, text in {
        "explain_roles": "3.5",
        "explain_roles_extra_credit": "0.5",
        "explain_roles-comment": "Good: two effects, both measured.",
    }.items():
        page.locator(f"#{field}").fill(text)
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            page.keyboard.press("Tab")  # leaving a field saves it

    def stored():
        with Gradebook(url, "paying-attention") as book:
            grade = book.find_grade("explain_roles", *where)
            comment = book.find_comment("explain_roles", *where).manual_comment
            score = book.find_submission("01-attention", "ada").score
            return grade.manual_score, grade.extra_credit, comment, score

    expected = 3.5, 0.5, "Good: two effects, both measured.", before + 4.0
    end = time.monotonic() + 20
    while stored() != expected and time.monotonic() < end:
        time.sleep(0.2)
    assert stored() == expected
    assert page.locator("#explain_roles-comment").input_value() == expected[2]
    assert main([*GRADE, "--force"]) == 0
    assert stored() == expected
    (result,) = json.loads((course.root / "results.json").read_text())["submissions"]
    assert result["score"] == expected[-1]

    # names of a roster take the place of ids
    roster = course.root / "students.csv"
    roster.write_text('student_id,name\nada,Ada Lovelace\ngrace,"Hopper, Grace"\n')
    capsys.readouterr()
    assert main(["names", str(roster)]) == 0
    said = capsys.readouterr().out
    assert said == "names in the gradebook: 1, new: 1\n"
    page.goto(f"{formgrader}formgrader/manage_students")
    page.get_by_text("Lovelace, Ada").wait_for()
    assert page.get_by_text("Hopper, Grace").is_visible()
    page.goto(f"{formgrader}formgrader/manage_submissions/01-attention")
    page.get_by_text("Lovelace, Ada").wait_for()


INTRUDER = """
from pathlib import Path
for folder in ({root!r}, "."):
    try:
        Path(folder, "intruder").write_text("code of a student ran here")
    except OSError as error:
        print(error)
"""


def autograde_by_click(page, formgrader, student):
    """Click on the button of one submission; what the dialog says."""
    page.goto(f"{formgrader}?token=secret")
    page.goto(f"{formgrader}formgrader/manage_submissions/01-attention")
    row = page.locator("tr", has=page.get_by_text(student, exact=True))
    row.locator("td.autograde a").click()
    dialog = page.locator("#success-modal, #error-modal")
    dialog.wait_for(timeout=120_000)
    return dialog.inner_text()


def test_the_button_autograde_grades_behind_the_wall_and_says_why_work_is_held(
    course, right, formgrader, page, hand_in
):
    if UNPROTECTED:
        pytest.skip("there is no wall here, and nothing is graded without one")
    hand_in("ada", right)
    assert main(GRADE) == 0
    source = INTRUDER.format(root=str(course.root))
    mine = {"cell_type": "code", "source": source, "metadata": {}}
    hand_in("mallory", with_cells(right, lambda cells: [*cells, mine]))
    said = autograde_by_click(page, formgrader, "mallory")
    assert "Successfully autograded" in said
    assert not list(course.root.glob("**/intruder"))
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "paying-attention") as book:
        submission = book.find_submission("01-attention", "mallory")
        assert submission.score == submission.max_score - 4
    graded = course.autograded / "mallory" / "01-attention" / "attention.ipynb"
    assert "all checks pass" in graded.read_text()
    empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    hand_in("bela", json.dumps(empty))
    said = autograde_by_click(page, formgrader, "bela")
    assert "There was an error autograding" in said
    assert "No question of 01-attention was found in this notebook" in said
