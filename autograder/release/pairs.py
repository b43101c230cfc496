"""Two mistakes at once: compositions of catalogued answers, for the table of mistakes.

Both are taken as changes of the reference's text. Where they change other places of it,
they are made together, as when two branches are merged.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from autograder.checks.entries import Mistake

WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
MOST = 150  # of a question: the catalog has frequent mistakes first

Change = tuple[int, int, list[str]]  # from, to, what stands there instead


def pairs(
    reference: str, entries: list[Mistake]
) -> Iterator[tuple[Mistake, Mistake, str]]:
    """Two different mistakes and a program that makes both, the frequent ones first."""
    words = WORD.findall(reference)
    made = [(entry, changes(words, WORD.findall(entry.code))) for entry in entries]
    places = [(i, j) for j in range(len(made)) for i in range(j)]
    found = 0
    for i, j in sorted(places, key=sum):
        (one, first), (other, second) = made[i], made[j]
        code = merged(words, first, second) if one.id != other.id else None
        if code and found < MOST:
            found += 1
            yield one, other, code


def changes(old: list[str], new: list[str]) -> list[Change]:
    """What makes one text of another."""
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(a, b, new[c:d]) for kind, a, b, c, d in steps if kind != "equal"]


def merged(words: list[str], first: list[Change], second: list[Change]) -> str | None:
    """The text with both changes; None where they touch, or where it is not Python."""
    every = sorted([*first, *second], key=lambda change: change[:2])
    if any(one[1] >= other[0] for one, other in itertools.pairwise(every)):
        return None
    result = list(words)
    for start, end, new in reversed(every):
        result[start:end] = new
    code = "".join(result)
    try:
        ast.parse(code)
    except SyntaxError:
        return None
    return code
