"""Cells that a page can run, held against what their notebooks show.

    python tests/cells_in_page.py NN-topic [FIRST STEP]

runs the cells of a chapter as the page does, in a process in which PyTorch cannot be
imported; with two numbers, every so many of them from the first on. It prints a line
of JSON for each: chapter, number, and what came of it.
"""

import ast
import base64
import io
import itertools
import json
import os
import sys

import cells
import chapter_runner
import nbformat
import notebooks
import numpy as np
from PIL import Image


def recorded(cell):
    """Text and figures of a published cell."""
    data = [output.get("data", {}) for output in cell.outputs]
    figures = [each["image/png"] for each in data if "image/png" in each]
    texts = [
        output.get("text") or data.get("text/plain", "")
        for output, data in zip(cell.outputs, data, strict=True)
        if "image/png" not in data
    ]
    return "\n".join(text.strip() for text in texts), figures


def words(text):
    """Numbers as numbers, all else as it is."""
    found = []
    for word in text.replace("[", " [ ").replace("]", " ] ").split():
        try:
            found.append(float(ast.literal_eval(word.strip(",;:()%"))))
        except (ValueError, SyntaxError, TypeError):
            found.append(word)
    return found


def agree(text, other):
    """Whether two texts are the same up to the last digit of their numbers."""
    pairs = list(zip(words(text), words(other), strict=False))
    near = (
        a == b
        or (isinstance(a, float) and isinstance(b, float) and np.isclose(a, b, 2e-3))
        for a, b in pairs
    )
    return len(words(text)) == len(words(other)) and all(near)


def picture(png):
    """A figure, 64 spots wide and 40 high: shifts by a pixel or two do not count."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    return np.asarray(image.resize((64, 40), Image.Resampling.BOX)).astype(int)


def apart(one, other, reach):
    """How far two pictures are apart, of 255: the mean over the spots of one.

    Each spot counts with what is most like it in the other, up to ``reach`` spots away.
    """

    def missed(picture, other):
        height, width, _ = picture.shape
        wide = np.pad(other, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
        places = itertools.product(range(2 * reach + 1), repeat=2)
        moved = (wide[y : y + height, x : x + width] for y, x in places)
        return np.min([np.abs(picture - each).mean(-1) for each in moved], 0).mean()

    return max(missed(one, other), missed(other, one))


def compare(stem, number, came, off=0.5, reach=0, elsewhere=None):
    """Hold what came of a cell against what its notebook shows.

    off: how far figures may be apart, in spots up to ``reach`` away. elsewhere: texts
    that are another one outside the notebook, with that one, by chapter and cell.
    """
    published = nbformat.read(notebooks.BOOK / f"{stem}.ipynb", as_version=4)
    cell = notebooks.code_cells(published)[number]
    where = f"{stem}, cell {number + 1}"
    assert not [o for o in came["outputs"] if "error" in o], (where, came)
    texts = [o["text"].strip() for o in came["outputs"] if "text" in o]
    text, figures = recorded(cell)
    if due := (elsewhere or {}).get((stem, number + 1)):
        assert due[0] in text
        text = text.replace(*due)
    if "nbval-ignore-output" not in cell.metadata.get("tags", []):
        assert agree(text, "\n".join(texts)), (where, text, texts)
    mine = [o["figure"] for o in came["outputs"] if "figure" in o]
    assert len(mine) == len(figures), where
    for one, other in zip(map(picture, figures), map(picture, mine), strict=True):
        assert apart(one, other, reach) < off, (where, apart(one, other, reach))


def main():
    os.chdir(notebooks.BOOK)
    stem, first, step = [*sys.argv[1:], "0", "1"][:3]
    chapter = cells.chapter(stem)
    sources = chapter.sources
    runs = [n for n in range(len(sources)) if chapter.why_not(n) is None]
    for number in runs[int(first) :: int(step)]:
        job = {"sources": sources, "number": number, "home": ""}
        came = json.loads(chapter_runner.run(json.dumps(job)))
        print(json.dumps([stem, number, came]), flush=True)
    assert isinstance(sys.modules.get("torch"), chapter_runner.Absent | type(None))


if __name__ == "__main__":
    main()
