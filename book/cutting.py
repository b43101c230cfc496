"""Cut each attention line into the last token of a prompt, and note the next word.

    python book/cutting.py [--check]

A line is one weight in the last token's row of one head: (layer, head, key). To cut it
is to mask its key for this head alone, whose other weights then grow to sum to 1. No
earlier token sees the last one, so their keys and values stay, and a cut costs one
decoding step. All 10,000 lines of three prompts take a few minutes.

The command writes what it finds to book/static/cut-a-line.json, which the first page
shows. With --check it compares this file with what older processors compute.
"""

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import smollm2
import torch
from processors import PROCESSORS
from smollm2 import rotate

FILE = Path(__file__).resolve().parent / "static/cut-a-line.json"
PROMPTS = {
    "languages": "In Paris they speak French. In Rome they speak",
    "capitals": "The capital of France is Paris. The capital of Italy is",
    "a pet": "Anna has a dog. Tom has a cat. Anna's pet is a",
}
WORDS = 4  # next words whose probabilities are kept
THICKEST = 8  # lines that are offered to be cut first, and all at once


@dataclass
class Reading:
    """A prompt in the model: what the last token meets in each layer, and what it is.

    keys, values  of the earlier tokens, for each layer (n_heads, n - 1, d_k)
    before        the last token's vector before each layer (d_model,)
    weights       its row in each head (layers, n_heads, n)
    """

    model: smollm2.Decoder
    tokens: list[str]
    keys: list[torch.Tensor]
    values: list[torch.Tensor]
    before: list[torch.Tensor]
    weights: torch.Tensor


@torch.no_grad()
def read(prompt, model, tokenizer):
    """Read a prompt once, and keep what a cut needs."""
    ids = tokenizer.encode(prompt)
    x = model.words(torch.tensor([ids]))
    keys, values, before, rows = [], [], [], []
    for layer in model.layers:
        q, k, v = layer.self_attn.project(layer.norm1(x))
        share = q.shape[1] // k.shape[1]
        keys.append(k[0, :, :-1].repeat_interleave(share, 0))
        values.append(v[0, :, :-1].repeat_interleave(share, 0))
        before.append(x[0, -1])
        attended, weights = layer.self_attn(layer.norm1(x))
        x = x + attended
        x = x + layer.ffn(layer.norm2(x))
        rows.append(weights[0, :, -1])
    tokens = [tokenizer.decode([number]) for number in ids]
    return Reading(model, tokens, keys, values, before, torch.stack(rows))


def step(reading, index, x, keep):
    """The last token in one layer: x (batch, d_model), keep (batch, n_heads, n)."""
    layer = reading.model.layers[index]
    place = torch.tensor([len(reading.tokens) - 1])
    heads = layer.self_attn
    h = layer.norm1(x)[:, None]
    q, k, v = heads.W_q(h), heads.W_k(h), heads.W_v(h)
    q, k, v = (t.unflatten(-1, (-1, 64)).transpose(1, 2) for t in (q, k, v))
    q, k = (rotate(t, place, heads.base, heads.layout) for t in (q, k))
    share = heads.n_heads // heads.n_kv
    k, v = (t.repeat_interleave(share, 1) for t in (k, v))  # (batch, n_heads, 1, 64)
    old = reading.keys[index], reading.values[index]
    k, v = (
        torch.cat([past.expand(len(x), -1, -1, -1), new], dim=2)
        for past, new in zip(old, (k, v), strict=True)
    )
    scores = (q @ k.mT / 8).masked_fill(~keep[:, :, None], -torch.inf)
    output = scores.softmax(dim=-1) @ v
    x = x + heads.W_o(output.flatten(1))
    return x + layer.ffn(layer.norm2(x))


@torch.no_grad()
def next_words(reading, lines):
    """Probabilities of the next word (batch, n_words), each with some lines cut.

    ``lines`` has for each row of the batch the lines (layer, head, key) to cut there.
    """
    first = min((line[0] for cut in lines for line in cut), default=29)
    layers = len(reading.model.layers)
    keep = torch.ones(layers, len(lines), 9, len(reading.tokens), dtype=torch.bool)
    for row, cut in enumerate(lines):
        for layer, head, key in cut:
            keep[layer, row, head, key] = False
    x = reading.before[first].expand(len(lines), -1)
    for index in range(first, layers):
        x = step(reading, index, x, keep[index])
    model = reading.model
    return (model.norm(x) @ model.words.weight.T).softmax(dim=-1)


# --------------------------------------------------------------------------
# The file


def bytes_of(values):
    """Numbers from 0 to 1 in hundredths, a byte each, as text."""
    steps = (values.double() * 100).round().to(torch.uint8)
    return base64.b64encode(steps.numpy().tobytes()).decode()


def after_every_cut(reading):
    """What comes next without a line, for each line: (layers, n_heads, n, n_words)."""
    layers, heads, n = reading.weights.shape
    cuts = torch.cartesian_prod(torch.arange(heads), torch.arange(n)).tolist()
    return torch.stack(
        [
            next_words(reading, [[(layer, *cut)] for cut in cuts]).unflatten(
                0, (heads, n)
            )
            for layer in range(layers)
        ]
    )


def looks_at(reading, line):
    """Where its head looks once a line is cut: the two largest weights."""
    layer, head, key = line
    row = reading.weights[layer, head].clone()
    row[key] = 0  # the others keep their ratios
    return [
        [int(key), round(float(share), 2)]
        for share, key in zip(*(row / row.sum()).topk(2), strict=True)
    ]


def lines_of(places, reading):
    """The lines (layer, head, key) at places of the flat weights."""
    found = torch.unravel_index(places, reading.weights.shape)
    return list(zip(*(part.tolist() for part in found), strict=True))


def found(prompt, model, tokenizer):
    """What the first page shows of a prompt.

    tokens    as text
    weights   (layers, n_heads, n) in hundredths
    words     the next words that are shown, the likeliest first
    before    their probabilities with every line, in hundredths
    after     the same without each of the lines (layers, n_heads, n, words)
    deciding  the lines that change the likeliest word when cut, the strongest first,
              each with the two tokens that its head looks at then
    thickest  the lines with most weight
    together  the words' probabilities without all of these, in hundredths
    drawn     each token's line with most weight, and the deciding ones
    """
    reading = read(prompt, model, tokenizer)
    before, after = next_words(reading, [[]])[0], after_every_cut(reading)
    answer = int(before.argmax())
    changed = (after.argmax(dim=-1) != answer).nonzero().tolist()
    deciding = sorted(map(tuple, changed), key=lambda line: after[line][answer])
    shown = before.topk(2).indices.tolist()
    shown += [int(after[line].argmax()) for line in deciding]
    most = torch.stack([before, *(after[line] for line in deciding)]).amax(dim=0)
    shown = list(dict.fromkeys(shown + most.topk(2 * WORDS).indices.tolist()))[:WORDS]
    shown.sort(key=lambda number: -before[number])
    thickest = lines_of(reading.weights.flatten().topk(THICKEST).indices, reading)
    together = next_words(reading, [thickest])[0]
    tokens = torch.arange(len(reading.tokens))
    heads = reading.weights.flatten(0, 1).argmax(dim=0)
    drawn = lines_of(heads * len(tokens) + tokens, reading)
    drawn = sorted({*drawn, *deciding}, key=lambda line: (line[2], line))
    return {
        "tokens": reading.tokens,
        "weights": bytes_of(reading.weights),
        "words": [tokenizer.decode([number]).strip() for number in shown],
        "before": (before[shown] * 100).round().int().tolist(),
        "after": bytes_of(after[..., shown]),
        "deciding": [[*line, looks_at(reading, line)] for line in deciding],
        "thickest": thickest,
        "together": (together[shown] * 100).round().int().tolist(),
        "drawn": drawn,
    }


def everything():
    model, tokenizer = smollm2.load_model(), smollm2.load_tokenizer()
    return {name: found(text, model, tokenizer) for name, text in PROMPTS.items()}


def steps_of(text):
    return np.frombuffer(base64.b64decode(text), np.uint8).astype(int)


def differences(one, other):
    """Sentences on what two results of ``everything`` do not have in common.

    Probabilities may differ by a hundredth, which is rounding; words may not.
    """
    for name, mine in one.items():
        theirs = other[name]
        for part in "tokens", "words":
            if mine[part] != theirs[part]:
                yield f"{name}: {part} are {mine[part]} and {theirs[part]}"
        lines = [[line[:3] for line in each["deciding"]] for each in (mine, theirs)]
        if lines[0] != lines[1]:
            yield f"{name}: the lines {lines[0]} and {lines[1]} decide"
        for part in "weights", "after":
            apart = abs(steps_of(mine[part]) - steps_of(theirs[part])).max()
            if apart > 1:
                yield f"{name}: {part} differ by {apart} hundredths"


def check():
    """Compare the file with what this machine computes as if it were an older one."""
    committed, agree = json.loads(FILE.read_text(encoding="utf-8")), True
    for processor, setting in PROCESSORS.items():
        command = [sys.executable, __file__, "--print"]
        given = subprocess.run(
            command, env=os.environ | setting, stdout=subprocess.PIPE, check=True
        )
        for sentence in differences(committed, json.loads(given.stdout)):
            agree = False
            print(f"{processor}: {sentence}")
    print(f"{FILE.name}: {'' if agree else 'NOT '}the same on {', '.join(PROCESSORS)}")
    return 0 if agree else 1


def main():
    if "--check" in sys.argv:
        return check()
    text = json.dumps(everything(), separators=(",", ":"), ensure_ascii=False)
    if "--print" in sys.argv:
        print(text)
    else:
        FILE.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
