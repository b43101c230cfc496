"""A ladder: the lines of a right answer in disorder, among lines of known mistakes.

Who is stuck puts them in order. What comes of it is an answer like any other, and is
checked as ever: no order is stored where students can read it.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Ladder:
    """The body of the last function in ``code``, line by line.

    ``strays`` are lines that do not belong, each with the id of a mistake that has it.
    """

    question: str
    code: str
    strays: tuple[tuple[str, str], ...]

    @property
    def rungs(self) -> list[str]:
        """The lines that belong, in their order, as deep as the body indents them."""
        *_, body = re.split(r"^ *def .*\n", self.code, flags=re.MULTILINE)
        return textwrap.dedent(body).strip("\n").split("\n")

    @property
    def lines(self) -> list[str]:
        """All lines, in an order that tells nothing and is the same every time."""
        every = {*self.rungs, *(line for _, line in self.strays)}
        return sorted(every, key=lambda line: hashlib.sha256(line.encode()).digest())
