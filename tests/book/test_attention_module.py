"""book/attention.py agrees with torch's own functions and modules."""

import attention
import numpy as np
import pytest
import torch
from torch.nn import functional as F


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax_agrees_with_torch(rng, axis):
    x = rng.normal(scale=30, size=(3, 4, 5))
    expected = torch.softmax(torch.from_numpy(x), dim=axis).numpy()
    np.testing.assert_allclose(attention.softmax(x, axis), expected, atol=1e-12)


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


def test_multi_head_attention_agrees_with_torchs_own():
    torch.manual_seed(0)
    ours = attention.MultiHeadAttention(12, 3, bias=True).double()
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True).double()
    layers = ours.W_q, ours.W_k, ours.W_v
    theirs.load_state_dict(
        {
            "in_proj_weight": torch.cat([layer.weight for layer in layers]),
            "in_proj_bias": torch.cat([layer.bias for layer in layers]),
            "out_proj.weight": ours.W_o.weight,
            "out_proj.bias": ours.W_o.bias,
        }
    )
    query = torch.randn(2, 4, 12, dtype=torch.double)
    memory = torch.randn(2, 6, 12, dtype=torch.double)
    expected = theirs(query, memory, memory, average_attn_weights=False)
    for got, want in zip(ours(query, memory, memory), expected, strict=True):
        torch.testing.assert_close(got, want)


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


def test_heads_that_do_not_divide_d_model_are_refused():
    with pytest.raises(ValueError, match="5 heads do not divide d_model=12"):
        attention.MultiHeadAttention(12, 5)


def test_merge_heads_undoes_split_heads():
    x = torch.arange(2 * 5 * 12.0).view(2, 5, 12)
    heads = attention.split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    assert torch.equal(heads[:, 1], x[:, :, 4:8])
    assert torch.equal(attention.merge_heads(heads), x)


def test_encoder_layer_agrees_with_torchs_own():
    torch.manual_seed(0)
    ours = attention.EncoderLayer(12, 3, 20).double().eval()
    theirs = torch.nn.TransformerEncoderLayer(
        12, 3, 20, activation="gelu", batch_first=True
    )
    theirs = theirs.double().eval()
    projections = ours.self_attn.W_q, ours.self_attn.W_k, ours.self_attn.W_v
    for norm in (ours.norm1, ours.norm2):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    state = {
        "self_attn.in_proj_weight": torch.cat([p.weight for p in projections]),
        "self_attn.in_proj_bias": torch.cat([p.bias for p in projections]),
        "self_attn.out_proj.weight": ours.self_attn.W_o.weight,
        "self_attn.out_proj.bias": ours.self_attn.W_o.bias,
    }
    state |= {
        f"linear{i}.{n}": t
        for i, layer in enumerate((ours.ffn.linear1, ours.ffn.linear2), 1)
        for n, t in layer.named_parameters()
    }
    state |= {
        f"norm{i}.{n}": t
        for i, norm in enumerate((ours.norm1, ours.norm2), 1)
        for n, t in norm.named_parameters()
    }
    theirs.load_state_dict(state)
    x = torch.randn(2, 5, 12, dtype=torch.double)
    torch.testing.assert_close(ours(x), theirs(x))


def test_positional_encoding_is_the_papers_formula():
    encoding = attention.positional_encoding(30, 16)
    for position, i in [(0, 0), (1, 0), (7, 3), (29, 7)]:
        angle = position / 10000 ** (2 * i / 16)
        assert encoding[position, 2 * i] == pytest.approx(np.sin(angle))
        assert encoding[position, 2 * i + 1] == pytest.approx(np.cos(angle))
    with pytest.raises(ValueError, match="even"):
        attention.positional_encoding(4, 5)


def test_masks_say_who_may_attend():
    assert np.array_equal(attention.causal_mask(3), np.tril(np.ones((3, 3), bool)))
    mask = attention.padding_mask([2, 0], 3)
    assert mask.tolist() == [[[True, True, False]], [[False, False, False]]]


def test_32_bit_inputs_stay_32_bit(rng):
    Q, K, V = rng.normal(size=(3, 4, 8)).astype(np.float32)
    for result in attention.scaled_dot_product_attention(Q, K, V):
        assert result.dtype == np.float32
