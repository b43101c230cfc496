"""The encoder in the page: PyTorch's numbers, and a sentence of the reader's own."""

import base64
import re
from importlib.util import find_spec

import encoder_file
import minilm
import numpy as np
import pytest
from looks import enliven, sentences
from shared import drawn

pytestmark = pytest.mark.skipif(
    find_spec(encoder_file.PACKAGE) is None, reason="MiniLM is not installed"
)
PATIENCE = 120_000  # milliseconds, for 21 MB on a busy machine
CHAPTER = "07-reading-attention.html"
ODD = "Unbelievably, the café's naïve tokenization of 3.14 isn't worrisome! ☃"


@pytest.fixture(scope="module")
def published():
    return minilm.load_encoder(), minilm.load_vocabulary()


COMPUTE = """async ([file, texts]) => {
    const { read, tokenize, weightsOf } = await import("/_static/encoder.js");
    const { body } = await fetch(file);
    const plain = body.pipeThrough(new DecompressionStream("gzip"));
    const model = read(await new Response(plain).arrayBuffer());
    return Promise.all(texts.map(async (text) => {
      const tokens = tokenize(text, model);
      const weights = new Uint8Array((await weightsOf(model, tokens)).buffer);
      let letters = "";
      for (const byte of weights) letters += String.fromCharCode(byte);
      return [tokens, btoa(letters)];
    }));
}"""


SHARES = 8  # of two hundred sentences; the odd one is in each


@pytest.mark.parametrize("share", drawn(range(SHARES)))
def test_the_weights_of_a_sentence_are_those_of_torch(empty, published, share):
    encoder, vocabulary = published
    texts = sentences(ODD, 200, 50)
    assert len(set(texts)) == 200
    texts = [ODD, *texts[1 + share :: SHARES]]
    file = f"/_static/{encoder_file.name_of_file()}"
    for text, (tokens, letters) in zip(
        texts, empty.evaluate(COMPUTE, [file, texts]), strict=True
    ):
        assert tokens == minilm.tokenize(text, vocabulary)
        _, expected = encoder(minilm.as_ids([tokens], vocabulary))
        found = np.frombuffer(base64.b64decode(letters), np.float32)
        expected = expected[:, 0].numpy()
        assert np.abs(found.reshape(expected.shape) - expected).max() < 0.02, text


def test_the_file_is_small_enough_to_ask_for():
    assert encoder_file.made().stat().st_size < 21.5e6  # the button says 21 MB


def test_whole_numbers_times_steps_are_nearly_the_matrix():
    matrix = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    matrix[1, 3] = 50  # one far out costs the rest of its row nothing
    whole, steps = encoder_file.multiples(matrix, 0.01)
    assert np.abs(whole).max() <= encoder_file.LARGEST
    off = np.abs(whole * steps[:, None] - matrix).max(axis=1)
    size = np.sqrt((matrix**2).mean(axis=1))
    assert np.all(off <= 0.0051 * size)


def viewer_on(page):
    return enliven(page, CHAPTER, "head-viewer", ".weights-readout")


def strongest(published, text, layer, head, query):
    """What the viewer must say of a row, as "cat 0.50"."""
    encoder, vocabulary = published
    tokens = minilm.tokenize(text, vocabulary)
    _, weights = encoder(minilm.as_ids([tokens], vocabulary))
    row = weights[layer, 0, head, tokens.index(query)]
    return tokens[int(row.argmax())], row.max().item()


def said(viewer):
    """The first token of the row that is read out, and its weight."""
    text = viewer.locator(".weights-readout").text_content()
    token, weight = re.search(r"Row “.+?”: (\S+) ([\d.]+)", text).groups()
    return token, float(weight)


def test_a_reader_types_a_sentence_and_sees_its_weights(
    page, asked, published, accessible
):
    viewer = viewer_on(page)
    assert not [url for url in asked if "/minilm" in url or "/encoder" in url]
    viewer.get_by_role("button", name="A sentence of your own").click()
    own = viewer.get_by_label("Your sentence", exact=True)
    own.wait_for(timeout=PATIENCE)
    assert any(url.endswith(encoder_file.name_of_file()) for url in asked)
    text = "The dog saw the bone because it was hungry."
    own.fill(text)
    note = viewer.locator(".lab-note")
    note.get_by_text("12 word pieces").wait_for(timeout=PATIENCE)
    token, weight = strongest(published, text, 3, 1, "it")
    assert said(viewer)[0] == token and abs(said(viewer)[1] - weight) < 0.025
    viewer.locator('input[name="head"]').fill("4")
    token, weight = strongest(published, text, 3, 4, "it")
    assert said(viewer)[0] == token and abs(said(viewer)[1] - weight) < 0.025
    # a prepared sentence, and back
    viewer.locator("select").select_option("0")
    assert "tired" in viewer.locator("thead").text_content()
    viewer.locator("select").select_option("own")
    assert "hungry" in viewer.locator("thead").text_content()
    own.fill("no " * 60)
    note.get_by_text("The last 22 are left out.").wait_for(timeout=PATIENCE)
    own.fill("")
    note.get_by_text("2 word pieces").wait_for(timeout=PATIENCE)
    page.set_viewport_size({"width": 375, "height": 800})
    accessible("head-viewer")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert not page.troubles


def test_a_link_to_a_sentence_of_one_s_own_waits_for_a_press(page):
    page.goto(f"book/{CHAPTER}?own=The+dog+saw+it.&layer=2&head=4&row=1&key=2")
    viewer = page.locator("head-viewer")
    viewer.scroll_into_view_if_needed()
    viewer.get_by_text("The link is to “The dog saw it.”").wait_for()
    viewer.get_by_role("button", name="A sentence of your own").click()
    own = viewer.get_by_label("Your sentence", exact=True)
    own.wait_for(timeout=PATIENCE)
    assert own.input_value() == "The dog saw it."
    readout = viewer.locator(".weights-readout").text_content()
    assert readout.startswith("Row “the”") and "“the” on “dog”" in readout
    assert not page.troubles


@pytest.mark.parametrize("elsewhere", drawn(["in a field", "up on the page"]))
def test_what_cannot_be_had_is_said_and_what_comes_late_takes_no_focus(page, elsewhere):
    viewer = viewer_on(page)
    file = f"**/{encoder_file.name_of_file()}"
    page.route(file, lambda route: route.fulfill(status=503))
    button = viewer.get_by_role("button", name="A sentence of your own")
    button.click()
    note = viewer.locator(".lab-note")
    note.get_by_text("cannot be used: the site answered 503").wait_for()
    assert "503" in "".join(page.troubles)
    page.unroute(file)
    held = []
    page.route(file, lambda route: held.append(route))
    with page.expect_request(file):
        button.click()
    while not held:
        page.wait_for_timeout(20)
    if elsewhere == "in a field":
        viewer.locator('input[name="head"]').focus()
    else:
        page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    held[0].continue_()
    own = viewer.get_by_label("Your sentence", exact=True)
    own.wait_for(timeout=PATIENCE)
    assert not own.evaluate("field => field === document.activeElement")


def test_the_service_worker_keeps_the_encoder(kept_page):
    page = kept_page
    viewer = viewer_on(page)
    button = viewer.get_by_role("button", name="A sentence of your own")
    button.click()
    viewer.get_by_label("Your sentence", exact=True).wait_for(timeout=PATIENCE)
    page.reload()  # now the worker serves the page, whatever it did in time before
    page.wait_for_function("navigator.serviceWorker.controller")
    viewer_on(page)
    button.click()
    viewer.get_by_label("Your sentence", exact=True).wait_for(timeout=PATIENCE)
    kept = "async () => (await caches.match(FILE)) !== undefined"
    name = encoder_file.name_of_file()
    page.wait_for_function(kept.replace("FILE", f'"/_static/{name}"'))
    page.context.set_offline(True)
    viewer_on(page)
    button.click()
    viewer.get_by_label("Your sentence", exact=True).wait_for(timeout=PATIENCE)
