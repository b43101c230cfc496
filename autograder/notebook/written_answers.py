"""Written answers: what is none yet, and the search for one in another cell.

It may be in an added text cell, a string or a comment. If there is one, the question
waits for a person instead of counting as unanswered. What is handed in goes to a person
in any case: what looks like no answer is noted, and nothing more.
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
from autograder.notebook.text_diff import text_key
from autograder.text import lines_of

# a comment, a long text, a text in a line
WORDS = re.compile(
    r"#(.*)"
    r"|\"\"\"([\s\S]*?)\"\"\"|'''([\s\S]*?)'''"
    r"|\"([^\"\n]*)\"|'([^'\n]*)'"
)
LONGEST = 20_000  # characters; no question is as long
PROSE_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex|writefile)\b")


def why_open(text: str, release: Release) -> str:
    """Why a text is no answer yet; empty if it may be one."""
    words = words_of(text)
    if words[:1] == ["todo"]:
        return "it says that it is still to do"
    course = [cell.released for cell in release.cells if cell.cell_type != "code"]
    said, lines = " ".join(words), [ln for cell in course for ln in lines_of(cell)]
    if (words and any(words == words_of(line) for line in lines)) or (
        len(words) >= 5 and any(said in " ".join(words_of(cell)) for cell in course)
    ):
        return "it repeats the course's own words"
    # a sentence of some languages has no spaces
    return "it is a single word" if len(words) == 1 and said.isascii() else ""


def words_of(text: str) -> list[str]:
    """The words of a text, without signs and in small letters."""
    return re.findall(r"\w+", text[:LONGEST].casefold())


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
