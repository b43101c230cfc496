import copy
import math

import torch
from torch import nn


class AttentionLayer(nn.Module):
    """Given: causal attention, which the model adds to its stream."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.split(W(x)) for W in (self.W_q, self.W_k, self.W_v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        weights = scores.masked_fill(~past, -math.inf).softmax(dim=-1)
        heads = (weights @ v).transpose(1, 2).flatten(2)
        return self.W_o(heads), weights


class AttentionOnly(nn.Module):
    """Given: tokens (batch, n) to logits, by attention alone; see chapter 12."""

    def __init__(self, vocabulary, max_len, d_model, n_heads, n_layers=2):
        super().__init__()
        self.vocabulary, self.max_len = vocabulary, max_len
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.position = nn.Embedding(max_len, d_model)
        layers = [AttentionLayer(d_model, n_heads) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)
        self.unembedding = nn.Linear(d_model, vocabulary, bias=False)

    def forward(self, tokens, return_weights=False):
        x = self.embedding(tokens) + self.position.weight[: tokens.shape[1]]
        maps = []
        for layer in self.layers:
            output, weights = layer(x)
            x = x + output
            maps.append(weights)
        logits = self.unembedding(x)
        return (logits, torch.stack(maps)) if return_weights else logits


def previous_token_score(weights):
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)


def induction_score(weights, period):
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1)


def texts(model, period, generator, rows=64):
    half = torch.randint(0, model.vocabulary, (rows, period), generator=generator)
    return torch.cat([half, half], dim=1)
