"""What chapter 7 proves and measures, on other sentences than its own."""

import ast
from pathlib import Path

import jupytext
import numpy as np
import pytest
from attention import scaled_dot_product_attention, softmax

TEXT = Path(__file__).parents[2] / "book" / "text" / "07-reading-attention.md"
N_TOKENS, IT, ANIMAL, STREET = 9, 5, 1, 3


@pytest.fixture(scope="module")
def chapter():
    """The functions that the chapter defines, for sentences of nine tokens."""
    code = "\n".join(
        cell.source for cell in jupytext.read(TEXT).cells if cell.cell_type == "code"
    )
    wanted = {"change_of_ratio", "kind_of_head"}
    nodes = [n for n in ast.parse(code).body if getattr(n, "name", None) in wanted]
    names = {"np": np, "it": IT, "animal": ANIMAL, "street": STREET}
    exec(compile(ast.Module(nodes, []), str(TEXT), "exec"), names)
    return names


@pytest.fixture
def sentences(request):
    """Two random sentences that differ in their last token, with positions."""
    rng = np.random.default_rng(request.param)
    X = np.repeat(rng.normal(size=(1, N_TOKENS, 16)), 2, axis=0)
    X[1, -1] = rng.normal(size=16)
    return X + rng.normal(size=(N_TOKENS, 16)), rng.normal(size=(3, 16, 16))


@pytest.mark.parametrize("sentences", range(5), indirect=True)
def test_in_one_layer_the_last_word_never_changes_the_ratio(chapter, sentences):
    X, (W_q, W_k, _) = sentences
    assert chapter["change_of_ratio"](X, W_q, W_k) < 1e-9


@pytest.mark.parametrize("sentences", range(5), indirect=True)
def test_what_a_first_layer_mixed_in_lets_the_last_word_decide(chapter, sentences):
    X, (W_q, W_k, W_v) = sentences
    mixed, _ = scaled_dot_product_attention(X @ W_q / 4, X @ W_k / 4, X @ W_v / 4)
    assert chapter["change_of_ratio"](X + mixed, W_q, W_k) > 0.01


@pytest.mark.parametrize("sentences", range(3), indirect=True)
def test_the_change_is_that_of_the_ratio_of_two_weights(chapter, sentences):
    X, (W_q, W_k, W_v) = sentences
    X = X + scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v)[0]
    W_q, W_k = W_q / 4, W_k / 4
    _, weights = scaled_dot_product_attention(X @ W_q, X @ W_k, X)
    logs = np.log(weights[:, IT, ANIMAL] / weights[:, IT, STREET])
    expected = abs(logs[0] - logs[1])
    assert np.isclose(chapter["change_of_ratio"](X, W_q, W_k), expected)


def test_a_head_is_called_after_where_most_of_its_weight_lies(chapter):
    i, j = np.indices((6, 6))
    made = {
        "itself": i == j,
        "previous": j == np.maximum(i - 1, 0),
        "next": j == np.minimum(i + 1, 5),
        "first": j == 0,
        "last": j == 5,
        "mixed": j == 2,
    }
    for kind, places in made.items():
        assert chapter["kind_of_head"](softmax(6.0 * places)) == kind
