"""A question, its visible and hidden checks, and how a failure is told.

A check is a function that raises :class:`CheckFailed` when a property does not hold.
Its docstring is the sentence that students read.
"""

from __future__ import annotations

import builtins
import difflib
import itertools
import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.known import Trail, noted
from autograder.checks.places import HERE, place_of
from autograder.checks.surroundings import borrowed, not_written, settled

ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True)
class Misconception:
    """A known mistake: ``diagnosis`` is a sentence, ``read`` a place in the book."""

    id: str
    question: str
    diagnosis: str
    read: str


class CheckFailed(AssertionError):
    """A property does not hold: what was seen, what was expected, where to read.

    ``kind`` is one of "unanswered", "error", "type", "shape", "changed" and "value".
    """

    def __init__(
        self,
        seen: str,
        expected: str = "",
        *,
        read: str = "",
        kind: str = "value",
        place: str = "",
        title: str = "",
        misconception: Misconception | None = None,
    ) -> None:
        self.seen, self.expected, self.read = seen, expected, read
        self.kind, self.place = kind, place
        self.title, self.misconception = title, misconception
        super().__init__(str(self))

    def __str__(self) -> str:
        if self.kind == "unanswered":
            return f"{self.title}: no answer yet" if self.title else "no answer yet"
        lines = [self.title] if self.title else []
        lines.append(f"  seen:     {self.seen}")
        if self.place:
            lines.append(f"  at:       {self.place}")
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.misconception:
            lines.append(f"  likely:   {self.misconception.diagnosis}")
        read = self.misconception.read if self.misconception else self.read
        if read:
            lines.append(f"  read:     {read}")
        return "\n".join(lines)

    def about(self, title: str) -> CheckFailed:
        """The same failure with a title."""
        self.title = title
        return self

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines where it would show a traceback."""
        return [str(self)]


class Score(float):
    """Points earned by a question, with what its feedback says.

    A float, so that plain nbgrader reads it as partial credit from the cell's value.
    ``verdicts`` are what a student's own check said, if one was asked.
    """

    message: str | None
    misconception: Misconception | None
    verdicts: tuple[str, ...]

    def __new__(
        cls,
        points: float,
        message: str | None = None,
        misconception: Misconception | None = None,
        verdicts: tuple[str, ...] = (),
    ) -> Score:
        score = super().__new__(cls, points)
        score.message, score.misconception = message, misconception
        score.verdicts = verdicts
        return score


class Question:
    """The visible half of a graded name; call it with the student's answer.

    Raises CheckFailed at the first property that does not hold. ``read`` points into
    the book: a chapter's name, "#", the id of a heading. ``diagnose`` names the known
    misconception that behaves like an answer, if there is one; ``recognize`` the one of
    which the failing check, and if need be those after it, note the same.
    """

    def __init__(
        self,
        name: str,
        points: float,
        read: str,
        diagnose: Callable[[Any], Misconception | None] = lambda answer: None,
        recognize: Callable[[int, Trail], Misconception | None] = lambda n, trail: None,
    ) -> None:
        self.name, self.points, self.read = name, points, read
        self.diagnose, self.recognize = diagnose, recognize
        self.checks: list[Callable[[Any], None]] = []

    def visible(self, check: Callable[[Any], None]) -> Callable[[Any], None]:
        """Register a visible check; a decorator."""
        self.checks.append(check)
        return check

    def __call__(self, answer: Any) -> None:
        if module := borrowed(answer):
            raise CheckFailed(not_written(self.name, module), title=self.name)
        total = len(self.checks)
        for number, check in enumerate(self.checks, 1):
            failure, notes = noticed(check, answer)
            if failure is None:
                continue
            failure.read = failure.read or self.read
            if failure.kind == "unanswered":
                failure.title = self.name
            else:
                sentence = first_line(check)
                failure.title = (
                    f"{self.name}, visible check {number} of {total}: {sentence}"
                )
                others = (noticed(c, answer)[1] for c in self.checks[number:])
                trail = itertools.chain([notes], others)
                # by what visible checks see, it has the same name wherever this runs
                failure.misconception = self.recognize(number, trail) or self.diagnose(
                    answer
                )
            raise failure from None
        print(
            f"{self.name}: visible checks {total} of {total} hold; "
            "hidden checks run when you submit"
        )


class Hidden:
    """The hidden half of a question; call it once the visible checks hold.

    ``core`` is the share of the points that the visible checks stand for. Each hidden
    check adds its own share; all of them together make 1. The core is for an answer
    that does something with inputs it has not seen: one of the hidden checks holds, or
    it makes a mistake that is known. A table of the visible inputs earns nothing.
    """

    def __init__(self, question: Question, core: float) -> None:
        self.question, self.core = question, core
        self.checks: list[tuple[float, Callable[..., None]]] = []

    def check(self, share: float) -> Callable[[Callable[..., None]], Callable]:
        """Register a hidden check ``(answer, rng)`` worth ``share``; a decorator."""

        def register(check: Callable[..., None]) -> Callable[..., None]:
            self.checks.append((share, check))
            return check

        return register

    def __call__(self, answer: Any, seed: int | None = None) -> Score:
        """Points for ``answer``; inputs are drawn now, after the student's code ran."""
        rng = np.random.default_rng(seed)
        earned, broken = self.core, []
        for share, check in self.checks:
            with settled():
                failure = failure_of(check, answer, rng)
            if failure is None:
                earned += share
            else:
                broken.append((check, failure))
        points = round(self.question.points * min(earned, 1.0), 2)
        if not broken:
            return Score(self.question.points)
        misconception = self.question.diagnose(answer)
        if len(broken) == len(self.checks) and misconception is None:
            points = 0.0
        message = self._message(broken, misconception, points)
        print(message)
        return Score(points, message, misconception)

    def _message(
        self,
        broken: list[tuple[Callable[..., None], CheckFailed]],
        misconception: Misconception | None,
        points: float,
    ) -> str:
        """Name the broken properties, never an input or a value: those stay hidden."""
        question = self.question
        held = len(self.checks) - len(broken)
        lines = [
            f"{question.name}: the visible checks hold, and {held} of "
            f"{len(self.checks)} hidden ones; not yet:"
        ]
        for check, failure in broken:
            seen = "" if failure.kind == "value" else f" (seen: {failure.seen})"
            lines.append(f"  - {first_line(check)}{seen}")
        if not points:
            lines.append("  no points for the visible inputs alone")
        if misconception:
            lines.append(f"  likely:   {misconception.diagnosis}")
        lines.append(f"  read:     {(misconception or question).read}")
        return "\n".join(lines)


def noticed(
    check: Callable[..., None], answer: Any
) -> tuple[CheckFailed | None, list[str]]:
    """The failure of a visible check, if it fails, and what it has noted."""
    with settled(), noted() as notes:
        failure = failure_of(check, answer)
    if failure is None:
        return None, ["holds", "", *notes]
    return failure, [failure.kind, ADDRESS.sub("", failure.seen), *notes]


def failure_of(check: Callable[..., None], *args: Any) -> CheckFailed | None:
    """Run a check; whatever a student's answer makes it raise is a failure."""
    try:
        check(*args)
    except CheckFailed as failure:
        return failure
    except (Exception, SystemExit) as error:
        return told(error, hidden=len(args) > 1)
    return None


def told(error: BaseException, hidden: bool = False) -> CheckFailed:
    """Put an exception of the student's code into a sentence.

    The text of an exception is written by the student's code and could carry hidden
    inputs out, so in ``hidden`` checks only its type is told.
    """
    if isinstance(error, NotImplementedError):
        return CheckFailed("no answer yet", kind="unanswered")
    if sentence := getattr(error, "sentence", None):  # the wall's own words
        return CheckFailed(sentence, kind="error")
    kind, own = kind_of(error)
    if isinstance(error, SystemExit):
        return CheckFailed("your code ended the program", kind="error")
    if isinstance(error, NameError) and error.name and not hidden:
        known = nearest(error.name, names_in_reach(error))
        return CheckFailed(
            f"your code uses `{error.name}`, which no cell before this one defines"
            + (f"; did you mean `{known}`?" if known else ""),
            "code that still works after Restart & Run All",
            kind="error",
        )
    text = "" if hidden else " ".join(f"{own}{error}".split())[:300]
    return CheckFailed(
        f"your code raised {kind}{': ' if text else ''}{text}",
        "no exception",
        kind="error",
        place=where(error),
    )


def kind_of(error: BaseException) -> tuple[str, str]:
    """Python's own kind of an exception, and how a student's own kind is called.

    A class that a notebook derives from ValueError is a ValueError: ("ValueError",
    "OddWidth: ").
    """
    first, *bases = type(error).__mro__
    if vars(builtins).get(first.__name__) is first:
        return first.__name__, ""
    for kind in bases:
        if vars(builtins).get(kind.__name__) is kind and takes_text(kind):
            return kind.__name__, f"{first.__name__}: "
    return first.__name__, ""


def takes_text(kind: type) -> bool:
    """Whether a kind of exception is made of one text, as most are."""
    try:
        return isinstance(kind(""), Exception)
    except TypeError:
        return False


def where(error: BaseException) -> str:
    """The student's line that raised ``error``, with a caret; empty if unknown."""
    if told_place := getattr(error, "told_place", None):  # by the wall
        return told_place
    place = place_of(error)
    return place.told("".join(linecache.getlines(place.file))) if place else ""


def names_in_reach(error: BaseException) -> list[str]:
    """The names that the line which raised ``error`` could have used."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    frame = trace.tb_frame if trace else None
    # behind the wall the last line is the judge's own, whose names say nothing
    if frame is None or frame.f_code.co_filename.startswith(HERE):
        return []
    return [*frame.f_locals, *frame.f_globals]


def first_line(check: Callable[..., Any]) -> str:
    """The sentence that a check's docstring opens with."""
    return (check.__doc__ or check.__name__).strip().splitlines()[0].rstrip(".")


def nearest(name: str, names: list[str]) -> str | None:
    """The name most like ``name`` among ``names``, for "did you mean …?"."""
    by_fold = {candidate.casefold(): candidate for candidate in names}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), 1, 0.6)
    return by_fold[close[0]] if close else None
