"""Attention in four parts, for those who prefer a file to a notebook.

Write your answers where it says `raise NotImplementedError`, then run

    python attention_practice.py

The checks are the visible ones of the graded notebooks 01, 03, 04 and 05, whose cards
say more about each function. Masks are boolean, and True means "may attend".
"""

import importlib
import sys

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

# ------------------------------------------------ part 1: attention in NumPy


def softmax(x, axis=-1):
    """Weights that sum to 1 along `axis`; the shape of `x`."""
    raise NotImplementedError  # your answer here


def attention_scores(Q, K):
    """Scaled dot products, (..., n_q, n_k)."""
    raise NotImplementedError  # your answer here


def scaled_dot_product_attention(Q, K, V):
    """The pair (output, weights): (..., n_q, d_v) and (..., n_q, n_k)."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------ part 2: one head in torch


class AttentionHead(nn.Module):
    """(batch, n, d_model) to (batch, n, d_k) and weights (batch, n, n).

    Its layers W_q, W_k and W_v have no bias.
    """

    def __init__(self, d_model, d_k):
        super().__init__()
        raise NotImplementedError  # your answer here

    def forward(self, x):
        raise NotImplementedError  # your answer here


def plot_attention(weights, tokens):
    """Heat map with tokens on both axes; returns the Axes."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------ part 3: the causal mask


def causal_mask(n):
    """Boolean (n, n): True where a query may attend."""
    raise NotImplementedError  # your answer here


def causal_attention(Q, K, V):
    """The pair (output, weights): (..., n, d_v) and (..., n, n)."""
    raise NotImplementedError  # your answer here


# ------------------------------------------------ part 4: positions


def positional_encoding(n_positions, d_model):
    """Sinusoids, (n_positions, d_model); ValueError when d_model is odd."""
    raise NotImplementedError  # your answer here


def shift_matrix(k, d_model):
    """The matrix that moves an encoding by k positions."""
    raise NotImplementedError  # your answer here


def plot_encoding_heatmap(pe):
    """Heat map, positions down and dimensions across; returns the Axes."""
    raise NotImplementedError  # your answer here


def plot_encoding_waves(pe, dims):
    """One line per dimension over positions; returns the Axes."""
    raise NotImplementedError  # your answer here


# Why can a model tell position 1 from position 2 and from position 100?
# Your answer, in a comment:


# ------------------------------------------------ the checks

PARTS = {
    "attention": [softmax, attention_scores, scaled_dot_product_attention],
    "multi_head": [AttentionHead, plot_attention],
    "masking": [causal_mask, causal_attention],
    "positional_encoding": [
        positional_encoding,
        shift_matrix,
        plot_encoding_heatmap,
        plot_encoding_waves,
    ],
}


def main():
    """Run every visible check; 0 when all of them hold."""
    from autograder.checks.failures import CheckFailed

    open_questions = 0
    for number, (name, answers) in enumerate(PARTS.items(), 1):
        print(f"Part {number}")
        checks = importlib.import_module(f"autograder.checks.{name}")
        for answer in answers:
            try:
                getattr(checks, answer.__name__)(answer)
            except CheckFailed as failure:
                print(failure)
                open_questions += 1
    return 1 if open_questions else 0


if __name__ == "__main__":
    sys.exit(main())
