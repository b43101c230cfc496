"""The kinds of questions. Each draws from a subject, and gives what came of running it.

A kind yields drafts; :func:`posed` makes questions of them that have exactly one right
choice. What stands in the text already, or has too few choices, is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from autograder.own_code.subject import (
    Altered,
    Subject,
    listed,
    literal,
    of_type,
    told,
    trace,
    written_out,
)
from autograder.own_code.values import Seen, spelled
from autograder.own_code.watching import Call, Key
from autograder.text import one_line

MOST, LEAST = 4, 3  # choices
MODEST = 50  # numbers of which a thousand times as much is worth a question
ENDINGS = {
    "error": "An error is raised.",
    "shape": "The result has another shape.",
    "dtype": "The result has the same values and another dtype.",
    "values": "The result has the same shape and other values.",
}
PLAIN = ("np.arange", "np.zeros", "np.ones", "torch.arange", "torch.ones")


@dataclass(frozen=True)
class Asked:
    """A question about one's own code: ``choices[key]`` is right, and ``why``.

    In ``text`` and ``why``, backticks enclose code and four spaces begin a line of it.
    """

    kind: str
    line: int
    text: str
    choices: list[str]
    key: int
    why: str

    def plain(self) -> dict[str, Any]:
        """As data that can be written to a file."""
        return dict(vars(self))


class Draft(NamedTuple):
    """A question before its choices are drawn from ``wrong``, the best ones first."""

    line: int
    text: str
    right: str
    wrong: list[str]
    why: str


def posed(subject: Subject, kind: Kind) -> Iterator[Asked]:
    """The questions of a kind that have enough choices."""
    for line, text, right, wrong, why in kind(subject):
        others = [one for one in dict.fromkeys(wrong) if one != right][: MOST - 1]
        choices = subject.some([right, *others])
        if right in ENDINGS.values():
            choices.sort(key=[*ENDINGS.values()].index)
        if len(choices) >= LEAST:
            key = choices.index(right)
            yield Asked(kind.__name__, line, text, choices, key, why)


# ------------------------------------------------------------ values in a call


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
    calls += [other for trial in subject.trials for other in trial.calls]
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
            yield Draft(key[0], text, right, [str(v.shape) for v in near], why)


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
            plain = key[1].startswith(PLAIN)
            if not shown.small or size or flag or plain:
                continue
            text = place_of(what, call, key, subject, True)
            if f" {shown.text}" in text or f"{shown.text}," in text:
                continue
            near.sort(key=lambda other: other.shape != shown.shape)
            kind = one.kind, one.dtype
            wrong = [v.text for v in near if v.small and (v.kind, v.dtype) == kind]
            note = " (to three decimals)" if one.dtype.startswith("float") else ""
            why = f"It is {shown.text}{note}:\n\n{trace(call, *key)}"
            yield Draft(key[0], text, shown.text, wrong, why)


# ------------------------------------------------------------ one line changed


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
    for call in list(subject.calls())[:4]:
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
        number, why = altered.change.number, ENDINGS[kind]
        if kind == "error" and after.error:
            why = f"{why[:-1]}: {one_line(after.error.strip())[:200]}."
        if shown := trace(after, number):
            why += f" With the change:\n\n{shown}"
        yield Draft(number, text, ENDINGS[kind], [*ENDINGS.values()], why)


def fails(subject: Subject) -> Iterator[Draft]:
    """Which visible check a changed line fails, where it fails one alone."""
    for altered in subject.altered:
        if len(altered.failed) != 1:
            continue
        failed = subject.sentences[altered.failed[0]]
        passing = [one for one in subject.sentences if one != failed]
        text = suppose(altered, "Which visible check fails then, and no other?")
        why = f"“{failed}” fails. Still passing: {'; '.join(passing)}."
        number, wrong = altered.change.number, subject.some(passing)
        yield Draft(number, text, failed, wrong, why)


# ------------------------------------------------------------ other inputs


def overflows(subject: Subject) -> Iterator[Draft]:
    """Which numbers make the result NaN or infinite, with a changed line."""
    for call in list(subject.calls(literal=True))[:2]:
        given = call.arguments.items()
        kind = ("array", "float")
        floats = [name for name, v in given if (v.kind, v.dtype[:5]) == kind]
        entries = call.arguments[floats[0]].entries if floats else None
        if entries is None or not 0 < abs(entries).max(initial=0) < MODEST:
            continue
        name, array = floats[0], call.live.get(floats[0])
        if array is None:
            continue
        rest = [f"`{k} = {literal(v)}`" for k, v in given if k != name]
        beside = f", with {listed(rest)}," if rest else ""
        question = f"For which input{beside} does the result hold NaN or infinity?"
        inputs = [array, array * 0, array * 1000, array * 1000 - 5000, array / 4]
        for altered in subject.altered:
            came = {}
            for one in inputs:
                now = subject.program.called(call, **{name: one})
                result = altered.program.called(call, **{name: one})
                if now and now.finite and result:
                    came[f"`{name} = {spelled(one.tolist())}`"] = result.finite, one
            bad = [words for words, (finite, _) in came.items() if not finite]
            good = [words for words, (finite, _) in came.items() if finite]
            if len(bad) == 1:
                why = "With this input the result is not finite; with the others it is."
                text = suppose(altered, question)
                yield Draft(altered.change.number, text, bad[0], good, why)


Kind = Callable[[Subject], Iterator[Draft]]
KINDS: tuple[Kind, ...] = (change, value, overflows, fails, shape)
