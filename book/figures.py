"""Figures of the chapters for readers of dark pages, made while the site is built.

Chapters are executed once, and draw on white. On a dark page that is a slab of light,
so each figure gets a twin, whose colors change their lightness and keep their hues: a
heat map from white to purple becomes one from black to purple.
"""

import re
from pathlib import Path

import numpy as np
from PIL import Image

PAPER = 18  # of 255: the gray of a dark page
INK = 226  # what black becomes
DARKENED = (PAPER + np.arange(256) * ((INK - PAPER) / 255)).astype(np.uint8)
FIGURE = re.compile(
    r'<img (alt="[^"]*") src="([^"]*_images/[0-9a-f]{64})\.png"'
    r' style="width: (\d+)px; height: (\d+)px;" ?/>'
)


def dark_twin(picture: Image.Image) -> Image.Image:
    """The same figure for a dark page: black and white trade places, hues stay."""
    rgb = np.asarray(picture.convert("RGB")).astype(np.int16)
    # what a color's lightest and darkest channel add up to is turned round
    turned = rgb + 255 - rgb.max(axis=2, keepdims=True) - rgb.min(axis=2, keepdims=True)
    return Image.fromarray(DARKENED[turned]).quantize(256, dither=Image.Dither.NONE)


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
