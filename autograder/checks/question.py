"""A question with its visible and hidden checks: it runs them, and gives points.

A check is a function that raises :class:`CheckFailed` when a property does not hold.
Its docstring is the sentence that students read.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.checks.failures import (
    NO_EXCEPTION,
    CheckFailed,
    Misconception,
    failure_from,
    kind_of,
)
from autograder.checks.fingerprints import Note, Trail, noted, plain, rounded
from autograder.checks.isolation import isolated
from autograder.errors import CourseError
from autograder.explain.values import DTYPES

WRONG_CALL = re.compile(r"TypeError: ([\w.]+)\(\) (?:takes|missing|got) ")
ADDRESS = re.compile(r"0x[0-9a-f]+")
MOST_TOLD = 2  # of the checks that pass beside one that fails
QUOTED, DIGIT, MOST_DIGITS = re.compile(r"['\"]"), re.compile(r"\d"), 4


def expect_fit(fits: bool, what: str, value: Any, due: str) -> None:
    """CourseError for a value of an instructor's that is no use; it says what is."""
    if not fits:
        raise CourseError(f"{what} is {value!r}; it has to be {due}.")


def is_number(value: Any) -> bool:
    """Whether this can be points or a share of them."""
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return fits and 0 <= value < math.inf


class Score(float):
    """Points earned by a question, with what its feedback says.

    A float, so that plain nbgrader reads it as partial credit from the cell's value.
    """

    message: str | None
    misconception: Misconception | None

    def __new__(
        cls,
        points: float,
        message: str | None = None,
        misconception: Misconception | None = None,
    ) -> Score:
        score = super().__new__(cls, points)
        score.message, score.misconception = message, misconception
        return score


class Question:
    """The visible half of a graded name; call it with the student's answer.

    Raises CheckFailed at the first property that does not hold. ``read`` points into
    the book: a page's name, "#", the id of a heading. ``diagnose`` names the known
    misconception that behaves like an answer, if there is one; ``recognize`` looks one
    up by its fingerprint: what the first failing check noted, all checks after it, and
    ``probe``, whose inputs tell mistakes apart that the checks cannot.
    ``signatures`` are what the cards write, and ``promises`` the sentences of hidden
    checks: what of the card is open when the visible ones pass.
    """

    later = "hidden checks run after you submit"
    # wrong and right answers in the catalog, at least; () is what the course says
    catalogued: tuple[int, ...] = ()

    def __init__(
        self,
        name: str,
        points: float,
        read: str,
        diagnose: Callable[[Any], Misconception | None] = lambda answer: None,
        recognize: Callable[[int, Trail], Misconception | None] = lambda n, trail: None,
        signatures: Callable[[], dict[str, str]] = dict,
        promises: Callable[[], list[str]] = list,
        probe: Callable[[Any], list | None] = lambda answer: None,
        relate: Callable[[Any, int], str] = lambda answer, number: "",
    ) -> None:
        number = "a number, such as 4"
        expect_fit(is_number(points), f"points of the question {name}", points, number)
        self.name, self.points, self.read = name, points, read
        self.diagnose, self.recognize = diagnose, recognize
        self.signatures, self.promises, self.probe = signatures, promises, probe
        self.relate = relate
        self.checks: list[Callable[[Any], None]] = []

    def visible(self, check: Callable[[Any], None]) -> Callable[[Any], None]:
        """Register a visible check; a decorator."""
        self.checks.append(check)
        return check

    def __call__(self, answer: Any) -> None:
        total = len(self.checks)
        for number, check in enumerate(self.checks, 1):
            failure, values = noticed(check, answer)
            if failure is None:
                continue
            failure.read = failure.read or self.read
            if failure.kind == "unanswered":
                failure.title = self.name
                raise failure from None
            if _left_out:
                _left_out[-1].append(self.name)
                raise failure from None
            failure.title = (
                f"{self.name}, visible check {number} of {total}: {first_line(check)}"
            )
            later = [noticed(other, answer) for other in self.checks[number:]]
            trail = [notes(*one) for one in ((failure, values), *later)]
            trail.append(probed(self.probe, answer))
            failure.reason = failure.reason or self.wrong_call(failure)
            # by what visible checks see, it has the same name wherever this runs
            failure.misconception = self.recognize(number, trail) or self.diagnose(
                answer
            )
            if not (failure.misconception or failure.reason):
                if failure.kind != "error" or failure.expected == NO_EXCEPTION:
                    failure.reason = self.relate(answer, number)
                others = self.others(number, [one for one, _ in later])
                failure.others = failure.others or others
            raise failure from None
        print(f"{self.name}: {total} of {total} visible checks pass; {self.later}")
        for promise in self.promises():
            print(f"  hidden:   {promise}")

    def others(self, number: int, later: list[CheckFailed | None]) -> str:
        """Which of the other checks pass when ``number`` is the first to fail."""
        passing = [i for i, one in enumerate(later, number + 1) if one is None]
        told = [*passing, *range(number - 1, 0, -1)][:MOST_TOLD]
        if not told:
            return ""
        failing = len(later) - len(passing)
        verb = "fails" if failing == 1 else "fail"
        start = f"{failing} of the {len(later)} checks after this one {verb}, too"
        if failing == len(later):
            start = f"after this one, {failing} more {verb}"
        if not failing:
            start = f"the other {len(self.checks) - 1} visible checks pass"
            if len(self.checks) == 2:
                start = "the other visible check passes"
        sentences = "; ".join(first_line(self.checks[i - 1]) for i in sorted(told))
        return f"{start}. These hold: {sentences}."

    def trail(self, answer: Any) -> Iterator[list[Note]]:
        """What all checks note, and then the probe."""
        yield from (notes(*noticed(check, answer)) for check in self.checks)
        yield probed(self.probe, answer)

    def steady(self, answer: Any) -> None:
        """Call an answer on inputs that are the same every time."""
        notes = probed(self.probe, answer)
        if len(notes) < 3:  # no probe, as in puzzles
            check = self.checks[0]
            noticed(getattr(check, "steady", check), answer)

    def wrong_call(self, failure: CheckFailed) -> str:
        """What the card writes, where a call did not even enter the function."""
        called = WRONG_CALL.search(failure.seen)
        if failure.kind != "error" or failure.place or not called:
            return ""
        card = self.signatures().get(called[1])
        return f"the card writes `{card}`" if card else ""


class Hidden:
    """The hidden half of a question; call it once the visible checks hold.

    ``core`` is the share of the points that the visible checks stand for. Each hidden
    check adds its own share; all of them together make 1. The core is for an answer
    that does something with inputs it has not seen: one of the hidden checks holds, or
    it makes a mistake that is known. A table of the visible inputs earns nothing.
    """

    def __init__(self, question: Question, core: float) -> None:
        fits = isinstance(question, Question)
        expect_fit(fits, "the first argument of Hidden", question, "a visible question")
        fits = is_number(core) and core <= 1
        what = f"core of the question {question.name}"
        expect_fit(fits, what, core, "a number from 0 to 1")
        self.question, self.core = question, core
        self.checks: list[tuple[float, Callable[..., None]]] = []

    def check(self, share: float) -> Callable[[Callable[..., None]], Callable]:
        """Register a hidden check ``(answer, rng)`` worth ``share``; a decorator."""
        name = self.question.name
        due = f"a number: write @{name}.check(0.3) above it"
        expect_fit(is_number(share), f"the share of a check of {name}", share, due)

        def register(check: Callable[..., None]) -> Callable[..., None]:
            self.checks.append((share, check))
            return check

        return register

    def __call__(self, answer: Any, seed: int | None = None) -> Score:
        """Points for ``answer``; inputs are drawn now, after the student's code ran."""
        rng = np.random.default_rng(seed)
        earned, broken = self.core, []
        for share, check in self.checks:
            with isolated():
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
            f"{question.name}: the visible checks pass, and {held} of "
            f"{len(self.checks)} hidden checks pass."
        ]
        if misconception:
            lines.append(f"  likely:   {misconception.diagnosis}")
        lines.append("  Not yet:")
        for check, failure in broken:
            told = failure.kind != "value" and not spells(failure.seen)
            seen = f" (seen: {failure.seen})" if told else ""
            lines.append(f"  - {first_line(check)}{seen}")
        if not points:
            lines.append(
                "  no points for an answer that is right for the visible inputs only"
            )
        if read := (misconception or question).read:
            lines.append(f"  read:     {read}")
        return "\n".join(lines)


def spells(seen: str) -> bool:
    """Whether a hidden input could leak to the student through this message.

    An answer chooses the texts of its exceptions and the sizes of its results, so it
    could write the input into them: such a message has quotes or many digits.
    """
    words = (word.strip("()[],") for word in seen.split())
    unnamed = " ".join(word for word in words if word not in DTYPES)
    return bool(QUOTED.search(unnamed)) or len(DIGIT.findall(unnamed)) > MOST_DIGITS


_left_out: list[list[str]] = []


@contextlib.contextmanager
def unexplained() -> Iterator[list[str]]:
    """Collect the questions that fail meanwhile; nobody reads why, so none says it.

    To find a mistake's name, or what else is true of it, takes far more calls of an
    answer than the checks do.
    """
    questions: list[str] = []
    _left_out.append(questions)
    try:
        yield questions
    finally:
        _left_out.pop()


def noticed(
    check: Callable[..., None], answer: Any
) -> tuple[CheckFailed | None, list[Any]]:
    """The failure of a visible check, if it fails, and the values that it has noted."""
    with isolated(), noted() as values:
        return failure_of(check, answer), values


def notes(failure: CheckFailed | None, values: list[Any]) -> list[Note]:
    """What became of a visible check, and what it has noted, up to rounding."""
    outcome = ["holds", ""]
    if failure is not None:
        outcome = [failure.kind, ADDRESS.sub("", failure.seen)]
    with isolated():
        return [*map(plain, outcome), *map(rounded, values)]


def probed(probe: Callable[[Any], list | None], answer: Any) -> list[Note]:
    """The notes of a probe; of an error its type, since texts differ by versions."""
    try:
        with isolated():
            outcomes = probe(answer) or []
    except (Exception, SystemExit) as error:
        outcomes = [("raised", kind_of(error)[0])]
    return [plain("value"), plain(""), *(rounded(untold(one)) for one in outcomes)]


def untold(outcome: Any) -> Any:
    """An outcome without what exceptions in it say."""
    if isinstance(outcome, list | tuple):
        if outcome and isinstance(outcome[0], str) and outcome[0] == "raised":
            outcome = outcome[:2]
        return [untold(part) for part in outcome]
    return outcome


def failure_of(check: Callable[..., None], *args: Any) -> CheckFailed | None:
    """Run a check; whatever a student's answer makes it raise is a failure."""
    try:
        check(*args)
    except CheckFailed as failure:
        if len(args) > 1:  # a hidden check, whose inputs and values stay hidden
            failure.drawing = None
        return failure
    except (Exception, SystemExit) as error:
        return failure_from(error, hidden=len(args) > 1)
    return None


def first_line(check: Callable[..., Any]) -> str:
    """The sentence that a check's docstring opens with."""
    return (check.__doc__ or check.__name__).strip().splitlines()[0].rstrip(".")
