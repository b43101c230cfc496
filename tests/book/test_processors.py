"""book/processors.py: what it compares, and what it says."""

import nbformat
import processors
import pytest

CODE = """
import os
print(os.environ.get("ATEN_CPU_CAPABILITY"), os.environ["OMP_NUM_THREADS"])
"""


@pytest.fixture
def chapter(monkeypatch):
    """Stands in for every chapter; its last cell prints where it runs."""
    cells = [nbformat.v4.new_markdown_cell("# A"), nbformat.v4.new_code_cell(CODE)]
    monkeypatch.setattr(
        processors, "read_text", lambda stem: nbformat.v4.new_notebook(cells=cells)
    )
    return cells


def test_a_chapter_runs_as_if_on_the_named_processor(chapter):
    assert processors.run("any", "avx2", 2) == ["", "avx2 2\n"]


def test_a_cell_that_prints_something_else_is_named(chapter, monkeypatch, capsys):
    runs = iter([["", "a", "b"], ["", "a", "b"], ["", "a", "c"], ["", "a", "b"]])
    monkeypatch.setattr(processors, "SETTINGS", [("best", 1), ("best", 2), ("avx2", 1)])
    monkeypatch.setattr(processors, "run", lambda *setting: next(runs))
    assert not processors.compare("any")
    said = capsys.readouterr().out
    assert "any, avx2, 1 threads: cells [2] differ" in said
    assert "best, 2 threads" not in said


def test_figures_and_ignored_cells_are_not_compared():
    figure = nbformat.v4.new_output("display_data", {"text/plain": "<Figure size 7x3>"})
    text = nbformat.v4.new_output("stream", text="0.5\n")
    cell = nbformat.v4.new_code_cell("x", outputs=[text, figure])
    assert processors.printed(cell) == "0.5\n"
    cell.metadata.tags = ["nbval-ignore-output"]
    assert processors.printed(cell) == ""
