"""The decoder in the page: PyTorch's numbers, and a sentence of the reader's own."""

import base64
import re
from importlib.util import find_spec
from pathlib import Path

import decoder_file
import numpy as np
import pytest
import recording
import smollm2
import torch
from looks import enliven, sentences
from shared import drawn

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    find_spec(decoder_file.PACKAGE) is None, reason="SmolLM2 is not installed"
)
PATIENCE = 120_000  # milliseconds, for 20 MB on a busy machine
CHANGES = list(recording.SETTINGS)
ODD = "The café isn't  naïve: 3.14_a ☃ <|im_start|>user\n\n \tx² 水"
OWN = "The dog saw the bone because it was hungry."
SHARES = 10  # of fifty sentences; the odd one is in each


@pytest.fixture(scope="module")
def published():
    """The first layers as torch computes them, with the published numbers."""
    model = smollm2.load_model()
    model.layers = model.layers[: decoder_file.LAYERS]
    return model, smollm2.load_tokenizer()


COMPUTE = """async ([folder, cases]) => {
    const { follow, read, rowsOf, tokenize } = await import("/_static/decoder.js");
    const { unpacked } = await import("/_static/unpacking.js");
    const get = (name) => unpacked(`/_static/${folder}/${name}.bin`);
    const model = read(await get("layers"));
    const parts = new Map();
    const answers = [];
    for (const [text, change, line] of cases) {
      const ids = tokenize(text, model).slice(0, model.longest);
      for (const part of new Set(ids.map((id) => Math.floor(id / model.rows))))
        parts.set(part, new Uint8Array(await get(`words-${part}`)));
      const all = rowsOf(model, ids, parts);
      const { weights, lengths } = follow(model, all, change, line);
      const bytes = [...new Uint8Array(weights.buffer)];
      const letters = bytes.map((byte) => String.fromCharCode(byte)).join("");
      answers.push([ids, btoa(letters), lengths]);
    }
    return answers;
}"""


@pytest.mark.parametrize("share", drawn(range(SHARES), 1))
def test_what_the_tokens_of_a_sentence_look_at_is_what_torch_says(
    empty, published, share
):
    """The published numbers on both sides; each change of the page is used."""
    model, tokenizer = published
    texts = sentences(ODD, 50, 120)
    assert len(set(texts)) == 50
    texts = [ODD, *texts[1 + share :: SHARES]]
    cases = [(text, CHANGES[i % len(CHANGES)]) for i, text in enumerate(texts)]
    answers = empty.evaluate(COMPUTE, [decoder_file.name_of_folder(), cases])
    for (text, change), (ids, letters, lengths) in zip(cases, answers, strict=True):
        assert ids == tokenizer.encode(text)[: decoder_file.LONGEST]
        stream, expected = recording.follow(model, torch.tensor(ids), change)
        found = np.frombuffer(base64.b64decode(letters), np.float32)
        difference = np.abs(found.reshape(expected.shape) - expected.numpy())
        assert difference.max() < 1e-4, (text, change)
        assert np.allclose(lengths, recording.lengths(stream), atol=0.06, rtol=1e-4)


@torch.no_grad()
def without(model, ids, line):
    """The stream after the last layer, and the weights, with a line cut, if any."""
    x, maps = model.words(ids[None]), []
    for index, each in enumerate(model.layers):
        mask = torch.ones(9, len(ids), len(ids), dtype=torch.bool)
        if line and index == line[0]:
            mask[tuple(line[1:])] = False  # head, query, key
        attended, weights = each.self_attn(each.norm1(x), mask)
        x = x + attended
        x = x + each.ffn(each.norm2(x))
        maps.append(weights[0])
    return x[0], torch.stack(maps)


def test_a_line_is_cut_as_torch_cuts_it(empty, published):
    model, _ = published
    cases = [(OWN, "as-published", [2, 4, 9, 1]), (OWN, "as-published", [6, 8, 5, 5])]
    answers = empty.evaluate(COMPUTE, [decoder_file.name_of_folder(), cases])
    for (_, _, line), (ids, letters, _) in zip(cases, answers, strict=True):
        _, expected = without(model, torch.tensor(ids), line)
        found = np.frombuffer(base64.b64decode(letters), np.float32)
        assert found.reshape(expected.shape)[*line] == 0
        assert np.allclose(found.reshape(expected.shape), expected, atol=1e-4)


def test_a_reader_cuts_a_line_of_a_sentence_and_puts_it_back(page, published):
    model, tokenizer = published
    place = picture_on(page, query="?view=4&layer=2")
    read(place, OWN)
    place.locator("[name=layer]").fill("2")
    place.locator("[name=view]").select_option("mean")
    lines = place.locator("[name=line]")
    assert lines.is_disabled()
    place.locator("[name=view]").select_option("4")
    before = place.locator(".token-layers").inner_html()
    ids = torch.tensor(tokenizer.encode(OWN))
    stream, weights = recording.follow(model, ids, "as-published")
    key = int(weights[2, 4, -1].argmax())
    lines.select_option(str(key))
    note = place.locator(".lab-note")
    note.get_by_text("has moved by").wait_for(timeout=PATIENCE)
    line = [2, 4, len(ids) - 1, key]
    old, new = stream[-1][-1], without(model, ids, line)[0][-1]
    moved = float((new - old).norm() / old.norm())
    word = tokenizer.decode([int(ids[key])]).strip()
    expected = f"from “.” to “{word}”, weight {weights[*line]:.2f}. After layer 7, "
    assert f"{expected}the vector of “.” has moved by {moved:.2f}" in note.inner_text()
    assert place.locator(".token-layers").inner_html() != before
    place.get_by_role("button", name="Put it back").click()
    page.wait_for_function(
        "b => document.querySelector('.token-layers').outerHTML.includes(b)",
        arg=before,
    )
    # a change that fails leaves the sentence as it is drawn
    place.evaluate("e => (e.computed = () => Promise.reject(new Error('No.')))")
    change = place.locator("[name=change]")
    change.select_option("window")
    note.get_by_text("No.").wait_for()
    assert change.input_value() == "as-published"
    assert not page.troubles


def test_words_become_the_published_tokens_in_the_page(empty, published):
    """Half of a book, signs in a row, and letters that are several tokens."""
    text = (ROOT / "book/data/alice.txt").read_text(encoding="utf-8")
    signs = "  '' \n\n\n \u00a0x 1234 don't DON'T __init__(self)… ½ ² e\u0301"
    texts = [text[:60_000], ODD, signs]
    run = """async ([folder, texts]) => {
        const { read, tokenize, wordOf } = await import("/_static/decoder.js");
        const { unpacked } = await import("/_static/unpacking.js");
        const model = read(await unpacked(`/_static/${folder}/layers.bin`));
        const all = texts.map((text) => tokenize(text, model));
        return [all, all[1].map((id) => wordOf(id, model))];
    }"""
    found, words = empty.evaluate(run, [decoder_file.name_of_folder(), texts])
    _, tokenizer = published
    assert found == [tokenizer.encode(text) for text in texts]
    assert words == [tokenizer.decode([i]) for i in found[1]]


def test_a_sentence_asks_for_about_twenty_megabytes(published):
    folder = decoder_file.made()
    layers = (folder / "layers.bin").stat().st_size
    _, tokenizer = published
    for text in sentences(ODD, 50, 120)[1:]:
        parts = {number // decoder_file.ROWS for number in tokenizer.encode(text)}
        files = [folder / f"words-{part}.bin" for part in parts]
        assert layers + sum(path.stat().st_size for path in files) < 24e6, text
    script = (ROOT / "book/static/one-token.js").read_text("utf-8")
    asked = re.search(r"loads (\d+) MB", script)
    assert 1 < int(asked[1]) - layers / 1e6 < 4


def picture_on(page, path="one-token", query=""):
    return enliven(page, f"{path}.html{query}", "one-token", ".token-layers")


# the picture begins at the top of the screen, below the header
IN_VIEW = """() => {
    const { top } = document.querySelector(".token-strip").getBoundingClientRect();
    return top > 0 && top < innerHeight / 3;
}"""


def looks_at(published, text, change, layer):
    """What the picture must say of the last token: the key with most weight."""
    model, tokenizer = published
    ids = tokenizer.encode(text)
    _, weights = recording.follow(model, torch.tensor(ids), change)
    row = weights[layer, :, -1].mean(dim=0)
    return tokenizer.decode([ids[int(row.argmax())]]).strip(), row.max().item()


def said(place):
    words = place.locator(".toy-words").text_content()
    token, weight = re.search(r"looks at “(.+?)”.*? ([\d.]+)[,.]", words).groups()
    return token, float(weight)


def read(place, text):
    own = place.get_by_label("A sentence of your own")
    own.fill(text)
    own.press("Enter")
    count = len(smollm2.load_tokenizer().encode(text))
    place.locator(".lab-note").get_by_text(f"{count} tokens").wait_for(timeout=PATIENCE)


def test_a_reader_types_a_sentence_and_follows_its_tokens(
    page, asked, published, accessible
):
    place = picture_on(page)
    assert not [url for url in asked if "smollm2" in url or "decoder" in url]
    read(place, OWN)
    page.wait_for_function(IN_VIEW)
    height = place.bounding_box()["height"]
    end = place.locator(".own-cut").bounding_box()
    top = place.bounding_box()["y"]
    assert top + height - end["y"] - end["height"] < 20  # no hole
    assert place.locator("[name=text]").input_value() == "own"
    assert place.locator(".token-layers tbody tr").count() == decoder_file.LAYERS
    assert place.locator("[name=layer]").get_attribute("max") == "7"
    word, weight = looks_at(published, OWN, "as-published", 7)
    assert said(place)[0] == word and abs(said(place)[1] - weight) < 0.011
    assert "decided in layers that are not computed here" in place.inner_text()
    assert "In each of the first 8 of 30 layers" in place.inner_text()
    page.wait_for_url(re.compile(r"own=The\+dog"))
    # a change is computed as well, with nothing more to load
    asked.clear()
    before = place.locator(".toy-words").text_content()
    place.locator("[name=change]").select_option("window")
    page.wait_for_function(
        "b => document.querySelector('one-token .toy-words').textContent !== b",
        arg=before,
        timeout=PATIENCE,
    )
    word, weight = looks_at(published, OWN, "window", 7)
    assert said(place)[0] == word and abs(said(place)[1] - weight) < 0.011
    assert not [url for url in asked if "smollm2" in url]
    assert place.bounding_box()["height"] == height
    # a recorded text, and back
    place.locator("[name=text]").select_option("animal")
    place.get_by_text("likeliest after layer").wait_for()
    assert place.locator(".token-layers tbody tr").count() == 30
    place.locator("[name=text]").select_option("own")
    place.get_by_text("are not computed here").wait_for()
    for width, scheme in (1280, "light"), (375, "dark"):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        accessible("one-token", schemes=[scheme])
    assert not page.troubles


def test_more_tokens_than_forty_are_left_out_and_none_are_no_sentence(page):
    place = picture_on(page)
    own = place.get_by_label("A sentence of your own")
    own.fill("")
    own.press("Enter")  # the field says that it is needed
    assert place.locator(".lab-note").text_content() == ""
    own.fill("no" + " no" * 50)
    own.press("Enter")
    note = place.locator(".lab-note")
    note.get_by_text(re.compile("^40 tokens.* The last 11 are left out")).wait_for(
        timeout=PATIENCE
    )
    own.fill("\u0004")
    own.press("Enter")
    note.get_by_text("This did not work: there is no token in it.").wait_for()
    assert place.locator(".token-strip span").count() == 40
    assert not page.troubles


@pytest.mark.parametrize("width", drawn([1280, 375]))
def test_loading_can_be_stopped_and_begun_again(page, width):
    page.set_viewport_size({"width": width, "height": 667})
    held = []
    file = "**/layers.bin"
    page.route(file, lambda route: held.append(route))  # never answered
    place = picture_on(page)
    go = place.get_by_role("button", name="Read it")
    assert "20 MB" in go.text_content()
    height = place.bounding_box()["height"]
    go.click()
    stop = place.get_by_role("button", name="Stop")
    stop.wait_for()
    assert place.bounding_box()["height"] == height
    assert place.get_by_role("progressbar").is_visible()
    place.locator("[name=layer]").press("Home")  # the recorded picture still moves
    place.get_by_text("Layer 0, mean of nine").wait_for()
    stop.press("Enter")
    place.locator(".lab-note").get_by_text("Stopped.").wait_for()
    assert not stop.is_visible() and not place.get_by_role("progressbar").is_visible()
    assert place.locator("[name=text]").input_value() == "capitals"
    page.unroute(file)
    go.click()
    place.get_by_text("computed on this device").wait_for(timeout=PATIENCE)


LOST = "layers.bin", "words-*.bin", "decoder-worker.js", "hired.js"


@pytest.mark.parametrize("lost", drawn(LOST))
def test_a_file_of_the_decoder_that_cannot_be_had_is_said_and_tried_again(page, lost):
    place = picture_on(page)
    page.route(f"**/{lost}", lambda route: route.fulfill(status=503))
    place.get_by_label("A sentence of your own").fill("the")
    go = place.get_by_role("button", name="Read it")
    go.click()
    code = lost.endswith("js")
    reason = "its worker could not be loaded" if code else "the site answered 503"
    note = place.locator(".lab-note")
    note.get_by_text(f"This did not work: {reason}. Try again.").wait_for(
        timeout=PATIENCE
    )
    page.unroute(f"**/{lost}")
    go.click()
    place.get_by_text("computed on this device").wait_for(timeout=PATIENCE)


def test_a_link_to_a_sentence_that_was_typed_waits_for_a_press(page, asked):
    place = picture_on(page, query="?own=The+dog+saw+it.&change=window")
    place.get_by_text("The link is to this sentence, which is not read yet.").wait_for()
    assert not [url for url in asked if "smollm2" in url]
    place.get_by_role("button", name="Read it").click()
    place.get_by_text("5 tokens, computed on this device").wait_for(timeout=PATIENCE)
    assert "dog" in place.locator(".token-strip").text_content()
    assert place.locator("[name=change]").input_value() == "window"


def test_a_site_without_the_decoder_says_so(page):
    def without(route):
        answer = route.fetch()
        body = re.sub(r' decoder="[^"]*"', "", answer.text())
        route.fulfill(response=answer, body=body)

    page.route("**/one-token.html", without)
    place = picture_on(page)
    assert "built without the model" in place.locator(".lab-note").text_content()
    assert not place.get_by_role("button", name="Read it").is_visible()
    assert not page.troubles
