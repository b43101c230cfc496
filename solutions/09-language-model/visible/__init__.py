"""Visible checks of 09-language-model, for students at work and for grading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from paying_attention.encoder_layer.visible.cases import (
    filled,
    layer_shapes,
    torch_layer,
    waves,
)

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.torch_support import modules
from autograder.torch_support.gradients import gradients

from .cases import (
    FOUR,
    draws,
    expect_shares,
    generator,
    ids,
    output,
    quiet_state,
    scalar,
    shares,
)

assignment = Assignment(__name__, page="09-language-model")
__getattr__ = assignment.hidden_half

next_token_loss = assignment.question("next_token_loss", 6, "the-model")
sample = assignment.question("sample", 6, "drawing-the-next-token")
DecoderLayer = assignment.question("DecoderLayer", 8, "the-decoder-layer")


# -------------------------------------------------------- next_token_loss


@next_token_loss.visible
def loss_is_a_scalar(answer: Any) -> None:
    """The loss of logits (2, 5, 7) is one number, a tensor of shape ()."""
    tokens = torch.arange(10).reshape(2, 5) % 7
    scalar(expect.call(answer, waves(2, 5, 7), tokens))


@next_token_loss.visible
def loss_of_the_card(answer: Any) -> None:
    """The example of the card gives ln 2 = 0.6931."""
    logits = shares([0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5])
    tokens = torch.tensor([[2, 0, 1]])
    seen = scalar(expect.call(answer, logits, tokens))
    expect.close(
        np.array(seen),
        math.log(2),
        f"the loss is {seen:.4f}",
        "0.6931: token 0 was given probability 1/2 at position 0, and token 1 "
        "at position 1",
    )


@next_token_loss.visible
def loss_leaves_out_the_ends(answer: Any) -> None:
    """The last logits have no target, and no logits predict the first token."""
    logits, tokens = waves(2, 4, 5).double(), torch.arange(8).reshape(2, 4) % 5
    before = scalar(expect.call(answer, logits, tokens))
    logits[:, -1], tokens[:, 0] = logits[:, -1].flip(-1) * 9, 4
    after = scalar(expect.call(answer, logits, tokens))
    expect.close(
        np.array(after),
        before,
        f"when the last logits and the first token changed, the loss went from "
        f"{before:.4f} to {after:.4f}",
        "the same loss",
    )


@next_token_loss.visible
def loss_leaves_out_padding(answer: Any) -> None:
    """A padded text has the same loss as without its padding."""
    logits = waves(1, 5, 6).double()
    tokens = torch.tensor([[3, 0, 2, 5, 1]])
    mask = torch.tensor([[True, True, True, False, False]])
    alone = scalar(expect.call(answer, logits[:, :3], tokens[:, :3]))
    padded = scalar(expect.call(answer, logits, tokens, mask))
    expect.close(
        np.array(padded),
        alone,
        f"three tokens alone have the loss {alone:.4f}; with two tokens of padding, "
        f"it is {padded:.4f}",
        "the same loss: only real targets count",
    )


@next_token_loss.visible
def loss_has_a_gradient(answer: Any) -> None:
    """The logits get a gradient: training needs one."""
    logits, tokens = waves(1, 4, 5), torch.tensor([[1, 2, 0, 4]])
    scalar(expect.call(answer, logits, tokens))
    try:
        found = gradients(answer, logits, tokens, weights=torch.ones(()))["inputs"][0]
    except RuntimeError:  # torch's, when nothing leads back to the logits
        found = None
    if found is None:
        raise CheckFailed("the logits got no gradient", "a gradient")


@next_token_loss.visible
def guesses_count_alike(answer: Any) -> None:
    """All guesses of real targets count alike, even after padding and for token 0."""
    guess = [[0.5, 0.5], [0.25, 0.75]]
    logits = torch.tensor([[*guess, [0.5, 0.5]]] * 2, dtype=torch.float64).log()
    tokens = torch.tensor([[1, 0, 0], [1, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, False, True]])
    seen = scalar(expect.call(answer, logits, tokens, mask))
    wanted = (math.log(2) + 2 * math.log(4)) / 3
    expect.close(
        np.array(seen),
        wanted,
        "the real targets, all token 0, had probabilities 1/2 and 1/4 in one text "
        f"and 1/4 after padding in another; the loss is {seen:.4f}",
        f"{wanted:.4f}: the mean of ln 2, ln 4 and ln 4",
    )


@next_token_loss.visible
def large_logits_have_a_loss(answer: Any) -> None:
    """Logits of 0 and 200 cost 0 if both guesses are right, 100 if one is wrong."""
    logits = torch.tensor([[[0.0, 200.0], [0.0, 200.0], [0.0, 0.0]]])
    for last, wanted in ((1, 0.0), (0, 100.0)):
        seen = scalar(expect.call(answer, logits, torch.tensor([[0, 1, last]])))
        case = f"with {1 - last} of 2 guesses wrong, the loss is {seen:.4f}"
        expect.close(np.array(seen), wanted, case, f"{wanted:g}")


# ----------------------------------------------------------------- sample


# logits of probabilities 0.2, 0.5, 0.1, 0.2


@sample.visible
def one_token_for_each_row(answer: Any) -> None:
    """Logits (3, 5) give three token ids, shape (3,)."""
    ids(expect.call(answer, waves(3, 5), 1.0, None, generator(answer)), 3)


@sample.visible
def temperature_zero_is_argmax(answer: Any) -> None:
    """Temperature 0 takes the largest logit of each row."""
    logits = torch.tensor([[0.0, 1.0, 3.0], [5.0, 1.0, 4.0], [-3.0, -1.0, -2.0]])
    many = logits.repeat(20, 1)
    found = ids(expect.call(answer, many, 0, None, generator(answer)), 60)
    wrong = [row for row in found.reshape(20, 3).tolist() if row != [2, 0, 1]]
    if wrong:
        raise CheckFailed(f"at temperature 0 the tokens are {wrong[0]}", "[2, 0, 1]")


@sample.visible
def shares_are_the_probabilities(answer: Any) -> None:
    """At temperature 1, tokens are drawn as often as the softmax says."""
    expect_shares(draws(answer, FOUR, 1.0, None, 1), [0.2, 0.5, 0.1, 0.2])


@sample.visible
def temperature_divides_the_logits(answer: Any) -> None:
    """Temperature 0.5 squares the probabilities, up to a factor."""
    wanted = [0.04 / 0.34, 0.25 / 0.34, 0.01 / 0.34, 0.04 / 0.34]
    expect_shares(draws(answer, FOUR, 0.5, None, 2), wanted)


@sample.visible
def top_k_keeps_the_largest(answer: Any) -> None:
    """With top_k = 2, only the two likeliest tokens are drawn, in the ratio 3 to 4."""
    row = torch.tensor([0.3, 0.1, 0.2, 0.4], dtype=torch.float64).log()
    expect_shares(draws(answer, row, 1.0, 2, 3), [3 / 7, 0, 0, 4 / 7])


@sample.visible
def negative_temperatures_are_refused(answer: Any) -> None:
    """A negative temperature raises a ValueError."""
    given = (waves(2, 3), -1.0, None, generator(answer))
    expect.refused(answer, *given, what="temperature -1")


@sample.visible
def the_generator_decides(answer: Any) -> None:
    """The same generator state gives the same tokens; a different one gives others."""
    found = []
    for seed in (5, 5, 6):
        given = torch.zeros(50, 9), 1.0, None, generator(answer, seed)
        found.append(ids(expect.call(answer, *given), 50))
    if not np.array_equal(found[0], found[1]):
        seen = "two generators with the same seed gave different tokens"
        raise CheckFailed(seen, "all randomness comes from the generator")
    if np.array_equal(found[0], found[2]):
        seen = "generators with different seeds gave the same tokens"
        raise CheckFailed(seen, "all randomness comes from the generator")


@sample.visible
def each_row_keeps_its_own(answer: Any) -> None:
    """With top_k = 1 every row takes its own largest logit."""
    logits = torch.tensor([[0.0, 2.0, 1.0], [9.0, 7.0, 8.0]]).repeat(20, 1)
    found = ids(expect.call(answer, logits, 1.0, 1, generator(answer)), 40)
    wrong = [row for row in found.reshape(20, 2).tolist() if row != [1, 0]]
    if wrong:
        raise CheckFailed(f"with top_k = 1 the tokens are {wrong[0]}", "[1, 0]")


# ----------------------------------------------------------- DecoderLayer


@DecoderLayer.visible
def layer_keeps_the_shape(answer: Any) -> None:
    """DecoderLayer() turns tokens (2, 5, 64) into (2, 5, 64)."""
    output(answer(), waves(2, 5, 64))


@DecoderLayer.visible
def layer_has_its_parts(answer: Any) -> None:
    """The parts are self_attn, ffn, norm1 and norm2, of the default sizes."""
    modules.parameters(answer(), layer_shapes(64, 256))


@DecoderLayer.visible
def layer_leaves_the_stream_alone(answer: Any) -> None:
    """When both branches give 0, tokens come out unchanged, not normalized."""
    layer = answer(12, 3, 20)
    modules.load(layer, quiet_state(12, 20))
    layer.eval()
    x = 5 * waves(1, 3, 12) + 2
    found = output(layer, x)
    seen = f"a token [{x[0, 0, 0]:.2f}, …] came out as [{found[0, 0, 0]:.2f}, …]"
    wanted = f"[{x[0, 0, 0]:.2f}, …]: input plus 0, twice"
    expect.close(found, x.numpy(), seen, wanted, tolerance=1e-5)


@DecoderLayer.visible
def branches_read_normalized_tokens(answer: Any) -> None:
    """Pre-norm: what a layer adds does not depend on the length of its tokens."""
    layer = answer(12, 3, 20)
    layer.eval()
    for silent in ("ffn.linear2", "self_attn.W_o"):
        own = layer.state_dict().items()
        state = {n: value.clone() for n, value in own if n in layer_shapes(12, 20)}
        for part in ("weight", "bias"):
            state[f"{silent}.{part}"] *= 0
        modules.load(layer, state)
        x = 3 * waves(1, 4, 12)
        added = [output(layer, scale * x) - scale * x.numpy() for scale in (1, 4)]
        branch = "attention" if "ffn" in silent else "the feed-forward network"
        difference = np.abs(added[0] - added[1]).max()
        if difference > 1e-2:
            raise CheckFailed(
                f"with tokens multiplied by 4, what {branch} adds changes by up to "
                f"{difference:.3g}",
                "the same: each branch reads normalized tokens",
            )
        fresh = answer(12, 3, 20)
        fresh.eval()
        layer = fresh


@DecoderLayer.visible
def layer_is_causal(answer: Any) -> None:
    """A changed token does not affect earlier tokens, but does affect later ones."""
    layer = answer(12, 3, 20)
    layer.eval()
    x = waves(1, 4, 12)
    last, first = x.clone(), x.clone()
    last[0, 3] += 3 * waves(12).flip(0)  # another direction: a norm sees it
    first[0, 0] += 3 * waves(12).flip(0)
    before, after_last, after_first = (output(layer, t)[0] for t in (x, last, first))
    moved = np.abs(before[:3] - after_last[:3]).max()
    if not moved < 1e-5:
        seen = f"changing token 3 changed earlier tokens by {moved:.3g}"
        raise CheckFailed(seen, "0: the layer makes its own causal mask")
    still = np.abs(before - after_first).max(-1)
    if still.min() < 1e-5:
        seen = f"changing token 0 did not move token {int(still.argmin())}"
        raise CheckFailed(seen, "every token sees all tokens before it")


@DecoderLayer.visible
def layer_drops_only_in_training(answer: Any) -> None:
    """Dropout acts in train mode and is absent in eval mode."""
    layer, x = answer(12, 3, 20, dropout=0.5), waves(1, 5, 12)
    layer.eval()
    if not np.array_equal(output(layer, x), output(layer, x)):
        raise CheckFailed("in eval mode two calls differ", "the same result twice")
    layer.train()
    if np.array_equal(output(layer, x), output(layer, x)):
        seen = "in train mode two calls agree"
        raise CheckFailed(seen, "different results: dropout is on")


@DecoderLayer.visible
def layer_agrees_with_torch(answer: Any) -> None:
    """With copied parameters it agrees with torch's own layer under a causal mask."""
    layer, state = answer(12, 3, 20), filled(layer_shapes(12, 20))
    modules.load(layer, state)
    layer.eval()
    x, later = waves(1, 4, 12), torch.ones(4, 4, dtype=torch.bool).triu(1)
    oracle = torch_layer(12, 3, 20, state, norm_first=True)
    wanted = oracle(x, src_mask=later).detach().numpy()
    found = output(layer, x)
    seen = f"the outputs differ by up to {np.abs(found - wanted).max():.3g}"
    due = "the same: norm1, attention, sum; norm2, feed-forward network, sum"
    expect.close(found, wanted, seen, due, tolerance=1e-3)


@DecoderLayer.visible
def layer_drops_on_the_branches(answer: Any) -> None:
    """Dropout acts on both branches before the sums: with all dropped, x stays."""
    layer = answer(12, 3, 20, dropout=1.0)
    modules.load(layer, filled(layer_shapes(12, 20)))
    layer.train()
    x = waves(1, 3, 12)
    found = output(layer, x)
    # of all numbers the one that moved most: others may be equal when rounded
    far = np.unravel_index(np.abs(found - x.numpy()).argmax(), found.shape)
    expect.close(
        found,
        x.numpy(),
        f"with dropout=1.0, in train mode, number {far[2]} of token {far[1]} "
        f"went from {x[tuple(far)]:.3g} to {found[far]:.3g}",
        "the token as it was: both branches are dropped, the sums are not",
        tolerance=1e-5,
    )
