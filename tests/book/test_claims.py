"""The page of claims, what-tutorials-get-wrong, and the chapters that settle them."""

import re
from collections import Counter
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"
PAGE = (BOOK / "what-tutorials-get-wrong.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^#{1,3} (.+)$", re.M)
CODE = re.compile(r"^```.*?^```", re.M | re.S)


def texts():
    """Every page by the name under which others link to it."""
    chapters = {f"{p.stem}.ipynb": p for p in (BOOK / "text").glob("*.md")}
    pages = {p.name: p for p in BOOK.glob("*.md")}
    return {n: p.read_text("utf-8") for n, p in (chapters | pages).items()}


def claims():
    """How often each label of a claim stands in a page."""
    found = re.findall(r"^\((claim-[\w-]+)\)=$", "\n".join(texts().values()), re.M)
    return Counter(found)


def slug(heading):
    """The anchor that MyST gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def test_no_two_claims_share_a_label():
    assert [label for label, count in claims().items() if count > 1] == []


def test_the_page_of_claims_links_to_every_claim_that_a_chapter_settles():
    assert set(re.findall(r"\(#(claim-[\w-]+)\)", PAGE)) == set(claims())


def test_every_other_link_leads_to_a_heading():
    """Code is no heading, so its comments are left out."""
    anchors = {
        name: set(map(slug, HEADING.findall(CODE.sub("", text))))
        for name, text in texts().items()
    }
    links = re.findall(r"\]\(([\w-]+\.\w+)#([\w-]+)\)", PAGE)
    assert len(links) > 10
    assert [(name, to) for name, to in links if to not in anchors[name]] == []


def test_every_claim_leads_somewhere():
    """Each entry of the list has a link to where the book settles it."""
    entries = re.split(r"^- ", PAGE, flags=re.M)[1:]
    dumb = [e for e in entries if not re.search(r"\]\((#claim|[\w-]+\.\w+#)", e)]
    assert dumb == []
