"""``autograder feedback``: HTML pages for students: notebook, points, messages.

Nothing that a student wrote can run in them as a script.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import bleach
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import MarkdownWithMath

from autograder.course import Assignment, Course
from autograder.errors import CourseError, TooLong
from autograder.files import write_whole
from autograder.grading import point_history
from autograder.grading.autograded import with_attachments
from autograder.grading.verdict import Verdict
from autograder.intake.notebook_file import RECEIPT, receipt_of
from autograder.intake.versions import origin_of
from autograder.notebook.time_limit import at_most
from autograder.options import (
    add_assignments,
    add_book,
    add_flag,
    add_student,
    describe,
)
from autograder.results.feedback_zip import ORDER, PLATFORMS, write_zips
from autograder.results.formulas import Formulas
from autograder.results.history import up_to_date
from autograder.results.other_answers import ShowWays, may_be_shown, other_ways
from autograder.results.page_size import CutTexts
from autograder.results.summary import with_summary
from autograder.results.templates import POLICY, called
from autograder.text import listed, one_line

log = logging.getLogger(__name__)

# what Markdown makes, and the little HTML that exercise cards use
TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "del", "em", "hr", "i", "kbd", "p"),
    *("pre", "s", "span", "strong", "sub", "sup", "u", "div", "details", "summary"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td", "img"),
}
ATTRIBUTES = {
    **{"a": ["href", "title"], "img": ["alt"], "*": ["class"]},
    **{"td": ["align"], "th": ["align"]},
}
PICTURES = ("image/png", "image/jpeg")
ATTACHED = re.compile(r'src="(data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=\s]+)"')
PLAIN = "<pre>{}</pre>"  # a text as it was written
# characters of a text that is read as Markdown or colored, and of all those of a page
LONGEST, TOGETHER = 50_000, 400_000
# of processor time: some Markdown could be read for days
TEXT_SECONDS, TEXTS_SECONDS, PAGE_SECONDS = 2.0, 5.0, 60.0
TICK = 0.01  # seconds by which the kernel's timer may ring early
Attachments = Mapping[str, Mapping[str, str]]


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder feedback`."""
    describe(
        verb,
        "If a page cannot be generated, the command reports it, writes the others, and "
        "exits with code 1.",
        "autograder feedback 01-means",
    )
    add_assignments(verb)
    add_student(verb)
    add_book(verb)
    words = (
        "for each assignment, also write a zip of the pages whose points are final, "
        "for this platform's bulk upload; a team gets one page, and with moodle-4.1, "
        "as Moodle 4.1 and older need it, each of its members one"
    )
    verb.add_argument("--zip", choices=PLATFORMS, help=words)
    words = (
        "only pages that are out of date, and those of students who never had one; "
        "see `autograder history`"
    )
    add_flag(verb, "--again", words)


def run(options: argparse.Namespace) -> int:
    """Write the pages; 1 when one could not be written."""
    course = Course.find()
    assignments = course.chosen(options.assignments)
    lines = up_to_date(course)
    due = {a.name: point_history.to_send(lines, a.name) for a in assignments}
    only = due if options.again else None
    if options.again and not any(due.values()):
        raise CourseError("There are no new or changed feedback pages.")
    written, failures = write_feedback(
        course, assignments, options.students, options.book or course.book(), only
    )
    for line in not_for_the_exchange(course, written):
        print(line)
    for failure in failures:
        print(f"no feedback: {failure}", file=sys.stderr)
    pages = sum(map(len, written.values()))
    noun = "page is" if pages == 1 else "pages are"
    print(f"{pages} feedback {noun} in {course.feedback}.")
    for name, students in written.items():
        if listing := [words for who, words in due[name].items() if who in students]:
            print(f"{name}: pages to send, new or changed: {listed(listing)}")
    if options.zip:
        paths, left = write_zips(course, assignments, options.zip, only)
        order = [ORDER] if options.zip.startswith("moodle") else []
        for line in (*left, *(f"wrote {path}" for path in paths), *order):
            print(one_line(line))
    for name, students in written.items():
        point_history.sent(course, name, students)
    return 1 if failures else 0


@pass_context
def safe_markdown(context: Context | Mapping[str, Any], source: str) -> str:
    """The filter that shows Markdown cells, with the pictures attached to a cell.

    nbgrader_config.py gives it to every HTMLExporter, formgrader's too.
    """
    attachments = context.get("cell", {}).get("attachments", {})
    plain = PLAIN.format(escape(source))
    return in_page(context, source, lambda: html_of(source, attachments), plain)


@pass_context
def safe_code(
    context: Context | Mapping[str, Any],
    source: str,
    language: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> str:
    """The filter that colors code, within the time that texts of a page have."""
    color = Highlight2HTML("ipython3")
    plain = f'<div class="highlight">{PLAIN.format(escape(source))}</div>'
    return in_page(context, source, lambda: color(source, language, metadata), plain)


def in_page(
    context: Context | Mapping[str, Any],
    source: str,
    make: Callable[[], str],
    plain: str,
) -> str:
    """What ``make`` gives in the time that a page's texts still have, else ``plain``.

    There is none once they are too many letters: a regular expression of a library may
    run on when its time is over, so time alone does not bound a page of many cells.
    """
    resources = context.get("resources", {})
    read = resources.get("characters_of_texts", 0) + len(source)
    left: float = resources.get("seconds_for_texts", TEXTS_SECONDS)
    resources["characters_of_texts"] = read
    started, html = time.process_time(), plain
    if len(source) <= LONGEST and read <= TOGETHER and left > TICK:
        with suppress(TooLong, RecursionError), at_most(min(left, TEXT_SECONDS)):
            html = make()
    resources["seconds_for_texts"] = left - (time.process_time() - started)
    return html


def html_of(source: str, attachments: Attachments) -> str:
    """Markdown as HTML without scripts, styles, or pictures from elsewhere."""
    pictures = Pictures(
        (name, {kind: data for kind, data in kinds.items() if kind in PICTURES})
        for name, kinds in attachments.items()
        if set(kinds) & set(PICTURES)
    )
    renderer = Formulas(escape=False, attachments=pictures)
    html = MarkdownWithMath(renderer=renderer).render(
        with_attachments(source, set(pictures))
    )
    places = set()

    def set_aside(picture: re.Match[str]) -> str:
        places.add(place := renderer.keep("", picture[1]))
        return f'src="{place}"'

    def allowed(tag: str, name: str, value: str) -> bool:
        if name == "src":
            return value in places
        return name in ATTRIBUTES["*"] or name in ATTRIBUTES.get(tag, [])

    html = ATTACHED.sub(set_aside, html)
    schemes = {"http", "https", "mailto"}
    return renderer.put_back(bleach.clean(html, TAGS, allowed, schemes))


class Pictures(dict[str, Mapping[str, str]]):
    """Attachments by name; in place of one that is not there, an empty picture.

    nbconvert would give up the whole page for it.
    """

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Mapping[str, str]:
        return {"image/png": ""}


def write_feedback(
    course: Course,
    assignments: list[Assignment],
    students: Sequence[str] = (),
    book: str = "",
    only: Mapping[str, Collection[str]] | None = None,
) -> tuple[dict[str, list[str]], list[str]]:
    """Write feedback/<student>/<assignment>/<notebook>.html.

    For whom, by assignment, and a line for each page that could not be made; these
    stop no other. ``book`` is the address before the pages' names; empty: there are
    no links. ``only`` has the students, by assignment; None means all.
    """
    from autograder.grading.store import Store

    written: dict[str, list[str]] = {}
    failures = []
    with Store(course) as store:
        exporter = make_exporter(course)
        people = store.names()
        for assignment in assignments:
            results = store.results(assignment.name)
            mine = results if only is None else only[assignment.name]
            chosen = [w for w in results if w in mine and w in (students or results)]
            store.enter_penalties(assignment.name, chosen)
            shown = chosen and may_be_shown(course, store, assignment.name)
            for who in chosen:
                if (verdict := results[who]).held:
                    continue
                origin = origin_of(course, who, assignment.name)
                shared = origin.team if origin and origin.group else ""
                name = shared or called(who, people.get(who))
                pages: dict[str, str] = {}
                try:
                    for notebook in (part.notebook for part in assignment.parts):
                        place = Path(who, assignment.name, notebook)
                        ways = other_ways(notebook, verdict) if shown else {}
                        with at_most(PAGE_SECONDS, "make this page"):
                            page = render(exporter, course, store.url, place, ways)
                            page = with_summary(page, verdict, name, notebook, book)
                            pages[f"{notebook}.html"] = with_links(page, book)
                    store_pages(course, Path(who, assignment.name), pages, verdict)
                except Exception as error:
                    log.exception("no feedback for %s, %s", who, assignment.name)
                    why = str(error) or type(error).__name__
                    failures.append(one_line(f"{who}, {assignment.name}: {why}")[:300])
                else:
                    written.setdefault(assignment.name, []).append(who)
    if not written and not failures:
        raise CourseError("Nothing is graded yet, so there is no feedback to write.")
    return written, failures


def store_pages(
    course: Course, place: Path, pages: dict[str, str], verdict: Verdict
) -> None:
    """Write a student's pages, and what nbgrader's exchange needs to deliver them.

    The student's side looks for a page under the name of the notebook as it was handed
    in, so a page is there under this name, too. What belongs to another submission goes
    first: a run that is cut off leaves nothing that could be sent as the answer to it.
    """
    folder, graded = course.feedback / place, course.autograded / place
    for name in RECEIPT:
        (folder / name).unlink(missing_ok=True)
    named = {
        Path(file).with_suffix(".html").name: pages[f"{notebook}.html"]
        for notebook, file in verdict.files.items()
        if f"{notebook}.html" in pages
    }
    for name, page in (named | pages).items():
        write_whole(folder / name, page)
    for path in folder.glob("*.html"):
        if path.name not in named | pages and POLICY in path.read_text("utf-8"):
            path.unlink()  # ours, of a submission with another name
    for name, data in receipt_of(graded).items():
        write_whole(folder / name, data)


def not_for_the_exchange(
    course: Course, written: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """A line about pages without a secret, where others of the course have one.

    Or where the work came by an exchange, and not by ``autograder collect``.
    """
    for assignment, students in written.items():
        folders = {who: course.feedback / who / assignment for who in students}
        time, secret = (
            {who for who, folder in folders.items() if (folder / name).is_file()}
            for name in RECEIPT
        )
        bare = [who for who in students if who not in secret]
        ours = {who for who in time if origin_of(course, who, assignment)}
        if bare and (secret or time - ours):
            yield (
                f"{assignment}: nbgrader's exchange cannot send the pages of "
                f"{listed(bare)}, since their work came without {RECEIPT[1]}; leave "
                f"them out with --CourseDirectory.student_id_exclude={','.join(bare)}"
            )


def make_exporter(course: Course) -> Any:
    """The exporter of nbgrader's GenerateFeedback, with its template and steps."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.converters import GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    config = course.nbgrader()
    converter = GenerateFeedback(coursedir=CourseDirectory(config=config))
    config.merge(converter.config)
    config.HTMLExporter.filters = {
        "markdown2html": safe_markdown,
        "highlight_code": safe_code,
        "strip_files_prefix": lambda text: text,  # nbconvert's is quadratic
    }
    config.HTMLExporter.mathjax_url = ""
    exporter = HTMLExporter(config=config)
    for step in (CutTexts, ShowWays, *converter.preprocessors):
        exporter.register_preprocessor(step, enabled=True)
    return exporter


def render(
    exporter: Any, course: Course, gradebook: str, place: Path, ways: Mapping[str, str]
) -> str:
    """The page of one autograded notebook; ``ways`` as :class:`ShowWays` has them."""
    graded = course.autograded / place.with_suffix(".ipynb")
    if not graded.is_file():
        raise CourseError(f"{graded} is missing; grade the assignment again.")
    about = dict(zip(("student", "assignment", "notebook"), place.parts, strict=True))
    resources: dict[str, Any] = {"unique_key": place.name, "other_ways": ways}
    resources["nbgrader"] = about | {"db_url": gradebook}
    page, _ = exporter.from_filename(str(graded), resources=resources)
    return str(page)


PAGE = re.compile(r'<a href="(?:\.\./)+book/([\w-]+)\.ipynb(#[\w-]+)?">(.*?)</a>')
PARAGRAPH = re.compile(r"(?<=  read:     )([\w-]+)(#[\w-]+)(?=\s|<)")


def with_links(page: str, book: str) -> str:
    """The page with links into the book, or with none where none lead.

    The released notebook links to its page as it lies beside it in the repository.
    """
    if not book:
        return PAGE.sub(r"\3", page)
    book = escape(book)
    page = PAGE.sub(rf'<a href="{book}\1.html\2">\3</a>', page)
    return PARAGRAPH.sub(rf'<a href="{book}\1.html\2">\1\2</a>', page)
