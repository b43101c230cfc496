"""Visible half of the wrong functions that a student's own test is tried on.

Some questions ask for a test of a function, such as ``softmax``. The students' package
has half of the wrong functions, as packed text, and ``Game`` says which of them the
test catches; grading adds the other half. Right versions are packed, too: the functions
are the book's own, so they reveal no solution.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autograder.checks.failures import NO_EXCEPTION, CheckFailed
from autograder.checks.planted import ACCEPTS, REJECTS, Verdict, verdicts

ASSERTS = "an AssertionError: `assert` what must be true of a right result"
FOLLOWS = "no error: what your check demands has to follow from the card"
OPEN = (
    "Your check accepts other right functions, but it rejects this one for something "
    "that the card does not ask for."
)
OTHER = (
    "No right function returns the value that your check compares with: your "
    "expected value is wrong."
)
RIGHT_RESULTS = ("in-place", "warns-for-empty")  # mistakes whose results are right


@dataclass(frozen=True)
class HuntFunctions:
    """Right and wrong functions by id: what is said of each, and its code."""

    prelude: str
    right: dict[str, tuple[str, str]]
    wrong: dict[str, tuple[str, str]]

    def packed(self) -> str:
        """Compressed text, for the students' wheel."""
        text = json.dumps([self.prelude, self.right, self.wrong])
        return base64.b85encode(zlib.compress(text.encode(), 9)).decode()

    @classmethod
    def unpacked(cls, text: str) -> HuntFunctions:
        """The inverse of :meth:`packed`."""
        return cls(*json.loads(zlib.decompress(base64.b85decode(text))))

    def functions(self, name: str) -> tuple[list[Any], list[Any]]:
        """The right ones and the wrong ones."""
        start: dict[str, Any] = {}
        exec(compile(self.prelude, "<prelude>", "exec", dont_inherit=True), start)

        def made(id: str, code: str) -> Any:
            names = dict(start)
            exec(compile(code, f"<{id}>", "exec", dont_inherit=True), names)
            return names[name]

        right, wrong = (
            [made(id, code) for id, (_, code) in entries.items()]
            for entries in (self.right, self.wrong)
        )
        return right, wrong


class Game:
    """The visible check of a student's test: it accepts right functions only."""

    def __init__(
        self, name: str, subject: str, half: Callable[[], HuntFunctions]
    ) -> None:
        self.name, self.subject, self.find = name, subject, half
        self.__doc__ = f"Your check tells a right `{subject}` from wrong ones."
        self.last: tuple[Any, dict[str, Verdict]] | None = None

    @cached_property
    def half(self) -> HuntFunctions:
        """The functions of the visible half."""
        return self.find()

    @cached_property
    def functions(self) -> tuple[list[Any], list[Any]]:
        """The functions of that half, made once."""
        return self.half.functions(self.subject)

    def tried(self, check: Any) -> dict[str, Verdict]:
        """What a check says of each function, by id."""
        said = verdicts(check, *self.functions, self.subject)
        found = dict(zip([*self.half.right, *self.half.wrong], said, strict=True))
        self.last = check, found
        return found

    def __call__(self, check: Any) -> None:
        """Raises CheckFailed where no right one is accepted or no wrong one rejected.

        Else what is left to do is printed.
        """
        found, name, half = self.tried(check), self.subject, self.half
        right = {id: found[id] for id in half.right}
        wrong = {id: found[id] for id in half.wrong}
        accepted = [id for id, one in right.items() if one.said == ACCEPTS]
        caught = [id for id, one in wrong.items() if one.said == REJECTS]
        if not accepted:
            one = next(iter(right.values()))
            if one.why:
                raise one.why
            at = one.asserted
            raise CheckFailed(
                f"your check rejects all {len(right)} right ways to write `{name}` "
                f"that were tried{at.seen if at else ''}",
                FOLLOWS,
                place=at.place if at else "",
                reason=(at.reason if at else "")
                or self.demanded(wrong)
                or (OTHER if at and at.seen else rejects_of(wrong)),
            )
        if not caught:
            raise nothing_caught(list(wrong.values()), name)
        print(f"{self.name}: caught {len(caught)} of {len(wrong)} mistakes")
        others = ((half.right[id][0], one) for id, one in right.items())
        for line in refusals(name, others):
            print(line)
        for id in wrong:
            word = "caught" if id in caught else "missed"
            stopped = " (another error stopped your check)" if wrong[id].why else ""
            print(f"  {word}:   {half.wrong[id][0]}{stopped}")

    def demanded(self, wrong: dict[str, Verdict]) -> str:
        """The mistakes that a check accepts in place of right answers, if few are."""
        found = [id for id, one in wrong.items() if one.said == ACCEPTS]
        found = [id for id in found if not id.endswith(RIGHT_RESULTS)]
        if not 0 < len(found) <= 2:
            return ""
        said = " ".join(self.half.wrong[id][0] for id in found)
        return f"It demands a mistake: {said}"


def refusals(name: str, right: Iterable[tuple[str, Verdict]]) -> Iterator[str]:
    """Lines about right functions that a check does not accept; each reason once."""
    told: set[str] = set()
    for style, verdict in right:
        if verdict.said == ACCEPTS:
            continue
        at = verdict.asserted
        line = f"  refused:  a right `{name}` ({style}){at.seen if at else ''}"
        yield line + (f": {verdict.why.seen}" if verdict.why else "")
        likely = (at and at.reason) or (verdict.why.reason if verdict.why else OPEN)
        why = [f"  at:       {at.place}"] if at else []
        why += [f"  likely:   {likely}"] if likely else []
        yield from (more for more in why if more not in told)
        told |= {*why}


def rejects_of(wrong: dict[str, Verdict]) -> str:
    """That a check that rejects all right functions rejects all wrong ones, too."""
    if any(one.said != REJECTS for one in wrong.values()):
        return ""
    return "Your check rejects every function that was tried, right or wrong."


def nothing_caught(wrong: list[Verdict], name: str) -> CheckFailed:
    """Why a check that catches nothing does not: it asserts too little, or raises."""
    reasons = [one.why for one in wrong if one.why]
    if len(reasons) == len(wrong):
        why = reasons[0]
        if why.expected == NO_EXCEPTION:
            why.expected = ASSERTS
            why.reason = why.reason or "Only an AssertionError rejects a function."
        return why
    stopped = f", and another error stopped it on {len(reasons)}" if reasons else ""
    hint = "no `assert` of yours is reached: an `except` around it catches the error"
    if reasons:
        hint = (
            "your check raises another error; only an AssertionError rejects a function"
        )
    return CheckFailed(
        f"your check accepts {len(wrong) - len(reasons)} of {len(wrong)} wrong ways "
        f"to write `{name}`{stopped}",
        ASSERTS,
        reason=f"Your assertions are true of these functions too, or {hint}.",
    )
