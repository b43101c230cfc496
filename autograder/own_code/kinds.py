"""The kinds of questions. Each draws from a subject, and gives what came of running it.

A kind yields drafts; :func:`posed` makes questions of them that have exactly one right
choice. What stands in the text already, or has too few choices, is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from autograder.own_code.subject import (
    Altered,
    Scene,
    Subject,
    listed,
    literal,
    told,
    trace,
    written_out,
)
from autograder.own_code.values import Seen, spelled
from autograder.own_code.watching import Call, Key

MOST, LEAST = 4, 3  # choices
MODEST = 50  # numbers of which a thousand times as much is worth a question
DTYPES = ["bool", "float32", "float64", "int64"]
ENDINGS = {
    "error": "An error is raised.",
    "shape": "The result has another shape.",
    "dtype": "The result has the same numbers and another dtype.",
    "values": "The result has the same shape and other numbers.",
}
PLAIN = ("np.arange", "np.zeros", "np.ones", "torch.arange", "torch.ones")
FIXED = [*DTYPES, *ENDINGS.values()]  # choices that stand in this order


@dataclass(frozen=True)
class Asked:
    """A question about one's own code: ``choices[key]`` is right, and ``why``.

    In ``text`` and ``why``, backticks enclose code and four spaces begin a line of it.
    ``about`` is what was run, for those who check the key in another way.
    """

    kind: str
    line: int
    text: str
    choices: list[str]
    key: int
    why: str
    about: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def plain(self) -> dict[str, Any]:
        """As data that can be written to a file."""
        return {k: v for k, v in vars(self).items() if k != "about"}


class Draft(NamedTuple):
    """A question before its choices are drawn from ``wrong``, the best ones first."""

    line: int
    text: str
    right: str
    wrong: list[str]
    why: str
    about: dict[str, Any]


def posed(subject: Subject, kind: Kind) -> Iterator[Asked]:
    """The questions of a kind that have enough choices."""
    for line, text, right, wrong, why, about in kind(subject):
        others = [one for one in dict.fromkeys(wrong) if one != right][: MOST - 1]
        choices = subject.some([right, *others])
        if right in FIXED:
            choices.sort(key=FIXED.index)
        if len(choices) >= LEAST:
            key = choices.index(right)
            yield Asked(kind.__name__, line, text, choices, key, why, about)


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


def others(subject: Subject, scene: Scene, call: Call, key: Key) -> Iterator[Seen]:
    """Other values of the same place: under changes, in other calls; then of others."""
    calls = [altered.call(scene, call) for altered in subject.altered]
    calls += [other for trial in subject.trials for other in trial.calls]
    yield from (one.values[key] for one in calls if one and key in one.values)
    yield from call.values.values()


def shape(subject: Subject) -> Iterator[Draft]:
    """The shape of a name or an expression."""
    for scene, call in subject.scenes():
        given = {value.shape for value in call.arguments.values()}
        for key, value in subject.some(call.values.items()):
            text = place_of("the shape", call, key, subject, False)
            right = str(value.shape)
            spelt = right in text or right[1:-1].rstrip(",") in key[1]
            if value.kind != "array" or value.shape in given or spelt:
                continue
            near = [v for v in others(subject, scene, call, key) if v.kind == "array"]
            why = f"Its shape is {right}:\n\n{trace(call, key[0])}"
            about = {"scene": scene, "at": key}
            yield Draft(key[0], text, right, [str(v.shape) for v in near], why, about)


def dtype(subject: Subject) -> Iterator[Draft]:
    """The dtype of a name or an expression, where it is not that of an argument.

    That a comparison is boolean is no question.
    """
    for scene, call in subject.scenes():
        arrays = [v for v in call.arguments.values() if v.kind == "array"]
        given = {value.dtype for value in arrays}
        for key, value in subject.some(call.values.items()):
            spelt = "dtype" in subject.lines[key[0] - 1]
            new = given and value.dtype in {"int64", "float64"} - given
            if value.kind != "array" or not new or spelt:
                continue
            text = place_of("the dtype", call, key, subject, False)
            why = f"Its dtype is {value.dtype}:\n\n{trace(call, key[0])}"
            about = {"scene": scene, "at": key}
            wrong = subject.some(DTYPES)
            yield Draft(key[0], text, value.dtype, wrong, why, about)


def value(subject: Subject) -> Iterator[Draft]:
    """Entries of an array, or a number, for arguments that are shown in full."""
    for scene, call in subject.scenes(literal=True):
        for key, one in subject.some(call.values.items()):
            near, what, row = list(others(subject, scene, call, key)), "the value", None
            shown = one
            if one.rows:
                row = subject.draw.randrange(len(one.rows))
                what, shown = f"row {row}", one.rows[row]
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
            why = f"It is {shown.text}{note}:\n\n{trace(call, key[0])}"
            about = {"scene": scene, "at": key, "row": row}
            yield Draft(key[0], text, shown.text, wrong, why, about)


def times(subject: Subject) -> Iterator[Draft]:
    """How often a line of a loop runs."""
    for scene, call in subject.scenes():
        for line, count in subject.some(call.lines.items()):
            text = f"In the call {told(call)}: how often does this line run?"
            text += f"\n\n{subject.line(line)}"
            if count < 2 or str(count) in text:
                continue
            calls = [altered.call(scene, call) for altered in subject.altered]
            calls += [other for trial in subject.trials for other in trial.calls]
            counts = [one.lines[line] for one in calls if one] + [*call.lines.values()]
            wrong = [str(one) for one in counts if one]
            why = f"It runs {count} times in this call."
            about = {"scene": scene, "at": (line, "")}
            yield Draft(line, text, str(count), wrong, why, about)


# ------------------------------------------------------------ one line changed


def suppose(altered: Altered, question: str) -> str:
    """A question about a change."""
    old, new = altered.change.old, altered.change.new
    supposed = f"it read\n\n    {new}\n\n" if new != "pass" else "it were left out. "
    line = f"Line {altered.change.number} of your code is\n\n    {old}\n\n"
    return f"{line}Suppose that {supposed}{question}"


def change(subject: Subject) -> Iterator[Draft]:
    """What a changed line does to the result of a call.

    That it does nothing is never the key: the call of a check may hide what it does.
    """
    found: dict[str, list[tuple[Altered, Scene, Call, Call]]] = {}
    for scene, call in list(subject.scenes())[:4]:
        for altered in subject.altered:
            after = altered.call(scene, call)
            ran = call.lines[altered.change.number] or not call.lines
            if after is None or call.result is None or not ran:
                continue
            end = "error" if after.result is None else call.result.like(after.result)
            found.setdefault(end, []).append((altered, scene, call, after))
    ends = [end for end in subject.some(found) if end in ENDINGS]
    drawn = [(end, one) for end in ends for one in subject.some(found[end])]
    drawn.sort(key=lambda pair: found[pair[0]].index(pair[1]) > 0)
    for end, (altered, scene, call, after) in drawn:
        text = suppose(altered, f"What would change in the result of {told(call)}?")
        number, why = altered.change.number, ENDINGS[end]
        if shown := trace(after, number):
            why += f" With the change:\n\n{shown}"
        about = {"scene": scene, "source": altered.change.source}
        yield Draft(number, text, ENDINGS[end], [*ENDINGS.values()], why, about)


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
        yield Draft(number, text, failed, wrong, why, vars(altered.change))


def breaks(subject: Subject) -> Iterator[Draft]:
    """Which change makes one visible check fail; the others fail none.

    A change that spoils the answer, and passes this check by its inputs, is no choice.
    """
    for number, sentence in subject.some(enumerate(subject.sentences)):
        every = len(subject.sentences)
        good = [a for a in subject.altered if not a.failed and a.change.keeps]
        bad = [a for a in subject.altered if number in a.failed]
        for right in [a for a in bad if len(a.failed) < every][:1]:
            text = f"Which of these changes makes this check fail?\n\n“{sentence}”"
            why = f"{was(right)}The other changes compute the same."
            about = {"check": number, "sources": sources([right, *good])}
            wrong = [a.told for a in good]
            yield Draft(right.change.number, text, right.told, wrong, why, about)


def keeps(subject: Subject) -> Iterator[Draft]:
    """Which of several changes keeps all visible checks passing."""
    bad = [a for a in subject.altered if a.failed]
    for right in [a for a in subject.altered if not a.failed and a.change.keeps]:
        text = "Which of these changes keeps all visible checks passing?"
        why = f"{was(right)}The new line computes the same; the others fail a check."
        about = {"sources": sources([right, *bad])}
        wrong = [a.told for a in bad]
        yield Draft(right.change.number, text, right.told, wrong, why, about)


def was(altered: Altered) -> str:
    """How a changed line reads in the answer."""
    return f"Line {altered.change.number} was\n\n    {altered.change.old}\n\n"


def sources(every: list[Altered]) -> dict[str, str]:
    """Changed programs, by the words of their choices."""
    return {altered.told: altered.change.source for altered in every}


# ------------------------------------------------------------ other inputs


def raises(subject: Subject) -> Iterator[Draft]:
    """Which shapes of the arguments make a call raise."""
    for scene, call in list(subject.scenes())[:3]:
        kinds = {name: value.kind for name, value in call.arguments.items()}
        arrays = {k: v for k, v in call.live.items() if kinds.get(k) == "array"}
        rest = [v for name, v in call.arguments.items() if name not in arrays]
        base = subject.program.called(call) if arrays else None
        if base is None or call.result is None or not all(map(written_out, rest)):
            continue
        if base.like(call.result) == "unlike":
            continue
        given = {shapes(arrays | one): one for one in [{}, *smaller(arrays)]}
        came = {
            words: subject.program.called(call, **one) for words, one in given.items()
        }
        bad = [words for words, result in came.items() if result is None]
        good = [words for words, result in came.items() if result is not None]
        for right in subject.some(bad)[:1]:
            called = told(call).partition(", with ")[0]
            text = f"With which of these shapes does {called} raise an error?"
            why = f"With {right} your code raises an error; it runs with the others."
            line = function_line(subject, call)
            about = {"scene": scene, "given": given}
            yield Draft(line, text, right, subject.some(good), why, about)


def smaller(arrays: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments in which one array has a row or an axis less."""
    for name, array in arrays.items():
        for axis in range(array.ndim):
            if array.shape[axis] > 1:
                every = [slice(None)] * array.ndim
                every[axis] = slice(0, -1)
                yield {name: array[tuple(every)]}
        if array.ndim > 1:
            yield {name: array[0]}


def shapes(arrays: dict[str, Any]) -> str:
    """The shapes of arguments, as a choice."""
    return listed([f"`{name}` {tuple(array.shape)}" for name, array in arrays.items()])


def function_line(subject: Subject, call: Call) -> int:
    """The line in which a function begins."""
    nodes = ast.walk(ast.parse(subject.source))
    found = [n for n in nodes if isinstance(n, ast.FunctionDef)]
    return next((n.lineno for n in found if n.name == call.function), 1)


def overflows(subject: Subject) -> Iterator[Draft]:
    """Which numbers make the result NaN or infinite, with a changed line."""
    for scene, call in list(subject.scenes(literal=True))[:2]:
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
                about = vars(altered.change) | {"scene": scene, "name": name}
                about["given"] = {words: one for words, (_, one) in came.items()}
                text = suppose(altered, question)
                yield Draft(altered.change.number, text, bad[0], good, why, about)


Kind = Callable[[Subject], Iterator[Draft]]
KINDS: tuple[Kind, ...] = (
    *(change, value, breaks, keeps, overflows),
    *(fails, raises, times, shape, dtype),
)
