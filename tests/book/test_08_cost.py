"""The costs of chapter 8: formulas against counted operations and exact outputs."""

import ast
import itertools
import math
from pathlib import Path

import jupytext
import numpy as np
import pytest
import torch
from attention import (
    FeedForward,
    MultiHeadAttention,
    attention_scores,
    masked_softmax,
    scaled_dot_product_attention,
)
from torch.utils.flop_counter import FlopCounterMode

TEXT = Path(__file__).parents[2] / "book" / "text" / "08-cost.md"


@pytest.fixture(scope="module")
def chapter():
    """The functions that the chapter defines itself."""
    code = "\n".join(
        cell.source
        for cell in jupytext.read(TEXT).cells
        if cell.cell_type == "code" and not cell.source.startswith("%")
    )
    functions = [n for n in ast.parse(code).body if isinstance(n, ast.FunctionDef)]
    names = {
        "np": np,
        "itertools": itertools,
        "attention_scores": attention_scores,
        "masked_softmax": masked_softmax,
        "scaled_dot_product_attention": scaled_dot_product_attention,
    }
    exec(compile(ast.Module(functions, []), str(TEXT), "exec"), names)
    return names


@pytest.mark.parametrize(("n", "d"), [(16, 32), (96, 16), (192, 32)])
def test_a_layer_takes_the_operations_of_the_formula(n, d):
    x = torch.zeros(1, n, d)
    with FlopCounterMode(display=False) as counter:
        MultiHeadAttention(d, n_heads=4)(x, x, x)
        FeedForward(d, 4 * d)(x)
    assert counter.get_total_flops() == 4 * n**2 * d + 24 * n * d**2


def test_the_core_is_half_of_the_work_at_six_times_the_width(chapter):
    assert chapter["core_share"](6 * 768, 768) == 0.5


@pytest.mark.parametrize("block", [1, 7, 64, 1000])
@pytest.mark.parametrize("scale", [1, 1000])
def test_streaming_attention_is_exact(chapter, block, scale):
    Q, K, V = np.random.default_rng(0).standard_normal((3, 100, 8))
    expected, _ = scaled_dot_product_attention(scale * Q, K, V)
    assert np.allclose(chapter["streaming_attention"](scale * Q, K, V, block), expected)


@pytest.mark.parametrize("window", [0, 1, 5, 60])
def test_windowed_attention_is_masked_attention(chapter, window):
    Q, K, V = np.random.default_rng(0).standard_normal((3, 50, 8))
    mask = chapter["band_mask"](50, window)
    expected, _ = scaled_dot_product_attention(Q, K, V, mask)
    assert np.allclose(chapter["windowed_attention"](Q, K, V, window), expected)


@pytest.mark.parametrize(("window", "n_layers"), [(1, 3), (2, 5), (4, 2)])
def test_news_travels_window_times_layers_and_no_farther(chapter, window, n_layers):
    X = 0.1 * np.random.default_rng(1).standard_normal((32, 16))
    changed = X.copy()
    changed[0] += 0.1
    stack = chapter["stack"]
    moved = stack(X, window, n_layers) != stack(changed, window, n_layers)
    assert np.flatnonzero(moved.any(axis=1)).max() == window * n_layers


@pytest.mark.parametrize(("n", "width"), [(101, 3), (101, 5), (30, 7), (9, 3), (2, 9)])
def test_two_ends_meet_after_half_a_width_per_layer(chapter, n, width):
    expected = math.ceil((n - 1) / (width // 2))
    assert chapter["layers_until_all_meet"](n, width) == expected
