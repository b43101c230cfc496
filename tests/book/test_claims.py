"""The page of claims, what-tutorials-get-wrong, and the chapters that settle them."""

import re
from collections import Counter
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "what-tutorials-get-wrong.md").read_text(encoding="utf-8")


def claims():
    """How often each label of a claim stands in a page."""
    paths = [*BOOK.glob("*.md"), *BOOK.glob("text/*.md")]
    text = "\n".join(path.read_text("utf-8") for path in paths)
    return Counter(re.findall(r"^\((claim-[\w-]+)\)=$", text, re.M))


def test_no_two_claims_share_a_label():
    assert [label for label, count in claims().items() if count > 1] == []


def test_the_page_of_claims_links_to_every_claim_that_a_chapter_settles():
    assert set(re.findall(r"\(#(claim-[\w-]+)\)", PAGE)) == set(claims())


def test_every_claim_leads_somewhere():
    """Each entry of the list has a link to where the book settles it."""
    entries = re.split(r"^- ", PAGE, flags=re.M)[1:]
    dumb = [e for e in entries if not re.search(r"\]\((#claim|[\w-]+\.\w+#)", e)]
    assert dumb == []
