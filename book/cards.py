"""Draw the previews of the two recorded pictures: what a link to their pages shows.

    python book/cards.py

writes book/images/head-born.png and one-token.png, of 1200 by 630 points, from the
recordings in book/static.
"""

import io
import json
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from PIL import Image

BOOK = Path(__file__).resolve().parent
INK, SOFT, ACCENT, CUT = "#222832", "#5a5f66", "#5b3fb0", "#b0233a"
HEAT = LinearSegmentedColormap.from_list("heat", ["#f3f4f5", ACCENT])
LEVELS, HEADS = 90, 9


def recorded(name):
    return json.loads((BOOK / f"static/{name}.json").read_text(encoding="utf-8"))


def unpacked(text, n):
    """Characters of a recording to maps (-1, n, n)."""
    steps = np.array([ord(letter) - 35 for letter in text]) / LEVELS
    rows, columns = np.tril_indices(n)
    steps = steps.reshape(-1, len(rows))
    maps = np.zeros((len(steps), n, n))
    maps[:, rows, columns] = steps
    return maps


def sheet(title, words):
    """An empty card with its title and the name of the course."""
    figure = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    figure.text(0.05, 0.88, title, fontsize=36, weight="bold", color=INK)
    figure.text(0.05, 0.80, words, fontsize=19, color=SOFT)
    figure.text(0.95, 0.04, "Paying Attention", fontsize=17, color=ACCENT, ha="right")
    return figure


def head_born():
    """Both maps of seed 1 at three steps, beside the loss."""
    data = recorded("head-born")
    training, n = data["trainings"][1], len(data["text"])
    words = "Two heads learn to copy. Cut the first one, and see what is left."
    figure = sheet("Watch a head being born", words)
    ax = figure.add_axes((0.08, 0.17, 0.36, 0.52))
    steps = np.arange(len(training["numbers"])) * data["every"]
    loss, cut = np.array(training["numbers"])[:, :2].T
    ax.plot(steps, loss, color=ACCENT, lw=4)
    ax.plot(steps, cut, color=CUT, lw=2.5, ls=(0, (4, 2)))
    ax.text(1190, cut[-1] + 0.15, "first head cut", color=CUT, fontsize=17, ha="right")
    ax.text(1190, loss[-1] + 0.2, "loss", color=ACCENT, fontsize=17, ha="right")
    ax.set(ylim=(0, 4.2), xlim=(0, 1200), xticks=[0, 600, 1200], yticks=[0, 2, 4])
    ax.tick_params(labelsize=15, colors=SOFT)
    ax.spines[["top", "right"]].set_visible(False)
    for column, step in enumerate((300, 600, 1200)):
        maps = unpacked(training["maps"][step // data["every"]], n)
        for row in range(2):
            place = 0.5 + 0.16 * column, 0.42 - 0.285 * row, 0.142, 0.27
            box = figure.add_axes(place, xticks=[], yticks=[])
            box.imshow(maps[row], cmap=HEAT, vmin=0, vmax=1)
            box.spines[:].set_color(SOFT)
        figure.text(place[0] + 0.07, 0.71, f"step {step}", fontsize=16, **CENTER)
    return figure


CENTER = {"color": SOFT, "ha": "center"}


def one_token():
    """Where the last token looks in each layer, and what would come next."""
    data = recorded("one-token/capitals-as-published")
    n, query = len(data["tokens"]), len(data["tokens"]) - 1
    weights = unpacked(data["weights"], n).reshape(-1, HEADS, n, n)
    words = "Where a language model looks, and what it would say next, layer by layer."
    figure = sheet("Follow one token through thirty layers", words)
    ax = figure.add_axes((0.09, 0.2, 0.52, 0.52))
    mean = weights.mean(axis=1)[:, query]
    ax.imshow(mean, cmap=HEAT, aspect="auto", vmin=0, vmax=0.7)
    ax.set_yticks([0, 10, 20, 29])
    ax.set_ylabel("layer", fontsize=16, color=SOFT)
    ax.set_xticks(range(n), [token.strip() for token in data["tokens"]], rotation=60)
    ax.tick_params(labelsize=12, colors=SOFT)
    ax.tick_params(axis="y", labelsize=15)
    likely = np.array(data["likely"]).reshape(n, len(mean) + 1, -1)[query, 1:, 0]
    for layer in range(1, len(mean), 4):
        word = data["words"][likely[layer]].strip()
        at = 0.72 - 0.52 * (layer + 0.5) / len(mean)
        figure.text(0.66, at, f"layer {layer}", fontsize=16, color=SOFT, va="center")
        figure.text(0.76, at, word, fontsize=21, color=INK, va="center")
    return figure


def write(name, figure):
    """As a PNG of at most 128 colors."""
    figure.savefig(file := io.BytesIO(), format="png")
    plt.close(figure)
    picture = Image.open(file).convert("RGB")
    few = picture.quantize(128, dither=Image.Dither.NONE)
    few.save(BOOK / f"images/{name}.png", optimize=True)


if __name__ == "__main__":
    matplotlib.use("Agg")
    write("head-born", head_born())
    write("one-token", one_token())
