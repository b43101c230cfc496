"""The first thing that moves: two sentences side by side, attention in five steps."""

import json
import math
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import looks
import numpy as np
import pytest

STATIC = Path(__file__).resolve().parents[2] / "book/static"
WORDS = len(json.loads((STATIC / "lab.json").read_text())["words"])
CHAPTER = "01-queries-keys-values.html"


def enliven(page, path=CHAPTER):
    return looks.enliven(page, path, "attention-start", ".start-modes")


def kept(page, **state):
    """Wait until the address, which is written a moment later, says this of the lab."""

    def says(url):
        found = parse_qs(urlsplit(url).query)
        return state.items() <= {k: v[0] for k, v in found.items()}.items()

    page.wait_for_url(says)


def test_it_shows_at_once_that_it_means_the_animal_or_the_street(page):
    lab = enliven(page)
    formulas = lab.locator(".pair-formula").all_text_contents()
    assert formulas[0].startswith("it → animal") and " = 1.00 (" in formulas[0]
    assert formulas[1].startswith("it → street") and " = 0.94 (" in formulas[1]
    thick = "paths => paths.map((path) => Number(path.getAttribute('stroke-width')))"
    for side, noun in enumerate((1, 6)):
        lines = lab.locator("svg").nth(side).locator("path").evaluate_all(thick)
        assert np.argmax(lines) == noun
    assert lab.locator("summary").text_content().startswith(f"The {WORDS} words")
    assert not page.troubles


def test_a_cell_a_line_and_a_formula_show_the_same_pair(page):
    lab = enliven(page)
    n = 12
    query, key = 3, 8  # "not" looks at "it"
    lab.locator(".pair-matrix").first.locator("i").nth(query * n + key).hover()
    for side in (0, 1):
        formula = lab.locator(".pair-formula").nth(side).text_content()
        assert formula.startswith("not → it")
        paths = lab.locator("svg").nth(side).locator("path")
        assert "chosen" in paths.nth(key).get_attribute("class")
        cells = lab.locator(".pair-matrix").nth(side).locator("i")
        assert cells.nth(query * n + key).get_attribute("class") == "asked chosen"
        pressed = lab.locator(".pair-queries").nth(side).locator("[aria-pressed=true]")
        assert pressed.text_content() == "not"


def test_sentences_and_choice_are_in_the_address(page):
    lab = enliven(page)
    lab.get_by_label("Left sentence").fill("my dog was tired")
    assert "This small model does not know: my." in lab.text_content()
    lab.locator(".pair-queries").first.locator("[aria-pressed=true]").focus()
    page.keyboard.press("ArrowUp")
    kept(page, left="my dog was tired", row="2")
    page.reload()
    lab.locator(".start-modes").wait_for()
    assert lab.get_by_label("Left sentence").input_value() == "my dog was tired"
    pressed = lab.locator(".pair-queries").first.locator("[aria-pressed=true]")
    assert pressed.text_content() == "was"
    lab.get_by_label("Left sentence").fill("my dog it was")  # where the word moves
    assert pressed.text_content() == "was"
    lab.get_by_label("Left sentence").fill("...")
    assert "Type a word or two." in lab.text_content()
    assert not page.troubles


@pytest.mark.parametrize("causal", [False, True])
def test_the_five_steps_are_those_of_numpy(empty, causal):
    rng = np.random.default_rng(0)
    Q, K, V = rng.normal(size=(3, 3, 2)).round(2)
    shown = empty.evaluate(
        """async ([numbers, causal]) => {
          const { stages } = await import("/_static/three-tokens.js");
          const told = stages(numbers, causal);
          return told.map((step) => step.map((row) => row.map(String)));
        }""",
        [{"Q": Q.tolist(), "K": K.tolist(), "V": V.tolist()}, causal],
    )
    scores = Q @ K.T
    scaled = scores / math.sqrt(2)
    masked = np.where(np.tril(np.ones((3, 3))) > 0, scaled, -np.inf)
    masked = masked if causal else scaled
    powers = np.exp(masked)
    weights = powers / powers.sum(1, keepdims=True)
    for step, expected in zip(
        shown, [scores, scaled, masked, weights, weights @ V], strict=True
    ):
        found = np.array(
            [[float(x.replace("Infinity", "inf")) for x in r] for r in step]
        )
        assert np.allclose(found, expected)


def test_the_steps_are_walked_by_keyboard_and_kept_in_the_address(page):
    lab = enliven(page)
    lab.get_by_role("button", name="Step by step").click()
    lab.locator(".steps").wait_for()  # its code comes with the first click
    formula = lab.locator(".pair-formula")
    assert formula.text_content() == "it · animal: 2 × 2 + 0 × 0 = 4"
    lab.get_by_label("Q, it, number 2").fill("3")
    assert formula.text_content() == "it · animal: 2 × 2 + 3 × 0 = 4"
    lab.locator(".steps-result [aria-pressed=true]").focus()
    page.keyboard.press("ArrowRight")
    assert formula.text_content() == "it · street: 2 × 0 + 3 × 2 = 6"
    assert lab.locator("tr.met").count() == 2  # the query's row, and the key's
    lab.get_by_label("causal mask").check()
    for _ in range(2):
        lab.locator(".steps-next").click()
    lab.locator(".steps-result button").nth(1).focus()
    assert "comes after “animal”: its score becomes −∞" in formula.text_content()
    lab.locator(".steps-next").click()
    assert formula.text_content().endswith("= 0")
    kept(page, Q="1,0,0,1,2,3", cell="0.1", mask="1", step="3")
    page.reload()
    lab.scroll_into_view_if_needed()
    lab.locator(".steps").wait_for()
    assert lab.get_by_label("Q, it, number 2").input_value() == "3"
    assert lab.locator("[aria-current=step]").text_content() == "softmax"
    lab.get_by_role("button", name="The first numbers").click()
    assert lab.get_by_label("Q, it, number 2").input_value() == "0"
    assert not page.troubles


def test_the_view_that_was_asked_for_last_is_shown(page):
    """The code of the steps comes late: the reader has gone back meanwhile."""
    held = []
    page.route("**/three-tokens.js", lambda route: held.append(route))
    lab = enliven(page)
    with page.expect_request("**/three-tokens.js"):
        lab.get_by_role("button", name="Step by step").click()
    while not held:
        page.wait_for_timeout(20)
    lab.get_by_role("button", name="Two sentences").click()
    held[0].continue_()
    page.evaluate("import('/_static/three-tokens.js')")  # until it is here
    assert lab.locator(".pair").is_visible() and not lab.locator(".steps").count()
    lab.get_by_role("button", name="Step by step").click()
    lab.locator(".steps").wait_for()
    assert not page.troubles


def test_steps_that_cannot_be_had_are_said(page):
    page.route("**/three-tokens.js", lambda route: route.fulfill(status=503))
    lab = enliven(page)
    lab.get_by_role("button", name="Step by step").click()
    lab.get_by_text("could not be loaded").wait_for()
    lab.get_by_role("button", name="Two sentences").click()
    assert lab.locator(".pair").is_visible()
    assert not [said for said in page.troubles if said.startswith("script")]
