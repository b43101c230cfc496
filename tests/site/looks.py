"""How tests look at a page: an element at work, and what axe finds."""

import re
from pathlib import Path

ALICE = Path(__file__).resolve().parents[2] / "book/data/alice.txt"
# colors are measured when they have arrived, not on their way
STILL = "*, ::before, ::after { transition: none !important }"
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"


def violations(page, scope, **options):
    """What axe finds: the rule and the first element that breaks it."""
    options |= {"resultTypes": ["violations"], "preload": False}
    run = "([scope, options]) => axe.run(scope, options)"
    found = page.evaluate(run, [scope, options])["violations"]
    return [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in found]


def unreadable(page, scope, schemes=("light", "dark")):
    """What axe finds in these color schemes; in all but the first, of colors alone."""
    page.add_style_tag(content=STILL)
    for number, scheme in enumerate(schemes):
        page.emulate_media(color_scheme=scheme)
        rules = {"runOnly": ["color-contrast"]} if number else {}
        if found := violations(page, scope, **rules):
            return scheme, found
    return None


def enliven(page, path, element, part):
    """Open a page and go to an element; what it needs is loaded only now."""
    page.goto(f"book/{path}")
    place = page.locator(element)
    place.scroll_into_view_if_needed()
    place.locator(part).first.wait_for()
    return place


def sentences(odd, count, longest):
    """Of a text that no chapter shows to these models, after an odd one."""
    text = ALICE.read_text(encoding="utf-8")[3000:]
    found = re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text))
    short = [sentence for sentence in found if 15 < len(sentence) < longest]
    return [odd, *list(dict.fromkeys(short))[: count - 1]]
