"""Progress without an account: marks, the last place, and a file to take along."""

import json
import re
from xml.etree import ElementTree

import nbformat
import pytest
from exercise_page import SOFTMAX, editor, keep, saved
from shared import drawn

from autograder.cli import main

PAGE = "book/where-was-i.html"
QUIZ = ".quiz:not(.predict)"
MARK = ".bd-sidenav a[href*='{}']"


def mark(page, name):
    return page.locator(MARK.format(name)).first.get_attribute("data-progress")


def noted(page):
    return page.evaluate("JSON.parse(localStorage.getItem('progress') ?? '{}')")


def solve_quizzes(page, *numbers):
    for number in numbers:
        quiz = page.locator(QUIZ).nth(number)
        quiz.locator(".correct summary").click()
        quiz.get_by_text("Found in").wait_for()


def test_a_chapter_is_begun_with_one_question_and_done_with_all(page):
    page.goto("book/02-scaling.html")
    page.locator(f"{QUIZ} details:not(.correct) summary").first.click()
    page.wait_for_function("localStorage.getItem('progress')")
    quizzes = page.locator(QUIZ).count()
    assert noted(page)["quiz:02-scaling"]["done"] == 0
    solve_quizzes(page, 0)
    page.goto("book/index.html")
    assert mark(page, "02-scaling") == "some" and mark(page, "03-multi") == "none"
    page.goto("book/02-scaling.html")
    solve_quizzes(page, *range(1, quizzes))
    page.goto("book/index.html")
    assert mark(page, "/02-scaling") != "all"  # the exercise of this name is another
    assert mark(page, "02-scaling.html") == "all"
    chapters = page.locator(".bd-article dl a[data-progress=all]")
    assert chapters.all_text_contents() == ["2. Scaling"]
    assert not page.troubles


def test_it_tells_where_one_was_and_leads_there(page):
    page.goto("book/02-scaling.html")
    page.locator("#quiz").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('#quiz').scrollIntoView()")
    page.goto(PAGE)
    link = page.locator(".where-last a")
    assert link.text_content() == "2. Scaling: Quiz"
    link.click()
    page.wait_for_url("**/book/02-scaling.html#quiz")
    page.goto(PAGE)
    row = page.locator(".where-table tr", has_text="2. Scaling")
    assert "○ not begun" in row.text_content()
    assert not page.troubles


def test_progress_is_taken_to_another_browser_and_overwrites_no_answer(
    page, browser, address, tmp_path
):
    page.goto("book/02-scaling.html")
    solve_quizzes(page, 0)
    answer = {"notebook": {"cells": [1]}, "given": {}}
    keep(page, "exercise:01-attention", answer)
    keep(page, "exercise:01-attention:before", {"cells": [0]})
    page.goto(PAGE)
    path = saved(page, "Take my progress along", tmp_path)

    context = browser.new_context(base_url=address)
    other = context.new_page()
    other.goto(PAGE)
    mine = {"notebook": {"cells": [2]}, "given": {}}
    keep(other, "exercise:01-attention", mine)
    later = {"quiz:02-scaling": {"done": 4, "of": 4, "at": 8e15}}
    also = {"quiz:03-multi-head": later["quiz:02-scaling"]}
    keep(other, "progress", later | also)
    other.locator("#my-progress input[type=file]").set_input_files(path)
    other.get_by_text("is in:").wait_for()
    kept = other.evaluate("({...localStorage})")
    assert json.loads(kept["exercise:01-attention"]) == answer
    assert json.loads(kept["exercise:01-attention:before"]) == mine["notebook"]
    assert json.loads(kept["progress"])["quiz:02-scaling"]["done"] == 4  # the later one
    assert "quiz:03-multi-head" in json.loads(kept["progress"])
    assert kept["quiz:quiz-scaling-1"]
    context.close()


OWN = {"notebook": {"cells": [{"source": "mine"}]}, "given": {}}
HOSTILE = {  # what a file brings in: the pages work afterwards, and lead nowhere else
    "a place on another site": {"place": {"path": "/\\evil.example/x", "id": "a"}},
    "another, with a tab": {"place": {"path": "/\t/evil.example/x", "id": "a"}},
    "counts that are none": {"progress": {"exercise:01-attention": None}},
    "more than all": {"progress": {"exercise:01-attention": {"done": -1, "of": -5}}},
    "many squares": {
        "progress": {"exercise:01-attention": {"done": 4e8, "of": 4e8, "at": 1}}
    },
    "marks that are none": {
        "progress": {"exercise:01-attention": {"done": 1, "of": 2, "which": 7, "at": 1}}
    },
    "results that are none": {
        "exercise:01-attention:results": {"softmax": {"outcomes": [{"problem": 3}]}}
    },
    "text that is no JSON": {
        "exercise:01-attention": {"notebook": {"cells": []}},
        "cells:x.html": "{",
    },
}


@pytest.mark.parametrize("kind", drawn(HOSTILE, 3))
def test_a_file_from_a_stranger_breaks_no_page_and_loses_no_answer(thrifty, kind):
    page, kept = thrifty, HOSTILE[kind]
    page.goto(PAGE)
    keep(page, "exercise:01-attention", OWN)
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in kept.items()}
    file = json.dumps({"course": "paying-attention", "kept": texts}).encode()
    chosen = {"name": "p.json", "mimeType": "application/json", "buffer": file}
    page.locator("#my-progress input[type=file]").set_input_files(chosen)
    page.locator(".where-status", has_text="p.json").wait_for()
    own = json.dumps(OWN, separators=(",", ":"))
    assert own in page.evaluate("Object.values({...localStorage})")
    page.goto(PAGE)
    page.get_by_role("button", name="Bring progress in").wait_for()
    assert not page.locator("a[href*=evil]").count()
    page.goto("book/solve/01-attention.html")
    page.locator(".exercise-bar button").first.wait_for()
    assert not page.troubles


MASK = "def causal_mask(n):\n    return np.tri(n, dtype=bool)"


def test_all_answers_make_one_notebook_that_check_reads(thrifty, tmp_path, capsys):
    page = thrifty
    page.goto(PAGE)
    assert "Nothing is solved in this browser" in page.text_content("#my-proof")
    page.goto("book/solve/01-attention.html")
    editor(page, "softmax").fill(SOFTMAX)
    page.goto("book/solve/04-masking.html")
    editor(page, "causal_mask").fill(MASK.replace("return", "return 1 +"))  # wrong
    page.goto("book/puzzles.html#causal_mask")
    editor(page, "causal_mask").fill(MASK)
    page.goto(PAGE)
    path = saved(page, "All my answers in a notebook", tmp_path)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    sources = [cell.source for cell in notebook.cells]
    assert sources[:2] == ["# My answers", "# Attention puzzles"]
    assert SOFTMAX in sources and MASK in sources and len(sources) < 20
    assert main(["check", "--all", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if "visible checks pass" in line]
    assert lines[-1] == "2 of 3 questions pass all visible checks."
    assert not page.troubles


def test_what_is_solved_is_a_picture_and_a_line(page, tmp_path):
    which = {"exercise:00-puzzles": "1" + 34 * "0" + "1", "exercise:01-attention": None}
    noted = {
        name: {"done": 2, "of": len(marks or "12345"), "at": 0, "which": marks}
        for name, marks in which.items()
    }
    page.goto(PAGE)
    noted |= {"quiz:02-scaling": {"done": 4, "of": 4, "at": 8e15}}
    keep(page, "progress", noted)
    page.reload()
    drawn = saved(page, "Download the picture", tmp_path)
    root = ElementTree.fromstring(drawn.read_text(encoding="utf-8"))
    squares = root.findall(".//{*}g/{*}rect")
    solved = [s.get("fill") != "#ffffff" for s in squares]
    assert solved == [True, *34 * [False], True, *2 * [True], *3 * [False]]
    width, height = float(root.get("width")), float(root.get("height"))
    for each in squares:
        assert float(each.get("x")) + 13 < width and float(each.get("y")) + 13 < height
    assert len({(each.get("x"), each.get("y")) for each in squares}) == len(squares)
    (title,) = root.findall("{*}title")
    line = page.get_by_label("The same as a line of Markdown").input_value()
    for told in title.text, line:
        assert re.search(r"2 of 36 .*; 2 of 5 .*Self-reported, January 1, 1970", told)
    assert page.get_by_role("img", name=title.text).bounding_box()["width"] > 300
    assert not page.troubles


@pytest.mark.parametrize(
    "content", drawn(["<html>", "{}", "null", '{"course": "x"}'], 2)
)
def test_another_file_is_refused(page, tmp_path, content):
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    page.goto(PAGE)
    before = page.evaluate("({...localStorage})")
    page.locator("#my-progress input[type=file]").set_input_files(path)
    page.get_by_text("x.json was not taken. This file is not progress").wait_for()
    assert page.evaluate("({...localStorage})") == before


NO_STORAGE = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } });"""


def test_a_browser_that_stores_nothing_says_so(page):
    page.context.add_init_script(NO_STORAGE)
    page.goto(PAGE)
    page.get_by_text("remembers no page of the course").wait_for()
    assert "Nothing is solved in this browser" in page.text_content("#my-proof")


def test_what_a_browser_holds_of_others_does_not_stop_it(page):
    page.goto(PAGE)
    page.evaluate("localStorage.progress = '[1'")
    for place in ("3", '{"path": "javascript:alert(1)"}', '{"path": "//x.org/"}'):
        page.evaluate("place => localStorage.place = place", place)
        page.reload()
        assert page.locator(".where-table tr").count() > 10
        assert page.get_by_text("remembers no page of the course").is_visible()
    assert not page.troubles
