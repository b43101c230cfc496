"""Draw the previews: what a link to the site, or to a recorded picture's page, shows.

    python book/cards.py

writes book/images/site.png, head-born.png and one-token.png, of 1200 by 630 points,
from the recordings in book/static.
"""

import io
import json
import re
from pathlib import Path

import cut_picture
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


def cut_a_line():
    """The first page's picture with the line cut that decides, and both answers."""
    data = recorded("cut-a-line")["languages"]
    words = "One line of 2,700, in a published language model, and another answer"
    figure = sheet("Cut a line of attention", words)
    ax = figure.add_axes((0.05, 0.12, 0.9, 0.62))
    ax.set(xlim=(0, 720), ylim=(250, 0))
    ax.axis("off")
    places = cut_picture.middles(data["tokens"], "wide")

    def line(key, layer, head, share=slice(None), **look):
        steps = cut_picture.curve(places[key], layer, head, "wide")
        a, b, c, d = np.array(re.findall(r"[\d.]+", steps), float).reshape(4, 2)
        t = np.linspace(0, 1, 101)[share, None]
        way = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c
        ax.plot(*(way + t**3 * d).T, solid_capstyle="round", **look)

    for key in range(len(data["tokens"])):
        for layer in range(cut_picture.LAYERS):
            line(key, layer, 4, color=SOFT, lw=0.6, alpha=0.3)
    cut = data["deciding"][0][:3]
    for layer, head, key in data["drawn"]:
        width = 1 + 6 * cut_picture.weight(data, [layer, head, key])
        if [layer, head, key] != cut:
            line(key, layer, head, color="#a591ea", lw=width)
    for share in slice(0, 35), slice(66, 101):
        line(cut[2], *cut[:2], share, color=CUT, lw=7)
    for x, token in zip(places, data["tokens"], strict=False):
        ax.text(x, 22, token.strip(), fontsize=20, color=INK, ha="center")
    shares = data["before"], cut_picture.after(data, cut)
    for y, name, share in zip((70, 160), ("all lines", "one cut"), shares, strict=True):
        ax.text(560, y - 16, name, fontsize=17, color=SOFT)
        color = ACCENT if y == 70 else CUT
        for row, (word, part) in enumerate(zip(data["words"], share, strict=True)):
            if word in ("Italian", "French"):
                at = y + (26 if row else 4)
                ax.text(560, at, word, fontsize=20, color=INK, va="center")
                ax.barh(at, part * 0.9, left=632, height=15, color=color)
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
    write("site", cut_a_line())
    write("head-born", head_born())
    write("one-token", one_token())
