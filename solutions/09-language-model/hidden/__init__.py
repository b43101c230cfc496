"""Hidden checks of 09-language-model; only grading runs them, on new inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from paying_attention.encoder_layer.hidden import expect_gradients, expect_half_dropped
from paying_attention.encoder_layer.visible.cases import layer_shapes, torch_layer
from torch.nn import functional as F

from autograder.checks import expect
from autograder.checks.failures import CheckFailed
from autograder.checks.library import library
from autograder.checks.question import Hidden
from autograder.torch_support import modules
from autograder.torch_support.gradients import gradients
from autograder.torch_support.tensors import draw, loaded

from .. import visible
from ..visible.cases import draws, generator, ids, output

next_token_loss = Hidden(visible.next_token_loss, core=0.4)
sample = Hidden(visible.sample, core=0.4)
DecoderLayer = Hidden(visible.DecoderLayer, core=0.5)


def random_tokens(rng: np.random.Generator, n: int, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.integers(0, n, size=shape))


# -------------------------------------------------------- next_token_loss


def oracle_loss(
    logits: torch.Tensor, tokens: torch.Tensor, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """torch's own loss; targets that are not real carry its mark "ignore"."""
    targets = tokens if mask is None else tokens.masked_fill(~mask, -100)
    return F.cross_entropy(logits[:, :-1].mT, targets[:, 1:])


@next_token_loss.check(0.2)
def loss_agrees_with_torch(answer: Any, rng: np.random.Generator) -> None:
    """For random logits, the loss is torch's cross-entropy, in both precisions."""
    for batch, n, vocabulary in [(3, 6, 5), (1, 2, 9), (4, 9, 3)]:
        for dtype in (np.float32, np.float64):
            logits = 3 * draw(rng, batch, n, vocabulary, dtype=dtype)
            tokens = random_tokens(rng, vocabulary, batch, n)
            loss = expect.call(answer, logits, tokens)
            expect.agree(loss, oracle_loss(logits, tokens), "the loss")
            if expect.tensor(loss, ()).dtype != dtype:
                seen = f"the loss of {np.dtype(dtype)} logits has a different dtype"
                raise CheckFailed(seen, "")


@next_token_loss.check(0.2)
def loss_obeys_any_mask(answer: Any, rng: np.random.Generator) -> None:
    """Only the real targets count, even with padding before them or between them."""
    for _ in range(3):
        logits, tokens = 3 * draw(rng, 4, 8, 6), random_tokens(rng, 6, 4, 8)
        mask = torch.from_numpy(rng.random((4, 8)) < 0.6)
        # a target after padding, and rows of different lengths
        mask[0, :4] = torch.tensor([True, False, True, False])
        mask[1, 2:], mask[1, 1] = False, True
        loss = expect.call(answer, logits, tokens, mask)
        expect.agree(loss, oracle_loss(logits, tokens, mask), "the loss")


@next_token_loss.check(0.1)
def loss_of_extreme_logits(answer: Any, rng: np.random.Generator) -> None:
    """Logits of ±10 000 give a finite and correct loss."""
    logits = 1e4 * draw(rng, 2, 5, 4).sign() + draw(rng, 2, 5, 4)
    tokens = 1 + random_tokens(rng, 3, 2, 5)
    tokens[1, 3] = 0  # the only one, and a token like any other
    # a target that all but cannot come, and one that all but must
    logits[0, 0], logits[0, 1] = 1e4, -1e4
    logits[0, 0, tokens[0, 1]], logits[0, 1, tokens[0, 2]] = -1e4, 1e4
    real = torch.ones(2, 5, dtype=torch.bool)
    for mask in (None, real):  # what must come costs nothing, and counts
        loss = expect.call(answer, logits, tokens, mask)
        expect.agree(loss, oracle_loss(logits, tokens, mask), "the loss")


@next_token_loss.check(0.1)
def loss_has_torchs_gradient(answer: Any, rng: np.random.Generator) -> None:
    """The gradient equals torch's under a mask, even at positions without a target."""
    logits, tokens = draw(rng, 3, 5, 4), random_tokens(rng, 4, 3, 5)
    mask = torch.from_numpy(rng.random((3, 5)) < 0.6)
    # a target after padding, and rows of different lengths
    mask[0, 1:] = torch.tensor([True, False, True, True])
    mask[1, 1:] = torch.tensor([False, True, False, False])
    tokens[1, 2] = 0  # a real token like any other
    found = gradients(answer, logits, tokens, mask, weights=torch.ones(()))
    given = logits.clone().requires_grad_()
    oracle_loss(given, tokens, mask).backward()
    if found["inputs"][0] is None:
        raise CheckFailed("the gradient is missing", "a gradient", kind="type")
    expect.agree(found["inputs"][0], given.grad, "the gradient")


# ----------------------------------------------------------------- sample

TIMES = 6000  # a student who draws row by row waits for each of them


def oracle_shares(
    row: torch.Tensor, temperature: float, top_k: int | None = None
) -> np.ndarray:
    """Compute the exact probabilities of the kept logits at a temperature."""
    scaled = row.numpy().astype(np.float64) / temperature
    if top_k is not None:
        scaled[np.argsort(scaled)[:-top_k]] = -np.inf
    powers = np.exp(scaled - scaled.max())
    return powers / powers.sum()


def expect_exact(seen: np.ndarray, wanted: np.ndarray) -> None:
    """Require shares within six standard deviations and no impossible tokens."""
    room = 6 * np.sqrt(wanted * (1 - wanted) / TIMES) + 3 / TIMES
    room[wanted == 0] = 0
    if (np.abs(seen - wanted) > room).any():
        raise CheckFailed("tokens were drawn too often or too rarely", "")


def some_row(rng: np.random.Generator, n: int) -> torch.Tensor:
    """Evenly spaced logits in random order, so that there are no ties."""
    return torch.from_numpy(rng.permutation(np.linspace(-1.5, 1.5, n)))


def seed_from(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


@sample.check(0.15)
def sample_obeys_the_temperature(answer: Any, rng: np.random.Generator) -> None:
    """Random logits at random temperatures give the right frequencies."""
    for temperature in (rng.uniform(0.4, 0.8), rng.uniform(1.5, 3)):
        row = some_row(rng, 6)
        seen = draws(answer, row, float(temperature), None, seed_from(rng), TIMES)
        expect_exact(seen, oracle_shares(row, temperature))


@sample.check(0.15)
def sample_obeys_top_k(answer: Any, rng: np.random.Generator) -> None:
    """Any top_k, with any temperature, gives the right frequencies."""
    for top_k, low in ((1, 0.5), (int(rng.integers(2, 5)), 1.5), (6, 0.5)):
        row, temperature = some_row(rng, 6), float(rng.uniform(low, low + 0.3))
        seen = draws(answer, row, temperature, top_k, seed_from(rng), TIMES)
        expect_exact(seen, oracle_shares(row, temperature, top_k))
        chance = generator(answer, seed_from(rng))  # a batch of one stays a batch
        ids(expect.call(answer, row[None], temperature, top_k, chance), 1)


@sample.check(0.1)
def rows_are_drawn_independently(answer: Any, rng: np.random.Generator) -> None:
    """Each row keeps its own logits and is drawn independently of the others."""
    rows = torch.stack([some_row(rng, 5), 10 + some_row(rng, 5)])
    many = rows.repeat(TIMES // 2, 1)  # one, the other, and so on
    drawn = expect.call(answer, many, 1.0, 3, generator(answer, seed_from(rng)))
    drawn = ids(drawn, TIMES).reshape(-1, 2)
    pairs = np.zeros((5, 5))
    np.add.at(pairs, (drawn[:, 0], drawn[:, 1]), 2 / TIMES)
    wanted = np.outer(*(oracle_shares(row, 1.0, 3) for row in rows))
    room = 6 * np.sqrt(2 * wanted / TIMES) + 6 / TIMES
    if (np.abs(pairs - wanted) > room).any() or pairs[wanted == 0].any():
        raise CheckFailed("pairs of tokens were drawn too often or too rarely", "")


@sample.check(0.1)
def chance_comes_from_the_generator(answer: Any, rng: np.random.Generator) -> None:
    """Draws depend only on the generator's state, and each draw advances it."""
    logits, seed = torch.zeros(60, 8), seed_from(rng)
    shared, found = generator(answer, seed), []
    for _ in range(2):
        found.append(ids(expect.call(answer, logits, 1.0, None, shared), 60))
    library(answer, "torch", "manual_seed")(seed_from(rng))
    again = expect.call(answer, logits, 1.0, None, generator(answer, seed))
    if not np.array_equal(ids(again, 60), found[0]):
        raise CheckFailed("the same generator gave different tokens", "")
    if np.array_equal(*found):
        raise CheckFailed("two draws in a row gave the same tokens", "")


@sample.check(0.1)
def sample_of_extreme_logits(answer: Any, rng: np.random.Generator) -> None:
    """Logits of ±10 000 or −∞ work, and so does a temperature near 0."""
    row = some_row(rng, 5)
    row[0], row[1] = -torch.inf, 1e4
    for temperature, shift in ((1.0, 0), (0.01, -1e4)):
        seen = draws(answer, row + shift, temperature, None, seed_from(rng), TIMES)
        expect_exact(seen, np.array([0.0, 1, 0, 0, 0]))
    row[1] = 0.3  # more may be kept than can be drawn
    found = draws(answer, row + 1e4, 1.0, len(row), seed_from(rng), TIMES)
    expect_exact(found, oracle_shares(row, 1.0))


# ----------------------------------------------------------- DecoderLayer


def causal(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """torch's layer with its causal mask, in which True means "may not attend"."""
    n = x.shape[1]
    return layer(x, src_mask=torch.ones(n, n, dtype=torch.bool).triu(1))


@DecoderLayer.check(0.2)
def layer_agrees_with_torch(answer: Any, rng: np.random.Generator) -> None:
    """With random parameters, the layer agrees with torch's for texts of any length."""
    for d_model, n_heads, d_ff in [(12, 3, 20), (6, 2, 6), (8, 1, 5)]:
        layer = answer(d_model, n_heads, d_ff)
        state = loaded(layer, layer_shapes(d_model, d_ff), rng)
        layer.eval()
        oracle = torch_layer(d_model, n_heads, d_ff, state, norm_first=True)
        for batch, n in [(3, 5), (2, 1), (1, 200)]:
            x = 2 * draw(rng, batch, n, d_model) + 1
            found = output(layer, x)
            expect.close(found, causal(oracle, x).detach().numpy(), tolerance=2e-4)


@DecoderLayer.check(0.1)
def layer_does_not_leak(answer: Any, rng: np.random.Generator) -> None:
    """A change to later tokens does not change the output for earlier tokens."""
    layer = answer(12, 3, 20)
    loaded(layer, layer_shapes(12, 20), rng)
    layer.eval()
    x = draw(rng, 2, 7, 12)
    before = output(layer, x)
    for t in range(6):
        changed = x.clone()
        changed[:, t + 1 :] = 3 * draw(rng, 2, 6 - t, 12)
        moved = np.abs(output(layer, changed)[:, : t + 1] - before[:, : t + 1])
        if not moved.max() < 1e-5:
            raise CheckFailed("a later token moved an earlier one", "")


@DecoderLayer.check(0.1)
def layer_drops_on_both_branches(answer: Any, rng: np.random.Generator) -> None:
    """In train mode dropout acts on both branches and inside ffn, and nowhere else."""
    x = draw(rng, 2, 4, 12)
    shapes = layer_shapes(12, 20)
    layer = answer(12, 3, 20, dropout=1.0)  # the branches vanish, the stream stays
    state = loaded(layer, shapes, rng)
    layer.train()
    expect.close(output(layer, x), x.numpy(), tolerance=1e-6)
    layer.eval()
    expected = causal(torch_layer(12, 3, 20, state, norm_first=True), x)
    expected = expected.detach().numpy()
    expect.close(output(layer, x), expected, tolerance=2e-4)
    calm = answer(12, 3, 20, dropout=0.0)
    modules.load(calm, state)
    calm.train()
    expect.close(output(calm, x), expected, tolerance=2e-4)
    expect_half_dropped(answer)


@DecoderLayer.check(0.1)
def layer_lets_gradients_through(answer: Any, rng: np.random.Generator) -> None:
    """The gradients of the input and of every parameter are right."""
    layer = answer(6, 2, 8)
    state = loaded(layer, layer_shapes(6, 8), rng)
    layer.eval()
    oracle = torch_layer(6, 2, 8, state, norm_first=True)
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
    expect_gradients(layer, oracle, rng, src_mask=mask)
