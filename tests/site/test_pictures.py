"""The recorded pictures: what was measured, on demand, by keyboard, for everybody."""

import json
import random
import re
from pathlib import Path

import looks
import numpy as np
import publishing
import pytest
import recording
import smollm2
import torch
from PIL import Image
from shared import drawn, outputs
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "book/static"
BORN = json.loads((STATIC / "head-born.json").read_text("utf-8"))
CHAPTERS = {"head-born": "12-a-head-is-born", "one-token": "11-a-real-llm"}
PAGES = [(name, path) for name in CHAPTERS for path in (name, CHAPTERS[name])]
CASES = [(text, setting) for text in recording.TEXTS for setting in recording.SETTINGS]
NUMBERS = "loss", "lossCut", "oneBack", "induction", "inductionCut"


def steps_of(letters):
    """The weights of a recording, as numbers."""
    return np.array([ord(letter) - 35 for letter in letters]) / recording.LEVELS


def token_file(text, setting):
    name = STATIC / f"one-token/{text}-{setting}.json"
    return json.loads(name.read_text("utf-8"))


# ---------------------------------------------------------------- what was recorded


def test_the_trainings_are_those_of_the_chapter():
    """Its printed table of seed 1, and its losses with nothing and one head cut."""
    said = "".join(outputs(CHAPTERS["head-born"]))
    rows = re.findall(r"^ *(\d+)  (\d\.\d\d) +(\d\.\d\d) +(\d\.\d\d)$", said, re.M)
    assert len(rows) == 9
    numbers = BORN["trainings"][1]["numbers"]
    for step, loss, *_ in rows:
        assert abs(numbers[int(step) // BORN["every"]][0] - float(loss)) < 0.006
    cuts = re.findall(r"^seed (\d): +((?:\d\.\d\d *){5})$", said, re.M)[:3]
    for seed, row in cuts:
        training = BORN["trainings"][int(seed)]
        whole, *one_less = map(float, row.split())
        assert abs(training["numbers"][-1][0] - whole) < 0.011
        assert abs(training["numbers"][-1][1] - one_less[training["first"]]) < 0.011
    pairs = re.findall(r"seed (\d): induction ([\d.]+), with .* cut ([\d.]+)", said)
    for seed, *both in pairs:
        found = BORN["trainings"][int(seed)]["numbers"][-1][3:]
        assert np.allclose(found, [float(number) for number in both], atol=0.011)
    assert len(cuts) == len(pairs) == len(BORN["trainings"]) == 3


def test_the_maps_are_those_of_the_model_in_training():
    with recording.chapter_12() as names:
        training = BORN["trainings"][1]
        heads = training["first"], training["second"]
        copies = recording.trained(names, 1, steps=BORN["every"])
        model = names["AttentionOnly"]()
        tokens = torch.tensor([BORN["text"]])
        for place, copy in enumerate(copies):
            model.load_state_dict(copy)
            _, maps = model(tokens, return_weights=True)
            with names["cut"](model.layers[0], heads[0]):
                _, less = model(tokens, return_weights=True)
            shown = [maps[0, 0, heads[0]], maps[1, 0, heads[1]], less[1, 0, heads[1]]]
            n = len(BORN["text"])
            rows = [m[i, : i + 1].detach().numpy() for m in shown for i in range(n)]
            found = steps_of(training["maps"][place])
            assert np.allclose(found, np.concatenate(rows), atol=0.51 / 90)


@pytest.fixture(scope="module")
def tensors():
    return dict(smollm2.load_tensors())


@pytest.mark.parametrize("case", drawn(CASES), ids="-".join)
def test_a_token_was_followed_through_the_published_model(tensors, case, seed):
    """The lens after k layers is what a model of k layers says."""
    text, setting = case
    data = token_file(text, setting)
    layout, kind = recording.SETTINGS[setting]
    model, tokenizer = smollm2.load_model(tensors, layout), smollm2.load_tokenizer()
    ids = torch.tensor([tokenizer.encode(recording.TEXTS[text])])
    n = ids.shape[1]
    assert "".join(data["tokens"]) == recording.TEXTS[text]
    i, j = np.indices((n, n))
    allowed = {"sink": (j > 0) | (i < 4), "window": i - j < 8, None: i >= 0}[kind]
    mask = torch.from_numpy(allowed)

    sizes = []
    for layer in model.layers:
        layer.norm1.register_forward_hook(
            lambda module, given, made: sizes.append(given[0][0].norm(dim=-1).numpy())
        )
    logits, weights = model(ids, mask)
    expected = weights[:, 0].numpy()[:, :, *np.tril_indices(n)]
    assert np.allclose(steps_of(data["weights"]), expected.ravel(), atol=0.51 / 90)
    first, others = np.array(data["lengths"])
    assert np.allclose(first[:-1], [row[0] for row in sizes], atol=0.06, rtol=1e-4)
    lower = [np.sort(row[1:])[(n - 2) // 2] for row in sizes]
    assert np.allclose(others[:-1], lower, atol=0.06, rtol=1e-4)
    losses = functional.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="none")
    assert np.allclose(data["losses"], losses, atol=0.006)
    assert data["usual"] == token_file(text, "as-published")["losses"]

    layers = model.layers
    depth = random.Random(f"{seed} {text} {setting}").randint(1, len(layers))
    for stage in {1, depth, len(layers)}:
        model.layers = layers[:stage]
        chances = model(ids, mask)[0][0].softmax(dim=-1)
        shape = n, len(layers) + 1, recording.LIKELIEST
        words = np.array(data["words"])[np.reshape(data["likely"], shape)[:, stage]]
        shown = steps_of(data["chances"]).reshape(shape)[:, stage]
        best = chances.topk(recording.LIKELIEST)
        assert np.allclose(shown, best.values, atol=0.51 / 90)
        for query in range(n):
            assert words[query, 0] == tokenizer.decode([int(best.indices[query, 0])])


def test_recordings_are_small_and_there_is_one_for_every_choice():
    files = sorted(path.stem for path in (STATIC / "one-token").glob("*.json"))
    assert files == sorted(f"{text}-{setting}" for text, setting in CASES)
    assert (STATIC / "head-born.json").stat().st_size <= 60_000
    for path in (STATIC / "one-token").glob("*.json"):
        assert path.stat().st_size <= 200_000, path.name


# ---------------------------------------------------------------- what is shown


@pytest.mark.parametrize("seed_of_training, step", [(0, 0), (1, 600), (2, 1200)])
def test_a_moment_of_a_training(compute, seed_of_training, step):
    found = compute("head-born", "momentOf", BORN, seed_of_training, step)
    training = BORN["trainings"][seed_of_training]
    at, n = step // BORN["every"], len(BORN["text"])
    assert [found[name] for name in NUMBERS] == training["numbers"][at]
    expected = np.zeros((3, n, n))
    expected[:, *np.tril_indices(n)] = steps_of(training["maps"][at]).reshape(3, -1)
    for name, weights in zip(("first", "second", "secondCut"), expected, strict=True):
        assert np.allclose(found[name], weights)


@pytest.mark.parametrize(
    "query, layer, view", [(0, 0, "mean"), (7, 18, "6"), (12, 29, "mean")]
)
def test_weights_and_likely_words_of_a_token(compute, query, layer, view):
    data = token_file("animal", "window")
    n = len(data["tokens"])
    maps = np.zeros((30, 9, n, n))
    maps[:, :, *np.tril_indices(n)] = steps_of(data["weights"]).reshape(30, 9, -1)
    rows = maps[layer, :, query]
    expected = rows.mean(axis=0) if view == "mean" else rows[int(view)]
    assert np.allclose(
        compute("one-token", "lookAt", data, query, layer, view), expected
    )
    found = compute("one-token", "likelyAfter", data, query, layer)
    numbers = np.reshape(data["likely"], (n, 31, 5))[query, layer]
    assert [word for word, _ in found] == [data["words"][i] for i in numbers]
    shares = steps_of(data["chances"]).reshape(n, 31, 5)[query, layer]
    assert np.allclose([share for _, share in found], shares)
    first, others = data["lengths"]
    ratio = compute("one-token", "timesLonger", data, layer)
    assert np.isclose(ratio, first[layer] / others[layer])


def enliven(page, name, path, query=""):
    place = looks.enliven(page, f"{path}.html{query}", name, ".toy-words")
    page.wait_for_function(
        "name => document.querySelector(`${name} .toy-words`).textContent", arg=name
    )
    return place


def settle(place, change):
    """Do something, and wait for the sentence that follows."""
    words = place.locator(".toy-words")
    before = words.text_content()
    change()
    place.page.wait_for_function(
        "([name, before]) => "
        "document.querySelector(`${name} .toy-words`).textContent !== before",
        arg=[place.evaluate("place => place.localName"), before],
    )
    return words.text_content()


def test_cutting_the_first_head_blurs_the_second(page):
    place = enliven(page, "head-born", "head-born")
    step, cut = place.locator("[name=step]"), place.locator("[name=cut]")
    settle(place, lambda: step.press("End"))
    *_, (loss, loss_cut, back, copied, copied_cut) = BORN["trainings"][1]["numbers"]
    assert f"Step 1200: the head of layer 0 puts {back:.2f} of" in place.inner_text()
    said = settle(place, lambda: cut.press("Space"))
    assert f"{copied_cut:.2f} on the token to copy, not {copied:.2f}" in said
    assert f"the loss is {loss_cut:.2f} nats, not {loss:.2f}." in said
    assert copied_cut < copied / 3 and loss_cut > loss + 2
    assert place.locator(".born-maps i.gone").count() == len(BORN["text"]) ** 2
    assert not page.troubles


def test_the_training_plays_to_its_end(page):
    place = enliven(page, "head-born", "head-born", "?step=1100")
    place.get_by_role("button", name="Play").press("Enter")
    place.get_by_text("Step 1200:").wait_for()
    place.get_by_role("button", name="Play").wait_for()  # it stopped
    page.wait_for_url(re.compile("step=1200"))
    assert not page.troubles


def test_a_token_a_layer_and_a_change_can_be_chosen(page):
    place = enliven(page, "one-token", "one-token")
    data = token_file("capitals", "as-published")
    assert place.locator(".token-layers tbody tr").count() == 30
    token, layer = place.locator("[name=token]"), place.locator("[name=layer]")
    said = settle(place, lambda: token.press("ArrowLeft"))
    assert f"“{data['tokens'][-2].strip()}” looks at" in said
    said = settle(place, lambda: layer.press("Home"))
    assert said.startswith("Layer 0, mean of nine")
    settle(place, lambda: place.locator("[data-layer='12'] th").click())
    assert layer.input_value() == "12"
    settle(place, lambda: place.locator("[data-token='3']").click())
    assert token.input_value() == "3"
    view = place.locator("[name=view]")
    assert "head 4" in settle(place, lambda: view.select_option("4"))
    change = place.locator("[name=change]")
    settle(place, lambda: change.select_option("no-sink"))
    lost = np.mean(token_file("capitals", "no-sink")["losses"])
    mean = place.get_by_role("row", name=re.compile("^all, mean"))
    assert f"{lost:.2f}" in mean.inner_text()
    text = place.locator("[name=text]")
    assert "tired" not in place.locator(".token-strip").inner_text()
    settle(place, lambda: text.select_option("animal"))
    assert "too tired" in place.locator(".token-strip").inner_text()
    assert not page.troubles


@pytest.mark.parametrize(
    "name, query, knobs",
    [
        ("head-born", "seed=2&step=400&cut=1", {"seed": "2", "step": "400"}),
        (
            "one-token",
            "text=animal&change=halves&token=5&layer=7&view=3",
            {"text": "animal", "change": "halves", "token": "5", "layer": "7"},
        ),
    ],
)
def test_a_link_leads_to_the_same_picture(page, name, query, knobs):
    place = enliven(page, name, name, f"?{query}")
    for knob, value in knobs.items():
        assert place.locator(f"[name={knob}]").input_value() == value
    first = place.locator("input[type=range]").first
    said = settle(place, lambda: first.press("ArrowRight"))
    wanted = int(knobs[first.get_attribute("name")]) + int(first.get_attribute("step"))
    page.wait_for_url(re.compile(rf"{first.get_attribute('name')}={wanted}\b"))
    page.reload()
    place.scroll_into_view_if_needed()
    place.get_by_text(said).wait_for()
    assert not page.troubles


WIDTHS = [(*shown, width) for shown in PAGES for width in ("1280", "375")]


@pytest.mark.parametrize("shown", drawn(WIDTHS), ids="-".join)
def test_a_picture_is_accessible_fits_a_phone_and_moves_no_text(
    page, accessible, shown
):
    name, path, width = shown
    place = enliven(page, name, path)
    page.add_style_tag(content=looks.STILL)
    page.set_viewport_size({"width": int(width), "height": 900})
    settle(place, lambda: place.locator("input[type=range]").first.press("Home"))
    height = place.bounding_box()["height"]
    for knob in place.locator("input[type=range]").all():
        for key in "Home", "End":
            knob.press(key)
            page.wait_for_timeout(60)
            assert place.bounding_box()["height"] == height
    for knob in place.locator("select:visible").all():
        for option in knob.locator("option").all():
            knob.select_option(option.get_attribute("value"))
            page.wait_for_timeout(100)
            assert place.bounding_box()["height"] == height, knob
    assert page.evaluate("document.documentElement.scrollWidth") <= int(width)
    accessible(name)
    assert not page.troubles


@pytest.mark.parametrize("shown", drawn(PAGES, 2), ids="-".join)
def test_a_recording_is_loaded_when_a_reader_comes_near(page, asked, shown):
    name, path = shown
    page.set_viewport_size({"width": 1280, "height": 300})
    page.goto(f"book/{path}.html", wait_until="networkidle")
    if path not in (name, "12-a-head-is-born"):  # where it stands first, it is near
        assert not [url for url in asked if url.endswith(".json")]
    page.goto("404.html")  # the page before asks for nothing more
    asked.clear()
    enliven(page, name, path)
    assert len([url for url in asked if url.endswith(".json")]) == 1


@pytest.mark.parametrize("name", publishing.PICTURES)
def test_a_picture_has_a_page_a_preview_and_a_link_from_the_index(site, name):
    index = (site.folder / "book/index.html").read_text("utf-8")
    assert f'href="{name}.html"' in index.partition("<article")[2]
    html = (site.folder / f"book/{name}.html").read_text("utf-8")
    assert '<meta property="og:title"' in html
    path = ROOT / f"book/images/{name}.png"
    assert Image.open(path).size == (1200, 630)
    assert path.stat().st_size < 80_000
