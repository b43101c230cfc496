"""Attention, as the chapters of the book derive it.

Every function and class below is written in a chapter first; this module keeps
them so that later chapters can import them. Shapes follow one convention:

    Q        queries  (..., n_q, d_k)
    K        keys     (..., n_k, d_k)
    V        values   (..., n_k, d_v)
    mask     boolean, True means "may attend"; broadcasts to (..., n_q, n_k)
    weights  (..., n_q, n_k); every row sums to 1 over the keys
    output   (..., n_q, d_v)

NumPy first (chapters 1, 2, 4 and 5), then torch (chapters 3, 6 and 9), then
NumPy again (chapter 10).
"""

import math

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

# --------------------------------------------------------------------------
# Chapter 1: queries, keys and values


def softmax(x, axis=-1):
    """Turn scores into positive weights that sum to 1 along ``axis``.

    Subtracting the largest score changes nothing in exact arithmetic and
    keeps ``exp`` from overflowing.
    """
    shifted = x - x.max(axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


def attention_scores(Q, K):
    """Scaled dot products of all queries with all keys: (..., n_q, n_k)."""
    d_k = Q.shape[-1]
    return Q @ np.swapaxes(K, -1, -2) / math.sqrt(d_k)


def plot_weights(weights, queries, keys, title, ax=None):
    """Draw attention weights (n_q, n_k) as a heat map with numbers.

    Rows are queries, columns are keys. The color scale always runs from 0
    to 1, so that two maps can be compared. Returns the Axes.
    """
    if ax is None:
        size = (0.7 * len(keys) + 2, 0.55 * len(queries) + 1.2)
        ax = plt.figure(figsize=size, layout="constrained").subplots()
    ax.imshow(weights, cmap="Purples", vmin=0, vmax=1)
    ax.set_xticks(range(len(keys)), keys, rotation=45, ha="right")
    ax.set_yticks(range(len(queries)), queries)
    ax.set(xlabel="key", ylabel="query", title=title)
    for (i, j), weight in np.ndenumerate(np.asarray(weights)):
        ink = "white" if weight > 0.6 else "black"
        ax.text(j, i, f"{weight:.2f}", ha="center", va="center", color=ink)
    return ax


# --------------------------------------------------------------------------
# Chapter 4: masking (chapter 1 derives the function without the mask)


def masked_softmax(scores, mask):
    """Softmax over the keys that ``mask`` allows; exactly 0 elsewhere.

    A row with nothing to attend to becomes all zeros instead of NaN.
    """
    allowed = np.broadcast_to(mask, scores.shape)
    hidden = np.where(allowed, scores, -np.inf)
    largest = hidden.max(axis=-1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0)  # empty rows
    exponentials = np.exp(hidden - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Vaswani et al. (2017), equation 1: softmax(QKᵀ / √d_k) V.

    Returns the output (..., n_q, d_v) and the weights (..., n_q, n_k).
    """
    scores = attention_scores(Q, K)
    if mask is None:
        weights = softmax(scores)
    else:
        weights = masked_softmax(scores, mask)
    return weights @ V, weights


def causal_mask(n):
    """Boolean (n, n): position i may attend to positions 0 … i."""
    return np.tril(np.ones((n, n), dtype=bool))


def padding_mask(lengths, n):
    """Boolean (batch, 1, n): True on the first ``lengths[b]`` positions."""
    return np.arange(n) < np.asarray(lengths)[:, None, None]


# --------------------------------------------------------------------------
# Chapter 5: positions


def positional_encoding(n_positions, d_model):
    """Sinusoids of Vaswani et al. (2017), section 3.5: (n_positions, d_model).

    Sine on even columns, cosine on odd ones. Raises ValueError when
    ``d_model`` is odd.
    """
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    positions = np.arange(n_positions)[:, None]
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = positions * frequencies  # (n_positions, d_model / 2)
    encoding = np.empty((n_positions, d_model))
    encoding[:, 0::2] = np.sin(angles)
    encoding[:, 1::2] = np.cos(angles)
    return encoding


# --------------------------------------------------------------------------
# Chapter 3: the same in torch, and several heads (chapter 4 adds the masks)


def attention(query, key, value, mask=None):
    """Scaled dot-product attention on tensors; see the NumPy version above."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        empty = ~mask.any(dim=-1, keepdim=True)  # rows without any key
        scores = scores.where(mask | empty, float("-inf"))
        weights = scores.softmax(dim=-1) * ~empty
    return weights @ value, weights


class AttentionHead(nn.Module):
    """One head of self-attention: (batch, n, d_model) to (batch, n, d_k)."""

    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        return attention(self.W_q(x), self.W_k(x), self.W_v(x))


def split_heads(x, n_heads):
    """(batch, n, d_model) to (batch, n_heads, n, d_model // n_heads)."""
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).swapaxes(1, 2)


def merge_heads(x):
    """(batch, n_heads, n, d_k) to (batch, n, n_heads * d_k)."""
    batch, n_heads, n, d_k = x.shape
    return x.swapaxes(1, 2).reshape(batch, n, n_heads * d_k)


def mask_for_heads(mask):
    """The same mask, ready for weights (batch, n_heads, n_q, n_k).

    Without an axis for the heads, a mask holds for all of them: (n_q, n_k)
    is one table for every sentence, (batch, n_q, n_k) one for each, where
    n_q may be 1 as in ``padding_mask``. A mask with four axes stays as it
    is, and so does None. Raises ValueError for any other number of axes.
    """
    if mask is None or mask.dim() in (2, 4):
        return mask
    if mask.dim() == 3:
        return mask.unsqueeze(1)
    raise ValueError(f"a mask has 2, 3 or 4 axes, not {mask.dim()}")


class MultiHeadAttention(nn.Module):
    """Vaswani et al. (2017), section 3.2.2, with d_k = d_model / n_heads.

    ``forward`` returns the output (batch, n_q, d_model) and the weights
    (batch, n_heads, n_q, n_k); for its mask see ``mask_for_heads``. Raises
    ValueError when ``n_heads`` does not divide ``d_model``.
    """

    def __init__(self, d_model, n_heads, bias=False):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide d_model={d_model}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, query, key, value, mask=None):
        q = split_heads(self.W_q(query), self.n_heads)
        k = split_heads(self.W_k(key), self.n_heads)
        v = split_heads(self.W_v(value), self.n_heads)
        heads, weights = attention(q, k, v, mask_for_heads(mask))
        return self.W_o(merge_heads(heads)), weights


# --------------------------------------------------------------------------
# Chapter 6: the encoder layer


class FeedForward(nn.Module):
    """The same two linear maps, with a GELU between, at every position."""

    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.dropout(nn.functional.gelu(self.linear1(x))))


class EncoderLayer(nn.Module):
    """Post-norm encoder layer: attention, then FFN, each "add and norm".

    ``forward`` keeps the shape (batch, n, d_model).
    """

    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads, bias=True)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        return self.norm2(x + self.dropout(self.ffn(x)))


# --------------------------------------------------------------------------
# Chapter 9: a language model


class DecoderLayer(nn.Module):
    """Pre-norm decoder layer: causal attention, then FFN, each added to x.

    ``forward`` keeps the shape (batch, n, d_model). Nothing at position t
    depends on tokens after t.
    """

    def __init__(self, d_model=64, n_heads=4, d_ff=256, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, n_heads, bias=True)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        causal = torch.from_numpy(causal_mask(x.size(1)))
        y = self.norm1(x)
        attended, _ = self.self_attn(y, y, y, causal)
        x = x + self.dropout(attended)
        return x + self.dropout(self.ffn(self.norm2(x)))


class LanguageModel(nn.Module):
    """Tokens (batch, n) to logits of the next token (batch, n, n_tokens).

    ``n`` may be at most ``n_positions``.
    """

    def __init__(self, n_tokens, n_positions, d_model=64, n_heads=4, n_layers=2):
        super().__init__()
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.position = nn.Embedding(n_positions, d_model)
        for table in (self.embedding, self.position):
            nn.init.normal_(table.weight, std=0.2)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, 4 * d_model, dropout=0.0)
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.read = nn.Linear(d_model, n_tokens)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.position.weight[: tokens.size(1)]
        for layer in self.layers:
            x = layer(x)
        return self.read(self.norm(x))


def next_token_loss(logits, tokens, mask=None):
    """Mean loss, in nats, of guessing token t + 1 at position t: a scalar.

    ``logits`` (batch, n, n_tokens), ``tokens`` (batch, n); ``mask``, boolean
    (batch, n), is True on real tokens, and only these are guessed.
    """
    guesses, targets = logits[:, :-1], tokens[:, 1:]
    losses = nn.functional.cross_entropy(
        guesses.flatten(0, 1), targets.flatten(), reduction="none"
    )
    if mask is None:
        return losses.mean()
    return losses[mask[:, 1:].flatten()].mean()


def sample(logits, temperature=1.0, top_k=None, generator=None):
    """Draw one token for each row of logits (batch, n_tokens): (batch,).

    Temperature 0 takes the largest logit. ``top_k`` keeps only so many of
    the largest. Raises ValueError when ``temperature`` is negative.
    """
    if temperature < 0:
        raise ValueError(f"temperature must not be negative, got {temperature}")
    if temperature == 0:
        return logits.argmax(dim=-1)
    if top_k is not None:
        smallest = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < smallest, float("-inf"))
    probabilities = (logits / temperature).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0]


# --------------------------------------------------------------------------
# Chapter 10: one more token (NumPy)


def rotate(x, positions, base=10000.0):
    """Turn adjacent pairs of columns by position × frequency (RoPE).

    ``x`` is (..., n, d), ``positions`` (n,); the shape of ``x`` is kept.
    Raises ValueError when ``d`` is odd.
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"the width must be even, got {d}")
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = np.asarray(positions)[:, None] * frequencies  # (n, d / 2)
    sin, cos = np.sin(angles), np.cos(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = [even * cos - odd * sin, even * sin + odd * cos]
    turned = np.stack(turned, axis=-1).reshape(x.shape)
    return turned.astype(np.result_type(x, np.float16))  # the dtype of x


def grouped_query_attention(Q, K, V, mask=None):
    """Attention in which consecutive query heads share a key-value head.

    Q is (..., n_heads, n_q, d_k), K (..., n_kv, n_k, d_k) and V
    (..., n_kv, n_k, d_v); ``mask`` broadcasts to the weights. Returns the
    output (..., n_heads, n_q, d_v) and the weights (..., n_heads, n_q, n_k).
    Raises ValueError when ``n_kv`` does not divide ``n_heads``.
    """
    n_heads, n_kv = Q.shape[-3], K.shape[-3]
    if n_heads % n_kv:
        raise ValueError(f"{n_kv} shared heads do not divide {n_heads}")
    K, V = (np.repeat(a, n_heads // n_kv, axis=-3) for a in (K, V))
    return scaled_dot_product_attention(Q, K, V, mask)


def window_mask(n, window, sinks=0):
    """Boolean (n, n), causal: the last window keys and the first sinks."""
    position = np.arange(n)
    age = position[:, None] - position  # how many steps ago a key was written
    return (age >= 0) & ((age < window) | (position < sinks))


class KVCache:
    """Keys and values of the tokens so far; with ``window``, of the last ones.

    ``len(cache)`` counts all tokens ever seen: the position of the next one.
    """

    def __init__(self, window=None):
        self.window = window
        self.seen = 0
        self.keys = self.values = None

    def __len__(self):
        return self.seen

    def append(self, k, v):
        """Add new ones, (..., n_kv, new, d) each; return all that are kept."""
        self.seen += k.shape[-2]
        if self.keys is not None:
            k = np.concatenate([self.keys, k], axis=-2)
            v = np.concatenate([self.values, v], axis=-2)
        if self.window is not None:
            k, v = k[..., -self.window :, :], v[..., -self.window :, :]
        self.keys, self.values = k, v
        return k, v


def decode_step(q, k, v, cache, base=10000.0):
    """Attention of one new token to itself and to what the cache holds.

    ``q`` is (..., n_heads, 1, d_k), ``k`` and ``v`` are (..., n_kv, 1, d);
    none is rotated yet, the cache knows the position. Returns the output
    (..., n_heads, 1, d_v) and the weights (..., n_heads, 1, kept).
    """
    position = [len(cache)]
    keys, values = cache.append(rotate(k, position, base), v)
    return grouped_query_attention(rotate(q, position, base), keys, values)
