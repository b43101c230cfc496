"""Text of the book's chapters, by heading; failed checks point to these paragraphs.

The server for coding agents quotes them. Code is left out, since a chapter derives what
an exercise asks for; so are quizzes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
PACKED = HOME / "prose.json"  # in the students' wheel; made when it is built
TEXT = HOME.parent / "book" / "text"
FENCE = re.compile(r"(`{3,})(?:\{(\w+))?")
BOXES = {"admonition", "important", "note", "tip"}
ELEMENT = re.compile(r"<([a-z][a-z-]*)\b")
LABEL = re.compile(r"\([\w-]+\)=|:class: .*|%.*|\+\+\+.*")


@cache
def chapters() -> dict[str, dict[str, str]]:
    """The sections of each numbered chapter, by the id of the heading."""
    if PACKED.exists():
        return json.loads(PACKED.read_text("utf-8"))
    found = {}
    for path in sorted(TEXT.glob("[0-9][0-9]-*.md")):
        text = "\n".join(prose(path.read_text("utf-8")))
        parts = re.split(r"^##+ (.+)$", text, flags=re.M)[1:]
        found[path.stem] = {
            slug(title): re.sub(r"\n{3,}", "\n\n", f"{title}\n{body}").strip()
            for title, body in zip(parts[::2], parts[1::2], strict=True)
        }
    return found


def prose(text: str) -> Iterator[str]:
    """The lines of a chapter that are neither code nor an element of the page."""
    end = ""  # of what is skipped
    for line in text.splitlines():
        if end:
            end = "" if line == end else end
        elif fence := FENCE.match(line):
            inside = line != fence[1] and fence[2] not in BOXES
            end = fence[1] if inside else ""
        elif element := ELEMENT.match(line):
            close = f"</{element[1]}>"
            end = "" if line.endswith(close) else close
        elif not LABEL.fullmatch(line):
            yield line


def slug(title: str) -> str:
    """The id that a heading has on the page."""
    return re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
