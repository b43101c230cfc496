"""Trials of an answer: its calls, and what becomes of a result as an argument changes.

No right answer is needed here: what holds of a right one is in the table of mistakes.
Perhaps a right result stays as it is where 1 is added to an argument, and a wrong one
does not; or its rows sum to 1.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograder.checks.fingerprints import rounded
from autograder.checks.outcomes import watching
from autograder.libraries import as_array, is_tensor

View = Callable[[np.ndarray], Any]
Run = Callable[[Any], object]  # calls an answer on inputs that stay the same
Seen = defaultdict[str, list[bool]]

WORDS = ("first", "second", "third")
TRIED = "For the inputs that were tried, "
TRIES = 8  # of the calls, with other arguments
DRAWN = 3  # times, for each of these
FEWEST = 3  # trials of an argument that tell something


class Call(NamedTuple):
    """A call of an answer, or of an object that it made; an exception is a result."""

    of: Any
    args: tuple
    kwargs: dict[str, Any]
    result: Any


def line(result: np.ndarray) -> np.ndarray:
    """A result of one axis. Raises ValueError for another one."""
    if result.ndim != 1:
        raise ValueError
    return result


def table(result: np.ndarray) -> np.ndarray:
    """A result of two or more axes. Raises ValueError for another one."""
    if result.ndim < 2:
        raise ValueError
    return result


def square(result: np.ndarray) -> np.ndarray:
    """A result whose last two axes are equally long. Raises ValueError for another."""
    if table(result).shape[-1] != result.shape[-2] or result.shape[-1] < 2:
        raise ValueError
    return result


def near(one: Any, other: Any) -> Any:
    """Where two arrays agree up to rounding."""
    return np.isclose(one, other, 1e-4, 1e-4)


# what may hold of a result
RESULTS: dict[str, View] = {
    "has rows that sum to 1": lambda r: near(table(r).sum(-1), 1),
    "has columns that sum to 1": lambda r: near(table(r).sum(-2), 1),
    "has rows that sum to 0": lambda r: near(table(r).sum(-1), 0),
    "sums to 1": lambda r: near(line(r).sum(), 1),
    "has rows of length 1": lambda r: near(np.linalg.norm(r, axis=-1), 1),
    "has no number below 0": lambda r: ~(r < 0),
    "has no number above 1": lambda r: ~(r > 1),
    "has no NaN and no infinity": np.isfinite,
    "has nothing but zeros above its diagonal": lambda r: np.triu(table(r), 1) == 0,
    "is symmetric": lambda r: near(square(r), r.swapaxes(-1, -2)),
    "has nothing but whole numbers": lambda r: r == np.rint(r),
}
# how an argument, and perhaps the result, may change
MOVES: dict[str, View] = {
    "is doubled": lambda a: 2 * a,
    "is larger by 1": lambda a: a + 1,
    "has the opposite sign": lambda a: -a,
    "has its rows in reverse order": lambda a: table(a)[..., ::-1, :],
    "has its columns in reverse order": lambda a: a[..., ::-1],
}
FLOATS = 3  # of these are for floating-point numbers alone
# where an argument may get other numbers, and where the result may stay as it is then
PLACES: dict[str, tuple[Any, Any]] = {
    "gets other numbers in its last row": (np.s_[..., -1:, :], np.s_[..., :-1, :]),
    "gets other numbers in its first row": (np.s_[..., :1, :], np.s_[..., 1:, :]),
    "gets other numbers at the end of its first axis": (np.s_[-1:], np.s_[:-1]),
    "gets other numbers": (np.s_[...], None),
}
TRIALS = [*MOVES, *PLACES]
EFFECTS = {"s": "stays as it is", "e": "stays as it is elsewhere"}


class Watched:
    """An answer, or an object that it made, whose calls are kept."""

    def __init__(
        self,
        answer: Any,
        calls: list[Call],
        looked: set[str],
        look: Callable[[Call], None] | None,
    ) -> None:
        self.answer, self.calls, self.looked, self.look = answer, calls, looked, look
        self.__wrapped__ = answer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = copy.deepcopy((args, kwargs))
        result = result_of(self.answer, args, kwargs)
        self.calls.append(Call(self.answer, *before, result))
        key = repr([id(self.answer), *map(rounded, before[0])])
        if self.look and key not in self.looked and len(self.looked) < TRIES:
            self.looked.add(key)
            with contextlib.suppress(
                Exception
            ):  # what calls itself a module may be none
                self.look(self.calls[-1])
        if isinstance(result, Exception):
            raise result
        return result


def calls_of(
    answer: Any, run: Run, makes: bool, look: Callable[[Call], None] | None = None
) -> list[Call]:
    """The calls of an answer, or where it is a class, of all that it makes.

    ``look`` is given each call while the object is as it was then.
    """
    calls: list[Call] = []
    watched = partial(Watched, calls=calls, looked=set[str](), look=look)
    if not makes:
        run(watched(answer))
    else:
        with watching(lambda one: one if one is answer else watched(one)):
            run(answer)
    return calls


def result_of(answer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a call returns, or the exception that it raises."""
    try:
        return answer(*args, **kwargs)
    except Exception as error:
        return error


def parts_of(result: Any) -> tuple:
    """The parts of a tuple; another result is its only part."""
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def is_array(value: Any) -> bool:
    """Whether this is an array or a tensor."""
    return isinstance(value, np.ndarray | np.generic) or is_tensor(value)


def numbers(array: Any) -> np.ndarray:
    """Its numbers, without a gradient."""
    return np.asarray(as_array(array) if is_tensor(array) else array, dtype=float)


def kind(array: Any) -> str:
    """How its dtype is called."""
    return str(array.dtype).removeprefix("torch.")


def numeric(result: Any) -> bool:
    """Whether a result is an array, a tensor or a number, or a tuple of such."""
    if isinstance(result, tuple | list):
        return all(map(numeric, result)) and bool(result)
    return isinstance(result, int | float | np.ndarray | np.generic) or is_tensor(
        result
    )


# -------------------------------------------------------------------------- trials


def traits(answer: Any, run: Run, makes: bool) -> tuple[set[str], set[str]]:
    """What always holds of the results of an answer, and what at times does not."""
    seen: Seen = defaultdict(list)
    look = partial(tried, rng=np.random.default_rng(0), seen=seen, makes=makes)
    for call in calls_of(answer, run, makes, look):
        for place, part in enumerate(parts_of(call.result)):
            for number, holds in enumerate(RESULTS.values()):
                note(seen, f"result {number} {place}", holds, part)
    never = {key for key, each in seen.items() if not all(each)}
    few = {k for k, each in seen.items() if k[0].isdigit() and len(each) < FEWEST}
    return seen.keys() - never - few, never


def note(seen: Seen, key: str, holds: Callable[..., Any], *results: Any) -> None:
    """Keep whether something holds of results; nothing where it cannot be said."""
    try:
        found = bool(np.all(holds(*map(numbers, results))))
    except (TypeError, ValueError, IndexError, AttributeError):
        return
    seen[key].append(found)


def tried(call: Call, rng: np.random.Generator, seen: Seen, makes: bool) -> None:
    """Change arguments and parameters in turn, and note what becomes of the result."""
    state_of = getattr(call.of, "state_dict", None)
    if not (all(map(plain, call.args)) and (state_of or not makes)):
        return

    def again(given: list) -> Any:
        copies = [copy.deepcopy(arg) if is_array(arg) else arg for arg in given]
        return result_of(call.of, tuple(copies), call.kwargs)

    args, training = list(call.args), bool(getattr(call.of, "training", False))
    first = again(args)
    if not (finite(call.result) and finite(first)):
        return
    steady = same_as(call.result, first)
    mode = ("train" if training else "eval") if state_of else ""
    seen[f"twice {mode}"].append(steady)
    if not steady:
        return
    for place, number in itertools.product(range(len(args)), range(DRAWN)):
        given = [fresh(arg, rng, number) if number else arg for arg in args]
        if is_array(given[place]):

            def become(new: Any, given: list = given, place: int = place) -> Any:
                return again([*given[:place], new, *given[place + 1 :]])

            try_all(seen, f"{place}", given[place], again(given), become, rng)
            if len(parts_of(first)) == 1:
                note(seen, f"{place} itself 0", same_as, first, args[place])
    if state_of and not training:
        state = {name: value.clone() for name, value in state_of().items()}
        for name, value in state.items():

            def put(new: Any, name: str = name) -> Any:
                call.of.load_state_dict(state | {name: new})
                return again(args)

            try_all(seen, name, value, first, put, rng)
        call.of.load_state_dict(state)


def try_all(
    seen: Seen,
    key: str,
    given: Any,
    first: Any,
    become: Callable[[Any], Any],
    rng: np.random.Generator,
) -> None:
    """Change one argument in all ways; ``become`` gives the result for another one."""
    for number, said in enumerate(TRIALS):
        if number < FLOATS and "float" not in kind(given):
            continue
        new = numbers(given).copy()
        effects: dict[str, tuple[View | None, ...]] = {"s": (None, None)}
        try:
            if move := MOVES.get(said):
                new, effects["t"] = move(new), (move, None)
            else:
                place, rest = PLACES[said]
                new[place] = numbers(fresh(given, rng, 1))[place]
                effects |= {"e": (rest, rest)} if rest else {}
        except (ValueError, IndexError):
            continue
        then = become(like(given, new))
        if not (finite(first) and finite(then)):
            continue
        for part, two in enumerate(zip(parts_of(first), parts_of(then), strict=False)):
            for effect, both in effects.items():
                note(seen, f"{key} {number}{effect} {part}", agreeing(*both), *two)


def agreeing(move: View | None, also: View | None) -> Callable[[Any, Any], bool]:
    """Whether what two functions make of two results is the same, up to rounding.

    Rounding is that of numbers near 1: -0.9999 and 1 may cancel.
    """

    def agree(r: Any, s: Any) -> bool:
        one, other = move(r) if move else r, also(s) if also else s
        same = np.shape(one) == np.shape(other)
        return same and bool(np.allclose(one, other, 1e-4, 1e-6))

    return agree


def unlike(
    found: tuple[set[str], set[str]], right: dict[str, Any], parts: int
) -> Iterator[str]:
    """What holds of a right result and not of this one, or the other way round."""
    for kind_of_key, mine in (("always", False), ("not", True)):
        for key in right[kind_of_key].split(","):
            if key in found[not mine]:
                yield sentence(key, mine, right["takes"], parts)


def sentence(key: str, mine: bool, names: list[str], parts: int) -> str:
    """What is so of a right result alone, or of ``mine`` alone."""
    name, what, *place = key.split(" ")
    whose, other = ("your", "a right one") if mine else ("a right", "yours")
    not_so = f"this is not always so with {other}"
    if name == "twice":
        mode = f" in {what} mode" if what else ""
        who = "your answer" if mine else "a right answer"
        return f"Two calls of {who} with the same input{mode} agree; {not_so}."
    whose += f" {WORDS[int(place[0])]} result" if parts > 1 else " result"
    if name == "result":
        return f"{TRIED}{whose} {[*RESULTS][int(what)]}; {not_so}."
    name = f"`{names[int(name)]}`" if name.isdigit() else f"`{name}`"
    if what == "itself":
        return f"Your result is {name} itself." if mine else ""
    said = TRIALS[int(what[:-1])]
    if said == "gets other numbers" and mine:
        return f"{whose.capitalize()} does not depend on {name}."
    return (
        f"If {name} {said}, {whose} {EFFECTS.get(what[-1], f'{said}, too')}; {not_so}."
    )


def plain(value: Any) -> bool:
    """Whether this is an array, a number, a module, or a list of such."""
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    simple = isinstance(value, int | float | None) or is_array(value)
    return simple or hasattr(value, "state_dict")


def like(value: Any, new: np.ndarray) -> Any:
    """Numbers as an array or a tensor of the same kind."""
    if is_tensor(value):
        return value.new_tensor(np.ascontiguousarray(new), dtype=value.dtype)
    return np.asarray(new, dtype=value.dtype)


def fresh(value: Any, rng: np.random.Generator, number: int) -> Any:
    """New entries for an array or a tensor: of small numbers, at times below 0."""
    if not is_array(value):
        return value
    shape, old = tuple(value.shape), numbers(value)
    new: Any = rng.standard_normal(shape) if number % 2 else rng.uniform(0.1, 1, shape)
    if "bool" in kind(value):
        new = rng.random(shape) < 0.6
    elif "float" not in kind(value):
        new = rng.integers(old.min(initial=0), old.max(initial=0), shape, endpoint=True)
    return like(value, new)


def finite(result: Any) -> bool:
    """Whether a result consists of numbers alone, without NaN and infinity."""
    if isinstance(result, BaseException) or not numeric(result):
        return False
    return all(np.isfinite(numbers(part)).all() for part in parts_of(result))


def same_as(one: Any, other: Any) -> bool:
    """Whether two results agree; exceptions never do."""
    if isinstance(one, BaseException) or isinstance(other, BaseException):
        return False
    return bool({*rounded(one)} & {*rounded(other)})
