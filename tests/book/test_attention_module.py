"""book/attention.py: what exercises ask for is right there too, and masks are."""

import attention
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from autograder.checks import puzzles
from autograder.tools.judging import judge, packages

ASKED = [
    pytest.param(package, name, id=name)
    for package in packages()
    for name in package.assignment.questions
    if hasattr(attention, name) and package is not puzzles  # theirs are smaller
]


@pytest.mark.parametrize(("package", "name"), ASKED)
def test_what_an_exercise_asks_for_earns_all_its_points(package, name, seed):
    points = package.assignment.questions[name].points
    assert judge(package, name, getattr(attention, name), seed)[:2] == (points, None)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("masked", [False, True])
def test_numpy_attention_agrees_with_torchs_own(rng, masked):
    Q, K, V = (rng.normal(size=(2, n, d)) for n, d in [(4, 8), (6, 8), (6, 5)])
    mask = rng.random((2, 4, 6)) < 0.5 if masked else None
    output, weights = attention.scaled_dot_product_attention(Q, K, V, mask)
    tensors = [torch.from_numpy(a) for a in (Q, K, V)]
    kwargs = {"attn_mask": torch.from_numpy(mask)} if masked else {}
    expected = F.scaled_dot_product_attention(*tensors, **kwargs)
    np.testing.assert_allclose(output, expected.numpy(), atol=1e-12)
    rows = weights.sum(-1)
    empty = ~mask.any(-1) if masked else np.zeros_like(rows, dtype=bool)
    np.testing.assert_allclose(rows, np.where(empty, 0, 1), atol=1e-12)


def test_torch_attention_agrees_with_numpy_attention_and_its_gradients_are_finite(rng):
    Q, K, V = (rng.normal(size=(2, n, d)) for n, d in [(4, 8), (6, 8), (6, 5)])
    mask = rng.random((2, 4, 6)) < 0.5
    mask[0, 1] = False  # a query with nothing to attend to
    q, k, v = (torch.from_numpy(a).requires_grad_() for a in (Q, K, V))
    output, weights = attention.attention(q, k, v, torch.from_numpy(mask))
    expected = attention.scaled_dot_product_attention(Q, K, V, mask)
    np.testing.assert_allclose(output.detach(), expected[0], atol=1e-12)
    np.testing.assert_allclose(weights.detach(), expected[1], atol=1e-12)
    output.sum().backward()
    assert all(torch.isfinite(t.grad).all() for t in (q, k, v))


@pytest.mark.parametrize("n_heads", [1, 2, 4])  # 2 is also the batch
def test_padding_in_a_batch_changes_no_sentence_in_any_head(n_heads):
    torch.manual_seed(0)
    module = attention.MultiHeadAttention(8, n_heads)
    x, lengths = torch.randn(2, 5, 8), [5, 3]
    mask = torch.from_numpy(attention.padding_mask(lengths, 5))
    output, weights = module(x, x, x, mask)
    for b, length in enumerate(lengths):
        alone = x[b : b + 1, :length]
        expected = module(alone, alone, alone)
        torch.testing.assert_close(output[b : b + 1, :length], expected[0])
        seen = weights[b : b + 1, :, :length, :length]
        torch.testing.assert_close(seen, expected[1])
        assert (weights[b, :, :, length:] == 0).all()


def test_a_mask_of_four_axes_may_differ_between_heads():
    x, mask = torch.randn(3, 4, 6), torch.rand(1, 2, 4, 4) < 0.5
    _, weights = attention.MultiHeadAttention(6, 2)(x, x, x, mask)
    assert torch.equal(weights > 0, mask.expand(3, 2, 4, 4))


@pytest.mark.parametrize("shape", [(4,), (1, 1, 1, 4, 4)])
def test_a_mask_that_says_neither_queries_nor_heads_is_refused(shape):
    x, mask = torch.randn(1, 4, 6), torch.ones(shape, dtype=torch.bool)
    with pytest.raises(ValueError, match=f"2, 3 or 4 axes, not {len(shape)}"):
        attention.MultiHeadAttention(6, 2)(x, x, x, mask)


def test_32_bit_inputs_stay_32_bit(rng):
    Q, K, V = rng.normal(size=(3, 4, 8)).astype(np.float32)
    for result in attention.scaled_dot_product_attention(Q, K, V):
        assert result.dtype == np.float32


def test_a_prompt_may_be_appended_to_a_cache_at_once(rng):
    k, v = rng.standard_normal((2, 2, 5, 4))
    at_once, one_by_one = attention.KVCache(), attention.KVCache()
    kept = at_once.append(k, v)
    for t in range(5):
        expected = one_by_one.append(k[:, t : t + 1], v[:, t : t + 1])
    assert all(map(np.array_equal, kept, expected))
    assert len(at_once) == len(one_by_one) == 5
