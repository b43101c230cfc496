"""A variant of an exercise: the examples on its cards, drawn from a code.

The same code gives the same examples on every machine: in a notebook, in the page, in
``autograder check`` and in grading. Where there is no code, nothing is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
FOLLOWS = "Your card's example: {text}"


@dataclass(frozen=True)
class Example:
    """What a card says by way of example, and the visible check that it holds.

    ``marks`` are rows of four numbers or more by which it is known again in code; they
    have to be so many that two students hardly ever choose the same.
    """

    text: str
    check: Callable[[Any], None]
    marks: tuple[tuple[float, ...], ...] = ()

    def visible(self) -> Callable[[Any], None]:
        """The check, with the sentence that students read."""

        def check(answer: Any) -> None:
            self.check(answer)

        check.__doc__ = FOLLOWS.format(text=self.text)
        return check


@dataclass(frozen=True)
class Worked:
    """An example that may be drawn: how the card has it for everybody, and how else.

    ``about`` keeps the draws of different questions apart.
    """

    printed: str
    about: str
    draw: Callable[[Draw], Example]

    def of(self, code: str) -> Example:
        """The example of a variant."""
        return self.draw(Draw(code, self.about))


class Draw:
    """Numbers that depend on nothing but a text."""

    def __init__(self, *about: str) -> None:
        self.about, self.count = "\0".join(about), 0

    def number(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        self.count += 1
        digest = hashlib.sha256(f"{self.about}\0{self.count}".encode()).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def one_of(self, things: Sequence[T]) -> T:
        """One of several things."""
        return things[self.number(0, len(things) - 1)]

    def some_of(self, things: Sequence[T], count: int) -> list[T]:
        """Several different ones, in any order."""
        left = list(things)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def parts(self, total: int, count: int, least: int = 1) -> list[int]:
        """Integers of at least ``least`` that sum to ``total``."""
        while True:
            most = total - least * (count - 1)
            drawn = [self.number(least, most) for _ in range(count - 1)]
            if total - sum(drawn) >= least:
                return [*drawn, total - sum(drawn)]


def row(numbers: Any, digits: int | None = None) -> str:
    """Numbers, or rows of them, as a card writes them."""
    if hasattr(numbers, "tolist"):
        numbers = numbers.tolist()
    if isinstance(numbers, list | tuple):
        return f"[{', '.join(row(each, digits) for each in numbers)}]"
    if isinstance(numbers, bool):
        return str(numbers)
    return f"{numbers:.{digits}f}" if digits is not None else f"{numbers:.10g}"
