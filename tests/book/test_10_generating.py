"""The functions of chapter 10 in attention.py: identities, kernels, and traps."""

import numpy as np
import pytest
import torch
from attention import (
    KVCache,
    causal_mask,
    decode_step,
    grouped_query_attention,
    rotate,
    window_mask,
)
from torch.nn import functional as F


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_rotating_is_multiplying_by_complex_numbers(rng):
    x, positions = rng.standard_normal((2, 5, 8)), np.array([0, 1, 7, 300, 4])
    angles = positions[:, None] * 500.0 ** (-np.arange(0, 8, 2) / 8)
    expected = (x.view(complex) * np.exp(1j * angles)).view(float)
    np.testing.assert_allclose(rotate(x, positions, 500.0), expected, atol=1e-12)


def test_only_the_distance_of_two_positions_matters(rng):
    q, k = rng.standard_normal((2, 6, 8))
    near, far = (
        rotate(q, p) @ rotate(k, p).T for p in (np.arange(6), 90 + np.arange(6))
    )
    np.testing.assert_allclose(near, far, atol=1e-12)
    assert abs(near - q @ k.T).max() > 0.1


def test_an_odd_width_is_refused_with_its_number():
    with pytest.raises(ValueError, match="7"):
        rotate(np.ones((2, 7)), np.arange(2))


@pytest.mark.parametrize(
    ("given", "returned"), [(np.float32, np.float32), (np.int64, np.float64)]
)
def test_rotating_keeps_floats_and_makes_floats_of_integers(given, returned):
    turned = rotate(np.ones((2, 4), dtype=given), np.arange(2))
    assert turned.dtype == returned
    np.testing.assert_allclose(
        turned[1, :2], [np.cos(1) - np.sin(1), np.cos(1) + np.sin(1)]
    )


@pytest.mark.parametrize("n_kv", [1, 2, 4])
def test_grouped_queries_agree_with_torchs_kernel(rng, n_kv):
    Q = rng.standard_normal((3, 4, 5, 8))
    K, V = rng.standard_normal((2, 3, n_kv, 5, 8))
    expected = F.scaled_dot_product_attention(
        *map(torch.from_numpy, (Q, K, V)), is_causal=True, enable_gqa=True
    )
    output, weights = grouped_query_attention(Q, K, V, causal_mask(5))
    np.testing.assert_allclose(output, expected.numpy(), atol=1e-12)
    assert weights.shape == (3, 4, 5, 5)


def test_heads_that_cannot_be_shared_are_refused():
    with pytest.raises(ValueError, match=r"2 .* 3"):
        grouped_query_attention(*(np.ones((heads, 1, 4)) for heads in (3, 2, 2)))


@pytest.mark.parametrize(
    ("window", "sinks"), [(1, 0), (3, 0), (3, 2), (20, 0), (2, 20)]
)
def test_a_window_is_what_its_sentence_says(window, sinks):
    mask = window_mask(7, window, sinks)
    for i, j in np.ndindex(7, 7):
        assert mask[i, j] == (j <= i and (j > i - window or j < sinks))


@pytest.mark.parametrize("window", [None, 1, 3, 50])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_decoding_gives_the_rows_of_the_whole_computation(rng, window, batch):
    n = 9
    Q = rng.standard_normal((*batch, 4, n, 6))
    K, V = rng.standard_normal((2, *batch, 2, n, 6))
    turned = (rotate(a, np.arange(n)) for a in (Q, K))
    whole, weights = grouped_query_attention(*turned, V, window_mask(n, window or n))
    cache = KVCache(window)
    for t in range(n):
        new = (a[..., t : t + 1, :] for a in (Q, K, V))
        output, row = decode_step(*new, cache)
        np.testing.assert_allclose(output, whole[..., t : t + 1, :], atol=1e-12)
        kept = slice(t + 1 - row.shape[-1], t + 1)
        np.testing.assert_allclose(row, weights[..., t : t + 1, kept], atol=1e-12)
        assert len(cache) == t + 1
        assert row.shape[-1] == min(t + 1, window or n)


def test_a_prompt_may_be_appended_at_once(rng):
    k, v = rng.standard_normal((2, 2, 5, 4))
    at_once, one_by_one = KVCache(), KVCache()
    kept = at_once.append(k, v)
    for t in range(5):
        expected = one_by_one.append(k[:, t : t + 1], v[:, t : t + 1])
    assert all(map(np.array_equal, kept, expected))
    assert len(at_once) == len(one_by_one) == 5


def test_what_a_cache_returned_does_not_change_later(rng):
    tokens = rng.standard_normal((6, 2, 1, 4))
    cache = KVCache(window=3)
    returned = [cache.append(token, token)[0] for token in tokens]
    copies = [array.copy() for array in returned]
    cache.append(tokens[0], tokens[0])
    assert all(map(np.array_equal, returned, copies))
