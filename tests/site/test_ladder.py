"""A student's path on an exercise page: wrong tries, a named mistake, the ladder, done.

With a folder in PATH_PICTURES, every station is also kept as a picture there.
"""

import json
import os
from pathlib import Path

import pytest
from exercise_page import bar, editor, released, settled

from autograder.course import Course
from autograder.release.catalogs import catalog_of
from autograder.release.sample_class import reference_answers, solved

ROOT = Path(__file__).resolve().parents[2]
PAGE = "book/solve/10-generating.html"
QUESTION = "decode_step"
START = 120_000  # milliseconds in which Python has to be there, on a busy machine
CATALOG = catalog_of("generating")
LADDER = CATALOG.ladders[QUESTION]
MISTAKES = {mistake.id: mistake for mistake in CATALOG.of(QUESTION)}
TRIES = ["decode_step-query-after-append", "decode_step-without-itself"]
MINE = "def decode_step(q, k, v, cache):\n    # my third try\n    return q, k\n"
THRIFTY = """
    Object.defineProperty(navigator, "connection", { value: { saveData: true } });
"""


@pytest.fixture
def photograph(page):
    """Keep what the page shows, where somebody wants to see it."""

    def take(name):
        if folder := os.environ.get("PATH_PICTURES"):
            place = bar(page, QUESTION)
            place.scroll_into_view_if_needed()
            page.screenshot(path=Path(folder) / f"{name}.png")

    return take


def ladder(page):
    return page.locator(f'.ladder[data-cell="{QUESTION}"]')


def tried(page, code):
    """Write an answer and check it: what the page says of it."""
    editor(page, QUESTION).fill(code)
    return checked(page)


def checked(page):
    bar(page, QUESTION).get_by_role("button", name="Check").click()
    return settled(page, bar(page, QUESTION).locator(".exercise-output"), START)


def chosen(page):
    """The student's own order."""
    return page.get_by_role("list", name="Your order").locator("li > code")


def press(page, name):
    """By keyboard, as somebody without a mouse does."""
    page.get_by_role("button", name=name, exact=True).focus()
    page.keyboard.press("Enter")


def test_from_a_first_try_to_the_ladder_and_over_it(
    python, page, axe, photograph, tmp_path
):
    solution = json.loads(released("10-generating").read_text(encoding="utf-8"))
    answers = reference_answers(Course.find(ROOT).chosen(["10-generating"])[0])
    path = tmp_path / "generating.ipynb"
    path.write_text(solved(solution, answers), encoding="utf-8")
    page.set_viewport_size({"width": 1280, "height": 1500})  # a picture holds it all
    page.goto(PAGE)
    page.locator("#exercise-tools input[type=file]").set_input_files(path)
    page.get_by_text("generating.ipynb is open.").wait_for()

    # known mistakes are named; the ladder is not offered yet
    for number, name in enumerate(TRIES, 1):
        said = tried(page, MISTAKES[name].code)
        assert "likely:" in said and MISTAKES[name].diagnosis in said
        photograph(f"{number}-a-named-mistake")
        assert "likely:" in checked(page)  # the same try counts once
        assert ladder(page).is_hidden()

    # after a third try it is
    assert "expected:" in tried(page, MINE)
    assert ladder(page).is_visible()
    ladder(page).locator("summary").click()
    page.evaluate(axe)
    for scheme in "light", "dark":
        page.emulate_media(color_scheme=scheme)
        page.add_style_tag(content="* { transition: none !important }")
        run = "scope => axe.run(scope, { preload: false })"
        found = page.evaluate(run, {"include": [".ladder"]})["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    page.emulate_media(color_scheme="light")
    photograph("3-the-ladder")

    # a line that does not belong is told as any other mistake is
    strays = dict(LADDER.strays)
    wrong = [*LADDER.rungs[:-1], strays["decode_step-output-only"]]
    for line in wrong:
        press(page, line)
    assert chosen(page).all_text_contents() == wrong
    press(page, "Put it into my cell")
    assert "\n    ".join(wrong) in editor(page, QUESTION).input_value()
    assert MISTAKES["decode_step-output-only"].diagnosis in checked(page)
    photograph("4-a-line-that-does-not-belong")

    # the right order holds, by its own check
    press(page, f"Take out: {wrong[-1]}")
    press(page, LADDER.rungs[-1])
    press(page, "Put it into my cell")
    assert "hold" in checked(page)
    said = bar(page, QUESTION).locator(".exercise-said")
    assert "right" in said.get_attribute("class")
    photograph("5-it-holds")

    # and what stood there before is not lost, also behind a reload
    page.reload()
    ladder(page).locator("summary").click()
    assert chosen(page).all_text_contents() == LADDER.rungs
    press(page, "Bring back what I had")
    assert editor(page, QUESTION).input_value() == MINE
    photograph("6-what-stood-there-before")
    assert not page.troubles


OFFERED = {"tries": ["a", "b", "c"]}
KEEP = "kept => localStorage.setItem('exercise:10-generating:ladder:decode_step', kept)"


@pytest.fixture
def offered(page):
    """A page with the ladder, and without Python."""
    page.context.add_init_script(THRIFTY)
    page.goto(PAGE)
    page.evaluate(KEEP, json.dumps(OFFERED))
    page.reload()
    ladder(page).locator("summary").click()
    return page


def test_lines_are_moved_without_a_mouse_and_the_focus_stays_with_them(offered):
    first, second, third = LADDER.lines[:3]
    for line in (first, second, third):
        press(offered, line)
    focused = "document.activeElement.getAttribute('aria-label')"
    press(offered, f"Move up: {third}")
    assert chosen(offered).all_text_contents() == [first, third, second]
    assert offered.evaluate(focused) == f"Move up: {third}"
    offered.keyboard.press("Enter")
    assert chosen(offered).all_text_contents() == [third, first, second]
    assert offered.evaluate(focused) == f"Move down: {third}"
    assert offered.get_by_role("button", name=f"Move up: {third}").is_disabled()
    press(offered, f"Take out: {first}")
    assert chosen(offered).all_text_contents() == [third, second]
    assert offered.evaluate(focused) == f"Take out: {second}"
    status = ladder(offered).locator("[role=status]")
    assert status.text_content() == f"Taken out: {first}"
    assert not offered.troubles


def test_on_a_phone_all_of_it_is_there_and_large_enough_to_touch(offered):
    offered.set_viewport_size({"width": 375, "height": 800})
    for line in LADDER.lines:
        press(offered, line)
    assert offered.evaluate("document.documentElement.scrollWidth") <= 375
    sizes = """() => [...document.querySelectorAll(".ladder-lines button")].map(
        (each) => {
            const { left, right, width, height } = each.getBoundingClientRect();
            return [left >= 0 && right <= 375, Math.min(width, height)] })"""
    found = offered.evaluate(sizes)
    assert len(found) == 3 * len(LADDER.lines)
    assert all(inside and size >= 24 for inside, size in found)


def test_no_text_of_one_s_own_is_lost_by_the_ladder(offered):
    area = editor(offered, QUESTION)
    given = area.input_value()
    press(offered, LADDER.lines[0])
    press(offered, "Put it into my cell")
    made = area.input_value()
    assert made == given.replace(
        "raise NotImplementedError  # your answer here", LADDER.lines[0]
    )
    back = offered.get_by_role("button", name="Bring back what I had")
    assert back.is_hidden()  # nobody had written anything
    area.fill("mine = 1")
    press(offered, "Put it into my cell")
    area.fill(f"{made}\n# and changed")
    press(offered, "Put it into my cell")
    assert area.input_value() == made
    for text in f"{made}\n# and changed", "mine = 1", f"{made}\n# and changed":
        back.click()
        assert area.input_value() == text
    offered.reload()
    assert area.input_value() == f"{made}\n# and changed"
    assert not offered.troubles


def test_a_tab_that_only_shows_does_not_write_through_the_ladder(offered):
    other = offered.context.new_page()
    other.goto(PAGE)
    other.get_by_text("open in another tab").wait_for()
    ladder(other).locator("summary").click()
    assert other.get_by_role("button", name="Put it into my cell").is_disabled()
    other.close()
