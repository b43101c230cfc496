"""Hidden checks of 11-a-real-llm, for grading only, on inputs drawn for each run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.question import Hidden
from autograder.torch_support.tensors import draw

from .. import visible
from ..visible import compare_number
from ..visible.cases import Sizes, compare_loaded, new_layer, published

rms_norm = Hidden(visible.rms_norm, core=0.5)
to_halves = Hidden(visible.to_halves, core=0.5)
load_decoder_layer = Hidden(visible.load_decoder_layer, core=0.5)
sink_share = Hidden(visible.sink_share, core=0.5)
perplexity = Hidden(visible.perplexity, core=0.5)


def agree_in_double(
    value: Any, expected: torch.Tensor, tolerance: float = 1e-9
) -> None:
    """The result agrees with the oracle and is in double precision, like the input."""
    seen = expect.tensor(value, tuple(expected.shape))
    if seen.dtype != np.float64:
        raise CheckFailed("a different dtype", kind="type")
    expect.close(seen, expected.numpy(), tolerance=tolerance)


# ----------------------------------------------------------------- rms_norm


@rms_norm.check(0.2)
def norm_of_random_vectors(answer: Any, rng: np.random.Generator) -> None:
    """For any number of batches, the result agrees with torch's own RMSNorm."""
    for shape in [(7,), (3, 5), (2, 3, 4, 6)]:
        x, weight = 3 * draw(rng, *shape) + 1, draw(rng, shape[-1])
        wanted = F.rms_norm(x, shape[-1:], weight, eps=1e-5)
        expect.agree(expect.call(answer, x, weight), wanted)


@rms_norm.check(0.2)
def epsilon_counts_under_the_root(answer: Any, rng: np.random.Generator) -> None:
    """``eps`` is added to the mean square, so that small vectors stay finite."""
    weight = 1 + draw(rng, 6).abs()
    x = draw(rng, 3, 6)
    for eps in (0.3, 2.0):
        wanted = F.rms_norm(x, (6,), weight, eps=eps)
        expect.agree(expect.call(answer, x, weight, eps), wanted)
    tiny = torch.cat([torch.zeros_like(x), 1e-3 * x])
    wanted = F.rms_norm(tiny, (6,), weight, eps=1e-5)
    expect.agree(expect.call(answer, tiny, weight), wanted)


@rms_norm.check(0.1)
def norm_keeps_double_precision(answer: Any, rng: np.random.Generator) -> None:
    """Double precision stays double precision."""
    x, weight = draw(rng, 2, 5, dtype=np.float64), draw(rng, 5, dtype=np.float64)
    wanted = F.rms_norm(x, (5,), weight, eps=1e-5)
    # published models do this in float32, whatever the dtype of their tokens
    agree_in_double(expect.call(answer, x, weight), wanted, tolerance=1e-5)


# ---------------------------------------------------------------- to_halves


def turned(x: np.ndarray, *, halves: bool) -> np.ndarray:
    """Return vectors (heads, n, d) turned by their positions, as complex numbers."""
    n, d = x.shape[-2:]
    if halves:
        pairs = x[..., : d // 2] + 1j * x[..., d // 2 :]
    else:
        pairs = x[..., 0::2] + 1j * x[..., 1::2]
    frequencies = 100000.0 ** (-np.arange(d // 2) / (d // 2))
    return pairs * np.exp(1j * np.arange(n)[:, None] * frequencies)


def scores(
    x: np.ndarray, q: np.ndarray, k: np.ndarray, n_heads: int, *, halves: bool
) -> np.ndarray:
    """Return scores (heads, n, n) of vectors (n, d_model), projected and rotated."""
    split = [
        (x @ w.T).reshape(len(x), n_heads, -1).swapaxes(0, 1).astype(np.float64)
        for w in (q, k)
    ]
    left, right = (turned(part, halves=halves) for part in split)
    return (left @ right.conj().swapaxes(-1, -2)).real


@to_halves.check(0.25)
def scores_of_a_long_text_stay(answer: Any, rng: np.random.Generator) -> None:
    """The new rows rotated in halves give the same scores as the old rows in pairs."""
    for n_heads, d_k, d_model in [(3, 8, 10), (1, 6, 7), (4, 10, 5)]:
        q, k = (draw(rng, n_heads * d_k, d_model) for _ in range(2))
        x = rng.standard_normal((60, d_model))
        wanted = scores(x, q.numpy(), k.numpy(), n_heads, halves=False)
        found = [
            expect.tensor(expect.call(answer, w.clone(), n_heads), tuple(w.shape))
            for w in (q, k)
        ]
        expect.close(scores(x, *found, n_heads, halves=True), wanted, tolerance=1e-4)


@to_halves.check(0.15)
def rows_of_any_size_find_their_place(answer: Any, rng: np.random.Generator) -> None:
    """Row 2i of a head becomes row i, and row 2i + 1 becomes row i + d_k / 2."""
    for n_heads, half, d_model in [(2, 1, 3), (5, 3, 4), (3, 4, 24), (9, 32, 6)]:
        weight = draw(rng, n_heads * 2 * half, d_model)
        value = expect.call(answer, weight.clone(), n_heads)
        found = expect.tensor(value, tuple(weight.shape))
        for head in range(n_heads):
            start = head * 2 * half
            before = weight[start : start + 2 * half].numpy()
            after = found[start : start + 2 * half]
            expect.close(after[:half], before[0::2])
            expect.close(after[half:], before[1::2])


@to_halves.check(0.1)
def projection_keeps_double_precision(answer: Any, rng: np.random.Generator) -> None:
    """Double precision stays double precision."""
    weight = draw(rng, 4, 3, dtype=np.float64)
    agree_in_double(expect.call(answer, weight.clone(), 1), weight[[0, 2, 1, 3]])


# ------------------------------------------------------- load_decoder_layer


def oracle_layer(
    tensors: Mapping[str, torch.Tensor], index: int, x: np.ndarray, sizes: Sizes
) -> np.ndarray:
    """Return the outputs (n, d_model) of the published layer, which rotates pairs.

    The code uses double precision, complex numbers for the rotation, and torch's
    fused kernel for attention.
    """

    def part(name: str) -> np.ndarray:
        return tensors[f"blk.{index}.{name}.weight"].double().numpy()

    def normalized(x: np.ndarray, name: str) -> np.ndarray:
        found = F.rms_norm(torch.from_numpy(x), x.shape[-1:], eps=1e-5)
        return found.numpy() * part(name)

    n, (_, n_heads, n_kv, _) = len(x), sizes
    h = normalized(x, "attn_norm")
    heads = {
        name: (h @ part(f"attn_{name}").T).reshape(n, count, -1).swapaxes(0, 1)
        for name, count in (("q", n_heads), ("k", n_kv), ("v", n_kv))
    }
    for name in "qk":
        pairs = turned(heads[name], halves=False)
        heads[name] = np.concatenate([pairs.real, pairs.imag], axis=-1)
    q, k, v = (torch.from_numpy(heads[name].copy()) for name in "qkv")
    attended = F.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=True, enable_gqa=True
    )[0]
    together = attended.numpy().swapaxes(0, 1).reshape(n, -1)
    x = x + together @ part("attn_output").T
    h = normalized(x, "ffn_norm")
    gate = torch.from_numpy(h @ part("ffn_gate").T)
    return x + (F.silu(gate).numpy() * (h @ part("ffn_up").T)) @ part("ffn_down").T


def compare_outputs(layer: Any, x: np.ndarray, wanted: np.ndarray) -> None:
    """Compare the layer's outputs for vectors (n, d_model) with the correct ones."""
    value = expect.call(layer, torch.from_numpy(x[None]))
    expect.close(
        expect.tensor(value, (1, *x.shape), "the output")[0], wanted, tolerance=1e-4
    )


@load_decoder_layer.check(0.2)
def layers_of_any_size_are_loaded(answer: Any, rng: np.random.Generator) -> None:
    """Layers with other numbers of heads are loaded correctly, whatever the index."""
    for n_layers, sizes in [
        (3, (16, 2, 1, 6)),
        (13, (24, 4, 4, 5)),
        (2, (30, 3, 1, 9)),
    ]:
        tensors = published(rng, n_layers, sizes)
        # "blk.1" also begins the names of blk.10 and those after it
        index = 1 if n_layers > 10 else int(rng.integers(1, n_layers))
        try:
            compare_loaded(answer, tensors, index, sizes)
        except CheckFailed:
            raise CheckFailed("different numbers") from None


@load_decoder_layer.check(0.3)
def loaded_layer_reads_a_long_text(answer: Any, rng: np.random.Generator) -> None:
    """On 80 tokens, outputs agree with those of a layer that rotates pairs."""
    for sizes in [(32, 4, 2, 20), (72, 9, 3, 30)]:
        tensors, index = published(rng, 3, sizes), 1
        layer = new_layer(answer, sizes)
        answer(layer, tensors, index)
        x = rng.standard_normal((80, sizes[0])).astype(np.float32)
        compare_outputs(layer, x, oracle_layer(tensors, index, x.astype(float), sizes))


# --------------------------------------------------------------- sink_share


def oracle_share(weights: torch.Tensor) -> torch.Tensor:
    """Compute the shares head by head."""
    return torch.stack(
        [
            torch.stack(
                [sum(row[0] for row in head[4:]) / len(head[4:]) for head in layer]
            )
            for layer in weights
        ]
    )


@sink_share.check(0.3)
def shares_of_random_maps(answer: Any, rng: np.random.Generator) -> None:
    """The shares are the mean weights that late queries put on token 0."""
    for layers, heads, n in [(3, 4, 9), (2, 6, 6), (4, 1, 12)]:
        weights = (2 * draw(rng, layers, heads, n, n)).softmax(dim=-1)
        expect.agree(expect.call(answer, weights), oracle_share(weights))


@sink_share.check(0.1)
def five_tokens_are_enough(answer: Any, rng: np.random.Generator) -> None:
    """With n = 5, only one query counts."""
    weights = (2 * draw(rng, 2, 3, 5, 5)).softmax(dim=-1)
    expect.agree(expect.call(answer, weights), weights[:, :, 4, 0])


@sink_share.check(0.1)
def shares_keep_double_precision(answer: Any, rng: np.random.Generator) -> None:
    """Double precision stays double precision."""
    weights = draw(rng, 2, 2, 8, 8, dtype=np.float64).softmax(dim=-1)
    agree_in_double(expect.call(answer, weights), oracle_share(weights))


# --------------------------------------------------------------- perplexity


def oracle_perplexity(logits: torch.Tensor, tokens: torch.Tensor) -> float:
    """Return the exponential of torch's cross-entropy, in double precision."""
    return float(F.cross_entropy(logits[:-1].double(), tokens[1:]).exp())


@perplexity.check(0.3)
def perplexity_of_random_logits(answer: Any, rng: np.random.Generator) -> None:
    """For texts and vocabularies of several sizes, torch gives the same perplexity."""
    for n, vocabulary in [(12, 30), (40, 7), (2, 5), (9, 9)]:
        logits = 2 * draw(rng, n, vocabulary)
        tokens = torch.from_numpy(rng.integers(0, vocabulary, n))
        wanted = oracle_perplexity(logits, tokens)
        compare_number(expect.call(answer, logits, tokens), wanted)


@perplexity.check(0.2)
def large_logits_do_no_harm(answer: Any, rng: np.random.Generator) -> None:
    """Logits of ±500 do not overflow."""
    tokens = torch.from_numpy(rng.integers(0, 6, 10))
    for offset in (500.0, -500.0):
        logits = draw(rng, 10, 6) + offset
        wanted = oracle_perplexity(logits, tokens)
        compare_number(expect.call(answer, logits, tokens), wanted)
