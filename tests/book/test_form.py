"""The form of every chapter: its size, its rhythm, its cells, what its head says."""

import ast
import base64
import io
import itertools
import re
import statistics

import minutes
import nbformat
import notebooks
import pytest
from PIL import Image

CHAPTERS = minutes.chapters()
LABEL = re.compile(r"^\([\w-]+\)=$", re.M)
TITLE = re.compile(
    r"^```\{admonition\} ([^\n]*)\n:class: myth\n(.*?)^```$", re.M | re.S
)
YES_OR_NO = re.compile(r"(?<!=)\b(True|False)\b")


@pytest.fixture(params=CHAPTERS)
def chapter(request):
    return request.param


@pytest.fixture
def notebook(chapter):
    found = nbformat.read(notebooks.BOOK / f"{chapter}.ipynb", as_version=4)
    found.cells = [cell for cell in found.cells if cell.id != notebooks.SETUP]
    return found


@pytest.fixture
def size(notebook):
    return minutes.measure(notebook)


@pytest.fixture
def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell):
    """The lines that a code cell printed, or showed as its value."""
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        yield from text.splitlines()


def test_a_chapter_is_read_in_one_sitting(size):
    assert size.words <= 3500
    assert size.cells <= 45


def test_a_number_at_the_begin_of_a_line_starts_no_list(notebook):
    """In Markdown a line that begins with "1." ends the paragraph above it."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert not [text for text in texts if re.search(r"^\w.*\n1\. ", text, re.M)]


@pytest.mark.parametrize("name", [n for n in CHAPTERS if n[0].isdigit()])
def test_a_chapter_begins_with_a_picture(name):
    """Something to play with, a drawing, or what a model writes."""
    head = notebooks.read_text(name).cells[0].source
    picture = re.search(r"^(<[a-z]+-[a-z]+>|!\[|> )", head, re.M)
    assert picture and len(head[: picture.start()].split()) < 40


@pytest.mark.parametrize("name", [n for n in CHAPTERS if n[0].isdigit()])
def test_a_chapter_has_three_parts_and_each_says_what_one_can_do(name):
    """Before the quiz; what stands behind the first heading of a part is in it."""
    text = (notebooks.TEXT / f"{name}.md").read_text("utf-8").partition("\n## Quiz")[0]
    parts = re.split(r"^## .+$", text, flags=re.M)[1:]
    assert len(parts) == 3
    for part in parts:
        assert re.match(r"\s*(\([\w-]+\)=\s*)*### ", part)
        assert part.rstrip().rpartition("\n\n")[2].startswith("**Now you can** ")


def test_a_chapter_corrects_at_most_four_claims_in_boxes(size):
    assert size.boxes <= 4


def test_what_tutorials_are_said_to_say_was_seen_in_some(notebook, size):
    """A claim that nobody has shown to have been made is a common belief."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    boxes = [box for text in texts for box in TITLE.findall(text)]
    assert len(boxes) == size.boxes
    known = {"Tutorials often say…", "A common belief"}
    assert {title for title, _ in boxes} <= known
    seen = re.compile(r"\b[Ss]een\s+in\b|\{cite:\w+\}")
    said = [box for title, box in boxes if title == "Tutorials often say…"]
    assert [box for box in said if not seen.search(box)] == []


def test_no_more_than_two_code_cells_follow_each_other(notebook):
    """A text cell that holds nothing but a label is no sentence."""
    said = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" or LABEL.sub("", cell.source).strip()
    ]
    runs = itertools.groupby(said, key=lambda cell: cell.cell_type)
    rows = [list(run) for kind, run in runs if kind == "code"]
    assert [row[0].source for row in rows if len(row) > 2] == []


def test_no_code_cell_ends_with_an_empty_line(code):
    """In the page it would not, and a cell runs there as it stands here."""
    assert [c.source for c in code if c.source != c.source.rstrip()] == []


def test_a_finding_is_a_number_and_not_only_a_yes_or_no(notebook):
    """Arrays of truth values are data, and ``bias=False`` is the name of a case."""
    lines = [line for cell in notebook.cells for line in printed(cell)]
    assert [ln for ln in lines if YES_OR_NO.search(ln) and "[" not in ln] == []


def test_a_largest_difference_that_a_chapter_prints_is_none(notebook):
    """Two ways to compute the same, side by side: the chapter's own proof."""
    lines = [line for cell in notebook.cells for line in printed(cell)]
    told = [line.partition("largest difference")[2] for line in lines]
    assert [said for said in told if re.search("[1-9]", said)] == []


def test_a_figure_has_two_hundred_dots_an_inch(notebook):
    """Drawn at a hundred, and shown at half its size."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                width, _ = Image.open(io.BytesIO(base64.b64decode(png))).size
                shown = output.metadata.get("image/png", {}).get("width", width)
                assert width >= 2 * shown - 1, cell.source


def test_the_head_of_a_chapter_tells_who_may_start_further_on(notebook):
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    head = " ".join(texts[0].split("\n## ")[0].split())
    assert re.search(r"start at \[", head)


# ---- text and notebook, cells, and the library


def test_every_notebook_has_a_text_and_every_text_a_notebook():
    assert sorted(path.stem for path in notebooks.BOOK.glob("*.ipynb")) == CHAPTERS


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
    shown = [lines[cell.id] for cell in code if not minutes.folded(cell)]
    assert statistics.median(shown) <= 6


def test_every_figure_says_in_words_what_it_shows(code):
    for cell in code:
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
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


LIBRARY = definitions((notebooks.BOOK / "attention.py").read_text(encoding="utf-8"))


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
