"""Visible checks of 03-multi-head, for students at work and for grading."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from paying_attention.encoder_layer.visible.cases import filled, waves
from torch import nn

from autograder.checks import expect
from autograder.checks.assignment import Assignment
from autograder.checks.failures import CheckFailed
from autograder.torch_support import modules

from .cases import counting, drawn_weights, head_shapes, multi_head_shapes, reached

assignment = Assignment(__name__, page="03-multi-head")
__getattr__ = assignment.hidden_half

AttentionHead = assignment.question("AttentionHead", 6, "the-module")
plot_attention = assignment.question("plot_attention", 4, "one-head")
split_heads = assignment.question("split_heads", 4, "split-and-merge")
merge_heads = assignment.question("merge_heads", 4, "split-and-merge")
MultiHeadAttention = assignment.question(
    "MultiHeadAttention",
    12,
    "the-module",
    uses=("AttentionHead", "split_heads", "merge_heads"),
)
check_split_heads = assignment.hunt(
    "check_split_heads", 4, "split-and-merge", "split_heads"
)


# ---------------------------------------------------------- AttentionHead


@AttentionHead.visible
def head_returns_output_and_weights(answer: Any) -> None:
    """Five tokens, d_model = 16 and d_k = 4: output (2, 5, 4), weights (2, 5, 5)."""
    result = expect.call(answer(16, 4), torch.ones(2, 5, 16))
    output, weights = expect.pair(result, "output, weights")
    expect.tensor(output, (2, 5, 4), "the output")
    expect.tensor(weights, (2, 5, 5), "the weights")


@AttentionHead.visible
def head_has_three_projections(answer: Any) -> None:
    """The layers are W_q, W_k and W_v, without biases."""
    modules.parameters(answer(16, 4), head_shapes(16, 4))


@AttentionHead.visible
def head_weights_sum_to_one(answer: Any) -> None:
    """Every query's weights sum to 1 over the keys."""
    x = torch.sin(counting(2, 5, 16))
    _, weights = expect.pair(expect.call(answer(16, 4), x), "output, weights")
    weights = expect.tensor(weights, (2, 5, 5), "the weights")
    sums = weights.sum(-1)
    if not np.allclose(sums, 1, atol=1e-4):
        seen = f"the weights of the first queries sum to {np.round(sums[0, :3], 3)}"
        seen += expect.apart(sums, 1)
        if np.allclose(weights.sum(-2), 1, atol=1e-4):
            seen = "your weights sum to 1 along the query axis"
        raise CheckFailed(seen, "every query's weights sum to 1 over the keys")


@AttentionHead.visible
def head_computes_scaled_attention(answer: Any) -> None:
    """With known weights the head gives the known numbers."""
    head = answer(4, 4)
    eye = torch.eye(4)
    modules.load(
        head, {"W_q.weight": 2 * eye, "W_k.weight": eye, "W_v.weight": 8 * eye}
    )
    x = torch.zeros(1, 2, 4)
    x[0, 0, 0], x[0, 1, 1] = float(np.log(3)) ** 0.5, 1.0
    output, weights = expect.pair(expect.call(head, x), "output, weights")
    weights = expect.tensor(weights, (1, 2, 2), "the weights")
    seen = f"scores [log 3, 0] became the weights {np.round(weights[0, 0], 3)}"
    wanted = "[0.75, 0.25]: the dot products over √4"
    expect.close(weights[0, 0], np.array([0.75, 0.25]), seen, wanted)
    output = expect.tensor(output, (1, 2, 4), "the output")
    seen = f"the mixed value is {output[0, 0, 1]:.3g}"
    wanted = "2: a quarter of the second token's value, 8"
    expect.close(output[0, 0, 1], 2.0, seen, wanted)


@AttentionHead.visible
def head_agrees_with_the_formula(answer: Any) -> None:
    """Each matrix has its role, and scores are divided by √d_k, not √d_model."""
    head = answer(4, 1)
    modules.load(
        head,
        {
            "W_q.weight": torch.tensor([[1.0, 0.0, 0.0, 0.0]]),
            "W_k.weight": torch.tensor([[0.0, 1.0, 0.0, 0.0]]),
            "W_v.weight": torch.tensor([[0.0, 0.0, 1.0, 0.0]]),
        },
    )
    x = torch.tensor([[[1.0, 0.0, 8.0, 0.0], [0.0, float(np.log(3)), 0.0, 0.0]]])
    _, weights = expect.pair(expect.call(head, x), "output, weights")
    weights = expect.tensor(weights, (1, 2, 2), "the weights")
    expect.close(
        weights[0],
        np.array([[0.25, 0.75], [0.5, 0.5]]),
        f"with d_k = 1, queries 1 and 0 and keys 0 and log 3 gave the weights "
        f"{weights[0].astype(float).round(3).tolist()}",
        "[[0.25, 0.75], [0.5, 0.5]]: products of queries and keys, over √1",
    )


@AttentionHead.visible
def head_learns(answer: Any) -> None:
    """Gradients reach W_q, W_k and W_v."""
    reached(answer(6, 4), waves(2, 3, 6), weights=waves(2, 3, 4))


# --------------------------------------------------------- plot_attention


@plot_attention.visible
def map_has_tokens_on_both_axes(answer: Any) -> None:
    """Rows are queries, columns are keys, and each is labeled with its token."""
    drawn_weights(answer, np.eye(3), ["we", "like", "tea"])


@plot_attention.visible
def map_shows_the_weights(answer: Any) -> None:
    """The cell of a query and a key shows their weight."""
    weights = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.0, 0.5, 0.5]])
    tokens = ["we", "like", "tea"]
    values = drawn_weights(answer, weights, tokens)
    row = int((~np.isclose(values, weights)).any(axis=1).argmax())  # the first of them
    seen = f'the row of "{tokens[row]}" shows {np.round(values[row], 2)}'
    wanted = f"{weights[row].tolist()}: its weights over the keys"
    expect.close(values, weights, seen, wanted)


# ------------------------------------------------ split_heads, merge_heads


@split_heads.visible
def split_has_an_axis_for_heads(answer: Any) -> None:
    """(2, 5, 12) with three heads becomes (2, 3, 5, 4)."""
    expect.tensor(expect.call(answer, torch.zeros(2, 5, 12), 3), (2, 3, 5, 4))


@split_heads.visible
def each_head_holds_its_columns(answer: Any) -> None:
    """Head h holds the columns h * d_k to (h + 1) * d_k - 1 of every token."""
    heads = expect.call(answer, counting(2, 2, 6), 3)
    heads = expect.tensor(heads, (2, 3, 2, 2), "the heads")
    seen = f"of the tokens [0 … 5] and [6 … 11], head 1 holds {heads[0, 1].tolist()}"
    wanted = "[[2, 3], [8, 9]]: columns 2 and 3 of both tokens"
    expect.close(heads[0, 1], np.array([[2.0, 3.0], [8.0, 9.0]]), seen, wanted)


@split_heads.visible
def heads_come_in_order(answer: Any) -> None:
    """Head 0 holds the first columns, the last head the last ones."""
    heads = expect.call(answer, counting(1, 1, 4), 2)
    heads = expect.tensor(heads, (1, 2, 1, 2), "the heads")
    seen = f"the token [0, 1, 2, 3] became the heads {heads[0, :, 0].tolist()}"
    wanted = "[[0, 1], [2, 3]]: head 0 first"
    expect.close(heads[0, :, 0], np.array([[0.0, 1.0], [2.0, 3.0]]), seen, wanted)


@merge_heads.visible
def merged_heads_stand_side_by_side(answer: Any) -> None:
    """(2, 3, 5, 4) becomes (2, 5, 12)."""
    expect.tensor(expect.call(answer, torch.zeros(2, 3, 5, 4)), (2, 5, 12))


@merge_heads.visible
def each_token_gets_its_heads_back(answer: Any) -> None:
    """A token's row is head 0, then head 1, and so on."""
    merged = expect.call(answer, counting(2, 3, 2, 2))
    merged = expect.tensor(merged, (2, 2, 6), "the result")
    expect.close(
        merged[0, 0],
        np.array([0.0, 1.0, 4.0, 5.0, 8.0, 9.0]),
        f"merging a token's [0, 1], [4, 5] and [8, 9] gives {merged[0, 0]}",
        "[0, 1, 4, 5, 8, 9]",
        whole=(merged[0], np.array([[0.0, 1, 4, 5, 8, 9], [2, 3, 6, 7, 10, 11]])),
    )
    seen = f"merging a token's [2, 3], [6, 7] and [10, 11] gives {merged[0, 1]}"
    wanted = "[2, 3, 6, 7, 10, 11], all from its own text"
    expect.close(merged[0, 1], np.array([2.0, 3.0, 6.0, 7.0, 10.0, 11.0]), seen, wanted)
    expect.tensor(expect.call(answer, counting(1, 3, 2, 2)), (1, 2, 6), "the result")


# ----------------------------------------------------- MultiHeadAttention


@MultiHeadAttention.visible
def multi_head_returns_output_and_weights(answer: Any) -> None:
    """Three queries and five keys, d_model 12, two heads: (2, 3, 12), (2, 2, 3, 5)."""
    memory = torch.ones(2, 5, 12)
    result = expect.call(answer(12, 2), torch.ones(2, 3, 12), memory, memory)
    output, weights = expect.pair(result, "output, weights")
    expect.tensor(output, (2, 3, 12), "the output")
    expect.tensor(weights, (2, 2, 3, 5), "the weights")


@MultiHeadAttention.visible
def multi_head_has_four_projections(answer: Any) -> None:
    """The layers are W_q, W_k, W_v and W_o, without biases."""
    modules.parameters(answer(12, 3), multi_head_shapes(12))


@MultiHeadAttention.visible
def heads_that_do_not_fit_are_refused(answer: Any) -> None:
    """Five heads with d_model = 12 raise a ValueError."""
    expect.refused(answer, 12, 5, what="d_model = 12 with n_heads = 5")


@MultiHeadAttention.visible
def every_head_looks_at_its_columns(answer: Any) -> None:
    """With identity matrices, each head attends by its own columns."""
    module = answer(4, 2)
    modules.load(module, {name: torch.eye(4) for name in multi_head_shapes(4)})
    query = torch.zeros(1, 1, 4)
    query[0, 0] = torch.tensor([2**0.5, 0.0, 0.0, 2**0.5])
    key = torch.zeros(1, 2, 4)
    key[0, 0, 0] = key[0, 1, 3] = float(np.log(3))
    value = torch.tensor([[[4.0, 0.0, 4.0, 0.0], [0.0, 4.0, 0.0, 4.0]]])
    output, weights = expect.pair(
        expect.call(module, query, key, value), "output, weights"
    )
    weights = expect.tensor(weights, (1, 2, 1, 2), "the weights")
    expect.close(
        weights[0, :, 0],
        np.array([[0.75, 0.25], [0.25, 0.75]]),
        "the two heads give the weights "
        f"{weights[0, :, 0].astype(float).round(3).tolist()}",
        "[[0.75, 0.25], [0.25, 0.75]]",
    )
    output = expect.tensor(output, (1, 1, 4), "the output")
    seen = f"the output is {np.round(output[0, 0], 3)}"
    wanted = "[3, 1, 1, 3]: the mixed values of head 0, then of head 1"
    expect.close(output[0, 0], np.array([3.0, 1.0, 1.0, 3.0]), seen, wanted)


@MultiHeadAttention.visible
def mask_hides_keys(answer: Any) -> None:
    """A key whose mask is False gets the weight 0; the other weights sum to 1."""
    module, x = answer(12, 3), torch.sin(counting(2, 4, 12))
    modules.load(module, filled(multi_head_shapes(12)))
    mask = torch.tril(torch.ones(4, 4)).bool()
    _, weights = expect.pair(expect.call(module, x, x, x, mask), "output, weights")
    weights = expect.tensor(weights, (2, 3, 4, 4), "the weights")
    expect.finite(weights, "the weights")
    hidden = weights[..., ~mask.numpy()]
    if (hidden != 0).any():
        seen = f"a hidden key has the weight {hidden.max():.3g}"
        raise CheckFailed(seen, "0 where mask is False")
    seen = f"with a mask the rows sum to {np.round(weights[0, 0].sum(-1), 3)}"
    expect.close(weights.sum(-1), 1.0, seen, "1: the mask acts before the softmax")


@MultiHeadAttention.visible
def multi_head_agrees_with_torch(answer: Any) -> None:
    """With copied parameters it agrees with torch's own MultiheadAttention."""
    state = filled(multi_head_shapes(6))
    module, oracle = answer(6, 2), nn.MultiheadAttention(6, 2, False, batch_first=True)
    modules.load(module, state)
    rows = torch.cat([state[f"W_{name}.weight"] for name in "qkv"])
    own = {"in_proj_weight": rows, "out_proj.weight": state["W_o.weight"]}
    oracle.load_state_dict(own | {"in_proj_bias": 0 * rows[:, 0]}, strict=False)
    query, key, value = waves(1, 3, 6), waves(1, 4, 6) / 2, 1 - waves(1, 4, 6)
    result = expect.call(module, query, key, value)
    output = expect.pair(result, "output, weights")[0]
    output = expect.tensor(output, (1, 3, 6), "the output")
    wanted = oracle(query, key, value)[0].detach().numpy()
    seen = f"the outputs differ by up to {np.abs(output - wanted).max():.3g}"
    due = "the same: project, split, attend, merge, and project by W_o"
    expect.close(output, wanted, seen, due, tolerance=1e-3)


@MultiHeadAttention.visible
def multi_head_learns(answer: Any) -> None:
    """Gradients reach W_q, W_k, W_v and W_o."""
    x = waves(2, 3, 6)
    reached(answer(6, 2), x, x, x, weights=1 + waves(2, 3, 6))
