"""Sheets about students' own code: made behind the wall, and nothing hidden in them."""

import json
import re

import pytest

from autograder.cli import main
from autograder.release.sample_class import with_cells
from autograder.results.interview import ROOM, on_a_page, questions_in
from autograder.results.templates import render

QUESTION = {
    "kind": "shape",
    "text": "`f`?",
    "choices": ["a", "b", "c"],
    "key": 2,
    "why": "so",
}
FORGED = """
import json, autograder.code_questions
def in_notebook(*_):
    return [{"kind": "x", "text": "<script>alert(1)</script>", "key": 0,
             "choices": ["<img src=x onerror=alert(2)>", "b", "c"], "why": "w"}]
autograder.code_questions.in_notebook = in_notebook
"""


def interview(classroom, *options):
    """The page and what --json says of each student."""
    target = classroom.root / "questions.json"
    command = ["interview", "01-attention", "--json", str(target), *options]
    code = main(command)
    students = json.loads(target.read_text())["students"]
    page = (classroom.root / "interview" / "01-attention.html").read_text()
    return code, page, {each["student"]: each for each in students}


def with_code(text, source):
    cell = {"cell_type": "code", "source": source, "metadata": {}}
    return with_cells(text, lambda cells: [*cells, cell])


def test_each_student_has_three_questions_and_nothing_hidden(classroom, right, wrong):
    classroom.hand_in("ada", right)
    classroom.hand_in("bela", "no notebook")
    classroom.hand_in("mallory", with_code(right, FORGED))
    code, page, students = interview(classroom)
    assert code == 0
    asked = students["ada"]["questions"]
    assert len(asked) == 3 and len({one["name"] for one in asked}) > 1
    for one in asked:
        assert f"def {one['name']}" in one["code"] and one["code"] in right_code(right)
    assert students["bela"]["questions"] == [] and students["bela"]["note"]
    assert students["mallory"]["questions"]
    assert page.count("<script") == 1
    assert "<script>alert" not in page and "<img" not in page
    # hidden checks and references are on the instructor's side alone
    for secret in ("hidden", "BEGIN", "oracle", "rng"):
        assert secret not in page + json.dumps(students["ada"])
    assert interview(classroom)[1] == page
    _, other, _ = interview(classroom, "--seed", "1", "--student", "ada")
    assert "mallory" not in other


def right_code(text):
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ([QUESTION], 1),
        ([QUESTION | {"key": 3}], 0),
        ([QUESTION | {"key": True}], 1),
        ([QUESTION | {"choices": ["a", {}]}], 0),
        ([QUESTION | {"text": "x" * 5000}], 0),
        ([QUESTION | {"more": 1}], 0),
        ([QUESTION | {"why": 0}], 0),
        ([QUESTION, 3, None, []], 1),
        ({"text": "x"}, 0),
        ("[", 0),
        ("[" * 100_000, 0),
    ],
)
def test_what_a_students_process_says_is_data(said, kept):
    text = said if isinstance(said, str) else json.dumps(said)
    assert len(questions_in(text)) == kept


def of_length(lines, name="f"):
    """Three questions about an answer of so many lines."""
    code = "\n".join(f"    line_{n} = {n} + some_name * another" for n in range(lines))
    asked = {"text": f"`f`?\n\n    {'x' * 80}", "why": "so\n\n    a   b\n    c   d"}
    choices = ["a choice of some length, " * 3 + str(n) for n in range(4)]
    return [QUESTION | asked | {"choices": choices, "code": code, "name": name}] * 3


def test_a_sheet_shows_as_much_code_as_fits_on_a_page_with_its_questions():
    def names(*lengths):
        found = [of_length(lines, f"f{n}") for n, lines in enumerate(lengths)]
        return "".join(one["name"] for one in on_a_page(found))

    assert names(5, 5, 5, 5) == "f0f1f2"
    assert names(ROOM - 5, 6, 5, 1) == "f0f2f0"
    assert names(ROOM + 5, 5) == "f1f1f1"
    assert names(ROOM + 9, ROOM + 1) == "f1f1f1"
    assert names() == ""


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_each_student_is_on_one_page_that_can_be_read(browser, tmp_path, paper):
    """As it is printed, a class of 25; an answer of 60 lines goes over the page."""
    classes = [[3, 8, 12], [8, 12, 3], [12, 20], [20, 8], [ROOM]] * 5
    sheets = [
        {"student": f"s{n}", "note": "", "questions": on_a_page(found)}
        for n, lengths in enumerate([*classes, [60]])
        if (found := [of_length(lines, f"f{m}") for m, lines in enumerate(lengths)])
    ]
    path = tmp_path / "sheets.html"
    path.write_text(render("interview.html", title="04-masking", sheets=sheets))
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    printed = page.pdf(format=paper)
    page.emulate_media(media="print")
    least = page.evaluate(
        "Math.min(...[...document.querySelectorAll('section *')]"
        ".map((one) => parseFloat(getComputedStyle(one).fontSize)))"
    )
    long = page.get_by_role("heading", name="on two pages").count()
    context.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 25 + 2
    assert long == 1 and least >= 8 * 96 / 72 - 0.01  # pixels of 8 points
