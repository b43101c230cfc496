"""Visible checks of 06-encoder-layer, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.torch_support import modules

from .cases import (
    embedded,
    ffn_shapes,
    filled,
    layer_shapes,
    linear,
    torch_layer,
    waves,
    whole,
)

assignment = Assignment(__name__, page="06-encoder-layer")
__getattr__ = assignment.hidden_half

FeedForward = assignment.question("FeedForward", 5, "the-feed-forward-network")
EncoderLayer = assignment.question(
    "EncoderLayer", 12, "the-layer", uses=("FeedForward",)
)
count_parameters = assignment.question("count_parameters", 5, "counting-parameters")
encode = assignment.question("encode", 4, "from-text-to-layers")
check_feed_forward = assignment.hunt(
    "check_feed_forward", 4, "the-feed-forward-network", "FeedForward"
)


# ------------------------------------------------------------ FeedForward


@FeedForward.visible
def ffn_keeps_the_shape(answer: Any) -> None:
    """Tokens (2, 5, 8) come out as (2, 5, 8)."""
    expect.tensor(expect.call(answer(8, 20), waves(2, 5, 8)), (2, 5, 8), "the output")


@FeedForward.visible
def ffn_has_two_layers(answer: Any) -> None:
    """The layers are linear1 (d_model to d_ff) and linear2 (back), with biases."""
    modules.parameters(answer(8, 20), ffn_shapes(8, 20))


@FeedForward.visible
def ffn_uses_the_exact_gelu(answer: Any) -> None:
    """Between the layers is the exact GELU, which turns 1 into 0.8413."""
    ffn = answer(2, 2)
    ffn.eval()
    eye = torch.eye(2)
    state = {f"linear{i}.weight": eye for i in (1, 2)}
    modules.load(ffn, state | {f"linear{i}.bias": torch.zeros(2) for i in (1, 2)})
    output = expect.call(ffn, torch.tensor([[[1.0, -1.0]]]))
    output = expect.tensor(output, (1, 1, 2), "the output")[0, 0]
    expect.close(
        output.astype(np.float64),
        np.array([0.8413447, -0.1586553]),
        f"with identity matrices [1, -1] became {np.round(output, 4)}",
        "[0.8413, -0.1587]",
        tolerance=1e-5,
    )


@FeedForward.visible
def ffn_drops_only_in_training(answer: Any) -> None:
    """Dropout acts in train mode and is absent in eval mode."""
    ffn, x = answer(8, 200, dropout=0.5), waves(1, 40, 8)
    ffn.eval()
    one, two = (expect.tensor(expect.call(ffn, x), (1, 40, 8)) for _ in range(2))
    if not np.array_equal(one, two):
        raise CheckFailed("in eval mode two calls differ", "the same result twice")
    ffn.train()
    one, two = (expect.tensor(expect.call(ffn, x), (1, 40, 8)) for _ in range(2))
    if np.array_equal(one, two):
        raise CheckFailed("in train mode two calls agree", "dropout: they differ")


@FeedForward.visible
def ffn_bends_between_the_layers(answer: Any) -> None:
    """The activation is between linear1 and linear2, not after both."""
    ffn = answer(1, 1)
    ffn.eval()
    state = {name: torch.zeros(shape) for name, shape in ffn_shapes(1, 1).items()}
    state |= {"linear1.weight": torch.ones(1, 1), "linear2.weight": -torch.ones(1, 1)}
    modules.load(ffn, state)
    output = expect.tensor(expect.call(ffn, torch.ones(1, 1, 1)), (1, 1, 1))
    seen = f"with linear1 = 1 and linear2 = -1, 1 became {output[0, 0, 0]:.4f}"
    wanted = "-0.8413: the GELU of 1, times -1"
    expect.close(output[0, 0, 0], -0.8413447, seen, wanted, tolerance=1e-5)


@FeedForward.visible
def ffn_drops_hidden_activations(answer: Any) -> None:
    """Dropout acts on the hidden activations, at the rate given."""
    ffn = answer(2, 40, dropout=1.0)  # all of them are dropped
    state = filled(ffn_shapes(2, 40))
    modules.load(ffn, state)
    ffn.train()
    output = expect.tensor(expect.call(ffn, waves(1, 1, 2)), (1, 1, 2), "the output")
    bias = state["linear2.bias"].numpy()
    seen = f"with dropout=1.0, in train mode, the output is {np.round(output[0, 0], 3)}"
    wanted = f"{np.round(bias, 3)}: nothing but the bias of linear2"
    expect.close(output[0, 0], bias, seen, wanted)


# ----------------------------------------------------------- EncoderLayer


@EncoderLayer.visible
def layer_keeps_the_shape(answer: Any) -> None:
    """Tokens (2, 5, 64) come out of EncoderLayer() as (2, 5, 64)."""
    output = expect.call(answer(), waves(2, 5, 64))
    if isinstance(output, tuple | list):
        seen = f"your layer returned {len(output)} results"
        wanted = "the new tokens alone, without the weights"
        raise CheckFailed(seen, wanted, kind="type")
    expect.tensor(output, (2, 5, 64), "the output")


@EncoderLayer.visible
def layer_has_its_parts(answer: Any) -> None:
    """The parts are self_attn, ffn, norm1 and norm2, of the required sizes."""
    modules.parameters(answer(), layer_shapes(64, 256))
    modules.parameters(answer(12, 3, 20), layer_shapes(12, 20))


@EncoderLayer.visible
def layer_ends_with_a_norm(answer: Any) -> None:
    """Post-norm: every output token has mean 0 and variance 1 at the start."""
    layer = answer(12, 3, 20)
    layer.eval()
    output = expect.call(layer, 5 * waves(2, 4, 12))
    output = expect.tensor(output, (2, 4, 12), "the output")
    mean, spread = np.abs(output.mean(-1)).max(), output.var(-1)
    if mean > 1e-3 or np.abs(spread - 1).max() > 1e-2:
        raise CheckFailed(
            f"the means reach {mean:.3g}, and the variances go from "
            f"{spread.min():.3g} to {spread.max():.3g}",
            "mean 0 and variance 1: the last step is a LayerNorm",
        )


@EncoderLayer.visible
def layer_adds_what_came_in(answer: Any) -> None:
    """When both branches give 0, the residual connections carry the tokens through."""
    layer = answer(12, 3, 20)
    layer.eval()
    state = {name: torch.zeros(s) for name, s in layer_shapes(12, 20).items()}
    state |= {f"norm{i}.weight": torch.ones(12) for i in (1, 2)}
    modules.load(layer, state)
    x = F.layer_norm(waves(1, 3, 12), (12,))
    output = expect.tensor(expect.call(layer, x), (1, 3, 12), "the output")
    expect.close(
        output,
        x.numpy(),
        f"a normalized token [{x[0, 0, 0]:.2f}, …] came out as "
        f"[{output[0, 0, 0]:.2f}, …]",
        "the token as it was: input plus 0, twice",
        tolerance=1e-3,
    )


@EncoderLayer.visible
def layer_passes_the_mask_on(answer: Any) -> None:
    """With a causal mask, earlier tokens do not see a later one change."""
    layer = answer(12, 3, 20)
    modules.load(layer, filled(layer_shapes(12, 20)))
    layer.eval()
    mask = torch.ones(4, 4).tril().bool()
    x = waves(1, 4, 12)
    changed = x.clone()
    changed[0, 3] += waves(12) * 3
    before, after = (
        expect.tensor(expect.call(layer, t, mask), (1, 4, 12), "the output")
        for t in (x, changed)
    )
    moved = np.abs(before[0, :3] - after[0, :3]).max()
    if moved > 1e-5:
        seen = f"changing token 3 changed earlier tokens by {moved:.3g}"
        raise CheckFailed(seen, "0: the mask goes to self_attn")


@EncoderLayer.visible
def layer_agrees_with_torch(answer: Any) -> None:
    """With copied parameters it agrees with torch's own TransformerEncoderLayer."""
    layer, state = answer(12, 3, 20), filled(layer_shapes(12, 20))
    modules.load(layer, state)
    layer.eval()
    x = waves(1, 4, 12)
    wanted = torch_layer(12, 3, 20, state)(x).detach().numpy()
    output = expect.tensor(expect.call(layer, x), (1, 4, 12), "the output")
    seen = f"the outputs differ by up to {np.abs(output - wanted).max():.3g}"
    due = "the same: attention, sum, norm1; feed-forward network, sum, norm2"
    expect.close(output, wanted, seen, due, tolerance=1e-3)


@EncoderLayer.visible
def layer_drops_on_the_branches(answer: Any) -> None:
    """Dropout acts on both branches before the sums: with all dropped, x stays."""
    layer, state = answer(12, 3, 20, dropout=1.0), filled(layer_shapes(12, 20))
    ones = {f"norm{i}.weight": torch.ones(12) for i in (1, 2)}
    zeros = {f"norm{i}.bias": torch.zeros(12) for i in (1, 2)}
    modules.load(layer, state | ones | zeros)
    layer.train()
    x = F.layer_norm(waves(1, 3, 12), (12,))
    output = expect.tensor(expect.call(layer, x), (1, 3, 12), "the output")
    expect.close(
        output,
        x.numpy(),
        f"with dropout=1.0, in train mode, a normalized token [{x[0, 0, 0]:.2f}, …] "
        f"came out as [{output[0, 0, 0]:.2f}, …]",
        "the token as it was: both branches are dropped, the residuals are not",
        tolerance=1e-3,
    )
    calm = answer(12, 3, 20, dropout=0.0)
    modules.load(calm, state)
    calm.train()
    output = expect.tensor(expect.call(calm, x), (1, 3, 12), "the output")
    wanted = torch_layer(12, 3, 20, state)(x).detach().numpy()
    seen = "with dropout=0.0, in train mode, the outputs differ from those in eval mode"
    due = "the same: nothing is dropped, not even in the feed-forward network"
    expect.close(output, wanted, seen, due, tolerance=1e-3)


# ------------------------------------------------------- count_parameters


@count_parameters.visible
def smallest_layer_has_sixteen(answer: Any) -> None:
    """One layer with d_model = 1 and d_ff = 1 has 16 parameters."""
    seen = whole(expect.call(answer, 1, 1))
    if seen != 16:
        raise CheckFailed(
            f"d_model = 1, d_ff = 1 gives {seen}",
            "16: four projections, two linear layers and two norms, "
            "a weight and a bias each",
        )


@count_parameters.visible
def default_layer_is_counted(answer: Any) -> None:
    """One layer with d_model = 64 and d_ff = 256 has 49 984 parameters."""
    seen = whole(expect.call(answer, 64, 256))
    if seen != 49_984:
        raise CheckFailed(f"d_model = 64, d_ff = 256 gives {seen}", "49984")


# ----------------------------------------------------------------- encode


@encode.visible
def encode_gives_a_vector_per_token(answer: Any) -> None:
    """Tokens (2, 5) become vectors (2, 5, d_model)."""
    embedding = embedded(answer, waves(7, 6))
    result = expect.call(answer, torch.zeros(2, 5, dtype=torch.long), embedding, [])
    expect.tensor(result, (2, 5, 6), "the result")


@encode.visible
def encode_scales_and_adds_positions(answer: Any) -> None:
    """Without layers: embeddings times √d_model, plus the positions."""
    embedding = embedded(answer, torch.full((3, 4), 0.5))
    result = expect.call(answer, torch.tensor([[2, 1], [1, 0]]), embedding, [])
    result = expect.tensor(result, (2, 2, 4), "the result")
    for text, first in zip(("first", "second"), result[:, 0], strict=True):
        expect.close(
            first,
            np.array([1.0, 2.0, 1.0, 2.0]),
            f"the first token of the {text} text, embedded as [0.5, 0.5, 0.5, 0.5], "
            f"became {first.round(3)}",
            "[1, 2, 1, 2]: 0.5 times √4, plus position 0, which is [0, 1, 0, 1]",
        )
    left = embedding.weight.detach()
    if not torch.equal(left, torch.full((3, 4), 0.5)):
        seen = f"afterwards the embedding of token 0 is {left[0].tolist()}"
        wanted = "[0.5, 0.5, 0.5, 0.5], as before: the embedding is not changed"
        raise CheckFailed(seen, wanted, kind="changed")


@encode.visible
def encode_runs_the_layers(answer: Any) -> None:
    """Every layer is applied, in order."""
    embedding = embedded(answer, torch.tensor([[3 / 2**0.5, 0.0]] * 3))
    turn = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    double = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    layers = [linear(answer, turn), linear(answer, double)]
    result = expect.call(answer, torch.tensor([[1]]), embedding, layers)
    result = expect.tensor(result, (1, 1, 2), "the result")
    expect.close(
        result[0, 0],
        np.array([2.0, 3.0]),
        "two layers (swap the columns, double the first) turned [3, 1] into "
        f"{result[0, 0].round(3)}",
        "[2, 3]",
    )
