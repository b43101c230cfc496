"""The subject of quiz questions: a passing answer, its recorded calls, its mutants."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from autograder.checks.question import Question, first_line
from autograder.code_questions.line_mutants import Change, changes
from autograder.code_questions.tracing import UNSET, Call, Watched
from autograder.code_questions.values import SHOWN, Seen
from autograder.text import lines_of

MOST_CHANGES = 18
MOST, LEAST = 4, 3  # choices


class Draft(NamedTuple):
    """A question before its choices are drawn from ``wrong``, the best ones first."""

    text: str
    right: str
    wrong: list[str]
    why: str


class Altered:
    """An answer with one line changed, and what the visible checks say of it."""

    def __init__(self, subject: Subject, change: Change) -> None:
        self.change = change
        self.program = Watched(change.source, subject.name, subject.names)
        self.failed, self.trials = self.program.tried(subject.question.checks)

    def call(self, original: Call) -> Call | None:
        """The same call as in the original; None where it is not made the same way."""
        check, number = original.place
        calls = self.trials[check][number:]
        if not calls or calls[0].function != original.function:
            return None
        found, given = calls[0].arguments, original.arguments
        same = found.keys() == given.keys() and all(
            value.like(found[name]) != "values" for name, value in given.items()
        )
        return calls[0] if same else None


class Subject:
    """A passing answer: its source, and the notebook's names, in which it is run again.

    Raises ValueError where it does not pass when it is run on its own.
    """

    def __init__(
        self,
        question: Question,
        source: str,
        names: dict[str, Any],
        draw: random.Random,
    ) -> None:
        self.question, self.name, self.names = question, question.name, names
        self.source, self.lines, self.draw = source, lines_of(source), draw
        self.program = Watched(source, question.name, names)
        self.sentences = [first_line(check) for check in question.checks]
        failed, self.trials = self.program.tried(question.checks)
        if failed:
            raise ValueError(f"{question.name} does not pass")
        for check, calls in enumerate(self.trials):
            for number, call in enumerate(calls):
                call.place = check, number

    @cached_property
    def altered(self) -> list[Altered]:
        """Some changes of the answer that can be run, in an order that is drawn.

        None where a change could show memory that nothing was written to.
        """
        if UNSET.search(self.source):
            return []
        found = []
        for change in self.some(changes(self.source)):
            try:
                found.append(Altered(self, change))
            except Exception:  # it cannot be defined, or does not end
                continue
            if len(found) == MOST_CHANGES:
                break
        return found

    def some(self, items: Any) -> list[Any]:
        """Items in an order that is drawn."""
        items = list(items)
        self.draw.shuffle(items)
        return items

    def calls(self, literal: bool = False) -> Iterator[Call]:
        """Calls of the answer that came to an end, and that words can describe.

        ``literal``: that can be written out.
        """
        for call in self.some(call for calls in self.trials for call in calls):
            given = call.arguments.values()
            ended = call.result is not None and self.name in (call.function, call.owner)
            full = not literal or (all(map(written_out, given)) and not call.owner)
            if ended and full and not any(map(untold, given)):
                yield call

    def alike(self, call: Call) -> list[Call]:
        """The calls that the same words describe."""
        words, every = told(call), [one for calls in self.trials for one in calls]
        return [one for one in every if told(one) == words]

    def line(self, number: int) -> str:
        """A line of the answer, as a block."""
        return f"    {self.lines[number - 1].strip()}"


def untold(value: Seen) -> bool:
    """Whether no sentence describes it well enough."""
    if value.kind == "pair":
        return not written_out(value)
    return value.kind == "box"


def of_type(value: Seen) -> bool:
    """Whether a call tells no more of an argument than its type."""
    return value.kind == "other" and value.dtype != "NoneType"


def written_out(value: Seen) -> bool:
    """Whether a call can show this argument in full."""
    if value.kind == "pair":
        return all(part.kind == "number" and part.small for part in value.parts)
    few = value.entries is not None and value.entries.size <= SHOWN
    return few or (value.kind, value.dtype) == ("other", "NoneType")


def literal(value: Seen) -> str:
    """An argument in full."""
    if value.kind == "pair":
        return f"[{', '.join(map(literal, value.parts))}]"
    number = float(value.entries or 0) if value.kind == "number" else 0
    if 0 < abs(number) < 1e-3:
        return f"{number:.4g}"  # 1e-05, say, is not 0
    return value.text if value.entries is not None else "None"


def told(call: Call, full: bool = False) -> str:
    """A call in words: "`softmax(x)`, with `x` of shape (2, 3)"; ``full``: values.

    An argument that is None has its name, and so have those after it.
    """
    inline, about, named = [], [], ""
    for name, value in call.arguments.items():
        if value.kind == "other" and value.dtype == "NoneType":
            named = "{}="
            inline.append(f"{name}=None")
            continue
        before = ("{}=" if value.dtype == "bool" else named).format(name)
        listing = value.kind == "pair" and written_out(value)
        if listing or (value.kind == "number" and value.small):
            inline.append(before + literal(value))
            continue
        inline.append(named.format(name) + name)
        if full:
            about.append(f"`{name} = {literal(value)}`")
        elif value.kind == "array":
            about.append(f"`{name}` of shape {value.shape}")
        else:
            about.append(f"`{name}` of type {value.dtype}")
    made = ", ".join(literal(v) for v in call.made.values() if written_out(v))
    maker = f" of `{call.owner}({made})`" if call.owner else ""
    words = f"`{call.function}({', '.join(inline)})`{maker}"
    return f"{words}, with {listed(about)}" if about else words


def listed(parts: list[str]) -> str:
    """Parts as a list in a sentence."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def form(value: Seen) -> str:
    """The words for a value in a trace."""
    if value.kind == "pair":
        return f"({', '.join(map(form, value.parts))})"
    if value.kind == "number":
        return value.text if value.entries is not None else value.dtype
    if value.kind in ("other", "box"):
        return value.dtype
    shown = f" = {value.text}" if value.small else ""
    return f"{value.dtype} {value.shape}{shown}"


def trace(call: Call, number: int, asked: str = "") -> str:
    """What happened in a line: its expressions up to that asked for, with values."""
    rows = [(key[1], value) for key, value in call.values.items() if key[0] == number]
    last = next((n for n, row in enumerate(rows, 1) if row[0] == asked), len(rows))
    rows = [row for row in rows[:last] if len(row[0]) <= 60 or row[0] == asked][-4:]
    width = max((len(name.rstrip(" =")) for name, _ in rows), default=0)
    lines = [
        f"    {name.rstrip(' ='):<{width}}   {form(value)}" for name, value in rows
    ]
    return "\n".join(lines)
