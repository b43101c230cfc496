"""Proxies for right and wrong functions that a student's own test is tried on.

Where the answer is a test, it must not see the code of these *planted* functions. It
gets a stand-in that sends each call to whoever holds the function: the same process on
a laptop; in grading, a process where no student code runs. See :func:`verdicts`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from traceback import walk_tb
from typing import Any

import numpy as np

from autograder.checks.accepted_results import a_kind
from autograder.checks.asserted import Asserted, asserted
from autograder.checks.failures import CheckFailed, failure_from
from autograder.checks.fingerprints import note
from autograder.checks.isolation import NUMPY_ERRORS
from autograder.explain.locations import CELL
from autograder.libraries import loaded

Ask = Callable[..., Any]
ACCEPTS, REJECTS, NEITHER = "accepts", "rejects", "neither"
RAISES = (
    "The function under test raises this error for the input that your check passes: "
    "expect the error with `try` and `except`, or pass another input."
)


@dataclass(frozen=True)
class Verdict:
    """Verdict of a student's test on a function; ``why`` it is neither yes nor no.

    ``asserted`` is what is known of the assertion that rejected it.
    """

    said: str
    why: CheckFailed | None = None
    asserted: Asserted | None = None

    @property
    def outcome(self) -> str:
        """What tells checks apart: with the kind of what stopped them."""
        return self.said + (self.why.kind if self.why else "")


@dataclass(frozen=True)
class Planting:
    """Functions that a check is tried on under one ``name``; the right ones first."""

    functions: list[Any]
    rights: int
    name: str

    def order(self, rng: np.random.Generator | None = None) -> list[int]:
        """Their numbers in an order that a check cannot guess.

        A check that remembers has to know which function is the first right one: there
        are as many wrong ones before it as a fair die says.
        """
        rng = rng or np.random.default_rng()
        found = [int(number) for number in rng.permutation(len(self.functions))]
        right = [number for number in found if number < self.rights]
        wrong = [number for number in found if number >= self.rights]
        before = int(rng.integers(len(wrong) + 1))
        first = [*wrong[:before], *right[:1]]
        return [*first, *(number for number in found if number not in first)]


class Planted:
    """The real end of a proxy: it holds a planted function and carries out requests.

    A stand-in, the other end, sends them from the student's process.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.modules: list[Any] = []  # those that were made from a class

    def do(self, operation: str, *parts: Any) -> Any:
        """One operation; what the function raises is raised."""
        if operation == "call":
            args, kwargs, errors = parts
            with np.errstate(**heard(errors or NUMPY_ERRORS)):
                return self.function(*args, **kwargs)
        return of_classes().do(self, operation, *parts)


def heard(errors: dict[str, str]) -> dict[str, Any]:
    """NumPy's error settings, without those that would print or call something here."""
    known = ("ignore", "warn", "raise")
    return {kind: do if do in known else "warn" for kind, do in errors.items()}


def function_of(name: str, ask: Ask) -> Callable[..., Any]:
    """A stand-in for a function."""

    def planted(*args: Any, **kwargs: Any) -> Any:
        errors = np.geterr()
        other = dict(errors) if errors != NUMPY_ERRORS else None
        return carried(ask("call", args, kwargs, other))

    planted.__name__ = planted.__qualname__ = name
    planted.__module__ = "__main__"
    return planted


def carried(value: Any) -> Any:
    """A result as it comes from another process: in C order its memory is its own."""
    if isinstance(value, tuple):
        return tuple(carried(part) for part in value)
    if type(value) is not np.ndarray:
        return value
    return value.copy() if value.flags.c_contiguous else value.copy("K").view()


def stand_in(name: str, ask: Ask) -> Any:
    """What a student's check is given; names of classes begin with a capital."""
    if name[0].islower():
        return function_of(name, ask)
    return of_classes().class_of(name, ask)


def of_classes() -> Any:
    """The support of the library whose classes students write tests of."""
    for support in loaded("planted"):
        return support
    raise TypeError("a test can be tried on functions, or on modules of torch")


def attempt(check: Any, name: str, ask: Ask) -> Any:
    """Run a student's check on a stand-in, in the process that the check lives in."""
    return check(stand_in(name, ask))


def verdicts(
    check: Any,
    right: list[Any],
    wrong: list[Any],
    name: str,
    rng: np.random.Generator | None = None,
) -> list[Verdict]:
    """What a student's check says of each function, which bears ``name`` for it.

    They are tried in an order that is drawn now, behind the wall each in a fresh fork.
    Only an AssertionError rejects. The verdicts on the right ones come first.
    """
    planting = Planting([*right, *wrong], len(right), name)
    hook = getattr(type(check), "_wall_try_", None)

    def trial(index: int) -> Any:
        return attempt(check, name, Planted(planting.functions[index]).do)

    found = hook(check, planting) if hook else tried(planting.order(rng), trial)
    for verdict in found:
        note(verdict.outcome)
    return found


def tried(order: list[int], trial: Callable[[int], Any]) -> list[Verdict]:
    """The verdicts on some functions, tried in this order."""
    found = {index: one(trial, index) for index in order}
    return [found[index] for index in sorted(found)]


def raised_by_function(error: BaseException) -> bool:
    """Whether a function that a check is tried on raised this, and not the check."""
    last = ""
    for frame, _ in walk_tb(error.__traceback__):
        code = frame.f_code
        if CELL.fullmatch(code.co_filename):
            last = ""
        elif code.co_filename == __file__ and code.co_name in ("planted", "do"):
            last = code.co_name
    return bool(last)


def one(trial: Callable[[int], Any], index: int) -> Verdict:
    """The verdict on one function."""
    # what a function warns of is for the check; plain nbgrader gives 0 for stderr, so
    # looking at a failed assertion is as quiet
    with np.errstate(**NUMPY_ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = trial(index)
        except NotImplementedError as error:
            return Verdict(NEITHER, failure_from(error))
        except AssertionError as error:
            return Verdict(REJECTS, asserted=asserted(error))
        except (Exception, SystemExit) as error:
            why = failure_from(error)
            if raised_by_function(error):
                why.reason = RAISES
            return Verdict(NEITHER, why)
    if value is None:
        return Verdict(ACCEPTS)
    seen = f"your check returned {a_kind(value)}"
    expected = "None when the function is right, an AssertionError when it is wrong"
    return Verdict(NEITHER, CheckFailed(seen, expected, kind="type"))
