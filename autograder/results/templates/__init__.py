"""HTML pages from Jinja templates: every value that a page shows is escaped."""

from __future__ import annotations

import base64
import re
import textwrap
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from autograder.text import directed, lines_of, one_line

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
CHARSET, SCRIPT = '<meta charset="utf-8">', re.compile(r"<script>(.*?)</script>", re.S)
TICKED = re.compile(r"`([^`]+)`")
PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
PAGES.filters |= {"one_line": one_line, "directed": directed, "lines_of": lines_of}


def counted(number: int, noun: str) -> str:
    """Such as "1 file" and "2 files"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ticked(words: str) -> Markup:
    """A sentence on one line, with code between backticks as code."""
    return Markup(TICKED.sub(r"<code>\1</code>", str(escape(one_line(words)))))


def paragraphs(text: str) -> Markup:
    """Paragraphs, and blocks of code where lines begin with four spaces."""
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return Markup("\n").join(
        Markup("<pre>{}</pre>").format(directed(textwrap.dedent(block)))
        if block.startswith("    ")
        else Markup("<p>{}</p>").format(ticked(block))
        for block in blocks
    )


PAGES.filters |= {"ticked": ticked, "paragraphs": paragraphs}


def called(student: str, name: str | None) -> str:
    """A student on a page: the name where it is known, and the id."""
    return one_line(f"{name} ({student})" if name else student)


@pass_context
def in_people(context: Context, student: str) -> str:
    """The same for a page that was given ``people``, the names by id."""
    return called(student, context.get("people", {}).get(student))


PAGES.filters["called"] = in_people


def render(template: str, /, **values: object) -> str:
    """The page that a template gives with these values, and with a policy.

    It allows the template's own scripts, and no other.
    """
    page = PAGES.get_template(template).render(values)
    source = (Path(__file__).parent / template).read_text("utf-8")
    scripts = [
        f"'sha256-{base64.b64encode(sha256(code.encode()).digest()).decode()}'"
        for code in SCRIPT.findall(source)
    ]
    rule = f"{POLICY}; script-src {' '.join(scripts)}" if scripts else POLICY
    return page.replace(CHARSET, f"{CHARSET}\n{policy(rule)}", 1)


def policy(rule: str = POLICY) -> str:
    """The element that tells a browser what a page may do."""
    return f'<meta http-equiv="Content-Security-Policy" content="{rule}">'
