"""The page of puzzles: one to a screen, a board of all, the next one after a pass."""

import pytest
from exercise_page import bar, editor, settled

PAGE = "book/puzzles.html"
MASK = "def causal_mask(n):\n    return np.tri(n, dtype=bool)"
INPUT = "def break_softmax():\n    return np.array([1000.0])"


# its heading has the focus, and not the link that was pressed
SHOWN = "document.activeElement.closest('.puzzle-on') !== null"


OTHER = "cell => !document.querySelector(`.puzzle-on [data-cell='${cell}']`)"


def on_screen(page):
    return page.locator(".exercise-bar:visible").evaluate_all(
        "bars => bars.map(bar => bar.dataset.cell)"
    )


def comes(page, name):
    """The page follows its address a moment after that has changed."""
    page.locator(f".exercise-bar[data-cell={name}]").wait_for()
    return on_screen(page) == [name]


def test_an_address_keys_and_the_board_lead_to_a_puzzle(page):
    page.goto(f"{PAGE}#causal_mask")
    assert comes(page, "causal_mask")
    page.keyboard.press("n")  # nobody is at the board: it may mean something else
    page.locator(".puzzle-board [aria-current]").focus()
    page.keyboard.press("n")
    page.wait_for_url("**#padding_mask")
    assert comes(page, "padding_mask")
    editor(page, "padding_mask").press("p")  # a letter like any other there
    assert comes(page, "padding_mask")
    page.get_by_role("link", name="36, spot_rotate_pair").click()
    assert comes(page, "spot_rotate_pair")
    page.keyboard.press("n")
    page.wait_for_url("**#softmax_row")
    page.wait_for_function(SHOWN)
    area = editor(page, "softmax_row")
    given = area.input_value()
    page.keyboard.press("e")
    page.keyboard.press("Control+Home")
    page.keyboard.type("“B”, ‘e’")  # as phones type
    assert area.input_value() == "\"B\", 'e'" + given
    assert not page.troubles


def test_a_wrong_function_a_day_and_the_same_all_day(page):
    page.goto(f"{PAGE}#causal_mask")
    page.get_by_role("link", name="today’s wrong function").wait_for()
    today, shown = page.locator("a[href='#today']"), on_screen(page)
    for day in range(1, 14):
        hour = (day - 1) * 23 // 12
        page.clock.set_fixed_time(f"2027-01-{day:02}T{hour:02}:30:00")
        page.evaluate("history.replaceState(null, '', location.pathname)")
        today.dispatch_event("click")
        page.wait_for_function(OTHER, arg=shown[-1])
        shown += on_screen(page)
    assert shown.pop(0) == "causal_mask"
    assert len(set(shown)) == 12 and shown[12] == shown[0]
    page.clock.set_fixed_time("2027-01-13T00:01:00")
    page.reload()
    assert on_screen(page) == shown[-1:]
    assert not page.troubles


@pytest.mark.usefixtures("python")
def test_a_pass_is_kept_and_after_a_first_check_no_network_is_needed(kept_page):
    page = kept_page
    page.goto(f"{PAGE}#causal_mask")
    said = bar(page, "causal_mask").locator(".exercise-output")
    editor(page, "causal_mask").fill(f"import torch\n{MASK}")
    bar(page, "causal_mask").get_by_role("button", name="Check").click()
    lacks = "torch is not available in this assignment; NumPy is"
    assert lacks in settled(page, said, 120_000)
    editor(page, "causal_mask").fill(MASK.replace("n, d", "n, k=1, d"))
    bar(page, "causal_mask").get_by_role("button", name="Check").click()
    told = settled(page, said, 120_000)
    assert "one token that comes after it" in told and "0 of 36" in board(page)
    editor(page, "causal_mask").fill(MASK)
    bar(page, "causal_mask").get_by_role("button", name="Check").click()
    page.get_by_role("link", name="7, causal_mask, solved").wait_for()
    said.get_by_role("link", name="Next: padding_mask").click()
    assert comes(page, "padding_mask")
    kept = "caches.keys().then((names) => names.filter((n) => n.startsWith('python-')))"
    assert len(page.evaluate(kept)) == 1
    page.context.set_offline(True)
    page.reload()
    assert "1 of 36" in board(page)
    page.get_by_role("link", name="25, break_softmax").click()
    assert comes(page, "break_softmax")
    editor(page, "break_softmax").fill(INPUT)
    bar(page, "break_softmax").get_by_role("button", name="Check").click()
    page.get_by_role("link", name="25, break_softmax, solved").wait_for(timeout=120_000)
    page.reload()
    assert "2 of 36" in board(page)
    page.context.set_offline(False)
    page.get_by_role("link", name="shown and kept").click()
    noted = page.evaluate("JSON.parse(localStorage.progress)['exercise:00-puzzles']")
    solved = [place for place, mark in enumerate(noted["which"], 1) if mark == "1"]
    assert solved == [7, 25] and noted["of"] == len(noted["which"]) == 36
    page.get_by_role("img", name="2 of 36").wait_for()
    assert not page.troubles


def board(page):
    return page.locator(".puzzle-count").text_content()


def test_without_scripts_all_puzzles_can_be_read(bare):
    bare.goto(f"{PAGE}#causal_mask")
    assert bare.locator("h2:visible").count() == 36
    links = bare.locator(".puzzle-board a")
    hashes = links.evaluate_all("all => all.map(link => link.getAttribute('href'))")
    assert len(set(hashes)) == 36
    for each in hashes:
        assert bare.locator(each).count() == 1
