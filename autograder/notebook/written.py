"""Search for a written answer that a student put into another cell than its own.

It may be in an added text cell, a string or a comment. If there is one, the question
waits for a person instead of counting as unanswered.
"""

from __future__ import annotations

import re

from autograder.notebook.records import (
    GRADED,
    MatchedCell,
    Position,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.texts import text_key

# a comment, a long text, a text in a line
WORDS = re.compile(
    r"#(.*)"
    r"|\"\"\"([\s\S]*?)\"\"\"|'''([\s\S]*?)'''"
    r"|\"([^\"\n]*)\"|'([^'\n]*)'"
)
PROSE_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex|writefile)\b")


def words_near(
    cell: ReleasedCell,
    release: Release,
    submitted: list[SubmittedCell],
    found: dict[str, int],
    own: list[tuple[Position, MatchedCell]],
) -> bool:
    """Whether the answer to a written question may stand in another cell.

    Any text that the student added may be it; in code, words from the graded cell
    before the question to the one after it.
    """
    course = {text_key(text) for text in release.nameless}
    index = release.cells.index(cell)
    places = [
        [
            found[other.grade_id]
            for other in cells
            if other.kind in GRADED and other.grade_id in found
        ]
        for cells in (release.cells[:index], release.cells[index + 1 :])
    ]
    start = max(places[0], default=-1)
    end = min((p for p in places[1] if p > start), default=len(submitted))
    return any(
        one.source.strip() if one.cell_type != "code" else has_words(one.source)
        for (place, _), one in own
        if (one.cell_type != "code" or start <= place <= end)
        and text_key(one.source) not in course
    )


def has_words(source: str) -> bool:
    """Whether code has a comment or a text of at least three words."""
    return bool(PROSE_MAGIC.match(source)) or any(
        len(" ".join(parts).split()) >= 3 for parts in WORDS.findall(source)
    )
