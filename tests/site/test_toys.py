"""The toys of the chapters: before the middle, with NumPy's numbers, for everybody."""

import re
from pathlib import Path

import looks
import numpy as np
import publishing
import pytest
import torch
from attention import positional_encoding, softmax
from shared import drawn

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.stem for path in (ROOT / "book/text").glob("[01]*.md"))
TOYS = {
    toy: chapter
    for chapter in CHAPTERS
    for toy in publishing.TOYS
    if f"<{toy}>" in (ROOT / f"book/text/{chapter}.md").read_text("utf-8")
}
LARGER = ["attention-start", "attention-lab", "head-viewer"]
PLAYED = ", ".join([*LARGER, *publishing.PICTURES, *publishing.TOYS])


def test_every_toy_has_its_chapter():
    assert sorted(TOYS) == sorted(publishing.TOYS)


WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 375, "height": 800}
BOTTOM = "element => element.getBoundingClientRect().bottom + scrollY"


@pytest.mark.parametrize("chapter", drawn(CHAPTERS, 4))
def test_a_chapter_has_something_to_play_with_before_its_middle(page, chapter):
    page.set_viewport_size(WIDE)
    page.goto(f"book/{chapter}.html")
    height = page.evaluate("document.querySelector('.bd-article').scrollHeight")
    assert page.locator(PLAYED).first.evaluate(BOTTOM) < height / 2


def enliven(page, toy):
    return looks.enliven(page, f"{TOYS[toy]}.html", toy, ".toy-words")


def turn(page, place):
    """Move every knob to its ends; yield after each move, with the knob's name."""
    for knob in place.locator(":is(input, select)").all():
        name, kind = knob.get_attribute("name"), knob.get_attribute("type")
        options = knob.locator("option").all()
        for option in options:
            knob.select_option(option.get_attribute("value"))
            yield name
        for key in {"range": ["Home", "ArrowRight", "End"]}.get(kind, ["Space"] * 2):
            if not options:
                knob.press(key)
                yield name


STICKS_OUT = """toy => [...toy.querySelectorAll("*")].filter(part =>
    part.getBoundingClientRect().right > toy.getBoundingClientRect().right + 1
).map(part => part.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("size", drawn([WIDE, NARROW]), ids=lambda s: str(s["width"]))
@pytest.mark.parametrize("toy", drawn(sorted(TOYS), 5))
def test_every_knob_of_a_toy_works(page, toy, size):
    place = enliven(page, toy)
    picture, seen = place.locator(".toy-picture"), {}
    page.add_style_tag(content=looks.STILL)
    page.set_viewport_size(size)
    height = place.bounding_box()["height"]
    for name in turn(page, place):
        shown = picture.inner_html()
        assert "NaN" not in shown and "undefined" not in place.inner_html()
        seen.setdefault(name, set()).add(shown + place.text_content())
        # the text below stays where it is; more heads need more maps
        assert name == "heads" or place.bounding_box()["height"] == height, name
        height = place.bounding_box()["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert place.evaluate(STICKS_OUT) == []
    assert all(len(shown) > 1 for shown in seen.values()), seen.keys()
    for knob in place.locator("input[type=range]").all():
        assert knob.get_attribute("aria-valuetext")
    assert not page.troubles


LOOKS = [f"{toy} {scheme}" for toy in sorted(TOYS) for scheme in ("light", "dark")]


@pytest.mark.parametrize("look", drawn(LOOKS, 2))
def test_a_toy_is_accessible(page, look, accessible):
    toy, scheme = look.split()
    place = enliven(page, toy)
    page.set_viewport_size(NARROW)
    for _ in turn(page, place):
        pass
    accessible(toy, schemes=[scheme])
    assert not page.troubles


def test_numbers_have_a_real_minus_sign_and_no_zero_has_one(compute):
    told = [compute("toy", "told", number) for number in (-1.5, 1.5, -0.001)]
    assert told == ["\N{MINUS SIGN}1.50", "1.50", "0.00"]


@pytest.mark.parametrize("d_k", [1, 64, 1024])
def test_scores_and_weights_of_a_width(compute, d_k):
    divisors = {"none": 1, "root": np.sqrt(d_k), "width": d_k}
    at_one = np.array(compute("score-scale", "weightsAt", 1, "none")["scores"])
    assert abs(at_one.var() - 1) < 0.2  # as if drawn with variance 1
    for name, divisor in divisors.items():
        found = compute("score-scale", "weightsAt", d_k, name)
        scores = at_one * np.sqrt(d_k) / divisor
        assert np.allclose(found["scores"], scores)
        assert np.allclose(found["weights"], softmax(scores))


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_the_map_of_each_head(compute, heads):
    Q, K = np.random.default_rng(0).normal(size=(2, 4, 8))
    found = compute("head-split", "mapsOf", Q.tolist(), K.tolist(), heads)
    q, k = (x.reshape(4, heads, -1).swapaxes(0, 1) for x in (Q, K))
    expected = softmax(q @ k.swapaxes(1, 2) / np.sqrt(8 / heads))
    assert np.allclose(found, expected)


def test_two_positions_and_their_dot_product(compute):
    table = positional_encoding(201, 8)
    for p, k in [(0, 0), (1, 1), (100, 100), (7, 44)]:
        found = compute("position-hands", "pairAt", p, k)
        assert np.allclose(found["here"], table[p])
        assert np.allclose(found["there"], table[p + k])
        assert np.isclose(found["product"], table[p] @ table[p + k])


def climbed(x, layers, residual, norm):
    """The stack in NumPy: length and mean cosine before and after each layer."""

    def normalize(x):
        middle = x.mean(1, keepdims=True)
        return (x - middle) / np.sqrt(x.var(1, keepdims=True) + 1e-5)

    def attend(x, layer):
        q, k, v = (x @ layer[name] for name in ("W_q", "W_k", "W_v"))
        return softmax(q @ k.T / np.sqrt(q.shape[1])) @ v @ layer["W_o"]

    def think(x, layer):
        return np.maximum(0, x @ layer["W_1"]) @ layer["W_2"]

    def measure(x):
        size = np.linalg.norm(x, axis=1)
        unit = x / size[:, None]
        return size.mean(), (unit @ unit.T).mean()

    found = [measure(x)]
    for layer in layers:
        for part in attend, think:
            made = part(normalize(x) if norm == "before" else x, layer)
            x = x + made if residual else made
            x = normalize(x) if norm == "after" else x
        found.append(measure(x))
    return np.array(found)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("norm", ["none", "after", "before"])
def test_lengths_and_likeness_in_a_stack(compute, residual, norm):
    rng = np.random.default_rng(0)
    shapes = dict.fromkeys(("W_q", "W_k", "W_v", "W_o"), (8, 8))
    shapes |= {"W_1": (8, 32), "W_2": (32, 8)}
    layers = [
        {name: rng.normal(size=s) / np.sqrt(s[0]) for name, s in shapes.items()}
        for _ in range(4)
    ]
    x = rng.normal(size=(5, 8))
    given = [{name: w.tolist() for name, w in layer.items()} for layer in layers]
    settings = {"residual": residual, "norm": norm}
    found = compute("layer-stack", "climb", x.tolist(), given, settings)
    found = np.array([[row["size"], row["alike"]] for row in found])
    assert np.allclose(found, climbed(x, layers, residual, norm))


@pytest.mark.parametrize("shape", ["random", "diagonal", "focused", "local"])
def test_weights_of_a_shape(compute, shape):
    i, j = np.indices((6, 6))
    scores = {
        "random": (7 * i * i + 5 * j + 3 * i * j) % 11 / 5 - 1,
        "diagonal": i == j,
        "focused": j == 1,
        "local": -np.abs(i - j),
    }[shape]
    for strength in (0, 0.1, 4):
        found = compute("map-scale", "weightsOf", shape, strength)
        assert np.allclose(found, softmax(strength * scores))


def test_operations_and_bytes_of_a_layer(compute):
    found = compute("cost-counter", "costOf", 512, 768, 12)
    assert found["core"] == 2 * 2 * 512 * 768 * 512
    assert found["projections"] == 4 * 2 * 512 * 768 * 768
    assert found["ffn"] == 2 * 2 * 512 * 768 * 4 * 768
    assert found["bytes"] == np.zeros((12, 512, 512), np.float32).nbytes
    for value, words in [(12, "12 "), (12_582_912, "12.6 M"), (3e15, "3 P")]:
        assert compute("cost-counter", "short", value) == words


def test_the_price_of_a_guess(compute):
    p, s = 0.9, 0.3
    guess = np.array([p, *[(1 - p) / 64] * 64])
    truth = np.array([s, *[(1 - s) / 64] * 64])
    found = compute("guess-price", "lossOf", p, s)
    assert np.isclose(found, -(truth * np.log(guess)).sum())
    prices = [compute("guess-price", "lossOf", q, s) for q in (0.2, 0.3, 0.4)]
    assert np.argmin(prices) == 1


def test_scores_and_keys_with_and_without_a_cache(compute):
    lower = np.tri(12)
    for t in (1, 5, 12):
        again = {"scores": sum(lower[:s].sum() for s in range(1, t + 1))}
        again["keys"] = sum(range(1, t + 1))
        assert compute("cache-steps", "countsOf", t, False) == again
        once = {"scores": lower[:t].sum(), "keys": t}
        assert compute("cache-steps", "countsOf", t, True) == once


def test_the_two_norms_of_four_numbers(compute):
    x = torch.tensor([3.0, -4.0, 1.0, 0.5], dtype=torch.double)
    expected = torch.nn.functional.layer_norm(x, (4,))
    assert np.allclose(compute("norm-compare", "layerNorm", x.tolist()), expected)
    expected = torch.nn.functional.rms_norm(x, (4,), eps=1e-5)
    found = compute("norm-compare", "rmsNorm", x.tolist())
    assert np.allclose(found, expected)
    assert np.isclose(compute("norm-compare", "cosine", x.tolist(), found), 1)


def test_shares_and_sizes_of_seven_memories(empty):
    """Shares as chapter 13 prints them; sizes of what each layer would keep."""
    run = """async (lengths) => {
        const toy = await import("/_static/pairs-kept.js");
        return [toy.SHARES, lengths.map(toy.keptBy)];
    }"""
    lengths, d = [4, 8, 16, 32, 64], 32
    shares, kept = empty.evaluate(run, lengths)
    printed = (ROOT / "book/13-what-came-after.ipynb").read_text("utf-8")
    rows = re.findall(r"(\w+) +(new|update) +((?:\d\.\d\d ?){5})", printed)
    assert len(rows) == 14
    for name, kind, numbers in rows:
        assert shares[name][kind] == [float(number) for number in numbers.split()]
    for n, sizes in zip(lengths, kept, strict=True):
        pairs, state, latents = np.zeros((n, 2, d)), np.zeros((d, d)), np.zeros((n, 16))
        assert sizes["Softmax"] == sizes["Recent"] == pairs.size
        assert sizes["Window"] == pairs[-16:].size
        assert sizes["Latent"] == latents.size
        assert sizes["Linear"] == sizes["Delta"] == state.size
        assert sizes["Hybrid"] == pairs[-8:].size + state[:16].size
