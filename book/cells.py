"""Run buttons for the cells of the chapters, and how many of them run in the page.

    python book/cells.py [--write]

prints the share of each chapter's cells that NumPy and Matplotlib can run; with
``--write`` the table in CONTRIBUTING.md is made of it.
"""

import argparse
import re
import sys
from pathlib import Path

import notebooks
import solving
from sphinx.application import Sphinx

BOOK = Path(__file__).resolve().parent
sys.path.insert(0, str(BOOK / "static"))

from chapter_runner import MODEL, TORCH, Chapter  # noqa: E402

INPUT = re.compile(
    r'<div class="cell_input docutils container">\n<div class="highlight-.*?'
    r"</pre></div>\n</div>\n</div>",
    re.DOTALL,
)
RUN = (
    '<div class="exercise-row"><button type="button" data-does="run">Run</button>'
    '<button type="button" data-does="change">Change</button></div>'
)
LACKS = {TORCH: "PyTorch", MODEL: "a model file"}
DRAWS = re.compile(r"\b(attention|plots|matplotlib)\b")
TABLE = re.compile(r"(?<=<!-- make shares -->\n)(\|.*\n)+")


def chapter(stem: str) -> Chapter:
    """The code cells of a chapter's text, or of a page with cells."""
    cells = notebooks.code_cells(notebooks.read_text(stem))
    return Chapter([cell.source for cell in cells])


def bar(found: Chapter, number: int, notebook: str) -> str:
    """What stands below a cell's code: its buttons, or what it lacks here."""
    start = f'<div class="cell-bar" id="cell-{number + 1}"'
    if lacks := found.why_not(number):
        where = f'<a href="{notebook}" download>the notebook</a>'
        return f"{start}><p>Needs {LACKS[lacks]}: run it in {where}.</p></div>"
    code = "\n".join(source for _, source in found.program(number))
    above = " ".join(map(str, found.above(number)))
    draws = " data-draws" if DRAWS.search(code) else ""
    return f'{start} data-above="{above}"{draws}>{RUN}</div>'


def add_bars(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Put a bar below the code of each cell of a chapter."""
    folder, _, stem = pagename.rpartition("/")
    if doctree is None or folder != "book" or not INPUT.search(context["body"]):
        return
    found = chapter(stem)
    notebook = context["pathto"](f"_sources/{pagename}.ipynb", resource=True)
    numbers = iter(range(len(found.sources)))

    def with_bar(code: re.Match) -> str:
        return code[0] + "\n" + bar(found, next(numbers), notebook)

    body = INPUT.sub(with_bar, context["body"])
    if next(numbers, None) is not None:
        raise ValueError(f"{pagename}: not every code cell was found")
    python = solving.addresses("../", app.config.pyodide_url)
    data = 'data-data="../_static/"'  # what chapters read from data/
    context["body"] = f'{body}<div id="chapter-python" hidden {python} {data}></div>'


def shares() -> list[tuple[str, int, int, int, int]]:
    """Of each chapter: cells, and of them those that run, lack torch, lack a model."""
    found = []
    for path in sorted(notebooks.TEXT.glob("*.md")):
        each = chapter(path.stem)
        lacks = [each.why_not(number) for number in range(len(each.sources))]
        counts = [lacks.count(reason) for reason in (None, TORCH, MODEL)]
        found.append((path.stem, len(lacks), *counts))
    return found


def table() -> str:
    """The shares as Markdown."""
    lines = ["| chapter | cells | run in the page | need PyTorch | need a model file |"]
    lines += ["|---|---|---|---|---|"]
    rows = shares()
    sums = [sum(column) for column in zip(*[row[1:] for row in rows], strict=True)]
    for stem, cells, runs, torch, model in [*rows, ("all", *sums)]:
        share = f"{runs} ({runs / cells:.0%})"
        lines.append(f"| {stem} | {cells} | {share} | {torch} | {model} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into CONTRIBUTING.md")
    found = table()
    if parser.parse_args().write:
        path = BOOK.parent / "CONTRIBUTING.md"
        text = TABLE.sub(found, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
    print(found, end="")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_bars, priority=906)


if __name__ == "__main__":
    main()
