"""The first page's picture as it stands before its script runs, made with the site.

Lines lead from each token of a prompt to the last token's way through thirty layers;
beside them stand the likeliest next words. The numbers are those of cutting.py. It is
drawn twice, for a wide screen and for a phone, where the tokens stand in a column.
static/cut-a-line.js draws the same again, and a test compares the two.
"""

import base64
import json
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

FILE = Path(__file__).resolve().parent / "static/cut-a-line.json"
LAYERS, HEADS = 30, 9
# along: where the axis of the layers begins, and its length; across: where lines begin
# and end. A wide picture has the tokens above and the axis below, a tall one the tokens
# at its left and the axis at its right.
SHAPES = {
    "wide": {"size": (720, 244), "along": (8, 496), "across": (30, 210)},
    "tall": {"size": (345, 346), "along": (5, 240), "across": (84, 316)},
}
LETTER, GAP = 10.7, 6.5  # in the wide picture: a usual letter's width, a space's
WIDTHS = {"ijl'": 0.46, "frt.,": 0.62, "mwM": 1.6, "ACDFGIPRST": 1.12}  # of a usual one


def width(word: str) -> float:
    """About how wide a word is in the wide picture, in units of its size."""
    sizes = {letter: size for each, size in WIDTHS.items() for letter in each}
    return LETTER * sum(sizes.get(letter, 1.0) for letter in word)


def middles(tokens: list[str], shape: str) -> list[float]:
    """Where each token's middle is along the picture, and the answer's beginning."""
    if shape == "tall":
        begin, length = SHAPES[shape]["along"]
        step = length / (len(tokens) + 1)
        return [begin + step * (i + 0.5) for i in range(len(tokens) + 1)]
    places, x = [], 2.0
    for token in tokens:
        x += GAP if token.startswith(" ") else 0
        places.append(x + width(token.strip()) / 2)
        x += width(token.strip())
    return [*places, x + GAP]


def place(x: float, y: float, shape: str) -> str:
    return f"{x:.1f} {y:.1f}" if shape == "wide" else f"{y:.1f} {x:.1f}"


def curve(begin: float, layer: float, head: float, shape: str) -> str:
    """The path of a line from a token to the head's place on the axis."""
    start, length = SHAPES[shape]["along"]
    end = start + length * (layer * HEADS + head + 0.5) / (LAYERS * HEADS)
    top, bottom = SHAPES[shape]["across"]
    third = (bottom - top) / 3
    steps = [(begin, top), (begin, top + third), (end, bottom - third), (end, bottom)]
    first, *others = (place(x, y, shape) for x, y in steps)
    return f"M{first}C{' '.join(others)}"


def three_quarters(begin: float, layer: int, head: int, shape: str) -> list[float]:
    """Where a line is after three quarters of its way: along, and across."""
    start, length = SHAPES[shape]["along"]
    end = start + length * (layer * HEADS + head + 0.5) / (LAYERS * HEADS)
    top, bottom = SHAPES[shape]["across"]
    return [begin + (end - begin) * 27 / 32, top + (bottom - top) * 3 / 4]


def weight(data: dict, line: list[int]) -> float:
    layer, head, key = line
    steps = base64.b64decode(data["weights"])
    return steps[(layer * HEADS + head) * len(data["tokens"]) + key] / 100


def after(data: dict, line: list[int]) -> list[int]:
    """The shown words' probabilities without a line, in hundredths."""
    layer, head, key = line
    at = (layer * HEADS + head) * len(data["tokens"]) + key
    count = len(data["words"])
    return list(base64.b64decode(data["after"])[at * count : (at + 1) * count])


def text(x: float | str, y: float | str, words: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


def bars(words: list[str], shares: list[int], before: list[int], shape: str) -> str:
    """The next words, each with its bar, and that of before as a ghost."""
    drawn = ""
    for i, (word, share, old) in enumerate(zip(words, shares, before, strict=True)):
        left, right, y = (
            (540, 720, 66 + 42 * i) if shape == "wide" else (5, 340, 274 + 23 * i)
        )
        x, top, long = (left, y + 7, 180) if shape == "wide" else (84, y - 11, 214)
        kind = " first" if share == max(shares) else ""
        drawn += f'<g class="cut-bar{kind}">{text(left, y, word)}'
        drawn += text(right, y, f"{share / 100:.2f}", "end")
        for name, part in ("was", old), ("now", share):
            drawn += (
                f'<rect class="{name}" x="{x}" y="{top}" width="{long}" height="13" '
                f'style="--share: {part / 100:.2f}"/>'
            )
        drawn += "</g>"
    return drawn


def around(data: dict, places: list[float], shape: str) -> str:
    """What stands at the axis, and at the line that decides."""
    said = f"“{data['tokens'][-1].strip()}” on its way through 30 layers"
    layer, head, key, _ = data["deciding"][0]
    x, y = three_quarters(places[key], layer, head, shape)
    if shape == "wide":
        axis = text(8, 227, "layer 0") + text(504, 227, "29", "end")
        axis += text(256, 227, said, "middle") + text(540, 42, "next word")
        return axis + text(f"{x + 9:.1f}", f"{y:.1f}", "this one", "this")
    turned = 'transform="translate(329 125) rotate(90)"'
    axis = f"<g {turned}>{text(0, 0, said, 'middle')}</g>"
    return axis + text(f"{y - 20:.1f}", f"{x - 8:.1f}", "this one", "this")


def one(data: dict, line: list[int]) -> str:
    """The mark of the line that decides."""
    return ' class="one"' if line == data["deciding"][0][:3] else ""


def picture(data: dict, shape: str, hair: bool = True) -> str:
    """The whole picture with no line cut; the script can draw the hair."""
    tokens, (long, high) = data["tokens"], SHAPES[shape]["size"]
    places = middles(tokens, shape)
    _, bottom = SHAPES[shape]["across"]
    start, length = SHAPES[shape]["along"]
    hairs = "".join(
        curve(begin, layer, (HEADS - 1) / 2, shape)
        for begin in places[:-1]
        for layer in range(LAYERS)
        if hair
    )
    lines = "".join(
        f'<g data-line="{".".join(map(str, line))}"{one(data, line)} '
        f'style="--weight: {weight(data, line):.2f}">'
        f'<path class="near" d="{steps}"/><path pathLength="100" d="{steps}"/></g>'
        for line in data["drawn"]
        for steps in [curve(places[line[2]], line[0], line[1], shape)]
    )
    said = [*(token.strip() for token in tokens), data["words"][0]]
    words = "".join(
        text(f"{at:.1f}", 20, word)
        if shape == "wide"
        else text(78, f"{at + 5:.1f}", word)
        for at, word in zip(places, said, strict=True)
    )
    label = (
        f"“{''.join(tokens)}”, and the next word of a published language model: "
        f"“{said[-1]}”, with probability {data['before'][0] / 100:.2f}. Lines lead "
        f"from each word to the last one, “{said[-2]}”, in its thirty layers."
    )
    axis = f"M{place(start, bottom, shape)}L{place(start + length, bottom, shape)}"
    return (
        f'<svg class="cut-{shape}" viewBox="0 0 {long} {high}" role="img" '
        f'aria-label="{escape(label)}"><path class="cut-hair" d="{hairs}"/>'
        f'<g class="cut-lines">{lines}</g><path class="cut-axis" d="{axis}"/>'
        f'<g class="cut-around">{around(data, places, shape)}</g>'
        f'<g class="cut-words">{words}</g>'
        f"{bars(data['words'], data['before'], data['before'], shape)}</svg>"
    )


def without_scripts(data: dict) -> str:
    """The bars after the cut that changes the answer, with a caption."""
    layer, head, key, _ = data["deciding"][0]
    shares = after(data, [layer, head, key])
    token, word = data["tokens"][key].strip(), data["words"][shares.index(max(shares))]
    caption = (
        f"The next word without one line, from “{token}” in head {head} of layer "
        f"{layer}: it becomes “{word}”. With scripts turned on, you can cut any line."
    )
    drawn = bars(data["words"], shares, data["before"], "tall")
    return (
        f'<noscript><figure class="cut-after"><svg viewBox="0 255 345 95" role="img" '
        f'aria-label="{escape(caption)}">{drawn}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure></noscript>"
    )


ELEMENT = """<p class="cut-lead">A language model completes this sentence. Cut one of
its <b>{count} lines</b>.</p>
<div class="cut-picture">{shown}</div>
<div class="cut-press"><button type="button">Cut the <span>thickest<i> line</i></span>
</button><button type="button">Cut this one</button>
<button type="button">Undo</button></div>
<p class="cut-said" role="status">A line is attention: what “{last}” takes from one
word in one head (18.8 is head 8 of layer 18, of 9 in each of 30). The thickest are
drawn. Which line holds the answer?</p>
<div class="cut-foot"><div role="group" aria-label="Sentence">{pills}</div>
<output>0 of {count} tried</output></div>
{still}{templates}"""


def element() -> str:
    """What stands in <cut-a-line>: one picture, and templates of the others."""
    prompts = json.loads(FILE.read_text(encoding="utf-8"))
    (_, first), *others = prompts.items()
    shown = "".join(picture(first, shape) for shape in SHAPES)
    templates = "".join(
        f'<template data-prompt="{name}">'
        f"{''.join(picture(data, shape, hair=False) for shape in SHAPES)}</template>"
        for name, data in others
    )
    pills = "".join(
        f'<button type="button" aria-pressed="{str(data is first).lower()}" '
        f'data-name="{name}">{name}</button>'
        for name, data in prompts.items()
    )
    count = f"{LAYERS * HEADS * len(first['tokens']):,}"
    return ELEMENT.format(
        shown=shown,
        still=without_scripts(first),
        last=first["tokens"][-1].strip(),
        **{"count": count, "pills": pills, "templates": templates},
    )


def show(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Put the picture into the page that asks for it."""
    tag = "<cut-a-line>"
    if tag in context.get("body", ""):
        context["body"] = context["body"].replace(tag, tag + element())


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", show, priority=905)
