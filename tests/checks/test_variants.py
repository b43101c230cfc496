"""The examples on cards that are drawn for each student are true, and right answers
obey them all."""

import contextlib
import io
import json
import re
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograder.checks import attention
from autograder.checks.failures import CheckFailed
from autograder.checks.question import noticed
from autograder.checks.variant import Draw
from autograder.tools.judging import catalog_of, packages

ROOT = Path(__file__).resolve().parents[2]
IN_THE_PAGE = [path.stem for path in (ROOT / "book/solve").glob("*.md")]
CODES = [f"{number:012x}" for number in range(50)]


def examples_of(package):
    package.assignment.load("examples")
    return package.assignment.examples


VARIED = [
    (package, question) for package in packages() for question in examples_of(package)
]
each_question = pytest.mark.parametrize(
    ("package", "question"), VARIED, ids=[question for _, question in VARIED]
)


def exercise_of(package):
    (path,) = ROOT.glob(f"exercises/*/{package.__name__.rpartition('.')[2]}.ipynb")
    return path


def some_codes(question):
    """Pictures take their time."""
    return CODES[: 1 if question.startswith("plot_") else 5]


def outcome_of(check, answer):
    """What a check notes of an answer."""
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notes = noticed(check, answer)[1]
    plt.close("all")
    return notes


@each_question
def test_a_card_says_once_what_varies(package, question):
    cells = json.loads(exercise_of(package).read_text("utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] != "code")
    assert text.count(examples_of(package)[question].printed) == 1


@pytest.mark.parametrize("name", IN_THE_PAGE)
def test_the_first_question_and_two_more_vary(name):
    (package,) = [p for p in packages() if exercise_of(p).parent.name == name]
    varied = list(examples_of(package))
    assert varied[0] == next(iter(package.assignment.questions)) and len(varied) >= 3


def test_a_draw_is_the_same_on_every_machine():
    draw = Draw("0123456789ab", "here")
    assert [draw.number(1, 6) for _ in range(8)] == [3, 4, 1, 6, 2, 6, 6, 6]
    assert draw.some_of("abcd", 4) == ["d", "a", "b", "c"]
    text = examples_of(attention)["softmax"].of("0123456789ab").text
    assert text == (
        "the scores `[log 8, log 32, log 57, log 3]` become the weights "
        "`[0.08, 0.32, 0.57, 0.03]`"
    )


def test_ranges_are_drawn_whole_and_parts_add_up():
    draw = Draw("x")
    assert {draw.number(2, 4) for _ in range(100)} == {2, 3, 4}
    parts = [draw.parts(10, 3, least=2) for _ in range(200)]
    assert {sum(each) for each in parts} == {10} and min(map(min, parts)) == 2
    assert len(set(map(tuple, parts))) == 15  # all there are


# --------------------------------------------------- what a card states, read from it

NAMES = {"log": np.log, "sin": np.sin, "cos": np.cos, "True": True, "False": False}
WORDS = {"four": 4, "six": 6, "eight": 8}


def number(text):
    """`log 3`, `6 / √4`, `0.25`, `[True, False]` and so on."""
    code = re.sub(r"\b(log|sin|cos) ([\d.]+)", r"\1(\2)", text).replace("√4", "2")
    return np.array(eval(code, {"__builtins__": {}}, NAMES))


def softmax(text, answer):
    scores, weights = re.findall(r"`(.*?)`", text)
    return number(weights), answer(number(scores))


def attention_scores(text, answer):
    query, key, dot, term, score = re.fullmatch(
        r"the query `(.*)` and the key `(.*)` have the dot product (\d+), and the "
        r"score (.*) = (\d+)",
        text,
    ).groups()
    q, k = number(query) * 1.0, number(key) * 1.0
    assert q @ k == int(dot) and number(term) == int(score)
    return int(score), answer(q[None], k[None])[0, 0]


def scaled_dot_product_attention(text, answer):
    q, k, v, output, weights = (number(s) for s in re.findall(r"\([\d, ]+\)", text))
    found = answer(*(np.ones(shape) for shape in (q, k, v)))
    return [output, weights], [each.shape for each in found]


def score_std(text, answer):
    d_k, root = map(int, re.findall(r"\d+", text))
    spread = answer(d_k, 4000, np.random.default_rng(0))
    return root, root * np.round(spread / root, 1)


def entropy(text, answer):
    weights, name, about = re.fullmatch(
        r"the weights `(.*)` have the entropy (.*), about (.*)", text
    ).groups()
    found = answer(number(weights))
    return [number(name), number(about)], [found, np.round(found, 3)]


def softmax_jacobian(text, answer):
    weights, jacobian = re.findall(r"`(.*?)`", text)
    return number(jacobian), answer(number(weights))


def causal_mask(text, answer):
    n, i, row = re.fullmatch(r"for `n = (\d)` row (\d) is `(.*)`", text).groups()
    return number(row), answer(int(n))[int(i)]


def padding_mask(text, answer):
    lengths, n, mask = re.fullmatch(
        r"the lengths `(.*)` with `n = (\d)` give `(.*)`", text
    ).groups()
    return number(mask), answer(number(lengths), int(n))


def masked_softmax(text, answer):
    scores, mask, weights = re.findall(r"`(.*?)`", text)
    return number(weights), answer(number(scores)[None], number(mask)[None])[0]


def causal_attention(text, answer):
    values, outputs = re.fullmatch(
        r"when all scores are equal and the values are (.*) the outputs are (.*)", text
    ).groups()
    V = number(f"[{values}]")[:, None] * 1.0
    return number(f"[{outputs}]"), answer(V * 0, V * 0, V)[0][:, 0]


def positional_encoding(text, answer):
    d_model, p, row, about = re.fullmatch(
        r"with `d_model = (\d)`, position (\d+) is `(.*)`, which is about `(.*)`", text
    ).groups()
    found = answer(int(p) + 1, int(d_model))[int(p)]
    return [number(row), number(about)], [found, np.round(found, 3)]


def shift_matrix(text, answer):
    k, row, about = re.fullmatch(
        r"`shift_matrix\((\d+), 2\) @ \[0, 1\]`, position 0 moved by \1, is `(.*)`, "
        r"about `(.*)`",
        text,
    ).groups()
    found = answer(int(k), 2) @ [0, 1]
    return [number(row), number(about)], [found, np.round(found, 3)]


def plot_encoding_heatmap(text, answer):
    last, d_model = re.fullmatch(
        r"Try it on positions 0 to (\d+) with (\d+) dimensions", text
    ).groups()
    return [0, 0], [int(d_model) % 2, int(last) < 20]


def rotate(text, answer):
    p, fast, slow, row, about = re.fullmatch(
        r"with `d = 4` the two angles at position (\d+) are (.*) and (.*); the row "
        r"`(.*)` at position \1 becomes about `(.*)`, and at position 0 it stays as it "
        r"is",
        text,
    ).groups()
    x = number(row)[None] * 1.0
    assert np.allclose(answer(x, np.array([0])), x)
    found = answer(x, np.array([int(p)]))[0]
    angles = np.arctan2(found[1::2], found[::2])
    turns = number(f"[{fast}, {slow}]") - angles
    assert np.allclose(np.round(turns / 2 / np.pi), turns / 2 / np.pi)
    return number(about), np.round(found, 3)


def grouped_query_attention(text, answer):
    a, b, word, outputs = re.fullmatch(
        r"one query, one key per head, values (\d+) in head 0 and (\d+) in head 1; "
        r"(\w+) query heads give the outputs (.*)",
        text,
    ).groups()
    V = np.array([float(a), float(b)]).reshape(2, 1, 1)
    output, _ = answer(np.ones((WORDS[word], 1, 3)), np.ones((2, 1, 3)), V)
    return number(f"[{outputs}]"), output[:, 0, 0]


def window_mask(text, answer):
    sizes = [int(found) for found in re.findall(r" = (\d)`", text)]
    last, first = (number(found) for found in re.findall(r"`(\[.*?\])`", text))
    return [first, last], answer(*sizes)[[0, -1]]


def KVCache(text, answer):
    tokens, window, kept, last, length = re.fullmatch(
        r"after tokens (.*) a cache with `window=(\d)` returns the keys and values of "
        r"(.*) and (.*), and its length is (\d)",
        text,
    ).groups()
    tokens, cache = tokens.split(", "), answer(int(window))
    for place in range(len(tokens)):
        keys, values = cache.append(*(np.full((1, 1, 2), 1.0 * place),) * 2)
    names = [[tokens[int(n)] for n in part[0, :, 0]] for part in (keys, values)]
    assert names == [[*kept.split(", "), last]] * 2
    return int(length), len(cache)


@each_question
def test_a_drawn_example_is_true(package, question):
    catalog = catalog_of(package)
    answer = catalog.answer(catalog.references[question])
    texts = [examples_of(package)[question].of(code).text for code in CODES]
    assert len(set(texts)) > 5
    for text in texts:
        stated, found = globals()[question](text, answer)
        assert np.allclose(stated, found, atol=1e-9), text
    plt.close("all")


@each_question
def test_right_answers_in_any_style_obey_every_card(package, question):
    catalog = catalog_of(package)
    for style in catalog.styles:
        if style.question == question:
            answer = catalog.answer(style)
            for code in some_codes(question):
                check = examples_of(package)[question].of(code).visible()
                assert outcome_of(check, answer)[0] == "holds", (style.id, code)


@each_question
def test_no_variant_is_harder_than_another(package, question):
    """A mistake that the checks for everybody let pass also passes each card."""
    catalog, caught = catalog_of(package), set()
    for entry in catalog.of(question):
        answer = catalog.answer(entry)
        checks = package.assignment.questions[question].checks
        held = all(outcome_of(check, answer)[0] == "holds" for check in checks)
        for code in some_codes(question):
            check = examples_of(package)[question].of(code).visible()
            if outcome_of(check, answer)[0] != "holds":
                assert not held, (entry.id, code)
                caught.add(entry.id)
    assert caught  # the example on a card tells something


def uneven(x, axis=-1):
    """A softmax that is wrong for four scores alone."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True) * (x.shape != (4,))


def test_the_card_is_checked_at_the_end_and_only_in_a_variant(capsys):
    attention.softmax(uneven)
    assert "visible checks 4 of 4 hold" in capsys.readouterr().out
    with pytest.raises(CheckFailed) as failure:
        attention.softmax(uneven, variant="0123456789ab")
    assert failure.value.title == (
        "softmax, visible check 5 of 5: Your card's example: the scores `[log 8, "
        "log 32, log 57, log 3]` become the weights `[0.08, 0.32, 0.57, 0.03]`"
    )
    assert failure.value.expected == "[0.08, 0.32, 0.57, 0.03]"


def test_a_question_without_examples_takes_a_variant_all_the_same(capsys):
    def check_softmax(softmax):
        assert np.allclose(softmax(np.zeros((2, 3))), 1 / 3)

    attention.check_softmax(check_softmax, variant="0123456789ab")
    assert "visible checks 2 of 2 hold" in capsys.readouterr().out
