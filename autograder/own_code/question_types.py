"""The list of quiz question types about one's own code, and how choices are drawn.

A type yields drafts; :func:`posed` makes questions of them that have exactly one right
choice. What stands in the text already, or has too few choices, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from autograder.own_code.answer_record import LEAST, MOST, Draft, Subject
from autograder.own_code.call_questions import DTYPES, dtype, shape, times, value
from autograder.own_code.what_if_questions import (
    ENDINGS,
    breaks,
    change,
    fails,
    overflows,
    raises,
)

Kind = Callable[[Subject], Iterator[Draft]]
KINDS: tuple[Kind, ...] = (
    *(shape, dtype, value, times),
    *(change, fails, breaks, overflows, raises),
)
FIXED = [*DTYPES, *ENDINGS.values()]  # choices that stand in this order


@dataclass(frozen=True)
class Asked:
    """A question about one's own code: ``choices[key]`` is right, and ``why``.

    In ``text`` and ``why``, backticks enclose code and four spaces begin a line of it.
    """

    kind: str
    text: str
    choices: list[str]
    key: int
    why: str

    def plain(self) -> dict[str, Any]:
        """As data that can be written to a file."""
        return dict(vars(self))


def posed(subject: Subject, kind: Kind) -> Iterator[Asked]:
    """The questions of a kind that have enough choices."""
    for text, right, wrong, why in kind(subject):
        others = [one for one in dict.fromkeys(wrong) if one != right][: MOST - 1]
        choices = subject.some([right, *others])
        if right in FIXED:
            choices.sort(key=FIXED.index)
        if len(choices) >= LEAST:
            key = choices.index(right)
            yield Asked(kind.__name__, text, choices, key, why)
