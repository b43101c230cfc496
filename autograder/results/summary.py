"""The top of a feedback page: every question, its points, and what to do next.

nbgrader's template gives the notebook below it. Its list of test cells and its style
are replaced: a page is readable on a phone, on a dark screen, and without a network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup
from nbconvert.preprocessors import Preprocessor

from autograder.grading.verdict import QuestionResult, Verdict
from autograder.results.standing import sentences
from autograder.results.templates import render
from autograder.text import directed

STYLE = Path(__file__).parent / "templates" / "feedback.css"
HEADING = re.compile(
    r'<div class="panel-heading">\s*<h4>.*?</ol>\s*</div>\s*</div>', re.S
)
STYLES = re.compile(r"<style\b[^>]*>.*?</style>", re.S)
LIKELY = re.compile(r"^ *likely: +(.+)$", re.M)
READ = re.compile(r"^ *read: +([\w-]+)(#[\w-]+)", re.M)
BROKEN = re.compile(r"Not yet:\n +- (.+)")
VISIBLE = re.compile(r"^[^\n:]*, (visible check \d+ of \d+): (.+)$", re.M)
CARD = 400  # characters; a longer text of the release is folded


@dataclass(frozen=True)
class Line:
    """A question in the summary: how it went, in one sentence, and where to read."""

    name: str
    anchor: str
    points: str
    state: str
    sentence: str
    place: str = ""
    address: str = ""
    comment: bool = False


def with_summary(
    page: str, verdict: Verdict, who: str, notebook: str, book: str
) -> str:
    """nbgrader's page with a summary in place of its list, and with our style.

    ``who`` is whose work it is, ``notebook`` the name of the page's notebook, ``book``
    the address before the names of pages, or empty. Raises ValueError where the
    template has no list.
    """
    own = [
        q
        for q in verdict.questions
        if "/" not in q.id or q.id.startswith(notebook + "/")
    ]
    head, body = page.split("<body", 1)
    lines = [line(question, body, book) for question in own]
    summary = render(
        "summary.html",
        title=notebook,
        who=who,
        lines=lines,
        score=f"{verdict.score or 0:g} of {verdict.max_score:g}",
        so_far=not verdict.final,
        remarks=sentences(verdict),
    )
    found = HEADING.search(body)
    if found is None:
        raise ValueError("the feedback template has no list of cells to replace")
    body = body[: found.start()] + summary + body[found.end() :]
    for question in verdict.waiting:
        if question in own:
            body = without_zero(body, question)
    own_style = f"<style>{STYLE.read_text('utf-8')}</style>\n"
    size = '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    head = STYLES.sub("", head).replace("</head>", f"{size}{own_style}</head>", 1)
    return f"{head}<body{body}"


def without_zero(body: str, question: QuestionResult) -> str:
    """nbgrader's page without the zero above an answer that nobody has graded yet.

    A page that shows no score for this question stays as it is.
    """
    name = re.escape(escape(question.id.rpartition("/")[2]))
    return re.sub(
        rf'(<a name="{name}"></a>.*?)Score: [\d.]+ / [\d.]+',
        rf"\g<1>not graded yet, of {question.max_score:g}",
        body,
        count=1,
        flags=re.S,
    )


def line(question: QuestionResult, page: str, book: str) -> Line:
    """What the summary says of one question."""
    anchor = question.id.rpartition("/")[2]
    message = question.message or ""
    most = f"{question.max_score:g}"
    if question.waiting:
        points, state = f"not graded yet, of {most}", "waits"
    else:
        points = f"{question.score or 0:g} of {most}"
        state = "right" if question.full else "open"
    read = READ.search(message)
    place = "".join(read.groups()) if read else ""
    return Line(
        name=anchor.removeprefix("test_"),
        anchor=anchor,
        points=points,
        state=state,
        sentence=sentence(question, message),
        place=place,
        address=f"{book}{read[1]}.html{read[2]}" if read and book else "",
        comment=f'href="#comment-{anchor}"' in page,
    )


def sentence(question: QuestionResult, message: str) -> str:
    """The diagnosis, or the first thing that is wrong; one sentence."""
    if question.waiting:
        return "A person will read this answer."
    if question.by_hand and not message:
        return "Graded by hand."
    if question.full:
        return "All checks pass."
    if found := LIKELY.search(message):
        return found[1]
    if found := BROKEN.search(message):
        return f"A hidden check fails: {found[1]}"
    if found := VISIBLE.search(message):
        return f"{found[1].capitalize()} fails: {found[2]}"
    first = message.strip().split("\n")[0] if message.strip() else "Not answered."
    return first.removeprefix(f"{question.id.removeprefix('test_')}: ")


class FoldCards(Preprocessor):  # type: ignore[misc]
    """Folds the long texts of the release under their headings: answers come first.

    And spells out what would change the order of letters in code.
    """

    def preprocess(self, notebook: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with such a text as a fold; answers in words stay open."""
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.source = directed(cell.source)
            about = cell.metadata.get("nbgrader", {})
            answer = about.get("solution") or about.get("grade") or about.get("task")
            heading, _, text = cell.source.partition("\n")
            if (
                cell.cell_type == "markdown"
                and heading.startswith("#")
                and len(text) > CARD
                and not answer
            ):
                title = heading.lstrip("# ").replace("`", "")
                fold = f"<details><summary>{Markup.escape(title)}</summary>"
                cell.source = f"{fold}\n\n{text.strip()}\n\n</details>"
        return notebook, resources
