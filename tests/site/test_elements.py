"""Lab, head viewer and quizzes: right numbers, by keyboard, and without scripts.

The lab's arithmetic is compared with NumPy and chapter functions on the same file.
"""

import base64
import itertools
import json
import re
from pathlib import Path

import exhibits
import looks
import matplotlib.pyplot as plt
import minilm
import numpy as np
import publishing
import pytest
import torch
from attention import positional_encoding, softmax
from shared import drawn

ROOT = Path(__file__).resolve().parents[2]
READER = json.loads((ROOT / "book/static/lab.json").read_text(encoding="utf-8"))
HEADS = json.loads((ROOT / "book/static/heads.json").read_text(encoding="utf-8"))
FORM = "the {} did not {} the {} because it was too {}"
TIRED = FORM.format("animal", "cross", "street", "tired").split()
WIDE = FORM.format("animal", "cross", "street", "wide").split()
SWAPPED = FORM.format("street", "stop", "animal", "tired").split()
SETTINGS = {
    "dK": [1, 5, 32],
    "temperature": [0.25, 1.0, 8.0],
    "trained": [True, False],
    "scaled": [True, False],
    "causal": [True, False],
}


def weights_of_reader(
    tokens,
    dK=32,
    temperature=1.0,
    trained=True,
    scaled=True,
    causal=False,
    reader=READER,
):
    """What the lab must show, (n, n), in NumPy."""
    matrix = {
        name: np.array(value) for name, value in reader.items() if name != "words"
    }
    unknown = np.zeros(32)
    words = np.array([reader["words"].get(token, unknown) for token in tokens])
    n, d = words.shape
    mask = np.tri(n, dtype=bool) if causal else np.ones((n, n), bool)

    def weigh(q, k, divisor):
        return softmax(np.where(mask, q @ k.T / divisor, -np.inf))

    x = words + positional_encoding(n, d)
    q, k, v = (x @ matrix[name] for name in ("W_q", "W_k", "W_v"))
    x = x + weigh(q, k, np.sqrt(d)) @ v @ matrix["W_o"]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    x = x * matrix["norm"][0] + matrix["norm"][1]
    kind = "look" if trained else "fresh"
    q, k = (x @ matrix[f"{kind}_{side}"][:, :dK] for side in "qk")
    return weigh(q, k, temperature * (np.sqrt(dK) if scaled else 1))


def weights_of_head(sentence, layer, head):
    shown = HEADS["sentences"][sentence]
    n = len(shown["tokens"])
    steps = np.frombuffer(base64.b64decode(shown["weights"]), np.uint8)
    return steps.reshape(HEADS["layers"], HEADS["heads"], n, n)[layer, head] / 255


@pytest.mark.parametrize("tokens", [TIRED, SWAPPED, ["it", "constructor"], ["it"]])
def test_the_lab_computes_what_numpy_does(empty, tokens):
    grid = itertools.product(*SETTINGS.values())
    settings = [dict(zip(SETTINGS, values, strict=True)) for values in grid]
    shown = empty.evaluate(
        """async ([model, tokens, settings]) => {
          const lab = await import("/_static/reader.js");
          return settings.map((each) => lab.attend(model, tokens, each));
        }""",
        [READER, tokens, settings],
    )
    for setting, weights in zip(settings, shown, strict=True):
        expected = weights_of_reader(tokens, **setting)
        assert np.allclose(weights, expected, atol=1e-6, rtol=0), setting


@pytest.fixture
def exported_reader():
    """The lab's data made anew: chapter 7's cells run, and the reader is trained."""
    threads = torch.get_num_threads()
    plt.switch_backend("Agg")
    yield exhibits.lab()
    plt.close("all")
    torch.set_num_threads(threads)


def test_the_lab_holds_the_reader_of_chapter_7(exported_reader):
    assert exported_reader.keys() == READER.keys()
    for tokens in (TIRED, WIDE, SWAPPED):
        for trained in (True, False):
            shown = weights_of_reader(tokens, trained=trained)
            anew = weights_of_reader(tokens, trained=trained, reader=exported_reader)
            # on the same CPU they are equal; on another one rounding differs
            assert np.allclose(shown, anew, atol=0.02, rtol=0)


def test_the_viewer_holds_the_weights_of_the_encoder():
    encoder, vocabulary = minilm.load_encoder(), minilm.load_vocabulary()
    for number, shown in enumerate(HEADS["sentences"]):
        tokens = minilm.tokenize(shown["text"], vocabulary)
        assert tokens == shown["tokens"]
        _, weights = encoder(minilm.as_ids([tokens], vocabulary))
        for layer, head in [(0, 0), (3, 1), (5, 11)]:
            measured = weights[layer, 0, head].numpy()
            shown_weights = weights_of_head(number, layer, head)
            assert np.allclose(shown_weights, measured, atol=0.5 / 255 + 1e-4)


def enliven(page, chapter, element):
    return looks.enliven(page, f"{chapter}.html", element, ".weights-readout")


def press(page, key, times=1):
    for _ in range(times):
        page.keyboard.press(key)


def test_the_lab_works_by_keyboard(page):
    lab = enliven(page, "02-scaling", "attention-lab")
    readout = lab.locator(".weights-readout")
    assert "random, untrained" in lab.locator("caption").text_content()
    width = page.locator('attention-lab input[name="dK"]')
    width.focus()
    press(page, "ArrowLeft", 30)
    assert page.locator('attention-lab output[name="d-k"]').text_content() == "2"
    assert "Entropy 2.45" in readout.text_content()  # the table's number, undivided
    page.locator('attention-lab input[name="scaled"]').focus()
    press(page, "Space")
    assert "Entropy 2.47" in readout.text_content()
    page.locator("attention-lab tbody button[aria-pressed=true]").focus()
    press(page, "ArrowUp")
    assert "Row “because”" in readout.text_content()
    page.locator("attention-lab .lab-sentence input").fill("It saw a zebra")
    assert "Row “it”" in readout.text_content()
    note = page.locator("attention-lab .lab-note").text_content()
    assert "blanks with a position: saw, a, zebra." in note
    page.locator("attention-lab .lab-sentence input").fill("constructor")
    assert "Entropy 0.00" in readout.text_content()  # one key takes all weight
    page.locator("attention-lab .lab-sentence input").fill(" ...")
    assert page.locator("attention-lab .lab-note").text_content() == (
        "Type a word or two."
    )
    assert not page.troubles


def test_the_viewer_marks_what_is_pointed_at_and_is_used_by_keyboard(page):
    viewer = enliven(page, "07-reading-attention", "head-viewer")
    readout = viewer.locator(".weights-readout")
    assert "animal 0.68" in readout.text_content()
    tokens = HEADS["sentences"][0]["tokens"]
    query, key = tokens.index("tired"), tokens.index("street")
    weight = weights_of_head(0, 3, 1)[query, key]

    def marked():
        row = viewer.locator("tbody button[aria-pressed=true]").text_content()
        column = viewer.locator("thead th.chosen").text_content()
        arcs = viewer.locator(".weights-arcs path").evaluate_all(
            "all => all.map((path) => path.classList.contains('chosen'))"
        )
        cells = viewer.locator("tbody td").evaluate_all(
            "all => all.map((cell) => cell.classList.contains('chosen'))"
        )
        return row, column, np.flatnonzero(arcs), np.flatnonzero(cells)

    place = query * len(tokens) + key
    viewer.locator("tbody td").nth(place).hover()
    assert marked() == ("tired", "street", [key], [place])
    assert readout.text_content().endswith(f"“tired” on “street”: {weight:.3f}.")
    # the word of a column, and then that of a row, whose strongest key is marked
    viewer.locator("thead th").nth(1).hover()
    assert marked()[:3] == ("tired", tokens[1], [1])
    viewer.locator("tbody th").nth(tokens.index("it")).hover()
    assert marked()[:2] == ("it", "animal")
    # what is zero draws no arc
    opacity = "all => all.map((path) => Number(path.style.opacity))"
    drawn = viewer.locator(".weights-arcs path").evaluate_all(opacity)
    row = weights_of_head(0, 3, 1)[tokens.index("it")]
    assert np.array_equal(np.array(drawn) > 0, row >= 0.005)
    # by keyboard: another layer and head, whose row is read out
    viewer.locator('input[name="layer"]').focus()
    press(page, "ArrowLeft", 3)
    viewer.locator('input[name="head"]').focus()
    press(page, "ArrowRight")
    row = weights_of_head(0, 0, 2)[tokens.index("it")]
    assert f"{tokens[row.argmax()]} {row.max():.2f}" in readout.text_content()
    # the address has it all
    viewer.locator("select").select_option("2")
    viewer.locator('input[name="layer"]').fill("5")
    viewer.locator('input[name="head"]').fill("11")
    viewer.locator("tbody td").nth(20).hover()
    shown = readout.text_content()
    page.wait_for_url(lambda url: "sentence=2" in url and "layer=5" in url)
    page.wait_for_url(re.compile(r"(?=.*head=11)(?=.*row=\d+)(?=.*key=\d+).*#[a-z]"))
    page.reload()
    readout.wait_for()  # the address leads to its section
    assert readout.text_content() == shown
    assert viewer.locator("select").input_value() == "2"
    assert viewer.locator('input[name="layer"]').input_value() == "5"
    assert viewer.locator('input[name="head"]').input_value() == "11"
    assert not page.troubles


def test_a_quiz_reads_out_and_remembers_its_answers_and_starts_over(page):
    page.goto("book/02-scaling.html")
    quiz = page.locator("#quiz-scaling-1[aria-live=polite]")
    explanation = quiz.locator("details p").nth(1)
    assert not explanation.is_visible()
    verdict = quiz.locator("[role=status]")
    quiz.locator("summary").nth(1).focus()
    press(page, "Enter")
    page.wait_for_function(
        "document.querySelector('#quiz-scaling-1 [role=status]').textContent"
    )
    assert explanation.is_visible()  # in the live region; the verdict follows
    assert quiz.locator("details[open] ~ .quiz-foot [role=status]").count()
    assert verdict.text_content() == "Not yet."
    press(page, "Shift+Tab")
    press(page, "Enter")
    page.wait_for_function(
        "document.querySelector('#quiz-scaling-1 [role=status]').textContent[0] === 'F'"
    )
    assert verdict.text_content() == "Found in 2 tries."
    page.reload()
    assert verdict.text_content() == "Found in 2 tries."
    quiz.locator(".quiz-foot button").focus()
    press(page, "Enter")
    page.wait_for_function("localStorage.getItem('quiz:quiz-scaling-1') === null")
    page.reload()
    assert quiz.locator("details[open]").count() == 0
    assert not page.troubles


CHAPTERS = sorted((ROOT / "book/text").glob("[01]*.md"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_two_to_five_questions_and_explains_every_choice(chapter):
    text = chapter.read_text(encoding="utf-8")
    quizzes = re.findall(r'<div class="quiz" id=".+?">.*?</div>', text, re.DOTALL)
    assert 2 <= len(quizzes) <= 5
    predictions = re.findall(r'<div class="quiz predict".*?</div>', text, re.DOTALL)
    for quiz in quizzes + predictions:
        choices = re.findall(r"<details.*?</details>", quiz, re.DOTALL)
        assert 2 <= len(choices) <= 4
        assert quiz.count('<details class="correct">') == 1
        for choice in choices:
            assert re.search(r"</summary><p>\S.{20,}</p></details>", choice), choice


def test_no_two_questions_share_a_memory():
    names = [
        name
        for chapter in CHAPTERS
        for name in re.findall(
            r'id="((?:quiz|predict)-[\w-]+)"', chapter.read_text("utf-8")
        )
    ]
    assert len(names) == len(set(names))


AT_WORK = [  # a page, an element of it, and what is there once it works
    "02-scaling.html attention-lab .weights-readout",
    "04-masking.html attention-lab .weights-readout",
    "07-reading-attention.html head-viewer .weights-readout",
    "01-queries-keys-values.html?view=pair attention-start .pair",
    "01-queries-keys-values.html?view=steps attention-start .steps",
]


@pytest.mark.parametrize("place", drawn(AT_WORK, 2))
def test_an_element_at_work_is_accessible_and_fits_a_phone(page, place, accessible):
    """The pages' own test sees the tables of readers without scripts."""
    page.set_viewport_size({"width": 375, "height": 800})
    path, element, part = place.split()
    looks.enliven(page, path, element, part)
    page.locator(".quiz summary").first.click()  # an explanation is open
    accessible(element, ".quiz")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert not page.troubles


STEPS = "01-queries-keys-values.html attention-start .start-modes view=steps"
NONSENSE = [  # as in AT_WORK, with what a link asks for
    "07-reading-attention.html head-viewer .weights-readout sentence=9&layer=x&head=-1",
    "07-reading-attention.html head-viewer .weights-readout row=400&key=7",
    *[f"{STEPS}&{more}" for more in ("Q=1,2&step=99&cell=x", "step=1.5", "cell=-1.0")],
    *[f"{STEPS}&view=pair&row={n}&key={n}&left=" for n in ("99", "-1", "1.5", "x")],
    "head-born.html head-born .toy-words seed=9&step=-3&cut=x",
    "head-born.html head-born .toy-words step=620&seed=__proto__",
    "one-token.html one-token .toy-words text=../x&change=toString&token=99&view=9",
]


@pytest.mark.parametrize("link", drawn(NONSENSE, 3))
def test_an_address_that_means_nothing_shows_something_sound(page, link):
    path, element, part, query = link.split()
    place = looks.enliven(page, f"{path}?{query}", element, part)
    place.locator(f"{part}:visible").first.wait_for()
    shown = place.inner_html()
    assert place.inner_text() and "NaN" not in shown and "undefined" not in shown
    assert not page.troubles


STAYS = {  # for readers without scripts
    "index": "cut-a-line svg[role=img]",
    "01-queries-keys-values": "attention-start svg[role=img]",
    "02-scaling": "attention-lab caption",
    "07-reading-attention": "head-viewer caption",
    "head-born": "head-born table caption",
    "one-token": "one-token table caption",
}


def test_without_scripts_a_picture_a_table_or_a_sentence_stays(bare):
    for path, stays in STAYS.items():
        bare.goto(f"book/{path}.html")
        assert bare.locator(stays).first.is_visible(), path
        assert not bare.locator(stays.split()[0]).get_by_role("button").count()
    for chapter in CHAPTERS:
        text = chapter.read_text("utf-8")
        bare.goto(f"book/{chapter.stem}.html")
        for name in publishing.TOYS + publishing.PICTURES:
            if f"<{name}>" in text:
                said = bare.locator(name).inner_text()
                assert said.startswith("Turn on JavaScript to "), name


MODULES = {
    '<div class="quiz"': "quiz",
    'class="puzzle-board"': "puzzles",
    'id="exercise-tools"': "exercise",
    'id="my-progress"': "where-was-i",
}


def test_a_page_loads_the_modules_of_what_it_shows(site):
    for path in (site.folder / "book").glob("*.html"):
        html = path.read_text(encoding="utf-8")
        loaded = set(re.findall(r'type="module" src="[./]*_static/([\w-]+)\.js', html))
        names = ["cut-a-line", "attention-start", "attention-lab", "head-viewer"]
        names += publishing.TOYS + publishing.PICTURES
        shown = {name for name in names if f"<{name}" in html}
        for mark, name in MODULES.items():
            shown |= {name} if mark in html else set()
        assert loaded == shown | {"marks"}
