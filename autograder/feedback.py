"""Feedback pages by nbgrader, on which nothing that a student wrote can run."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import bleach
from nbconvert.filters import markdown2html

from autograder.course import Assignment, Course, CourseError, write_whole

# what Markdown makes, and the little HTML that exercise cards use
TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "del", "em", "hr", "i", "kbd", "p"),
    *("pre", "s", "span", "strong", "sub", "sup", "u", "div", "details", "summary"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": ["href", "title"], "*": ["class"], "td": ["align"], "th": ["align"]}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def safe_markdown(source: str) -> str:
    """Markdown as HTML without scripts, pictures from elsewhere, or styles.

    nbgrader_config.py gives it to every HTMLExporter, formgrader's too.
    """
    return bleach.clean(
        markdown2html(source),
        tags=TAGS,
        attributes=ATTRIBUTES,
        protocols={"http", "https", "mailto"},
    )


def write_feedback(
    course: Course,
    assignments: list[Assignment],
    student: str | None = None,
    book: str = "",
) -> int:
    """Write feedback/<student>/<assignment>/<notebook>.html; how many.

    ``book`` is the address before the chapters' names; empty: there are no links.
    """
    from autograder.grading.store import Store

    written = 0
    with Store(course) as store:
        exporter = make_exporter(course)
        for assignment in assignments:
            for result in store.results(assignment.name):
                who = result["student"]
                if result["status"] != "graded" or student not in (None, who):
                    continue
                place = Path(who, assignment.name, assignment.notebook)
                page = render(exporter, course, store.url, place)
                page = with_links(safe_page(page), book)
                write_whole(course.feedback / place.with_suffix(".html"), page)
                written += 1
    if not written:
        raise CourseError("Nothing is graded yet, so there is no feedback to write.")
    return written


def make_exporter(course: Course) -> Any:
    """The exporter of nbgrader's GenerateFeedback, with its template and steps."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    config = course.nbgrader()
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config))
    config.merge(converter.config)
    config.HTMLExporter.filters = {"markdown2html": safe_markdown}
    config.HTMLExporter.mathjax_url = ""
    exporter = HTMLExporter(config=config)
    for step in converter.preprocessors:
        exporter.register_preprocessor(step, enabled=True)
    return exporter


def render(exporter: Any, course: Course, gradebook: str, place: Path) -> str:
    """The page of one autograded notebook."""
    student, assignment, notebook = place.parts
    about = {
        "student": student,
        "assignment": assignment,
        "notebook": notebook,
        "db_url": gradebook,
    }
    graded = course.autograded / place.with_suffix(".ipynb")
    if not graded.is_file():
        raise CourseError(f"{graded} is missing; grade the assignment again.")
    page, _ = exporter.from_filename(
        str(graded),
        resources={"unique_key": notebook, "nbgrader": about},
    )
    return page


def safe_page(page: str) -> str:
    """The page without the template's scripts, and with a policy that forbids any."""
    page = re.sub(r"<script\b.*?</script\s*>", "", page, flags=re.DOTALL | re.I)
    # fonts that the template's style would look for beside the page
    head, body = page.split("<body", 1)
    page = re.sub(r"@font-face\s*\{[^}]*\}", "", head) + "<body" + body
    policy = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    # the template's style takes the space between cells and the marks of hints
    style = (
        "<style>td, th { padding: 0.2em 0.6em } summary { display: list-item }</style>"
    )
    if "<head>" not in page:
        raise CourseError("The feedback template has no <head> to protect.")
    page = page.replace("</head>", f"{style}\n</head>", 1)
    return page.replace("<head>", f"<head>\n{policy}", 1)


CHAPTER = re.compile(r'<a href="(?:\.\./)+book/([\w-]+)\.ipynb(#[\w-]+)?">(.*?)</a>')
PARAGRAPH = re.compile(r"(?<=  read:     )([\w-]+)(#[\w-]+)(?=\s|<)")


def with_links(page: str, book: str) -> str:
    """The page with links to chapters and paragraphs, or with none where none lead.

    The released notebook links to its chapter as it lies beside it in the repository.
    """
    if not book:
        return CHAPTER.sub(r"\3", page)
    book = escape(book)
    page = CHAPTER.sub(rf'<a href="{book}\1.html\2">\3</a>', page)
    return PARAGRAPH.sub(rf'<a href="{book}\1.html\2">\1\2</a>', page)
