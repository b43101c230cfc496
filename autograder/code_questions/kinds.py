"""The kinds of quiz questions about one's own code, and how choices are drawn.

A kind asks for the shape or the value of a name or an expression in a call, or for what
would happen with one line changed. It yields drafts, and :func:`posed` makes questions
of them that have exactly one right choice. What stands in the text already, or has too
few choices, is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from autograder.code_questions.answer_record import (
    LEAST,
    MOST,
    Altered,
    Draft,
    Subject,
    of_type,
    told,
    trace,
    written_out,
)
from autograder.code_questions.tracing import Call, Key
from autograder.code_questions.values import Seen
from autograder.text import one_line

ENDINGS = {
    "error": "An error is raised.",
    "shape": "The result has a different shape.",
    "dtype": "The result has the same values but a different dtype.",
    "values": "The result has the same shape but different values.",
}


@dataclass(frozen=True)
class Asked:
    """A question about one's own code: ``choices[key]`` is right, and ``why``.

    In ``text`` and ``why``, backticks enclose code and four spaces begin a line of it.
    """

    kind: str
    text: str
    choices: list[str]
    key: int
    why: str

    def plain(self) -> dict[str, Any]:
        """As data that can be written to a file."""
        return dict(vars(self))


# ------------------------------------------------------------ what a call does


def place_of(what: str, call: Call, key: Key, subject: Subject, full: bool) -> str:
    """A question about a name or an expression."""
    line, label = key
    again = call.lines[line] > 1 or call.counts[key] > 1
    place = "after" if label.endswith(" =") else "in"
    place += f" this line{' when it first runs' if again else ''}"
    name = label.removesuffix(" =")
    asked = f"what is {what} of `{name}` {place}?\n\n{subject.line(line)}"
    return f"In the call {told(call, full)}: {asked}"


def others(subject: Subject, call: Call, key: Key) -> Iterator[Seen]:
    """Other values of the same place: under changes, in other calls; then of others."""
    calls = [altered.call(call) for altered in subject.altered]
    calls += [other for trial in subject.trials for other in trial]
    yield from (one.values[key] for one in calls if one and key in one.values)
    yield from call.values.values()


def selects(subject: Subject, call: Call) -> bool:
    """Whether a boolean array picks entries: how many depends on what it holds."""
    indexes = {
        ast.unparse(part)
        for node in ast.walk(ast.parse(subject.source))
        if isinstance(node, ast.Subscript)
        for part in getattr(node.slice, "elts", [node.slice])
    }
    named = {label.removesuffix(" ="): one for (_, label), one in call.values.items()}
    named |= call.arguments
    picked = [one for key, one in named.items() if key in indexes]
    return any(one.dtype.endswith("bool") for one in picked)


def shape(subject: Subject) -> Iterator[Draft]:
    """The shape of a name or an expression."""
    for call in subject.calls():
        given = {value.shape for value in call.arguments.values()}
        alike = subject.alike(call)
        if any(map(of_type, call.arguments.values())):
            continue  # how large a model is, for example, is not told
        if selects(subject, call):
            continue
        for key, value in subject.some(call.values.items()):
            text = place_of("the shape", call, key, subject, False)
            right = str(value.shape)
            spelt = right in text or right[1:-1].rstrip(",") in key[1]
            if value.kind != "array" or value.shape in given or spelt:
                continue
            if any(one.values.get(key, value).shape != value.shape for one in alike):
                continue
            near = [v for v in others(subject, call, key) if v.kind == "array"]
            why = f"Its shape is {right}:\n\n{trace(call, *key)}"
            yield Draft(text, right, [str(v.shape) for v in near], why)


def value(subject: Subject) -> Iterator[Draft]:
    """Entries of an array, or a number, for arguments that are shown in full."""
    for call in subject.calls(literal=True):
        for key, one in subject.some(call.values.items()):
            near, what, row = list(others(subject, call, key)), "the value", None
            shown = one
            if one.rows:
                row = subject.draw.randrange(len(one.rows))
                what, shown = f"row {row} (the first is row 0)", one.rows[row]
                near = [v.rows[row] for v in near if len(v.rows) > row] + one.rows
            size = one.kind == "number" and ".shape" in subject.lines[key[0] - 1]
            flag = (one.kind, one.dtype) == ("number", "bool")
            if not shown.small or size or flag:
                continue
            text = place_of(what, call, key, subject, True)
            if f" {shown.text}" in text or f"{shown.text}," in text:
                continue
            near = [v for v in near if v.small and v.dtype == shown.dtype]
            wrong = [v.text for v in near if v.far(shown)]
            note = " (to three decimals)" if one.dtype.startswith("float") else ""
            why = f"It is {shown.text}{note}:\n\n{trace(call, *key)}"
            yield Draft(text, shown.text, wrong, why)


# ------------------------------------------------------------ a line changed


def suppose(altered: Altered, question: str) -> str:
    """A question about a change."""
    old, new = altered.change.old, altered.change.new
    supposed = f"it read\n\n    {new}\n\n" if new != "pass" else "it were left out. "
    line = f"Line {altered.change.number} of your code is\n\n    {old}\n\n"
    return f"{line}Suppose that {supposed}{question}"


def end(altered: Altered, call: Call) -> str:
    """What a change does to the result of a call; "" where that cannot be compared."""
    after = altered.call(call)
    if after is None or call.result is None:
        return ""
    return "error" if after.result is None else call.result.like(after.result)


def change(subject: Subject) -> Iterator[Draft]:
    """What a changed line does to the result of a call.

    That it does nothing is never the key: the call of a check may hide what it does.
    """
    found: dict[str, list[tuple[Altered, Call, Call]]] = {}
    different = {told(call): call for call in subject.calls()}
    for call in list(different.values())[:4]:
        alike = subject.alike(call)
        for altered in subject.altered:
            after = altered.call(call)
            ends = {end(altered, one) for one in alike}
            ran = call.lines[altered.change.number] or not call.lines
            if after is not None and ran and len(ends) == 1:
                found.setdefault(ends.pop(), []).append((altered, call, after))
    kinds = [kind for kind in subject.some(found) if kind in ENDINGS]
    each = [[(kind, *one) for one in found[kind]] for kind in kinds]
    drawn = [one for turn in zip_longest(*each) for one in turn if one]
    for kind, altered, call, after in drawn:
        words = told(call, full=all(map(written_out, call.arguments.values())))
        text = suppose(altered, f"What would change in the result of {words}?")
        why = ENDINGS[kind]
        if kind == "error" and after.error:
            why = f"{why[:-1]}: {one_line(after.error.strip())[:200]}."
        if shown := trace(after, altered.change.number):
            why += f" With the change:\n\n{shown}"
        yield Draft(text, ENDINGS[kind], [*ENDINGS.values()], why)


def fails(subject: Subject) -> Iterator[Draft]:
    """Which visible check a changed line fails alone, or which alone still passes.

    Where an error is raised, what passes is a matter of inputs, which checks keep.
    """
    for altered in subject.altered:
        failed = [subject.sentences[number] for number in altered.failed]
        passing = [one for one in subject.sentences if one not in failed]
        why = f"Failing: {'; '.join(failed)}. Still passing: {'; '.join(passing)}."
        if len(failed) == 1:
            text = suppose(
                altered, "Which visible check is then the only one that fails?"
            )
            yield Draft(text, failed[0], subject.some(passing), why)
        ended = all(call.result for calls in altered.trials for call in calls)
        if len(passing) == 1 and ended:
            text = suppose(
                altered, "Which visible check is then the only one that still passes?"
            )
            yield Draft(text, passing[0], subject.some(failed), why)


# ------------------------------------------------------------ choices

Kind = Callable[[Subject], Iterator[Draft]]
KINDS: tuple[Kind, ...] = (shape, value, change, fails)


def posed(subject: Subject, kind: Kind) -> Iterator[Asked]:
    """The questions of a kind that have enough choices."""
    for text, right, wrong, why in kind(subject):
        others = [one for one in dict.fromkeys(wrong) if one != right][: MOST - 1]
        choices = subject.some([right, *others])
        if right in ENDINGS.values():
            choices.sort(key=[*ENDINGS.values()].index)
        if len(choices) >= LEAST:
            key = choices.index(right)
            yield Asked(kind.__name__, text, choices, key, why)
