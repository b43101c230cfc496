"""What students get wrong, and right, in 07-real-model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import real_model as check
from autograder.checks.catalog import Catalog
from autograder.checks.outcomes import outcome
from autograder.checks.real_model import new_layer, published

PRELUDE = """
import copy

import torch
from torch import nn
from torch.nn import functional as F

NAMES = {
    "self_attn.W_q": "attention.self.query",
    "self_attn.W_k": "attention.self.key",
    "self_attn.W_v": "attention.self.value",
    "self_attn.W_o": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "ffn.linear1": "intermediate.dense",
    "ffn.linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def renamed(tensors, index, names=NAMES, kinds=("weight", "bias")):
    start = f"encoder.layer.{index}."
    return {
        f"{ours}.{kind}": tensors[f"{start}{theirs}.{kind}"]
        for ours, theirs in names.items()
        for kind in kinds
    }
"""

catalog = Catalog(check.assignment, PRELUDE)


# ------------------------------------------------------------ load_layer

load = catalog.about(
    check.load_layer,
    """
def load_layer(layer, tensors, index):
    layer.load_state_dict(renamed(tensors, index))
""",
)

load.wrong(
    "first-layer",
    "The index is ignored: always layer 0 is copied.",
    """
    layer.load_state_dict(renamed(tensors, 0))
""",
)
load.wrong(
    "off-by-one",
    "Layers are counted from 1 here; the published ones count from 0.",
    """
    last = max(int(n.split('.')[2]) for n in tensors if n.startswith('encoder'))
    layer.load_state_dict(renamed(tensors, min(max(index - 1, 0), last)))
""",
)
load.wrong(
    "query-key-swapped",
    "The tensors of query and key are exchanged.",
    """
    swap = NAMES | {
        "self_attn.W_q": NAMES["self_attn.W_k"],
        "self_attn.W_k": NAMES["self_attn.W_q"],
    }
    layer.load_state_dict(renamed(tensors, index, swap))
""",
)
load.wrong(
    "key-value-swapped",
    "The tensors of key and value are exchanged.",
    """
    swap = NAMES | {
        "self_attn.W_k": NAMES["self_attn.W_v"],
        "self_attn.W_v": NAMES["self_attn.W_k"],
    }
    layer.load_state_dict(renamed(tensors, index, swap))
""",
)
load.wrong(
    "norms-swapped",
    "The two normalizations are exchanged: attention.output.LayerNorm follows "
    "attention, output.LayerNorm the feed-forward network.",
    """
    swap = NAMES | {"norm1": NAMES["norm2"], "norm2": NAMES["norm1"]}
    layer.load_state_dict(renamed(tensors, index, swap))
""",
)
load.wrong(
    "one-norm-twice",
    "Both normalizations got the same tensors.",
    """
    twice = NAMES | {"norm2": NAMES["norm1"]}
    layer.load_state_dict(renamed(tensors, index, twice))
""",
)
load.wrong(
    "value-output-swapped",
    "The tensors of the value and of the output projection are exchanged.",
    """
    swap = NAMES | {
        "self_attn.W_v": NAMES["self_attn.W_o"],
        "self_attn.W_o": NAMES["self_attn.W_v"],
    }
    layer.load_state_dict(renamed(tensors, index, swap))
""",
)
load.wrong(
    "no-biases",
    "Only the weights are copied; the biases stay as they were.",
    """
    layer.load_state_dict(renamed(tensors, index, kinds=("weight",)), strict=False)
""",
)
load.wrong(
    "no-norms",
    "The normalizations keep their own parameters.",
    """
    some = {n: t for n, t in NAMES.items() if "norm" not in n}
    layer.load_state_dict(renamed(tensors, index, some), strict=False)
""",
)
load.wrong(
    "attention-only",
    "Only attention is copied; the feed-forward network and the normalizations are "
    "left as they were.",
    """
    some = {n: t for n, t in NAMES.items() if n.startswith("self_attn")}
    layer.load_state_dict(renamed(tensors, index, some), strict=False)
""",
)
load.wrong(
    "published-names",
    "Nothing was copied; `strict=False`, for one, passes over names that do not match "
    "in silence.",
    """
    start = f"encoder.layer.{index}."
    own = {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}
    layer.load_state_dict(own, strict=False)
""",
)
load.wrong(
    "transposed",
    "The square matrices are transposed; nn.Linear keeps (out, in), as the published "
    "tensors do.",
    """
    state = renamed(tensors, index)
    for name, tensor in state.items():
        if name.startswith("self_attn") and name.endswith("weight"):
            state[name] = tensor.T
    layer.load_state_dict(state)
""",
)
load.wrong(
    "same-projection",
    "Query, key and value all got the tensors of the query.",
    """
    same = NAMES | {f"self_attn.W_{n}": NAMES["self_attn.W_q"] for n in "kv"}
    layer.load_state_dict(renamed(tensors, index, same))
""",
)
load.wrong(
    "a-copy",
    "A copy of the layer is loaded and returned; the given layer is left as it was.",
    """
    loaded = copy.deepcopy(layer)
    loaded.load_state_dict(renamed(tensors, index))
    return loaded
""",
)
load.wrong(
    "added",
    "The tensors are added to the random parameters instead of replacing them.",
    """
    state = layer.state_dict()
    new = renamed(tensors, index)
    layer.load_state_dict({name: state[name] + new[name] for name in new})
""",
)
load.right(
    "loops",
    """
    for ours, theirs in NAMES.items():
        module = layer.get_submodule(ours)
        for kind in ("weight", "bias"):
            tensor = tensors[f"encoder.layer.{index}.{theirs}.{kind}"]
            getattr(module, kind).data.copy_(tensor)
    return layer
""",
)
load.right(
    "no-grad",
    """
    def copy_into(module, name):
        start = f"encoder.layer.{index}.{name}"
        with torch.no_grad():
            module.weight.copy_(tensors[start + ".weight"])
            module.bias.copy_(tensors[start + ".bias"])

    attn = layer.self_attn
    copy_into(attn.W_q, "attention.self.query")
    copy_into(attn.W_k, "attention.self.key")
    copy_into(attn.W_v, "attention.self.value")
    copy_into(attn.W_o, "attention.output.dense")
    copy_into(layer.norm1, "attention.output.LayerNorm")
    copy_into(layer.ffn.linear1, "intermediate.dense")
    copy_into(layer.ffn.linear2, "output.dense")
    copy_into(layer.norm2, "output.LayerNorm")
""",
)
load.right(
    "parameters",
    """
    for ours, theirs in NAMES.items():
        module = layer.get_submodule(ours)
        start = f"encoder.layer.{index}.{theirs}."
        module.weight = nn.Parameter(tensors[start + "weight"].clone())
        module.bias = nn.Parameter(tensors[start + "bias"].clone())
""",
)


# ---------------------------------------------------- sentence_embedding

embedding = catalog.about(
    check.sentence_embedding,
    """
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return F.normalize((hidden * real).sum(1), dim=-1)
""",
)

embedding.wrong(
    "ignores-mask",
    "The mean runs over all positions, padding included.",
    """
    return F.normalize(hidden.mean(dim=1), dim=-1)
""",
)
embedding.wrong(
    "not-normalized",
    "The mean is not scaled to length 1.",
    """
    real = mask[..., None].to(hidden.dtype)
    return (hidden * real).sum(1) / real.sum(1)
""",
)
embedding.wrong(
    "first-token",
    "This is the vector of the first token, [CLS], not the mean.",
    """
    return F.normalize(hidden[:, 0], dim=-1)
""",
)
embedding.wrong(
    "last-token",
    "This is the vector of the last real token, not the mean.",
    """
    last = mask.sum(dim=1) - 1
    return F.normalize(hidden[torch.arange(len(hidden)), last], dim=-1)
""",
)
embedding.wrong(
    "one-length-for-all",
    "One length, that of the whole batch, divides all rows; each has a length of its "
    "own.",
    """
    real = mask[..., None].to(hidden.dtype)
    mean = (hidden * real).sum(1) / real.sum(1)
    return mean / mean.norm()
""",
)
embedding.wrong(
    "max-pooling",
    "The largest value of every feature is taken instead of the mean.",
    """
    low = hidden.masked_fill(~mask[..., None], float("-inf"))
    return F.normalize(low.max(dim=1).values, dim=-1)
""",
)
embedding.edit(
    "mask-inverted",
    "The mean runs over the padding: True means a real token.",
    (" = mask", " = (~mask)"),
)
embedding.wrong(
    "tokens-normalized",
    "Every token is scaled to length 1 before the mean, and the mean is not.",
    """
    real = mask[..., None].to(hidden.dtype)
    return (F.normalize(hidden, dim=-1) * real).sum(1) / real.sum(1)
""",
)
embedding.edit(
    "tokens-normalized-too",
    "Every token is scaled to length 1 before the mean; that changes the direction "
    "of the mean.",
    ("hidden *", "F.normalize(hidden, dim=-1) *"),
)
embedding.edit(
    "normalized-over-batch",
    "The scaling runs over the sentences of the batch instead of the features.",
    (", dim=-1", " / real.sum(1), dim=0"),
)
embedding.edit(
    "sum-of-absolutes",
    "The vector is divided by the sum of its absolute values; length means the root "
    "of the sum of squares.",
    ("dim=-1", "p=1, dim=-1"),
)
embedding.wrong(
    "squared-length",
    "The vector is divided by its squared length.",
    """
    real = mask[..., None].to(hidden.dtype)
    mean = (hidden * real).sum(1) / real.sum(1)
    return mean / (mean**2).sum(-1, keepdim=True)
""",
)
embedding.wrong(
    "mean-over-features",
    "The mean runs over the features; it has to run over the tokens.",
    """
    return F.normalize(hidden.mean(dim=-1), dim=-1)
""",
)
embedding.wrong(
    "all-sentences-together",
    "The mean runs over all sentences of the batch together.",
    """
    mean = F.normalize(hidden[mask].mean(dim=0), dim=-1)
    return mean.expand(len(hidden), -1)
""",
)
embedding.right(
    "loop",
    """
    rows = []
    for tokens, real in zip(hidden, mask, strict=True):
        mean = tokens[real].mean(dim=0)
        rows.append(mean / mean.norm())
    return torch.stack(rows)
""",
)
embedding.right(
    "sum",
    """
    total = hidden.masked_fill(~mask.unsqueeze(-1), 0.0).sum(dim=1)
    return total / total.pow(2).sum(dim=-1, keepdim=True).sqrt()
""",
)
embedding.right(
    "product",
    """
    shares = mask / mask.sum(dim=1, keepdim=True)
    mean = torch.einsum("bn,bnd->bd", shares.to(hidden.dtype), hidden)
    return F.normalize(mean, dim=1)
""",
)
embedding.equivalent(
    "the norm divides a positive factor out",
    "average = total / mask.sum(dim=1, keepdim=True) -> average = total * "
    "mask.sum(dim=1, keepdim=True)",
)
embedding.equivalent(
    "the array has two axes",
    "return average / average.norm(dim=-1, keepdim=True) -> return average / "
    "average.norm(dim=1, keepdim=True)",
)


# -------------------------------------------------------- strongest_head

head = catalog.about(
    check.strongest_head,
    """
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = divmod(int(numbers.argmax()), numbers.shape[1])
    return layer, head, float(numbers.max())
""",
)

head.wrong(
    "transposed",
    "Query and key are exchanged: rows are queries, columns are keys.",
    """
    numbers = attentions[:, :, key, query]
    best = int(numbers.argmax())
    heads = numbers.shape[1]
    return best // heads, best % heads, float(numbers.max())
""",
)
head.edit(
    "head-first",
    "Head and layer are returned in the wrong order.",
    ("layer, head,", "head, layer,"),
)
head.edit(
    "from-one",
    "Layers and heads are counted from 1; count them from 0.",
    (", head,", " + 1, head + 1,"),
)
head.wrong(
    "flat-index",
    "The index into the flattened weights is returned as the head; it has to be "
    "split into layer and head.",
    """
    numbers = attentions[:, :, query, key]
    return 0, int(numbers.argmax()), float(numbers.max())
""",
)
head.edit(
    "divided-by-layers",
    "The flat index is divided by the number of layers; it has to be the number of "
    "heads.",
    ("shape[1]", "shape[0]"),
)
head.wrong(
    "whole-map",
    "The largest weight of all maps is taken, wherever it is; only the one from "
    "query to key counts.",
    """
    layers, heads = attentions.shape[:2]
    peaks = attentions.flatten(2).amax(-1)
    layer, head = divmod(int(peaks.argmax()), heads)
    return layer, head, float(peaks.max())
""",
)
head.wrong(
    "whole-row",
    "The largest weight of the query's row is taken, whatever the key.",
    """
    peaks = attentions[:, :, query].amax(-1)
    layer, head = divmod(int(peaks.argmax()), peaks.shape[1])
    return layer, head, float(peaks.max())
""",
)
head.edit(
    "smallest",
    "This finds the weakest head.",
    ("argmax", "argmin"),
    (".max()", ".min()"),
)
head.wrong(
    "mean-over-heads",
    "The best layer is chosen by the mean over its heads; its best head need not be "
    "the best of all.",
    """
    numbers = attentions[:, :, query, key]
    layer = int(numbers.mean(1).argmax())
    return layer, int(numbers[layer].argmax()), float(numbers[layer].max())
""",
)
head.wrong(
    "last-layer",
    "Only the last layer is searched.",
    """
    numbers = attentions[-1, :, query, key]
    return len(attentions) - 1, int(numbers.argmax()), float(numbers.max())
""",
)
head.wrong(
    "first-layer",
    "Only the first layer is searched.",
    """
    numbers = attentions[0, :, query, key]
    return 0, int(numbers.argmax()), float(numbers.max())
""",
)
head.wrong(
    "separate",
    "Layer and head are chosen separately, each by its own mean.",
    """
    numbers = attentions[:, :, query, key]
    layer, head = int(numbers.mean(1).argmax()), int(numbers.mean(0).argmax())
    return layer, head, float(numbers[layer, head])
""",
)
head.right(
    "loops",
    """
    best = (0, 0, -1.0)
    for layer, maps in enumerate(attentions):
        for head, weights in enumerate(maps):
            weight = weights[query, key].item()
            if weight > best[2]:
                best = (layer, head, weight)
    return best
""",
)
head.right(
    "unravel",
    """
    numbers = attentions[..., query, key]
    layer, head = torch.unravel_index(numbers.argmax(), numbers.shape)
    return layer, head, numbers[layer, head]
""",
)
head.right(
    "two-steps",
    """
    numbers = attentions[:, :, query, key]
    weights, heads = numbers.max(dim=1)
    layer = weights.argmax().item()
    return [layer, heads[layer].item(), weights[layer].item()]
""",
)


# --------------------------------------------- how answers are told apart


@load.probe
def probe_load_layer(answer: Any) -> list:
    """Tell loaders apart by what they leave in a layer of zeros."""
    tensors = published(np.random.default_rng(5), 4, 4, 6)
    found: list = []
    for index in (2, 0):
        layer = new_layer(answer, 4, 2, 6)
        zeros = {n: torch.zeros_like(t) for n, t in layer.state_dict().items()}
        layer.load_state_dict({n: t + 0.25 for n, t in zeros.items()})
        ending, *told = outcome(answer, layer, dict(tensors), index)
        ended = told if ending == "raised" else told[0] is None
        state = layer.state_dict()
        found.append([ending, ended, [state[name] for name in sorted(state)]])
    return found


@embedding.probe
def probe_sentence_embedding(answer: Any) -> list:
    """Tell embeddings apart by padding, length and direction."""
    hidden = torch.sin(torch.arange(40.0) ** 1.5).reshape(2, 5, 4)
    mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 4 + [False]])
    return [outcome(answer, hidden.clone(), mask)]


@head.probe
def probe_strongest_head(answer: Any) -> list:
    """Tell searches apart by what they find in maps of unequal sizes."""
    found = []
    for seed, layers, heads in ((1, 3, 5), (2, 4, 2), (3, 2, 6), (4, 3, 3)):
        rng = np.random.default_rng(seed)
        scores = torch.from_numpy(3 * rng.standard_normal((layers, heads, 4, 4)))
        maps = scores.softmax(-1).float()
        if seed == 4:  # layer 0 is strong on the mean, one head of layer 1 of all
            maps[:, :, 1, 3] = 0.1
            maps[0, :, 1, 3], maps[1, 2, 1, 3] = 0.5, 0.9
        kind, value, *_ = outcome(answer, maps, 1, 3)
        found.append(
            [kind, [float(part) for part in value]]
            if kind == "returned"
            else [kind, value]
        )
    return found


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "load_layer-no-grad": (
            "It names each part and copies into the parameters that are there."
        ),
        "load_layer-parameters": (
            "New parameters take the place of the old ones; `NAMES` stands for your "
            "table of names."
        ),
        "sentence_embedding-loop": (
            "It goes sentence by sentence, and the mask picks the real tokens."
        ),
        "sentence_embedding-sum": (
            "It never divides by the number of tokens: at length 1, the divisor "
            "makes no difference."
        ),
        "strongest_head-unravel": (
            "`unravel_index` turns the place in the flat array into layer and head."
        ),
        "strongest_head-two-steps": (
            "It looks for the best head of every layer, then for the best layer."
        ),
    }
)
