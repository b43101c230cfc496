"""Figures of the chapters for readers of dark pages, made while the site is built.

Chapters are executed once, and draw on white. On a dark page that is a slab of light,
so each figure gets a twin: paper, ink and lines change their lightness and keep their
hues; what a heat map's frame holds stays as it is, and so does its color bar: a bright
cell means much on either page.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

PAPER = 18  # of 255: the gray of a dark page
INK = 226  # what black becomes
DARKENED = (PAPER + np.arange(256) * ((INK - PAPER) / 255)).astype(np.uint8)
BLACK, COLORED = 50, 60  # lighter is no frame; channels that differ so are no gray
WIDE, TALL = 12, 60  # pixels, of which 200 are an inch: the smallest color bar
TICK, LINE = 11, 3  # how far a tick sticks out, how thick a frame is
FIGURE = re.compile(
    r'<img (alt="[^"]*") src="([^"]*_images/[0-9a-f]{64})\.png"'
    r' style="width: (\d+)px; height: (\d+)px;" ?/>'
)


class Frame(NamedTuple):
    """A black rectangle around a plot."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def inside(self) -> tuple[slice, slice]:
        rows = slice(self.top + LINE, self.bottom - LINE + 1)
        return rows, slice(self.left + LINE, self.right - LINE + 1)


def sides(black: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """Black lines from left to right: row, first and last column."""
    for row in np.flatnonzero(black.sum(axis=1) >= WIDE):
        steps = np.diff(np.concatenate([[0], black[row].astype(np.int8), [0]]))
        starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        for start, end in zip(starts, ends - 1, strict=True):
            if end - start >= WIDE:
                yield int(row), int(start), int(end)


def frames(black: np.ndarray) -> Iterator[Frame]:
    """The rectangles whose four sides are black."""

    def upright(top: int, bottom: int, near: int) -> int | None:
        """The column that is black all the way; ticks may reach beyond it."""
        first = max(0, near - TICK)
        part = black[max(0, top) : bottom + 1, first : near + TICK + 1]
        columns = first + np.flatnonzero(part.all(axis=0))
        return min(columns, key=lambda x: abs(x - near), default=None)

    def stands(top: int, bottom: int, line: tuple[int, int, int]) -> bool:
        return all(upright(top, bottom, x) is not None for x in line[1:])

    lines = list(sides(black))
    tops = [line for line in lines if stands(line[0], line[0] + TALL, line)]
    bottoms = [line for line in lines if stands(line[0] - TALL, line[0], line)]
    for top, *ends in tops:
        for bottom, start, end in bottoms:
            if bottom - top < TALL or start > ends[0] + TICK or end < ends[1] - TICK:
                continue
            left, right = (upright(top, bottom, x) for x in ends)
            if left is not None and right is not None:
                yield Frame(top, bottom, left, right)
                break


def extremes(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest and the smallest channel of each pixel."""
    red, green, blue = np.moveaxis(rgb, 2, 0)
    largest = np.maximum(np.maximum(red, green), blue)
    return largest, np.minimum(np.minimum(red, green), blue)


def maps(rgb: np.ndarray) -> list[Frame]:
    """The frames of heat maps and color bars, which leave no paper white.

    One of a figure's maps may have empty rows, when others have none.
    """
    lightest, darkest = extremes(rgb)
    found = list(frames(lightest < BLACK))
    full = [f for f in found if (darkest[f.inside] == 255).mean() < 0.3]
    hued = lightest - darkest > COLORED
    return [f for f in found if f in full or (full and hued[f.inside].mean() > 0.3)]


def dark_twin(picture: Image.Image) -> Image.Image:
    """The same figure for a dark page."""
    rgb = np.asarray(picture.convert("RGB"))
    # what a color's lightest and darkest channel add up to is turned round
    lightest, darkest = extremes(rgb)
    turned = rgb + (255 - lightest.astype(np.int16) - darkest)[:, :, None]
    dark = DARKENED[turned]
    for frame in maps(rgb):
        dark[frame.inside] = rgb[frame.inside]
    return Image.fromarray(dark).quantize(256, dither=Image.Dither.NONE)


def add_twins(folder: Path) -> None:
    """Put beside each figure of the pages in ``folder`` its twin; the scheme chooses.

    Both wait until a reader comes near, so that only one of them is asked for; their
    sizes keep the place.
    """
    for page in folder.rglob("*.html"):

        def pair(image: re.Match, page: Path = page) -> str:
            alt, name, width, height = image.groups()
            light, dark = (page.parent / f"{name}{end}.png" for end in ("", "-dark"))
            if not dark.exists():
                dark_twin(Image.open(light)).save(dark, optimize=True)
            place = f'loading="lazy" width="{width}" height="{height}" {alt}'
            return (
                f'<img class="only-light" {place} src="{name}.png">'
                f'<img class="only-dark" {place} src="{name}-dark.png">'
            )

        text = page.read_text(encoding="utf-8")
        if (paired := FIGURE.sub(pair, text)) != text:
            page.write_text(paired, encoding="utf-8")
