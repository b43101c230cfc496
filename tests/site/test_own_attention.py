"""The encoder of chapter 7 with attention of the reader's own: right, wrong, slow."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import test_encoder
from exercise_page import SOFTMAX, keep, released
from test_encoder import PATIENCE, said, strongest, viewer_on

STATIC = Path(__file__).resolve().parents[2] / "book/static"
pytestmark = test_encoder.pytestmark
published = test_encoder.published
TEXT = "The dog saw the bone because it was hungry."
RIGHT = {
    "softmax": SOFTMAX,
    "attention_scores": "def attention_scores(Q, K):\n"
    "    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])",
    "scaled_dot_product_attention": "def scaled_dot_product_attention(Q, K, V):\n"
    "    weights = softmax(attention_scores(Q, K))\n    return weights @ V, weights",
}
PUZZLES = {
    "scores": "def scores(Q, K):\n    return Q @ K.T / np.sqrt(Q.shape[-1])",
    "softmax_row": SOFTMAX.replace("def softmax(", "def softmax_row("),
    "weighted_average": "def weighted_average(weights, V):\n    return weights @ V",
}


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("own", STATIC / "own_attention.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def came(runner, answers, needs):
    numbers = np.random.default_rng(0).normal(size=(3, 5, 12)).astype(np.float32)
    job = {"sources": ["import numpy as np", *answers.values()], "needs": needs}
    job |= {"numbers": [part.ravel().tolist() for part in numbers], "n": 5, "heads": 3}
    found = json.loads(runner.run(json.dumps(job)))
    return found, numbers.astype(float)


@pytest.mark.parametrize("answers", [RIGHT, PUZZLES], ids=["exercise", "puzzles"])
def test_own_functions_attend_as_the_formula_says(runner, answers):
    found, numbers = came(
        runner, answers, [*answers][-1:] if answers is RIGHT else [*answers]
    )
    for head in range(3):
        q, k, v = numbers[:, :, 4 * head : 4 * head + 4]
        powers = np.exp(q @ k.T / 2)
        weights = powers / powers.sum(axis=1, keepdims=True)
        mine = np.reshape(found["weights"], (3, 5, 5))[head]
        heard = np.reshape(found["heard"], (5, 12))[:, 4 * head : 4 * head + 4]
        assert np.abs(mine - weights).max() < 1e-6
        assert np.abs(heard - weights @ v).max() < 1e-6


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("np.sqrt(Q.shape[-1])", "Q.shape[-1]"), "the outputs of head 0 differ by 0."),
        (("/ np.sqrt", "* np.nan / np.sqrt"), "the outputs of head 0 differ by nan"),
        (("return weights @ V, weights", "return weights @ V"), "did not return the"),
        (("weights @ V, weights", "V[:, :1], weights"), "the shape (3, 1, 4), not"),
        (
            ("weights @ V, weights", "weights @ V, weights * 2"),
            "weights of head 0 differ",
        ),
        (("softmax(attention", "softmaks(attention"), "stopped with NameError: name"),
        (
            ("def scaled", "1 / 0\ndef scaled"),
            "RuntimeError: code cell 4: ZeroDivision",
        ),
        (("(Q, K, V)", "(Q, K)"), "stopped with TypeError"),
    ],
)
def test_what_is_wrong_is_told(runner, change, problem):
    answers = {name: code.replace(*change) for name, code in RIGHT.items()}
    assert answers != RIGHT
    found, _ = came(runner, answers, ["scaled_dot_product_attention"])
    assert problem in found["problem"] and "weights" not in found


def keep_answers(page, name, answers):
    """As an exercise page keeps answers that pass."""
    notebook = json.loads(released(name).read_text(encoding="utf-8"))
    given = {}
    for cell in notebook["cells"]:
        about = cell["metadata"]["nbgrader"]
        if about["grade_id"] in answers:
            given[about["grade_id"]] = "".join(cell["source"])
            cell["source"] = [answers[about["grade_id"]]]
    passed = {"number": 1, "said": "", "problem": None, "figures": []}
    results = {
        each: {"outcomes": [passed | {"question": each}], "at": 0, "mark": ""}
        for each in answers
    }
    kept = {"": {"notebook": notebook, "given": given}, ":results": results}
    page.goto("404.html")
    for part, value in kept.items():
        keep(page, f"exercise:{name}{part}", value)


def opened(page, text=TEXT):
    viewer = viewer_on(page)
    viewer.get_by_role("button", name="A sentence of your own").click()
    viewer.get_by_label("Your sentence", exact=True).wait_for(timeout=PATIENCE)
    if text:
        viewer.get_by_label("Your sentence", exact=True).fill(text)
        viewer.get_by_text("12 word pieces").wait_for(timeout=PATIENCE)
    return viewer


def right_row(viewer, published):
    token, weight = strongest(published, TEXT, 3, 1, "it")
    return said(viewer)[0] == token and abs(said(viewer)[1] - weight) < 0.025


FAKE = """onmessage = ({ data: { job } }) => {
    if (!job) return;
    postMessage({ state: "ready", parts: [], fetched: [] });
    postMessage({ state: "running" });
    ANSWER
};"""


@pytest.mark.parametrize("kind", ["wrong", "slow"])
def test_where_the_own_function_is_of_no_use_the_page_s_own_stays(
    page, published, kind
):
    keep_answers(page, "01-attention", RIGHT)
    problem = "the weights of head 3 differ by 0.5"
    answer = f'postMessage({{ outcomes: {{ problem: "{problem}" }} }});'
    body = FAKE.replace("ANSWER", answer if kind == "wrong" else "")
    page.route(
        "**/exercise-worker.js*",
        lambda route: route.fulfill(body=body, content_type="text/javascript"),
    )
    page.clock.install()
    viewer = opened(page)
    viewer.locator("select[name=by]").select_option("01-attention")
    if kind == "slow":
        while not page.workers[1:]:
            page.wait_for_timeout(20)
        page.clock.run_for(9_000)
        assert "did not compute" not in viewer.locator(".lab-note").text_content()
        page.clock.run_for(2_000)
        problem = "a layer took more than 10 seconds"
    told = f"Your scaled_dot_product_attention did not compute this: {problem}."
    viewer.get_by_text(told).wait_for()
    assert right_row(viewer, published)
    assert not page.troubles


@pytest.mark.long
@pytest.mark.usefixtures("python")
def test_a_sentence_is_read_with_own_functions_and_a_link_carries_it(page, published):
    keep_answers(page, "01-attention", RIGHT)
    keep_answers(page, "00-puzzles", PUZZLES)
    viewer = opened(page)
    by = viewer.locator("select[name=by]")
    for name, told in (
        ("01-attention", "Your scaled_dot_"),
        ("00-puzzles", "Your scores, "),
    ):
        by.select_option(name)
        viewer.get_by_text(told).wait_for(timeout=PATIENCE)
        note = viewer.locator(".lab-note").text_content()
        assert "computed the attention of all layers, within" in note
        assert right_row(viewer, published)
    page.wait_for_url("**by=00-puzzles**")
    assert "own=The+dog" in page.url
    linked = page.url
    page.goto("404.html")
    page.goto(linked)
    viewer = page.locator("head-viewer")
    viewer.scroll_into_view_if_needed()
    viewer.get_by_role("button", name="A sentence of your own").click()
    viewer.get_by_text("Your scores, ").wait_for(timeout=PATIENCE)
    assert right_row(viewer, published)

    # a wrong one, as it is kept now
    wrong = {k: v.replace("np.sqrt(Q.shape[-1])", "8") for k, v in RIGHT.items()}
    keep_answers(page, "01-attention", wrong)
    viewer = opened(page)
    viewer.locator("select[name=by]").select_option("01-attention")
    viewer.get_by_text("did not compute this: the outputs of").wait_for(
        timeout=PATIENCE
    )
    assert right_row(viewer, published)
    assert not page.troubles
