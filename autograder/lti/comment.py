"""Comments of teachers in the gradebook: HTML as the text that a tool may send back.

With each score Moodle replaces the comment too. It takes a tool's comment as plain text
and shows its line breaks, but also its tags (mod/lti, gradebookservices.php).
"""

from __future__ import annotations

import html
import re

BLOCK = "(?:p|div|br|li|ul|ol|tr|table|pre|blockquote|h[1-6])"
FORMATTED = re.compile(rf"\s*<{BLOCK}\b.*>\s*", re.S | re.I)  # as the editor writes it
# in this order: what stays of tags, and the rest of them
PARTS = (
    (r"\s+", " "),
    (r'<a\b[^>]*href="([^"]*)"[^>]*>(.*?)</a>', r"\2 (\1)"),
    (r'<img\b[^>]*alt="([^"]+)"[^>]*>', r"\1"),
    (r'<img\b[^>]*src="([^"]*)"[^>]*>', r"\1"),
    (r"<li\b[^>]*>", "\n- "),
    (rf"</?{BLOCK}\b[^>]*>", "\n"),
    ("<[^>]*>", ""),
)


def as_text(comment: str) -> str:
    """A comment without tags; one that has none, as our own has, stays as it is."""
    if not FORMATTED.fullmatch(comment):
        return comment
    text = comment
    for part, shown in PARTS:
        text = re.sub(part, shown, text, flags=re.I)
    lines = (html.unescape(line).strip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))
