"""Cells of chapters in the page: what each needs, and what it prints."""

import json
import subprocess
import sys
from pathlib import Path

import cells
import cells_in_page
import nbformat
import notebooks
import numpy as np
import pytest
from cells_in_page import agree, apart, compare, picture, recorded
from chapter_runner import MODEL, TORCH, Chapter
from shared import drawn

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.stem for path in notebooks.TEXT.glob("*.md"))


def chapter(*sources):
    return Chapter(sources)


@pytest.mark.parametrize(
    ("sources", "above"),
    [
        (["a = 1", "b = 2", "print(a)"], [0]),
        (["a = 1", "a = 2", "print(a)"], [1]),  # what stood there before is gone
        (["a = [1]", "a.append(2)", "print(a)"], [0, 1]),
        (["a = [1]", "a[0] = 2", "print(a)"], [0, 1]),
        (["a = [1]", "a += [2]", "print(a)"], [0, 1]),
        (["a = [1]", "b = a", "b.append(2)", "print(a)"], [0, 1, 2]),
        (["a = [1]", "b = a", "a = [2]", "b.append(3)", "print(a)"], [2]),
        (["a = [1]", "b = a", "a = a[:]", "b.append(3)", "print(a)"], [0, 1, 2, 3]),
        (["i = 1", "for i in [2]:\n    print(i)", "print(i)"], [1]),
        (["i = [1]", "for i in i:\n    print(i)", "print(i)"], [0, 1]),
        (["a = [1]", "for i in [1]:\n    a = i", "print(a)"], [0, 1]),
        (["a = [1]", "print(a.count(1))", "print(a)"], [0]),  # counting changes nothing
        (["def f(x):\n    x.sort()", "a = [2, 1]", "f(a)", "print(a)"], [0, 1, 2]),
        (["def f(x, y):\n    y.sort()", "a = [2]", "f(a, [])", "print(a)"], [1]),
        (
            ["def f(x, y):\n y.sort()", "a = [2]", "f(*[1], a)", "print(a)"],
            [0, 1, 2],
        ),
        (
            ["def g(f, x):\n f(x)", "a = [2]", "g(list.sort, a)", "print(a)"],
            [0, 1, 2],
        ),
        # a function sees what its names are when it is called
        (["def g():\n    return 1", "def f():\n    return g()", "print(f())"], [0, 1]),
        (["def f():\n    return g()", "def g():\n    return 1", "print(f())"], [0, 1]),
        (
            ["g = 1", "def f():\n    return g", "g = 2", "print(f())"],
            [1, 2],
        ),
        (["import random\nr = random.Random(0)", "r.random()", "r.random()"], [0, 1]),
        (["import random\nr = random", "a = 1", "a = r.random()", "print(a)"], [0, 2]),
        (["import numpy as np", "np.set_printoptions(3)", "np.ones(2)"], [0, 1]),
        # what is computed to be printed sets nothing
        (["import numpy as np", "print(np.abs(1).max())", "np.ones(2)"], [0]),
        (["a = 1", "print([a for a in range(3)])"], []),  # that a is another one
    ],
)
def test_a_cell_needs_what_defines_or_changes_its_names(sources, above):
    assert chapter(*sources).above(len(sources) - 1) == above


def test_what_lacks_torch_takes_along_what_it_defines_and_changes():
    found = chapter(
        "import torch\nimport numpy as np",
        "x = np.ones(2)\ny = x * 2",
        "y = torch.ones(2)\nx.fill(torch.pi)",
        "print(y)",
        "print(x)",
        "x = np.ones(3)\ny = 1",
        "print(x, y)",
        "import minilm\nz = minilm.load()",
    )
    lacks = [found.why_not(number) for number in range(8)]
    assert lacks == [None, None, TORCH, TORCH, TORCH, None, None, MODEL]


def test_what_the_book_s_module_makes_of_torch_lacks_it():
    imports = "from attention import EncoderLayer, causal_mask, softmax"
    for name, lacks in [
        ("causal_mask(2)", None),
        ("softmax(1)", None),
        ("causal_mask(2) + EncoderLayer", TORCH),
        ("EncoderLayer()", TORCH),
    ]:
        assert chapter(imports, name).why_not(1) == lacks, name


def test_lines_that_are_left_out_are_empty_so_that_places_stay_right():
    found = chapter("a = 1\nb = [\n    2,\n]\nc = 3", "print(b)")
    assert found.program(1) == [(0, "\nb = [\n    2,\n]\n"), (1, "print(b)")]


def test_a_cell_that_is_no_python_stops_no_other():
    assert chapter("a = 1", "def f(:", "print(a)").above(2) == [0]


def test_a_cell_that_shows_nothing_says_nothing_of_what_it_lacks():
    found = chapter("import torch\nx = torch.ones(2)", "print(x)", "print(1)")
    assert cells.bar(found, 0, False).endswith('id="cell-1"></div>')
    assert cells.bar(found, 1, True).endswith("<p>Needs PyTorch</p></div>")
    assert "Run" in cells.bar(found, 2, True)


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        ([None, None], "All 2 cells that print or draw run in this page"),
        ([TORCH, None, MODEL], "1 of its 3 cells"),
        (
            [TORCH, None, MODEL],
            "the rest needs a model file or PyTorch: run it in <a",
        ),
        ([TORCH], "Its cells need PyTorch: run them in <a"),
    ],
)
def test_the_head_of_a_chapter_says_how_many_cells_run(lacks, said):
    assert said in cells.share(lacks, "notebook.ipynb")


# ---- against what is recorded


SHARES = 6  # into which the cells of a chapter are dealt


@pytest.mark.parametrize(
    "part", drawn(f"{stem} {n}" for stem in CHAPTERS for n in range(SHARES))
)
def test_without_torch_the_outputs_are_the_recorded_ones(part):
    stem, number = part.split()
    runs = [n for n, lacks in enumerate(lacking(stem)) if lacks is None]
    first = int(number) % len(runs)  # also where cells are fewer than shares
    done = subprocess.run(
        [sys.executable, cells_in_page.__file__, stem, str(first), str(SHARES)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [number for _, number, _ in lines] == runs[first::SHARES]
    for line in lines:
        compare(*line)


def lacking(stem):
    found = cells.chapter(stem)
    return [found.why_not(number) for number in range(len(found.sources))]


def test_the_comparison_of_figures_sees_another_figure_and_forgives_a_shift():
    figures = []
    for stem in ("warm-up", "01-queries-keys-values"):
        chapter = nbformat.read(ROOT / f"book/{stem}.ipynb", as_version=4)
        shown = [recorded(cell)[1] for cell in notebooks.code_cells(chapter)]
        figures += [picture(png) for cell in shown for png in cell]
    assert len(figures) > 2
    for one in figures:
        moved = np.roll(one, 1, axis=1)
        assert apart(one, moved, 2) < min(3, apart(one, moved, 0) / 2)
        others = [other for other in figures if other is not one]
        for other in [*others, np.full_like(one, 255)]:
            assert apart(one, other, 2) > 3


def test_the_comparison_sees_another_number():
    assert agree("a: [0.500 1.]", "a: [0.5001 1.]")
    assert not agree("a: [0.500 1.]", "a: [0.510 1.]")
    assert not agree("a 1", "b 1") and not agree("1 2", "1")
