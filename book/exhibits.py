"""What the interactive elements of the site show, exported from the course's code.

    python book/exhibits.py

writes book/static/lab.json (the trained model of chapter 7, for the attention lab)
and book/static/heads.json (the weights of MiniLM on a few sentences, for the head
viewer). Run it when chapter 7's model or minilm.py changes. A training on another
CPU ends in other digits, so the files are committed and tests read them as they are.
"""

import base64
import json
from pathlib import Path

import jupytext
import matplotlib
import minilm
import torch

BOOK = Path(__file__).parent
CHAPTER = BOOK / "text/07-reading-attention.md"
SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "The street didn't stop the animal because it was too tired.",
    "The cat chased the mouse.",
    "The cat sat on the mat, and then it slept.",
    "She gave her sister the book that he had read.",
]


def model_of_chapter_7():
    """Train the model as chapter 7 does, and stop early; return it and its words.

    After 60 of 800 steps it finds the right noun, and its weights are still
    undecided enough to move when one turns a knob.
    """
    names = {}
    cells = jupytext.read(CHAPTER).cells
    for code in (cell.source for cell in cells if cell.cell_type == "code"):
        if code.startswith("one_step ="):  # from here on, only experiments
            break
        exec(compile(code, CHAPTER.name, "exec"), names)
    torch.manual_seed(0)
    model = names["fit"](names["Finder"](), seed=0, steps=60)
    return model, names["vocabulary"]


def principal(query, key):
    """Turn two projections so that their first columns matter most.

    query, key: weights (d, d) of linear layers. Scores depend on query.T @ key only.
    Its singular value decomposition U S V.T gives the projections U √S and V √S, with
    the same scores; of the first d_k columns, no others of that width come closer.
    Returns both as (d, d), for rows of vectors: x @ query.
    """
    u, s, vt = torch.linalg.svd((query.T @ key).double())
    return u * s.sqrt(), vt.T * s.sqrt()


def rounded(tensor, digits=4):
    return [[round(value, digits) for value in row] for row in tensor.tolist()]


def lab():
    """The model's word vectors and projections, all for x @ W.

    fresh_q and fresh_k were never trained: their queries and keys have variance 1.
    """
    model, vocabulary = model_of_chapter_7()
    look_q, look_k = principal(model.look_q.weight.data, model.look_k.weight.data)
    names = "W_q", "W_k", "W_v", "W_o"
    context = {name: getattr(model, name).weight.data.T for name in names}
    draw = torch.Generator().manual_seed(0)
    d = len(look_q)
    fresh_q, fresh_k = torch.randn(2, d, d, generator=draw) / d**0.5
    projections = context | {
        "look_q": look_q,
        "look_k": look_k,
        "fresh_q": fresh_q,
        "fresh_k": fresh_k,
    }
    norm = torch.stack([model.norm.weight.data, model.norm.bias.data])
    words = dict(zip(vocabulary, rounded(model.words.weight.data), strict=True))
    return {
        "words": words,
        "norm": rounded(norm),
        **{name: rounded(values) for name, values in projections.items()},
    }


def heads():
    """The weights of every head of MiniLM, per sentence, in steps of 1/255.

    A sentence's ``weights`` are bytes in base64: (n_layers, n_heads, n, n).
    """
    encoder, vocabulary = minilm.load_encoder(), minilm.load_vocabulary()
    shown = []
    for text in SENTENCES:
        tokens = minilm.tokenize(text, vocabulary)
        _, weights = encoder(minilm.as_ids([tokens], vocabulary))
        steps = (weights[:, 0] * 255).round().to(torch.uint8)
        packed = base64.b64encode(steps.numpy().tobytes()).decode()
        shown.append({"text": text, "tokens": tokens, "weights": packed})
    layers, heads = weights.shape[0], weights.shape[2]
    return {"layers": layers, "heads": heads, "sentences": shown}


def write(name, data):
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    (BOOK / "static" / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    matplotlib.use("Agg")
    write("lab.json", lab())
    write("heads.json", heads())
