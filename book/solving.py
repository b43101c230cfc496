"""Pages in which an exercise is solved: book/solve/NAME.md shows exercises/NAME.

The puzzles, exercises/00-puzzles, are solved in book/puzzles.md, one to a screen.

The page is made of the released notebook: its text, its code, and the notebook itself,
which static/exercise.js fills with the answers. Without scripts all of it can be read.
"""

import gzip
import hashlib
import json
import re
import shutil
from pathlib import Path

from address import wheel_names
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
VENDORED = ROOT / "_build/pyodide"  # by `make vendor`
CACHE = "service-worker.js"  # at the root of the site: it serves all pages
TOOLS = """
<div id="exercise-tools"></div>

<details class="exercise-about">
<summary>How this page works, and what is given</summary>

Python runs in this page. What you write stays in this browser; *Download my notebook*
gives you the file to hand in. Shift+Enter or Ctrl+Enter checks, Ctrl+/ makes lines
comments, Ctrl+F finds; Tab indents, and Escape, then Tab leaves an editor. {checks}
You can as well work with the notebook on your computer:
[{file}]({home}exercises/{name}/{file}).
"""
# what is fetched before the first run, beside modules; the checks are small
PACKS_WELL = {".wasm", ".mjs", ".json"}
FETCHED = ("pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib", "numpy-")
PUZZLES = "00-puzzles"
PROOF = "where-was-i.html#to-show-and-to-keep"
SOME = """The checks that you see here are only some of the checks; the hidden ones
run when your work is graded."""
ALL = "All checks are visible, and draw new inputs each time."
FIRST = "**A few minutes each, in any order. Start with 1.**"
PUZZLE = "\n\n*Write it*\n"  # on a card
ASKS = re.compile(r"`(\w+)` of these puzzles")  # on a card that speaks of another
SQUARES = re.compile(r"```text\n([^`]*[■□][^`]*)\n```")
WORDS = {"■": "True", "□": "False"}
MINUTES = re.compile(r"(\d+) minutes\)")
TOPICS = {  # by their first puzzle
    "softmax_row": "Attention",
    "causal_mask": "Masks",
    "split_heads": "Heads",
    "sinusoid": "Positions",
    "layer_norm": "Layers",
    "next_token_loss": "Generating",
    "break_softmax": "Break it",
    "spot_softmax": "Spot it",
}
DAILY = (  # the script finds it
    '<span class="puzzle-daily" id="today">One a day: '
    '<a href="#today">today’s wrong function</a>.</span>'
)
NOTEBOOK_ONLY = "How to work:"  # of an introduction: how one works outside this page


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the text of a page in book/solve/ by its exercise."""
    folder, _, name = docname.rpartition("/")
    if docname == "book/puzzles":
        folder, name = "book/solve", PUZZLES
    if folder == "book/solve":
        (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        app.env.note_dependency(str(path))
        source[0] = page_of(notebook, name, path.name, app.config.pyodide_url)


def page_of(notebook: dict, name: str, file: str, python: str) -> str:
    """The page's MyST: the first question comes early, what is given in a fold."""
    introduction, *cells = notebook["cells"]
    title, *rest = "".join(introduction["source"]).split("\n\n")
    rest = [text for text in rest if not text.startswith(NOTEBOOK_ONLY)]
    home = "../" if name == PUZZLES else "../../"
    tools = TOOLS.format(
        name=name, file=file, home=home, checks=ALL if name == PUZZLES else SOME
    )
    if name == PUZZLES:
        rest[0] = FIRST
    parts = [title, *rest[:2], tools, *rest[2:]]
    ids = [role_of(cell).get("grade_id") for cell in cells]
    folded = True
    for cell in cells:
        if name == PUZZLES and role_of(cell).get("grade"):
            continue  # all of them run the same two lines
        if folded and cell["cell_type"] == "markdown":
            parts.append("</details>")
            parts += [topics(cells), board(ids)] if name == PUZZLES else []
            folded = False
        parts += shown(cell, ids)
    parts += ["</details>"] if folded else []
    embedded = json.dumps(notebook, ensure_ascii=False).replace("</", "<\\/")
    parts.append(
        f'<script type="application/json" id="exercise-notebook" data-file="{file}"'
        f' data-assignment="{name}" {addresses(home, python)}'
        f' data-book="{home[3:]}">'
        f"{embedded}</script>"
    )
    return "\n\n".join(parts) + "\n"


def addresses(home: str, python: str) -> str:
    """Where a page finds Python, as attributes; ``home`` is the way to the site's root.

    ``python`` is another host, for sites without a Python of their own.
    """
    loaded = 0
    if VENDORED.exists():
        python = f"{home}_static/pyodide/"
        loaded = sum(
            path.stat().st_size
            for path in VENDORED.iterdir()
            if path.name.startswith(FETCHED)
        )
    wheels = " ".join(home + name for name in wheel_names())
    return (
        f'data-home="{python}" data-wheels="{wheels}"'
        f' data-cache="{home}{CACHE}" data-bytes="{loaded}"'
    )


def topics(cells: list[dict]) -> str:
    """A link to the first puzzle of each topic, with how many they are and how long."""
    minutes: dict[str, list[int]] = {}
    for cell in cells:
        name = role_of(cell).get("grade_id", "").removeprefix("card_")
        if name in TOPICS and cell["cell_type"] == "markdown":
            first = name
        if found := MINUTES.search("".join(cell["source"]).partition("\n")[0]):
            minutes.setdefault(first, []).append(int(found[1]))
    links = (
        f'<a href="#{name}">{TOPICS[name]}</a> ({len(each)}, {sum(each)} minutes)'
        for name, each in minutes.items()
    )
    note = "<em>Break it</em> and <em>Spot it</em> need a line each: good on a phone."
    note += f' What you solve can be <a href="{PROOF}">shown and kept</a>.'
    return f'<p class="puzzle-topics">Topics: {", ".join(links)}. {note} {DAILY}</p>'


def spoken(text: str) -> str:
    """A card with links to other cards, and words for the squares of a mask."""
    text = ASKS.sub(r'<a href="#\1"><code>\1</code></a> of these puzzles', text)
    for square in SQUARES.finditer(text):
        drawn = square[1]
        for sign, word in WORDS.items():
            label = f'<span role="img" aria-label="{word}">{sign}</span>'
            drawn = drawn.replace(sign, label)
        block = f'<div class="highlight"><pre>{drawn}</pre></div>'
        text = text.replace(square[0], block)
    return text


def board(ids: list[str]) -> str:
    """A link to each puzzle, by its name."""
    names = [name for name in ids if f"test_{name}" in ids]
    items = "".join(
        f'<li class="{"first" * (name in TOPICS)}">'
        f'<a href="#{name}" aria-label="{number}, {name}">{number}</a></li>'
        for number, name in enumerate(names, 1)
    )
    count = '<p class="puzzle-count"></p>'
    start = '<nav class="puzzle-board" aria-label="All puzzles">'
    return f"{start}<ol>{items}</ol>{count}</nav>"


def role_of(cell: dict) -> dict:
    """What nbgrader says of a cell."""
    return cell["metadata"].get("nbgrader", {})


def shown(cell: dict, ids: list[str]) -> list[str]:
    """A cell as MyST; after one that can be filled or run, a bar for it."""
    text, role = "".join(cell["source"]), role_of(cell)
    name, solution = role.get("grade_id", ""), role.get("solution", False)
    if cell["cell_type"] == "markdown":
        about = name.removeprefix("card_")
        if f"shown_{about}" in ids or PUZZLE in text:  # an address of its own
            heading, _, rest = text.partition("\n\n")
            text = f'{heading}\n\n<div id="{about}"></div>\n\n{spoken(rest)}'
        written = f'<div class="exercise-bar written" data-cell="{name}"></div>'
        return [written if solution else text]
    code = f"```{{code-block}} python\n{text}\n```"
    check = f"test_{name}"
    if solution:
        joined = f' data-check="{check}"' if check in ids else ""
        return [code, f'<div class="exercise-bar" data-cell="{name}"{joined}></div>']
    if not role.get("grade", False):
        return [code]
    if name.removeprefix("test_") in ids:  # it runs with the answer above it
        summary = "<summary>What the check runs</summary>"
        return [f'<details class="exercise-test">{summary}', code, "</details>"]
    return [code, f'<div class="exercise-bar" data-cell="{name}"></div>']


def add_python(folder: Path) -> None:
    """Put the vendored Pyodide beside the pages, and what keeps it in browsers.

    Compressed files lie beside what packs well: servers that know of them send a third.
    """
    version = "elsewhere"
    if VENDORED.exists():
        shutil.copytree(VENDORED, folder / "_static/pyodide", dirs_exist_ok=True)
        lock = (VENDORED / "pyodide-lock.json").read_bytes()
        version = hashlib.sha256(lock).hexdigest()[:10]
        for path in (folder / "_static/pyodide").iterdir():
            if path.suffix in PACKS_WELL:
                packed = gzip.compress(path.read_bytes(), mtime=0)
                path.with_name(f"{path.name}.gz").write_bytes(packed)
    worker = (ROOT / "book/static" / CACHE).read_text(encoding="utf-8")
    (folder / CACHE).write_text(worker.replace("VERSION", version), encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.add_config_value("pyodide_url", "", "env", str)
    app.connect("source-read", fill)
