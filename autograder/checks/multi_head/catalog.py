"""What students get wrong, and right, in 03-multi-head."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.catalog import Catalog, Misconception, Style, outcome
from autograder.checks.figures import describe_axes
from autograder.checks.gradients import gradients
from autograder.checks.question import CheckFailed

CHAPTER = "03-multi-head"

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

SECTIONS = {
    "AttentionHead": "one-head",
    "plot_attention": "one-head",
    "split_heads": "split-and-merge",
    "merge_heads": "split-and-merge",
    "MultiHeadAttention": "the-module",
}


def wrong(question: str, name: str, diagnosis: str, code: str) -> Misconception:
    """An entry; its id says where it belongs."""
    read = f"{CHAPTER}#{SECTIONS[question]}"
    return Misconception(f"{question}-{name}", question, diagnosis, read, code)


HEAD = [
    wrong(
        "AttentionHead",
        "unscaled",
        "The dot products are not divided by √d_k.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1)
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "scales-by-d_model",
        "The divisor is √d_model; it has to be √d_k, the width of a key.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "divides-by-d_k",
        "The dot products are divided by d_k instead of √d_k.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / q.shape[-1]
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "over-queries",
        "The softmax runs over the queries; every query's weights have to sum"
        " to 1 over the keys.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-2)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "over-batch",
        "The softmax runs over the batch (dim=0); it has to run over the "
        "keys, the last axis.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=0)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "biases",
        "The layers have biases; `bias=False` is asked for.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k)
        self.W_k = nn.Linear(d_model, d_k)
        self.W_v = nn.Linear(d_model, d_k)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "other-names",
        "The layers have other names; they have to be W_q, W_k and W_v.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.query = nn.Linear(d_model, d_k, bias=False)
        self.key = nn.Linear(d_model, d_k, bias=False)
        self.value = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "no-projections",
        "The input is used as query, key and value at once: there is nothing to learn.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.d_k = d_k

    def forward(self, x):
        weights = torch.softmax(x @ x.transpose(-2, -1) / math.sqrt(self.d_k), dim=-1)
        return (weights @ x)[..., : self.d_k], weights
""",
    ),
    wrong(
        "AttentionHead",
        "query-for-key",
        "The keys are made by W_q; they have a matrix of their own.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_q(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "roles-exchanged",
        "W_k makes the queries and W_q the keys.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_k(x), self.W_q(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "no-softmax",
        "The softmax is missing: the raw scores mix the values.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = scores
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "output-only",
        "Only the output is returned; the weights are asked for too.",
        """\
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
        return weights @ v
""",
    ),
    wrong(
        "AttentionHead",
        "swapped",
        "Output and weights are returned in the wrong order.",
        """\
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
        return weights, weights @ v
""",
    ),
    wrong(
        "AttentionHead",
        "mixes-keys",
        "The weights mix the keys; they have to mix the values.",
        """\
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
        return weights @ k, weights
""",
    ),
    wrong(
        "AttentionHead",
        "detached",
        "The weights are cut from the graph (`detach`): W_q and W_k get no gradient.",
        """\
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
        weights = weights.detach()
        return weights @ v, weights
""",
    ),
    wrong(
        "AttentionHead",
        "no-grad",
        "`torch.no_grad` stops all gradients: nothing can be learned.",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        with torch.no_grad():
            return self.attend(x)

    def attend(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
""",
    ),
]

PLOT = [
    wrong(
        "plot_attention",
        "transposed",
        "The map is transposed: rows have to be queries.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights.T, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "labels-exchanged",
        "The axis labels are exchanged: rows are queries, columns are keys.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("query")
    ax.set_ylabel("key")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "no-ticks",
        "The tokens are missing: every row and column needs its tick label.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "keys-only",
        "Only the columns bear their tokens; the rows need them too.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "no-axis-labels",
        "The axes are not labeled.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "rows-reversed",
        "The rows are reversed while their labels are not.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights[::-1], vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "labels-reversed",
        "The labels of the rows are reversed while the rows are not.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens[::-1])
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "softmax-again",
        "Another softmax is applied before drawing; these are weights already.",
        """\
def plot_attention(weights, tokens):
    weights = np.exp(weights) / np.exp(weights).sum(-1, keepdims=True)
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "row-scaled",
        "Every row is divided by its largest weight, so rows no longer sum to 1.",
        """\
def plot_attention(weights, tokens):
    weights = weights / weights.max(-1, keepdims=True)
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "bars",
        "Bars of one query are drawn; the map of all queries is asked for.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.bar(range(len(tokens)), weights[0])
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    wrong(
        "plot_attention",
        "figure",
        "The figure is returned; the Axes is asked for.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return fig
""",
    ),
    wrong(
        "plot_attention",
        "nothing",
        "The plot is drawn but not returned: end with `return ax`.",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
""",
    ),
]

SPLIT = [
    wrong(
        "split_heads",
        "reshape-only",
        "`view` alone cuts across tokens: first split the columns, then move "
        "the head axis.",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n_heads, n, d_model // n_heads)
""",
    ),
    wrong(
        "split_heads",
        "no-transpose",
        "The head axis stays behind the tokens: (batch, n, n_heads, d_k).",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads)
""",
    ),
    wrong(
        "split_heads",
        "interleaved",
        "Head h gets every n_heads-th column; it has to get a block of neighbors.",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, d_model // n_heads, n_heads).permute(0, 3, 1, 2)
""",
    ),
    wrong(
        "split_heads",
        "list",
        "A list of heads is returned; one tensor is asked for.",
        """\
def split_heads(x, n_heads):
    return list(x.chunk(n_heads, dim=-1))
""",
    ),
    wrong(
        "split_heads",
        "heads-first",
        "The head axis stands before the batch.",
        """\
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))
""",
    ),
    wrong(
        "split_heads",
        "d_k-for-n_heads",
        "The second argument is taken for d_k; it is the number of heads.",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, d_model // n_heads, n_heads).transpose(1, 2)
""",
    ),
    wrong(
        "split_heads",
        "copies",
        "Every head gets all columns; each has to get its own part.",
        """\
def split_heads(x, n_heads):
    return torch.stack([x] * n_heads, dim=1)
""",
    ),
    wrong(
        "split_heads",
        "folded-batch",
        "The heads are folded into the batch; they need an axis of their own.",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    heads = x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)
    return heads.reshape(batch * n_heads, n, d_model // n_heads)
""",
    ),
    wrong(
        "split_heads",
        "heads-reversed",
        "The heads come out in reverse order.",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    parts = x.reshape(batch, -1, n_heads, d_model // n_heads)
    return parts.flip(2).transpose(1, 2)
""",
    ),
    wrong(
        "split_heads",
        "last-axes",
        "The last two axes are exchanged: (batch, n_heads, d_k, n).",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).permute(0, 2, 3, 1)
""",
    ),
]

MERGE = [
    wrong(
        "merge_heads",
        "reshape-only",
        "`reshape` alone mixes tokens: first move the head axis behind the tokens.",
        """\
def merge_heads(x):
    batch, n_heads, n, d_k = x.shape
    return x.reshape(batch, n, n_heads * d_k)
""",
    ),
    wrong(
        "merge_heads",
        "no-join",
        "The axes are moved, but the heads are not joined: (batch, n, n_heads, d_k).",
        """\
def merge_heads(x):
    return x.transpose(1, 2)
""",
    ),
    wrong(
        "merge_heads",
        "view",
        "After `transpose` memory is out of order, and `view` raises an "
        "error; use `reshape`, or `contiguous` first.",
        """\
def merge_heads(x):
    batch, n_heads, n, d_k = x.shape
    return x.transpose(1, 2).view(batch, n, n_heads * d_k)
""",
    ),
    wrong(
        "merge_heads",
        "interleaved",
        "The columns of the heads are interleaved; each head has to stay together.",
        """\
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)
""",
    ),
    wrong(
        "merge_heads",
        "sum",
        "The heads are added; they have to stand side by side.",
        """\
def merge_heads(x):
    return x.sum(dim=1)
""",
    ),
    wrong(
        "merge_heads",
        "mean",
        "The heads are averaged; they have to stand side by side.",
        """\
def merge_heads(x):
    return x.mean(dim=1)
""",
    ),
    wrong(
        "merge_heads",
        "along-tokens",
        "The heads are joined along the tokens; they have to stand side by "
        "side in the columns.",
        """\
def merge_heads(x):
    return torch.cat(list(x.unbind(1)), dim=1)
""",
    ),
    wrong(
        "merge_heads",
        "first-head",
        "Only the first head is returned.",
        """\
def merge_heads(x):
    return x[:, 0]
""",
    ),
    wrong(
        "merge_heads",
        "batch-as-heads",
        "The first axis is taken for the heads; it is the batch.",
        """\
def merge_heads(x):
    return torch.cat(list(x), dim=-1)
""",
    ),
    wrong(
        "merge_heads",
        "reversed",
        "The heads are joined in reverse order.",
        """\
def merge_heads(x):
    return x.flip(1).transpose(1, 2).flatten(2)
""",
    ),
]

MULTI_HEAD = [
    wrong(
        "MultiHeadAttention",
        "reshaped-split",
        "The heads are cut out by `view` alone, which cuts across tokens.",
        """\
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
        def split_heads(x, n_heads):
            return x.reshape(x.shape[0], n_heads, x.shape[1], -1)

        q = split_heads(self.W_q(query), self.n_heads)
        k = split_heads(self.W_k(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "reshaped-merge",
        "The heads are merged by `reshape` alone, which mixes tokens.",
        """\
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
        merged = (weights @ v).reshape(query.shape[0], query.shape[1], -1)
        return self.W_o(merged), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "interleaved",
        "Head h gets every n_heads-th column; it has to get a block of neighbors.",
        """\
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
        def split_heads(x, n_heads):
            x = x.reshape(x.shape[0], x.shape[1], -1, n_heads)
            return x.permute(0, 3, 1, 2)

        q = split_heads(self.W_q(query), self.n_heads)
        k = split_heads(self.W_k(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "unscaled",
        "The dot products are not divided by √d_k.",
        """\
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
        scores = q @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "scales-by-d_model",
        "The divisor is √d_model; each head has keys of width d_k = d_model / n_heads.",
        """\
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k * self.n_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "no-output-projection",
        "W_o is there but never used.",
        """\
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
        return merge_heads(weights @ v), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "mask-inverted",
        'The mask is read as True = hidden; in this course True means "may attend".',
        """\
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
            scores = scores.masked_fill(mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "mask-ignored",
        "The mask is never used.",
        """\
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
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "mask-after-softmax",
        "The mask zeroes weights after the softmax: rows no longer sum to 1.",
        """\
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
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "mask-with-zeros",
        "Hidden scores become 0 instead of minus infinity, and exp(0) is 1.",
        """\
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
            scores = scores.masked_fill(~mask, 0.0)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "over-queries",
        "The softmax runs over the queries; every query's weights have to sum"
        " to 1 over the keys.",
        """\
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
        weights = torch.softmax(scores, dim=-2)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "over-heads",
        "The softmax runs over the heads; it has to run over the keys, the last axis.",
        """\
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
        weights = torch.softmax(scores, dim=1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "averaged-weights",
        "The weights are averaged over the heads; those of every head are asked for.",
        """\
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
        return self.W_o(merge_heads(weights @ v)), weights.mean(1)
""",
    ),
    wrong(
        "MultiHeadAttention",
        "value-from-key",
        "The values are made from `key`; they have an input of their own.",
        """\
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
        v = split_heads(self.W_v(key), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "self-attention-only",
        "Keys and values are made from `query`: other inputs are ignored.",
        """\
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
        k = split_heads(self.W_k(query), self.n_heads)
        v = split_heads(self.W_v(query), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "assertion",
        "Heads that do not fit raise an AssertionError; a ValueError is asked for.",
        """\
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
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
    ),
    wrong(
        "MultiHeadAttention",
        "no-check",
        "Heads that do not fit are not refused.",
        """\
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
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
    ),
    wrong(
        "MultiHeadAttention",
        "biases",
        "The layers have biases; `bias=False` is asked for.",
        """\
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

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
    ),
    wrong(
        "MultiHeadAttention",
        "query-for-key",
        "The keys are made by W_q; they have a matrix of their own.",
        """\
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
        k = split_heads(self.W_q(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "detached",
        "The weights are cut from the graph (`detach`): W_q and W_k get no gradient.",
        """\
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
        weights = weights.detach()
        return self.W_o(merge_heads(weights @ v)), weights
""",
    ),
    wrong(
        "MultiHeadAttention",
        "output-only",
        "Only the output is returned; the weights are asked for too.",
        """\
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
        return self.W_o(merge_heads(weights @ v))
""",
    ),
]

STYLES = [
    Style(
        "AttentionHead-functional",
        "AttentionHead",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = F.softmax(torch.bmm(q, k.mT) * k.size(2) ** -0.5, dim=2)
        return weights @ v, weights
""",
    ),
    Style(
        "AttentionHead-einsum",
        "AttentionHead",
        """\
class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = torch.einsum("bid,bjd->bij", q, k) / q.size(-1) ** 0.5
        weights = torch.softmax(scores, dim=-1)
        return torch.einsum("bij,bjd->bid", weights, v), weights
""",
    ),
    Style(
        "AttentionHead-buffered",
        "AttentionHead",
        """\
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
    ),
    Style(
        "plot_attention-matshow",
        "plot_attention",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    picture = ax.matshow(weights, cmap="viridis")
    fig.colorbar(picture)
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("Attending to (key)")
    ax.set_ylabel("Query token")
    return ax
""",
    ),
    Style(
        "plot_attention-pcolormesh",
        "plot_attention",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.pcolormesh(weights)
    ax.set_xticks(np.arange(len(tokens)) + 0.5, tokens)
    ax.set_yticks(np.arange(len(tokens)) + 0.5, tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    Style(
        "plot_attention-seaborn",
        "plot_attention",
        """\
def plot_attention(weights, tokens):
    import seaborn as sns

    plt.figure()
    ax = sns.heatmap(weights, annot=True, xticklabels=tokens, yticklabels=tokens)
    ax.set(xlabel="Keys", ylabel="Queries", title="Attention")
    return ax
""",
    ),
    Style(
        "plot_attention-from-below",
        "plot_attention",
        """\
def plot_attention(weights, tokens):
    fig, ax = plt.subplots()
    ax.imshow(weights, vmin=0, vmax=1, origin="lower")
    ax.set_xticks(range(len(tokens)), tokens)
    ax.set_yticks(range(len(tokens)), tokens)
    ax.set_xlabel("key")
    ax.set_ylabel("query")
    return ax
""",
    ),
    Style(
        "split_heads-view",
        "split_heads",
        """\
def split_heads(x, n_heads):
    batch, n, d_model = x.size()
    return x.reshape(batch, n, n_heads, -1).permute(0, 2, 1, 3)
""",
    ),
    Style(
        "split_heads-chunks",
        "split_heads",
        """\
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)
""",
    ),
    Style(
        "split_heads-loop",
        "split_heads",
        """\
def split_heads(x, n_heads):
    d_k = x.shape[-1] // n_heads
    heads = x.new_empty(x.shape[0], n_heads, x.shape[1], d_k)
    for h in range(n_heads):
        heads[:, h] = x[:, :, h * d_k : (h + 1) * d_k]
    return heads
""",
    ),
    Style(
        "split_heads-unflatten",
        "split_heads",
        """\
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)
""",
    ),
    Style(
        "merge_heads-contiguous",
        "merge_heads",
        """\
def merge_heads(x):
    batch, n_heads, n, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(batch, n, n_heads * d_k)
""",
    ),
    Style(
        "merge_heads-concatenated",
        "merge_heads",
        """\
def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=-1)
""",
    ),
    Style(
        "merge_heads-einsum",
        "merge_heads",
        """\
def merge_heads(x):
    return torch.einsum("bhnd->bnhd", x).flatten(-2)
""",
    ),
    Style(
        "MultiHeadAttention-torch-kernel",
        "MultiHeadAttention",
        """\
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
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        eye = torch.eye(k.shape[2]).expand(*k.shape[:3], -1)
        weights = F.scaled_dot_product_attention(q, k, eye, attn_mask=mask)
        return self.W_o(merge_heads(heads)), weights
""",
    ),
    Style(
        "MultiHeadAttention-head-by-head",
        "MultiHeadAttention",
        """\
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
    ),
    Style(
        "MultiHeadAttention-einsum",
        "MultiHeadAttention",
        """\
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
        scores = torch.einsum("bhid,bhjd->bhij", q, k) * self.d_k**-0.5
        if mask is not None:
            hidden = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
            scores = scores + hidden
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(torch.einsum("bhij,bhjd->bihd", weights, v).flatten(2)), weights
""",
    ),
]

catalog = Catalog(PRELUDE, [*HEAD, *PLOT, *SPLIT, *MERGE, *MULTI_HEAD], STYLES)


def seeded(*shape: int) -> torch.Tensor:
    """The same normal numbers for the same shape."""
    rng = np.random.default_rng(sum(shape) + 100 * len(shape))
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


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


@catalog.probe("AttentionHead")
def probe_head(answer: Any) -> list:
    """Tell heads apart by parameters, results and gradients."""
    return behavior(answer, (6, 4), (seeded(2, 5, 6),), (seeded(3, 3, 6),))


@catalog.probe("MultiHeadAttention")
def probe_multi_head(answer: Any) -> list:
    """Tell modules apart by parameters, results, masks, gradients, refusals."""
    query, key, value = seeded(2, 3, 6), seeded(2, 4, 6), seeded(2, 4, 6).flip(0)
    mask = torch.tensor([[True, False, True, True]]).expand(3, 4)
    refused = outcome(answer, 6, 4)
    refusal = refused[1] if refused[0] == "raised" else "accepted"
    calls = [(query, key, value), (query, key, value, mask)]
    return [refusal, *behavior(answer, (6, 2), *calls)]


@catalog.probe("split_heads")
def probe_split_heads(answer: Any) -> list:
    """Tell splits apart by where each number goes."""
    return [outcome(answer, seeded(2, 5, 12), 3), outcome(answer, seeded(1, 4, 6), 2)]


@catalog.probe("merge_heads")
def probe_merge_heads(answer: Any) -> list:
    """Tell merges apart by where each number goes."""
    return [outcome(answer, seeded(2, 3, 5, 4)), outcome(answer, seeded(2, 2, 2, 2))]


@catalog.probe("plot_attention")
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
