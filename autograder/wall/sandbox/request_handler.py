"""Request handler of the sandbox: it calls the student's functions for the judge.

The judge decides about points in another process. A request names an operation on an
object; the reply carries data. Nothing here decides about points.
"""

from __future__ import annotations

import builtins
import os
import resource
import select
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from autograder.checks.accepted_results import LONG, TooLarge, kind_name
from autograder.checks.failures import kind_of
from autograder.checks.figures import describe_axes
from autograder.checks.isolation import isolated, seed
from autograder.checks.library import library
from autograder.checks.memory import measured
from autograder.checks.planted import attempt
from autograder.checks.published import defined
from autograder.errors import Closed
from autograder.explain.locations import location_of
from autograder.notebook.cells import OutOfTime
from autograder.notebook.threads import watched
from autograder.wall.channel import SIZE, Channel
from autograder.wall.copy_back import update
from autograder.wall.locations import parts_of
from autograder.wall.sandbox.privileges import die_with_parent
from autograder.wall.sandbox.time_limits import bound_time
from autograder.wall.wire import MAX_FRAME, decode, encode

HELPERS: dict[str, Callable[..., Any]] = {
    "describe_axes": describe_axes,
    "library": library,
    "measured": measured,
}
MAX_HANDLES = 100_000
MAX_WARNINGS = 20
MAX_TEXT = 2000
MAX_NAMES = 5000
TRIAL_SECONDS = 5.0  # of processor time, for a student's check of one function
MOST_SECONDS = 20.0  # for all functions together
CHANGING = ("call", "apply", "setattr", "getitem")  # what they are passed may change


class Objects:
    """The student's objects that the judge knows by number."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}

    def refer(self, value: Any) -> tuple[int, str]:
        """The number of an object, and the name of its type."""
        number = self.numbers.get(id(value))
        if number is None:
            if len(self.objects) >= MAX_HANDLES:
                raise TooLarge(LONG)
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return number, str(kind_name(value))[:80]

    def resolve(self, number: int, _: str) -> Any:
        """The object with a number."""
        return self.objects[number]


def serve(
    channel: Channel, names: dict[str, Any], defined: list[str], *, forks: bool
) -> None:
    """Answer requests until the judge hangs up; ``defined`` are the student's names.

    With ``forks``, one of them tries a check on a function; else this process does, on
    as many as it is asked to, one after the other.
    """
    with isolated():
        _serve(channel, names, defined, forks)


def _serve(
    channel: Channel, names: dict[str, Any], defined: list[str], forks: bool
) -> None:
    objects = Objects()
    own = os.getpid()
    told = [str(name)[:100] for name in defined[:MAX_NAMES]]
    channel.send((told, len(defined) > MAX_NAMES))
    while True:
        try:
            frame = channel.frame()
            request = decode(frame, objects.resolve)
        except Closed:
            return
        if request[0] == "told":  # to a fork that did not wait for it
            continue
        reply: tuple | None
        times = 1
        if request[0] == "try":
            *request, times = request
            request = (*request, partial(ask, channel))
        for _ in range(times):
            if request[0] != "try":
                reply = answer(request, names, objects, frame)
            elif forks:
                reply = trial(channel, request, objects)
            else:
                seed()  # as every fork begins
                reply = answer(request, names, objects)
            if os.getpid() != own:  # a fork that came back
                os._exit(0)
            try:
                if reply:
                    respond(channel, reply, objects)
            except (Closed, OSError):
                return


def respond(channel: Channel, reply: tuple, objects: Objects) -> None:
    """Send a reply, or why it cannot be read."""
    channel.send_encoded(encoded(reply, objects))


def encoded(reply: tuple, objects: Objects) -> bytes:
    """The bytes of a reply, or of why it cannot be read."""
    try:
        return encode(reply, objects.refer)
    except TooLarge as error:
        return encode(("unreadable", str(error), None, []), data_only)
    except Exception:  # an object that bites when it is looked at
        return encode(("unreadable", "", None, []), data_only)


def trial(channel: Channel, request: tuple, objects: Objects) -> tuple | None:
    """Try a student's check in a fork; a reply only if that ended without one.

    Its reply comes through a pipe: an exit status is one that the check can give, too.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    left = MOST_SECONDS - used.ru_utime - used.ru_stime
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        if content := written(child, reader):
            channel.send_encoded(content)
            return None
        told = f"it ended the process, or ran longer than {TRIAL_SECONDS:g} s"
        return "raised", ("RuntimeError", told, None, None), None, []
    try:
        die_with_parent()
        seed()  # each function meets the same random numbers
        bound_time(max(0.1, min(TRIAL_SECONDS, left)))
        content = encoded(answer(request, {}, objects), objects)
        with open(writer, "wb") as pipe:
            pipe.write(SIZE.pack(len(content)) + content)
    finally:
        os._exit(0)


def written(child: int, reader: int) -> bytes:
    """What a fork has written until it ended; nothing where that is not whole.

    The pipe alone does not tell that it has ended: a fork of its own may hold it open.
    """
    poll, content, ended = select.poll(), bytearray(), False
    poll.register(reader)
    with open(reader, "rb", buffering=0) as pipe:
        while len(content) <= MAX_FRAME:
            if poll.poll(0 if ended else 10):
                if not (chunk := pipe.read(1 << 16)):
                    break
                content += chunk
            elif ended:
                break
            ended = ended or os.waitpid(child, os.WNOHANG)[0] == child
    if not ended:
        os.waitpid(child, 0)
    whole = SIZE.pack(max(len(content) - SIZE.size, 0))
    return bytes(content[SIZE.size :]) if content.startswith(whole) else b""


def ask(channel: Channel, operation: str, *parts: Any) -> Any:
    """Have a planted function called, on the other side of the wall."""
    channel.send(("ask", operation, *parts), data_only)
    _, status, value, changed, said = channel.receive()
    if changed is not None:
        update(list(parts), changed)
    for name, text in said:
        kind = getattr(builtins, name, UserWarning)
        warnings.warn(text, kind, stacklevel=3)
    if status == "raised":
        kind = getattr(builtins, value, RuntimeError)
        raise kind("the function that is checked raised this")
    return value


def data_only(value: Any) -> tuple[int, str]:
    """Refuse a handle, where only numbers, texts, arrays and containers may be sent."""
    kind = type(value).__name__
    raise TypeError(f"a {kind} cannot be passed to the code that is checked")


def answer(
    request: tuple,
    names: dict[str, Any],
    objects: Objects,
    frame: memoryview | None = None,
) -> tuple:
    """One reply: how it went, the value, the arguments where they changed, warnings.

    ``frame`` is what the request came as.
    """
    operation, *parts = request
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            with watched():
                value = operate(operation, parts, names)
            outcome: tuple[str, Any] = ("ok", value)
        except OutOfTime:  # the next request would have no limit
            raise
        except BaseException as error:
            if operation == "next" and isinstance(error, StopIteration):
                outcome = "stop", None
            elif operation == "try" and type(error) is AssertionError:
                outcome = "raised", ("AssertionError", "", None, None)
            else:
                outcome = "raised", _described(error)
    changed = None
    if frame is not None and operation in CHANGING:
        changed = parts if _changed(request, frame, objects) else None
    said = [
        (w.category.__name__[:80], str(w.message)[:MAX_TEXT])
        for w in seen[:MAX_WARNINGS]
    ]
    return (*outcome, changed, said)


def operate(operation: str, parts: list, names: dict[str, Any]) -> Any:
    """Carry out one operation of the protocol, such as a call; returns its value."""
    if operation == "name":
        return names[parts[0]]
    if operation == "defined":
        return parts[0] in names
    if operation == "give":  # what the book publishes, in place of an own answer
        name, program = parts
        names[name] = defined(program, name)
        return None
    if operation == "apply":  # a helper of the checks, run on this side
        helper, args, kwargs = parts
        return HELPERS[helper](*args, **kwargs)
    target, *rest = parts
    if operation == "try":
        return attempt(target, *rest)
    if operation == "call":
        args, kwargs = rest
        return target(*args, **kwargs)
    if operation == "getattr":
        return getattr(target, rest[0])
    if operation == "setattr":
        return setattr(target, *rest)
    if operation == "getitem":
        return target[rest[0]]
    if operation == "iter":
        return _Once(iter(target))
    if operation == "next":
        return next(target.iterator)
    if operation == "len":
        return len(target)
    if operation == "bool":
        return bool(target)
    raise LookupError(operation)


class _Once:
    """An iterator as a handle; by itself, one over a list could cross as data."""

    def __init__(self, iterator: Iterator) -> None:
        self.iterator = iterator


def _changed(request: tuple, frame: memoryview, objects: Objects) -> bool:
    """Whether a call changed its arguments, compared with the request's bytes."""
    try:
        return frame != encode(request, lambda value: (objects.refer(value)[0], ""))
    except Exception:
        return False


def _described(error: BaseException) -> tuple[str, str, str | None, tuple | None]:
    kind, own = kind_of(error)
    try:
        bare = type(error) is KeyError and [type(a) for a in error.args] == [str]
        text = (own + (error.args[0] if bare else str(error)))[:MAX_TEXT]
    except BaseException:
        text = ""
    name = getattr(error, "name", None)
    missing = name if type(name) is str else None
    return kind[:80], text, missing, parts_of(location_of(error))


def hush() -> None:
    """Discard what called functions print."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    sys.stdout = sys.stderr = os.fdopen(null, "w")
