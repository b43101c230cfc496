"""What students get wrong, and right, in 11-a-real-llm."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import real_llm as check
from autograder.checks.catalog import BATCHES, LARGE, Catalog
from autograder.checks.outcomes import outcome
from autograder.checks.real_llm.cases import new_layer, published
from autograder.checks.tensors import seeded

PRELUDE = """
import math

import torch
from torch import nn
from torch.nn import functional as F

NAMES = {
    "norm1": "attn_norm",
    "self_attn.W_q": "attn_q",
    "self_attn.W_k": "attn_k",
    "self_attn.W_v": "attn_v",
    "self_attn.W_o": "attn_output",
    "norm2": "ffn_norm",
    "ffn.gate": "ffn_gate",
    "ffn.up": "ffn_up",
    "ffn.down": "ffn_down",
}


def to_halves(weight, n_heads):
    pairs = weight.reshape(n_heads, -1, 2, weight.shape[-1])
    return pairs.transpose(1, 2).reshape(weight.shape)


def to_pairs(weight, n_heads):
    halves = weight.reshape(n_heads, 2, -1, weight.shape[-1])
    return halves.transpose(1, 2).reshape(weight.shape)


def convert(layer, state, which=("W_q", "W_k"), how=to_halves):
    heads = {"W_q": layer.self_attn.n_heads}
    for name in which:
        key = f"self_attn.{name}.weight"
        state[key] = how(state[key], heads.get(name, layer.self_attn.n_kv))
    return state


def renamed(tensors, index, names=NAMES):
    return {f"{a}.weight": tensors[f"blk.{index}.{b}.weight"] for a, b in names.items()}
"""

catalog = Catalog(check.assignment, PRELUDE)


# -------------------------------------------------------------- rms_norm

norm = catalog.about(
    check.rms_norm,
    """
def rms_norm(x, weight, eps=1e-5):
    size = torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps)
    return x / size * weight
""",
)

norm.wrong(
    "layer-norm",
    "This is layer normalization: RMSNorm does not subtract the mean.",
    """
    return F.layer_norm(x, x.shape[-1:], weight, eps=eps)
""",
)
norm.edit(
    "standard-deviation",
    "The standard deviation is not the root mean square: it leaves the mean out.",
    (
        "torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps)",
        "torch.sqrt(x.var(dim=-1, keepdim=True, correction=0) + eps)",
    ),
)
norm.edit(
    "length",
    "The vector is divided by its length; the root mean square divides the sum of the "
    "squares by d first.",
    (".mean(", ".sum("),
)
norm.edit(
    "no-root",
    "The root is missing: the vector is divided by its mean square.",
    ("torch.sqrt(", "("),
)
norm.edit(
    "mean-of-sizes",
    "The mean of the absolute values is not the root mean square.",
    (
        "torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps)",
        "x.abs().mean(dim=-1, keepdim=True) + eps",
    ),
)
norm.edit(
    "whole-tensor",
    "One root mean square is taken for the whole tensor; each vector has its own.",
    ("dim=-1, keepdim=True", ""),
)
norm.edit(
    "wrong-axis",
    "The mean is taken over the tokens; it belongs over the last axis.",
    ("dim=-1", "dim=0"),
)
norm.edit(
    "no-weight",
    "The weight is not used.",
    ("x / size * weight", "x / size"),
)
norm.edit(
    "one-plus-weight",
    "The weight is added to 1, as some models store it; this one stores the factor "
    "itself.",
    ("* weight", "* (1 + weight)"),
)
norm.edit(
    "weight-added",
    "The weight is a factor, not a term to add.",
    ("* weight", "+ weight"),
)
norm.edit(
    "no-epsilon",
    "`eps` is not used, so a vector of zeros becomes NaN.",
    (" + eps)", ")"),
)
norm.edit(
    "epsilon-outside",
    "`eps` is added after the root; it belongs to the mean square.",
    ("+ eps)", ")"),
    ("x / size", "x / (size + eps)"),
)
norm.edit(
    "epsilon-fixed",
    "`eps` is a fixed number here; the argument is not used.",
    ("+ eps)", "+ 1e-5)"),
)
norm.also(
    "standard-deviation",
    norm.edited(
        (
            "torch.sqrt((x * x).mean(dim=-1, keepdim=True) + eps)",
            "torch.sqrt(x.var(dim=-1, keepdim=True) + eps)",
        ),
    ),
)
norm.edit(
    "second-axis",
    "The mean is taken over axis 1, which is the last one of a matrix alone; `dim=-1` "
    "is the last axis of every tensor.",
    ("dim=-1", "dim=1"),
    unseen=BATCHES,
)
norm.edit(
    "no-keepdim",
    "The mean loses its axis and no longer fits the vectors that it belongs to; "
    "`keepdim=True` keeps an axis of size 1.",
    (", keepdim=True", ""),
)
norm.edit(
    "weight-first",
    "The weight is applied before the division, so that it changes the root mean "
    "square; normalize first.",
    ("    size", "    x = x * weight\n    size"),
    ("x / size * weight", "x / size"),
)
norm.edit(
    "in-place",
    "The tensor that came in is divided itself and changes for the caller; make a new "
    "one.",
    ("return x / size * weight", "x /= size\n    return x * weight"),
)
norm.edit(
    "always-single",
    "The result is always in single precision; it should have the input's dtype.",
    ("return x / size * weight", "return (x / size * weight).float()"),
)
norm.right(
    "rsqrt",
    """
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight
""",
)
norm.right(
    "torch",
    """
    return F.rms_norm(x, (x.shape[-1],), weight=weight, eps=eps)
""",
)
norm.right(
    "length-over-root-d",
    """
    d = x.shape[-1]
    size = (torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / d + eps) ** 0.5
    return weight * (x / size)
""",
)


norm.right(
    "in-single-precision",
    """
    rounded = x.to(torch.float32)
    size = rounded.pow(2).mean(-1, keepdim=True)
    return weight * (rounded * torch.rsqrt(size + eps)).to(x.dtype)
""",
)


@norm.probe
def outcomes_of_rms_norm(answer: Any) -> list:
    """Tell norms apart by means, weights, small vectors and precision."""
    x, weight = seeded(2, 3, 4) + 1, seeded(4)
    found = [
        outcome(answer, x.clone(), weight.clone()),
        outcome(answer, x.clone(), weight.clone(), 0.7),
        outcome(answer, 1e-3 * seeded(3, 4), weight.clone()),
        outcome(answer, torch.zeros(1, 4, dtype=torch.float32), weight.clone()),
    ]
    single = outcome(answer, x.double(), weight.double())
    dtype = getattr(single[1], "dtype", None) if single[0] == "returned" else None
    return [*found, str(dtype)]


# ------------------------------------------------------------- to_halves

halves = catalog.about(
    check.to_halves,
    """
def to_halves(weight, n_heads):
    rows, d_model = weight.shape
    pairs = weight.reshape(n_heads, rows // n_heads // 2, 2, d_model)
    return pairs.transpose(1, 2).reshape(rows, d_model)
""",
)

halves.edit(
    "unchanged",
    "The rows stay in the order of pairs, as `reshape` alone would leave them.",
    (".transpose(1, 2)", ""),
)
halves.edit(
    "inverse",
    "This goes the other way, from halves to pairs.",
    ("rows // n_heads // 2, 2, d_model", "2, rows // n_heads // 2, d_model"),
)
halves.wrong(
    "across-heads",
    "All rows are sorted at once, so that heads are torn apart; each head has halves "
    "of its own.",
    """
    return torch.cat([weight[0::2], weight[1::2]])
""",
)
halves.wrong(
    "odd-first",
    "The halves are exchanged: the first number of each pair goes into the first half.",
    """
    heads = weight.reshape(n_heads, -1, weight.shape[1])
    return torch.cat([heads[:, 1::2], heads[:, 0::2]], dim=1).reshape(weight.shape)
""",
)
halves.wrong(
    "minus",
    "A sign slipped in: rows are moved, and none is negated.",
    """
    heads = weight.reshape(n_heads, -1, weight.shape[1])
    return torch.cat([-heads[:, 1::2], heads[:, 0::2]], dim=1).reshape(weight.shape)
""",
)
halves.also(
    "minus",
    """
    heads = weight.reshape(n_heads, -1, weight.shape[1])
    return torch.cat([heads[:, 0::2], -heads[:, 1::2]], dim=1).reshape(weight.shape)
""",
)
halves.wrong(
    "columns",
    "The columns are sorted, which are the inputs; the outputs are the rows.",
    """
    return torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1)
""",
)
halves.wrong(
    "halves-exchanged",
    "The two halves of each head are exchanged, and pairs stay torn apart.",
    """
    heads = weight.reshape(n_heads, 2, -1, weight.shape[1])
    return heads.flip(1).reshape(weight.shape)
""",
)
halves.wrong(
    "pairs-exchanged",
    "The two rows of each pair are exchanged; they stay neighbors.",
    """
    pairs = weight.reshape(-1, 2, weight.shape[1])
    return pairs.flip(1).reshape(weight.shape)
""",
)
halves.wrong(
    "heads-last",
    "Rows are split as if heads alternated; head h holds d_k rows in a piece.",
    """
    heads = weight.reshape(-1, n_heads, weight.shape[1]).transpose(0, 1)
    return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).reshape(weight.shape)
""",
)
halves.wrong(
    "second-reversed",
    "The second half is in reverse order.",
    """
    heads = weight.reshape(n_heads, -1, weight.shape[1])
    second = heads[:, 1::2].flip(1)
    return torch.cat([heads[:, 0::2], second], dim=1).reshape(weight.shape)
""",
)
halves.edit(
    "always-64",
    "The width of a head is written as 64; it is the number of rows over n_heads.",
    ("n_heads, rows // n_heads // 2, 2, d_model", "-1, 32, 2, d_model"),
)
halves.edit(
    "heads-as-width",
    "The number of heads is taken for the width of a head.",
    ("n_heads, rows // n_heads // 2, 2, d_model", "-1, n_heads // 2, 2, d_model"),
)
halves.edit(
    "transposed",
    "The matrix is returned transposed.",
    (".reshape(rows, d_model)", ".reshape(rows, d_model).T"),
)
halves.edit(
    "by-head",
    "The heads stay apart in a third axis; the result is a matrix again.",
    (".reshape(rows, d_model)", ".reshape(n_heads, -1, d_model)"),
)
halves.also(
    "heads-last",
    """
    blocks = weight.reshape(-1, n_heads, weight.shape[1])
    return torch.cat([blocks[0::2], blocks[1::2]]).reshape(weight.shape)
""",
)
halves.also(
    "always-64",
    halves.edited(("n_heads, rows // n_heads // 2, 2, d_model", "n_heads, 32, 2, -1")),
)
halves.also(
    "always-64",
    halves.edited(("rows // n_heads // 2, 2, d_model", "32, 2, d_model")),
)
halves.edit(
    "heads-and-pairs",
    "Heads and pairs change places, which mixes the heads; within each head, pairs and "
    "their two members change places: axes 1 and 2.",
    (".transpose(1, 2)", ".transpose(0, 1)"),
)
halves.edit(
    "four-axes",
    "The rows stay split into heads, halves and pairs; the result is a matrix again.",
    (".reshape(rows, d_model)", ""),
)
halves.edit(
    "view",
    "`view` cannot follow `transpose`: the rows no longer lie one behind the other. "
    "`reshape` copies them where it has to.",
    (".reshape(rows, d_model)", ".view(rows, d_model)"),
)
halves.wrong(
    "last-head",
    "The last head stays as it was: the loop ends one head too early.",
    """
    result, width = weight.clone(), len(weight) // n_heads
    for start in range(0, len(weight) - width, width):
        head = weight[start : start + width]
        result[start : start + width] = torch.cat([head[0::2], head[1::2]])
    return result
""",
)
halves.wrong(
    "in-place",
    "The rows move within the tensor that came in, which changes for the caller; fill "
    "a new one.",
    """
    heads = weight.reshape(n_heads, -1, weight.shape[1])
    weight[:] = torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).reshape(weight.shape)
    return weight
""",
)
halves.wrong(
    "row-numbers",
    "These are the numbers of the rows in their new order; the rows themselves are "
    "asked for, `weight[order]`.",
    """
    numbers = torch.arange(len(weight)).reshape(n_heads, -1)
    return torch.cat([numbers[:, 0::2], numbers[:, 1::2]], dim=1).flatten().tolist()
""",
)
halves.also(
    "row-numbers",
    """
    numbers = torch.arange(len(weight)).reshape(n_heads, -1)
    return torch.cat([numbers[:, 0::2], numbers[:, 1::2]], dim=1).flatten()
""",
)
halves.edit(
    "always-single",
    "The result is always in single precision; it should have the input's dtype.",
    (".reshape(rows, d_model)", ".reshape(rows, d_model).float()"),
)
halves.right(
    "order-of-rows",
    """
    width = weight.shape[0] // n_heads
    one = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    order = torch.cat([one + head * width for head in range(n_heads)])
    return weight[order]
""",
)
halves.right(
    "chunks",
    """
    heads = weight.chunk(n_heads, dim=0)
    return torch.cat([part for head in heads for part in (head[::2], head[1::2])])
""",
)
halves.right(
    "loop",
    """
    result = torch.empty_like(weight)
    width = len(weight) // n_heads
    for row in range(len(weight)):
        head, place = divmod(row, width)
        pair, second = divmod(place, 2)
        result[head * width + second * (width // 2) + pair] = weight[row]
    return result
""",
)
halves.right(
    "permute",
    """
    n, d = weight.shape
    split = weight.view(n_heads, -1, 2, d).permute(0, 2, 1, 3)
    return split.contiguous().view(n, d)
""",
)


@halves.probe
def outcomes_of_to_halves(answer: Any) -> list:
    """Tell permutations apart by where they put rows of several sizes."""
    found = [
        outcome(answer, seeded(rows, d_model), n_heads)
        for rows, n_heads, d_model in ((12, 1, 5), (16, 2, 16), (24, 3, 24), (4, 2, 3))
    ]
    double = outcome(answer, seeded(8, 3).double(), 2)
    dtype = getattr(double[1], "dtype", None) if double[0] == "returned" else None
    return [*found, str(dtype)]


# ---------------------------------------------------- load_decoder_layer

load = catalog.about(
    check.load_decoder_layer,
    """
def load_decoder_layer(layer, tensors, index):
    layer.load_state_dict(convert(layer, renamed(tensors, index)))
""",
)

load.edit(
    "as-published",
    "Queries and keys are copied as they were published, in pairs of neighbors; this "
    "layer turns halves. A short prompt would not show it.",
    ("convert(layer, renamed(tensors, index))", "renamed(tensors, index)"),
)
load.edit(
    "only-queries",
    "Only the queries are put into halves; keys are turned, too.",
    ("renamed(tensors, index)", 'renamed(tensors, index), ("W_q",)'),
)
load.edit(
    "only-keys",
    "Only the keys are put into halves; queries are turned, too.",
    ("renamed(tensors, index)", 'renamed(tensors, index), ("W_k",)'),
)
load.edit(
    "values-too",
    "The values are put into halves as well; they are not turned, and W_o expects them "
    "as they were.",
    ("renamed(tensors, index)", 'renamed(tensors, index), ("W_q", "W_k", "W_v")'),
)
load.wrong(
    "keys-with-query-heads",
    "The keys are put into halves with the number of query heads; there are only n_kv "
    "of them.",
    """
    state, heads = renamed(tensors, index), layer.self_attn.n_heads
    for name in ("self_attn.W_q.weight", "self_attn.W_k.weight"):
        state[name] = to_halves(state[name], heads)
    layer.load_state_dict(state)
""",
)
load.wrong(
    "queries-with-key-heads",
    "The queries are put into halves with the number of key-value heads; there are "
    "n_heads of them.",
    """
    state, heads = renamed(tensors, index), layer.self_attn.n_kv
    for name in ("self_attn.W_q.weight", "self_attn.W_k.weight"):
        state[name] = to_halves(state[name], heads)
    layer.load_state_dict(state)
""",
)
load.edit(
    "one-head",
    "Queries and keys are put into halves as if they were one head.",
    (
        "renamed(tensors, index)",
        "renamed(tensors, index), how=lambda w, _: to_halves(w, 1)",
    ),
)
load.edit(
    "to-pairs",
    "Queries and keys go from halves to pairs, the wrong way round.",
    ("renamed(tensors, index)", "renamed(tensors, index), how=to_pairs"),
)
load.edit(
    "first-layer",
    "The index is ignored: always layer 0 is copied.",
    ("renamed(tensors, index)", "renamed(tensors, 0)"),
)
load.edit(
    "off-by-one",
    "Layers are counted from 1 here; the published ones count from 0.",
    ("renamed(tensors, index)", "renamed(tensors, max(index - 1, 0))"),
)
load.wrong(
    "gate-up-swapped",
    "ffn_gate and ffn_up are exchanged; only one of them goes through the SiLU.",
    """
    swap = NAMES | {"ffn.gate": NAMES["ffn.up"], "ffn.up": NAMES["ffn.gate"]}
    layer.load_state_dict(convert(layer, renamed(tensors, index, swap)))
""",
)
load.wrong(
    "norms-swapped",
    "The two normalizations are exchanged: attn_norm stands before attention, ffn_norm "
    "before the feed-forward network.",
    """
    swap = NAMES | {"norm1": NAMES["norm2"], "norm2": NAMES["norm1"]}
    layer.load_state_dict(convert(layer, renamed(tensors, index, swap)))
""",
)
load.wrong(
    "key-value-swapped",
    "The tensors of keys and values are exchanged; they have the same shape.",
    """
    swap = NAMES | {
        "self_attn.W_k": NAMES["self_attn.W_v"],
        "self_attn.W_v": NAMES["self_attn.W_k"],
    }
    layer.load_state_dict(convert(layer, renamed(tensors, index, swap)))
""",
)
load.wrong(
    "query-output-swapped",
    "The tensors of the query and of the output projection are exchanged; they have "
    "the same shape.",
    """
    swap = NAMES | {
        "self_attn.W_q": NAMES["self_attn.W_o"],
        "self_attn.W_o": NAMES["self_attn.W_q"],
    }
    layer.load_state_dict(convert(layer, renamed(tensors, index, swap)))
""",
)
load.wrong(
    "no-norms",
    "The normalizations keep their own weights.",
    """
    some = {ours: theirs for ours, theirs in NAMES.items() if "norm" not in ours}
    state = convert(layer, renamed(tensors, index, some))
    layer.load_state_dict(state, strict=False)
""",
)
load.wrong(
    "attention-only",
    "Only attention is copied; the feed-forward network and the normalizations are "
    "left as they were.",
    """
    some = {n: t for n, t in NAMES.items() if n.startswith("self_attn")}
    state = convert(layer, renamed(tensors, index, some))
    layer.load_state_dict(state, strict=False)
""",
)
load.also(
    "off-by-one",
    load.edited(("renamed(tensors, index)", "renamed(tensors, index + 1)")),
)
load.wrong(
    "no-second-norm",
    "norm2 keeps its own weights; ffn_norm belongs there.",
    """
    some = {ours: theirs for ours, theirs in NAMES.items() if ours != "norm2"}
    state = convert(layer, renamed(tensors, index, some))
    layer.load_state_dict(state, strict=False)
""",
)
load.wrong(
    "no-first-norm",
    "norm1 keeps its own weights; attn_norm belongs there.",
    """
    some = {ours: theirs for ours, theirs in NAMES.items() if ours != "norm1"}
    state = convert(layer, renamed(tensors, index, some))
    layer.load_state_dict(state, strict=False)
""",
)
load.wrong(
    "output-too",
    "The rows of W_o are moved as well; they make no queries or keys, and nothing "
    "turns them.",
    """
    state = convert(layer, renamed(tensors, index))
    name, heads = "self_attn.W_o.weight", layer.self_attn.n_heads
    layer.load_state_dict(state | {name: to_halves(state[name], heads)})
""",
)
load.wrong(
    "keys-as-values",
    "W_v gets attn_k, as W_k does; attn_v belongs there.",
    """
    twice = NAMES | {"self_attn.W_v": NAMES["self_attn.W_k"]}
    layer.load_state_dict(convert(layer, renamed(tensors, index, twice)))
""",
)
load.wrong(
    "output-transposed",
    "W_o is copied transposed; the published matrices are (out, in), as torch's are.",
    """
    state = convert(layer, renamed(tensors, index))
    state["self_attn.W_o.weight"] = state["self_attn.W_o.weight"].T
    layer.load_state_dict(state)
""",
)
load.wrong(
    "tensor-as-parameter",
    "A tensor is put in the place of a parameter, which torch refuses; copy its "
    "numbers, or make an `nn.Parameter` of it.",
    """
    for name, tensor in convert(layer, renamed(tensors, index)).items():
        layer.get_submodule(name.removesuffix(".weight")).weight = tensor
""",
)
load.wrong(
    "with-gradients",
    "Numbers are copied into parameters while torch records gradients, which it "
    "refuses; copy them under `torch.no_grad()`.",
    """
    for name, tensor in convert(layer, renamed(tensors, index)).items():
        layer.get_parameter(name).copy_(tensor)
""",
)
load.edit(
    "heads-of-the-published",
    "The numbers of heads are written as 9 and 3, those of the published model; the "
    "layer tells its own, `n_heads` and `n_kv`.",
    (
        "renamed(tensors, index)",
        "renamed(tensors, index), how=lambda weight, n: to_halves(\n"
        "        weight, 9 if n == layer.self_attn.n_heads else 3)",
    ),
)
load.wrong(
    "prefix-without-dot",
    "Names are found by a prefix without its dot, so that `blk.1` finds layers 10 to "
    "19 as well; `blk.1.` finds one layer.",
    """
    ours = {f"{theirs}.weight": f"{name}.weight" for name, theirs in NAMES.items()}
    state = {}
    for name, tensor in tensors.items():
        if name.startswith(f"blk.{index}"):
            state[ours[name.split(".", 2)[2]]] = tensor
    layer.load_state_dict(convert(layer, state))
""",
    unseen="it takes eleven layers to show, and the card speaks of all",
)
load.wrong(
    "published-names",
    "Nothing was copied; `strict=False`, for one, passes over names that do not match "
    "in silence.",
    """
    start = f"blk.{index}."
    own = {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}
    layer.load_state_dict(own, strict=False)
""",
)
load.right(
    "get-submodule",
    """
    with torch.no_grad():
        for ours, theirs in NAMES.items():
            tensor = tensors[f"blk.{index}.{theirs}.weight"]
            if theirs == "attn_q":
                tensor = to_halves(tensor, layer.self_attn.n_heads)
            if theirs == "attn_k":
                tensor = to_halves(tensor, layer.self_attn.n_kv)
            layer.get_submodule(ours).weight.copy_(tensor)
""",
)
load.right(
    "by-hand",
    """
    def part(name):
        return nn.Parameter(tensors[f"blk.{index}.{name}.weight"].clone())

    attn, ffn = layer.self_attn, layer.ffn
    layer.norm1.weight, layer.norm2.weight = part("attn_norm"), part("ffn_norm")
    attn.W_q.weight = nn.Parameter(to_halves(part("attn_q").data, attn.n_heads))
    attn.W_k.weight = nn.Parameter(to_halves(part("attn_k").data, attn.n_kv))
    attn.W_v.weight, attn.W_o.weight = part("attn_v"), part("attn_output")
    ffn.gate.weight, ffn.up.weight = part("ffn_gate"), part("ffn_up")
    ffn.down.weight = part("ffn_down")
""",
)
load.right(
    "width-from-the-layer",
    """
    attn = layer.self_attn
    width = attn.W_q.weight.shape[0] // attn.n_heads
    for name, parameter in layer.named_parameters():
        tensor = tensors[f"blk.{index}.{NAMES[name.removesuffix('.weight')]}.weight"]
        if "W_q" in name or "W_k" in name:
            tensor = to_halves(tensor, tensor.shape[0] // width)
        parameter.data = tensor.clone()
    return layer
""",
)


@load.probe
def outcomes_of_load_decoder_layer(answer: Any) -> list:
    """Tell loaders apart by what they leave in a layer of equal numbers, or raise."""
    sizes = (24, 4, 2, 10)
    tensors = published(np.random.default_rng(5), 11, sizes)
    found: list = []
    for index in (2, 0, 1):
        layer = new_layer(answer, sizes)
        state = layer.state_dict()
        layer.load_state_dict({n: torch.full_like(t, 0.25) for n, t in state.items()})
        ending, *told = outcome(answer, layer, dict(tensors), index)
        if ending == "raised":  # how far it came before is the order of its lines
            found.append(told)
            continue
        state = layer.state_dict()
        found.append([state[name] for name in sorted(state)])
    return found


# ------------------------------------------------------------ sink_share

share = catalog.about(
    check.sink_share,
    """
def sink_share(weights):
    return weights[:, :, 4:, 0].mean(dim=-1)
""",
)

share.edit(
    "all-queries",
    "The first four queries count here, too; they have hardly any choice.",
    ("4:", ":"),
)
share.edit(
    "from-five",
    "Queries are counted from 0, so query 4 is the fifth; it counts.",
    ("4:", "5:"),
)
share.edit(
    "from-three",
    "Query 3 is counted here; the first one that counts is query 4.",
    ("4:", "3:"),
)
share.edit(
    "row-and-column",
    "Rows and columns are exchanged: this is what query 0 puts on later tokens.",
    ("4:, 0", "0, 4:"),
)
share.edit(
    "first-token-is-one",
    "Tokens are counted from 0; this is the second one.",
    ("4:, 0", "4:, 1"),
)
share.edit(
    "sum",
    "The weights are added up; a share is their mean.",
    (".mean(", ".sum("),
)
share.edit(
    "largest",
    "The largest weight is taken instead of the mean.",
    (".mean(", ".amax("),
)
share.edit(
    "last-query",
    "Only the last query is looked at.",
    ("4:, 0].mean(dim=-1)", "-1, 0]"),
)
share.edit(
    "divided-by-n",
    "The sum is divided by n; only n - 4 queries count.",
    (".mean(dim=-1)", ".sum(dim=-1) / weights.shape[-1]"),
)
share.edit(
    "by-layer",
    "The heads are averaged as well; each has a share of its own.",
    ("dim=-1", "dim=(1, 2)"),
)
share.edit(
    "by-head",
    "The layers are averaged as well; each has shares of its own.",
    ("dim=-1", "dim=(0, 2)"),
)
share.edit(
    "median",
    "This is the median, not the mean.",
    (".mean(dim=-1)", ".quantile(0.5, dim=-1)"),
)
share.edit(
    "diagonal",
    "This is the weight of tokens on themselves.",
    (
        "weights[:, :, 4:, 0]",
        "weights.diagonal(dim1=-2, dim2=-1)[:, :, 4:]",
    ),
)
share.edit(
    "last-four",
    "The last four queries are left out; the first four have to be.",
    ("4:", ":-4"),
)
share.edit(
    "one-number",
    "All heads are averaged into one number; each head of each layer has a share of "
    "its own.",
    ("dim=-1", ""),
)
share.edit(
    "over-layers",
    "The mean runs over the layers; it has to run over the queries.",
    ("dim=-1", "dim=0"),
)
share.edit(
    "over-heads",
    "The mean runs over the heads; it has to run over the queries.",
    ("dim=-1", "dim=1"),
)
share.edit(
    "axis-too-many",
    "A last axis of size 1 is left; the result has one number for each head.",
    ("dim=-1", "dim=-1, keepdim=True"),
)
share.edit(
    "all-keys",
    "The mean runs over all keys, whose weights sum to 1, so that every share is "
    "1 / n; only token 0 counts.",
    ("4:, 0].mean(dim=-1)", "4:].mean(dim=(-2, -1))"),
)
share.edit(
    "how-often",
    "This is how many queries have their largest weight on token 0; the share is the "
    "mean of the weights themselves.",
    (
        "weights[:, :, 4:, 0].mean(dim=-1)",
        "(weights[:, :, 4:].argmax(dim=-1) == 0).float().mean(dim=-1)",
    ),
)
share.edit(
    "list",
    "The result is a list of lists; a tensor is asked for.",
    ("dim=-1)", "dim=-1).tolist()"),
)
share.edit(
    "always-single",
    "The result is always in single precision; it should have the input's dtype.",
    (".mean(dim=-1)", ".mean(dim=-1).float()"),
)
share.right(
    "loops",
    """
    layers, heads, n, _ = weights.shape
    shares = torch.zeros(layers, heads, dtype=weights.dtype)
    for layer in range(layers):
        for head in range(heads):
            for query in range(4, n):
                shares[layer, head] += weights[layer, head, query, 0] / (n - 4)
    return shares
""",
)
share.right(
    "select",
    """
    column = weights.select(-1, 0)
    return column.narrow(-1, 4, column.shape[-1] - 4).mean(-1)
""",
)
share.right(
    "mask",
    """
    late = (torch.arange(weights.shape[-2]) >= 4).to(weights.dtype)
    return (weights[..., 0] * late).sum(-1) / late.sum()
""",
)


@share.probe
def outcomes_of_sink_share(answer: Any) -> list:
    """Tell shares apart on maps of two sizes, and by precision."""
    maps = [(2 * seeded(2, 3, n, n)).softmax(-1) for n in (9, 6)]
    double = outcome(answer, maps[0].double())
    dtype = getattr(double[1], "dtype", None) if double[0] == "returned" else None
    return [*(outcome(answer, one.clone()) for one in maps), str(dtype)]


# ------------------------------------------------------------ perplexity

surprise = catalog.about(
    check.perplexity,
    """
def perplexity(logits, tokens):
    loss = F.cross_entropy(logits[:-1], tokens[1:])
    return math.exp(loss)
""",
)

surprise.edit(
    "not-shifted",
    "The logits at t are compared with token t; they predict token t + 1.",
    ("logits[:-1], tokens[1:]", "logits, tokens"),
)
surprise.edit(
    "shifted-back",
    "The logits at t are compared with token t - 1; they predict token t + 1.",
    ("logits[:-1], tokens[1:]", "logits[1:], tokens[:-1]"),
)
surprise.edit(
    "loss",
    "This is the mean loss in nats; the perplexity is its exponential.",
    ("math.exp(loss)", "float(loss)"),
)
surprise.edit(
    "bits",
    "The loss is in nats, and 2 is raised to it; nats belong to e.",
    ("math.exp(loss)", "2.0 ** float(loss)"),
)
surprise.edit(
    "sum",
    "The losses are added up; their mean is needed.",
    ("tokens[1:])", 'tokens[1:], reduction="sum")'),
)
surprise.edit(
    "divided-by-n",
    "The sum of the losses is divided by n; there are n - 1 predictions.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        'F.cross_entropy(logits[:-1], tokens[1:], reduction="sum") / len(tokens)',
    ),
)
surprise.edit(
    "mean-of-exponentials",
    "The mean is taken after the exponential; it belongs before it.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        'F.cross_entropy(logits[:-1], tokens[1:], reduction="none")',
    ),
    ("math.exp(loss)", "float(loss.exp().mean())"),
)
surprise.edit(
    "mean-chance",
    "This is one over the mean probability; the mean is taken over logarithms.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        'F.cross_entropy(logits[:-1], tokens[1:], reduction="none")',
    ),
    ("math.exp(loss)", "1 / float((-loss).exp().mean())"),
)
surprise.edit(
    "softmax-twice",
    "cross_entropy takes logits and does the softmax itself; here it is done twice.",
    ("logits[:-1], ", "logits[:-1].softmax(-1), "),
)
surprise.edit(
    "minus",
    "The sign is wrong: this is the typical probability, one over the perplexity.",
    ("math.exp(loss)", "math.exp(-loss)"),
)
surprise.edit(
    "last-only",
    "Only the last prediction counts here.",
    ("logits[:-1], tokens[1:]", "logits[-2:-1], tokens[-1:]"),
)
surprise.edit(
    "entropy",
    "This is the exponential of the predictions' entropy; what came next is not used.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        "-(logits[:-1].softmax(-1) * logits[:-1].log_softmax(-1)).sum(-1).mean()",
    ),
)
surprise.wrong(
    "overflow",
    "exp is taken of the logits as they are, which overflows; subtract the largest "
    "first, or use log_softmax.",
    """
    chances = logits.exp() / logits.exp().sum(-1, keepdim=True)
    found = chances[:-1].gather(1, tokens[1:, None])
    return math.exp(-found.log().mean())
""",
    unseen=LARGE,
)
surprise.edit(
    "softmax-over-positions",
    "The softmax runs over the positions; at each position it has to run over the "
    "vocabulary.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        "F.nll_loss(logits[:-1].log_softmax(dim=0), tokens[1:])",
    ),
)
surprise.edit(
    "batch-expected",
    "A batch axis is expected, and there is none: the logits are (n, vocabulary), the "
    "tokens (n,).",
    ("logits[:-1], tokens[1:]", "logits[:, :-1].transpose(1, 2), tokens[:, 1:]"),
)
surprise.also(
    "batch-expected",
    surprise.edited(
        ("logits[:-1], tokens[1:]", "logits[:, :-1].flatten(0, 1), tokens[:, 1:]"),
    ),
)
surprise.edit(
    "last-left-out",
    "The last prediction is left out; n tokens have n - 1 predictions.",
    ("logits[:-1], tokens[1:]", "logits[:-2], tokens[1:-1]"),
)
surprise.edit(
    "rounded",
    "The result is rounded to a whole number.",
    ("math.exp(loss)", "float(round(math.exp(loss)))"),
    unseen="the examples of the card are whole numbers",
)
surprise.edit(
    "every-target-everywhere",
    "Every row is asked for the targets of all rows; `gather`, or a row number for "
    "each target, picks one from each.",
    (
        "F.cross_entropy(logits[:-1], tokens[1:])",
        "-logits.log_softmax(-1)[:-1, tokens[1:]].mean()",
    ),
)
surprise.edit(
    "tensor",
    "The result is a tensor; a Python float was asked for.",
    ("math.exp(loss)", "loss.exp()"),
)
surprise.right(
    "gather",
    """
    logs = logits[:-1].log_softmax(dim=-1)
    return float(torch.exp(-logs.gather(1, tokens[1:].unsqueeze(1)).mean()))
""",
)
surprise.right(
    "loop",
    """
    total = 0.0
    for t in range(len(tokens) - 1):
        row = logits[t].double()
        total += (torch.logsumexp(row, dim=0) - row[tokens[t + 1]]).item()
    return math.exp(total / (len(tokens) - 1))
""",
)
surprise.right(
    "product",
    """
    chances = F.softmax(logits.double(), dim=-1)[:-1]
    found = chances[torch.arange(len(tokens) - 1), tokens[1:]]
    return (1 / found).log().mean().exp().item()
""",
)
surprise.right(
    "nll",
    """
    loss = F.nll_loss(F.log_softmax(logits, dim=1)[:-1], tokens[1:], reduction="none")
    return math.pow(math.e, loss.mean().item())
""",
)


@surprise.probe
def outcomes_of_perplexity(answer: Any) -> list:
    """Tell numbers apart on texts of two sizes, and far from zero."""
    texts = [(seeded(6, 5), torch.tensor([4, 0, 2, 2, 1, 3]))]
    texts += [(2 * seeded(4, 4), torch.tensor([0, 3, 1, 2]))]
    texts += [(seeded(3, 4) + 500, torch.tensor([3, 0, 2]))]
    found = []
    for logits, tokens in texts:
        result = outcome(answer, logits, tokens)
        kind = type(result[1]).__name__ if result[0] == "returned" else ""
        found.append([result, kind])
    return found


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "rms_norm-rsqrt": (
            "`rsqrt` gives one over the root in one step, so that there is no quotient."
        ),
        "rms_norm-length-over-root-d": (
            "The root mean square is the vector's length over √d."
        ),
        "to_halves-order-of-rows": (
            "It writes down the order of the rows and indexes once."
        ),
        "to_halves-chunks": (
            "Head by head, it takes the even rows and then the odd ones."
        ),
        "load_decoder_layer-by-hand": (
            "It names every part and puts new parameters in the place of the old ones."
        ),
        "load_decoder_layer-width-from-the-layer": (
            "It goes through the layer's own parameters and counts heads by their "
            "width; `NAMES` stands for your table of names."
        ),
        "sink_share-select": (
            "`select` takes the column and `narrow` the range, without indexing."
        ),
        "sink_share-mask": (
            "Late queries have weight 1 and the others 0, and the mean is a "
            "weighted one."
        ),
        "perplexity-gather": (
            "It picks the log-probability of each real token and exponentiates "
            "minus their mean."
        ),
        "perplexity-product": (
            "It goes by probabilities: perplexity is the geometric mean of their "
            "inverses."
        ),
    }
)
