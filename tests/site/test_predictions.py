"""Predict, then run; what was missed is asked again; a wrong table is drawn."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import nbformat
import numpy as np
import pytest
from exercise_page import keep
from shared import drawn

from autograder.checks.drawing import beside

ROOT = Path(__file__).resolve().parents[2]
PREDICTION = re.compile(
    r'<div class="quiz predict" id="([\w-]+)">\n<p>(.*?)</p>\n(.*?)</div>', re.DOTALL
)
CHOICE = re.compile(r"<details( class=\"correct\")?>.*?</summary><p>(\w+)[:,]")
CHAPTERS = {
    path.stem: PREDICTION.findall(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "book/text").glob("[01]*.md"))
}
PREDICTING = [chapter for chapter, found in CHAPTERS.items() if found]


def kept(page, key):
    return page.evaluate("key => JSON.parse(localStorage.getItem(key))", key)


def choose(page, quiz, choice):
    """Open a choice, and wait until the verdict is there."""
    quiz.locator(choice).first.click()
    quiz.locator(".quiz-foot").get_by_text(re.compile("Found|Not yet")).wait_for()


WRONG, RIGHT = "details:not(.correct) > summary", ".correct > summary"


# ---------------------------------------------------------------- predictions


def test_several_chapters_ask_before_two_or_three_of_their_cells():
    assert len(PREDICTING) >= 6
    assert {len(CHAPTERS[chapter]) for chapter in PREDICTING} <= {2, 3}


@pytest.mark.parametrize("chapter", PREDICTING)
def test_a_prediction_stands_before_a_cell_that_answers_it(chapter):
    """Between them there may be a cell without an output, and no text."""
    notebook = nbformat.read(ROOT / f"book/{chapter}.ipynb", as_version=4)
    for name, question, choices in CHAPTERS[chapter]:
        (place,) = [
            number
            for number, cell in enumerate(notebook.cells)
            if f'id="{name}"' in cell.source
        ]
        assert notebook.cells[place].source.endswith("</div>"), question
        first, second = notebook.cells[place + 1 : place + 3]
        assert first.cell_type == "code"
        answer = first if first.outputs else second
        assert answer.cell_type == "code" and answer.outputs
        verdicts = CHOICE.findall(choices)
        assert [bool(right) == (word == "Yes") for right, word in verdicts] == [
            True
        ] * 3


def test_an_output_waits_for_the_prediction(page):
    page.goto("book/04-masking.html")
    quiz = page.locator("#predict-masking-1")
    printed = page.get_by_text("row sums: [0.374")
    height = printed.bounding_box()["height"]
    page.locator(".covered").first.wait_for()
    assert not printed.is_visible()
    assert page.locator(".covered").count() == len(CHAPTERS["04-masking"])
    choose(page, quiz, WRONG)
    assert printed.is_visible() and printed.bounding_box()["height"] == height
    page.reload()
    page.locator(".covered").first.wait_for()
    assert printed.is_visible()
    assert kept(page, "missed") is None and kept(page, "progress") is None
    assert not page.troubles


def test_an_output_is_shown_to_whoever_asks_for_it(page):
    page.goto("book/04-masking.html")
    cover = page.get_by_role("button", name="Predict above, or show the output")
    cover.first.focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("row sums: [0.374").is_visible()
    assert cover.count() == len(CHAPTERS["04-masking"]) - 1


def test_on_paper_and_without_scripts_no_output_is_covered(page, bare):
    page.goto("book/04-masking.html")
    page.locator(".covered").first.wait_for()
    page.emulate_media(media="print")
    assert page.get_by_text("row sums: [0.374").is_visible()
    assert not page.locator(".covered > button").first.is_visible()
    bare.goto("book/04-masking.html")
    assert bare.get_by_text("row sums: [0.374").is_visible()
    choice = bare.locator("#predict-masking-1 details").first
    assert not choice.locator("p").is_visible()
    choice.locator("summary").click()
    assert choice.locator("p").is_visible()


# ---------------------------------------------------------------- what was missed


AGAIN = ".quiz-again > summary"


@pytest.fixture
def missed(page):
    """A page of a reader whose first choice was wrong, once, in chapter 2."""
    page.goto("book/02-scaling.html")
    quiz = page.locator("#quiz-scaling-1")
    choose(page, quiz, WRONG)
    choose(page, page.locator("#quiz-scaling-2"), RIGHT)
    quiz.locator(RIGHT).click()  # found at last: it was missed all the same
    quiz.get_by_text("Found in 2 tries.").wait_for()
    assert kept(page, "missed") == {"quiz-scaling-1": "quiz:02-scaling"}
    return page


QUESTION = {
    "kind": "shape",
    "text": "What is the shape of `x`?\n\n    return <b>x</b>",
    "choices": ["(2,)", "`(3,)`", "(4,)"],
    "key": 1,
    "why": "Its shape is (3,):\n\n    x   (3,)",
    "name": "softmax",
    "code": "def softmax(x):\n    return <b>x</b>",
}


def test_a_question_about_code_comes_back_on_another_day(page):
    page.goto("book/02-scaling.html")
    today = page.evaluate("new Date().toDateString()")
    own = {
        "own:01-attention:softmax:0": {"asked": QUESTION, "day": "Mon Nov 02 2026"},
        "own:01-attention:softmax:1": {"asked": QUESTION, "day": today},
    }
    keep(page, "missed", own)
    page.reload()
    fold = page.locator(AGAIN)
    told = "Before you begin: a question that you missed in your own softmax"
    assert fold.text_content() == told
    fold.click()
    quiz = page.locator(".quiz-again .own-code")
    code = quiz.locator("> pre")
    code.nth(1).wait_for()
    assert code.all_text_contents() == [QUESTION["code"], "return <b>x</b>"]
    choose(page, quiz, RIGHT)
    assert list(kept(page, "missed")) == ["own:01-attention:softmax:1"]
    page.reload()
    assert page.locator(AGAIN).count() == 0


def test_a_later_chapter_asks_what_was_missed_until_it_is_known(missed, accessible):
    missed.goto("book/03-multi-head.html")
    fold = missed.locator(AGAIN)
    told = "Before you begin: a question that you missed in 2. Scaling"
    assert fold.text_content() == told
    fold.click()
    quiz = missed.locator(".quiz-again .quiz")
    choose(missed, quiz, WRONG)
    accessible(".quiz-again", ".quiz.predict", ".covered", schemes=["light"])
    missed.goto("book/04-masking.html")
    missed.locator(AGAIN).click()
    choose(missed, missed.locator(".quiz-again .quiz"), RIGHT)
    assert kept(missed, "missed") == {}
    assert kept(missed, "quiz:quiz-scaling-1") == [0, 1]  # of the page it belongs to
    missed.reload()
    missed.locator(".covered").first.wait_for()  # scripts have run
    assert missed.locator(AGAIN).count() == 0
    assert not missed.troubles


def test_an_earlier_chapter_and_a_new_reader_are_asked_nothing(
    missed, browser, address
):
    missed.goto("book/02-scaling.html")
    missed.locator(".covered").first.wait_for()
    assert missed.locator(AGAIN).count() == 0
    context = browser.new_context(base_url=address)
    new = context.new_page()
    new.goto("book/04-masking.html")
    new.locator(".covered").first.wait_for()
    assert new.locator(AGAIN).count() == 0
    context.close()


@pytest.mark.parametrize(
    "odd", drawn(["[1", "3", '"quiz"', '{"x": "../../evil"}', '{"x": 3, "y": null}'], 2)
)
def test_what_others_have_kept_there_is_passed_over(page, odd):
    page.add_init_script(f"localStorage.setItem('missed', {json.dumps(odd)})")
    page.goto("book/04-masking.html")
    page.locator(".covered").first.wait_for()
    assert page.locator(AGAIN).count() == 0
    choose(page, page.locator("#quiz-masking-1"), WRONG)
    assert kept(page, "missed")["quiz-masking-1"] == "quiz:04-masking"
    assert not page.troubles


def test_a_question_that_is_gone_is_forgotten(page):
    page.add_init_script(
        """localStorage.missed ??= '{"quiz-of-old": "quiz:02-scaling"}'"""
    )
    page.goto("book/04-masking.html")
    page.locator(AGAIN).click()
    page.wait_for_function("localStorage.missed === '{}'")
    assert page.locator(".quiz-again .quiz").count() == 0
    assert not page.troubles


# ---------------------------------------------------------------- yours and expected


@pytest.mark.parametrize("width", drawn([1280, 375]))
def test_a_wrong_table_is_drawn_beside_the_right_one(page, accessible, width):
    """The page shows what it has kept of the last check; so no Python is needed."""
    page.set_viewport_size({"width": width, "height": 800})
    right = np.tri(8) == 1
    outcome = {"number": 3, "question": "causal_mask", "said": "", "figures": []}
    outcome |= {"problem": "causal_mask, visible check 2 of 2"}
    outcome |= {"drawing": asdict(beside(np.tri(8, k=1) == 1, right))}
    results = {"causal_mask": {"outcomes": [outcome], "at": 0, "mark": ""}}
    page.goto("book/solve/04-masking.html")
    keep(page, "exercise:04-masking:results", results)
    page.reload()
    tables = page.locator(".exercise-drawn table")
    assert [t.locator("caption").text_content() for t in tables.all()] == [
        "yours",
        "expected",
    ]
    rows = tables.first.locator("tr").all()
    assert [cell.text_content() for cell in rows[6].locator("td").all()] == [
        *"xxxxxxx",
        "x≠",
    ]
    assert tables.nth(1).get_by_text("≠").count() == 0
    assert "x is True" in page.locator(".exercise-drawn p").text_content()
    accessible(".exercise-drawn")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not page.troubles
