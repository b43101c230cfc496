"""Pages in which an exercise is solved: book/solve/NAME.md shows exercises/NAME.

The page is made of the released notebook: its text, its code, and the notebook itself,
which static/exercise.js fills with the answers. Without scripts all of it can be read.
"""

import json
import shutil
from pathlib import Path

from address import wheel_name
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
VENDORED = ROOT / "_build/pyodide"  # by `make vendor`
INTRODUCTION = """
You can solve this exercise here. Python runs in this page and is loaded when you first
press a button. What you write stays in this browser; *Download my notebook* gives you
the file to hand in. You can as well work with the notebook on your computer:
[{file}](../../exercises/{name}/{file}).

<div id="exercise-tools"></div>
"""


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the text of a page in book/solve/ by its exercise."""
    folder, _, name = docname.rpartition("/")
    if folder == "book/solve":
        (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        app.env.note_dependency(str(path))
        source[0] = page_of(notebook, name, path.name, app.config.pyodide_url)


def page_of(notebook: dict, name: str, file: str, python: str) -> str:
    """The page's MyST: after each cell that can be filled or run, a bar for it."""
    introduction, *cells = notebook["cells"]
    parts = ["".join(introduction["source"]), INTRODUCTION.format(name=name, file=file)]
    for cell in cells:
        text, role = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
        solution = role.get("solution", False)
        tested = role.get("grade", False) and cell["cell_type"] == "code"
        written = solution and cell["cell_type"] == "markdown"
        if cell["cell_type"] == "code":
            parts.append(f"```{{code-block}} python\n{text}\n```")
        elif not written:
            parts.append(text)
        if solution or tested:
            kind = "exercise-bar written" if written else "exercise-bar"
            parts.append(f'<div class="{kind}" data-cell="{role["grade_id"]}"></div>')
    if VENDORED.exists():
        python = "../../_static/pyodide/"
    embedded = json.dumps(notebook, ensure_ascii=False).replace("</", "<\\/")
    wheel = f"../../{wheel_name()}"
    parts.append(
        f'<script type="application/json" id="exercise-notebook" data-file="{file}"'
        f' data-assignment="{name}" data-python="{python}" data-wheel="{wheel}">'
        f"{embedded}</script>"
    )
    return "\n\n".join(parts) + "\n"


def add_python(folder: Path) -> None:
    """Put the vendored Pyodide beside the pages."""
    if VENDORED.exists():
        shutil.copytree(VENDORED, folder / "_static/pyodide", dirs_exist_ok=True)


def setup(app: Sphinx) -> None:
    app.add_config_value("pyodide_url", "", "env", str)
    app.connect("source-read", fill)
