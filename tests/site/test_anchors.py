"""What messages and the page of claims point to is there."""

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import jupytext
import pytest
from docutils.nodes import make_id

import autograder.checks
from autograder.checks.question import Question

BOOK = Path(__file__).parents[2] / "book"
TEXT = BOOK / "text"


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


def claims():
    """The labels of all claims that the chapters settle."""
    chapters = (path.read_text(encoding="utf-8") for path in TEXT.glob("*.md"))
    return Counter(re.findall(r"^\((claim-[\w-]+)\)=$", "\n".join(chapters), re.M))


def test_no_two_claims_share_a_label():
    assert [label for label, count in claims().items() if count > 1] == []


def test_the_page_of_claims_links_to_every_claim_that_a_chapter_settles():
    page = (BOOK / "what-tutorials-get-wrong.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(#(claim-[\w-]+)\)", page)) == set(claims())
