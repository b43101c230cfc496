"""The keys of questions about one's own code, found another way than the questions'.

The answers run as they are written, under ``sys.settrace``; values come from frames,
by ``eval`` of the text in the question; counts from a line of text that is put before.
"""

from __future__ import annotations

import contextlib
import copy
import io
import sys
import threading

import numpy as np

from autograder.checks.isolation import settled
from autograder.checks.question import failure_of
from autograder.own_code.watching import repeatable

FILE = "<as it is written>"
SECONDS = 20


class Late(BaseException):
    """An answer that has been changed does not come to an end."""


def defined(source, name, names):
    """What a source defines, run as it is."""
    space = dict(names)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, FILE, "exec", dont_inherit=True), space)
    return space[name]


class Frames:
    """The calls that a check makes: what they are given, and how they end."""

    def __init__(self, key=None):
        self.key, self.stack, self.calls = key, [], []

    def __call__(self, frame, event, arg):
        if frame.f_code.co_filename != FILE:
            return None
        name = frame.f_code.co_name
        if not self.stack and name != "__init__":
            given = {k: v for k, v in frame.f_locals.items() if k != "__class__"}
            with contextlib.suppress(Exception):
                given = copy.deepcopy(given)
            self.calls.append({"given": given, "name": name, "seen": []})
        self.stack.append(name)
        call = self.calls[-1] if self.calls and "__init__" not in self.stack else None
        last = [None]

        def local(frame, event, arg):
            if call is not None and self.key:
                self.look(call, frame, last)
            if event == "line":
                last[0] = frame.f_lineno
            if event == "return":
                self.stack.pop()
            return local

        return local

    def look(self, call, frame, last):
        """Note the value that the question is about."""
        line, label = self.key
        if label.endswith(" ="):  # once the line has run
            name = label.removesuffix(" =")
            if last[0] == line != frame.f_lineno and name in frame.f_locals:
                call["seen"].append(kept(frame.f_locals[name]))
        elif line == frame.f_lineno and label and not call["seen"]:
            held = sys.gettrace()
            sys.settrace(None)
            with contextlib.suppress(Exception):
                names = frame.f_globals | frame.f_locals  # for what is inside of it
                call["seen"].append(kept(eval(label, names)))
            sys.settrace(held)


def kept(value):
    """A copy, which does not change with what comes after."""
    return value.detach().clone() if hasattr(value, "clone") else copy.deepcopy(value)


def run(answer, check, key=None):
    """The calls that a check makes, up to four of them."""
    frames, end = Frames(key), threading.Event()

    def bounded(frame, event, arg):
        if end.is_set():
            raise Late
        return frames(frame, event, arg)

    timer = threading.Timer(SECONDS, end.set)
    timer.start()
    with repeatable(), settled(), contextlib.redirect_stdout(io.StringIO()):
        sys.settrace(bounded)
        try:
            failure = failure_of(check, answer)
        except Late:
            failure = "late"
        finally:
            sys.settrace(None)
            timer.cancel()
    return failure, frames.calls


def numbers(value):
    """An array or a number as NumPy has it."""
    return np.asarray(value.detach() if hasattr(value, "detach") else value)


def right(asked, question, source, names):
    """The choices that are right; None where they cannot be found this way."""
    return globals()[f"of_{asked.kind}"](asked, question, source, names)


def watched(asked, question, source, names):
    number, index = asked.about["scene"]
    answer = defined(source, question.name, names)
    key = tuple(asked.about["at"])
    _, calls = run(answer, question.checks[number], key)
    return calls[index]["seen"][:1]


def of_shape(asked, *about):
    return [str(tuple(v.shape)) for v in watched(asked, *about)] or None


def of_dtype(asked, *about):
    return [str(v.dtype).removeprefix("torch.") for v in watched(asked, *about)] or None


def of_value(asked, *about):
    for value in watched(asked, *about):
        value = numbers(value)
        row = asked.about["row"]
        value = value if row is None else value[row]
        return [one for one in asked.choices if close(one, value)]
    return None


def close(text, value):
    """Whether a choice is a value, to three decimals."""
    told = np.asarray(eval(text, {"inf": np.inf, "nan": np.nan}))
    return told.shape == value.shape and np.allclose(
        told, value, 1e-3, 6e-4, equal_nan=True
    )


def of_times(asked, question, source, names):
    number, index = asked.about["scene"]
    line, lines, counts = asked.about["at"][0], source.split("\n"), []
    text = lines[line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    if text.lstrip().startswith(("elif", "else", "except")):
        return None
    lines.insert(line - 1, f"{indent}_count_()")

    def count():
        counts.append(len(frames.calls))

    frames = Frames()
    answer = defined("\n".join(lines), question.name, names | {"_count_": count})
    with repeatable(), settled(), contextlib.redirect_stdout(io.StringIO()):
        sys.settrace(frames)
        failure_of(question.checks[number], answer)
        sys.settrace(None)
    return [str(counts.count(index + 1))]


def of_change(asked, question, source, names):
    number, index = asked.about["scene"]
    results = []
    for code in (source, asked.about["source"]):
        answer = defined(code, question.name, names)
        _, calls = run(answer, question.checks[number])
        results.append(again(answer, calls[index], {}))
    before, after = results
    if isinstance(before, str):
        return None
    if isinstance(after, str):
        return ["An error is raised."]
    pairs = list(zip(*map(flat, results), strict=True))
    if any(a.shape != b.shape for a, b in pairs):
        return ["The result has another shape."]
    same = all(np.allclose(a, b, 1e-5, 1e-6, equal_nan=True) for a, b in pairs)
    if any(a.dtype != b.dtype for a, b in pairs):
        return ["The result has the same numbers and another dtype."] if same else []
    if same:
        return ["The result is the same."]
    return ["The result has the same shape and other numbers."]


def flat(result):
    parts = result if isinstance(result, tuple | list) else (result,)
    return [numbers(part) for part in parts]


def failures(source, question, names):
    """The numbers of the checks that fail."""
    answer = defined(source, question.name, names)
    return [n for n, check in enumerate(question.checks) if run(answer, check)[0]]


def of_fails(asked, question, source, names):
    numbers = failures(asked.about["source"], question, names)
    first_lines = [check.__doc__.strip().splitlines()[0] for check in question.checks]
    return [first_lines[number].rstrip(".") for number in numbers]


def of_breaks(asked, question, source, names):
    found = {
        words: failures(code, question, names)
        for words, code in asked.about["sources"].items()
        if words in asked.choices
    }
    (right,) = [words for words, failed in found.items() if failed]
    assert asked.about["check"] in found[right]
    return [right]


def of_keeps(asked, question, source, names):
    sources = asked.about["sources"]
    return [one for one in asked.choices if not failures(sources[one], question, names)]


def again(answer, call, given):
    """A call once more, with some other arguments; "raised", or the result."""
    names = copy.deepcopy(call["given"]) | given
    own = names.pop("self", None)
    function = answer if own is None else getattr(own, call["name"])
    with repeatable(), settled(), contextlib.redirect_stdout(io.StringIO()):
        try:
            return function(**names)
        except Exception:
            return "raised"


def of_raises(asked, question, source, names):
    number, index = asked.about["scene"]
    answer = defined(source, question.name, names)
    call = run(answer, question.checks[number])[1][index]
    came = {
        one: again(answer, call, asked.about["given"][one]) for one in asked.choices
    }
    return [one for one, result in came.items() if isinstance(result, str)]


def of_overflows(asked, question, source, names):
    number, index = asked.about["scene"]
    call = run(defined(source, question.name, names), question.checks[number])[1][index]
    answer = defined(asked.about["source"], question.name, names)
    wrong = []
    for words in asked.choices:
        given = {asked.about["name"]: asked.about["given"][words]}
        with np.errstate(all="ignore"):
            parts = flat(again(answer, call, given))
        if not all(np.isfinite(part).all() for part in parts):
            wrong.append(words)
    return wrong
