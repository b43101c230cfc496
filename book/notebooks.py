"""Execute the chapters: book/text/NN-topic.md becomes book/NN-topic.ipynb.

    python book/notebooks.py [--force] [NN-topic …]

The text is what people edit; the notebook, with its outputs, is what readers get. A
notebook is executed again when its code, attention.py, matplotlibrc, alice.py or a
function of plots.py that it calls changed. Executing twice gives the same bytes: where
the code is the same, times and what else depends on the machine (cells with the tag
nbval-ignore-output) stay as they were recorded. Where only prose changed, or the site's
address in _config.yml, it is taken over, and the outputs stay.
"""

import argparse
import ast
import base64
import hashlib
import io
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import address
import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

BOOK = Path(__file__).resolve().parent
TEXT = BOOK / "text"
SETUP = "setup"  # the id of the cell that installs the course's package


def read_text(stem: str) -> nbformat.NotebookNode:
    """The notebook that a text describes, without outputs: a chapter or a page."""
    path = TEXT / f"{stem}.md"
    notebook = jupytext.read(path if path.exists() else BOOK / path.name)
    notebook.metadata.pop("jupytext", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # the same on every machine
    place_setup(notebook)
    return notebook


def place_setup(notebook: nbformat.NotebookNode, site: str | None = None) -> bool:
    """Put first, and hide on the page, the cell that lets a chapter run alone.

    Without a ``site`` address (None: the one in _config.yml) there is no such cell.
    Returns whether the notebook changed.
    """
    site = address.site_address() if site is None else site
    before = list(notebook.cells)
    notebook.cells = [cell for cell in before if cell.get("id") != SETUP]
    if site:
        imports = "\n".join(cell.source for cell in notebook.cells)
        source = address.setup_source(site, imports)
        cell = nbformat.v4.new_code_cell(source, id=SETUP)
        cell.metadata.tags = ["remove-cell"]
        notebook.cells.insert(0, cell)
    return notebook.cells != before


def fingerprint(stem: str) -> str:
    """Changes when the chapter has to be executed again: its code or what it calls."""
    always = "attention.py", "matplotlibrc"
    parts = [(BOOK / name).read_text(encoding="utf-8") for name in always]
    parts += [cell.source for cell in code_cells(read_text(stem))]
    code = "\n".join(parts[len(always) :])
    parts += figures_of(code)
    if re.search("^from alice import", code, re.M):
        parts.append((BOOK / "alice.py").read_text(encoding="utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def figures_of(code: str) -> list[str]:
    """The functions of plots.py that code imports: others may change without it."""
    found = re.search(r"^from plots import (\([^)]*\)|.*)$", code, re.M)
    if not found:
        return []
    names = set(re.findall(r"\w+", found[1]))
    text = (BOOK / "plots.py").read_text(encoding="utf-8")
    nodes = [
        node for node in ast.parse(text).body if getattr(node, "name", "") in names
    ]
    return [str(ast.get_source_segment(text, node)) for node in nodes]


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The chapter's own code, without the setup cell."""
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [cell for cell in cells if cell.get("id") != SETUP]


def is_fresh(stem: str) -> bool:
    """Whether the published notebook was executed from the present code."""
    path = BOOK / f"{stem}.ipynb"
    if not path.exists():
        return False
    metadata = nbformat.read(path, as_version=4).metadata
    return metadata.get("executed_from") == fingerprint(stem)


def execute(stem: str) -> float:
    """Execute one chapter and write its notebook; return the seconds it took."""
    start = time.monotonic()
    executed_from = fingerprint(stem)  # the text may be edited while this runs
    notebook = read_text(stem)
    client = NotebookClient(
        notebook,
        timeout=1500,  # seconds a cell, on a machine that others use as well
        record_timing=False,
        coalesce_streams=True,  # prints in one piece, however they were flushed
        extra_arguments=["--InlineBackend.figure_formats=retina"],  # 200 dots an inch
        resources={"metadata": {"path": str(BOOK)}},
    )
    client.execute()
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if png := output.get("data", {}).get("image/png"):
                output.data["image/png"] = lighter(png)
    keep_recorded(stem, notebook)
    version = notebook.metadata.get("language_info", {})
    notebook.metadata.language_info = {"name": version.get("name", "python")}
    notebook.metadata.executed_from = executed_from
    nbformat.write(notebook, BOOK / f"{stem}.ipynb")
    return time.monotonic() - start


def keep_recorded(stem: str, notebook: nbformat.NotebookNode) -> None:
    """Give cells that depend on the machine the outputs that are there, if they fit."""
    if not is_fresh(stem):
        return
    published = nbformat.read(BOOK / f"{stem}.ipynb", as_version=4)
    for old, new in zip(code_cells(published), code_cells(notebook), strict=True):
        if "nbval-ignore-output" in new.metadata.get("tags", []):
            new.outputs = old.outputs


def lighter(png: str) -> str:
    """The same picture in at most 256 colors, in less than half the bytes (base64)."""
    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    few = picture.quantize(256, dither=Image.Dither.NONE)
    few.save(file := io.BytesIO(), "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


def renew(stem: str) -> bool:
    """Take over what is not code from the text; the outputs stay with their cells.

    Whether anything had changed.
    """
    path = BOOK / f"{stem}.ipynb"
    published, notebook = nbformat.read(path, as_version=4), read_text(stem)
    for old, new in zip(code_cells(published), code_cells(notebook), strict=True):
        new.outputs, new.execution_count = old.outputs, old.execution_count
    notebook.metadata = published.metadata
    if notebook != published:
        nbformat.write(notebook, path)
    return notebook != published


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", metavar="NN-topic")
    parser.add_argument("--force", action="store_true", help="execute all of them")
    options = parser.parse_args()
    known = sorted(path.stem for path in TEXT.glob("*.md"))
    if unknown := set(options.chapters) - set(known):
        parser.error(f"no such chapter: {', '.join(sorted(unknown))}")
    stems = options.chapters or known
    stale = [stem for stem in stems if options.force or not is_fresh(stem)]
    texts = sum(renew(stem) for stem in sorted(set(stems) - set(stale)))
    failed = []
    with ThreadPoolExecutor(2) as pool:
        runs = {pool.submit(execute, stem): stem for stem in stale}
        for done, run in enumerate(as_completed(runs), 1):
            where = f"[{done}/{len(stale)}] {runs[run]}"
            try:
                print(f"{where}: executed in {run.result():.0f} s", flush=True)
            except CellExecutionError as error:
                failed.append(runs[run])
                print(f"{where}: failed\n{error}", file=sys.stderr, flush=True)
    unchanged = len(stems) - len(stale) - texts
    print(
        f"{len(stale) - len(failed)} chapters executed, {texts} with another text, "
        f"{unchanged} unchanged, {len(failed)} failed."
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
