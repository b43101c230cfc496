"""The solution notebooks: names, points and rubrics as the course promises them."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest
from test_catalog import judge

SOLUTIONS = sorted(Path("solutions").glob("*/*.ipynb"))


def cells_of(path):
    cells = nbformat.read(path, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


@pytest.fixture(params=SOLUTIONS, ids=lambda path: path.parent.name)
def solution(request):
    return request.param


def test_the_solutions_earn_all_points_of_their_test_cells(solution):
    package = importlib.import_module(f"autograder.checks.{solution.stem}")
    names = {}
    for grade_id, cell in cells_of(solution).items():
        if cell.cell_type == "code" and not grade_id.startswith("test_"):
            exec(cell.source, names)
        elif grade_id.startswith("test_"):
            name = grade_id.removeprefix("test_")
            points, message, _ = judge(package, name, names[name])
            assert (points, message) == (cell.metadata.nbgrader.points, None)


def test_a_solution_cell_bears_its_name_and_starts_with_it(solution):
    cells = cells_of(solution)
    for grade_id in [g for g in cells if g.startswith("test_")]:
        name = grade_id.removeprefix("test_")
        answer = cells[name]
        assert answer.metadata.nbgrader.solution
        assert answer.source.startswith((f"def {name}(", f"class {name}("))
        assert "### BEGIN SOLUTION" in answer.source
        test = cells[grade_id]
        assert test.metadata.nbgrader.locked
        assert f"\ncheck.{name}({name})\n### BEGIN HIDDEN TESTS\n" in test.source


def test_written_questions_have_a_rubric(solution):
    cells = cells_of(solution)
    written = [cell for g, cell in cells.items() if g.startswith("explain_")]
    assert written or solution.parent.name == "03-multi-head"
    for cell in written:
        assert cell.metadata.nbgrader.grade and cell.metadata.nbgrader.solution
        assert "### BEGIN MARK SCHEME" in cell.source


def test_the_points_are_those_of_the_course(solution):
    total = {
        "01-attention": 20,
        "02-scaling": 20,
        "03-multi-head": 30,
        "04-masking": 25,
        "05-positional-encoding": 25,
        "06-encoder-layer": 30,
        "07-real-model": 30,
    }
    points = [
        cell.metadata.nbgrader.points
        for cell in cells_of(solution).values()
        if cell.metadata.nbgrader.grade
    ]
    assert sum(points) == total[solution.parent.name]


def test_the_minutes_of_the_cards_add_up_to_what_notebook_and_chapter_say(solution):
    notebook = nbformat.read(solution, as_version=4)
    introduction, *cards = [
        c.source for c in notebook.cells if c.cell_type == "markdown"
    ]
    minutes = [int(m) for m in re.findall(r"points?, (\d+) minutes\)", "".join(cards))]
    number = solution.parent.name[:2]
    (chapter,) = Path("book/text").glob(f"{number}-*.md")
    card = chapter.read_text(encoding="utf-8").split(":class: exercise-card")[1]
    told = [
        int(re.search(r"[Aa]bout (\d+) minutes", text)[1])
        for text in (introduction, card)
    ]
    assert told == [sum(minutes)] * 2
