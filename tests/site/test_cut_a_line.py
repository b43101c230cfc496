"""The first page's picture: every answer is the model's, and every line can be cut."""

import base64
import copy
import gzip
import json
import random
from itertools import combinations
from pathlib import Path

import cut_picture
import cutting
import numpy as np
import pytest
import smollm2
import torch
from looks import STILL
from shared import drawn
from test_decoder import without

FILE = Path(cut_picture.FILE)
DATA = json.loads(FILE.read_text(encoding="utf-8"))
LANGUAGES = DATA["languages"]
WIDE, TALL = {"width": 1280, "height": 800}, {"width": 375, "height": 667}


def shares_of(data):
    """The shown words' probabilities without each line (layers, heads, n, words)."""
    steps = np.frombuffer(base64.b64decode(data["after"]), np.uint8) / 100
    return steps.reshape(30, 9, len(data["tokens"]), len(data["words"]))


# ---------------------------------------------------------------- numbers


def next_word(model, ids, line=None):
    """Probabilities after a pass over the prompt, and the last token's weights."""
    stream, weights = without(model, ids, line and [*line[:2], -1, line[2]])
    logits = model.norm(stream[-1]) @ model.words.weight.T
    return logits.detach().softmax(-1), weights[:, :, -1]


@pytest.mark.parametrize("name", drawn(list(DATA), 1))
def test_a_cut_gives_what_the_model_says_without_the_line(name, seed):
    data, prompt = DATA[name], cutting.PROMPTS[name]
    model, tokenizer = smollm2.load_model(), smollm2.load_tokenizer()
    ids = torch.tensor(tokenizer.encode(prompt))
    assert "".join(data["tokens"]) == prompt
    words = [tokenizer.encode(f" {word}")[0] for word in data["words"]]
    p, weights = next_word(model, ids)
    assert p.argmax() == words[0]
    assert np.allclose(np.array(data["before"]) / 100, p[words], atol=0.0051)
    steps = np.frombuffer(base64.b64decode(data["weights"]), np.uint8) / 100
    assert np.allclose(steps.reshape(weights.shape), weights, atol=0.0051)
    assert [int(weights.argmax())] == [
        int(np.ravel_multi_index(data["thickest"][0], weights.shape))
    ]
    deciding = [line[:3] for line in data["deciding"]]
    chance = random.Random(f"{seed} {name}")
    others = [[chance.randrange(size) for size in weights.shape] for _ in range(4)]
    for line in [*deciding, *others]:
        p, weights = next_word(model, ids, line)
        assert np.allclose(shares_of(data)[*line], p[words], atol=0.0051), line
        assert (p.argmax() != words[0]) == (line in deciding)
    thickest = [tuple(line) for line in data["thickest"]]
    reading = cutting.read(prompt, model, tokenizer)
    together, *pairs = cutting.next_words(
        reading, [thickest, *combinations(thickest, 2)]
    )
    assert np.allclose(np.array(data["together"]) / 100, together[words], atol=0.0051)
    assert {int(p.argmax()) for p in (together, *pairs)} == {words[0]}
    for layer, head, key, looks in data["deciding"]:
        _, weights = next_word(model, ids, [layer, head, key])
        row = weights[layer, head]
        assert [key for key, _ in looks] == row.topk(2).indices.tolist()
        assert np.allclose(
            [share for _, share in looks], row.topk(2).values, atol=0.006
        )


def test_of_all_lines_only_those_that_are_marked_change_the_answer():
    for data in DATA.values():
        changed = np.argwhere(shares_of(data).argmax(-1) != 0).tolist()
        assert sorted(changed) == sorted(line[:3] for line in data["deciding"])
    assert [len(data["deciding"]) for data in DATA.values()] == [1, 2, 1]


def test_another_order_of_words_is_reported_and_a_hundredth_is_not():
    assert list(cutting.differences(DATA, DATA)) == []
    other = copy.deepcopy(DATA)
    after = bytearray(base64.b64decode(other["capitals"]["after"]))
    after[5] += 1
    other["capitals"]["after"] = base64.b64encode(after).decode()
    assert list(cutting.differences(DATA, other)) == []
    after[5] += 1
    other["capitals"]["after"] = base64.b64encode(after).decode()
    other["languages"]["words"].reverse()
    words, steps = cutting.differences(DATA, other)
    assert words.startswith("languages: words are ['Italian', ")
    assert steps == "capitals: after differ by 2 hundredths"


def test_it_brings_little_along():
    page = cut_picture.element().encode()
    assert len(gzip.compress(FILE.read_bytes())) + len(gzip.compress(page)) < 40_000


# ---------------------------------------------------------------- the picture


@pytest.mark.parametrize("shape", cut_picture.SHAPES)
def test_script_and_build_draw_the_same_line(compute, shape):
    for begin, layer, head in [(12.3, 0, 0), (230.05, 23, 4), (99, 29, 8)]:
        expected = cut_picture.curve(begin, layer, head, shape)
        assert compute("cut-a-line", "curve", begin, layer, head, shape) == expected


@pytest.fixture(params=drawn([WIDE, TALL]), ids=lambda size: str(size["width"]))
def place(page, request):
    page.set_viewport_size(request.param)
    page.goto("book/index.html")
    page.add_style_tag(content=STILL)
    place = page.locator("cut-a-line")
    place.locator("svg[role=group]").first.wait_for(state="attached")
    return place


def answer(place):
    """The next word and its probability, as they are drawn."""
    words = place.locator(".cut-words text:last-child:visible").text_content()
    bar = place.locator(".cut-bar.first:visible text").all_text_contents()
    assert bar[0] == words
    return words, float(bar[1])


def button(place, name):
    return place.get_by_role("button", name=name)


def cut(place):
    """The lines that are cut, by their names in the picture."""
    found = place.locator("[aria-pressed=true][data-line]:visible").all()
    return [line.get_attribute("data-line") for line in found]


def test_the_thickest_lines_leave_the_answer_and_one_line_changes_it(place):
    assert answer(place) == ("Italian", 0.89)
    label = place.locator("text.this:visible")
    assert not label.count()
    for line in LANGUAGES["thickest"][:3]:
        button(place, "Cut the").click()
        assert cut(place) == [".".join(map(str, line))]
        assert answer(place) == ("Italian", shares_of(LANGUAGES)[*line][0])
    button(place, "Cut the 8 thickest").click()
    assert len(cut(place)) == 8 and answer(place) == ("Italian", 0.84)
    said = "the 8 thickest lines at once, all to the first “In”. The answer stays"
    assert said in place.inner_text()
    assert button(place, "Cut the").is_disabled()
    button(place, "Cut this one").click()
    assert cut(place) == ["23.4.7"] and answer(place) == ("French", 0.61)
    assert label.count() == 1 and button(place, "Cut the").is_enabled()
    assert "Cut instead: head 23.4 to “Rome”" in place.inner_text()
    assert "looks at “Paris” (0.47) and “French” (0.33)" in place.inner_text()
    assert "9 of 2,700 tried" in place.inner_text()
    ghost = place.locator(".cut-bar:visible .was").first.get_attribute("style")
    assert ghost == "--share: 0.89"
    button(place, "Undo").click()
    assert not cut(place) and answer(place) == ("Italian", 0.89)
    assert not place.page.troubles


def test_each_sentence_has_its_own_lines(place):
    for name, word in ("capitals", "Paris"), ("a pet", "cat"):
        button(place, name).click()
        assert answer(place)[0] == DATA[name]["words"][0]
        button(place, "Cut this one").click()
        assert answer(place)[0] == word
    assert "Cut: head 23.3 to “cat”" in place.inner_text()
    assert "It kept “cat” down. No other line does this." in place.inner_text()
    assert "1 of 4,050 tried" in place.inner_text()
    assert not place.page.troubles


def test_lines_are_walked_and_cut_by_keyboard(place):
    line = place.get_by_role("button", name="line of head 23.4 to “Rome”, weight 0.94")
    line.focus()
    place.page.keyboard.press("ArrowRight")
    named = "document.activeElement.ariaLabel"
    assert place.page.evaluate(named).startswith(
        "line of head 11.1 to the second “they”"
    )
    for key in "ArrowUp", "ArrowUp", "Enter":
        place.page.keyboard.press(key)
    assert cut(place) == ["10.8.8"]
    assert place.page.evaluate(named).startswith(
        "line of head 10.8 to the second “they”"
    )
    place.page.keyboard.press("Space")
    assert not cut(place)
    button(place, "Cut this one").press("Enter")
    focused = "document.activeElement.textContent"
    assert place.page.evaluate(focused) == "Undo"
    place.page.keyboard.press("Enter")
    assert place.page.evaluate(focused) == "Cut this one"
    button(place, "Cut the").press("Enter")
    assert "Cut: head 18.8" in place.inner_text()  # nothing was cut before
    place.page.keyboard.press("Shift+Tab")  # back into the picture
    assert place.page.evaluate(named).startswith("line of head ")
    assert not place.page.troubles


def test_a_hair_is_cut_where_it_is_pressed(place):
    """Where no line is drawn, the pointer finds one of the others."""
    shape = "wide" if place.page.viewport_size == WIDE else "tall"
    begin = cut_picture.middles(LANGUAGES["tokens"], shape)[5]
    at = place.evaluate(
        """(place, steps) => {
          const svg = [...place.querySelectorAll("svg")].find((svg) => svg.clientWidth);
          const path = document.createElementNS(svg.namespaceURI, "path");
          path.setAttribute("d", steps);
          const point = path.getPointAtLength(path.getTotalLength() * 0.93);
          const { x, y } = point.matrixTransform(svg.getScreenCTM());
          return [x, y];
        }""",
        cut_picture.curve(begin, 26, 4, shape),
    )
    place.page.mouse.click(*at)
    layer, head, key = map(int, cut(place)[0].split("."))
    assert layer == 26 and [layer, head, key] not in LANGUAGES["drawn"]
    expected = shares_of(LANGUAGES)[layer, head, key].max()
    assert answer(place)[1] == pytest.approx(expected)
    assert not place.page.troubles


def test_it_is_seen_without_scrolling_and_nothing_moves(place):
    page = place.page
    height = page.viewport_size["height"]
    for name in "Cut the", "Cut this one", *DATA:
        box = button(place, name).bounding_box()
        assert box["y"] + box["height"] < height
    for width in page.viewport_size["width"], 800:
        page.set_viewport_size({"width": width, "height": height})
        whole = place.bounding_box()["height"]
        for name in DATA:
            button(place, name).click()
            button(place, "Cut this one").click()
            moved = place.bounding_box()["height"] - whole
            assert abs(moved) < 1, (name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_accessible(place, accessible):
    button(place, "Cut the").click()
    accessible("cut-a-line")


def test_without_its_numbers_the_picture_stays(page):
    page.route("**/cut-a-line.json", lambda route: route.fulfill(status=503))
    page.goto("book/index.html", wait_until="networkidle")
    assert page.locator("cut-a-line svg[role=img]").first.is_visible()
    assert not [said for said in page.troubles if said.startswith("script")]
