"""The editor of exercise pages, by the keyboard alone; without it a text area."""

import gzip
import json

import pytest
from exercise_page import PAGE, SOFTMAX, answering, bar, editor, settled
from looks import SIDEWAYS
from shared import drawn

MODULE = "code-mirror.js"
HELD = """const held = [];
    window.requestAnimationFrame = (frame) => held.push(frame);
    window.draw = () => held.splice(0).forEach((frame) => frame(performance.now()));"""
WRONG = {
    "number": 2,
    "question": "softmax",
    "said": "",
    "problem": "softmax, visible check 1 of 5\n  at:       cell 2, line 2\n      …",
    "figures": [],
}


@pytest.fixture
def area(quiet):
    """The first editor, empty, with the focus in it."""
    area = editor(quiet, "softmax")
    area.fill("")
    area.focus()
    return area


def focused(page):
    return page.evaluate("document.activeElement.textContent")


def test_it_indents_closes_brackets_and_turns_lines_into_comments(area, quiet):
    quiet.keyboard.type("def f(x):\nreturn [x")
    assert area.input_value() == "def f(x):\n    return [x]"
    area.press("End")
    area.press("Enter")
    area.press("Backspace")
    quiet.keyboard.type("“g” # g")  # quotes as phones type them
    assert area.input_value() == 'def f(x):\n    return [x]\n"g" # g'
    area.press("Control+/")
    assert area.input_value().endswith('\n# "g" # g')
    area.press("Control+/")
    area.press("Shift+Home")
    area.press("Delete")
    area.press("Tab")
    quiet.keyboard.type("x")
    assert area.input_value().endswith("\n    x")
    kinds = area.content.locator("span").evaluate_all(
        "all => all.map((s) => `${s.className} ${s.textContent}`)"
    )
    assert kinds == ["k def", "k return"]


def test_escape_then_tab_leaves_it_and_it_says_so(area, quiet):
    described = "a => document.getElementById(a.getAttribute('aria-describedby'))"
    said = area.content.evaluate(f"{described.replace('a =>', 'a => (')}).textContent")
    assert "Escape, then Tab leaves the editor" in said
    quiet.clock.install()
    area.press("Escape")
    quiet.clock.fast_forward(2500)  # there is no hurry
    quiet.keyboard.press("Tab")
    assert focused(quiet) == "Check"
    quiet.keyboard.press("Shift+Tab")
    area.press("Escape")
    area.press("a")  # who goes on to write stays
    area.press("Tab")
    assert area.input_value() == "    a"


@pytest.mark.parametrize("key", drawn(["Shift+Enter", "Control+Enter", "Meta+Enter"]))
def test_keys_run_the_answer(page, key):
    if key.startswith("Meta"):
        mac = "Object.defineProperty(navigator, 'platform', { value: 'MacIntel' })"
        page.add_init_script(mac)
    answering(page, {**WRONG, "problem": None})
    page.goto(PAGE)
    editor(page, "softmax").fill(SOFTMAX)
    editor(page, "softmax").press(key)
    bar(page, "softmax").locator(".exercise-next").wait_for()
    assert editor(page, "softmax").input_value() == SOFTMAX


def test_what_was_undone_before_a_reload_can_be_undone_after_it(area, quiet):
    quiet.clock.set_fixed_time("2027-01-01T12:00:00")
    quiet.keyboard.type("first = 1\n")
    # what is typed at once is undone at once
    quiet.clock.set_fixed_time("2027-01-01T12:00:01")
    quiet.keyboard.type("second = 2")
    quiet.reload()
    assert area.input_value() == "first = 1\nsecond = 2"
    area.press("Control+z")
    assert area.input_value() == "first = 1\n"
    quiet.reload()
    area.press("Control+y")
    assert area.input_value() == "first = 1\nsecond = 2"
    # what another version of the page would have kept does no harm
    strange = json.dumps({"softmax": {"doc": "first = 1\nsecond = 2"}})
    keep = "text => localStorage.setItem('exercise:01-attention:undo', text)"
    quiet.evaluate(f"text => (onunload = () => ({keep})(text))", strange)
    quiet.reload()
    area.press("Control+z")
    assert area.input_value() == "first = 1\nsecond = 2"
    assert not quiet.troubles


def test_a_message_leads_to_its_line_which_is_marked_until_it_changes(
    area, quiet, accessible
):
    answering(quiet, WRONG)
    area.fill("def softmax(x):\n    return 1\n")
    marked = area.place.locator(".wrong-line")
    bar(quiet, "softmax").get_by_role("button", name="Check").click()
    settled(quiet, bar(quiet, "softmax").locator(".exercise-output"))
    assert marked.all_inner_texts() == ["2", "    return 1"]
    # and in the panel of the search nothing is unreadable or without a name
    area.press("Control+f")
    quiet.keyboard.type("return")
    accessible(".code-editor", ".exercise-bar")
    quiet.keyboard.press("Escape")
    bar(quiet, "softmax").get_by_role("button", name="softmax, line 2").click()
    quiet.keyboard.type("# ")
    assert area.input_value() == "def softmax(x):\n#     return 1\n"
    assert marked.count() == 0
    area.press("Control+z")
    assert marked.count() == 2
    quiet.reload()
    marked.first.wait_for()


def test_letters_may_be_composed(area, quiet):
    """As for Japanese: the first letters are only a proposal."""
    session = quiet.context.new_cdp_session(quiet)
    for text in "に", "にほん":
        session.send(
            "Input.imeSetComposition",
            {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
        )
    session.send("Input.insertText", {"text": "日本"})
    quiet.keyboard.type(" = 1")
    assert area.input_value() == "日本 = 1"


def test_on_a_phone_the_letters_are_large_and_the_page_is_not_wider(quiet):
    quiet.set_viewport_size({"width": 375, "height": 667})
    quiet.reload()
    area = editor(quiet, "softmax")
    area.fill("x = 1  # " + "long " * 60)
    size = "element => getComputedStyle(element).fontSize"
    assert area.content.evaluate(size) == "16px"
    assert quiet.evaluate(SIDEWAYS) <= 0


def test_only_exercises_load_it_after_the_page_and_at_most_150_kb(site, page, asked):
    (module,) = site.folder.glob(f"_static/*/{MODULE}")
    assert len(gzip.compress(module.read_bytes())) <= 150_000
    licenses = module.with_name("LICENSES.txt").read_text(encoding="utf-8")
    assert "Marijn Haverbeke" in licenses
    for name in "index", "book/01-queries-keys-values", "book/one-token":
        page.goto(f"{name}.html", wait_until="networkidle")
    assert not [url for url in asked if url.endswith(MODULE)]
    page.goto("book/01-queries-keys-values.html")
    page.locator("[data-does=change]:visible").first.click()
    page.locator(".cm-content").wait_for()
    page.add_init_script(HELD)
    for name in PAGE, "book/puzzles.html":
        asked.clear()
        page.goto(name, wait_until="networkidle")
        page.locator(".code-editor textarea").first.wait_for()
        assert not [url for url in asked if url.endswith(MODULE)]
        page.evaluate("draw()")
        page.locator(".cm-content").first.wait_for()
        assert sum(url.endswith(MODULE) for url in asked) == 1


def test_where_it_cannot_be_loaded_one_writes_in_a_text_area(quiet):
    quiet.route(f"**/{MODULE}", lambda route: route.abort())
    answering(quiet, WRONG)
    quiet.reload(wait_until="networkidle")
    area = quiet.get_by_role("textbox", name="Your code: softmax")
    area.fill("x = 1\ny = 2\n\n\nz = 3")
    area.press("Control+Enter")
    bar(quiet, "softmax").get_by_role("button", name="softmax, line 2").click()
    quiet.keyboard.type("# ")
    kept = quiet.evaluate("localStorage.getItem('exercise:01-attention')")
    assert json.loads(kept)["notebook"]["cells"][3]["source"][:2] == [
        "x = 1\n",
        "# y = 2\n",
    ]
    assert not [each for each in quiet.troubles if each.startswith("script")]
    assert area.evaluate("area => area.scrollHeight <= area.clientHeight")
