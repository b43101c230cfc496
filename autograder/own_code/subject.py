"""What is asked about: a passing answer, its calls, and its one-line changes."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from autograder.checks.question import Question, first_line
from autograder.own_code.changes import Change, changes
from autograder.own_code.values import SHOWN, Seen
from autograder.own_code.watching import UNSET, Call, Trial, Watched

MOST_CHANGES = 18
UNTOLD = {"dict", "list", "tuple", "str"}
Scene = tuple[int, int]  # the number of a check, and of a call in it


class Altered:
    """An answer with one line changed, and what the visible checks say of it."""

    def __init__(self, subject: Subject, change: Change) -> None:
        self.change, self.checks = change, subject.question.checks
        self.program = Watched(change.source, subject.name, subject.names)
        self.failed = [
            number
            for number, check in enumerate(self.checks)
            if self.program.tried(check).failure
        ]
        self.calls = cache(lambda number: self.kept(number).calls)

    def kept(self, number: int) -> Trial:
        """A check, with all values noted."""
        return self.program.tried(self.checks[number], keep=True)

    def call(self, scene: Scene, original: Call) -> Call | None:
        """The same call as in the original; None where it is not made the same way."""
        calls = self.calls(scene[0])
        found = calls[scene[1]] if scene[1] < len(calls) else None
        if found is None or found.arguments.keys() != original.arguments.keys():
            return None
        given = original.arguments.items()
        same = all(
            value.like(found.arguments[name]) != "values" for name, value in given
        )
        return found if same and found.function == original.function else None

    @property
    def told(self) -> str:
        """The changed line, for a list of choices."""
        number, new = self.change.number, self.change.new
        return f"line {number} " + (
            f"reads `{new}`" if new != "pass" else "is left out"
        )


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
        self.source, self.lines, self.draw = source, source.split("\n"), draw
        self.program = Watched(source, question.name, names)
        self.sentences = [first_line(check) for check in question.checks]
        if any(self.program.tried(check).failure for check in question.checks):
            raise ValueError(f"{question.name} does not pass")

    @cached_property
    def trials(self) -> list[Trial]:
        """What each visible check does with the answer, where it does it every time."""
        return [self.steady(check) for check in self.question.checks]

    def steady(self, check: Any) -> Trial:
        """A check, without the values that are others when it is run again."""
        trial, again = (self.program.tried(check, keep=True) for _ in range(2))
        for one, other in zip(trial.calls, again.calls, strict=False):
            one.values = {
                key: value
                for key, value in one.values.items()
                if key in other.values and value.like(other.values[key]) != "values"
            }
            if (
                one.result
                and other.result
                and one.result.like(other.result) == "values"
            ):
                one.result = None
        return trial

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
            except Exception:  # it cannot even be defined
                continue
            if len(found) == MOST_CHANGES:
                break
        return found

    @cached_property
    def methods(self) -> list[str]:
        """The functions whose calls can be described: the answer's own."""
        found = [self.name]
        for node in ast.walk(ast.parse(self.source)):
            if isinstance(node, ast.ClassDef) and node.name == self.name:
                found += [f.name for f in node.body if isinstance(f, ast.FunctionDef)]
        return found

    def some(self, items: Any) -> list[Any]:
        """Items in an order that is drawn."""
        items = list(items)
        self.draw.shuffle(items)
        return items

    def scenes(self, literal: bool = False) -> Iterator[tuple[Scene, Call]]:
        """Calls that came to an end; only those that can be written out, if asked."""
        every = [
            ((number, index), call)
            for number, trial in enumerate(self.trials)
            for index, call in enumerate(trial.calls)
            if call.function in self.methods and call.result is not None
        ]
        for scene, call in self.some(every):
            given = list(call.arguments.values())
            if any(map(untold, given)):
                continue
            if not literal or (
                call.function == self.name and all(map(written_out, given))
            ):
                yield scene, call

    def line(self, number: int) -> str:
        """A line of the answer, as a block."""
        return f"    {self.lines[number - 1].strip()}"


def untold(value: Seen) -> bool:
    """Whether no sentence describes it well enough."""
    if value.kind == "pair":
        return not written_out(value)
    return value.kind == "other" and value.dtype in UNTOLD


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
    return value.text if value.entries is not None else "None"


def told(call: Call, full: bool = False) -> str:
    """A call in words: "`softmax(x)`, with `x` of shape (2, 3)"; ``full``: values.

    Arguments that are None are left out; those after one have their names.
    """
    inline, about, named = [], [], ""
    for name, value in call.arguments.items():
        if value.kind == "other" and value.dtype == "NoneType":
            named = "{}="
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
    """What is told of a value in a trace."""
    if value.kind == "pair":
        return f"({', '.join(map(form, value.parts))})"
    if value.kind == "number":
        return value.text if value.entries is not None else value.dtype
    if value.kind == "other":
        return value.dtype
    shown = f" = {value.text}" if value.small else ""
    return f"{value.dtype} {value.shape}{shown}"


def trace(call: Call, number: int) -> str:
    """What happened in a line: each of its expressions, with what it was."""
    rows = [(key[1], value) for key, value in call.values.items() if key[0] == number]
    rows = [row for row in rows if len(row[0]) <= 60][-4:]
    width = max((len(name.rstrip(" =")) for name, _ in rows), default=0)
    lines = [
        f"    {name.rstrip(' ='):<{width}}   {form(value)}" for name, value in rows
    ]
    return "\n".join(lines)
