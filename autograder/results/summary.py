"""The top of a feedback page: every question, its points, and what to do next.

nbgrader's template gives the notebook below it. Its list of test cells and its style
are replaced: a page is readable on a phone, on a dark screen, and without a network.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.verdict import QuestionResult, Verdict
from autograder.results.standing import sentences
from autograder.results.templates import policy, render

STYLE = Path(__file__).parent / "templates" / "feedback.css"
HEADING = re.compile(
    r'<div class="panel-heading">\s*<h4>.*?</ol>\s*</div>\s*</div>', re.S
)
SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.S | re.I)
STYLES = re.compile(r"<style\b[^>]*>.*?</style>", re.S)
LIKELY = re.compile(r"^ *likely: +(.+)$", re.M)
READ = re.compile(r"^ *read: +([\w-]+)(#[\w-]+)", re.M)
COMMENT = re.compile(r'href="#comment-([^"]+)"')
BROKEN = re.compile(r"Not yet:\n +- (.+)")
# a message's first lines are shown, and the rest opens
POINTS = r"<pre>\n[\w/.-]+: [\d.]+ of [\d.]+ points\n"
LONG = re.compile(rf"({POINTS}(?:[^\n<]*\n){{7}})((?:[^\n<]+\n)+[^\n<]+</pre>)")
VISIBLE = re.compile(r"^[^\n:]*, (visible check \d+ of \d+): (.+)$", re.M)


def with_summary(
    page: str, verdict: Verdict, who: str, notebook: str, book: str
) -> str:
    """nbgrader's page with a summary in place of its list, and with our style.

    Its scripts go, and a policy forbids any. ``who`` is whose work it is, ``notebook``
    the name of the page's notebook, ``book`` the address before the names of pages, or
    empty. Raises CourseError where the template has no list.
    """
    own = [
        q
        for q in verdict.questions
        if "/" not in q.id or q.id.startswith(notebook + "/")
    ]
    head, body = SCRIPT.sub("", page).split("<body", 1)
    summary = render(
        "summary.html",
        title=notebook,
        who=who,
        book=book,
        lines=[(q, sentence(q), READ.search(q.message or "")) for q in own],
        commented=set(COMMENT.findall(body)),
        score=f"{verdict.score or 0:g} of {verdict.max_score:g}",
        so_far=not verdict.final,
        remarks=sentences(verdict),
    )
    body, lists = HEADING.subn(lambda _: summary, body, count=1)
    if not lists or "<head>" not in head:
        raise CourseError(
            "The feedback template needs a <head> element, and a list of test cells."
        )
    rest = r"\1</pre><details><summary>The rest</summary><pre>\2</details>"
    body = LONG.sub(rest, body)
    for question in own:
        if question.waiting:  # no zero above an answer that nobody has graded yet
            name = re.escape(escape(question.id.rpartition("/")[2]))
            score = rf'(<a name="{name}"></a>.*?)Score: [\d.]+ / [\d.]+'
            waits = rf"\g<1>not graded yet, of {question.max_score:g}"
            body = re.sub(score, waits, body, count=1, flags=re.S)
    size = '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    ours = f"{size}<style>{STYLE.read_text('utf-8')}</style>\n</head>"
    head = STYLES.sub("", head).replace("</head>", ours, 1)
    return f"{head}<body{body}".replace("<head>", f"<head>\n{policy()}", 1)


def sentence(question: QuestionResult) -> str:
    """The diagnosis, or the first thing that is wrong; one sentence."""
    message = question.message or ""
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
    first = message.strip().partition("\n")[0] or "Not answered."
    return first.removeprefix(f"{question.id.removeprefix('test_')}: ")
