"""Quiz questions about a call of one's own code: shapes, dtypes, values, loops."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autograder.own_code.answer_record import (
    Draft,
    Subject,
    listed,
    of_type,
    told,
    trace,
)
from autograder.own_code.tracing import Call, Key
from autograder.own_code.values import Seen, is_float, of_dtype

DTYPES = ["bool", "float32", "float64", "int64"]
TYPED = re.compile(r"dtype|astype|float|double|int\(|long|bool")  # it stands there
PLAIN = re.compile(r"(np|torch)\.(arange|zeros|ones|full|eye)|.*\.(reshape|view)")


def place_of(what: str, call: Call, key: Key, subject: Subject, full: bool) -> str:
    """A question about a name or an expression."""
    line, label = key
    again = call.lines[line] > 1 or call.counts[key] > 1
    place = "after" if label.endswith(" =") else "in"
    place += f" this line{' when it first runs' if again else ''}"
    name = label.removesuffix(" =")
    asked = f"what is {what} of `{name}` {place}?\n\n{subject.line(line)}"
    return f"In the call {told(call, full)}: {asked}"


def plain(key: Key, subject: Subject) -> bool:
    """Whether the code says what it is: zeros, a range, another shape."""
    line, label = key
    named = label.endswith(" =")
    text = subject.lines[line - 1].partition(" = ")[2] if named else label
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return False
    called = isinstance(node, ast.Call) and ast.unparse(node.func)
    return bool(called and PLAIN.fullmatch(called)) and "-1" not in text


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
            spelt = spelt or plain(key, subject)
            if value.kind != "array" or value.shape in given or spelt:
                continue
            if any(one.values.get(key, value).shape != value.shape for one in alike):
                continue
            near = [v for v in others(subject, call, key) if v.kind == "array"]
            why = f"Its shape is {right}:\n\n{trace(call, *key)}"
            yield Draft(text, right, [str(v.shape) for v in near], why)


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
            yield Draft(text, one.dtype, DTYPES, why)


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
            if not shown.small or size or flag or plain(key, subject):
                continue
            text = place_of(what, call, key, subject, True)
            if f" {shown.text}" in text or f"{shown.text}," in text:
                continue
            near = [v for v in near if v.small and v.dtype == shown.dtype]
            wrong = [v.text for v in near if v.far(shown)]
            note = " (to three decimals)" if one.dtype.startswith("float") else ""
            why = f"It is {shown.text}{note}:\n\n{trace(call, *key)}"
            yield Draft(text, shown.text, wrong, why)


def times(subject: Subject) -> Iterator[Draft]:
    """How often a line of a loop runs, where no argument says so."""
    for call in subject.calls():
        for line, count in subject.some(call.lines.items()):
            text = f"In the call {told(call)}: how often does this line run?"
            text += f"\n\n{subject.line(line)}"
            given = [len(value.parts) for value in call.arguments.values()]
            if count < 2 or str(count) in text or count in given:
                continue
            alike = subject.alike(call)
            if any(one.lines[line] != count for one in alike):
                continue
            calls = [call, *(altered.call(call) for altered in subject.altered)]
            counts = [n for one in calls if one for n in one.lines.values()]
            wrong = [str(n) for n in [count - 1, count + 1, *subject.some(counts)] if n]
            why = f"It runs {count} times in this call."
            yield Draft(text, str(count), wrong, why)
