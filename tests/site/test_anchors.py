"""What messages tell students to read is there."""

import importlib
import pkgutil
from pathlib import Path

import jupytext
import pytest
from docutils.nodes import make_id

import autograder.checks
from autograder.checks.question import Question

TEXT = Path(__file__).parents[2] / "book" / "text"


def headings(chapter):
    """The ids that the site gives to a chapter's headings."""
    cells = jupytext.read(TEXT / f"{chapter}.md").cells
    lines = "\n".join(c.source for c in cells if c.cell_type == "markdown").splitlines()
    return {make_id(line.lstrip("# ")) for line in lines if line.startswith("#")}


def pointers():
    """Every place in the book that a check or a misconception points to."""
    for found in pkgutil.iter_modules(autograder.checks.__path__):
        if not found.ispkg:
            continue
        package = importlib.import_module(f"autograder.checks.{found.name}")
        catalog = importlib.import_module(f"{package.__name__}.catalog").catalog
        for value in [*vars(package).values(), *catalog.misconceptions]:
            if isinstance(value, Question) or hasattr(value, "diagnosis"):
                yield value.read


@pytest.mark.parametrize("read", sorted(set(pointers())))
def test_a_pointer_into_the_book_names_a_heading(read):
    chapter, _, heading = read.partition("#")
    assert heading in headings(chapter)
