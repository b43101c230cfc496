"""The likely reason of an exception, from its text, the line and the shapes in it.

A rule belongs to a pattern of the text that Python, NumPy or torch give. It returns a
sentence, or an empty one when it is not sure. What it says comes from the student's own
line, from numbers and from a few words; it tells what is wrong, and not the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.explain import axes, code, shapes, types
from autograder.explain.lines import line_at
from autograder.explain.values import Value

LONGEST_TEXT = 2000


def likely(
    source: str,
    number: int,
    columns: tuple[int, int],
    text: str,
    values: Sequence[Value],
) -> str:
    """The likely reason in a sentence; empty where none is sure.

    ``text`` is what the exception says; it was raised in line ``number`` of ``source``,
    in these columns, -1 where they are not known.
    """
    line = line_at(source, number, columns, text[:LONGEST_TEXT], values)
    if line is None:
        return ""
    books = shapes, axes, types, code
    return next(filter(None, (book.rules.first(line) for book in books)), "")
