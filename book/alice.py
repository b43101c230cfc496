"""A language model that writes, in NumPy, with one hole: its attention.

It is the model that chapter 9 trains on two books about Alice. In each of two layers,
every token looks back at the text so far; what it gets from there is left to the
caller, who brings a function such as chapter 1's: ``attention(Q, K, V)``, from queries,
keys and values, ``(..., n_heads, n, d_k)`` each, to the output, alone or with the
weights.

    model = read_model(Path("data/pairs-2000.npy"), Path("data/alice.txt"))
    print(write(model, attention, "The Queen"))
    print(loss(model, attention))
"""

import math
import re
from functools import cache
from typing import NamedTuple

import numpy as np

N_HEADS, D_MODEL, N_POSITIONS, N_LAYERS = 4, 64, 64, 2
MERGES = (  # the pairs that chapter 9 joins, in its order
    " +t|h+e| +a| +s|i+n| t+he| +w|o+u|i+t| +o|n+d|r+e|h+a|in+g|e+r| +b|e+d| t+o|"
    " +c|e+n| +m| +f|i+d| +l|l+l| a+nd| +he|c+e| +d| s+a|i+s|a+s| +it| o+f|o+n| +g|"
    " +y| +in|o+w|i+ce|o+r| +n| s+he| y+ou| b+e|a+r| sa+id|ha+t|l+e| +p| t+h| +A|"
    " +ha|s+e|a+t| +I|l+ice|l+y| o+n|a+n| +h|g+h|m+e| w+as|s+t| A+lice|l+d|v+er|"
    "o+t| he+r|u+t| a+s| +e|o+o|v+e|gh+t|k+e| t+hat| s+o|en+t|ou+t| +r| +u|c+h|e+t|"
    "ou+ld|it+h|e+s| a+t|a+y| w+ith| +re|u+r|T+he| a+n|a+d|e+e| +k|t+er|t+le|he+r|"
    " a+ll|oo+k| ha+d|i+r|c+k|ver+y| f+or|i+f|i+ght| +H| w+h| n+ot|a+l| w+e|l+f|"
    "u+m|a+in| k+n|i+m|q+u| +T| n+e| l+i| d+o| u+p|o+m| h+is| the+y| s+u| s+t| m+e|"
    " +very| +out|a+nd|r+i|se+lf|it+tle| l+ittle| +M| s+ee| s+h|u+st| +K| th+ou|"
    " l+ook|it+e|ow+n|e+en| +D"
)
# NumPy has no error function, so GELU looks up the normal distribution in a table
STEPS = np.linspace(-8, 8, 16001)
NORMAL = np.array([(1 + math.erf(step / math.sqrt(2))) / 2 for step in STEPS])


class Model(NamedTuple):
    """Trained numbers, what its tokens stand for, and text kept from its training.

    A linear map is a pair of matrix and bias, a norm a pair of scale and shift.
    """

    pieces: list
    words: np.ndarray  # (n_tokens, d_model)
    positions: np.ndarray  # (n_positions, d_model)
    layers: list
    norm: tuple
    read: tuple  # from vectors to logits
    held_out: np.ndarray  # tokens, in windows of 64


@cache
def pieces_of(word):
    """A word cut into pieces: every pair in turn is joined wherever it occurs."""
    parts = list(word)
    for pair in MERGES.split("|"):
        i, pair = 0, pair.split("+")
        while i < len(parts) - 1:
            if parts[i : i + 2] == pair:
                parts[i : i + 2] = ["".join(pair)]
            i += 1
    return tuple(parts)


def encode(pieces, text):
    """The numbers of a text's tokens. Raises ValueError for a sign not in the books."""
    if unknown := sorted({*text} - {*pieces}):
        raise ValueError(f"the two books have no {' '.join(unknown)}")
    number = {piece: i for i, piece in enumerate(pieces)}
    words = re.findall(r" ?[A-Za-z]+|[^A-Za-z]", text)
    return [number[piece] for word in words for piece in pieces_of(word)]


def read_model(numbers, text):
    """The model, from the file of its numbers and that of the books."""
    text, flat = text.read_text(encoding="utf-8"), np.load(numbers).astype(float)
    pieces = sorted({*text, *MERGES.replace("+", "").split("|")})

    def take(*shape):
        nonlocal flat
        part, flat = np.split(flat, [math.prod(shape)])
        return part.reshape(shape)

    def linear(n_in, n_out):
        return take(n_out, n_in).T, take(n_out)

    words, positions = take(len(pieces), D_MODEL), take(N_POSITIONS, D_MODEL)
    layers = []
    for _ in range(N_LAYERS):
        layer = {name: linear(D_MODEL, D_MODEL) for name in "qkvo"}
        layer["up"] = linear(D_MODEL, 4 * D_MODEL)
        layer["down"] = linear(4 * D_MODEL, D_MODEL)
        layers.append(layer | {n: (take(D_MODEL), take(D_MODEL)) for n in (1, 2)})
    norm, read = (take(D_MODEL), take(D_MODEL)), linear(D_MODEL, len(pieces))
    held_out = np.array(encode(pieces, text[len(text) * 9 // 10 :]))
    held_out = held_out[: len(held_out) // 64 * 64].reshape(-1, 64)
    return Model(pieces, words, positions, layers, norm, read, held_out)


def linear(x, pair):
    return x @ pair[0] + pair[1]


def layer_norm(x, pair):
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * pair[0] + pair[1]


def gelu(x):
    return x * np.interp(x, STEPS, NORMAL)


def heard(attention, Q, K, V):
    """The output of the caller's attention, alone; its shape has to be right."""
    output = attention(Q, K, V)
    output = np.asarray(output[0] if isinstance(output, tuple) else output)
    due = (*Q.shape[:-1], V.shape[-1])
    if output.shape != due:
        raise ValueError(
            f"attention returned an output of shape {output.shape}; for Q {Q.shape}, "
            f"K {K.shape} and V {V.shape} it has to be {due}"
        )
    return output


def one_by_one(attention, Q, K, V):
    """Each query in turn meets the tokens up to its own, and none after it."""
    rows = [
        heard(attention, Q[..., t : t + 1, :], K[..., : t + 1, :], V[..., : t + 1, :])
        for t in range(Q.shape[-2])
    ]
    return np.concatenate(rows, axis=-2)


def logits(model, tokens, attention, causal=True, positions=None):
    """From tokens (..., n) to logits of the next token (..., n, n_tokens).

    Without ``causal``, the attention gets all queries at once, and may look ahead.
    ``positions`` (64, d_model) replace those that the model learned.
    """
    attend = one_by_one if causal else heard
    positions = model.positions if positions is None else positions
    x = model.words[tokens] + positions[: np.shape(tokens)[-1]]
    for layer in model.layers:
        y = layer_norm(x, layer[1])
        heads = (linear(y, layer[name]) for name in "qkv")
        heads = (h.reshape(*h.shape[:-1], N_HEADS, -1).swapaxes(-2, -3) for h in heads)
        output = attend(attention, *heads).swapaxes(-2, -3).reshape(x.shape)
        x = x + linear(output, layer["o"])
        y = layer_norm(x, layer[2])
        x = x + linear(gelu(linear(y, layer["up"])), layer["down"])
    return linear(layer_norm(x, model.norm), model.read)


def chances(scores):
    """Probabilities from logits."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def loss(model, attention, **parts):
    """Mean cost of a guess on held-out text, in nats: lower is better.

    ``parts``: as in `logits`.
    """
    guesses = chances(logits(model, model.held_out[:, :-1], attention, **parts))
    targets = model.held_out[:, 1:, None]
    return -np.log(np.take_along_axis(guesses, targets, axis=-1)).mean()


def write(model, attention, start, length=40, temperature=0.7, seed=0, **parts):
    """A text continued by ``length`` tokens, drawn one after the other.

    ``parts``: as in `logits`.
    """
    rng, tokens = np.random.default_rng(seed), encode(model.pieces, start)
    for _ in range(length):
        last = logits(model, tokens[-63:], attention, **parts)[-1]
        tokens.append(rng.choice(len(last), p=chances(last / temperature)))
    return "".join(model.pieces[token] for token in tokens)
