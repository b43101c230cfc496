"""Proxies in the judge for the student's objects, which stay in the sandbox.

A :class:`Remote` behaves as its object would. Calls, attributes, items and iteration
are sent to the sandbox; plain data comes back as real local objects. What comes back is
data and nothing else: the judge never runs, unpickles or evaluates any of it.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from autograder.checks.accepted_results import ODD, TooLarge, a_kind
from autograder.checks.failures import CheckFailed
from autograder.checks.planted import Planting, Verdict
from autograder.errors import Closed, OverBudget, Violation
from autograder.libraries import loaded
from autograder.text import printable
from autograder.wall.channel import Channel
from autograder.wall.copy_back import Reshaped, update
from autograder.wall.judge.hunt_host import Host, asks
from autograder.wall.judge.remote_exceptions import (
    NoArray,
    Stopped,
    expect,
    raised,
    warning,
)
from autograder.wall.records import Limits
from autograder.wall.wire import decode

AXES = {"Axes", "PolarAxes", "Axes3D"}
KNOWN = AXES | {"AxesImage", "Figure", "Line2D", "QuadMesh", "SubFigure", "Text"}
KNOWN |= {"function", "generator", "map", "range", "set", "type", "zip", "matrix"}
KNOWN |= {"module", "MaskedArray", "DataFrame", "Series", "Fraction", "Decimal"}
# without the lengths and the names of their fields, which could spell an input
KNOWN |= {"Generator", *ODD}

Ended = Callable[[str], str]
TryOut = Callable[[Any, Planting, str], list[Verdict]]


class Link:
    """The connection to the sandbox for one question.

    ``ended`` tells in words how the student's process ended, once it did; ``holder``
    has the functions that a student's check is tried on.
    """

    def __init__(
        self, channel: Channel, limits: Limits, ended: Ended, holder: type[Host]
    ) -> None:
        self.channel, self.limits, self.ended = channel, limits, ended
        self.holder = holder
        seconds = limits.question_seconds * limits.patience
        self.deadline = time.monotonic() + seconds
        self.stopped: Stopped | None = None
        self.violation: str | None = None
        self.late = False
        self.names: list[str] = []
        self.greeted = self.more = False
        self.sources: dict[int, str] = {}  # of the cells, by number
        self.host: Host | None = None
        self.trials: TryOut  # of whoever asks the question
        self.plantings = 0  # how often a check was tried on functions, so far

    def give(self, given: dict[str, str]) -> None:
        """Replace helpers of the student's by right functions, given as source code."""
        for name, program in given.items():
            self.request("", "give", name, program)
            self.names = [*self.names, name]

    def plant(self, functions: list[Any]) -> Host:
        """Hold the functions that a student's test is tried on, outside the sandbox."""
        self.release()
        self.host = self.holder(functions, self.limits)
        return self.host

    def release(self) -> None:
        """End that process, if there is one."""
        if self.host is not None:
            self.host.close()
            self.host = None

    def hello(self) -> None:
        """Read which names the student has defined, once."""
        if self.greeted:
            return
        self.greeted = True
        with self._guarded():
            greeting = self._exchange(
                lambda: self.channel.receive(deadline=self.deadline), ""
            )
            names, more = expect(greeting, tuple, "a greeting", 2)
            for name in expect(names, list, "names"):
                expect(name, str, "a name")
            self.more = expect(more, bool, "a boolean")
        self.names = names

    def has(self, name: str) -> bool:
        """Whether the student has defined a name; of very many, not all are told."""
        if name in self.names or not self.more:
            return name in self.names
        return bool(self.request("", "defined", name))

    def request(self, label: str, operation: str, *parts: Any) -> Any:
        """Ask for one operation; its value, or the student's exception raised here."""

        def exchange() -> Any:
            request = (operation, *parts)
            self.channel.send(request, _number, deadline=self.deadline)
            return self._received(operation)

        return self._answered(exchange, label, operation, parts)

    def another(self, label: str) -> Any:
        """The value of the next one of several trials that were asked for at once."""
        return self._answered(lambda: self._received("try"), label, "try", ())

    def _received(self, operation: str) -> Any:
        """The next reply; what a check asks of a planted function is answered."""
        while True:
            frame = self.channel.frame(self.deadline)
            if operation != "try" or self.host is None or not asks(frame):
                return decode(frame, self._resolve)
            told = ("told", *self.host.answer(frame, self.deadline))
            self.channel.send(told, deadline=self.deadline)

    def _answered(
        self, exchange: Callable[[], Any], label: str, operation: str, parts: tuple
    ) -> Any:
        with self._guarded():
            reply = self._exchange(exchange, label)
            status, value, changed, said = expect(reply, tuple, "a reply", 4)
            expect(status, str, "a status")
            said = [warning(one) for one in expect(said, list, "warnings")]
            if status == "ok":
                expect(value, RESULTS.get(operation, object), "a result")
            elif status == "raised":
                value = raised(value, self.limits, self.sources)
            elif status != "unreadable" and (status, operation) != ("stop", "next"):
                raise Violation("a reply of an unknown kind")
        if changed is not None:
            try:
                update(list(parts), changed)
            except Reshaped as error:
                raise Stopped(str(error)) from None
        for text, category in said:
            warnings.warn(text, category, stacklevel=4)
        if status == "raised":
            raise value
        if status == "stop":
            raise StopIteration
        if status == "unreadable":
            raise Stopped(TooLarge(expect(value, str, "a reason")).sentence)
        return value

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Remember a violation: checks may take what follows for a wrong answer."""
        try:
            yield
        except Violation as violation:
            self.violation = str(violation)
            self.stopped = Stopped("your code broke the rules of the sandbox")
            raise self.stopped from None

    def _exchange(self, exchange: Callable[[], Any], label: str) -> Any:
        if self.stopped is not None:
            raise self.stopped
        try:
            return exchange()
        except TimeoutError:
            self.late = True
            seconds = self.limits.question_seconds * self.limits.patience
            who = f"`{label}`" if label else "your code"
            self.stopped = Stopped(f"{who} did not finish in {seconds:g} s")
        except OverBudget:
            size = self.limits.question_bytes >> 20
            self.stopped = Stopped(f"your code gave more than {size} MB of results")
        except Closed:
            self.stopped = Stopped(self.ended(label))
        except TooLarge as error:  # the judge's own arguments
            raise TypeError(f"cannot be sent: {error}") from None
        raise self.stopped from None

    def _resolve(self, number: int, name: str) -> Remote:
        # a name that the student's code makes up now could carry hidden inputs out
        shown = name in self.names or name in KNOWN
        shown = shown or any(name in support.KNOWN for support in loaded())
        return _kind(printable(name, 60) if shown else "object")(self, number)


class Remote:
    """Proxy for an object of the student's, which is in the sandbox."""

    def __init__(self, link: Link, number: int, label: str = "") -> None:
        hidden = {"link": link, "number": number, "label": label}
        object.__setattr__(self, "_Remote__hidden", hidden)

    def __ask(self, operation: str, *parts: Any) -> Any:
        hidden = self.__hidden
        return hidden["link"].request(hidden["label"], operation, self, *parts)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__ask("call", args, kwargs)

    def __apply(self, helper: str, *args: Any, **kwargs: Any) -> Any:
        """Run a helper of the checks on the other side, next to the object."""
        hidden = self.__hidden
        parts = ("apply", helper, (self, *args), kwargs)
        return hidden["link"].request(hidden["label"], *parts)

    def _wall_describe_axes_(self) -> Any:
        if type(self).__name__ not in AXES:
            seen = f"your function returned {a_kind(self)}"
            raise CheckFailed(seen, "the Axes that it drew on", kind="type")
        return self.__apply("describe_axes")

    def _wall_library_(self, module: str, name: str) -> Any:
        return self.__apply("library", module, name)

    def _wall_peak_(self, *args: Any) -> Any:
        found = expect(self.__apply("measured", *args), tuple, "a measurement", 2)
        return found[0], expect(found[1], int, "bytes")

    def _wall_try_(self, planting: Planting) -> list[Verdict]:
        link = self.__hidden["link"]
        return link.trials(link, planting, self.__hidden["label"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols of Python's own look-ups stay local
            raise AttributeError(name)
        return _labeled(self.__ask("getattr", name), self, f".{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__ask("setattr", name, value)

    def __getitem__(self, key: Any) -> Any:
        return _labeled(self.__ask("getitem", key), self, "[…]")

    def __iter__(self) -> Iterator[Any]:
        iterator = self.__ask("iter")
        with contextlib.suppress(StopIteration):
            while True:
                yield iterator.__ask("next")

    def __len__(self) -> int:
        return self.__ask("len")

    def __bool__(self) -> bool:
        return self.__ask("bool")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Remote):
            return False
        one, two = self.__hidden, other.__hidden
        return one["link"] is two["link"] and one["number"] == two["number"]

    def __hash__(self) -> int:
        return hash(self.__hidden["number"])

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Never item by item: only what crossed as an array is one."""
        raise NoArray(f"there is a `{type(self).__name__}` where an array was expected")

    def __deepcopy__(self, _: dict) -> Remote:
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of the student>"

    def __reduce__(self) -> Any:
        raise TypeError("an object behind the wall cannot be pickled")


def _number(value: Any) -> tuple[int, str]:
    """What the wire sends for an object that is not data: only remote ones can go."""
    if not isinstance(value, Remote):
        raise TypeError(f"a {type(value).__name__} cannot cross the wall")
    return value._Remote__hidden["number"], ""


def _labeled(value: Any, parent: Remote, suffix: str) -> Any:
    """Give an object its name in messages: that of where it was found."""
    if isinstance(value, Remote) and not value._Remote__hidden["label"]:
        label = parent._Remote__hidden["label"]
        value._Remote__hidden["label"] = (label + suffix)[:80] if label else ""
    return value


_kinds: dict[str, type[Remote]] = {}


def _kind(name: str) -> type[Remote]:
    """A Remote that says the student's type name where messages ask for one."""
    if name not in _kinds:
        if len(_kinds) > 1000:
            _kinds.clear()
        _kinds[name] = type(name, (Remote,), {})
    return _kinds[name]


def named(link: Link, name: str) -> Any:
    """What the student has under a name."""
    value = link.request(name, "name", name)
    if isinstance(value, Remote):
        value._Remote__hidden["label"] = name
    return value


RESULTS = {"len": int, "bool": bool, "iter": Remote}
