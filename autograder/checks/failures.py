"""Failure messages of checks: what was seen, what was expected, where, what to read.

``CheckFailed`` is the exception that checks raise. Exceptions that a student's own code
raises are turned into one, with the line and a likely reason.
"""

from __future__ import annotations

import builtins
import linecache
from dataclasses import dataclass
from types import FrameType

from autograder import registry
from autograder.checks.drawing import Drawing
from autograder.explain.locations import Location, definition, location_of, opened
from autograder.text import letters, nearest, printable

LONGEST_PLACE = 400
NO_EXCEPTION = "no exception"


@dataclass(frozen=True)
class Misconception:
    """A known mistake: ``diagnosis`` is a sentence, ``read`` a place in the book."""

    id: str
    question: str
    diagnosis: str
    read: str


class CheckFailed(AssertionError):
    """A property does not hold: what was seen, what was expected, where to read.

    ``kind`` is one of "unanswered", "error", "type", "shape", "changed" and "value".
    ``drawing`` shows the values of a visible check; it is no part of the message.
    ``missing`` is a name that was not defined, or the question that has no answer yet.
    ``arrays`` are those in the line that raised an exception, and ``reason`` why.
    ``others`` says which of the other visible checks pass.
    """

    def __init__(
        self,
        seen: str,
        expected: str = "",
        *,
        read: str = "",
        kind: str = "value",
        place: str = "",
        title: str = "",
        misconception: Misconception | None = None,
        drawing: Drawing | None = None,
        missing: str = "",
        arrays: str = "",
        reason: str = "",
        others: str = "",
    ) -> None:
        self.seen, self.expected, self.read = seen, expected, read
        self.kind, self.place = kind, place
        self.title, self.misconception = title, misconception
        self.drawing = drawing
        self.missing = missing
        self.arrays, self.reason, self.others = arrays, reason, others
        super().__init__(str(self))

    def __str__(self) -> str:
        if self.kind == "unanswered":
            said = self.seen
            if self.title and self.missing not in ("", self.title):
                said = f"calls `{self.missing}`, which has no answer yet"
            return f"{self.title}: {said}" if self.title else said
        lines = [self.title] if self.title else []
        known = self.misconception
        parts = {
            "likely": known.diagnosis if known else self.reason,
            "seen": self.seen,
            "expected": self.expected,
            "at": self.place,
            "in it": self.arrays,
            "besides": self.others,
            "read": known.read if known else self.read,
        }
        lines += [f"  {f'{label}:':9} {text}" for label, text in parts.items() if text]
        return "\n".join(lines)

    def about(self, title: str) -> CheckFailed:
        """The same failure with a title."""
        self.title = title
        return self

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines where it would show a traceback."""
        return [str(self), *(["", str(self.drawing)] if self.drawing else [])]


def failure_from(error: BaseException, hidden: bool = False) -> CheckFailed:
    """Put an exception of the student's code into a sentence.

    The text of an exception is written by the student's code and could carry hidden
    inputs out, and so could shapes that it makes up: for ``hidden`` checks the sentence
    has only the type of the exception and its place.
    """
    if is_stub(error):
        return unanswered(error)
    if sentence := getattr(error, "sentence", None):  # the wall's own words
        return CheckFailed(sentence, kind="error")
    kind, own = kind_of(error)
    if isinstance(error, SystemExit):
        return CheckFailed("your code ended the program", kind="error")
    if isinstance(error, NameError) and error.name and not hidden:
        known = nearest(error.name, names_in_reach(error))
        apart = letters(error.name, known or "")
        return CheckFailed(
            f"your code uses `{error.name}`, which no cell before this one defines"
            + (f"; did you mean `{known}`{apart}?" if known else ""),
            "code that still works after Restart & Run All",
            kind="error",
            missing=error.name,
            reason=why(error)[1],
        )
    text = "" if hidden else " ".join(f"{own}{error}".split())[:300]
    arrays, reason = ("", "") if hidden else why(error)
    if isinstance(error, KeyError) and not hidden:
        reason = reason or meant(error)
    return CheckFailed(
        f"your code raised {kind}{': ' if text else ''}{text}",
        NO_EXCEPTION,
        kind="error",
        place=where(error),
        arrays=arrays,
        reason=reason,
    )


def is_stub(error: BaseException) -> bool:
    """Whether an answer says that it is not written; torch uses this kind as well."""
    says = NotImplementedError
    return isinstance(error, says) and "not implemented for '" not in str(error)


def unanswered(error: BaseException) -> CheckFailed:
    """What is open: all of an answer, a method of it, or only a line above its code."""
    place, source = seen_at(error)
    name, beside = opened(source, place.line) if place else ("", "")
    if beside:
        due = "delete it" + (" when the answer is complete" if beside == "in" else "")
        return CheckFailed(
            f"in `{printable(name, 60)}`, the line `raise NotImplementedError` is "
            f"still there, {beside} your code: {due}",
            kind="error",
            place=where(error),
        )
    says = f"the method `{printable(name, 60)}` has " if name else ""
    seen = f"{says}no answer yet"
    return CheckFailed(seen, kind="unanswered", missing=stub(error))


def kind_of(error: BaseException) -> tuple[str, str]:
    """Python's own kind of an exception, and how a student's own kind is called.

    A class that a notebook derives from ValueError is a ValueError: ("ValueError",
    "OddWidth: ").
    """
    first, *bases = type(error).__mro__
    if vars(builtins).get(first.__name__) is first:
        return first.__name__, ""
    for kind in bases:
        if vars(builtins).get(kind.__name__) is not kind:
            continue
        if kind.__name__ == first.__name__:  # the wall's own class of that name
            return kind.__name__, ""
        if takes_text(kind):
            return kind.__name__, f"{first.__name__}: "
    return first.__name__, ""


def takes_text(kind: type) -> bool:
    """Whether a kind of exception is made of one text, as most are."""
    try:
        return isinstance(kind(""), Exception)
    except TypeError:
        return False


def where(error: BaseException) -> str:
    """The student's line that raised ``error``, with a caret; empty if unknown."""
    place, source = seen_at(error)
    return printable(place.described(source), LONGEST_PLACE) if place else ""


def why(error: BaseException) -> tuple[str, str]:
    """The arrays in the line that raised ``error``, and the likely reason."""
    place, source = seen_at(error)
    text = f"{kind_of(error)[1]}{error}"
    return place.reason(source, text) if place else ("", "")


def seen_at(error: BaseException) -> tuple[Location | None, str]:
    """The place of an exception and the source of its cell, here or behind the wall."""
    if there := getattr(error, "_wall_seen_at_", None):
        place, source = there
        return place, source
    place = location_of(error)
    return place, "".join(linecache.getlines(place.file)) if place else ""


def stub(error: BaseException) -> str:
    """The student's function or class that says it is not written; empty if unknown."""
    place, source = seen_at(error)
    return printable(definition(source, place.line), 60) if place else ""


def meant(error: KeyError) -> str:
    """The key that is most like a missing one, in the line's dictionaries."""
    frame, (key, *_) = frame_of(error), (*error.args, "")
    if frame is None or not isinstance(key, str):
        return ""
    tables = [value for value in frame.f_locals.values() if isinstance(value, dict)]
    keys = [one for table in tables for one in table if isinstance(one, str)]
    close = nearest(key, keys)
    return f"there is no {key!r}; did you mean {close!r}?" if close else ""


def names_in_reach(error: BaseException) -> list[str]:
    """The names that the line which raised ``error`` could have used."""
    frame = frame_of(error)
    return [*frame.f_locals, *frame.f_globals] if frame else []


def frame_of(error: BaseException) -> FrameType | None:
    """The frame of the line that raised ``error``, if it is a student's."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    frame = trace.tb_frame if trace else None
    # behind the wall the last line is the judge's own, whose names say nothing
    if frame is None or frame.f_code.co_filename.startswith(registry.own_code()):
        return None
    return frame
