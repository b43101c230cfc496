"""Hidden checks of 06-encoder-layer, run only in grading, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden
from autograder.torch_support import modules
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import draw, loaded

from .. import visible
from ..visible.cases import (
    embedded,
    ffn_shapes,
    layer_shapes,
    linear,
    torch_layer,
    whole,
)

FeedForward = Hidden(visible.FeedForward, core=0.5)
EncoderLayer = Hidden(visible.EncoderLayer, core=0.5)
count_parameters = Hidden(visible.count_parameters, core=0.4)
encode = Hidden(visible.encode, core=0.5)
check_feed_forward = Hunt(visible.check_feed_forward, visible.assignment)


def compare(value: Any, expected: torch.Tensor) -> None:
    """Compare an output with the oracle's."""
    expect.agree(value, expected, "the output", tolerance=2e-4)


# ------------------------------------------------------------ FeedForward


def ffn_oracle(x: torch.Tensor, state: dict) -> torch.Tensor:
    hidden = F.linear(x, state["linear1.weight"], state["linear1.bias"])
    hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))
    return F.linear(hidden, state["linear2.weight"], state["linear2.bias"])


@FeedForward.check(0.25)
def ffn_agrees_with_the_formula(answer: Any, rng: np.random.Generator) -> None:
    """Random parameters give the right numbers in eval mode."""
    for d_model, d_ff in [(6, 10), (5, 5), (7, 3)]:
        ffn = answer(d_model, d_ff)
        state = loaded(ffn, ffn_shapes(d_model, d_ff), rng)
        ffn.eval()
        x = 2 * draw(rng, 2, 4, d_model)
        compare(expect.call(ffn, x), ffn_oracle(x, state))


@FeedForward.check(0.25)
def ffn_drops_after_the_activation(answer: Any, rng: np.random.Generator) -> None:
    """Dropout acts once, on the hidden activations, at the rate given."""
    ffn = answer(4, 30, dropout=1.0)  # all of them are dropped
    state = loaded(ffn, ffn_shapes(4, 30), rng)
    ffn.train()
    x = draw(rng, 2, 3, 4)
    compare(expect.call(ffn, x), state["linear2.bias"].expand(2, 3, 4))
    calm = answer(4, 30, dropout=0.0)
    modules.load(calm, state)
    calm.train()
    compare(expect.call(calm, x), ffn_oracle(x, state))
    # of many equal activations half are dropped, one by one; the others are doubled
    many = {name: torch.ones(shape) for name, shape in ffn_shapes(1, 4000).items()}
    many["linear2.bias"] *= 0
    tokens = torch.ones(2, 3, 1)
    for bias in (1.0, -2.0):  # what is dropped before the GELU shows below 0
        wide = answer(1, 4000, dropout=0.5)
        modules.load(wide, many | {"linear1.bias": torch.full((4000,), bias)})
        wide.train()
        wanted = ffn_oracle(tokens, wide.state_dict())
        expect.close(
            expect.tensor(expect.call(wide, tokens), (2, 3, 1)) / wanted.numpy(),
            1.0,
            tolerance=0.2,  # twelve standard deviations
        )


# ----------------------------------------------------------- EncoderLayer


def expect_gradients(
    layer: Any, oracle: Any, rng: np.random.Generator, **options: Any
) -> None:
    """Gradients of a (2, 3, 6) input and of the parameters match the oracle's."""
    x, weights = draw(rng, 2, 3, 6), draw(rng, 2, 3, 6)
    found = gradients(layer, x, weights=weights)
    given = x.clone().requires_grad_()
    (oracle(given, **options) * weights).sum().backward()
    pairs = [(found["inputs"][0], given.grad)]
    for name, parameter in oracle.named_parameters():
        if not name.startswith("self_attn."):
            own = name if name.startswith("norm") else f"ffn.{name}"
            pairs.append((found["parameters"].get(own), parameter.grad))
    rows = [found["parameters"].get(f"self_attn.W_{n}.weight") for n in "qkv"]
    if all(row is not None for row in rows):
        pairs.append((torch.cat(rows), oracle.self_attn.in_proj_weight.grad))
    else:
        pairs.append((None, None))
    for value, wanted in pairs:
        if value is None:
            raise CheckFailed("a gradient is missing", "a gradient", kind="type")
        expect.agree(value, wanted, "a gradient", tolerance=2e-3)


def expect_half_dropped(answer: Any) -> None:
    """With dropout=0.5, half of each branch's numbers are dropped, one by one."""
    quiet = {name: torch.zeros(shape) for name, shape in layer_shapes(12, 20).items()}
    quiet |= {f"norm{i}.weight": torch.ones(12) for i in (1, 2)}
    for branch in ("self_attn.W_o.bias", "ffn.linear2.bias"):
        layer = answer(12, 3, 20, dropout=0.5)
        modules.load(layer, quiet | {branch: torch.ones(12)})  # gives 1 everywhere
        layer.train()
        result = expect.call(layer, torch.zeros(4, 50, 12))
        kept = expect.tensor(result, (4, 50, 12)) > 0
        alike = kept.all(axis=-1) | ~kept.any(axis=-1)  # whole tokens
        # ten standard deviations
        if abs(kept.mean() - 0.5) > 0.1 or alike.mean() > 0.1:
            raise CheckFailed("the wrong share is dropped, or whole tokens are", "")


@EncoderLayer.check(0.2)
def layer_agrees_with_torch(answer: Any, rng: np.random.Generator) -> None:
    """With random parameters, norms included, the layer agrees with torch's own."""
    for d_model, n_heads, d_ff in [(12, 3, 20), (6, 2, 6), (8, 1, 5)]:
        layer = answer(d_model, n_heads, d_ff)
        state = loaded(layer, layer_shapes(d_model, d_ff), rng)
        layer.eval()
        x = draw(rng, 3, 5, d_model)
        compare(expect.call(layer, x), torch_layer(d_model, n_heads, d_ff, state)(x))


@EncoderLayer.check(0.1)
def layer_obeys_masks(answer: Any, rng: np.random.Generator) -> None:
    """With a padding mask and with a causal mask, the layer agrees with torch's own."""
    layer = answer(12, 3, 20)
    state = loaded(layer, layer_shapes(12, 20), rng)
    layer.eval()
    x, oracle = draw(rng, 2, 5, 12), torch_layer(12, 3, 20, state)
    real = torch.arange(5) < torch.tensor([[5], [int(rng.integers(2, 5))]])
    compare(
        expect.call(layer, x, real[:, None, None, :]),
        oracle(x, src_key_padding_mask=~real),
    )
    causal = torch.ones(5, 5).tril().bool()
    compare(expect.call(layer, x, causal), oracle(x, src_mask=~causal))


@EncoderLayer.check(0.1)
def layer_drops_on_both_branches(answer: Any, rng: np.random.Generator) -> None:
    """In train mode, dropout acts on both branches before the sum and nowhere else."""
    layer = answer(12, 3, 20, dropout=1.0)  # the branches vanish, residuals stay
    state = loaded(layer, layer_shapes(12, 20), rng)
    x = draw(rng, 2, 4, 12)
    layer.train()
    alone = x
    for norm in ("norm1", "norm2"):
        alone = F.layer_norm(
            alone, (12,), state[f"{norm}.weight"], state[f"{norm}.bias"]
        )
    compare(expect.call(layer, x), alone)
    layer.eval()
    compare(expect.call(layer, x), torch_layer(12, 3, 20, state)(x))
    calm = answer(12, 3, 20, dropout=0.0)  # nothing is dropped, inside ffn neither
    modules.load(calm, state)
    calm.train()
    compare(expect.call(calm, x), torch_layer(12, 3, 20, state)(x))
    expect_half_dropped(answer)


@EncoderLayer.check(0.1)
def layer_lets_gradients_through(answer: Any, rng: np.random.Generator) -> None:
    """The gradients of the input and of every parameter are right."""
    layer = answer(6, 2, 8)
    state = loaded(layer, layer_shapes(6, 8), rng)
    layer.eval()
    expect_gradients(layer, torch_layer(6, 2, 8, state), rng)


# ------------------------------------------------------- count_parameters


@count_parameters.check(0.6)
def layers_of_any_size_are_counted(answer: Any, rng: np.random.Generator) -> None:
    """Layers of other sizes have as many parameters as torch's own."""
    for _ in range(3):
        d_model, d_ff = (int(n) for n in rng.integers(2, 40, size=2))
        layer = nn.TransformerEncoderLayer(d_model, 1, d_ff)
        wanted = sum(parameter.numel() for parameter in layer.parameters())
        if whole(expect.call(answer, d_model, d_ff)) != wanted:
            raise CheckFailed("different numbers")


# ----------------------------------------------------------------- encode


def sinusoids(n: int, d_model: int) -> torch.Tensor:
    """Compute the positions with complex numbers: pair i turns at its own frequency."""
    rates = 10000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    turns = np.exp(1j * np.multiply.outer(np.arange(n), rates))
    waves = np.stack([turns.imag, turns.real], axis=-1).reshape(n, d_model)
    return torch.from_numpy(waves.astype(np.float32))


@encode.check(0.5)
def encode_agrees_with_its_steps(answer: Any, rng: np.random.Generator) -> None:
    """Random tokens, embeddings and layers give the right vectors."""
    for batch, n, d_model in [(2, 6, 10), (4, 4, 4), (1, 30, 6)]:
        weight = draw(rng, 9, d_model)
        tokens = torch.from_numpy(rng.integers(0, 9, size=(batch, n)))
        matrices = [0.5 * draw(rng, d_model, d_model) for _ in range(3)]
        wanted = weight[tokens] * d_model**0.5 + sinusoids(n, d_model)
        for matrix in matrices:
            wanted = wanted @ matrix.T
        layers = [linear(answer, matrix) for matrix in matrices]
        embedding = embedded(answer, weight)
        for _ in range(2):  # the embedding is not changed
            compare(expect.call(answer, tokens, embedding, layers), wanted)
    tokens = torch.zeros(1, 500, dtype=torch.long)  # far out, the base shows
    found = expect.call(answer, tokens, embedded(answer, torch.zeros(2, 6)), [])
    compare(found, sinusoids(500, 6)[None])
    expect.dtype(found, "float32")
