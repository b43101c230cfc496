"""What students get wrong, and right, in 03-multi-head."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks import multi_head as check
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed
from autograder.checks.figures import describe_axes
from autograder.checks.gradients import gradients
from autograder.checks.outcomes import outcome
from autograder.checks.tensors import seeded

PRELUDE = """
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
"""

catalog = Catalog(check.assignment, PRELUDE)


# --------------------------------------------------------- AttentionHead

head = catalog.about(
    check.AttentionHead,
    """
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
)

head.edit(
    "unscaled",
    "The dot products are not divided by √d_k.",
    (" / math.sqrt(q.shape[-1])", ""),
)
head.edit(
    "scales-by-d_model",
    "The divisor is √d_model; it has to be √d_k, the width of a key.",
    ("q.shape", "x.shape"),
)
head.edit(
    "scales-by-tokens",
    "The divisor is the root of the number of tokens; it has to be √d_k, the width of "
    "a key.",
    ("q.shape[-1]", "q.shape[-2]"),
)
head.edit(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k.",
    ("math.sqrt(q.shape[-1])", "q.shape[-1]"),
)
head.edit(
    "over-queries",
    "The softmax runs over the queries; every query's weights have to sum to 1 over "
    "the keys.",
    ("dim=-1", "dim=-2"),
)
head.edit(
    "over-batch",
    "The softmax runs over the batch (dim=0); it has to run over the keys, the last "
    "axis.",
    ("dim=-1", "dim=0"),
)
head.edit(
    "biases",
    "The layers have biases; `bias=False` is asked for.",
    (
        "(d_model, d_k, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_k, bias=False)\n"
        "        self.W_v = nn.Linear(d_model, d_k, bias=False)",
        "(d_model, d_k)\n"
        "        self.W_k = nn.Linear(d_model, d_k)\n"
        "        self.W_v = nn.Linear(d_model, d_k)",
    ),
)
head.edit(
    "other-names",
    "The layers have other names; they have to be W_q, W_k and W_v.",
    ("W_q = ", "query = "),
    ("W_k = ", "key = "),
    ("W_v = ", "value = "),
    ("W_q(x), self.W_k(x), self.W_v", "query(x), self.key(x), self.value"),
)
head.wrong(
    "no-projections",
    "The input is used as query, key and value at once: there is nothing to learn.",
    """
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k

    def forward(self, x):
        weights = torch.softmax(x @ x.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        return (weights @ x)[..., : self.d_k], weights
""",
)
head.edit(
    "query-for-key",
    "The keys are made by W_q; they have a matrix of their own.",
    ("W_k(x)", "W_q(x)"),
)
head.edit(
    "roles-exchanged",
    "W_k makes the queries and W_q the keys.",
    ("W_q(x), self.W_k", "W_k(x), self.W_q"),
)
head.edit(
    "no-softmax",
    "The softmax is missing: the raw scores mix the values.",
    ("torch.softmax(scores, dim=-1)", "scores"),
)
head.edit(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    ("v, weights", "v"),
)
head.edit(
    "swapped",
    "Output and weights are returned in the wrong order.",
    (" @ v, weights", ", weights @ v"),
)
head.edit(
    "mixes-keys",
    "The weights mix the keys; they have to mix the values.",
    ("@ v", "@ k"),
)
head.nothing()
head.edit(
    "mixes-tokens",
    "The weights mix the tokens themselves; they have to mix the values, which W_v "
    "makes.",
    ("weights @ v", "weights @ x"),
)
head.edit(
    "transpose-all",
    "`k.T` reverses all axes; in a batch only the last two may be swapped.",
    ("k.transpose(-2, -1)", "k.T"),
)
head.edit(
    "not-transposed",
    "Scores need a matrix product with the keys transposed, in their last two axes.",
    ("k.transpose(-2, -1)", "k"),
)
head.edit(
    "swaps-first-axes",
    "Batch and tokens of the keys are swapped; it has to be the last two axes.",
    ("k.transpose(-2, -1)", "k.transpose(0, 1)"),
)
head.edit(
    "no-super",
    "`super().__init__()` is missing: a module needs it before its first layer.",
    ("super().__init__()\n        ", ""),
)
head.edit(
    "layers-reversed",
    "The layers go from d_k to d_model; a token comes in with d_model numbers and "
    "leaves with d_k.",
    (
        "(d_model, d_k, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_k, bias=False)\n"
        "        self.W_v = nn.Linear(d_model, d_k, bias=False)",
        "(d_k, d_model, bias=False)\n"
        "        self.W_k = nn.Linear(d_k, d_model, bias=False)\n"
        "        self.W_v = nn.Linear(d_k, d_model, bias=False)",
    ),
)
head.edit(
    "one-layer",
    "One layer bears all three names; each role has a matrix of its own.",
    (
        "self.W_q = nn.Linear(d_model, d_k, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_k, bias=False)\n"
        "        self.W_v = nn",
        "self.W_q = self.W_k = self.W_v = nn",
    ),
)
head.edit(
    "detached",
    "The weights are cut from the graph (`detach`): W_q and W_k get no gradient.",
    ("return", "weights = weights.detach()\n        return"),
)
head.edit(
    "no-grad",
    "`torch.no_grad` stops all gradients: nothing can be learned.",
    (
        "q, k, v",
        "with torch.no_grad():\n"
        "            return self.attend(x)\n"
        "\n"
        "    def attend(self, x):\n"
        "        q, k, v",
    ),
)
head.right(
    "functional",
    head.edited(
        (
            "scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])\n"
            "        weights = torch.softmax(scores, dim=-1)",
            "weights = F.softmax(torch.bmm(q, k.mT) * k.size(2) ** -0.5, dim=2)",
        ),
    ),
)
head.right(
    "einsum",
    head.edited(
        (
            "q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])",
            'torch.einsum("bid,bjd->bij", q, k) / q.size(-1) ** 0.5',
        ),
        ("weights @ v", 'torch.einsum("bij,bjd->bid", weights, v)'),
    ),
)
head.right(
    "buffered",
    """
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.scale = 1 / d_k**0.5
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = (layer(x) for layer in (self.W_q, self.W_k, self.W_v))
        scores = q @ k.transpose(-2, -1) * self.scale
        weights = scores.softmax(-1)
        return weights @ v, weights
""",
)


# -------------------------------------------------------- plot_attention

plot = catalog.about(
    check.plot_attention,
    """
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
)

plot.edit(
    "transposed",
    "The map is transposed: rows have to be queries.",
    (", vmin", ".T, vmin"),
)
plot.edit(
    "labels-exchanged",
    "The axis labels are exchanged: rows are queries, columns are keys.",
    ('("key")\n    ax.set_ylabel("query")', '("query")\n    ax.set_ylabel("key")'),
)
plot.edit(
    "no-ticks",
    "The tokens are missing: every row and column needs its tick label.",
    (
        "ax.set_xticks(range(len(tokens)), tokens)\n"
        "    ax.set_yticks(range(len(tokens)), tokens)\n"
        "    ",
        "",
    ),
)
plot.edit(
    "keys-only",
    "Only the columns bear their tokens; the rows need them too.",
    ("ax.set_yticks(range(len(tokens)), tokens)\n    ", ""),
)
plot.edit(
    "no-axis-labels",
    "The axes are not labeled.",
    ('ax.set_xlabel("key")\n    ax.set_ylabel("query")\n    ', ""),
)
plot.edit(
    "rows-reversed",
    "The rows are reversed while their labels are not.",
    (", vmin", "[::-1], vmin"),
)
plot.edit(
    "labels-reversed",
    "The labels of the rows are reversed while the rows are not.",
    (
        "set_yticks(range(len(tokens)), tokens)",
        "set_yticks(range(len(tokens)), tokens[::-1])",
    ),
)
plot.edit(
    "softmax-again",
    "Another softmax is applied before drawing; these are weights already.",
    (
        "fig, ax",
        "weights = np.exp(weights) / np.exp(weights).sum(-1, keepdims=True)\n"
        "    fig, ax",
    ),
)
plot.edit(
    "row-scaled",
    "Every row is divided by its largest weight, so rows no longer sum to 1.",
    (
        "fig, ax",
        "weights = weights / weights.max(-1, keepdims=True)\n    fig, ax",
    ),
)
plot.edit(
    "bars",
    "Bars of one query are drawn; the map of all queries is asked for.",
    ("imshow(weights, vmin=0, vmax=1)", "bar(range(len(tokens)), weights[0])"),
)
plot.edit(
    "figure",
    "The figure is returned; the Axes is asked for.",
    ("return ax", "return fig"),
)
plot.edit(
    "nothing",
    "The plot is drawn but not returned: end with `return ax`.",
    ("\n    return ax", ""),
)
plot.right(
    "matshow",
    """
    fig, ax = plt.subplots()
    picture = ax.matshow(weights, cmap="viridis")
    fig.colorbar(picture)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("Attending to (key)")
    ax.set_ylabel("Query token")
    return ax
""",
)
plot.right(
    "pcolormesh",
    """
    fig, ax = plt.subplots()
    ax.pcolormesh(weights)
    ax.set_xticks(np.arange(len(tokens)) + 0.5, tokens)
    ax.set_yticks(np.arange(len(tokens)) + 0.5, tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
)
plot.right(
    "seaborn",
    """
    import seaborn as sns

    plt.figure()
    ax = sns.heatmap(weights, annot=True, xticklabels=tokens, yticklabels=tokens)
    ax.set(xlabel="Keys", ylabel="Queries", title="Attention")
    return ax
""",
)
plot.right(
    "from-below",
    plot.edited(
        ("vmax=1", 'vmax=1, origin="lower"'),
    ),
)
plot.equivalent(
    "no color bar is asked for",
    "figure.colorbar(picture, ax=ax, label='weight') -> pass",
)
plot.equivalent(
    "a matter of taste",
    "figure, ax = plt.subplots(layout='constrained') -> figure, ax = plt.subplots()",
    "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = "
    "ax.imshow(weights, vmin=0, vmax=1)",
)
plot.equivalent(
    "colors are free as long as they span the values",
    "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = "
    "ax.imshow(weights, cmap='viridis', vmax=1)",
    "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = "
    "ax.imshow(weights, cmap='viridis', vmin=0)",
    "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = "
    "ax.imshow(weights, cmap='viridis', vmin=0, vmax=2)",
)
plot.equivalent(
    "the label and the place of the color bar are free",
    "figure.colorbar(picture, ax=ax, label='weight') -> figure.colorbar(picture, "
    "label='weight')",
    "figure.colorbar(picture, ax=ax, label='weight') -> figure.colorbar(picture, "
    "ax=ax)",
)


# ----------------------------------------------------------- split_heads

split = catalog.about(
    check.split_heads,
    """
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
""",
)

split.wrong(
    "reshape-only",
    "`view` alone cuts across tokens: first split the columns, then move the head "
    "axis.",
    """
    batch, n, d_model = x.shape
    return x.reshape(batch, n_heads, n, d_model // n_heads)
""",
)
split.edit(
    "no-transpose",
    "The head axis stays behind the tokens: (batch, n, n_heads, d_k).",
    (".transpose(1, 2)", ""),
)
split.wrong(
    "interleaved",
    "Head h gets every n_heads-th column; it has to get a block of neighbors.",
    """
    batch, n, d_model = x.shape
    return x.reshape(batch, n, d_model // n_heads, n_heads).permute(0, 3, 1, 2)
""",
)
split.wrong(
    "list",
    "A list of heads is returned; one tensor is asked for.",
    """
    return list(x.chunk(n_heads, dim=-1))
""",
)
split.wrong(
    "heads-first",
    "The head axis stands before the batch.",
    """
    return torch.stack(x.chunk(n_heads, dim=-1))
""",
)
split.edit(
    "d_k-for-n_heads",
    "The second argument is taken for d_k; it is the number of heads.",
    ("n_heads, d_model //", "d_model // n_heads,"),
)
split.wrong(
    "copies",
    "Every head gets all columns; each has to get its own part.",
    """
    return torch.stack([x] * n_heads, dim=1)
""",
)
split.wrong(
    "folded-batch",
    "The heads are folded into the batch; they need an axis of their own.",
    """
    batch, n, d_model = x.shape
    heads = x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
    return heads.reshape(batch * n_heads, n, d_model // n_heads)
""",
)
split.wrong(
    "heads-reversed",
    "The heads come out in reverse order.",
    """
    batch, n, d_model = x.shape
    parts = x.reshape(batch, -1, n_heads, d_model // n_heads)
    return parts.flip(2).transpose(1, 2)
""",
)
split.nothing()
split.edit(
    "moves-the-columns",
    "The head axis changes places with the columns; it has to stand before the tokens.",
    ("transpose(1, 2)", "transpose(2, 3)"),
    planted=False,
)
split.edit(
    "float-size",
    "`/` gives a float, and sizes are integers: divide by `//`.",
    ("//", "/"),
    planted=False,
)
split.also(
    "float-size",
    split.edited(("//", "/"), ("reshape", "view")),
)
split.wrong(
    "next-column",
    "Head h starts at column h; it starts at column h * d_k.",
    """
    d_k = x.shape[-1] // n_heads
    return torch.stack([x[:, :, h : h + d_k] for h in range(n_heads)], dim=1)
""",
    planted=False,
)
split.wrong(
    "one-column-short",
    "The last column of each head is missing: a slice ends before its second number.",
    """
    d_k = x.shape[-1] // n_heads
    ends = [(h * d_k, (h + 1) * d_k - 1) for h in range(n_heads)]
    return torch.stack([x[:, :, start:end] for start, end in ends], dim=1)
""",
    planted=False,
)
split.edit(
    "batch-of-one",
    "The batch is taken to hold one text; its size is `x.shape[0]`.",
    ("reshape(batch", "reshape(1"),
    planted=False,
)
split.wrong(
    "transposed-first",
    "Tokens and columns change places before the columns are split, so heads cut "
    "across tokens; first split the columns, then move the head axis.",
    """
    batch, n, d_model = x.shape
    return x.transpose(1, 2).reshape(batch, n_heads, n, d_model // n_heads)
""",
    planted=False,
)
split.edit(
    "last-axes",
    "The last two axes are exchanged: (batch, n_heads, d_k, n).",
    ("transpose(1, 2)", "permute(0, 2, 3, 1)"),
)
split.right(
    "view",
    """
    batch, n, d_model = x.size()
    return x.reshape(batch, n, n_heads, -1).permute(0, 2, 1, 3)
""",
)
split.right(
    "chunks",
    """
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)
""",
)
split.right(
    "loop",
    """
    d_k = x.shape[-1] // n_heads
    heads = x.new_empty(x.shape[0], n_heads, x.shape[1], d_k)
    for h in range(n_heads):
        heads[:, h] = x[:, :, h * d_k : (h + 1) * d_k]
    return heads
""",
)
split.right(
    "unflatten",
    """
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)
""",
)
split.equivalent(
    "neighboring axes change places",
    "return blocks.movedim(2, 1) -> return blocks.movedim(1, 2)",
)


# ----------------------------------------------------------- merge_heads

merge = catalog.about(
    check.merge_heads,
    """
def merge_heads(x):
    return x.transpose(1, 2).flatten(2)
""",
)

merge.wrong(
    "reshape-only",
    "`reshape` alone mixes tokens: first move the head axis behind the tokens.",
    """
    batch, n_heads, n, d_k = x.shape
    return x.reshape(batch, n, n_heads * d_k)
""",
)
merge.edit(
    "no-join",
    "The axes are moved, but the heads are not joined: (batch, n, n_heads, d_k).",
    (".flatten(2)", ""),
)
merge.wrong(
    "view",
    "After `transpose` memory is out of order, and `view` raises an error; use "
    "`reshape`, or `contiguous` first.",
    """
    batch, n_heads, n, d_k = x.shape
    return x.transpose(1, 2).view(batch, n, n_heads * d_k)
""",
)
merge.wrong(
    "interleaved",
    "The columns of the heads are interleaved; each head has to stay together.",
    """
    return x.permute(0, 2, 3, 1).flatten(2)
""",
)
merge.wrong(
    "sum",
    "The heads are added; they have to stand side by side.",
    """
    return x.sum(dim=1)
""",
)
merge.wrong(
    "mean",
    "The heads are averaged; they have to stand side by side.",
    """
    return x.mean(dim=1)
""",
)
merge.wrong(
    "along-tokens",
    "The heads are joined along the tokens; they have to stand side by side in the "
    "columns.",
    """
    return torch.cat(list(x.unbind(1)), dim=1)
""",
)
merge.wrong(
    "first-head",
    "Only the first head is returned.",
    """
    return x[:, 0]
""",
)
merge.wrong(
    "batch-as-heads",
    "The first axis is taken for the heads; it is the batch.",
    """
    return torch.cat(list(x), dim=-1)
""",
)
merge.edit(
    "heads-stay",
    "Each head keeps an axis, and its tokens are joined; first move the head axis "
    "behind the tokens.",
    (".transpose(1, 2)", ""),
)
merge.wrong(
    "batch-flattened",
    "Batch and tokens become one axis; (batch, n, n_heads * d_k) is asked for.",
    """
    return x.transpose(1, 2).reshape(-1, x.shape[1] * x.shape[3])
""",
)
merge.wrong(
    "last-axes",
    "Tokens and columns change places; it is the head axis that has to move behind the "
    "tokens.",
    """
    batch, n_heads, n, d_k = x.shape
    return x.transpose(2, 3).reshape(batch, n, n_heads * d_k)
""",
)
merge.nothing()
merge.edit(
    "reversed",
    "The heads are joined in reverse order.",
    ("x.", "x.flip(1)."),
)
merge.right(
    "contiguous",
    """
    batch, n_heads, n, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(batch, n, n_heads * d_k)
""",
)
merge.right(
    "concatenated",
    """
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)
""",
)
merge.right(
    "einsum",
    """
    return torch.einsum("bhnd->bnhd", x).flatten(-2)
""",
)
merge.equivalent(
    "neighboring axes change places",
    "return x.movedim(1, 2).flatten(start_dim=2) -> return x.movedim(2, "
    "1).flatten(start_dim=2)",
)


# ---------------------------------------------------- MultiHeadAttention

module = catalog.about(
    check.MultiHeadAttention,
    """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q = split_heads(self.W_q(query), self.n_heads)
        k = split_heads(self.W_k(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
)

module.edit(
    "reshaped-split",
    "The heads are cut out by `view` alone, which cuts across tokens.",
    (
        "q = split_heads",
        "def split_heads(x, n_heads):\n"
        "            return x.reshape(x.shape[0], n_heads, x.shape[1], -1)\n"
        "\n"
        "        q = split_heads",
    ),
)
module.edit(
    "reshaped-merge",
    "The heads are merged by `reshape` alone, which mixes tokens.",
    (
        "return self.W_o(merge_heads(weights @ v))",
        "merged = (weights @ v).reshape(query.shape[0], query.shape[1], -1)\n"
        "        return self.W_o(merged)",
    ),
)
module.edit(
    "interleaved",
    "Head h gets every n_heads-th column; it has to get a block of neighbors.",
    (
        "q = split_heads",
        "def split_heads(x, n_heads):\n"
        "            x = x.reshape(x.shape[0], x.shape[1], -1, n_heads)\n"
        "            return x.permute(0, 3, 1, 2)\n"
        "\n"
        "        q = split_heads",
    ),
)
module.edit(
    "unscaled",
    "The dot products are not divided by √d_k.",
    (" / math.sqrt(self.d_k)", ""),
)
module.edit(
    "scales-by-d_model",
    "The divisor is √d_model; each head has keys of width d_k = d_model / n_heads.",
    ("(self.d_k)", "(self.d_k * self.n_heads)"),
)
module.edit(
    "no-output-projection",
    "W_o is there but never used.",
    ("self.W_o(merge_heads(weights @ v))", "merge_heads(weights @ v)"),
)
module.edit(
    "not-transposed",
    "Scores need a matrix product with the keys transposed, in their last two axes.",
    ("k.transpose(-2, -1)", "k"),
)
module.edit(
    "mask-inverted",
    'The mask is read as True = hidden; in this course True means "may attend".',
    ("~mask, -", "mask, -"),
)
module.edit(
    "mask-ignored",
    "The mask changes nothing; `masked_fill`, for one, returns new scores.",
    (
        "if mask is not None:\n"
        "            scores = scores.masked_fill(~mask, -torch.inf)\n"
        "        ",
        "",
    ),
)
module.edit(
    "mask-one-axis-more",
    "The mask gets one more axis; as it is, it broadcasts to the shape of the weights.",
    ("~mask, -", "~mask.unsqueeze(1), -"),
)
module.edit(
    "mask-after-softmax",
    "The mask zeroes weights after the softmax: rows no longer sum to 1.",
    (
        "if mask is not None:",
        "weights = torch.softmax(scores, dim=-1)\n        if mask is not None:",
    ),
    (
        "scores = scores.masked_fill(~mask, -torch.inf)\n"
        "        weights = torch.softmax(scores, dim=-1)",
        "weights = weights * mask",
    ),
)
module.edit(
    "mask-with-zeros",
    "Hidden scores become 0 instead of minus infinity, and exp(0) is 1.",
    ("-torch.inf", "0.0"),
)
module.edit(
    "over-queries",
    "The softmax runs over the queries; every query's weights have to sum to 1 over "
    "the keys.",
    ("dim=-1", "dim=-2"),
)
module.edit(
    "over-heads",
    "The softmax runs over the heads; it has to run over the keys, the last axis.",
    ("dim=-1", "dim=1"),
)
module.also("over-heads", module.edited(("dim=-1", "dim=1"), ("-torch.inf", "-1e9")))
module.edit(
    "averaged-weights",
    "The weights are averaged over the heads; those of every head are asked for.",
    ("weights\n", "weights.mean(1)\n"),
)
module.edit(
    "value-from-key",
    "The values are made from `key`; they have an input of their own.",
    ("(value)", "(key)"),
)
module.edit(
    "self-attention-only",
    "Keys and values are made from `query`: other inputs are ignored.",
    ("W_k(key)", "W_k(query)"),
    ("(value)", "(query)"),
)
module.nothing()
module.edit(
    "keys-like-queries",
    "Keys and values are split with the number of queries; their sequence has a length "
    "of its own.",
    (
        "q = split_heads",
        "n = query.shape[1]\n"
        "\n"
        "        def split_heads(x, n_heads):\n"
        "            return x.view(x.shape[0], n, n_heads, self.d_k).transpose(1, 2)\n"
        "\n"
        "        q = split_heads",
    ),
)
module.edit(
    "divides-by-d_k",
    "The dot products are divided by d_k instead of √d_k.",
    ("math.sqrt(self.d_k)", "self.d_k"),
)
module.edit(
    "number-of-heads",
    "The divisor is the square root of the number of heads; it has to be √d_k, the "
    "width of a head.",
    ("math.sqrt(self.d_k)", "math.sqrt(self.n_heads)"),
)
module.edit(
    "swapped",
    "Output and weights are returned in the wrong order.",
    (
        "self.W_o(merge_heads(weights @ v)), weights",
        "weights, self.W_o(merge_heads(weights @ v))",
    ),
)
module.edit(
    "no-W_o",
    "The output projection W_o is missing.",
    ("self.W_o = nn.Linear(d_model, d_model, bias=False)\n", "\n"),
    ("self.W_o(merge_heads(weights @ v))", "merge_heads(weights @ v)"),
)
module.edit(
    "key-from-value",
    "The keys are made from `value`; they have an input of their own.",
    ("W_k(key)", "W_k(value)"),
)
module.edit(
    "truth-of-the-mask",
    "`if mask` and `not mask` ask whether the whole tensor is true, which it cannot "
    "say; ask `if mask is not None`, and invert by `~`.",
    ("if mask is not None", "if mask"),
)
module.edit(
    "assertion",
    "Heads that do not fit raise an AssertionError; a ValueError is asked for.",
    (
        "if d_model % n_heads != 0:\n"
        '            raise ValueError("n_heads has to divide d_model")',
        "assert d_model % n_heads == 0",
    ),
)
module.edit(
    "no-check",
    "Nothing refuses heads that do not fit, when the module is made.",
    (
        "if d_model % n_heads != 0:\n"
        '            raise ValueError("n_heads has to divide d_model")\n'
        "        ",
        "",
    ),
)
module.edit(
    "biases",
    "The layers have biases; `bias=False` is asked for.",
    (
        "(d_model, d_model, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.W_v = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.W_o = nn.Linear(d_model, d_model, bias=False)",
        "(d_model, d_model)\n"
        "        self.W_k = nn.Linear(d_model, d_model)\n"
        "        self.W_v = nn.Linear(d_model, d_model)\n"
        "        self.W_o = nn.Linear(d_model, d_model)",
    ),
)
module.edit(
    "query-for-key",
    "The keys are made by W_q; they have a matrix of their own.",
    ("W_k(key)", "W_q(key)"),
)
module.edit(
    "detached",
    "The weights are cut from the graph (`detach`): W_q and W_k get no gradient.",
    ("return", "weights = weights.detach()\n        return"),
)
module.edit(
    "output-only",
    "Only the output is returned; the weights are asked for too.",
    (", weights", ""),
)
module.right(
    "torch-kernel",
    module.edited(
        (
            "scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)\n"
            "        if mask is not None:\n"
            "            scores = scores.masked_fill(~mask, -torch.inf)\n"
            "        weights = torch.softmax(scores, dim=-1)\n"
            "        return self.W_o(merge_heads(weights @ v))",
            "heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"
            "        eye = torch.eye(k.shape[2]).expand(*k.shape[:3], -1)\n"
            "        weights = F.scaled_dot_product_attention("
            "q, k, eye, attn_mask=mask)\n"
            "        return self.W_o(merge_heads(heads))",
        ),
    ),
)
module.right(
    "head-by-head",
    """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.W_q(query), self.W_k(key), self.W_v(value)
        scores = []
        for h in range(self.n_heads):
            part = slice(h * self.d_k, (h + 1) * self.d_k)
            scores.append(q[..., part] @ k[..., part].mT / self.d_k**0.5)
        scores = torch.stack(scores, dim=1)
        if mask is not None:
            scores = torch.where(mask, scores, torch.tensor(float("-inf")))
        weights = scores.softmax(-1)
        mixed = [
            weights[:, h] @ v[..., h * self.d_k : (h + 1) * self.d_k]
            for h in range(self.n_heads)
        ]
        return self.W_o(torch.cat(mixed, dim=-1)), weights
""",
)
module.right(
    "einsum",
    module.edited(
        (
            "q @ k.transpose(-2, -1) / math.sqrt(self.d_k)",
            'torch.einsum("bhid,bhjd->bhij", q, k) * self.d_k**-0.5',
        ),
        (
            "scores = scores.masked_fill(~mask, -torch.inf)",
            "hidden = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)\n"
            "            scores = scores + hidden",
        ),
        (
            "merge_heads(weights @ v)",
            'torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2)',
        ),
    ),
)


# --------------------------------------------- how answers are told apart


def behavior(answer: Any, arguments: tuple, *calls: tuple) -> list:
    """Parameters of a module, and what it does with seeded weights."""
    built = outcome(answer, *arguments)
    if built[0] == "raised":
        return [built]
    module = built[1]
    shapes = {name: tuple(t.shape) for name, t in module.state_dict().items()}
    found: list = [sorted(f"{name} {shape}" for name, shape in shapes.items())]
    # one matrix each, told apart by its name
    state = {
        name: seeded(*shape) + 0.3 * sum(map(ord, name)) % 1
        for name, shape in shapes.items()
    }
    module.load_state_dict(state)
    found += [outcome(module, *inputs) for inputs in calls]
    first = found[1]
    if first[0] == "returned" and isinstance(first[1], tuple):
        found.append(learning(module, first[1][0], calls[0]))
    return found


def learning(module: Any, output: Any, inputs: tuple) -> Any:
    """Which parameters get a gradient."""
    try:
        result = gradients(module, *inputs, weights=torch.ones_like(output))
    except (RuntimeError, TypeError) as error:
        return type(error).__name__
    return sorted(name for name, g in result["parameters"].items() if g is not None)


@head.probe
def probe_head(answer: Any) -> list:
    """Tell heads apart by parameters, results and gradients."""
    return behavior(answer, (6, 4), (seeded(2, 5, 6),), (seeded(3, 3, 6),))


@module.probe
def probe_multi_head(answer: Any) -> list:
    """Tell modules apart by parameters, results, masks, gradients, refusals."""
    query, key, value = seeded(2, 3, 6), seeded(2, 4, 6), seeded(2, 4, 6).flip(0)
    mask = torch.tensor([[True, False, True, True]]).expand(3, 4)
    refused = outcome(answer, 6, 4)
    refusal = refused[1] if refused[0] == "raised" else "accepted"
    calls = [(query, key, value), (query, key, value, mask)]
    return [refusal, *behavior(answer, (6, 2), *calls)]


@split.probe
def probe_split_heads(answer: Any) -> list:
    """Tell splits apart by where each number goes."""
    return [outcome(answer, seeded(2, 5, 12), 3), outcome(answer, seeded(1, 4, 6), 2)]


@merge.probe
def probe_merge_heads(answer: Any) -> list:
    """Tell merges apart by where each number goes."""
    return [outcome(answer, seeded(2, 3, 5, 4)), outcome(answer, seeded(2, 2, 2, 2))]


@plot.probe
def probe_plot_attention(answer: Any) -> list:
    """Tell maps apart by cells, tick labels and axis labels."""
    weights = np.array([[0.7, 0.2, 0.1], [0.3, 0.25, 0.45], [0.0, 0.4, 0.6]])
    result = outcome(answer, weights, ["we", "like", "tea"])
    if result[0] == "raised":
        return [result]
    try:
        shown = describe_axes(result[1])
    except CheckFailed:
        return [type(result[1]).__name__]
    words = [shown["xlabel"].casefold()[:3], shown["ylabel"].casefold()[:3]]
    ticks = [
        [label for _, label in shown[axis] if label.isalpha()]
        for axis in ("xticks", "yticks")
    ]
    return [words, ticks, [[g["values"], g["y"]] for g in shown["grids"]]]


# ----------------------------------------------------------------- check_split_heads

hunt = catalog.about(
    check.check_split_heads,
    """
def check_split_heads(split_heads):
    x = torch.arange(48.0).reshape(2, 3, 8)
    heads = split_heads(x, 2)
    assert isinstance(heads, torch.Tensor), "not a tensor"
    assert heads.shape == (2, 2, 3, 4)
    for h in range(2):
        assert torch.equal(heads[:, h], x[:, :, 4 * h : 4 * h + 4])
""",
)
hunt.hunts(check.split_heads)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    split_heads(torch.zeros(2, 3, 8), 2)
""",
)
hunt.wrong(
    "rejects-everything",
    "It rejects every function, right ones too.",
    """
    assert False, "wrong"
""",
)
hunt.wrong(
    "truth-value",
    "It returns whether the function is right; a check has to assert it.",
    """
    heads = split_heads(torch.zeros(2, 3, 8), 2)
    ok = isinstance(heads, torch.Tensor) and heads.shape == (2, 2, 3, 4)
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    heads = split_heads(torch.zeros(2, 3, 8), 2)
    ok = isinstance(heads, torch.Tensor) and heads.shape == (2, 2, 3, 4)
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "shape-only",
    "It looks at the shape only: the columns may land anywhere.",
    """
    heads = split_heads(torch.zeros(2, 3, 8), 2)
    assert isinstance(heads, torch.Tensor) and heads.shape == (2, 2, 3, 4)
""",
)
hunt.wrong(
    "square",
    "It tries as many heads as columns per head, where both could be confused.",
    """
    x = torch.arange(24.0).reshape(2, 3, 4)
    heads = split_heads(x, 2)
    assert isinstance(heads, torch.Tensor) and heads.shape == (2, 2, 3, 2)
    assert torch.equal(heads[:, 0], x[:, :, :2])
    assert torch.equal(heads[:, 1], x[:, :, 2:])
""",
)
hunt.wrong(
    "one-token",
    "It tries one token: nothing can be cut across tokens there.",
    """
    x = torch.arange(16.0).reshape(2, 1, 8)
    heads = split_heads(x, 2)
    assert isinstance(heads, torch.Tensor) and heads.shape == (2, 2, 1, 4)
    assert torch.equal(heads[:, 0], x[:, :, :4])
    assert torch.equal(heads[:, 1], x[:, :, 4:])
""",
)
hunt.wrong(
    "one-head",
    "It tries a single head: nothing is split there.",
    """
    x = torch.arange(24.0).reshape(2, 3, 4)
    heads = split_heads(x, 1)
    assert isinstance(heads, torch.Tensor)
    assert torch.equal(heads, x[:, None])
""",
)
hunt.wrong(
    "contiguous",
    "It asks for contiguous memory, which the card does not.",
    """
    x = torch.arange(48.0).reshape(2, 3, 8)
    heads = split_heads(x, 2)
    assert isinstance(heads, torch.Tensor) and heads.is_contiguous()
    assert torch.equal(heads[:, 0], x[:, :, :4])
""",
)
hunt.right(
    "round-trip",
    """
    x = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(1))
    heads = split_heads(x, 3)
    assert torch.is_tensor(heads)
    assert tuple(heads.shape) == (3, 3, 4, 2)
    assert torch.equal(heads.transpose(1, 2).reshape(3, 4, 6), x)
""",
)
hunt.right(
    "each-number",
    """
    x = torch.arange(2 * 3 * 12).reshape(2, 3, 12)
    heads = split_heads(x, 4)
    assert isinstance(heads, torch.Tensor) and heads.ndim == 4
    assert list(heads.shape) == [2, 4, 3, 3]
    for b in range(2):
        for t in range(3):
            for c in range(12):
                assert heads[b, c // 3, t, c % 3] == x[b, t, c]
""",
)
hunt.right(
    "concatenated",
    """
    x = torch.linspace(0, 1, 40).reshape(1, 5, 8)
    heads = split_heads(x, 2)
    assert type(heads) is torch.Tensor
    assert heads.shape == torch.Size([1, 2, 5, 4])
    assert torch.allclose(torch.cat(list(heads.unbind(1)), dim=-1), x)
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "AttentionHead-einsum": (
            "`einsum` names the axes, so that nothing has to be transposed."
        ),
        "AttentionHead-buffered": (
            "The factor 1/√d_k is computed once, when the head is made."
        ),
        "plot_attention-matshow": (
            "A color bar tells the numbers, and `matshow` puts the keys' labels "
            "above the map."
        ),
        "plot_attention-pcolormesh": (
            "`pcolormesh` draws its cells between whole numbers, so the labels "
            "stand at halves."
        ),
        "split_heads-chunks": (
            "It cuts the columns into blocks and stacks these as a new axis."
        ),
        "split_heads-unflatten": (
            "It splits the last axis in place and moves the heads forward."
        ),
        "merge_heads-contiguous": (
            "`view` needs numbers that lie in order, so `contiguous` copies them "
            "first; `flatten` does so by itself."
        ),
        "merge_heads-concatenated": (
            "It lays the heads side by side, one after the other."
        ),
        "MultiHeadAttention-torch-kernel": (
            "torch's own kernel gives the output and, with the unit matrix as "
            "values, the weights."
        ),
        "MultiHeadAttention-head-by-head": (
            "Slices cut the columns of each head, and heads become an axis only for "
            "the weights."
        ),
        "check_split_heads-round-trip": (
            "It puts the heads together again and asks for the input."
        ),
        "check_split_heads-each-number": "It says of every number where it has to go.",
    }
)
