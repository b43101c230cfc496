"""The catalog of misconceptions: wrong answers that people really give, as code.

It stays on the instructor's side. It names a mistake in feedback, it tests the tests,
and it counts for the instructor's report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.checks.question import CheckFailed


@dataclass(frozen=True)
class Misconception:
    """One wrong answer: ``code`` defines ``question``; ``diagnosis`` is a sentence."""

    id: str
    question: str
    diagnosis: str
    read: str
    code: str


@dataclass(frozen=True)
class Style:
    """One more right answer, written differently; it must earn all points."""

    id: str
    question: str
    code: str


@dataclass(repr=False)
class Catalog:
    """The misconceptions and correct styles of one assignment.

    ``prelude`` is code that every entry may use: the notebook's imports, and the
    functions that earlier questions ask for.
    """

    prelude: str
    misconceptions: list[Misconception]
    styles: list[Style]

    def __post_init__(self) -> None:
        self._probes: dict[str, Callable[[Any], list]] = {}
        self._known: dict[str, list] = {}

    def probe(self, question: str) -> Callable[[Callable], Callable]:
        """Register what tells answers to ``question`` apart; a decorator.

        The function gets an answer and returns a list of outcomes, by :func:`outcome`.
        """

        def register(function: Callable[[Any], list]) -> Callable[[Any], list]:
            self._probes[question] = function
            return function

        return register

    @cached_property
    def _prelude(self) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compiled(self.prelude, "<prelude>"), names)
        return names

    def answer(self, entry: Misconception | Style) -> Any:
        """The object that the entry's code defines under its question's name."""
        names = dict(self._prelude)
        exec(compiled(entry.code, f"<{entry.id}>"), names)
        return names[entry.question]

    def of(self, question: str) -> list[Misconception]:
        """The misconceptions about one question."""
        return [m for m in self.misconceptions if m.question == question]

    def diagnose(self, question: str, answer: Any) -> Misconception | None:
        """The misconception whose outcomes are those of ``answer``, if any."""
        if question not in self._probes:
            return None
        outcomes = self._probes[question](answer)
        for entry, known in self.known(question):
            if alike(outcomes, known):
                return entry
        return None

    def known(self, question: str) -> list[tuple[Misconception, list]]:
        """The misconceptions about one question with their outcomes, found once."""
        if question not in self._known:
            probe = self._probes[question]
            self._known[question] = [
                (entry, probe(self.answer(entry))) for entry in self.of(question)
            ]
        return self._known[question]

    def prepare(self) -> None:
        """Find the outcomes of all misconceptions now: forks then need not do it."""
        for question in self._probes:
            self.known(question)


def outcome(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """What calling ``answer`` does: its value, and whether it changed its arguments.

    An exception is an outcome too: its type's name.
    """
    # changes are seen in `args` themselves, so the caller passes fresh arrays
    before = [np.array(arg) if isinstance(arg, np.ndarray) else None for arg in args]
    try:
        value = answer(*args, **kwargs)
    except CheckFailed:
        raise
    except (Exception, SystemExit) as error:
        return ("raised", type(error).__name__)
    changed = any(
        b is not None and not np.array_equal(a, b, equal_nan=True)
        for a, b in zip(args, before, strict=True)
    )
    return ("returned", value, changed)


def alike(a: Any, b: Any, tolerance: float = 1e-5) -> bool:
    """Two outcomes agree: types of containers, shapes, and numbers up to rounding."""
    if isinstance(a, tuple | list) or isinstance(b, tuple | list):
        return (
            isinstance(a, tuple | list)
            and isinstance(b, tuple | list)
            and len(a) == len(b)
            and all(alike(x, y, tolerance) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(alike(a[key], b[key], tolerance) for key in a)
        )
    if hasattr(a, "detach"):
        a = a.detach().numpy()
    if hasattr(b, "detach"):
        b = b.detach().numpy()
    if isinstance(a, str | bool | type(None)) or isinstance(b, str | bool | type(None)):
        return type(a) is type(b) and a == b
    try:
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        return type(a) is type(b)
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    )


def compiled(code: str, name: str) -> Any:
    """Code as a student would run it: without the ``__future__`` of this file."""
    return compile(code, name, "exec", dont_inherit=True)
