"""The assignments through the wall: reference solutions in full, stubs nothing."""

from pathlib import Path

import nbformat
import pytest
from shared import drawn

from autograder.wall import Cell

SOLUTIONS = sorted(Path("solutions").glob("0[1-6]-*/*.ipynb"))
SOLUTIONS += sorted(Path("solutions").glob("10-*/*.ipynb"))


def cells_of(path, *, stub=False):
    """A solution notebook's code cells; as stubs, its answers are not given."""
    cells = []
    for cell in nbformat.read(path, as_version=4).cells:
        grading = cell.metadata.nbgrader
        name, source = grading.grade_id, cell.source
        if cell.cell_type != "code":
            continue
        if grading.grade:
            cells.append(Cell(name, source, name, float(grading.points)))
            continue
        if stub and grading.solution:
            source = f"def {name}(*args, **kwargs):\n    pass"
        cells.append(Cell(name, source))
    return cells


@pytest.mark.parametrize("path", drawn(SOLUTIONS, 4), ids=lambda path: path.stem)
def test_a_reference_solution_earns_all_points(best_grader, path):
    seen = best_grader.judge(cells_of(path), profile="torch")
    assert seen.held is None and seen.results
    for result in seen.results.values():
        assert (result.score, result.message) == (result.max_score, None)


@pytest.mark.parametrize("path", drawn(SOLUTIONS, 4), ids=lambda path: path.stem)
def test_a_stub_earns_nothing_and_hears_no_answer_yet(best_grader, path):
    seen = best_grader.judge(cells_of(path, stub=True), profile="torch")
    assert seen.held is None and seen.results
    for name, result in seen.results.items():
        said = f"{name.removeprefix('test_')}: no answer yet"
        assert (result.score, result.message) == (0, said)
