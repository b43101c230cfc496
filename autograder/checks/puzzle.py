"""Check types of short puzzles: an answer is compared with a right function, an oracle.

*Write it* (:class:`Agrees`): the answer is a function that agrees with a right one.
*Break it* and *spot it* (:class:`Exposes`): functions are shown, one of them is wrong;
the answer is an input on which that one differs from a right one. All of it is visible,
and :class:`Redrawn` draws new inputs when it is graded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.accepted_results import a_kind
from autograder.checks.drawing import beside, crosses
from autograder.checks.failures import CheckFailed, kind_of
from autograder.checks.fingerprints import noted
from autograder.checks.question import Hidden, Question

Inputs = dict[str, Any]  # by the names of the parameters, in their order
Draw = Callable[[np.random.Generator, int], Inputs]  # the number tells edge cases apart
FIXED = 4  # inputs that are the same for everybody: a mistake is known by them
NEW = 8  # inputs that are drawn after the student's code ran
LATER = "there are no others; grading draws new inputs"
FEW = 12  # entries that a sentence spells
RULED_OUT = "The card does not allow this input."
ALL_AGREE = "For this input, all functions on the card give the same result."
OTHER = (
    "For this input, one function on the card gives another result than the rest; it "
    "is not the one whose letter you give."
)
SIDE = 64  # entries along an axis of an input that a student made up, at most


class Agrees:
    """The visible check of a function: what it returns is what ``right`` returns.

    ``example`` are the inputs on the card, and ``draw`` makes others. Values are
    compared, shapes and types before them. ``result`` is how the card calls the result;
    several names, separated by commas, are those of a tuple.
    """

    def __init__(
        self,
        question: Question,
        right: Callable[..., Any],
        example: Inputs,
        draw: Draw,
        result: str = "the result",
    ) -> None:
        self.right, self.example, self.draw = right, example, draw
        self.result = result
        self.__doc__ = (
            "The results are right for the example on the card and for newly "
            "drawn inputs."
        )
        question.catalogued = (4, 2)  # the oracle is what its check is trusted for
        question.later = LATER
        question.visible(self)

    def __call__(self, answer: Any) -> None:
        """Raises CheckFailed, or what the answer raised, at the first difference."""
        self.steady(answer)
        with noted():  # what is drawn now tells nothing the next time
            self.again(answer, np.random.default_rng())

    def steady(self, answer: Any) -> None:
        """The same on the inputs that never change."""
        fixed = [self.draw(np.random.default_rng(n), n) for n in range(FIXED)]
        errors = [self.difference(answer, each) for each in [self.example, *fixed]]
        # all of them ran: together they tell mistakes apart
        if first := next(filter(None, errors), None):
            raise in_all(first, errors)

    def again(self, answer: Any, rng: np.random.Generator) -> None:
        """The same on new inputs."""
        for number in range(NEW):
            if error := self.difference(answer, self.draw(rng, number)):
                raise error

    def difference(self, answer: Any, inputs: Inputs) -> Exception | None:
        """Why the answer is wrong for these inputs."""
        expected = self.right(**copy.deepcopy(inputs))
        try:
            value = expect.call(answer, *copy.deepcopy(inputs).values())
            self.compare(value, expected, inputs)
        except CheckFailed as failure:
            if failure.kind == "unanswered":
                raise
            return failure
        except Exception as error:
            return error
        return None

    def compare(self, value: Any, expected: Any, inputs: Inputs) -> None:
        """Type, shape and values of a result, or of each part of a tuple."""
        if isinstance(expected, tuple):
            names = [f"`{name}`" for name in self.result.split(", ")]
            values = expect.pair(value, self.result)
            for one, other, name in zip(values, expected, names, strict=True):
                compared(one, other, name, inputs)
        else:
            compared(value, expected, self.result, inputs)


def in_all(first: Exception, errors: list[Exception | None]) -> Exception:
    """The first error, with how many of the other inputs give a right result."""
    if isinstance(first, CheckFailed) and (right := errors[1:].count(None)):
        example = "right for the example on the card, and " if not errors[0] else ""
        first.others = f"{example}right for {right} of {len(errors) - 1} other inputs"
    return first


def compared(value: Any, expected: Any, what: str, inputs: Inputs) -> None:
    """Raises CheckFailed where a result is another one than expected."""
    if isinstance(value, float):
        value = np.float64(value)
    expected = np.asarray(expected)
    value = expect.array(value, expected.shape, what, expected.dtype.kind)
    due = f"{spelled(expected)} for {given(inputs)}"
    drawn = value.ndim == 2 and len(value) > 1
    if not drawn and value.size <= FEW:
        due += f"; yours is {spelled(value)}"
    elif expected.size > FEW and expected.dtype.kind != "b":  # the worst place
        at = np.unravel_index(np.abs(value - expected).argmax(), value.shape)
        place = f"at {[*map(int, at)]} for {given(inputs)}"
        due = f"{spelled(expected[at])} {place}; yours is {spelled(value[at])}"
    seen = f"{expect.has(what)} different values"
    if expected.dtype.kind != "b":
        expect.close(value, expected, seen, due)
    elif not np.array_equal(value, expected):
        if value.ndim == 2 and value.size > FEW:
            row = np.flatnonzero((value != expected).any(-1))[0]
            seen += f": row {row} is {crosses(value[row])} (x = True)"
            due = f"{crosses(expected[row])} for {given(inputs)}"
        raise CheckFailed(seen, due, drawing=beside(value, expected))


def given(inputs: Inputs) -> str:
    """Inputs as a sentence tells them."""
    return ", ".join(f"{name} = {spelled(value)}" for name, value in inputs.items())


def spelled(value: Any) -> str:
    """A value in a few characters."""
    value = np.asarray(value)
    if value.size > FEW:
        return f"an array of shape {value.shape}"
    kind = value.dtype.kind
    return str((np.round(value, 4) + 0.0 if kind == "f" else value).tolist())


class Exposes:
    """The visible check of an input that shows which function is wrong.

    ``shown`` are the functions on the card by letter, one of them wrong. With a single
    one the answer returns its arguments, else the letter and the arguments: one value,
    or a tuple of several. ``allowed`` raises CheckFailed for an input that the card
    rules out, and returns the arguments by name. ``why`` says of an allowed input why
    it shows nothing.
    """

    def __init__(
        self,
        question: Question,
        right: Callable[..., Any],
        shown: dict[str, Callable[..., Any]],
        allowed: Callable[..., Inputs],
        names: tuple[str, ...],
        why: Callable[..., str] | None = None,
    ) -> None:
        self.right, self.shown, self.allowed = right, shown, allowed
        self.names, self.why = names, why
        self.__doc__ = (
            "The input is allowed, and the wrong function gives a wrong result for it."
        )
        question.catalogued = (0, 2)  # the functions are run: nothing has to be known
        question.later = LATER
        question.visible(self)

    def __call__(self, answer: Any) -> None:
        """Raises CheckFailed where the input is ruled out, or shows nothing."""
        value, letter = expect.call(answer), next(iter(self.shown))
        name = "the function"
        if len(self.shown) > 1:
            several = ", ".join(self.names)
            form = several if len(self.names) == 1 else f"({several})"
            letter, value = expect.pair(value, f"letter, {form}")
            if not isinstance(letter, str) or letter not in self.shown:
                raise CheckFailed(
                    "the first part of your answer is not the letter of a function",
                    " or ".join(map(repr, self.shown)),
                    kind="type",
                )
            name = letter
        values = (value,) if len(self.names) == 1 else value
        if not isinstance(values, tuple) or len(values) != len(self.names):
            raise CheckFailed(
                f"the input is {a_kind(values)}",
                f"the tuple ({', '.join(self.names)})",
                kind="type",
            )
        try:
            inputs = self.allowed(**dict(zip(self.names, values, strict=True)))
        except CheckFailed as failure:
            failure.reason = failure.reason or RULED_OUT
            raise
        right = result_of(self.right, inputs)
        if not differ(result_of(self.shown[letter], inputs), right):
            seen = (result_of(one, inputs) for one in self.shown.values())
            found = OTHER if any(differ(one, right) for one in seen) else ALL_AGREE
            raise CheckFailed(
                f"for {given(inputs)}, {name} gives what a right function gives: "
                f"{spelled(right)}",
                "an input for which the results differ",
                reason=self.why(**inputs) if self.why else found,
            )

    def again(self, answer: Any, rng: np.random.Generator) -> None:
        """Nothing is drawn: the input is the answer."""
        self(answer)


def differ(one: Any, other: Any) -> bool:
    """Whether two results are of other shapes, or other numbers beyond rounding."""
    if isinstance(one, str) or isinstance(other, str):
        return bool(one is not other)
    one, other = np.asarray(one, float), np.asarray(other, float)
    near = one.shape == other.shape and np.allclose(one, other, 1e-5, 1e-5)
    return not near


def result_of(function: Callable[..., Any], inputs: Inputs) -> Any:
    """What a function that is shown returns; its error, as a text, where it raises."""
    try:
        with np.errstate(all="ignore"):
            return function(**copy.deepcopy(inputs))
    except Exception as error:
        return kind_of(error)[0]


def made_up(value: Any, what: str, dimensions: int, kind: str = "f") -> np.ndarray:
    """An array that a student made up, of as many axes as the card says.

    Raises CheckFailed for what is no array of numbers (``kind`` "f"), whole numbers
    ("i") or booleans ("b"), and for one that is empty, too large or not finite.
    """
    kinds = {"f": "fiu", "i": "iu", "b": "b"}
    right = isinstance(value, np.ndarray) and value.dtype.kind in kinds[kind]
    if not right or value.ndim != dimensions:
        words = {"f": "numbers", "i": "whole numbers", "b": "booleans"}[kind]
        seen = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else None
        shape = f", shape {value.shape}" if seen else ""
        raise CheckFailed(
            f"{what} is {seen or a_kind(value)}{shape}",
            f"a NumPy array of {words} with {dimensions} "
            f"ax{'i' if dimensions == 1 else 'e'}s",
            kind="type",
            reason="" if seen else expect.LISTED,
        )
    if not value.size or max(value.shape) > SIDE:
        raise CheckFailed(
            f"{what} has shape {value.shape}", f"1 to {SIDE} entries along each axis"
        )
    if kind != "f":
        return value
    value = value.astype(float)
    expect.finite(value, what)
    return value


class Redrawn(Hidden):
    """What grading adds: the visible check once more, on inputs drawn then."""

    def __init__(self, question: Question) -> None:
        super().__init__(question, core=0.0)
        visible: Any = question.checks[0]

        def again(answer: Any, rng: np.random.Generator) -> None:
            visible.again(answer, rng)

        again.__doc__ = visible.__doc__
        self.check(1.0)(again)
