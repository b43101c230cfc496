"""What a feedback page says of points that wait for a person, and of late work."""

from __future__ import annotations

import re
from html import escape

from autograder.grading.verdict import Verdict

STYLE = (
    "<style>.standing { border: 1px solid #b9770e; border-left-width: 6px; "
    "padding: .6em 1em; margin: 1em; font-size: 1.1em }</style>"
)


def sentences(verdict: Verdict) -> list[str]:
    """What a student has to know about the points so far."""
    said = []
    if waiting := verdict.waiting:
        names = ", ".join(question.id for question in waiting)
        said.append(
            f"Not final: {verdict.open_points:g} of {verdict.max_score:g} points are "
            f"not graded yet ({names}). A person will read "
            f"{'it' if len(waiting) == 1 else 'them'}."
        )
    if verdict.lateness:
        cost = "no points" if not verdict.penalty else f"{verdict.penalty:g} points"
        said.append(f"Handed in {verdict.lateness}; that costs {cost}.")
    return said


def with_standing(page: str, verdict: Verdict) -> str:
    """nbgrader's page, on which points that nobody gave do not look like points."""
    for question in verdict.waiting:
        name, most = re.escape(escape(question.id)), f"{question.max_score:g}"
        page = replaced(
            rf'(<a href="#{name}">[^<]*</a>\s*)\(Score: [^)]*\)',
            rf"\1(not graded yet, of {most})",
            page,
        )
        page = replaced(
            rf'(<a name="{name}"></a>.*?)Score: [\d.]+ / [\d.]+',
            rf"\1not graded yet, of {most}",
            page,
        )
    if verdict.waiting:
        page = replaced(r"(<h4>[^<]*)\(Score: ", r"\1(Score so far: ", page)
    said = sentences(verdict)
    if not said:
        return page
    box = "".join(f"<p>{escape(sentence)}</p>" for sentence in said)
    return replaced(
        r'(<a name="top"></a>)',
        rf'\1{STYLE}<div class="standing" role="note">{box}</div>',
        page,
    )


def replaced(pattern: str, by: str, page: str) -> str:
    """The first match alone; what students wrote comes after it."""
    return re.sub(pattern, by, page, count=1, flags=re.DOTALL)
