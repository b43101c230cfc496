"""Draw the book's diagrams: book/images/*.svg, from the numbers of the chapters.

    python book/drawings.py

Inputs come from the cells of the chapters, results from attention.py; a test compares
them with what the notebooks print. Colors and strokes are in book/static/site.css,
where pages take them from; each file carries a copy, so that it can stand alone.
"""

import contextlib
import itertools
import math
import re
from html import escape
from pathlib import Path

import jupytext
import numpy as np
import torch
from attention import attention_scores, causal_mask, merge_heads, softmax, split_heads

BOOK = Path(__file__).resolve().parent
IMAGES, TEXT = BOOK / "images", BOOK / "text"
WIDTH = 380  # of every drawing: a phone's screen, so that its letters stay readable
MARGIN = 6
TOKENS = ["the", "cat", "sat", "on", "the", "mat"]
SIZES = {"Q": (4, 8), "K": (6, 8), "V": (6, 3)}  # chapter 1, "The whole formula"


# --------------------------------------------------------------------------
# Strokes: every function returns SVG. A kind is a class of site.css: q, k, v (queries,
# keys, values), head0 to head2, soft, bold, dashed; without it, ink.


def tag(name: str, content: str = "", **attributes: float | str) -> str:
    """One element; numbers are rounded, as no eye sees a hundredth of a pixel."""
    values = {
        key.rstrip("_").replace("_", "-"): f"{value:.4g}"
        if isinstance(value, float)
        else value
        for key, value in attributes.items()
        if value != ""
    }
    marks = "".join(f' {key}="{escape(str(value))}"' for key, value in values.items())
    return f"<{name}{marks}>{content}</{name}>" if content else f"<{name}{marks}/>"


def text(x: float, y: float, words: object, kind: str = "") -> str:
    """Words whose baseline is y; "start" and "end" in ``kind`` say where x is."""
    return tag("text", escape(str(words)), x=x, y=y, class_=kind) if words else ""


def box(x: float, y: float, width: float, height: float, kind: str = "") -> str:
    return tag("rect", x=x, y=y, width=width, height=height, class_=kind)


def path(steps: str, kind: str = "") -> str:
    return tag("path", d=steps, class_=kind)


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "") -> str:
    return path(f"M{x1:g} {y1:g} L{x2:g} {y2:g}", kind)


def arrow(x1: float, y1: float, x2: float, y2: float, kind: str = "") -> str:
    """A line with a head of five pixels at its end."""
    turn = math.atan2(y2 - y1, x2 - x1)
    head = ""
    for side in (2.6, -2.6):
        x, y = x2 + 6 * math.cos(turn + side), y2 + 6 * math.sin(turn + side)
        head += f" M{x:.1f} {y:.1f} L{x2:g} {y2:g}"
    return path(f"M{x1:g} {y1:g} L{x2:g} {y2:g}{head}", kind)


def cells(x, y, numbers, kind="", width=20.0, height=20.0, show="{:g}") -> str:
    """A row of numbers, each in a box of its own."""
    drawn = ""
    for i, number in enumerate(numbers):
        left = x + i * width
        drawn += box(left, y, width, height, kind)
        drawn += text(left + width / 2, y + height / 2 + 4.5, show.format(number), kind)
    return drawn


# --------------------------------------------------------------------------
# Numbers


def cell_values(chapter: str, *lines: str) -> dict:
    """Run the cells of a chapter that have these lines; return what they define."""
    names = {"np": np, "math": math, "torch": torch, "softmax": softmax}
    sources = [cell.source for cell in jupytext.read(TEXT / f"{chapter}.md").cells]
    for line in lines:
        (source,) = (source for source in sources if f"\n{line}" in f"\n{source}")
        with contextlib.redirect_stdout(None):
            exec(compile(source, chapter, "exec"), names)
    return names


# --------------------------------------------------------------------------
# The drawings: each returns its elements and its height


def it() -> tuple[str, int]:
    """The first page: what "it" stands for, drawn by hand."""
    places = 53, 97, 140, 202, 246, 290, 344
    drawn = ""
    for y, last, chosen, up in [(82, "tired", 0, -1), (116, "wide", 2, 1)]:
        words = ["animal", "…", "street", "because", "it", "was too", last]
        for i, (x, word) in enumerate(zip(places, words, strict=True)):
            drawn += text(x, y, word, "bold" if i in (chosen, 4, 6) else "")
        edge = y - 16 if up < 0 else y + 8
        for noun in (0, 2):
            start, end, far = places[4], places[noun], edge + up * (62 - 16 * noun)
            kind = "q strong" if noun == chosen else "q dashed"
            curve = f"C{start - 10} {far} {end + 14} {far} {end} {edge}"
            drawn += path(f"M{start} {edge} {curve}", kind)
    return drawn, 186


def one_query() -> tuple[str, int]:
    """Chapter 1: the query of "sat" through scores, softmax, values, sum."""
    inputs = "tokens = [", "features = {", "asks = {"
    names = cell_values("01-queries-keys-values", *inputs)
    tokens, X = names["tokens"], names["X"]
    query = names["Q"][tokens.index("sat")]
    scores = attention_scores(query[None], X)[0]
    weights = softmax(scores)
    drawn = text(44, 17, "query of “sat”: who is living?", "q start")
    drawn += cells(44, 24, query, "q")
    for x, head, step, kind in [
        (84, "keys", "", "k"),
        (144, "scores", "q·k / √4", ""),
        (210, "weights", "softmax", ""),
        (316, "values", "", "v"),
    ]:
        drawn += text(x, 72, head, f"{kind} bold") + text(x, 87, step, "soft")
    drawn += arrow(84, 46, 84, 58, "q")
    for i, token in enumerate(tokens):
        y = 96 + 25 * i
        drawn += text(38, y + 15, token, "end")
        drawn += cells(44, y, X[i], "k") + text(144, y + 15, f"{scores[i]:.1f}")
        drawn += text(198, y + 15, f"{weights[i]:.2f}", "end")
        drawn += box(203, y + 3, 46 * float(weights[i]), 14)
        drawn += cells(254, y, X[i], "v", width=31)
    drawn += arrow(316, 246, 316, 260, "v")
    drawn += text(248, 279, "weight × value, added up:", "v end")
    drawn += cells(254, 264, weights @ X, "v", width=31, show="{:.2f}")
    return drawn, 294


def matrix(x: float, middle: float, rows: int, columns: int, name: str, kind="") -> str:
    """A matrix to scale, seven pixels a number, with name and shape below."""
    width, height = 7 * columns, 7 * rows
    lines = "".join(
        line(x, y, x + width, y, f"{kind} thin")
        for y in np.arange(middle - height / 2 + 7, middle + height / 2 - 1, 7)
    )
    shape = f"{name}  {rows} × {columns}"
    below = text(x + width / 2, middle + height / 2 + 15, shape, kind)
    return box(x, middle - height / 2, width, height, kind) + lines + below


def six_steps() -> tuple[str, int]:
    """Chapter 1: four queries meet six keys; the shapes of the six steps."""
    (n_q, d_k), (n_k, d_v) = SIZES["Q"], SIZES["V"]
    steps = "project", "score", "scale", "mask", "softmax", "mix"
    middles = 48, 128, 220, 298  # steps 3 to 5 keep the shape: they share a line
    lines = 48, 128, 200, 220, 240, 298
    drawn = ""
    for number, (step, y) in enumerate(zip(steps, lines, strict=True), 1):
        drawn += text(4, y + 5, f"{number}  {step}", "start bold")
    left = 118
    for x, rows, columns, name in [
        (left, n_q, d_k, "q"),
        (left + 98, n_k, d_k, "k"),
        (left + 207, n_k, d_v, "v"),
    ]:
        drawn += text(x + 3.5 * columns, 16, f"{rows} tokens", "soft")
        drawn += matrix(x, middles[0], rows, columns, name.upper(), name)
    drawn += matrix(left, middles[1], n_q, d_k, "Q", "q")
    drawn += text(left + 78, middles[1] + 5, "@")
    drawn += matrix(left + 104, middles[1], d_k, n_k, "Kᵀ", "k")
    drawn += text(left + 168, middles[1] + 5, "=")
    drawn += matrix(left + 196, middles[1], n_q, n_k, "QKᵀ")
    for x, name, words in [
        (left, "scores", f"divided by √{d_k}"),
        (left + 98, "mask", "may attend?"),
        (left + 196, "weights", "rows sum to 1"),
    ]:
        drawn += text(x + 3.5 * n_k, middles[2] - 22, words, "soft")
        drawn += matrix(x, middles[2], n_q, n_k, name)
    drawn += matrix(left, middles[3], n_q, n_k, "weights")
    drawn += text(left + 70, middles[3] + 5, "@")
    drawn += matrix(left + 104, middles[3], n_k, d_v, "V", "v")
    drawn += text(left + 156, middles[3] + 5, "=")
    drawn += matrix(left + 207, middles[3], n_q, d_v, "output", "v")
    return drawn, 340


def heads_apart(y: float, heads: np.ndarray, traced: int) -> str:
    """(n_heads, n, d_k) as grids side by side, in the colors of the columns' heads."""
    drawn = ""
    n_heads, n, d_k = heads.shape
    for h, row, column in itertools.product(range(n_heads), range(n), range(d_k)):
        number = int(heads[h, row, column])
        kind = f"head{number % 10 // d_k}" + (" traced" if number == traced else "")
        x = 80 + 104 * h + 34 * column
        drawn += cells(x, y + 26 * row, [number], kind, width=34, height=26)
    return drawn


def split_merge() -> tuple[str, int]:
    """Chapter 3: columns become heads and come back; the number 14 on its way."""
    small = cell_values("03-multi-head", "small = np")["small"]
    heads = split_heads(small, 3)
    wrong = small.reshape(heads.shape)
    drawn = ""
    for label, y, tokens in [
        ("two tokens, six features", 16, small),
        ("merged again", 258, merge_heads(heads)),
    ]:
        drawn += text(4, y, label, "start bold")
        for row, numbers in enumerate(tokens[0].tolist()):
            drawn += text(66, y + 26 * row + 26, f"token {row}", "end soft")
            for column, number in enumerate(numbers):
                kind = f"head{column // 2}" + (" traced" if number == 14 else "")
                x, top = 90 + 42 * column, y + 8 + 26 * row
                drawn += cells(x, top, [number], kind, width=42, height=26)
    drawn += text(4, 154, "split", "start bold")
    drawn += text(4, 172, "reshape,", "soft start")
    drawn += text(4, 188, "swapaxes", "soft start")
    for h in range(3):
        drawn += text(114 + 104 * h, 132, f"head {h}", f"head{h}")
        drawn += arrow(132 + 84 * h, 78, 114 + 104 * h, 118, f"head{h}")
        drawn += arrow(114 + 104 * h, 196, 132 + 84 * h, 262, f"head{h}")
    drawn += heads_apart(140, heads[0], 14)
    drawn += text(4, 350, "reshape alone: the same shape, other numbers", "start bold")
    for h in range(3):
        drawn += text(114 + 104 * h, 370, f"head {h}")
    drawn += heads_apart(378, wrong[0], 14)
    return drawn, 436


def encoder_layer() -> tuple[str, int]:
    """Chapter 6: the lanes of the tokens cross in attention and nowhere else."""
    lanes = [26 + 42 * i for i in range(len(TOKENS))]
    drawn = ""
    for x, token in zip(lanes, TOKENS, strict=True):
        drawn += text(x, 424, token)
        drawn += path(f"M{x} 408 V366 M{x} 292 V268 M{x} 250 V226 M{x} 178 V154")
        drawn += arrow(x, 136, x, 104)
        drawn += path(f"M{x} 386 h14 V259 h-6 M{x} 236 h14 V145 h-6", "soft")
        for y in (259, 145):
            drawn += box(x - 8, y - 9, 16, 18, "norm")
            drawn += text(x, y + 5, "+")
        drawn += path(
            f"M{x - 6} 226 L{x - 12} 202 L{x - 6} 178 H{x + 6} L{x + 12} 202 "
            f"L{x + 6} 226 Z",
            "ffn",
        )
    for target, source in itertools.product(lanes, lanes):
        kind = "q" if target == lanes[2] else "soft thin"
        drawn += line(source, 362, target, 296, kind)
    for x in lanes:
        drawn += tag("circle", cx=x - 4, cy=364, r=3.5, class_="k")
        drawn += tag("circle", cx=x + 4, cy=364, r=3.5, class_="v")
        drawn += tag("circle", cx=x, cy=294, r=4, class_="q")
    for y, words, note in [
        (96, "output", "the shape of x"),
        (150, "add, normalize", ""),
        (200, "feed-forward", "each token alone"),
        (264, "add, normalize", ""),
        (326, "attention", "lanes cross here"),
        (424, "x", ""),
    ]:
        drawn += text(258, y, words, "start bold")
        drawn += text(258, y + 16, note, "soft start")
    drawn += text(258, 299, "queries", "q start")
    drawn += text(258, 369, "keys,", "k start") + text(294, 369, "values", "v start")
    return tag("g", drawn, transform="translate(0 -84)"), 352


def arcs(y: float, mask: np.ndarray, lanes: list[int], real: int) -> str:
    """Who looks at whom: back above the tokens, ahead below them, dashed.

    From the places after the ``real`` tokens, which are padding, the arcs are faint.
    """
    drawn = ""
    for i, j in np.argwhere(mask):
        start, end, span = lanes[i], lanes[j], abs(int(i - j))
        if j < i:
            drawn += path(
                f"M{start} {y - 15} C{start} {y - 15 - 13 * span} "
                f"{end} {y - 15 - 13 * span} {end} {y - 15}",
                "q" if i < real else "soft thin",
            )
        if j > i:
            drawn += path(
                f"M{start} {y + 6} C{start} {y + 6 + 13 * span} "
                f"{end} {y + 6 + 13 * span} {end} {y + 6}",
                "head0 dashed",
            )
    return drawn


def mask_arcs() -> tuple[str, int]:
    """Chapter 4: three masks as arcs from who asks to who answers."""
    n = len(TOKENS)
    lanes = [40 + 60 * i for i in range(n)]
    source, target = ["the", "cat", "sat", "down"], ["le", "chat", "s’est", "assis"]
    real = np.arange(n) < len(source)
    encoder, decoder = np.tile(real, (n, 1)), causal_mask(n)
    cross = np.tile(real, (len(target), 1))

    def title(y, words, mask):
        return text(4, y, f"{words}: {mask.sum()} of {mask.size}", "start bold")

    def places(y, kind=""):
        kinds = [kind if here else "soft" for here in real]
        words = source + ["pad"] * (n - len(source))
        return "".join(map(text, lanes, [y] * n, words, kinds))

    drawn = title(16, "encoder, two places padded", encoder)
    drawn += arcs(88, encoder, lanes, len(source)) + places(88)
    drawn += title(160, "decoder, back and itself", decoder)
    drawn += arcs(234, decoder, lanes, n)
    drawn += "".join(map(text, lanes, [234] * n, TOKENS))
    drawn += title(276, "cross-attention, output to input", cross)
    for i, j in np.argwhere(cross):
        drawn += line(70 + 80 * int(i), 306, lanes[j], 360, "q")
    for i, word in enumerate(target):
        drawn += text(70 + 80 * i, 300, word, "q")
    return drawn + places(376, "k"), 388


def cache_heads() -> tuple[str, int]:
    """Chapter 10: what is kept while writing, and how many heads share it."""
    lanes = [74 + 46 * i for i in range(len(TOKENS))]
    drawn = text(4, 16, "the sixth token: one query, six keys and values", "start bold")
    for i, (x, token) in enumerate(zip(lanes, TOKENS, strict=True)):
        new = i == len(TOKENS) - 1
        drawn += line(lanes[-1], 58, x, 82, "q" if new else "q thin")
        drawn += box(x - 17, 84, 34, 18, "k") + box(x - 17, 106, 34, 18, "v")
        drawn += text(x, 144, token, "bold" if new else "")
    drawn += box(lanes[-1] - 17, 38, 34, 18, "q")
    for y, words, kind in [(52, "query", "q"), (98, "keys", "k"), (120, "values", "v")]:
        drawn += text(44, y, words, f"{kind} end")
    drawn += box(50, 79, 5 * 46 + 2, 50, "frame")
    drawn += text(166, 162, "the cache: computed once, kept", "soft")
    for panel, (name, n_kv) in enumerate([("MHA", 4), ("GQA", 2), ("MQA", 1)]):
        y = 190 + 88 * panel
        drawn += text(4, y + 5, name, "start bold")
        for h in range(4):
            x, shared = (
                110 + 70 * h,
                110 + 70 * (4 / n_kv * (h * n_kv // 4 + 0.5) - 0.5),
            )
            drawn += box(x - 17, y - 8, 34, 16, "q") + line(
                x, y + 8, shared, y + 28, "q"
            )
            if h % (4 // n_kv) == 0:
                drawn += box(shared - 17, y + 28, 17, 16, "k")
                drawn += box(shared, y + 28, 17, 16, "v")
        # keys and values, two layers, heads of 16 numbers of 8 bytes
        kept = f"{2 * 2 * n_kv * 16 * 8} bytes a token"
        drawn += text(215, y + 62, kept, "soft")
    return drawn, 440


def smollm2() -> tuple[str, int]:
    """Chapter 11: the whole model with its sizes, from token ids to logits."""
    words, d, d_ff, layers, n_heads, n_kv, d_k = 49_152, 576, 1536, 30, 9, 3, 64
    table = words * d
    attend = 2 * d * n_heads * d_k + 2 * d * n_kv * d_k
    think = 3 * d * d_ff
    layer = attend + think + 2 * d
    total = table + layers * layer + d
    x, drawn = 92, ""

    def block(y: float, name: str, note: str, kind: str = "", height: int = 30) -> str:
        return (
            box(x - 66, y, 132, height, kind or "norm")
            + text(x, y + height / 2 + 5, name)
            + text(186, y + height / 2 + 5, note, "soft start")
        )

    drawn += text(x, 470, "token ids (n,)", "bold") + arrow(x, 454, x, 440)
    drawn += block(410, "table", f"{words:,} × {d} = {table / 1e6:.1f} million")
    drawn += arrow(x, 410, x, 358)
    drawn += box(4, 124, 372, 252, "frame")
    drawn += text(368, 144, f"{layers} layers of {layer / 1e6:.2f} million", "end bold")
    for y, join in [(368, 246), (230, 138)]:
        drawn += path(f"M{x} {y} H14 V{join} H{x - 9}", "soft")
        drawn += text(x, join + 5, "+", "bold") + tag(
            "circle", cx=x, cy=join, r=9, class_="norm"
        )
    drawn += block(328, "RMSNorm", f"{d}")
    drawn += arrow(x, 328, x, 306)
    drawn += block(268, "attention", "", "q", 38)
    drawn += text(186, 282, f"{n_heads} heads of {d_k}, {n_kv} shared", "soft start")
    drawn += text(186, 300, f"rotary; {attend / 1e6:.2f} million", "soft start")
    drawn += arrow(x, 268, x, 256) + arrow(x, 237, x, 222)
    drawn += block(192, "RMSNorm", f"{d}")
    drawn += arrow(x, 192, x, 184)
    drawn += block(154, "SwiGLU", "", "ffn")
    drawn += text(186, 166, f"{d} → {d_ff} → {d}", "soft start")
    drawn += text(186, 183, f"{think / 1e6:.2f} million", "soft start")
    drawn += arrow(x, 154, x, 148) + arrow(x, 129, x, 110)
    drawn += block(80, "RMSNorm", f"{d}") + arrow(x, 80, x, 64)
    drawn += block(34, "table again", "a product with every row")
    drawn += arrow(x, 34, x, 22) + text(x, 16, f"logits ({words:,},)", "bold")
    drawn += text(376, 470, f"{total / 1e6:.1f} million in all", "end bold")
    return drawn, 476


DRAWINGS = {
    "it": it,
    "one-query": one_query,
    "six-steps": six_steps,
    "split-merge": split_merge,
    "encoder-layer": encoder_layer,
    "mask-arcs": mask_arcs,
    "cache-heads": cache_heads,
    "smollm2": smollm2,
}


# --------------------------------------------------------------------------
# Files


def style() -> str:
    """The site's palette and its rules for drawings, for a file that stands alone."""
    css = (BOOK / "static/site.css").read_text(encoding="utf-8")
    light, dark = (
        "".join(re.findall(r"--drawn-[\w-]+: [^;]+;", block))
        for block in re.findall(r'html\[data-theme="\w+"\] \{.*?\}', css, re.S)[:2]
    )
    (rules,) = re.findall(r"/\* -+ drawings.*?\*/\n(.*?)\n\n/\* ---", css, re.S)
    return (
        f":root {{ {light} }}\n@media (prefers-color-scheme: dark) "
        f"{{ :root {{ {dark} }} }}\n{rules}\n"
        ".drawing .paper { fill: var(--drawn-paper); fill-opacity: 1; }"
    )


def svg(name: str) -> str:
    """The whole file of one drawing."""
    content, height = DRAWINGS[name]()
    width, height = WIDTH + 2 * MARGIN, height + 2 * MARGIN
    place = {"x": -MARGIN, "y": -MARGIN, "width": width, "height": height}
    paper = tag("rect", **place, rx=8, class_="paper")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" '
        f'viewBox="-{MARGIN} -{MARGIN} {width} {height}">'
    )
    return f"{head}\n<style>\n{style()}\n</style>\n{paper}{content}\n</svg>\n"


if __name__ == "__main__":
    for name in DRAWINGS:
        (IMAGES / f"{name}.svg").write_text(svg(name), encoding="utf-8")
