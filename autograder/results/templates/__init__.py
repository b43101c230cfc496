"""Pages from templates; whatever a page shows is escaped."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.text import one_line

PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
PAGES.filters["one_line"] = one_line


def render(template: str, /, **values: object) -> str:
    """The page that a template gives with these values."""
    return PAGES.get_template(template).render(values)
