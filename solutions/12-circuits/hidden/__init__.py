"""Hidden checks of 12-circuits; only grading runs them, on newly drawn inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library
from autograder.checks.question import Hidden
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import draw

from .. import visible
from ..visible import compare_composition, compare_cut, compare_head
from ..visible.cases import Sizes, build, drawn, keeps_hooks

previous_token_score = Hidden(visible.previous_token_score, core=0.5)
induction_score = Hidden(visible.induction_score, core=0.5)
ablate = Hidden(visible.ablate, core=0.5)
find_induction_head = Hidden(visible.find_induction_head, core=0.5)
key_composition = Hidden(visible.key_composition, core=0.5)


def maps(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    """Random causal weights."""
    scores = 2 * draw(rng, *shape, dtype=np.float64)
    past = torch.ones(shape[-2:]).tril() > 0
    return scores.where(past, torch.tensor(-torch.inf).double()).softmax(-1)


def oracle_score(weights: torch.Tensor, back: int, start: int) -> torch.Tensor:
    """Entry by entry."""
    rows = range(start, weights.shape[-1])
    return sum(weights[..., i, i - back] for i in rows) / len(rows)  # type: ignore


@previous_token_score.check(0.3)
def previous_scores_of_random_maps(answer: Any, rng: np.random.Generator) -> None:
    """Maps of any size, with any number of leading axes, get the right score."""
    for shape in ((2, 3, 4, 7, 7), (5, 5), (4, 6, 6)):
        weights = maps(rng, *shape)
        expect.agree(expect.call(answer, weights), oracle_score(weights, 1, 1))


@previous_token_score.check(0.2)
def two_tokens_are_enough(answer: Any, rng: np.random.Generator) -> None:
    """With n = 2 one entry counts, and the score stays in single precision."""
    weights = maps(rng, 3, 2, 2).float()
    result = expect.call(answer, weights)
    expect.agree(result, weights[:, 1, 0])
    expect.dtype(result, "float32")


@induction_score.check(0.3)
def induction_scores_of_random_maps(answer: Any, rng: np.random.Generator) -> None:
    """Maps of any size, with any period below n, get the right score."""
    for shape in ((2, 3, 8, 8), (9, 9), (2, 2, 2, 12, 12)):
        for period in (2, 3, shape[-1] // 2, shape[-1] - 1):
            weights = maps(rng, *shape)
            wanted = oracle_score(weights, period - 1, period)
            expect.agree(expect.call(answer, weights, period), wanted)


@induction_score.check(0.2)
def induction_keeps_single_precision(answer: Any, rng: np.random.Generator) -> None:
    """Single precision stays single precision."""
    weights = maps(rng, 2, 3, 8, 8).float()
    result = expect.call(answer, weights, 4)
    expect.agree(result, oracle_score(weights, 3, 4))
    expect.dtype(result, "float32")


@ablate.check(0.35)
def heads_of_any_model_are_cut(answer: Any, rng: np.random.Generator) -> None:
    """Any head is cut in models of one to three layers and one to four heads."""
    for n_heads, n_layers, d_k in ((1, 1, 4), (4, 3, 2), (2, 2, 5)):
        sizes = Sizes(7, 9, n_heads * d_k, n_heads, n_layers)
        state = drawn(rng, sizes)
        model = build(answer, sizes, state)
        tokens = torch.from_numpy(rng.integers(0, 7, (2, 6)))
        for at in np.ndindex(n_layers, n_heads):
            compare_cut(answer, model, state, sizes, tokens, at)


@ablate.check(0.15)
def nothing_else_is_touched(answer: Any, rng: np.random.Generator) -> None:
    """Parameters, gradients, hooks and `requires_grad` stay unchanged in all layers."""
    sizes = Sizes(5, 6, 8, 2, 2)
    model = build(answer, sizes, drawn(rng, sizes))
    tokens = torch.from_numpy(rng.integers(0, 5, (1, 5)))
    model.layers[0].W_o.requires_grad_(False)
    held = library(answer, "torch.nn", "ParameterList")(model.parameters())
    size = library(answer, "torch.nn.utils", "clip_grad_norm_")
    gradients(model, tokens, weights=torch.ones(1, 5, 5))
    before = float(size(model.parameters(), float("inf")))
    answer(model, tokens, 1, 1)
    weights = [
        part.weight for part in (*(a.W_o for a in model.layers), model.embedding)
    ]
    if [weight.requires_grad for weight in weights] != [False, True, True]:
        raise CheckFailed("`requires_grad` has changed", "as before")
    if not np.isclose(float(size(model.parameters(), float("inf"))), before):
        raise CheckFailed("gradients have changed", "as before")
    held.requires_grad_(False)
    if any(part.W_o.weight.requires_grad for part in model.layers):
        raise CheckFailed("a parameter was replaced by a new one", "the same as before")
    if not keeps_hooks(answer, model, tokens):
        raise CheckFailed("a hook that was there before is gone", "hooks as before")


@find_induction_head.check(0.5)
def heads_of_random_circuits_are_found(answer: Any, rng: np.random.Generator) -> None:
    """The head is found in models of 2 or 3 layers, for any period and any token."""
    for n_layers, layer in ((2, 1), (3, 1), (3, 2)):
        places = [(a, b) for a in range(n_layers) for b in range(2)]
        others = ("same", "self", "blur")
        kinds = {at: others[int(rng.integers(3))] for at in places}
        kinds[0, int(rng.integers(2))] = "previous"
        kinds[layer, int(rng.integers(2))] = "induction"
        period, seed = int(rng.integers(5, 13)), int(rng.integers(10**6))
        found_alone(answer, kinds, period, n_layers, seed)
    # heads that show only where every token is drawn, and where means are compared:
    # in a text of three tokens, one 0 gives the rare head more than all others have;
    # five draws out of six have a 0
    for one, two, period, sought in (
        ("self", "rare", 12, "rare"),
        ("self", "last", 12, "last"),
        *[("even", "rare", 3, "even")] * 4,
    ):
        kinds = {(0, 0): "self", (0, 1): "previous", (1, 0): one, (1, 1): two}
        found_alone(answer, kinds, period, 2, int(rng.integers(10**6)), sought)


def found_alone(answer: Any, *case: Any) -> None:
    """:func:`compare_head`, which tells nothing of the model."""
    try:
        compare_head(answer, *case)
    except CheckFailed as failure:
        raise CheckFailed("a different head or result", kind=failure.kind) from None


@key_composition.check(0.5)
def compositions_of_random_heads(answer: Any, rng: np.random.Generator) -> None:
    """Random matrices of any rank give the right composition, in both precisions."""
    for d, rank in ((2, 1), (6, 2), (9, 9)):
        for dtype in (np.float64, np.float32):
            a, b, c, e = (draw(rng, d, rank, dtype=dtype) for _ in range(4))
            read, written = a @ b.T, c @ e.T
            middle = np.einsum("ij,kj->ik", read.double(), written.double())
            wanted = np.sqrt((middle**2).sum())
            for one in (read, written):
                wanted = wanted / np.sqrt((one.double().numpy() ** 2).sum())
            compare_composition(answer, float(wanted), read, written)
