"""Cells that a page can run, held against what their notebooks show.

    python tests/cells_in_page.py NN-topic …

runs the cells of chapters as the page does, in a process in which PyTorch cannot be
imported. It prints a line of JSON for each: chapter, number, and what came of it.
"""

import ast
import base64
import io
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
    """A figure, small enough that shifts by a pixel or two do not count."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    return np.asarray(image.resize((64, 40), Image.Resampling.BOX)).astype(int)


def compare(stem, number, came, off=0.5):
    """Hold what came of a cell against what its notebook shows.

    off: the mean difference of figures that counts as none, of 255.
    """
    published = nbformat.read(notebooks.BOOK / f"{stem}.ipynb", as_version=4)
    cell = notebooks.code_cells(published)[number]
    where = f"{stem}, cell {number + 1}"
    assert not [o for o in came["outputs"] if "error" in o], (where, came)
    texts = [o["text"].strip() for o in came["outputs"] if "text" in o]
    text, figures = recorded(cell)
    if "nbval-ignore-output" not in cell.metadata.get("tags", []):
        assert agree(text, "\n".join(texts)), (where, text, texts)
    mine = [o["figure"] for o in came["outputs"] if "figure" in o]
    assert len(mine) == len(figures), where
    for one, other in zip(map(picture, figures), map(picture, mine), strict=True):
        assert np.abs(one - other).mean() < off, (where, np.abs(one - other).mean())


def main():
    os.chdir(notebooks.BOOK)
    for stem in sys.argv[1:]:
        chapter = cells.chapter(stem)
        sources = chapter.sources
        for number in range(len(sources)):
            if chapter.why_not(number) is None:
                job = {"sources": sources, "number": number, "home": ""}
                came = json.loads(chapter_runner.run(json.dumps(job)))
                print(json.dumps([stem, number, came]), flush=True)
    assert isinstance(sys.modules.get("torch"), chapter_runner.Absent | type(None))


if __name__ == "__main__":
    main()
