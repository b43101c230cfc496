"""Each chapter: text and notebook agree, cells are small, code equals the library."""

import ast
import statistics
from pathlib import Path

import nbformat
import notebooks
import pytest
from minutes import folded

BOOK = Path(notebooks.BOOK)
CHAPTERS = sorted(path.stem for path in notebooks.TEXT.glob("*.md"))
DRAWS = "image/png"


@pytest.fixture(params=CHAPTERS)
def chapter(request):
    return request.param


@pytest.fixture
def notebook(chapter):
    return nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4)


@pytest.fixture
def code(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if cell.id != notebooks.SETUP]  # it holds an address


def test_every_notebook_has_a_text_and_every_text_a_notebook():
    assert sorted(path.stem for path in BOOK.glob("*.ipynb")) == CHAPTERS


def test_text_and_notebook_agree(chapter, notebook):
    def cells(source):
        return [(cell.cell_type, cell.source, cell.metadata) for cell in source.cells]

    assert cells(notebook) == cells(notebooks.read_text(chapter))


def test_outputs_come_from_the_present_text(chapter):
    assert notebooks.is_fresh(chapter), f"run make notebooks: {chapter} has changed"


def test_lines_fit_into_79_columns(code):
    long = [line for cell in code for line in cell.source.splitlines() if line[79:]]
    assert not long


def test_cells_are_small(code):
    """The median is that of the cells that a page does not fold."""
    lines = {cell.id: sum(map(bool, cell.source.split("\n"))) for cell in code}
    assert max(lines.values()) <= 30
    shown = [lines[cell.id] for cell in code if not folded(cell)]
    assert statistics.median(shown) <= 6


def test_every_figure_says_in_words_what_it_shows(code):
    for cell in code:
        if any(DRAWS in output.get("data", {}) for output in cell.outputs):
            alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt.split()) >= 8, cell.source


def test_no_cell_failed_or_warned(code):
    for cell in code:
        expected = "raises-exception" in cell.metadata.get("tags", [])
        for output in cell.outputs:
            assert output.output_type != "error" or expected, cell.source
            assert output.get("name") != "stderr", output.get("text")


def definitions(source: str) -> dict[str, str]:
    """Top-level functions and classes, by name, without their docstrings."""
    found = {}
    for node in ast.parse(source).body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
                part
            ):
                part.body = part.body[1:]
        found[node.name] = ast.unparse(node)
    return found


LIBRARY = definitions((BOOK / "attention.py").read_text(encoding="utf-8"))


def chapter_definitions() -> dict[str, list[str]]:
    """Everything that the chapters define, by name, in the book's order."""
    found: dict[str, list[str]] = {}
    for chapter in CHAPTERS:
        for cell in notebooks.read_text(chapter).cells:
            if cell.cell_type == "code" and not cell.source.lstrip().startswith("%"):
                for name, definition in definitions(cell.source).items():
                    found.setdefault(name, []).append(definition)
    return found


def test_the_library_holds_what_the_chapters_derive_in_its_last_form():
    derived = chapter_definitions()
    for name, definition in LIBRARY.items():
        assert derived[name][-1] == definition, name
