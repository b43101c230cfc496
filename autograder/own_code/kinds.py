"""The kinds of questions. Each draws from a subject, and gives what came of running it.

A kind yields questions that have exactly one right choice; what is in the text already,
and what would need made-up choices, is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

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
NEW_LINE = "\n\n"
MODEST = 50  # numbers of which a thousand times as much is worth a question
DTYPES = {"bool", "int64", "float32", "float64"}
ENDINGS = {
    "error": "An error is raised.",
    "shape": "The result has another shape.",
    "dtype": "The result has the same numbers and another dtype.",
    "values": "The result has the same shape and other numbers.",
    "same": "The result is the same.",
}


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
    about: dict[str, Any] = field(default_factory=dict, repr=False)

    def plain(self) -> dict[str, Any]:
        """As data that can be written to a file."""
        names = (one.name for one in fields(self) if one.name != "about")
        return {name: getattr(self, name) for name in names}


def asked(
    subject: Subject,
    kind: str,
    line: int,
    text: str,
    right: str,
    wrong: list[str],
    why: str,
    **about: Any,
) -> Iterator[Asked]:
    """The question with its choices in an order that is drawn, if there are enough."""
    wrong = [one for one in dict.fromkeys(wrong) if one != right][: MOST - 1]
    if len(wrong) + 1 < LEAST:
        return
    choices = subject.some([right, *wrong])
    yield Asked(kind, line, text, choices, choices.index(right), why, about)


def ordered(choices: Iterator[Asked], order: list[str]) -> Iterator[Asked]:
    """Questions whose choices stand in a fixed order."""
    for one in choices:
        right = one.choices[one.key]
        fixed = [choice for choice in order if choice in one.choices]
        yield Asked(
            one.kind, one.line, one.text, fixed, fixed.index(right), one.why, one.about
        )


def named(key: Key) -> tuple[str, bool]:
    """The name or expression that a key is about, and whether it is a name."""
    return key[1].removesuffix(" ="), key[1].endswith(" =")


def place_of(
    what: str, call: Call, key: Key, subject: Subject, full: bool = False
) -> str:
    """A question about a name or an expression."""
    label, is_name = named(key)
    again = call.lines[key[0]] > 1 or call.counts[key] > 1
    when = " when it first runs" if again else ""
    place = f"after this line{when}" if is_name else f"in this line{when}"
    return (
        f"In the call {told(call, full)}: what is {what} of `{label}` {place}?\n\n"
        f"{subject.line(key[0])}"
    )


def others(subject: Subject, scene: Scene, call: Call, key: Key) -> Iterator[Seen]:
    """Other values of the same place: under changes, in other calls; then of others."""
    for altered in subject.altered:
        found = altered.call(scene, call)
        if found and key in found.values:
            yield found.values[key]
    for trial in subject.trials:
        for other in trial.calls:
            if key in other.values:
                yield other.values[key]
    yield from call.values.values()


def shape(subject: Subject) -> Iterator[Asked]:
    """The shape of a name or an expression."""
    for scene, call in subject.scenes():
        given = {value.shape for value in call.arguments.values()}
        for key, value in subject.some(call.values.items()):
            if value.kind != "array" or value.shape in given:
                continue
            text = place_of("the shape", call, key, subject)
            right, label = str(value.shape), named(key)[0]
            if right in text or right[1:-1].rstrip(",") in label:
                continue
            found = [v for v in others(subject, scene, call, key) if v.kind == "array"]
            wrong = [str(one.shape) for one in found]
            why = f"Its shape is {right}:\n\n{trace(call, key[0])}"
            yield from asked(
                subject, "shape", key[0], text, right, wrong, why, scene=scene, at=key
            )


def dtype(subject: Subject) -> Iterator[Asked]:
    """The dtype of a name or an expression, where it is not that of an argument."""
    for scene, call in subject.scenes():
        arrays = [v for v in call.arguments.values() if v.kind == "array"]
        given = {value.dtype for value in arrays}
        for key, value in subject.some(call.values.items()):
            spoken = "dtype" in key[1] or "dtype" in subject.lines[key[0] - 1]
            if value.kind != "array" or not given or value.dtype in given or spoken:
                continue
            if value.dtype not in ("int64", "float64"):  # a comparison is no question
                continue
            text = place_of("the dtype", call, key, subject)
            why = f"Its dtype is {value.dtype}:\n\n{trace(call, key[0])}"
            wrong = sorted(DTYPES - {value.dtype})
            found = asked(
                subject, "dtype", key[0], text, value.dtype, wrong, why,
                scene=scene, at=key,
            )  # fmt: skip
            yield from ordered(found, sorted(DTYPES))


def value(subject: Subject) -> Iterator[Asked]:
    """Entries of an array, or a number, for arguments that are shown in full."""
    for scene, call in subject.scenes(literal=True):
        for key, one in subject.some(call.values.items()):
            near = list(others(subject, scene, call, key))
            row = subject.draw.randrange(len(one.rows)) if one.rows else None
            if row is not None:
                about, shown, own = f"row {row}", one.rows[row], one.rows
                near = [v.rows[row] for v in near if len(v.rows) > row] + own
            elif one.small and (one.kind, one.dtype) != ("number", "bool"):
                about, shown = "the value", one
            else:
                continue
            if one.kind == "number" and ".shape" in subject.lines[key[0] - 1]:
                continue
            near.sort(key=lambda other: other.shape != shown.shape)
            text = place_of(about, call, key, subject, full=True)
            if f" {shown.text}" in text or f"{shown.text}," in text:
                continue
            wrong = [
                other.text
                for other in near
                if other.small and (other.kind, other.dtype) == (one.kind, one.dtype)
            ]
            note = " (to three decimals)" if one.dtype.startswith("float") else ""
            why = f"It is {shown.text}{note}:{NEW_LINE}{trace(call, key[0])}"
            yield from asked(
                subject, "value", key[0], text, shown.text, wrong, why,
                scene=scene, at=key, row=row,
            )  # fmt: skip


def times(subject: Subject) -> Iterator[Asked]:
    """How often a line of a loop runs."""
    for scene, call in subject.scenes():
        for line, count in subject.some(call.lines.items()):
            text = (
                f"In the call {told(call)}: how often does this line run?\n\n"
                f"{subject.line(line)}"
            )
            if count < 2 or str(count) in text:
                continue
            near = [a.call(scene, call) for a in subject.altered]
            found = [one.lines[line] for one in near if one]
            found += [other.lines[line] for t in subject.trials for other in t.calls]
            found += list(call.lines.values())
            wrong = [str(one) for one in found if one]
            why = f"It runs {count} times in this call."
            yield from asked(
                subject, "times", line, text, str(count), wrong, why,
                scene=scene, at=(line, ""),
            )  # fmt: skip


def suppose(altered: Altered, subject: Subject) -> str:
    """The beginning of a question about a change."""
    change = altered.change
    read = "were left out" if change.new == "pass" else f"read\n\n    {change.new}\n\n"
    return (
        f"Line {change.number} of your code is\n\n    {change.old}\n\n"
        f"Suppose that it {read}".rstrip(" ")
    )


def ending(result: Seen, call: Call | None) -> str:
    """How a changed program's result differs, as a key of ENDINGS; "" if unlike."""
    if call is None:
        return ""
    found = "error" if call.result is None else result.like(call.result)
    return found if found in ENDINGS else ""


def change(subject: Subject) -> Iterator[Asked]:
    """What a changed line does to the result of a call."""
    found: dict[str, list[tuple[Altered, Scene, Call, Call]]] = {}
    for scene, call in list(subject.scenes())[:4]:
        for altered in subject.altered:
            after = altered.call(scene, call)
            assert call.result is not None
            if not call.lines[altered.change.number] and call.lines:
                continue
            if after and (end := ending(call.result, after)):
                found.setdefault(end, []).append((altered, scene, call, after))
    ends = subject.some(found)
    firsts = [subject.draw.choice(found[end]) for end in ends]
    more = [one for end in ends for one in found[end] if one not in firsts]
    for altered, scene, call, after in [*firsts, *more]:
        end = ending(call.result or Seen("other"), after)
        text = suppose(altered, subject).rstrip("\n")
        text += f"{' ' if text.endswith('out') else NEW_LINE}What would change in the "
        text += f"result of {told(call)}?"
        number = altered.change.number
        shown = trace(after, number)
        why = f"{ENDINGS[end]}{f' With the change:{NEW_LINE}{shown}' if shown else ''}"
        questions = asked(
            subject, "change", number, text, ENDINGS[end], list(ENDINGS.values()), why,
            scene=scene, source=altered.change.source,
        )  # fmt: skip
        yield from ordered(questions, list(ENDINGS.values()))


def first(subject: Subject) -> Iterator[Asked]:
    """Which visible check a changed line fails first."""
    checks = range(len(subject.sentences))
    for altered in subject.altered:
        if not altered.failed or len(altered.failed) == len(checks):
            continue
        number = altered.failed[0]
        text = suppose(altered, subject).rstrip("\n")
        text += f"{' ' if text.endswith('out') else NEW_LINE}Which visible check is the"
        text += " first that fails?"
        wrong = [subject.sentences[n] for n in subject.some(checks) if n != number]
        passing = [subject.sentences[n] for n in checks if n not in altered.failed]
        more = "The checks that still pass: " + "; ".join(passing)
        why = f"“{subject.sentences[number]}” fails first. {more}."
        yield from asked(
            subject, "first", altered.change.number, text, subject.sentences[number],
            wrong, why, source=altered.change.source,
        )  # fmt: skip


def breaks(subject: Subject) -> Iterator[Asked]:
    """Which change makes one visible check fail."""
    for number in subject.some(range(len(subject.sentences))):
        bad = [a for a in subject.altered if number in a.failed]
        good = [a for a in subject.altered if number not in a.failed]
        every = len(subject.sentences)
        bad = [a for a in bad if every == 1 or len(a.failed) < every]
        if not bad or len(subject.sentences) < 2:
            continue
        right, sentence = bad[0], subject.sentences[number]
        text = f"Which of these changes makes this check fail?\n\n“{sentence}”"
        wrong = [a.told for a in good]
        why = f"Line {right.change.number} was\n\n    {right.change.old}\n\n"
        why += "With each of the other changes this check still passes."
        yield from asked(
            subject, "breaks", right.change.number, text, right.told, wrong, why,
            check=number, sources={a.told: a.change.source for a in [right, *good]},
        )  # fmt: skip


def keeps(subject: Subject) -> Iterator[Asked]:
    """Which of several changes keeps all visible checks passing."""
    good = [a for a in subject.altered if not a.failed and a.change.keeps]
    bad = [a for a in subject.altered if a.failed]
    for right in good:
        text = "Which of these changes keeps all visible checks passing?"
        why = f"Line {right.change.number} was\n\n    {right.change.old}\n\n"
        why += (
            "The new line computes the same. Each of the other changes fails a check."
        )
        yield from asked(
            subject, "keeps", right.change.number, text, right.told,
            [a.told for a in bad], why,
            sources={a.told: a.change.source for a in [right, *bad]},
        )  # fmt: skip


def raises(subject: Subject) -> Iterator[Asked]:
    """Which shapes of the arguments make a call raise."""
    for scene, call in list(subject.scenes())[:3]:
        arrays = {
            name: value
            for name, value in call.live.items()
            if call.arguments.get(name, Seen("other")).kind == "array"
        }
        base = subject.program.called(call) if arrays else None
        assert call.result is not None
        if base is None or base.like(call.result) == "unlike":
            continue
        given = {shapes(arrays | one): one for one in [{}, *smaller(arrays)]}
        bad: list[str] = []
        good: list[str] = []
        for words, one in given.items():
            failed = subject.program.called(call, **one) is None
            (bad if failed else good).append(words)
        if not bad:
            continue
        right = subject.draw.choice(bad)
        rest = [v for name, v in call.arguments.items() if name not in arrays]
        if not all(map(written_out, rest)):
            continue
        called = told(call).partition(", with ")[0]
        text = f"With which of these shapes does {called} raise an error?"
        why = f"With {right} your code raises an error; it runs with the others."
        yield from asked(
            subject, "raises", first_line_of(subject, call), text, right,
            subject.some(good), why, scene=scene, given=given,
        )  # fmt: skip


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


def overflows(subject: Subject) -> Iterator[Asked]:
    """Which numbers make the result NaN or infinite, with a changed line."""
    for scene, call in list(subject.scenes(literal=True))[:2]:
        floats = [
            (name, live)
            for name, live in call.live.items()
            if call.arguments[name].kind == "array"
            and call.arguments[name].dtype.startswith("float")
        ]
        shown = call.arguments[floats[0][0]].entries if floats else None
        if shown is None or not 0 < abs(shown).max(initial=0) < MODEST:
            continue
        name, array = floats[0]
        inputs = [array, array * 0, array * 1000, array * 1000 - 5000, array / 4]
        for altered in subject.altered:
            came = {}
            for given in inputs:
                result = altered.program.called(call, **{name: given})
                right = subject.program.called(call, **{name: given})
                if result is None or right is None or not right.finite:
                    continue
                came[f"`{name} = {spelled(given.tolist())}`"] = (result.finite, given)
            bad = [words for words, (finite, _) in came.items() if not finite]
            good = [words for words, (finite, _) in came.items() if finite]
            if len(bad) != 1:
                continue
            text = suppose(altered, subject).rstrip("\n") + NEW_LINE
            rest = {k: v for k, v in call.arguments.items() if k != name}
            beside = [f"`{k} = {literal(v)}`" for k, v in rest.items()]
            more = f", with {listed(beside)}," if beside else ""
            text += f"For which input{more} does the result hold NaN or infinity?"
            why = "With this input the result is not finite; with the others it is."
            yield from asked(
                subject, "overflows", altered.change.number, text, bad[0], good, why,
                scene=scene, name=name, source=altered.change.source,
                given={words: given for words, (_, given) in came.items()},
            )  # fmt: skip


def first_line_of(subject: Subject, call: Call) -> int:
    """The line in which a function begins."""
    for node in ast.walk(ast.parse(subject.source)):
        if isinstance(node, ast.FunctionDef) and node.name == call.function:
            return node.lineno
    return 1


KINDS: tuple[Callable[[Subject], Iterator[Asked]], ...] = (
    change,
    value,
    breaks,
    keeps,
    overflows,
    first,
    raises,
    times,
    shape,
    dtype,
)
