"""The page of claims, what-tutorials-get-wrong, and the chapters that settle them."""

import re
from collections import Counter
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"


def claims():
    """How often each label of a claim stands in a chapter."""
    chapters = (p.read_text(encoding="utf-8") for p in (BOOK / "text").glob("*.md"))
    return Counter(re.findall(r"^\((claim-[\w-]+)\)=$", "\n".join(chapters), re.M))


def test_no_two_claims_share_a_label():
    assert [label for label, count in claims().items() if count > 1] == []


def test_the_page_of_claims_links_to_every_claim_that_a_chapter_settles():
    page = (BOOK / "what-tutorials-get-wrong.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(#(claim-[\w-]+)\)", page)) == set(claims())
