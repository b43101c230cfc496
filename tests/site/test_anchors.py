"""What points into the chapters points at something, checked without building the site.

The checks name a section to read, the page of claims names the cells that settle them.
"""

import importlib
import pkgutil
import re
from collections import Counter
from pathlib import Path

import pytest

from autograder import checks

BOOK = Path(__file__).parents[2] / "book"
FENCED = re.compile(r"^(`{3,}).*?^\1\s*$", re.MULTILINE | re.DOTALL)
LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)


def prose(stem: str) -> str:
    """A chapter's text without its cells and boxes."""
    text = (BOOK / "text" / f"{stem}.md").read_text(encoding="utf-8")
    return FENCED.sub("", text)


def anchors(stem: str) -> set[str]:
    """The names by which a page can link to a chapter's sections and claims."""
    text = prose(stem)
    titles = re.findall(r"^#{2,3} (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles]
    return {title.replace(" ", "-") for title in plain} | set(LABEL.findall(text))


CHAPTERS = sorted(path.stem for path in (BOOK / "text").glob("0*.md"))
KNOWN = {stem: anchors(stem) for stem in CHAPTERS}


def sections_to_read() -> list[str]:
    """Every place in the book that a message may send a student to."""
    places = set()
    for module in pkgutil.walk_packages(checks.__path__, "autograder.checks."):
        values = list(vars(importlib.import_module(module.name)).values())
        for value in values:
            values += getattr(value, "misconceptions", [])
        places |= {getattr(value, "read", None) for value in values}
    return sorted(p for p in places if isinstance(p, str) and p)


@pytest.mark.parametrize("place", sections_to_read())
def test_a_message_sends_students_to_a_section_that_exists(place):
    chapter, _, section = place.partition("#")
    assert section in KNOWN[chapter]


def test_no_two_claims_share_a_label():
    labels = Counter(label for stem in CHAPTERS for label in LABEL.findall(prose(stem)))
    assert labels and not [label for label, count in labels.items() if count > 1]


def test_the_page_of_claims_links_to_every_claim_of_the_chapters():
    page = (BOOK / "what-tutorials-get-wrong.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(#(claim-[\w-]+)\)", page))
    labels = {label for stem in CHAPTERS for label in LABEL.findall(prose(stem))}
    assert linked == {label for label in labels if label.startswith("claim-")}
