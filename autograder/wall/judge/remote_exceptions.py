"""Exceptions and warnings of the student's code, rebuilt in the judge from plain data.

Only names, texts and numbers come from the sandbox; the classes are the judge's own.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from autograder.errors import Violation
from autograder.text import printable
from autograder.wall.locations import location_from
from autograder.wall.records import Limits

_ODD = {"UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"}
_ODD |= {"ExceptionGroup", "StopIteration", "StopAsyncIteration"}
ERRORS: dict[str, type[BaseException]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and name not in _ODD
}
ERRORS["SystemExit"] = SystemExit
# not the class itself: messages have the text of a check's own assertion, and of no
# student's
ERRORS["AssertionError"] = type("AssertionError", (AssertionError,), {})
WARNINGS = {n: k for n, k in ERRORS.items() if issubclass(k, Warning)}


class Stopped(RuntimeError):
    """The student's code did not come back; ``sentence`` says how it ended."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class NoArray(TypeError):
    """A test made an array of what is none; ``sentence`` says of what."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class Unsure(Exception):
    """What came of the student's own process, without a fork, does not count."""


class Lost(BaseException):
    """The sandbox itself is gone, by no fault of the student's code."""


def raised(described: Any, limits: Limits, sources: Mapping[int, str]) -> BaseException:
    """The student's exception: a known kind by its name, else a RuntimeError."""
    name, text, missing, place = expect(described, tuple, "an exception", 4)
    expect(name, str, "a name")
    expect(text, str, "a text")
    text = printable(text, 500)
    if name not in ERRORS:
        known = RuntimeError(f"{printable(name, 60)}: {text}".removesuffix(": "))
        return _placed(known, place, sources)
    error = ERRORS[name](text)
    if isinstance(error, NameError | ImportError) and type(missing) is str:
        error.name = printable(missing, 60)
    if isinstance(error, MemoryError):
        size = limits.memory_bytes >> 20
        vars(error)["sentence"] = f"your code needs more than {size} MB of memory"
    return _placed(error, place, sources)


def _placed(
    error: BaseException, place: Any, sources: Mapping[int, str]
) -> BaseException:
    """Say where the student's code raised it, if in a cell that the judge knows."""
    there = location_from(place)
    source = sources.get(there.cell) if there else None
    if source:
        vars(error)["_wall_seen_at_"] = there, source
    return error


def warning(one: Any) -> tuple[str, type[Warning]]:
    name, text = expect(one, tuple, "a warning", 2)
    expect(name, str, "a name")
    text = printable(expect(text, str, "a text"), 300)
    return text, WARNINGS.get(name, UserWarning)


def expect(value: Any, kind: type, what: str, size: int | None = None) -> Any:
    """``value``, if it is what the protocol says that comes here."""
    right = isinstance(value, kind)
    if not right or (size is not None and len(value) != size):
        raise Violation(f"{what} was expected")
    return value
