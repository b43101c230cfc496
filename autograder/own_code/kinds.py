"""The kinds of questions. Each draws from a subject, and gives what came of running it.

A kind yields drafts; :func:`posed` makes questions of them that have exactly one right
choice. What stands in the text already, or has too few choices, is left out.
"""

from __future__ import annotations

import ast
import re
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
from autograder.own_code.values import Seen, is_float, of_dtype, resized, spelled
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
DTYPES = ["bool", "float32", "float64", "int64"]
TYPED = re.compile(r"dtype|astype|float|double|int\(|long|bool")  # it stands there
UNSURE = re.compile(r"\b(raise|assert|try)\b")
FIXED = [*DTYPES, *ENDINGS.values()]  # choices that stand in this order
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
        if right in FIXED:
            choices.sort(key=FIXED.index)
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


def dtype(subject: Subject) -> Iterator[Draft]:
    """The dtype of a name or an expression, for arguments of another one.

    Where nothing but comparisons has a dtype of its own, it is no question.
    """
    for call in subject.calls(own=True):
        floats = {k: v for k, v in call.live.items() if is_float(call.arguments[k])}
        if not floats:
            continue
        old = call.arguments[next(iter(floats))].dtype
        new = subject.draw.choice(sorted({"float32", "float64", "int64"} - {old}))
        given = {name: of_dtype(one, new) for name, one in floats.items()}
        runs = [subject.program.called(one, **given) for one in subject.alike(call)]
        after = runs[0] if len(runs) == 1 else None
        if after is None or after.result is None:
            continue
        kinds = {one.dtype for one in after.values.values() if one.kind == "array"}
        if not kinds - {new, "bool"}:
            continue
        for key, one in subject.some(after.values.items()):
            if one.kind != "array" or one.dtype == "bool":
                continue
            if TYPED.search(subject.lines[key[0] - 1]):
                continue
            supposed = f"Suppose that {listed([f'`{k}`' for k in floats])} "
            supposed += f"{'is' if len(floats) == 1 else 'are'} of dtype {new}. "
            text = supposed + place_of("the dtype", after, key, subject, False)
            why = f"Its dtype is {one.dtype}:\n\n{trace(after, *key)}"
            yield Draft(key[0], text, one.dtype, DTYPES, why)


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


def times(subject: Subject) -> Iterator[Draft]:
    """How often a line of a loop runs, where no argument says so."""
    for call in subject.calls():
        for line, count in subject.some(call.lines.items()):
            text = f"In the call {told(call)}: how often does this line run?"
            text += f"\n\n{subject.line(line)}"
            if count < 2 or str(count) in text:
                continue
            alike = subject.alike(call)
            if any(one.lines[line] != count for one in alike):
                continue
            calls = [call, *(altered.call(call) for altered in subject.altered)]
            counts = [n for one in calls if one for n in one.lines.values()]
            wrong = [str(n) for n in [count - 1, count + 1, *subject.some(counts)] if n]
            why = f"It runs {count} times in this call."
            yield Draft(line, text, str(count), wrong, why)


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


def breaks(subject: Subject) -> Iterator[Draft]:
    """Which change fails this visible check; the others fail other checks."""
    for number, sentence in subject.some(enumerate(subject.sentences)):
        every = [one for one in subject.altered if one.failed]
        other = [reads(one) for one in every if number not in one.failed]
        for altered in every:
            if altered.failed == [number]:
                text = f"Which of these changes makes this check fail?\n\n“{sentence}”"
                old = altered.change.old
                why = f"The line is\n\n    {old}\n\nThe others fail other checks."
                line, right = altered.change.number, reads(altered)
                yield Draft(line, text, right, other, why)


def reads(altered: Altered) -> str:
    """A changed line, as a choice."""
    number, new = altered.change.number, altered.change.new
    return f"Line {number} {f'reads `{new}`' if new != 'pass' else 'is left out'}."


# ------------------------------------------------------------ other inputs


def raises(subject: Subject) -> Iterator[Draft]:
    """Which shape of an argument is an error, or the only one that is none."""
    if UNSURE.search(subject.source):
        return
    for call in subject.calls(own=True):
        if selects(subject, call) or len(subject.alike(call)) > 1:
            continue
        for name, array in subject.some(call.live.items()):
            given = call.arguments[name]
            if given.kind != "array" or not given.dtype.startswith(("float", "bool")):
                continue
            came = {
                str(shape): subject.program.called(
                    call, **{name: resized(array, shape)}
                )
                for shape in subject.some(near(given.shape))
            }
            bad = [one for one, ran in came.items() if ran and ran.error]
            good = [one for one, ran in came.items() if ran and ran.result]
            ends = {"an error": (bad, good), "no error": (good, bad)}
            for end, (right, wrong) in subject.some(ends.items()):
                if right and len(wrong) >= LEAST - 1:
                    text = f"In the call {told(call)}: which other shape of `{name}` "
                    text += f"raises {end}?"
                    run = came[bad[0]]
                    error = one_line(run.error.strip())[:200] if run else ""
                    why = f"With {bad[0]}: {error}."
                    yield Draft(1, text, right[0], wrong, why)
                    break


def near(shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Other shapes: an axis shorter, of one entry, swapped, one less or one more."""
    found = {(1, *shape), shape[1:], (*shape[:-2], *shape[-2:][::-1])}
    for axis, size in enumerate(shape):
        for other in (1, size - 1, size + 1):
            found.add((*shape[:axis], other, *shape[axis + 1 :]))
    return {one for one in found if one and one != shape and 0 not in one}


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
                runs = (subject.program, altered.program)
                now, then = (run.called(call, **{name: one}) for run in runs)
                if now and now.result and now.result.finite and then and then.result:
                    words = f"`{name} = {spelled(one.tolist())}`"
                    came[words] = then.result.finite
            bad = [words for words, finite in came.items() if not finite]
            good = [words for words, finite in came.items() if finite]
            if len(bad) == 1:
                why = "With this input the result is not finite; with the others it is."
                text = suppose(altered, question)
                yield Draft(altered.change.number, text, bad[0], good, why)


Kind = Callable[[Subject], Iterator[Draft]]
KINDS: tuple[Kind, ...] = (
    *(change, value, overflows, fails, shape),
    *(dtype, times, breaks, raises),
)
