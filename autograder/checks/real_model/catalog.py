"""What students get wrong, and right, in 07-real-model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.catalog import Catalog, Misconception, Style, outcome
from autograder.checks.real_model import new_layer, published

CHAPTER = "07-reading-attention"

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

SECTIONS = {
    "load_layer": "a-real-encoder",
    "sentence_embedding": "a-real-encoder",
    "strongest_head": "all-seventy-two-heads",
}


def wrong(question: str, name: str, diagnosis: str, code: str) -> Misconception:
    """An entry; its id says where it belongs."""
    read = f"{CHAPTER}#{SECTIONS[question]}"
    return Misconception(f"{question}-{name}", question, diagnosis, read, code)


LOAD = [
    wrong(
        "load_layer",
        "first-layer",
        "The index is ignored: always layer 0 is copied.",
        """\
def load_layer(layer, tensors, index):
    layer.load_state_dict(renamed(tensors, 0))
""",
    ),
    wrong(
        "load_layer",
        "off-by-one",
        "Layers are counted from 1 here; the published ones count from 0.",
        """\
def load_layer(layer, tensors, index):
    last = max(int(n.split('.')[2]) for n in tensors if n.startswith('encoder'))
    layer.load_state_dict(renamed(tensors, min(max(index - 1, 0), last)))
""",
    ),
    wrong(
        "load_layer",
        "query-key-swapped",
        "The tensors of query and key are exchanged.",
        """\
def load_layer(layer, tensors, index):
    swap = NAMES | {
        "self_attn.W_q": NAMES["self_attn.W_k"],
        "self_attn.W_k": NAMES["self_attn.W_q"],
    }
    layer.load_state_dict(renamed(tensors, index, swap))
""",
    ),
    wrong(
        "load_layer",
        "norms-swapped",
        "The two normalizations are exchanged: attention.output.LayerNorm "
        "follows attention, output.LayerNorm the feed-forward network.",
        """\
def load_layer(layer, tensors, index):
    swap = NAMES | {"norm1": NAMES["norm2"], "norm2": NAMES["norm1"]}
    layer.load_state_dict(renamed(tensors, index, swap))
""",
    ),
    wrong(
        "load_layer",
        "one-norm-twice",
        "Both normalizations got the same tensors.",
        """\
def load_layer(layer, tensors, index):
    twice = NAMES | {"norm2": NAMES["norm1"]}
    layer.load_state_dict(renamed(tensors, index, twice))
""",
    ),
    wrong(
        "load_layer",
        "value-output-swapped",
        "The tensors of the value and of the output projection are exchanged.",
        """\
def load_layer(layer, tensors, index):
    swap = NAMES | {
        "self_attn.W_v": NAMES["self_attn.W_o"],
        "self_attn.W_o": NAMES["self_attn.W_v"],
    }
    layer.load_state_dict(renamed(tensors, index, swap))
""",
    ),
    wrong(
        "load_layer",
        "no-biases",
        "Only the weights are copied; the biases stay random.",
        """\
def load_layer(layer, tensors, index):
    layer.load_state_dict(renamed(tensors, index, kinds=("weight",)), strict=False)
""",
    ),
    wrong(
        "load_layer",
        "no-norms",
        "The normalizations keep their own parameters.",
        """\
def load_layer(layer, tensors, index):
    some = {n: t for n, t in NAMES.items() if "norm" not in n}
    layer.load_state_dict(renamed(tensors, index, some), strict=False)
""",
    ),
    wrong(
        "load_layer",
        "attention-only",
        "Only attention is copied; the feed-forward network and the "
        "normalizations are left as they were.",
        """\
def load_layer(layer, tensors, index):
    some = {n: t for n, t in NAMES.items() if n.startswith("self_attn")}
    layer.load_state_dict(renamed(tensors, index, some), strict=False)
""",
    ),
    wrong(
        "load_layer",
        "published-names",
        "With strict=False, names that do not match are passed over in "
        "silence: nothing was copied.",
        """\
def load_layer(layer, tensors, index):
    start = f"encoder.layer.{index}."
    own = {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}
    layer.load_state_dict(own, strict=False)
""",
    ),
    wrong(
        "load_layer",
        "transposed",
        "The square matrices are transposed; nn.Linear keeps (out, in), as "
        "the published tensors do.",
        """\
def load_layer(layer, tensors, index):
    state = renamed(tensors, index)
    for name, tensor in state.items():
        if name.startswith("self_attn") and name.endswith("weight"):
            state[name] = tensor.T
    layer.load_state_dict(state)
""",
    ),
    wrong(
        "load_layer",
        "same-projection",
        "Query, key and value all got the tensors of the query.",
        """\
def load_layer(layer, tensors, index):
    same = NAMES | {f"self_attn.W_{n}": NAMES["self_attn.W_q"] for n in "kv"}
    layer.load_state_dict(renamed(tensors, index, same))
""",
    ),
    wrong(
        "load_layer",
        "a-copy",
        "A copy of the layer is loaded and returned; the given layer is "
        "left as it was.",
        """\
def load_layer(layer, tensors, index):
    loaded = copy.deepcopy(layer)
    loaded.load_state_dict(renamed(tensors, index))
    return loaded
""",
    ),
    wrong(
        "load_layer",
        "added",
        "The tensors are added to the random parameters instead of replacing them.",
        """\
def load_layer(layer, tensors, index):
    state = layer.state_dict()
    new = renamed(tensors, index)
    layer.load_state_dict({name: state[name] + new[name] for name in new})
""",
    ),
]

EMBEDDING = [
    wrong(
        "sentence_embedding",
        "ignores-mask",
        "The mean runs over all positions, padding included.",
        """\
def sentence_embedding(hidden, mask):
    return F.normalize(hidden.mean(dim=1), dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "not-normalized",
        "The mean is not scaled to length 1.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return (hidden * real).sum(1) / real.sum(1)
""",
    ),
    wrong(
        "sentence_embedding",
        "first-token",
        "This is the vector of the first token, [CLS], not the mean.",
        """\
def sentence_embedding(hidden, mask):
    return F.normalize(hidden[:, 0], dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "max-pooling",
        "The largest value of every feature is taken instead of the mean.",
        """\
def sentence_embedding(hidden, mask):
    low = hidden.masked_fill(~mask[..., None], float("-inf"))
    return F.normalize(low.max(dim=1).values, dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "mask-inverted",
        "The mean runs over the padding: True means a real token.",
        """\
def sentence_embedding(hidden, mask):
    real = (~mask)[..., None].to(hidden.dtype)
    return F.normalize((hidden * real).sum(1), dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "tokens-normalized",
        "Every token is scaled to length 1 before the mean, and the mean is not.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return (F.normalize(hidden, dim=-1) * real).sum(1) / real.sum(1)
""",
    ),
    wrong(
        "sentence_embedding",
        "tokens-normalized-too",
        "Every token is scaled to length 1 before the mean; that changes "
        "the direction of the mean.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return F.normalize((F.normalize(hidden, dim=-1) * real).sum(1), dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "normalized-over-batch",
        "The scaling runs over the sentences of the batch instead of the features.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return F.normalize((hidden * real).sum(1) / real.sum(1), dim=0)
""",
    ),
    wrong(
        "sentence_embedding",
        "sum-of-absolutes",
        "The vector is divided by the sum of its absolute values; length "
        "means the root of the sum of squares.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    return F.normalize((hidden * real).sum(1), p=1, dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "squared-length",
        "The vector is divided by its squared length.",
        """\
def sentence_embedding(hidden, mask):
    real = mask[..., None].to(hidden.dtype)
    mean = (hidden * real).sum(1) / real.sum(1)
    return mean / (mean**2).sum(-1, keepdim=True)
""",
    ),
    wrong(
        "sentence_embedding",
        "mean-over-features",
        "The mean runs over the features; it has to run over the tokens.",
        """\
def sentence_embedding(hidden, mask):
    return F.normalize(hidden.mean(dim=-1), dim=-1)
""",
    ),
    wrong(
        "sentence_embedding",
        "all-sentences-together",
        "The mean runs over all sentences of the batch together.",
        """\
def sentence_embedding(hidden, mask):
    mean = F.normalize(hidden[mask].mean(dim=0), dim=-1)
    return mean.expand(len(hidden), -1)
""",
    ),
]

HEAD = [
    wrong(
        "strongest_head",
        "transposed",
        "Query and key are exchanged: rows are queries, columns are keys.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, key, query]
    best = int(numbers.argmax())
    heads = numbers.shape[1]
    return best // heads, best % heads, float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "head-first",
        "Head and layer are returned in the wrong order.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = divmod(int(numbers.argmax()), numbers.shape[1])
    return head, layer, float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "from-one",
        "Layers and heads are counted from 1; count them from 0.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = divmod(int(numbers.argmax()), numbers.shape[1])
    return layer + 1, head + 1, float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "flat-index",
        "The index into the flattened weights is returned as the head; it "
        "has to be split into layer and head.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    return 0, int(numbers.argmax()), float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "divided-by-layers",
        "The flat index is divided by the number of layers; it has to be "
        "the number of heads.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = divmod(int(numbers.argmax()), numbers.shape[0])
    return layer, head, float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "whole-map",
        "The largest weight of all maps is taken, wherever it is; only the "
        "one from query to key counts.",
        """\
def strongest_head(attentions, query, key):
    layers, heads = attentions.shape[:2]
    peaks = attentions.flatten(2).amax(-1)
    layer, head = divmod(int(peaks.argmax()), heads)
    return layer, head, float(peaks.max())
""",
    ),
    wrong(
        "strongest_head",
        "whole-row",
        "The largest weight of the query's row is taken, whatever the key.",
        """\
def strongest_head(attentions, query, key):
    peaks = attentions[:, :, query].amax(-1)
    layer, head = divmod(int(peaks.argmax()), peaks.shape[1])
    return layer, head, float(peaks.max())
""",
    ),
    wrong(
        "strongest_head",
        "smallest",
        "This finds the weakest head.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = divmod(int(numbers.argmin()), numbers.shape[1])
    return layer, head, float(numbers.min())
""",
    ),
    wrong(
        "strongest_head",
        "mean-over-heads",
        "The best layer is chosen by the mean over its heads; its best head"
        " need not be the best of all.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer = int(numbers.mean(1).argmax())
    return layer, int(numbers[layer].argmax()), float(numbers[layer].max())
""",
    ),
    wrong(
        "strongest_head",
        "last-layer",
        "Only the last layer is searched.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[-1, :, query, key]
    return len(attentions) - 1, int(numbers.argmax()), float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "first-layer",
        "Only the first layer is searched.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[0, :, query, key]
    return 0, int(numbers.argmax()), float(numbers.max())
""",
    ),
    wrong(
        "strongest_head",
        "separate",
        "Layer and head are chosen separately, each by its own mean.",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    layer, head = int(numbers.mean(1).argmax()), int(numbers.mean(0).argmax())
    return layer, head, float(numbers[layer, head])
""",
    ),
]

STYLES = [
    Style(
        "load_layer-loops",
        "load_layer",
        """\
def load_layer(layer, tensors, index):
    for ours, theirs in NAMES.items():
        module = layer.get_submodule(ours)
        for kind in ("weight", "bias"):
            tensor = tensors[f"encoder.layer.{index}.{theirs}.{kind}"]
            getattr(module, kind).data.copy_(tensor)
    return layer
""",
    ),
    Style(
        "load_layer-no-grad",
        "load_layer",
        """\
def load_layer(layer, tensors, index):
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
    ),
    Style(
        "load_layer-parameters",
        "load_layer",
        """\
def load_layer(layer, tensors, index):
    for ours, theirs in NAMES.items():
        module = layer.get_submodule(ours)
        start = f"encoder.layer.{index}.{theirs}."
        module.weight = nn.Parameter(tensors[start + "weight"].clone())
        module.bias = nn.Parameter(tensors[start + "bias"].clone())
""",
    ),
    Style(
        "sentence_embedding-loop",
        "sentence_embedding",
        """\
def sentence_embedding(hidden, mask):
    rows = []
    for tokens, real in zip(hidden, mask, strict=True):
        mean = tokens[real].mean(dim=0)
        rows.append(mean / mean.norm())
    return torch.stack(rows)
""",
    ),
    Style(
        "sentence_embedding-sum",
        "sentence_embedding",
        """\
def sentence_embedding(hidden, mask):
    total = hidden.masked_fill(~mask.unsqueeze(-1), 0.0).sum(dim=1)
    return total / total.pow(2).sum(dim=-1, keepdim=True).sqrt()
""",
    ),
    Style(
        "sentence_embedding-product",
        "sentence_embedding",
        """\
def sentence_embedding(hidden, mask):
    shares = mask / mask.sum(dim=1, keepdim=True)
    mean = torch.einsum("bn,bnd->bd", shares.to(hidden.dtype), hidden)
    return F.normalize(mean, dim=1)
""",
    ),
    Style(
        "strongest_head-loops",
        "strongest_head",
        """\
def strongest_head(attentions, query, key):
    best = (0, 0, -1.0)
    for layer, maps in enumerate(attentions):
        for head, weights in enumerate(maps):
            weight = weights[query, key].item()
            if weight > best[2]:
                best = (layer, head, weight)
    return best
""",
    ),
    Style(
        "strongest_head-unravel",
        "strongest_head",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[..., query, key]
    layer, head = torch.unravel_index(numbers.argmax(), numbers.shape)
    return layer, head, numbers[layer, head]
""",
    ),
    Style(
        "strongest_head-two-steps",
        "strongest_head",
        """\
def strongest_head(attentions, query, key):
    numbers = attentions[:, :, query, key]
    weights, heads = numbers.max(dim=1)
    layer = weights.argmax().item()
    return [layer, heads[layer].item(), weights[layer].item()]
""",
    ),
]

catalog = Catalog(PRELUDE, [*LOAD, *EMBEDDING, *HEAD], STYLES)


@catalog.probe("load_layer")
def probe_load_layer(answer: Any) -> list:
    """Tell loaders apart by what they leave in a layer of zeros."""
    tensors = published(np.random.default_rng(5), 4, 4, 6)
    found: list = []
    for index in (2, 0):
        layer = new_layer(answer, 4, 2, 6)
        zeros = {n: torch.zeros_like(t) for n, t in layer.state_dict().items()}
        layer.load_state_dict({n: t + 0.25 for n, t in zeros.items()})
        ending, value, *_ = outcome(answer, layer, dict(tensors), index)
        state = layer.state_dict()
        found.append([ending, value is None, [state[name] for name in sorted(state)]])
    return found


@catalog.probe("sentence_embedding")
def probe_sentence_embedding(answer: Any) -> list:
    """Tell embeddings apart by padding, length and direction."""
    hidden = torch.sin(torch.arange(40.0) ** 1.5).reshape(2, 5, 4)
    mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 4 + [False]])
    return [outcome(answer, hidden.clone(), mask)]


@catalog.probe("strongest_head")
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
