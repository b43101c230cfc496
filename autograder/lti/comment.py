"""Comments of teachers in the gradebook: HTML as the text that a tool may send back.

With each score Moodle replaces the comment too. It takes a tool's comment as plain text
and shows its line breaks, but also its tags (mod/lti, gradebookservices.php).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

BLOCK = "p|div|br|li|ul|ol|tr|table|pre|blockquote|h[1-6]"
FORMATTED = re.compile(
    rf"\s*<({BLOCK})\b.*>\s*", re.S | re.I
)  # as the editor writes it


class Text(HTMLParser):
    """The words of a page, a line for each block, with the addresses of links."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.address = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line; note where a link leads, or what a picture shows."""
        given = dict(attrs)
        self.handle_endtag(tag)
        if tag == "li":
            self.parts.append("- ")
        elif tag == "a":
            self.address = given.get("href") or ""
        elif tag == "img":
            self.parts.append(given.get("alt") or given.get("src") or "")

    def handle_endtag(self, tag: str) -> None:
        """End a line, or a link."""
        if re.fullmatch(BLOCK, tag):
            self.parts.append("\n")
        elif tag == "a" and self.address:
            self.parts.append(f" ({self.address})")
            self.address = ""

    def handle_data(self, data: str) -> None:
        """Words; how the source is broken into lines does not show."""
        self.parts.append(re.sub(r"\s+", " ", data))


def as_text(comment: str) -> str:
    """A comment without tags; one that has none, as our own has, stays as it is."""
    if not FORMATTED.fullmatch(comment):
        return comment
    lines = map(str.strip, "".join(Text(comment).parts).split("\n"))
    return "\n".join(filter(None, lines))
