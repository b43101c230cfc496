"""Questions about one's own code in the page: by keyboard, light and dark, next day."""

import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from exercise_page import SOFTMAX, bar, editor, settled

pytest.importorskip("benchmarks.pages")  # it needs Playwright

START = 120_000  # milliseconds in which Python has to be there, on a busy machine
AXE = "scope => axe.run(scope, { preload: false, resultTypes: ['violations'] })"
pytestmark = pytest.mark.long


def picture(page, name):
    """A picture for those who ask for one."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_a_missed_question_about_code_is_explained_and_comes_back_tomorrow(
    python, page, axe
):
    page.goto("book/solve/01-attention.html")
    editor(page, "softmax").fill(SOFTMAX)
    bar(page, "softmax").locator("button").first.click()
    settled(page, bar(page, "softmax").locator(".exercise-output"), START)
    ask = page.get_by_role("button", name="Two questions about your code").first
    ask.focus()
    page.keyboard.press("Enter")
    own = page.locator(".exercise-own .own-code")
    own.nth(1).wait_for(timeout=START)
    assert own.count() == 2

    # by keyboard: the wrong one is missed, the right one explains itself
    wrong = own.first.locator("details:not(.correct) > summary").first
    right = own.first.locator("details.correct > summary")
    wrong.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Not yet.").first.wait_for()
    right.focus()
    page.keyboard.press("Enter")
    own.first.get_by_text("Found in 2 tries.").wait_for()
    assert own.first.locator("details.correct > :not(summary)").first.is_visible()
    missed = json.loads(page.evaluate("localStorage.getItem('missed')"))
    ((name, kept),) = missed.items()
    assert (
        name.startswith("own:01-attention:softmax") and "def " in kept["asked"]["code"]
    )

    page.evaluate(axe)
    for width in (1280, 375):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.add_style_tag(content="* { transition: none !important }")
            own.first.scroll_into_view_if_needed()
            picture(page, f"own-{width}-{scheme}")
            found = page.evaluate(AXE, {"include": ["article"]})["violations"]
            assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    # not today, but tomorrow, in any chapter
    again = page.locator(".quiz-again > summary")
    page.goto("book/04-masking.html")
    assert again.count() == 0
    page.clock.set_fixed_time(datetime.now() + timedelta(days=1))
    page.reload()
    assert "your own softmax" in again.text_content()
    again.click()
    quiz = page.locator(".quiz-again .own-code")
    assert quiz.locator("> pre").first.text_content().strip() == SOFTMAX.strip()
    picture(page, "tomorrow")
    quiz.locator("details.correct > summary").click()
    page.wait_for_function("localStorage.getItem('missed') === '{}'")
    page.reload()
    assert again.count() == 0
    assert not page.troubles
