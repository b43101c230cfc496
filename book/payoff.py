"""What the course was for: answers of one's own run a published model.

The last cells of exercises 07 and 11 call this module, for no points. They work where
somebody watches, in Jupyter: `autograder check` and grading do not wait for a model.

    EncoderLayer = answer_in("encoder_layer.ipynb", "EncoderLayer")
    draw_it(EncoderLayer, load_layer)
    go_on("The old library stood", ported, rms_norm, perplexity, sink_share)
"""

import ast
import contextlib
import json
import os
import sys
from functools import wraps
from pathlib import Path

SENTENCE = "The animal didn't cross the street because it was too {}."
ENDINGS = ("tired", "wide")
LAYER, HEAD = 3, 1  # the head of chapter 7
DEFINITIONS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
ENDS = ("<|im_end|>", "<|endoftext|>")


def watched():
    """Whether this runs in Jupyter; not in `autograder check`, and not in grading."""
    if os.environ.get("NBGRADER_EXECUTION"):  # nbgrader's own, which has a kernel
        return False
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def payoff(function):
    """Run a function where somebody watches, with a sentence in place of a traceback.

    The sentence names the answer that is still open, or what stopped it.
    """

    @wraps(function)
    def patient(*args, **kwargs):
        if not watched():
            return print("This cell is for Jupyter; it counts for no points.")
        try:
            return function(*args, **kwargs)
        except NotImplementedError as error:
            place = error.__traceback__
            while place.tb_next:
                place = place.tb_next
            whole = place.tb_frame.f_code.co_qualname
            name = whole.rpartition("<locals>.")[2].partition(".")[0]
            return print(f"`{name}` has no answer yet. Come back when it has one.")
        except Exception as error:
            told = f"{type(error).__name__}: {error}".strip(": ")
            return print(f"It stopped with {told}. What do the checks say?")

    return patient


def answer_in(notebook, name):
    """What a notebook of one's own defines as ``name``; None where there is none.

    The notebook is looked for here and in the folders beside this one. Its imports,
    functions and classes are run, and no line besides.
    """
    if not watched():
        return None
    beside = sorted(Path("..").glob(f"*/{notebook}"))
    path = next(filter(Path.is_file, [Path(notebook), *beside]), None)
    if path is None:
        return None
    names = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        with contextlib.suppress(Exception):  # a magic, or a package of no concern
            for node in ast.parse("".join(cell["source"])).body:
                if isinstance(node, DEFINITIONS):
                    one = ast.Module([node], type_ignores=[])
                    exec(compile(one, f"<{path.name}>", "exec"), names)
    return names.get(name)


# ---- exercise 07: the encoder


def encoder_of(layer_class, load_layer):
    """The published sentence encoder, its layers of a class of one's own."""
    import minilm
    from torch import nn

    encoder, tensors = minilm.load_encoder(), minilm.load_tensors()
    n_layers = len(encoder.layers)
    encoder.layers = nn.ModuleList(layer_class(384, 12, 1536) for _ in range(n_layers))
    for index, layer in enumerate(encoder.layers):
        load_layer(layer, tensors, index)
        for module in layer.modules():
            if isinstance(module, nn.LayerNorm):
                module.eps = 1e-12  # as the model was trained
    return encoder.eval().requires_grad_(False)


@payoff
def draw_it(layer_class, load_layer):
    """Draw what "it" looks at in both sentences of the book, by one's own layers.

    Returns the figure; prints the weights, and whether they are the published ones.
    """
    import matplotlib.pyplot as plt
    import minilm
    import numpy as np

    if layer_class is None:
        return print(
            "There is no EncoderLayer of yours here. Put encoder_layer.ipynb, your "
            "exercise 06, beside this notebook."
        )
    vocabulary = minilm.load_vocabulary()
    encoders = encoder_of(layer_class, load_layer), minilm.load_encoder()
    figure, axes = plt.subplots(2, 1, figsize=(9, 4.6), layout="constrained")
    apart = 0.0
    for ax, ending in zip(axes, ENDINGS, strict=True):
        tokens = minilm.tokenize(SENTENCE.format(ending), vocabulary)
        ids = minilm.as_ids([tokens], vocabulary)
        weights, published = (encoder(ids)[1][:, 0].numpy() for encoder in encoders)
        apart = max(apart, float(np.abs(weights - published).max()))
        row = weights[LAYER, HEAD, tokens.index("it")]
        arcs(ax, tokens, row)
        animal = row[tokens.index("animal")]
        ax.set_title(f'too {ending}: "it" gives "animal" {animal:.2f}', loc="left")
        print(f'{ending}: your layers let "it" give {animal:.2f} to "animal"')
    same = "agree with the published model" if apart < 1e-3 else "differ from it"
    print(f"All weights of your layers {same}: they part by {apart:.0e} at most.")
    return figure


def arcs(ax, tokens, row):
    """Tokens in a line, and from "it" to each an arc as strong as its weight."""
    import numpy as np

    here, turn = tokens.index("it"), np.linspace(0, np.pi, 60)
    for there, weight in enumerate(row):
        middle, half = (here + there) / 2, (here - there) / 2
        x, y = middle + half * np.cos(turn), abs(half) * np.sin(turn)
        ax.plot(x, y, color="#0a6c4c", linewidth=9 * weight, alpha=0.7)
        ax.text(there, -0.4, tokens[there], ha="center", va="top", rotation=40)
    ax.set(xlim=(-0.7, len(tokens) - 0.3), ylim=(-3, 5.5))
    ax.axis("off")


# ---- exercise 11: the decoder


@payoff
def go_on(text, ported, rms_norm, perplexity, sink_share, n_tokens=20):
    """Print a text and what the model says after it, by functions of one's own."""
    import smollm2
    import torch

    tokenizer = smollm2.load_tokenizer()
    ids = tokenizer.encode(text)
    if len(ids) < 6:
        return print("Begin with a few words more: the model needs something to go on.")
    given, model = len(ids), ported().requires_grad_(False)
    for module in model.modules():
        if isinstance(module, smollm2.RMSNorm):
            module.forward = normalized(rms_norm, module)
    ends = {tokenizer.ids.get(mark) for mark in ENDS}
    for _ in range(n_tokens):
        logits, weights = model(torch.tensor([ids]))
        best = int(logits[0, -1].argmax())
        if best in ends:
            break
        ids.append(best)
    seen = logits[0, :given], torch.tensor(ids[:given])
    on_first = float(sink_share(weights[:, 0]).mean())
    print(tokenizer.decode(ids))
    print(f"Perplexity of what you wrote: {perplexity(*seen):.0f}")
    return print(f"Share of attention on the first token: {on_first:.0%}")


def normalized(rms_norm, module):
    """The step of a normalization, by a function of one's own."""
    return lambda x: rms_norm(x, module.weight, module.eps)
