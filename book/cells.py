"""Run buttons for the cells of the chapters, and how many of them run in the page.

    python book/cells.py

prints the share of each chapter's cells that NumPy and Matplotlib can run, among those
that print or draw.
"""

import re
import sys
from pathlib import Path

import nbformat
import notebooks
import solving
from nbformat import NotebookNode
from sphinx.application import Sphinx

BOOK = Path(__file__).resolve().parent
sys.path.insert(0, str(BOOK / "static"))

from chapter_runner import DRAWS, MODEL, TORCH, Chapter  # noqa: E402

INPUT = re.compile(  # with the end of its fold, where an output follows
    r'<div class="cell_input docutils container">\n<div class="highlight-.*?'
    r"</pre></div>\n</div>\n</div>"
    r'(?:\n</details>(?=\n<div class="cell_output))?',
    re.DOTALL,
)
RUN = (
    '<div class="exercise-row"><button type="button" data-does="run">Run</button>'
    '<button type="button" data-does="change">Change</button></div>'
)
WIDE = 66  # columns: buttons have no room beside such an output
LACKS = {TORCH: "PyTorch", MODEL: "a model file"}
HEAD = re.compile(r"<p>About \d+ minutes\..*?(?=</p>)", re.DOTALL)


def chapter(stem: str) -> Chapter:
    """The code cells of a chapter's text, or of a page with cells."""
    cells = notebooks.code_cells(notebooks.read_text(stem))
    return Chapter([cell.source for cell in cells])


def shows(stem: str) -> list[int]:
    """How wide each cell's output is, in columns; 0 if it shows nothing.

    A page whose cells have not run is taken to show something wide.
    """
    path = notebooks.BOOK / f"{stem}.ipynb"
    if not path.exists():
        return [WIDE] * len(chapter(stem).sources)
    published = nbformat.read(path, as_version=4)
    return [
        max((width(output) for output in cell.outputs), default=0)
        for cell in notebooks.code_cells(published)
    ]


def width(output: NotebookNode) -> int:
    """The columns of an output's longest line; a figure is wide."""
    data = output.get("data", {})
    text = output.get("text") or data.get("text/plain", "")
    if "image/png" in data:
        return WIDE
    return max(map(len, text.splitlines()), default=1)


def lacking(stem: str) -> list[str | None]:
    """Of the cells that print or draw: what each lacks in the page, or None."""
    found = chapter(stem)
    return [found.why_not(n) for n, shown in enumerate(shows(stem)) if shown]


def bar(found: Chapter, number: int, shown: int) -> str:
    """What stands below a cell's code: its buttons, or what it lacks here.

    A cell that cannot run, and would show nothing if it could, has no word about it.
    """
    narrow = " narrow" if 0 < shown < WIDE else ""
    start = f'<div class="cell-bar{narrow}" id="cell-{number + 1}"'
    if lacks := found.why_not(number):
        return f"{start}>{f'<p>Needs {LACKS[lacks]}</p>' if shown else ''}</div>"
    code = "\n".join(source for _, source in found.program(number))
    above = " ".join(map(str, found.above(number)))
    draws = " data-draws" if DRAWS.search(code) else ""
    return f'{start} data-above="{above}"{draws}>{RUN}</div>'


def share(lacks: list[str | None], notebook: str) -> str:
    """What the head of a chapter says: how many of its cells run in the page."""
    runs = lacks.count(None)
    needs = " or ".join(LACKS[reason] for reason in sorted({*lacks} - {None}))
    where = f'in <a href="{notebook}" download>the notebook</a>'
    if not runs:
        return f"Its cells need {needs}: run them {where}."
    count = f"{runs} of its {len(lacks)}" if needs else f"All {runs}"
    python = "the first Run loads Python, 10 to 20 MB"
    said = f"{count} cells that print or draw run in this page ({python})"
    return f"{said}; the rest needs {needs}: run it {where}." if needs else f"{said}."


def add_bars(app: Sphinx, pagename, templatename, context, doctree) -> None:
    """Put a bar below the code of each cell of a page, and how many run at its head."""
    folder, _, stem = pagename.rpartition("/")
    if doctree is None or folder != "book" or not INPUT.search(context["body"]):
        return
    found, shown = chapter(stem), shows(stem)
    notebook = context["pathto"](f"_sources/{pagename}.ipynb", resource=True)
    numbers = iter(range(len(found.sources)))

    def with_bar(code: re.Match) -> str:
        number = next(numbers)
        return f"{code[0]}\n{bar(found, number, shown[number])}"

    def with_share(head: re.Match) -> str:
        return f"{head[0]} {share(lacking(stem), notebook)}"

    body = HEAD.sub(with_share, INPUT.sub(with_bar, context["body"]), count=1)
    if next(numbers, None) is not None:
        raise ValueError(f"{pagename}: not every code cell was found")
    python = solving.addresses("../", app.config.pyodide_url)
    data = 'data-data="../_static/"'  # what chapters read from data/
    context["body"] = f'{body}<div id="chapter-python" hidden {python} {data}></div>'


def table() -> str:
    """The shares as Markdown."""
    stems = sorted(path.stem for path in notebooks.TEXT.glob("*.md"))
    rows = {stem: lacking(stem) for stem in stems}
    rows["1 to 6"] = [each for stem in stems if stem[:2] <= "06" for each in rows[stem]]
    rows["all"] = [each for stem in stems for each in rows[stem]]
    head = [
        "chapter",
        "print or draw",
        "run in the page",
        "need PyTorch",
        "need a model",
    ]
    lines = [head, ["---"] * len(head)]
    for name, lacks in rows.items():
        runs, *others = (str(lacks.count(reason)) for reason in (None, TORCH, MODEL))
        part = f"{runs} ({int(runs) / len(lacks):.0%})"
        lines.append([name, str(len(lacks)), part, *others])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_bars, priority=906)


if __name__ == "__main__":
    print(table(), end="")
