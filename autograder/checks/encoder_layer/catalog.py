"""What students get wrong, and right, in 06-encoder-layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from autograder.checks.catalog import (
    Catalog,
    Misconception,
    Style,
    alike,
    outcome,
)
from autograder.checks.encoder_layer import embedded, linear

CHAPTER = "06-encoder-layer"

PRELUDE = """
import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        def split(x):
            return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = split(self.W_q(query)), split(self.W_k(key)), split(self.W_v(value))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(dim=-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.dropout(F.gelu(self.linear1(x))))


def positions(n, d_model):
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
"""

SECTIONS = {
    "FeedForward": "the-feed-forward-network",
    "EncoderLayer": "the-layer",
    "count_parameters": "counting-parameters",
    "encode": "from-text-to-layers",
}


def wrong(question: str, name: str, diagnosis: str, code: str) -> Misconception:
    """An entry; its id says where it belongs."""
    read = f"{CHAPTER}#{SECTIONS[question]}"
    return Misconception(f"{question}-{name}", question, diagnosis, read, code)


FEED_FORWARD = [
    wrong(
        "FeedForward",
        "relu",
        "The activation is ReLU; the exact GELU is asked for.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.relu(self.linear1(x))
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "tanh-gelu",
        "This is the tanh approximation of GELU; the exact one is asked for.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x), approximate="tanh")
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "sigmoid-gelu",
        "This is x times sigmoid(1.702 x), an approximation; the exact GELU "
        "is asked for.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.linear1(x)
        hidden = hidden * torch.sigmoid(1.702 * hidden)
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "no-activation",
        "There is no activation: two linear maps in a row are one linear map.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = self.linear1(x)
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "activation-last",
        "The activation stands after linear2; it belongs between the layers.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return F.gelu(self.linear2(self.dropout(self.linear1(x))))
""",
    ),
    wrong(
        "FeedForward",
        "dropout-last",
        "Dropout stands after linear2; it belongs after the activation.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.dropout(self.linear2(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "dropout-first",
        "Dropout acts on the input; it belongs after the activation.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(self.dropout(x)))
        return self.linear2(hidden)
""",
    ),
    wrong(
        "FeedForward",
        "no-dropout",
        "Dropout is missing.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(hidden)
""",
    ),
    wrong(
        "FeedForward",
        "always-drops",
        "Dropout acts in eval mode too: `F.dropout` has to be told `self.training`.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.p = dropout

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(F.dropout(hidden, self.p))
""",
    ),
    wrong(
        "FeedForward",
        "fixed-dropout",
        "The share of dropout is fixed; it comes in as `dropout`.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "residual",
        "The input is added; the residual connection belongs to the encoder layer.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return x + self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "no-biases",
        "The layers have no biases; they should.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff, bias=False)
        self.linear2 = nn.Linear(d_ff, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(self.dropout(hidden))
""",
    ),
    wrong(
        "FeedForward",
        "no-expansion",
        "The hidden width is d_model; it has to be d_ff.",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_model)
        self.linear2 = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(self.dropout(hidden))
""",
    ),
]

LAYER = [
    wrong(
        "EncoderLayer",
        "pre-norm",
        "This is pre-norm: each norm comes before its branch; post-norm is asked for.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norm1(x)
        attended, _ = self.self_attn(y, y, y, mask)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.ffn(self.norm2(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "no-attention-residual",
        "The residual connection around attention is missing.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(self.dropout(attended))
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "no-ffn-residual",
        "The residual connection around the feed-forward network is missing.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "no-norms",
        "The norms are there but never used.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.ffn(x))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "one-norm",
        "norm1 is used twice; each step has a norm of its own.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm1(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "norms-exchanged",
        "norm1 and norm2 are exchanged.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm2(x + self.dropout(attended))
        x = self.norm1(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "mask-dropped",
        "The mask is not passed on to self_attn.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "old-residual",
        "The second residual adds the layer's input instead of the result of norm1.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        residual = x
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(residual + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "norm-before-sum",
        "Each branch is normalized before it is added; the sum has to be normalized.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = x + self.norm1(self.dropout(attended))
        x = x + self.norm2(self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "no-attention-dropout",
        "Dropout on the attention branch is missing.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + attended)
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "no-ffn-dropout",
        "Dropout on the feed-forward branch is missing.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.ffn(x))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "dropout-on-sum",
        "Dropout acts on the sums and cuts the residual connections; it "
        "belongs on the branches.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(self.dropout(x + attended))
        x = self.norm2(self.dropout(x + self.ffn(x)))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "always-drops",
        "Dropout acts in eval mode too: `F.dropout` has to be told `self.training`.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.p = dropout

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + F.dropout(attended, self.p))
        x = self.norm2(x + F.dropout(self.ffn(x), self.p))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "ffn-first",
        "The feed-forward network comes before attention; it comes after.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.dropout(self.ffn(x)))
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm2(x + self.dropout(attended))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "parallel",
        "Both branches start from the layer's input; the second has to start "
        "from the first's result.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        ffn = self.ffn(x)
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.dropout(ffn))
        return x
""",
    ),
    wrong(
        "EncoderLayer",
        "with-weights",
        "The weights are returned too; the layer returns the new tokens alone.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, weights = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x, weights
""",
    ),
    wrong(
        "EncoderLayer",
        "other-names",
        "The parts have other names; self_attn, ffn, norm1 and norm2 are asked for.",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.attention(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x
""",
    ),
]

COUNT = [
    wrong(
        "count_parameters",
        "no-biases",
        "The biases of all linear layers are missing.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * d_model * d_model
    ffn = 2 * d_model * d_ff
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "no-ffn-biases",
        "The biases of the feed-forward network are missing.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = 2 * d_model * d_ff
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "no-norms",
        "4 · d_model are missing: the two LayerNorms, or the biases of the "
        "projections.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    return projections + ffn
""",
    ),
    wrong(
        "count_parameters",
        "one-norm",
        "Only one LayerNorm is counted; a layer has two.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "three-projections",
        "Only three projections are counted; W_o is the fourth.",
        """\
def count_parameters(d_model, d_ff):
    projections = 3 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "one-ffn-layer",
        "Only one of the two linear layers of the feed-forward network is counted.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "float",
        "The result is a float; a number of parameters is an integer.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return float(projections + ffn + norms)
""",
    ),
    wrong(
        "count_parameters",
        "fixed-d_ff",
        "d_ff is taken to be 4 · d_model, whatever comes in.",
        """\
def count_parameters(d_model, d_ff):
    d_ff = 4 * d_model
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "one-attention-matrix",
        "Only one matrix is counted for attention; there are four projections.",
        """\
def count_parameters(d_model, d_ff):
    projections = d_model * d_model + d_model
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
    wrong(
        "count_parameters",
        "twelve-layers",
        "Twelve layers are counted; one is asked for.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return 12 * (projections + ffn + norms)
""",
    ),
    wrong(
        "count_parameters",
        "ffn-bias-twice",
        "The two biases of the feed-forward network have different sizes: "
        "d_ff and d_model.",
        """\
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = 2 * (d_model * d_ff + d_ff)
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
    ),
]

ENCODE = [
    wrong(
        "encode",
        "unscaled",
        "The embeddings are not multiplied by √d_model.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x + positions(n, d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "divided",
        "The embeddings are divided by √d_model; they have to be multiplied.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x / math.sqrt(d_model) + positions(n, d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "scaled-by-d_model",
        "The embeddings are multiplied by d_model instead of √d_model.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * d_model + positions(n, d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "no-positions",
        "The positions are missing: the encoder cannot tell orders apart.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "positions-scaled",
        "The positions are scaled too; only the embeddings are.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = (x + positions(n, d_model)) * math.sqrt(d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "positions-last",
        "The positions are added after the layers; they have to be there before them.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model)
    for layer in layers:
        x = layer(x)
    return x + positions(n, d_model)
""",
    ),
    wrong(
        "encode",
        "positions-each-layer",
        "The positions are added again before every layer; once is asked for.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model)
    for layer in layers:
        x = layer(x + positions(n, d_model))
    return x
""",
    ),
    wrong(
        "encode",
        "from-one",
        "The positions are counted from 1; the first one is 0.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n + 1, d_model)[1:]
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "cosine-first",
        "Cosines are on the even columns and sines on the odd ones; it is the"
        " other way round.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    pairs = positions(n, d_model).unflatten(1, (-1, 2))
    x = x * math.sqrt(d_model) + pairs.flip(2).flatten(1)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "halves",
        "All sines stand first and all cosines after them; they have to alternate.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    pairs = positions(n, d_model).unflatten(1, (-1, 2))
    x = x * math.sqrt(d_model) + pairs.mT.flatten(1)
    for layer in layers:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "reversed",
        "The layers are applied in reverse order.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    for layer in reversed(layers):
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "first-layer",
        "Only the first layer is applied.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    for layer in layers[:1]:
        x = layer(x)
    return x
""",
    ),
    wrong(
        "encode",
        "same-input",
        "Every layer gets the same input, so that only the last one counts.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    result = x
    for layer in layers:
        result = layer(x)
    return result
""",
    ),
    wrong(
        "encode",
        "no-layers",
        "The layers are never applied.",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    return x
""",
    ),
]

STYLES = [
    Style(
        "FeedForward-modules",
        "FeedForward",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.act, self.drop = nn.GELU(), nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.drop(self.act(self.linear1(x))))
""",
    ),
    Style(
        "FeedForward-erf",
        "FeedForward",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.p = dropout

    def forward(self, x):
        h = self.linear1(x)
        h = h * (1 + torch.erf(h / math.sqrt(2))) / 2
        return self.linear2(F.dropout(h, self.p, training=self.training))
""",
    ),
    Style(
        "FeedForward-matmul",
        "FeedForward",
        """\
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = nn.functional.gelu(x @ self.linear1.weight.T + self.linear1.bias)
        return self.linear2(self.dropout(hidden))
""",
    ),
    Style(
        "EncoderLayer-two-dropouts",
        "EncoderLayer",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        branch = self.drop1(self.self_attn(x, x, x, mask)[0])
        x = self.norm1(branch + x)
        x = self.norm2(self.drop2(self.ffn(x)) + x)
        return x
""",
    ),
    Style(
        "EncoderLayer-functional",
        "EncoderLayer",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.p = dropout

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + F.dropout(attended, self.p, self.training))
        x = self.norm2(x + F.dropout(self.ffn(x), self.p, self.training))
        return x
""",
    ),
    Style(
        "EncoderLayer-helper",
        "EncoderLayer",
        """\
class EncoderLayer(nn.Module):
    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        def branch(x, y, norm):
            return norm(x + self.dropout(y))

        x = branch(x, self.self_attn(x, x, x, mask=mask)[0], self.norm1)
        return branch(x, self.ffn(x), self.norm2)
""",
    ),
    Style(
        "count_parameters-formula",
        "count_parameters",
        """\
def count_parameters(d_model, d_ff):
    return 4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
""",
    ),
    Style(
        "count_parameters-shapes",
        "count_parameters",
        """\
def count_parameters(d_model, d_ff):
    linears = [(d_model, d_model)] * 4 + [(d_model, d_ff), (d_ff, d_model)]
    total = sum((inputs + 1) * outputs for inputs, outputs in linears)
    return total + 4 * d_model
""",
    ),
    Style(
        "count_parameters-grouped",
        "count_parameters",
        """\
def count_parameters(d_model, d_ff):
    def linear(inputs, outputs):
        return inputs * outputs + outputs

    norm = 2 * d_model
    attention = 4 * linear(d_model, d_model)
    ffn = linear(d_model, d_ff) + linear(d_ff, d_model)
    return attention + norm + ffn + norm
""",
    ),
    Style(
        "encode-reduce",
        "encode",
        """\
def encode(tokens, embedding, layers):
    from functools import reduce

    width = embedding.weight.shape[1]
    x = embedding(tokens) * width**0.5 + positions(tokens.shape[1], width)
    return reduce(lambda x, layer: layer(x), layers, x)
""",
    ),
    Style(
        "encode-loops",
        "encode",
        """\
def encode(tokens, embedding, layers):
    batch, n = tokens.shape
    d_model = embedding.embedding_dim
    encoding = torch.zeros(n, d_model)
    for p in range(n):
        for i in range(0, d_model, 2):
            angle = p / 10000 ** (i / d_model)
            encoding[p, i], encoding[p, i + 1] = math.sin(angle), math.cos(angle)
    hidden = embedding(tokens).mul(d_model**0.5).add(encoding)
    for i in range(len(layers)):
        hidden = layers[i](hidden)
    return hidden
""",
    ),
    Style(
        "encode-sequential",
        "encode",
        """\
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    return nn.Sequential(*layers)(x)
""",
    ),
]

catalog = Catalog(PRELUDE, [*FEED_FORWARD, *LAYER, *COUNT, *ENCODE], STYLES)


def seeded(*shape: int) -> torch.Tensor:
    """The same normal numbers for the same shape."""
    rng = np.random.default_rng(sum(shape) + 100 * len(shape))
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def behavior(answer: Any, sizes: tuple, x: torch.Tensor, *masks: Any) -> list:
    """Parameters, eval results, and results with all dropped, in both modes."""
    built = outcome(answer, *sizes, dropout=0.0)
    if built[0] == "raised":
        return [built]
    shapes = {name: tuple(t.shape) for name, t in built[1].state_dict().items()}
    found: list = [sorted(f"{name} {shape}" for name, shape in shapes.items())]
    # each parameter of its own, also where two have the same shape
    state = {
        name: seeded(*shape) * (1 + sum(map(ord, name)) % 7 / 7)
        for name, shape in shapes.items()
    }
    built[1].load_state_dict(state)
    built[1].eval()
    found += [outcome(built[1], x, *args) for args in [(), *[(m,) for m in masks]]]
    dropping = answer(*sizes, dropout=1.0)
    dropping.load_state_dict(state)
    for mode in (dropping.eval, dropping.train):
        mode()
        found.append(steady(dropping, x))
    return found


def steady(module: Any, x: torch.Tensor) -> Any:
    """The outcome, or "noisy" where calls differ; two could agree by chance."""
    first, *others = (outcome(module, x) for _ in range(4))
    return first if all(alike(first, other) for other in others) else "noisy"


@catalog.probe("FeedForward")
def probe_feed_forward(answer: Any) -> list:
    """Tell networks apart by parameters, activation and dropout."""
    return behavior(answer, (4, 6), 2 * seeded(2, 3, 4))


@catalog.probe("EncoderLayer")
def probe_encoder_layer(answer: Any) -> list:
    """Tell layers apart by parameters, order, mask and dropout."""
    mask = torch.ones(4, 4).tril().bool()
    return behavior(answer, (6, 2, 8), seeded(2, 4, 6), mask)


@catalog.probe("count_parameters")
def probe_count_parameters(answer: Any) -> list:
    """Tell counts apart, and floats from integers."""
    results = [outcome(answer, *sizes) for sizes in ((3, 7), (5, 2))]
    return [[result, type(result[1]).__name__] for result in results]


@catalog.probe("encode")
def probe_encode(answer: Any) -> list:
    """Tell encoders apart by scale, positions and layers."""
    embedding = embedded(answer, seeded(7, 6))
    layers = [linear(answer, seeded(6, 6)), linear(answer, seeded(7, 6)[:6])]
    tokens = torch.tensor([[1, 3, 3, 0], [2, 6, 5, 4]])
    return [outcome(answer, tokens, embedding, layers)]
