"""Attention in one file: four parts, for those who prefer a file to notebooks.

    python attention_practice.py            check all parts
    python attention_practice.py 1 3        check parts 1 and 3, and show them

Write your answers where it says ``raise NotImplementedError``. The checks are the
visible ones of the notebooks 01-attention, 03-multi-head, 04-masking and
05-positional-encoding; to hand in and be graded, use the notebooks.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

try:
    import torch
    from torch import nn
except ModuleNotFoundError:  # part 2 alone needs torch
    torch, nn = None, None

# ---------------------------------------------------------------- part 1: attention


def softmax(x, axis=-1):
    """Weights that sum to 1 along ``axis``; the same shape as ``x``."""
    raise NotImplementedError  # your answer here


def attention_scores(Q, K):
    """(..., n_q, d_k) and (..., n_k, d_k) to (..., n_q, n_k), divided by √d_k."""
    raise NotImplementedError  # your answer here


def scaled_dot_product_attention(Q, K, V):
    """The output (..., n_q, d_v) and the weights (..., n_q, n_k)."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------------------------ part 2: one head


class AttentionHead(nn.Module if nn else object):
    """(batch, n, d_model) to the output (batch, n, d_k) and weights (batch, n, n)."""

    def __init__(self, d_model, d_k):
        super().__init__()
        raise NotImplementedError  # your answer here: W_q, W_k and W_v, without bias

    def forward(self, x):
        raise NotImplementedError  # your answer here


def plot_attention(weights, tokens):
    """Draw weights (n_q, n_k) as a heat map, rows are queries; return the Axes."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------------------- part 3: causal masking


def causal_mask(n):
    """Boolean (n, n): True where position i may attend to position j."""
    raise NotImplementedError  # your answer here


def causal_attention(Q, K, V):
    """Output and weights of attention in which nobody sees the future."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------------------------ part 4: positions
# In your own words: why can a model tell position 1 from 2 from 100?
#
#


def positional_encoding(n_positions, d_model):
    """(n_positions, d_model): sine on even, cosine on odd columns, base 10000."""
    raise NotImplementedError  # your answer here


def plot_encoding_heatmap(pe):
    """Draw the encoding: positions down, dimensions across; return the Axes."""
    raise NotImplementedError  # your answer here


def plot_encoding_waves(pe, dims):
    """Draw one line per dimension of ``dims`` over positions; return the Axes."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------------------ examples, and the checks


def show_attention():
    """Q (4, 8), K (6, 8), V (6, 8)."""
    rng = np.random.default_rng(0)
    Q, K, V = (rng.normal(size=(n, 8)) for n in (4, 6, 6))
    output, weights = scaled_dot_product_attention(Q, K, V)
    print("output", output.shape, "rows sum to", weights.sum(axis=-1))


def show_head():
    """Five tokens of width 16."""
    torch.manual_seed(0)
    _, weights = AttentionHead(16, 16)(torch.randn(1, 5, 16))
    print(weights[0].detach().numpy().round(2))
    plot_attention(weights[0].detach().numpy(), ["the", "cat", "sat", "on", "mat"])


def show_mask():
    """Six tokens; the upper triangle is exactly 0."""
    Q, K, V = np.random.default_rng(0).normal(size=(3, 6, 8))
    _, weights = causal_attention(Q, K, V)
    print("upper triangle is 0:", not weights[~causal_mask(6)].any())


def show_positions():
    """Positions 0 to 49, eight dimensions."""
    encoding = positional_encoding(50, 8)
    plot_encoding_heatmap(encoding)
    plot_encoding_waves(encoding, range(8))


PARTS = {
    "1": (
        "attention",
        [softmax, attention_scores, scaled_dot_product_attention],
        show_attention,
    ),
    "2": ("multi_head", [AttentionHead, plot_attention], show_head),
    "3": ("masking", [causal_mask, causal_attention], show_mask),
    "4": (
        "positional_encoding",
        [positional_encoding, plot_encoding_heatmap, plot_encoding_waves],
        show_positions,
    ),
}


def main(chosen):
    """Check the parts; 0 when every visible check holds."""
    from autograder.practice import check_part

    if unknown := set(chosen) - set(PARTS):
        print(f"There is no part {', '.join(sorted(unknown))}; there are 1, 2, 3, 4.")
        return 2
    holds = True
    for number in chosen or PARTS:
        module, answers, show = PARTS[number]
        if number == "2" and torch is None:
            print("Part 2 needs torch: pip install torch")
            holds = False
            continue
        print(f"Part {number}")
        right = check_part(module, answers)
        if right and chosen:
            show()
        holds = holds and right
    if chosen and plt.get_fignums():
        plt.show()
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
