"""Conversion of formulas in Markdown to MathML, which browsers draw without a script.

So feedback pages and formgrader show formulas without a request to another host.
"""

from __future__ import annotations

import re
import secrets
from html import escape

import bleach
from latex2mathml.converter import convert
from nbconvert.filters.markdown_mistune import IPythonRenderer

LONGEST = 2000  # characters of a formula; a longer one is shown as it was written
# latex2mathml lets texts through as they are: what is not of this list is escaped
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt"),
    *("mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover"),
    *("mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose"),
}
ATTRIBUTES = {
    "math": ["display", "xmlns"],
    "*": ["mathvariant", "stretchy", "fence", "form", "width", "linethickness"],
}

TAG = re.compile(r'(<[a-zA-Z/](?:[^">]|"[^"]*")*>)')


class Formulas(IPythonRenderer):  # type: ignore[misc]
    """Puts a mark in place of each formula; :meth:`put_back` replaces the marks.

    In between, the HTML is cleaned, and MathML is not among what students may write.
    """

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        self.mark = secrets.token_hex(8)
        self.found: list[tuple[str, str]] = []

    def keep(self, text: str, attribute: str) -> str:
        """The mark of what to put back: in a text, and in an attribute of a tag."""
        self.found.append((text, attribute))
        return f"{self.mark}-{len(self.found) - 1}-"

    def block_math(self, body: str) -> str:
        """``$$…$$``."""
        return self.keep(mathml(body, "block"), escape(f"${body}$"))

    def inline_math(self, body: str) -> str:
        """``$…$``."""
        return self.keep(mathml(body, "inline"), escape(f"${body}$"))

    def latex_environment(self, name: str, body: str) -> str:
        """``\\begin{…}…\\end{…}``."""
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")

    def put_back(self, html: str) -> str:
        """The cleaned HTML with what was kept."""
        marks = re.compile(rf"{self.mark}-(\d+)-")

        def shown(text: str, inside: int) -> str:
            return marks.sub(lambda mark: self.found[int(mark[1])][inside], text)

        parts = TAG.split(html)  # a text, a tag, a text, and so on
        return "".join(shown(part, n % 2) for n, part in enumerate(parts))


def mathml(tex: str, display: str) -> str:
    """TeX as MathML; TeX that cannot be read is shown as code."""
    if len(tex) <= LONGEST:
        try:
            made = str(convert(tex.strip(), display=display))
            return str(bleach.clean(made, tags=TAGS, attributes=ATTRIBUTES))
        except Exception:  # whatever a student wrote
            pass
    return f"<code>{escape(tex.strip())}</code>"
