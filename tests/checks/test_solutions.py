"""The solution notebooks: names, points and rubrics as the course promises them."""

import importlib
import re
from pathlib import Path

import nbformat
import pytest

SOLUTIONS = sorted(Path("solutions").glob("*/*.ipynb"))


def cells_of(path):
    cells = nbformat.read(path, as_version=4).cells
    return {cell.metadata.nbgrader.grade_id: cell for cell in cells}


@pytest.fixture(params=SOLUTIONS, ids=lambda path: path.parent.name)
def solution(request):
    return request.param


def test_written_questions_have_a_rubric(solution):
    cells = cells_of(solution)
    for grade_id in [g for g in cells if g.startswith("explain_")]:
        cell = cells[grade_id]
        assert cell.metadata.nbgrader.grade and cell.metadata.nbgrader.solution
        assert "### BEGIN MARK SCHEME" in cell.source, f"{grade_id} has no rubric"


@pytest.fixture
def cards(solution):
    """The texts that say what is to be done, for how many points in what time."""
    texts = [cell.source for cell in cells_of(solution).values()]
    return [text for text in texts if re.search(r"^## .*\(\d+ points?, ", text)]


@pytest.fixture
def told(solution):
    """What the introduction says of the whole, and the card of a chapter, if any."""
    introduction = next(iter(cells_of(solution).values())).source
    number = solution.parent.name[:2]
    chapters = list(Path("book/text").glob(f"{number}-*.md"))
    if not chapters:  # a chapter of the same number is optional
        return [introduction]
    assert len(chapters) == 1, f"{solution.parent.name} has several chapters"
    chapter = chapters[0].read_text(encoding="utf-8")
    assert ":class: exercise-card" in chapter, f"{chapters[0]} has no exercise card"
    return [introduction, chapter.split(":class: exercise-card")[1]]


def test_cells_checks_cards_and_chapter_agree_about_the_points(solution, cards, told):
    package = importlib.import_module(f"autograder.checks.{solution.stem}")
    points = {
        grade_id: cell.metadata.nbgrader.points
        for grade_id, cell in cells_of(solution).items()
        if cell.metadata.nbgrader.grade
    }
    for name, question in package.assignment.questions.items():
        assert points[f"test_{name}"] == question.points
    on_cards = [int(re.search(r"\((\d+) points?, ", card)[1]) for card in cards]
    assert on_cards == list(points.values()), "a card names other points than its cell"
    totals = [int(re.search(r"(\d+)\s+points", text)[1]) for text in told]
    assert totals == [sum(points.values())] * len(told)


def test_the_minutes_of_the_cards_add_up_to_what_notebook_and_chapter_say(cards, told):
    minutes = [int(re.search(r"points?, (\d+) minutes\)", card)[1]) for card in cards]
    totals = [int(re.search(r"[Aa]bout (\d+) minutes", text)[1]) for text in told]
    assert totals == [sum(minutes)] * len(told)
