"""What students get wrong, and right, in 06-encoder-layer."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from autograder.checks import encoder_layer as check
from autograder.checks.catalog import Catalog
from autograder.checks.encoder_layer.cases import (
    embedded,
    ffn_shapes,
    layer_shapes,
    linear,
)
from autograder.checks.outcomes import alike, outcome
from autograder.checks.tensors import seeded

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

catalog = Catalog(check.assignment, PRELUDE)

# why a mistake may pass all visible checks
SHARES = "visible checks drop all or nothing; which share is for the hidden ones"
FIRST = "the positions are those of chapter 5; visible checks look at the first"
BARE = "elementwise_affine=False"


# ----------------------------------------------------------- FeedForward

feed_forward = catalog.about(
    check.FeedForward,
    """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        hidden = F.gelu(self.linear1(x))
        return self.linear2(self.dropout(hidden))
""",
)

feed_forward.edit(
    "relu",
    "The activation is ReLU; the exact GELU is asked for.",
    ("F.gelu", "F.relu"),
)
feed_forward.edit(
    "tanh-gelu",
    "This is the tanh approximation of GELU; the exact one is asked for.",
    ("(x)", '(x), approximate="tanh"'),
)
feed_forward.edit(
    "sigmoid-gelu",
    "This is x times sigmoid(1.702 x), an approximation; the exact GELU is asked for.",
    (
        "F.gelu(self.linear1(x))",
        "self.linear1(x)\n        hidden = hidden * torch.sigmoid(1.702 * hidden)",
    ),
)
feed_forward.edit(
    "no-activation",
    "There is no activation: two linear maps in a row are one linear map.",
    ("F.gelu(self.linear1(x))", "self.linear1(x)"),
)
feed_forward.edit(
    "activation-last",
    "The activation stands after linear2; it belongs between the layers.",
    (
        "hidden = F.gelu(self.linear1(x))\n"
        "        return self.linear2(self.dropout(hidden))",
        "return F.gelu(self.linear2(self.dropout(self.linear1(x))))",
    ),
)
feed_forward.edit(
    "dropout-last",
    "Dropout stands after linear2; it belongs after the activation.",
    ("linear2(self.dropout(hidden))", "dropout(self.linear2(hidden))"),
)
feed_forward.edit(
    "dropout-first",
    "Dropout acts on the input; it belongs after the activation.",
    ("(x)", "(self.dropout(x))"),
    ("self.dropout(hidden)", "hidden"),
)
feed_forward.edit(
    "no-dropout",
    "Nothing is dropped: dropout is missing, or its share is taken for what is kept.",
    ("self.dropout(hidden)", "hidden"),
)
feed_forward.edit(
    "always-drops",
    "Dropout acts in eval mode too: `F.dropout` has to be told `self.training`, and "
    "`nn.Dropout` belongs in `__init__`.",
    ("dropout = nn.Dropout(dropout)", "p = dropout"),
    ("self.dropout(hidden)", "F.dropout(hidden, self.p)"),
)
feed_forward.edit(
    "fixed-dropout",
    "The share of dropout is fixed; it comes in as `dropout`.",
    ("(dropout)", "(0.1)"),
)
feed_forward.edit(
    "residual",
    "The input is added; the residual connection belongs to the encoder layer.",
    ("return ", "return x + "),
)
feed_forward.edit(
    "no-biases",
    "The layers have no biases; they should.",
    ("(d_model, d_ff)", "(d_model, d_ff, bias=False)"),
    ("d_ff, d_model", "d_ff, d_model, bias=False"),
)
feed_forward.edit(
    "gelu-not-called",
    "`nn.GELU(…)` makes a module; call it with the numbers, as `nn.GELU()(…)`.",
    ("F.gelu(", "nn.GELU("),
    planted=False,
)
feed_forward.edit(
    "silu",
    "The activation is SiLU; the exact GELU is asked for.",
    ("F.gelu", "F.silu"),
    planted=False,
)
feed_forward.edit(
    "two-activations",
    "The activation stands after linear2 as well; it belongs between the layers alone.",
    (
        "self.linear2(self.dropout(hidden))",
        "F.gelu(self.linear2(self.dropout(hidden)))",
    ),
    planted=False,
)
feed_forward.wrong(
    "other-names",
    "The layers have other names; linear1 and linear2 are asked for.",
    """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(d_model, d_ff),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(d_ff, d_model),
        )

    def forward(self, x):
        return self.net(x)
""",
    planted=False,
)
feed_forward.also(
    "other-names",
    """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.fc2(self.dropout(F.gelu(self.fc1(x))))
""",
)
feed_forward.edit(
    "drops-tokens",
    "`nn.Dropout1d` drops whole tokens; `nn.Dropout` drops activations one by one.",
    ("nn.Dropout(", "nn.Dropout1d("),
    unseen=SHARES,
    planted=False,
)
feed_forward.edit(
    "kept-not-scaled",
    "What is kept is not divided by the share that is kept, so that sums are smaller "
    "in train mode; `nn.Dropout` divides.",
    ("dropout = nn.Dropout(dropout)", "p = dropout"),
    (
        "        return self.linear2(self.dropout(hidden))",
        "        if self.training:\n"
        "            hidden = hidden * (torch.rand_like(hidden) >= self.p)\n"
        "        return self.linear2(hidden)",
    ),
    unseen=SHARES,
    planted=False,
)
feed_forward.also(
    "no-dropout",
    feed_forward.edited(("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)")),
)
feed_forward.edit(
    "no-expansion",
    "The hidden width is d_model; it has to be d_ff.",
    ("(d_model, d_ff)", "(d_model, d_model)"),
    ("d_ff, d_model", "d_model, d_model"),
)
feed_forward.right(
    "modules",
    """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.act, self.drop = nn.GELU(), nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.drop(self.act(self.linear1(x))))
""",
)
feed_forward.right(
    "erf",
    """
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
)
feed_forward.right(
    "matmul",
    feed_forward.edited(
        (
            "F.gelu(self.linear1(x))",
            "nn.functional.gelu(x @ self.linear1.weight.T + self.linear1.bias)",
        ),
    ),
)


# ---------------------------------------------------------- EncoderLayer

layer = catalog.about(
    check.EncoderLayer,
    """
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
        x = self.norm2(x + self.dropout(self.ffn(x)))
        return x
""",
)

layer.edit(
    "pre-norm",
    "This is pre-norm: each norm comes before its branch; post-norm is asked for.",
    (
        "attended, _ = self.self_attn(x, x, x, mask)\n"
        "        x = self.norm1(x + self.dropout(attended))\n"
        "        x = self.norm2(x + self.dropout(self.ffn(x)))",
        "y = self.norm1(x)\n"
        "        attended, _ = self.self_attn(y, y, y, mask)\n"
        "        x = x + self.dropout(attended)\n"
        "        x = x + self.dropout(self.ffn(self.norm2(x)))",
    ),
)
layer.edit(
    "no-attention-residual",
    "The residual connection around attention is missing.",
    ("x + self.dropout(attended)", "self.dropout(attended)"),
)
layer.edit(
    "no-ffn-residual",
    "The residual connection around the feed-forward network is missing.",
    ("x + self.dropout(self.ffn(x))", "self.dropout(self.ffn(x))"),
)
layer.edit(
    "no-norms",
    "The norms are there but never used.",
    ("self.norm1(x + self.dropout(attended))", "x + self.dropout(attended)"),
    ("self.norm2(x + self.dropout(self.ffn(x)))", "x + self.dropout(self.ffn(x))"),
)
layer.edit(
    "one-norm",
    "norm1 is used twice; each step has a norm of its own.",
    ("x = self.norm2", "x = self.norm1"),
)
layer.edit(
    "norms-exchanged",
    "norm1 and norm2 are exchanged.",
    (
        "norm1(x + self.dropout(attended))\n        x = self.norm2",
        "norm2(x + self.dropout(attended))\n        x = self.norm1",
    ),
)
layer.edit(
    "mask-dropped",
    "The mask is not passed on to self_attn.",
    ("x, x, mask", "x, x"),
)
layer.edit(
    "old-residual",
    "The second residual adds the layer's input instead of the result of norm1.",
    (
        "attended, _ = self.self_attn(x, x, x, mask)",
        "residual = x\n        attended, _ = self.self_attn(x, x, x, mask)",
    ),
    ("x + self.dropout(self.ffn(x))", "residual + self.dropout(self.ffn(x))"),
)
layer.edit(
    "norm-before-sum",
    "Each branch is normalized before it is added; the sum has to be normalized.",
    (
        "self.norm1(x + self.dropout(attended))",
        "x + self.norm1(self.dropout(attended))",
    ),
    (
        "self.norm2(x + self.dropout(self.ffn(x)))",
        "x + self.norm2(self.dropout(self.ffn(x)))",
    ),
)
layer.edit(
    "no-attention-dropout",
    "Dropout on the attention branch is missing.",
    ("self.dropout(attended)", "attended"),
)
layer.edit(
    "no-ffn-dropout",
    "Dropout on the feed-forward branch is missing.",
    ("dropout(self.ffn(x))", "ffn(x)"),
)
layer.edit(
    "dropout-on-sum",
    "Dropout acts on the sums and cuts the residual connections; it belongs on the "
    "branches.",
    ("x + self.dropout(attended)", "self.dropout(x + attended)"),
    ("x + self.dropout(self.ffn(x))", "self.dropout(x + self.ffn(x))"),
)
layer.edit(
    "always-drops",
    "Dropout acts in eval mode too: `F.dropout` has to be told `self.training`, and "
    "`nn.Dropout` belongs in `__init__`.",
    ("dropout = nn.Dropout(dropout)", "p = dropout"),
    ("self.dropout(attended)", "F.dropout(attended, self.p)"),
    ("self.dropout(self.ffn(x))", "F.dropout(self.ffn(x), self.p)"),
)
layer.edit(
    "ffn-first",
    "The feed-forward network comes before attention; it comes after.",
    (
        "attended, _ = self.self_attn(x, x, x, mask)",
        "x = self.norm1(x + self.dropout(self.ffn(x)))\n"
        "        attended, _ = self.self_attn(x, x, x, mask)",
    ),
    (
        "norm1(x + self.dropout(attended))\n"
        "        x = self.norm2(x + self.dropout(self.ffn(x)))",
        "norm2(x + self.dropout(attended))",
    ),
)
layer.edit(
    "parallel",
    "Both branches start from the layer's input; the second has to start from the "
    "first's result.",
    (
        "attended, _ = self.self_attn(x, x, x, mask)\n"
        "        x = self.norm1(x + self.dropout(attended))\n"
        "        x = self.norm2(x + self.dropout(self.ffn(x)))",
        "ffn = self.ffn(x)\n"
        "        attended, _ = self.self_attn(x, x, x, mask)\n"
        "        x = self.norm1(x + self.dropout(attended))\n"
        "        x = self.norm2(x + self.dropout(ffn))",
    ),
)
layer.edit(
    "with-weights",
    "The weights are returned too; the layer returns the new tokens alone.",
    ("_ = self", "weights = self"),
    ("return x", "return x, weights"),
)
layer.also(
    "one-norm", layer.edited(("norm2 = nn.LayerNorm(d_model)", "norm2 = self.norm1"))
)
layer.also(
    "ffn-first",
    layer.edited(
        (
            "attended, _ = self.self_attn(x, x, x, mask)\n"
            "        x = self.norm1(x + self.dropout(attended))\n"
            "        x = self.norm2(x + self.dropout(self.ffn(x)))",
            "x = self.norm2(x + self.dropout(self.ffn(x)))\n"
            "        attended, _ = self.self_attn(x, x, x, mask)\n"
            "        x = self.norm1(x + self.dropout(attended))",
        ),
    ),
)
layer.edit(
    "mask-inverted",
    'The mask is inverted; True means "may attend", and self_attn takes it as it is.',
    ("x, x, mask)", "x, x, None if mask is None else ~mask)"),
)
layer.edit(
    "pair-not-unpacked",
    "self_attn returns a pair, output and weights; only the output goes on.",
    ("attended, _ = self", "attended = self"),
)
layer.edit(
    "default-dropout-in-ffn",
    "`dropout` is not passed on to the feed-forward network, which keeps its default.",
    ("d_ff, dropout)", "d_ff)"),
    unseen="visible checks drop all or nothing of the branches, not of ffn alone",
)
layer.edit(
    "norms-without-parameters",
    "The norms have no scale and no shift to learn; `nn.LayerNorm(d_model)` has both.",
    ("norm1 = nn.LayerNorm(d_model", f"norm1 = nn.LayerNorm(d_model, {BARE}"),
    ("norm2 = nn.LayerNorm(d_model", f"norm2 = nn.LayerNorm(d_model, {BARE}"),
)
layer.edit(
    "sizes-exchanged",
    "d_model and n_heads are exchanged where self_attn is made.",
    ("MultiHeadAttention(d_model, n_heads)", "MultiHeadAttention(n_heads, d_model)"),
)
layer.edit(
    "fixed-sizes",
    "The sizes are the default ones, whatever comes in.",
    (
        "super().__init__()",
        "super().__init__()\n        d_model, n_heads, d_ff = 64, 4, 256",
    ),
)
layer.edit(
    "in-place",
    "`x += …` changes the tokens of the caller; `x = x + …` makes new ones.",
    (
        "x = self.norm1(x + self.dropout(attended))",
        "x += self.dropout(attended)\n        x = self.norm1(x)",
    ),
)
layer.edit(
    "norm-over-tokens",
    "The first sum is normalized over all tokens together; each token is normalized by "
    "itself.",
    (
        "x = self.norm1(x + self.dropout(attended))",
        "x = x + self.dropout(attended)\n"
        "        x = F.layer_norm(x, x.shape[1:])\n"
        "        x = x * self.norm1.weight + self.norm1.bias",
    ),
)
layer.edit(
    "other-names",
    "The parts have other names; self_attn, ffn, norm1 and norm2 are asked for.",
    ("self_attn ", "attention "),
    ("_ = self.self_attn", "_ = self.attention"),
)
layer.right(
    "two-dropouts",
    layer.edited(
        ("dropout =", "drop1, self.drop2 = nn.Dropout(dropout),"),
        (
            "attended, _ = self.self_attn(x, x, x, mask)",
            "branch = self.drop1(self.self_attn(x, x, x, mask)[0])",
        ),
        ("x + self.dropout(attended)", "branch + x"),
        ("x + self.dropout(self.ffn(x))", "self.drop2(self.ffn(x)) + x"),
    ),
)
layer.right(
    "functional",
    layer.edited(
        ("dropout = nn.Dropout(dropout)", "p = dropout"),
        ("self.dropout(attended)", "F.dropout(attended, self.p, self.training)"),
        ("self.dropout(self.ffn(x))", "F.dropout(self.ffn(x), self.p, self.training)"),
    ),
)
layer.right(
    "helper",
    """
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
)


# ------------------------------------------------------ count_parameters

count = catalog.about(
    check.count_parameters,
    """
def count_parameters(d_model, d_ff):
    projections = 4 * (d_model * d_model + d_model)
    ffn = d_model * d_ff + d_ff + d_ff * d_model + d_model
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
)

count.wrong(
    "no-biases",
    "The biases of all linear layers are missing.",
    """
    projections = 4 * d_model * d_model
    ffn = 2 * d_model * d_ff
    norms = 2 * 2 * d_model
    return projections + ffn + norms
""",
)
count.edit(
    "no-ffn-biases",
    "The biases of the feed-forward network are missing.",
    ("d_model * d_ff + d_ff + d_ff * d_model + d_model", "2 * d_model * d_ff"),
)
count.edit(
    "no-norms",
    "4 · d_model are missing: the two LayerNorms, or the biases of the projections.",
    (
        "norms = 2 * 2 * d_model\n    return projections + ffn + norms",
        "return projections + ffn",
    ),
)
count.edit(
    "one-norm",
    "2 · d_model are missing: a layer has two norms, each with a scale and a shift.",
    ("2 * d_model", "d_model"),
)
count.edit(
    "three-projections",
    "Only three projections are counted; W_o is the fourth.",
    ("projections = 4", "projections = 3"),
)
count.edit(
    "one-ffn-layer",
    "Only one of the two linear layers of the feed-forward network is counted.",
    (" + d_ff * d_model + d_model", ""),
)
count.edit(
    "float",
    "The result is a float; a number of parameters is an integer.",
    ("projections + ffn + norms", "float(projections + ffn + norms)"),
)
count.edit(
    "fixed-d_ff",
    "d_ff is taken to be 4 · d_model, whatever comes in.",
    ("projections = 4", "d_ff = 4 * d_model\n    projections = 4"),
)
count.edit(
    "one-attention-matrix",
    "Only one matrix is counted for attention; there are four projections.",
    ("4 * (d_model * d_model + d_model)", "d_model * d_model + d_model"),
)
count.edit(
    "twelve-layers",
    "Twelve layers are counted; one is asked for.",
    ("projections + ffn + norms", "12 * (projections + ffn + norms)"),
)
count.edit(
    "ffn-matrix-once",
    "The feed-forward network has two matrices of d_model · d_ff; one is counted.",
    ("d_ff + d_ff * d_model + d_model", "d_ff + d_model"),
)
count.edit(
    "three-norms",
    "Three norms are counted; an encoder layer has two.",
    ("2 * 2 * d_model", "3 * 2 * d_model"),
)
count.edit(
    "biases-as-wide-as-inputs",
    "linear1 has a bias for each of its outputs, of which there are d_ff; d_model are "
    "counted.",
    ("d_model * d_ff + d_ff + d_ff", "d_model * d_ff + d_model + d_ff"),
)
count.edit(
    "fixed-sizes",
    "This is the number for d_model = 64 and d_ff = 256, whatever comes in.",
    ("projections = 4", "d_model, d_ff = 64, 256\n    projections = 4"),
)
count.edit(
    "exclusive-or",
    "`^` is the exclusive or of two integers; a power is written `**`.",
    ("d_model * d_model", "(d_model ^ 2)"),
)
count.edit(
    "by-head",
    "The projections are counted once for each head; all heads share them.",
    ("projections = 4", "projections = 4 * 4"),
)
count.edit(
    "ffn-bias-twice",
    "The two biases of the feed-forward network have different sizes: d_ff and "
    "d_model.",
    ("d_model * d_ff + d_ff + d_ff * d_model + d_model", "2 * (d_model * d_ff + d_ff)"),
)
count.right(
    "formula",
    """
    return 4 * d_model**2 + 2 * d_model * d_ff + 9 * d_model + d_ff
""",
)
count.right(
    "shapes",
    """
    linears = [(d_model, d_model)] * 4 + [(d_model, d_ff), (d_ff, d_model)]
    total = sum((inputs + 1) * outputs for inputs, outputs in linears)
    return total + 4 * d_model
""",
)
count.right(
    "grouped",
    """
    def linear(inputs, outputs):
        return inputs * outputs + outputs

    norm = 2 * d_model
    attention = 4 * linear(d_model, d_model)
    ffn = linear(d_model, d_ff) + linear(d_ff, d_model)
    return attention + norm + ffn + norm
""",
)


# ---------------------------------------------------------------- encode

encode = catalog.about(
    check.encode,
    """
def encode(tokens, embedding, layers):
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    for layer in layers:
        x = layer(x)
    return x
""",
)

encode.edit(
    "unscaled",
    "The embeddings are not multiplied by √d_model.",
    ("* math.sqrt(d_model) ", ""),
)
encode.edit(
    "divided",
    "The embeddings are divided by √d_model; they have to be multiplied.",
    ("* math", "/ math"),
)
encode.edit(
    "scaled-by-d_model",
    "The embeddings are multiplied by d_model instead of √d_model.",
    ("math.sqrt(d_model)", "d_model"),
)
encode.edit(
    "no-positions",
    "The positions are missing: the encoder cannot tell orders apart.",
    (" + positions(n, d_model)", ""),
)
encode.edit(
    "positions-scaled",
    "The positions are scaled too; only the embeddings are.",
    (
        "x * math.sqrt(d_model) + positions(n, d_model)",
        "(x + positions(n, d_model)) * math.sqrt(d_model)",
    ),
)
encode.edit(
    "positions-last",
    "The positions are added after the layers; they have to be there before them.",
    (" + positions(n, d_model)", ""),
    ("return x", "return x + positions(n, d_model)"),
)
encode.edit(
    "positions-each-layer",
    "The positions are added again before every layer; once is asked for.",
    (" + positions(n, d_model)", ""),
    ("(x)", "(x + positions(n, d_model))"),
)
encode.edit(
    "from-one",
    "The positions are counted from 1; the first one is 0.",
    ("(n, d_model)", "(n + 1, d_model)[1:]"),
)
encode.edit(
    "cosine-first",
    "Cosines are on the even columns and sines on the odd ones; it is the other way "
    "round.",
    (
        "x = x * math.sqrt(d_model) + positions(n, d_model)",
        "pairs = positions(n, d_model).unflatten(1, (-1, 2))\n"
        "    x = x * math.sqrt(d_model) + pairs.flip(2).flatten(1)",
    ),
)
encode.edit(
    "halves",
    "All sines stand first and all cosines after them; they have to alternate.",
    (
        "x = x * math.sqrt(d_model) + positions(n, d_model)",
        "pairs = positions(n, d_model).unflatten(1, (-1, 2))\n"
        "    x = x * math.sqrt(d_model) + pairs.mT.flatten(1)",
    ),
)
encode.edit(
    "reversed",
    "The layers are applied in reverse order.",
    ("layers:", "reversed(layers):"),
)
encode.edit(
    "first-layer",
    "Layers are left out at the end; every one has to be applied.",
    ("layers:", "layers[:1]:"),
)
encode.edit(
    "same-input",
    "Every layer gets the same input, so that only the last one counts.",
    (
        "for layer in layers:\n        x = layer(x)\n    return x",
        "result = x\n"
        "    for layer in layers:\n"
        "        result = layer(x)\n"
        "    return result",
    ),
)
encode.edit(
    "scaled-by-vocabulary",
    "The embeddings are multiplied by the root of the size of the vocabulary; √d_model "
    "is the root of their width.",
    ("math.sqrt(d_model)", "math.sqrt(embedding.weight.shape[0])"),
)
encode.edit(
    "positions-along-the-batch",
    "The positions count the texts of the batch; they have to count the tokens of each "
    "text.",
    ("positions(n, d_model)", "positions(len(x), d_model)[:, None]"),
    unseen=FIRST,
)
encode.edit(
    "base-1000",
    "The wavelengths go up to 1 000; the base of the positions is 10 000.",
    ("positions(n, d_model)", "waves"),
    (
        "    x = x * math",
        "    angles = torch.arange(n)[:, None] / 1000 ** (\n"
        "        torch.arange(0, d_model, 2) / d_model)\n"
        "    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)\n"
        "    x = x * math",
    ),
    unseen=FIRST,
)
encode.edit(
    "own-exponents",
    "Each column has an exponent of its own; the sine and the cosine of a pair share "
    "one.",
    ("positions(n, d_model)", "waves"),
    (
        "    x = x * math",
        "    columns = torch.arange(d_model)\n"
        "    angles = torch.arange(n)[:, None] / 10000 ** (columns / d_model)\n"
        "    waves = torch.where(columns % 2 == 0, angles.sin(), angles.cos())\n"
        "    x = x * math",
    ),
    unseen=FIRST,
)
encode.edit(
    "list",
    "A list of what each layer gives is returned; each layer takes what the one before "
    "it gave, and the last result is asked for.",
    (
        "for layer in layers:\n        x = layer(x)\n    return x",
        "return [layer(x) for layer in layers]",
    ),
)
encode.edit(
    "scales-the-table",
    "The embedding's own weights are multiplied, so that every call multiplies them "
    "again; multiply the vectors.",
    (
        "    x = embedding(tokens)",
        "    with torch.no_grad():\n"
        "        embedding.weight *= math.sqrt(embedding.weight.shape[1])\n"
        "    x = embedding(tokens)",
    ),
    ("x * math.sqrt(d_model)", "x"),
    unseen="it takes a second call with the same embedding to show",
)
encode.edit(
    "no-layers",
    "The layers are never applied.",
    ("for layer in layers:\n        x = layer(x)\n    ", ""),
)
encode.right(
    "reduce",
    """
    from functools import reduce

    width = embedding.weight.shape[1]
    x = embedding(tokens) * width**0.5 + positions(tokens.shape[1], width)
    return reduce(lambda x, layer: layer(x), layers, x)
""",
)
encode.right(
    "loops",
    """
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
)
encode.right(
    "sequential",
    """
    x = embedding(tokens)
    n, d_model = x.shape[-2:]
    x = x * math.sqrt(d_model) + positions(n, d_model)
    return nn.Sequential(*layers)(x)
""",
)


# --------------------------------------------- how answers are told apart


def behavior(
    answer: Any, sizes: tuple, shapes: dict, x: torch.Tensor, *masks: Any
) -> list:
    """Parameters, eval results, and results with nothing and all dropped.

    ``shapes`` are those that the card names.
    """
    built = outcome(answer, *sizes, dropout=0.0)
    if built[0] == "raised":
        return [built]
    own = built[1].state_dict()
    found = {name: tuple(tensor.shape) for name, tensor in own.items()}
    if any(str(tensor.dtype) == "torch.bool" for tensor in own.values()):
        return ["a mask among the parameters"]
    if found.keys() != shapes.keys() and sorted(found.values()) == sorted(
        shapes.values()
    ):
        return ["other names"]
    told: list = [sorted(f"{name} {shape}" for name, shape in found.items())]
    # each parameter of its own, also where two have the same shape
    state = {
        name: seeded(*shape) * (1 + sum(map(ord, name)) % 7 / 7)
        for name, shape in found.items()
    }
    built[1].load_state_dict(state)
    built[1].eval()
    told += [outcome(built[1], x, *args) for args in [(), *[(m,) for m in masks]]]
    built[1].train()
    told.append(steady(built[1], x))
    dropping = answer(*sizes, dropout=1.0)
    dropping.load_state_dict(state)
    for mode in (dropping.eval, dropping.train):
        mode()
        told.append(steady(dropping, x))
    return told


def steady(module: Any, x: torch.Tensor) -> Any:
    """The outcome, or "noisy" where calls differ; two could agree by chance."""
    first, *others = (outcome(module, x) for _ in range(4))
    return first if all(alike(first, other) for other in others) else "noisy"


@feed_forward.probe
def probe_feed_forward(answer: Any) -> list:
    """Tell networks apart by parameters, activation and dropout."""
    told = behavior(answer, (4, 6), ffn_shapes(4, 6), 2 * seeded(2, 3, 4))
    return [*told, dropped(answer)]


def dropped(answer: Any) -> list[float]:
    """The shares that tokens keep of 4000 equal activations, a quarter dropped.

    In steps of 1/8, nine standard deviations from each other.
    """
    network = answer(1, 4000, dropout=0.25)
    state = network.state_dict()
    ones = {name: torch.ones(tensor.shape) for name, tensor in state.items()}
    network.load_state_dict(ones | {"linear2.bias": torch.zeros(1)}, strict=False)
    network.train()
    _, value, *_ = outcome(network, torch.ones(1, 60, 1))
    if not hasattr(value, "detach"):
        return []
    shares = value.detach().flatten() / 4000 / F.gelu(torch.tensor(2.0))
    return sorted({round(8 * share) / 8 for share in shares.tolist()})


@layer.probe
def probe_encoder_layer(answer: Any) -> list:
    """Tell layers apart by parameters, order, mask and dropout."""
    mask = torch.ones(4, 4).tril().bool()
    return behavior(answer, (6, 2, 8), layer_shapes(6, 8), seeded(2, 4, 6), mask)


@count.probe
def probe_count_parameters(answer: Any) -> list:
    """Tell counts apart, and floats from integers."""
    results = [outcome(answer, *sizes) for sizes in ((3, 7), (5, 2))]
    return [[result, type(result[1]).__name__] for result in results]


@encode.probe
def probe_encode(answer: Any) -> list:
    """Tell encoders apart by scale, positions and layers."""
    embedding = embedded(answer, seeded(7, 6))
    layers = [linear(answer, seeded(6, 6)), linear(answer, seeded(7, 6)[:6])]
    tokens = torch.tensor([[1, 3, 3, 0], [2, 6, 5, 4]])
    return [outcome(answer, tokens, embedding, layers) for _ in range(2)]


# ---------------------------------------------------------------- check_feed_forward

hunt = catalog.about(
    check.check_feed_forward,
    """
def check_feed_forward(FeedForward):
    torch.manual_seed(0)
    network = FeedForward(4, 12, dropout=0.5)
    shapes = {name: tuple(p.shape) for name, p in network.named_parameters()}
    assert shapes == {
        "linear1.weight": (12, 4),
        "linear1.bias": (12,),
        "linear2.weight": (4, 12),
        "linear2.bias": (4,),
    }
    x = 3 * torch.randn(5, 20, 4)
    network.eval()
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=1e-6)
    network.train()
    with torch.no_grad():
        network.linear1.weight.fill_(0)
        network.linear1.bias.fill_(1)
        network.linear2.weight.fill_(1)
        network.linear2.bias.fill_(0)
    one = F.gelu(torch.ones(1)).item() / 0.5
    kept = network(torch.ones(1, 500, 4))[0, :, 0] / one
    assert torch.allclose(kept, kept.round(), atol=1e-4)
    assert 5 < kept.mean() < 7 and len(kept.round().unique()) > 4
""",
)
hunt.hunts(check.FeedForward)

hunt.wrong(
    "nothing-asserted",
    "Nothing is asserted that a mistake could break: it accepts every function.",
    """
    FeedForward(4, 8)(torch.zeros(1, 2, 4))
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
    network = FeedForward(4, 8).eval()
    x = torch.ones(1, 2, 4)
    ok = torch.allclose(network(x), network.linear2(F.gelu(network.linear1(x))))
    return ok
""",
)
hunt.wrong(
    "another-error",
    "It raises an error of another kind; only an AssertionError rejects.",
    """
    network = FeedForward(4, 8).eval()
    x = torch.ones(1, 2, 4)
    ok = torch.allclose(network(x), network.linear2(F.gelu(network.linear1(x))))
    if not ok:
        raise ValueError("wrong")
""",
)
hunt.wrong(
    "parameters-only",
    "It looks at the parameters, and not at what is computed with them.",
    """
    network = FeedForward(4, 8)
    shapes = [tuple(p.shape) for p in network.parameters()]
    assert shapes == [(8, 4), (8,), (4, 8), (4,)]
    assert network(torch.ones(2, 3, 4)).abs().sum() > 0
""",
)
hunt.wrong(
    "still-training",
    "Outputs are compared while dropout is active; `eval()` comes first.",
    """
    torch.manual_seed(0)
    network = FeedForward(4, 12, dropout=0.5)
    x = torch.randn(2, 3, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=1e-6)
""",
)
hunt.wrong(
    "no-dropout",
    "It never looks at dropout: in eval mode there is none.",
    """
    torch.manual_seed(0)
    network = FeedForward(4, 12).eval()
    assert [tuple(p.shape) for p in network.linear1.parameters()] == [(12, 4), (12,)]
    x = 3 * torch.randn(5, 20, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=1e-6)
""",
)
hunt.wrong(
    "loose",
    "Its tolerance is so wide that an approximate GELU passes.",
    """
    torch.manual_seed(0)
    network = FeedForward(4, 12).eval()
    assert [tuple(p.shape) for p in network.linear1.parameters()] == [(12, 4), (12,)]
    x = torch.randn(2, 3, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.allclose(network(x), wanted, atol=0.05)
""",
)
hunt.wrong(
    "exact",
    "It asks for equal floating-point numbers; right answers differ by rounding.",
    """
    torch.manual_seed(0)
    network = FeedForward(4, 12).eval()
    x = 3 * torch.randn(5, 20, 4)
    wanted = network.linear2(F.gelu(network.linear1(x)))
    assert torch.equal(network(x), wanted)
""",
)
hunt.right(
    "by-hand",
    """
    x = 2 * torch.randn(50, 3, generator=torch.Generator().manual_seed(5))
    module = FeedForward(3, 7)
    assert module.linear1.bias is not None and module.linear2.bias is not None
    assert module.linear1.weight.shape == (7, 3)
    assert module.linear2.weight.shape == (3, 7)
    module.eval()
    h = x @ module.linear1.weight.T + module.linear1.bias
    h = h * (1 + torch.erf(h / 2**0.5)) / 2
    wanted = h @ module.linear2.weight.T + module.linear2.bias
    assert (module(x) - wanted).abs().max() < 1e-5
    dropping = FeedForward(3, 7, dropout=1.0)
    out = dropping(x)
    assert torch.allclose(out, dropping.linear2.bias.expand(50, 3))
    half = FeedForward(3, 401, dropout=0.5)
    with torch.no_grad():
        half.linear1.weight.zero_(), half.linear1.bias.fill_(1.0)
        half.linear2.weight.fill_(1.0), half.linear2.bias.zero_()
    torch.manual_seed(1)
    share = half(torch.ones(1, 3))[0, 0] / F.gelu(torch.ones(1)) / 401
    assert 0.75 < share < 1.25 and abs(share - 1) > 1e-4
""",
)
hunt.right(
    "zero-and-all",
    """
    torch.manual_seed(2)
    x = torch.randn(200, 4)
    assert len(list(FeedForward(4, 6).parameters())) == 4
    assert FeedForward(4, 6).linear1.out_features == 6
    none = FeedForward(4, 6, dropout=0.0)
    reference = none.linear2(F.gelu(none.linear1(x)))
    for mode in (True, False):
        none.train(mode)
        assert torch.allclose(none(x), reference, atol=1e-6)
    some = FeedForward(4, 6, dropout=0.6).eval()
    reference = some.linear2(F.gelu(some.linear1(x)))
    assert torch.allclose(some(x), reference, atol=1e-6)
    every = FeedForward(4, 6, dropout=1.0).train()
    assert torch.allclose(every(x), every.linear2.bias.expand(200, 4), atol=1e-6)
    with torch.no_grad():
        every.linear1.bias.fill_(2.0)
    assert torch.allclose(every(x), every.linear2.bias.expand(200, 4), atol=1e-6)
""",
)
hunt.right(
    "gradients",
    """
    torch.manual_seed(3)
    network = FeedForward(4, 10, dropout=0.25)
    names = sorted(network.state_dict())
    assert names == ["linear1.bias", "linear1.weight", "linear2.bias", "linear2.weight"]
    assert network.linear1.weight.shape == (10, 4)
    x = torch.randn(300, 4, requires_grad=True)
    network.eval()
    out = network(x)
    assert torch.allclose(
        out, network.linear2(F.gelu(network.linear1(x))), atol=1e-6
    )
    out.sum().backward()
    assert x.grad is not None and network.linear1.weight.grad is not None
    network.train()
    with torch.no_grad():
        network.linear1.weight.zero_(), network.linear1.bias.fill_(1.0)
        network.linear2.weight.fill_(1.0), network.linear2.bias.zero_()
    kept = network(torch.ones(300, 4))[:, 0] * 0.75 / F.gelu(torch.ones(1))
    assert torch.allclose(kept, kept.round(), atol=1e-3)
    assert abs(kept.mean() - 7.5) < 0.5
    assert len(kept.round(decimals=2).unique()) > 3
""",
)


# ---------------------------- what differs in other ways, for those who passed

catalog.differ(
    {
        "FeedForward-modules": (
            "The activation is a module too, so that `__init__` lists all steps."
        ),
        "FeedForward-erf": "It writes the exact GELU out, by the error function.",
        "EncoderLayer-two-dropouts": (
            "Each branch has a dropout of its own; a dropout has no weights, so "
            "nothing else changes."
        ),
        "EncoderLayer-helper": (
            "Both steps are one function, branch, sum and norm, that is called twice."
        ),
        "count_parameters-formula": (
            "All products are multiplied out and collected by powers."
        ),
        "count_parameters-shapes": (
            "It lists the shapes of all maps and counts inputs + 1 for each output."
        ),
        "encode-loops": "Two loops fill the positions, each angle by its formula.",
        "encode-sequential": (
            "`nn.Sequential` applies the layers in their order; `positions` stands "
            "for your own sinusoids."
        ),
        "check_feed_forward-by-hand": (
            "It computes the network from its weights by hand, the error function "
            "included."
        ),
        "check_feed_forward-zero-and-all": (
            "Dropout of 0 and of 1 needs no statistics: nothing is dropped, or all "
            "of it."
        ),
    }
)
