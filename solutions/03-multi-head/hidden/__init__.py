"""Hidden checks of 03-multi-head, run only in grading, on random inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.hunt import Hunt
from autograder.checks.question import Hidden
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import draw, loaded

from .. import visible
from ..visible.cases import drawn_weights, head_shapes, multi_head_shapes

AttentionHead = Hidden(visible.AttentionHead, core=0.5)
plot_attention = Hidden(visible.plot_attention, core=0.7)
split_heads = Hidden(visible.split_heads, core=0.6)
merge_heads = Hidden(visible.merge_heads, core=0.6)
MultiHeadAttention = Hidden(visible.MultiHeadAttention, core=0.5)
check_split_heads = Hunt(visible.check_split_heads, visible.assignment)


def compare(result: Any, expected: tuple[torch.Tensor, torch.Tensor]) -> None:
    """Compare a pair (output, weights) with the oracle's."""
    expect.agree_pair(result, expected, tolerance=1e-4)


def weights_of(q: torch.Tensor, k: torch.Tensor, mask: Any = None) -> torch.Tensor:
    """Compute the weights with torch's own attention and the identity as values."""
    eye = torch.eye(k.shape[-2]).expand(*k.shape[:-1], k.shape[-2])
    return F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)


# ---------------------------------------------------------- AttentionHead


def head_oracle(x: torch.Tensor, state: dict) -> tuple[torch.Tensor, torch.Tensor]:
    q, k, v = (x @ state[f"W_{name}.weight"].T for name in "qkv")
    return F.scaled_dot_product_attention(q, k, v), weights_of(q, k)


@AttentionHead.check(0.2)
def head_agrees_with_torch(answer: Any, rng: np.random.Generator) -> None:
    """With random weights the head agrees with torch's own attention."""
    for batch, n, d_model, d_k in [(2, 5, 10, 3), (3, 3, 3, 3), (1, 7, 6, 11)]:
        shapes = head_shapes(d_model, d_k)
        head = answer(d_model, d_k)
        state = loaded(head, shapes, rng)
        x = draw(rng, batch, n, d_model)
        compare(expect.call(head, x), head_oracle(x, state))


@AttentionHead.check(0.1)
def head_with_large_scores(answer: Any, rng: np.random.Generator) -> None:
    """Very large scores give finite results."""
    head = answer(6, 4)
    state = loaded(head, head_shapes(6, 4), rng)
    for scale in (5, 15):  # in float32, exp overflows beyond 88
        x = scale * draw(rng, 8, 8, 6)
        compare(expect.call(head, x), head_oracle(x, state))


@AttentionHead.check(0.2)
def head_lets_gradients_through(answer: Any, rng: np.random.Generator) -> None:
    """The gradients of all three matrices and of the input are right."""
    head = answer(6, 4)
    state = loaded(head, head_shapes(6, 4), rng)
    x, weights = draw(rng, 2, 5, 6), draw(rng, 2, 5, 4)
    compare_gradients(head, state, (x,), weights, lambda s, x: head_oracle(x, s)[0])


def compare_gradients(
    module: Any, state: dict, inputs: tuple, weights: torch.Tensor, oracle: Any
) -> None:
    """Compare the module's gradients with those of ``oracle(state, *inputs)``."""
    found = gradients(module, *inputs, weights=weights)
    inputs = tuple(x.clone().requires_grad_() for x in inputs)
    state = {name: value.clone().requires_grad_() for name, value in state.items()}
    (oracle(state, *inputs) * weights).sum().backward()
    pairs = list(zip(found["inputs"], [x.grad for x in inputs], strict=True))
    pairs += [(found["parameters"].get(name), t.grad) for name, t in state.items()]
    for value, wanted in pairs:
        if value is None:
            raise CheckFailed("a gradient is missing", "a gradient", kind="type")
        expect.agree(value, wanted, "a gradient", tolerance=1e-3)


# --------------------------------------------------------- plot_attention


@plot_attention.check(0.3)
def map_of_any_sentence(answer: Any, rng: np.random.Generator) -> None:
    """Weights of other sentences are drawn correctly, even if a token occurs twice."""
    n = int(rng.integers(5, 9))
    tokens = ["the", *(f"word{i}" for i in range(n - 2)), "the"]
    weights = rng.dirichlet(np.ones(n), size=n)
    expect.close(drawn_weights(answer, weights, tokens), weights)


# ------------------------------------------------ split_heads, merge_heads

SIZES = [(2, 5, 3, 4), (3, 3, 3, 3), (1, 7, 2, 5), (2, 4, 6, 1), (2, 2, 1, 6)]


@split_heads.check(0.4)
def split_of_random_tensors(answer: Any, rng: np.random.Generator) -> None:
    """Other sizes are split correctly, including equal sizes and transposed inputs."""
    for batch, n, n_heads, d_k in SIZES:
        x = draw(rng, batch, n, n_heads * d_k)
        wanted = torch.stack(x.split(d_k, dim=-1), dim=1)
        given = x.transpose(0, 1).contiguous().transpose(0, 1)  # not contiguous
        expect.agree(expect.call(answer, given, n_heads), wanted)


@merge_heads.check(0.4)
def merge_of_random_tensors(answer: Any, rng: np.random.Generator) -> None:
    """Other sizes are merged correctly, including equal sizes and contiguous inputs."""
    for batch, n, n_heads, d_k in SIZES:
        heads = draw(rng, batch, n_heads, n, d_k)
        wanted = torch.cat(list(heads.unbind(1)), dim=-1)
        expect.agree(expect.call(answer, heads), wanted)


# ----------------------------------------------------- MultiHeadAttention


def multi_head_oracle(
    state: dict, n_heads: int, query: Any, key: Any, value: Any, mask: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute multi-head attention head by head, with torch's own attention."""
    q = query @ state["W_q.weight"].T
    k = key @ state["W_k.weight"].T
    v = value @ state["W_v.weight"].T
    d_k = q.shape[-1] // n_heads
    outputs, maps = [], []
    for head, (a, b, c) in enumerate(
        zip(q.split(d_k, -1), k.split(d_k, -1), v.split(d_k, -1), strict=True)
    ):
        own = None
        if mask is not None:
            full = mask.expand(q.shape[0], n_heads, q.shape[1], k.shape[1])
            own = full[:, head]
        outputs.append(F.scaled_dot_product_attention(a, b, c, attn_mask=own))
        maps.append(weights_of(a, b, own))
    return torch.cat(outputs, -1) @ state["W_o.weight"].T, torch.stack(maps, 1)


@MultiHeadAttention.check(0.2)
def multi_head_agrees_with_torch(answer: Any, rng: np.random.Generator) -> None:
    """With random weights, and keys unlike values, the module agrees with torch."""
    for batch, n_q, n_k, d_model, n_heads in [
        (2, 3, 5, 12, 3),
        (4, 4, 4, 4, 2),
        (1, 6, 2, 10, 5),
        (2, 3, 4, 6, 1),
    ]:
        module = answer(d_model, n_heads)
        state = loaded(module, multi_head_shapes(d_model), rng)
        query = draw(rng, batch, n_q, d_model)
        key, value = draw(rng, batch, n_k, d_model), draw(rng, batch, n_k, d_model)
        expected = multi_head_oracle(state, n_heads, query, key, value)
        compare(expect.call(module, query, key, value), expected)


@MultiHeadAttention.check(0.15)
def multi_head_obeys_any_mask(answer: Any, rng: np.random.Generator) -> None:
    """Masks of every shape that broadcasts work, in train and in eval mode."""
    module = answer(12, 3)
    state = loaded(module, multi_head_shapes(12), rng)
    query, key, value = (draw(rng, 2, n, 12) for n in (4, 5, 5))
    for shape in [(4, 5), (2, 1, 1, 5), (2, 3, 4, 5)]:
        mask = torch.from_numpy(rng.random(shape) < 0.6)
        mask[..., int(rng.integers(5))] = True  # nobody is left without a key
        expected = multi_head_oracle(state, 3, query, key, value, mask)
        for training in (True, False):
            module.train(training)
            compare(expect.call(module, query, key, value, mask), expected)


@MultiHeadAttention.check(0.15)
def multi_head_lets_gradients_through(answer: Any, rng: np.random.Generator) -> None:
    """The gradients of all four matrices and of the three inputs are right."""
    module = answer(6, 2)
    state = loaded(module, multi_head_shapes(6), rng)
    inputs = tuple(draw(rng, 2, n, 6) for n in (3, 4, 4))
    compare_gradients(
        module,
        state,
        inputs,
        draw(rng, 2, 3, 6),
        lambda s, *three: multi_head_oracle(s, 2, *three)[0],
    )
