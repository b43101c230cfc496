"""Record what the two pictures of the site show, from the book's own models.

    python book/recording.py [head-born] [one-token]

trains the models of chapter 12, reads three texts with the model of chapter 11, and
writes book/static/head-born.json and book/static/one-token/*.json, in about two
minutes. Run it when these chapters or smollm2.py change. The files are committed, and
tests compare them with the models.
"""

import contextlib
import io
import json
import re
import sys
from pathlib import Path

import jupytext
import smollm2
import torch
from attention import window_mask
from torch.nn import functional as F

BOOK = Path(__file__).resolve().parent
STATIC = BOOK / "static"
LEVELS = 90  # a weight is kept as one character, in steps of 1/90


def packed(weights):
    """Numbers from 0 to 1 as characters, from "#" for 0 to "}" for 1."""
    steps = (weights.double() * LEVELS).round().int().flatten().tolist()
    return "".join(chr(35 + step) for step in steps)


def below(maps):
    """The weights (..., n, n) of a causal map without what is forbidden, row by row."""
    n = maps.shape[-1]
    rows, columns = torch.tril_indices(n, n)
    return maps[..., rows, columns]


def rounded(values, digits=3):
    return [round(float(value), digits) for value in values]


# --------------------------------------------------------------------------
# Chapter 12: a head is born

SEEDS, STEPS, EVERY = (0, 1, 2), 1200, 50
LATER = re.compile(r"^def (heads_of|cut)\(", re.M)  # after the trainings


@contextlib.contextmanager
def chapter_12():
    """What chapter 12 defines for its trainings, in its double precision."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    names = {}
    try:
        cells = jupytext.read(BOOK / "text/12-a-head-is-born.md").cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        (start,) = (i for i, each in enumerate(code) if each.startswith("trained ="))
        later = [each for each in code[start:] if LATER.search(each)]
        for source in code[:start] + later:  # no training yet
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, "chapter 12", "exec"), names)
        yield names
    finally:
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)


def trained(names, seed, steps=STEPS, every=EVERY):
    """The model of a seed as the chapter trains it, copied at every ``every`` steps."""
    copies, examine = [], names["examine"]

    def keep(model):
        copies.append({key: t.clone() for key, t in model.state_dict().items()})
        return examine(model)

    names["examine"] = keep  # the chapter's training calls it
    try:
        names["train"](seed, steps, every)
    finally:
        names["examine"] = examine
    return copies


@torch.no_grad()
def moment(model, names, first, second, text):
    """What is shown of a model, with all its heads and with the first one cut.

    loss, one_back, induction  on the chapter's held-out texts
    maps                       of both heads on one text, below the diagonal
    """
    loss, one_back, copied = names["examine"](model)
    _, maps = model(text, return_weights=True)
    with names["cut"](model.layers[0], first):
        loss_cut, _, copied_cut = names["examine"](model)
        _, maps_cut = model(text, return_weights=True)
    numbers = loss, loss_cut, one_back[0, first], copied[1, second]
    shown = maps[0, 0, first], maps[1, 0, second], maps_cut[1, 0, second]
    return rounded([*numbers, copied_cut[1, second]]), packed(below(torch.stack(shown)))


def head_born():
    """Three trainings, at every 50 steps: numbers and maps."""
    with chapter_12() as names:
        text = names["repeated"](1, 10, torch.Generator().manual_seed(5))
        trainings = []
        for seed in SEEDS:
            copies = trained(names, seed)
            model = names["AttentionOnly"]()
            model.load_state_dict(copies[-1])
            first, second = names["heads_of"](model)
            moments = []
            for copy in copies:
                model.load_state_dict(copy)
                moments.append(moment(model, names, first, second, text))
            numbers, maps = zip(*moments, strict=True)
            heads = {"first": first, "second": second}
            trainings.append(heads | {"numbers": numbers, "maps": maps})
    return {"text": text[0].tolist(), "every": EVERY, "trainings": trainings}


# --------------------------------------------------------------------------
# Chapter 11: one token through thirty layers

TEXTS = {
    "capitals": "Paris is the capital of France. Rome is the capital of Italy. "
    "Madrid is the capital of",
    "names": "Zorbeck met Mr. Quillan at the gate. At noon Zorbeck met Mr.",
    "animal": "The animal didn't cross the street because it was too tired.",
}
SETTINGS = {  # the layout of the rotation, and which keys are forbidden
    "as-published": ("pairs", None),
    "halves": ("halves", None),
    "none": ("none", None),
    "no-sink": ("pairs", "sink"),
    "window": ("pairs", "window"),
}
WINDOW, LIKELIEST = 8, 5


def mask_of(kind, n):
    """Which keys a query may see beside the causal mask (n, n); None for all."""
    if kind == "window":
        return torch.from_numpy(window_mask(n, WINDOW, 0))
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[4:, 0] = kind != "sink"  # chapter 11: from the fifth token on
    return mask


@torch.no_grad()
def follow(model, ids, setting):
    """A text (n,) on its way through the model, with something changed.

    Returns the stream before the first layer and after each (layers + 1, n, d_model),
    and the weights (layers, heads, n, n).
    """
    layout, kind = SETTINGS[setting]
    mask = mask_of(kind, len(ids))
    x = model.words(ids[None])
    stream, maps = [x[0]], []
    for layer in model.layers:
        layer.self_attn.layout = layout
        attended, weights = layer.self_attn(layer.norm1(x), mask)
        x = x + attended
        x = x + layer.ffn(layer.norm2(x))
        stream.append(x[0])
        maps.append(weights[0])
    return torch.stack(stream), torch.stack(maps)


@torch.no_grad()
def lens(model, stream):
    """Chances of the next token, read after every layer as after the last one.

    (layers + 1, n, d_model) to (layers + 1, n, n_words): the last norm and the table.
    """
    return (model.norm(stream) @ model.words.weight.T).softmax(dim=-1)


def lengths(stream):
    """Of the first token's vector, and the median of the others, by layer."""
    sizes = stream.norm(dim=-1)
    return [rounded(s, 1) for s in (sizes[:, 0], sizes[:, 1:].median(dim=1).values)]


def one_token(model, tokenizer, text, setting):
    """What is shown of a text in a setting.

    tokens   of the text, as text
    weights  (layers, heads, rows below the diagonal)
    likely   numbers of words (n, layers + 1, 5), and their chances
    lengths  of vectors (2, layers + 1): of the first token, median of the others
    losses   of all tokens but the first, in nats; usual: with nothing changed
    """
    ids = torch.tensor(tokenizer.encode(TEXTS[text]))
    stream, maps = follow(model, ids, setting)
    chances = lens(model, stream)
    top = chances.transpose(0, 1).topk(LIKELIEST)
    words, numbers = torch.unique(top.indices, return_inverse=True)
    published = lens(model, follow(model, ids, "as-published")[0][-1])

    def losses(chances):
        return rounded(F.nll_loss(chances[:-1].log(), ids[1:], reduction="none"), 2)

    return {
        "text": text,
        "tokens": [tokenizer.decode([i]) for i in ids.tolist()],
        "weights": packed(below(maps)),
        "words": [tokenizer.decode([i]) for i in words.tolist()],
        "likely": numbers.flatten().tolist(),
        "chances": packed(top.values),
        "lengths": lengths(stream),
        "losses": losses(chances[-1]),
        "usual": losses(published),
    }


def write(name, data):
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    (STATIC / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def write_tokens():
    model, tokenizer = smollm2.load_model(), smollm2.load_tokenizer()
    (STATIC / "one-token").mkdir(exist_ok=True)
    for text in TEXTS:
        for setting in SETTINGS:
            data = one_token(model, tokenizer, text, setting)
            write(f"one-token/{text}-{setting}", data)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["head-born", "one-token"]
    if "head-born" in wanted:
        write("head-born", head_born())
    if "one-token" in wanted:
        write_tokens()
