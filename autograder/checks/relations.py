"""Relations of wrong results to right ones: transposed, halved, right but for a row.

No right answer is needed here, only hashes of what it gives on the probe. A relation is
proven by repair: results that are transposed are right once they are transposed back.
It is said where an answer that is repaired so passes all visible checks. Otherwise the
calls of the probe are compared one by one: perhaps all those with a batch are wrong, or
the first row of each result.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from autograder.checks.failures import kind_of
from autograder.checks.fingerprints import rounded, short
from autograder.checks.isolation import isolated
from autograder.libraries import as_array, is_tensor, support_of

Call = tuple[tuple, dict[str, Any], Any]  # arguments, and the result or the exception
Repair = Callable[..., Any]  # gets the answer and its arguments
Change = Callable[..., Any]  # gets a result, and the arguments of the call

WORDS = ("first", "second", "third")
CHANGED = "Your result is right, except that an argument was changed."
norm = np.linalg.norm
SMALL = {"2": 2.0, "log 2": math.log(2)}
TRIES = 8  # of the probe's calls, with other numbers
DRAWN = 4  # times, for each of these
FEWEST = 3  # of these that tell whether a result depends on an argument


# what a wrong result is, and the change that makes it right
CHANGES: dict[str, Change] = {
    "the right one with its last two axes exchanged": lambda r, *_: r.swapaxes(-1, -2),
    "the right one with its first two axes exchanged": lambda r, *_: r.swapaxes(0, 1),
    "the right one with the opposite sign": lambda r, *_: -r,
    "the right one with True and False exchanged": lambda r, *_: ~r,
    "the right one in reverse order along its last axis": lambda r, *_: r[..., ::-1],
    "the square of the right one": lambda r, *_: r**0.5,
    "the logarithm of the right one": lambda r, *_: np.exp(r),
    "the right one with one more axis, of size 1, at its end": lambda r, *_: r.squeeze(
        -1
    ),
    "the right one with one more axis, of size 1, in front": lambda r, *_: r.squeeze(0),
    "the right one with NaN in the place of 0": lambda r, *_: np.nan_to_num(r, nan=0.0),
    "the right one with a diagonal of False": lambda r, *_: r | (np.eye(*r.shape) > 0),
    "right but for its dtype, which should be float64": lambda r, *_: r.astype(float),
    "right but for its dtype, which should be bool": lambda r, *_: r.astype(bool),
}


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


# what may be right in a wrong result: parts, the largest first, then what holds of it
PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "all rows but the first": lambda r: table(r)[..., 1:, :],
    "all rows but the last": lambda r: table(r)[..., :-1, :],
    "all columns but the first": lambda r: table(r)[..., 1:],
    "all columns but the last": lambda r: table(r)[..., :-1],
    "all entries but the first": lambda r: line(r)[1:],
    "all entries but the last": lambda r: line(r)[:-1],
    "all entries on and below the diagonal": lambda r: np.tril(table(r)),
    "all entries on and above the diagonal": lambda r: np.triu(table(r)),
    "the first row": lambda r: table(r)[..., :1, :],
    "the last row": lambda r: table(r)[..., -1:, :],
    "the first column": lambda r: table(r)[..., :1],
    "the last column": lambda r: table(r)[..., -1:],
    "the diagonal": lambda r: np.diagonal(r, axis1=-2, axis2=-1),
    "the first entry": lambda r: line(r)[:1],
    "the last entry": lambda r: line(r)[-1:],
}
TRAITS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the numbers of each row, but not their order": lambda r: np.sort(table(r)),
    "the numbers, but not their places": lambda r: np.sort(r, axis=None),
    "the numbers without their signs": np.abs,
    "the rows up to a factor": lambda r: r / norm(r, axis=-1, keepdims=True),
    "the lengths of the rows": lambda r: norm(r, axis=-1),
    "the sums of the rows": lambda r: table(r).sum(-1),
    "the sums of the columns": lambda r: table(r).sum(-2),
    "the sum": lambda r: line(r).sum(),
    "the places of the zeros": lambda r: r == 0,
    "the places of the largest numbers": lambda r: r.argmax(-1),
    "the signs": np.sign,
}
VIEWS = {**PARTS, **TRAITS}


class Watched:
    """An answer whose calls are kept."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[Call] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = copy.deepcopy((args, kwargs))
        result = result_of(self.answer, args, kwargs)
        self.calls.append((*before, result))
        if isinstance(result, Exception):
            raise result
        return result


def result_of(answer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a call returns, or the exception that it raises."""
    try:
        return answer(*args, **kwargs)
    except Exception as error:
        return error


def parts_of(result: Any) -> tuple:
    """The parts of a tuple; another result is its only part."""
    return result if isinstance(result, tuple) else (result,)


def hashed(value: Any) -> str:
    """A value in short: a hash for each shift, with a space between them."""
    return " ".join(short(text)[:10] for text in rounded(value))


def hashes(result: Any) -> list[str]:
    """Each part of a result, or the kind of an exception, in short."""
    if isinstance(result, BaseException):
        result = f"raised {kind_of(result)[0]}"
    return [hashed(part) for part in parts_of(result)]


def meet(one: str, other: str) -> bool:
    """Whether two values agree, by their hashes."""
    return bool({*one.split()} & {*other.split()})


def agree(result: Any, due: list[str]) -> list[bool]:
    """Which parts of a result are right."""
    found = hashes(result)
    if len(found) != len(due):
        return [False] * len(due)
    return [meet(*pair) for pair in zip(found, due, strict=True)]


def relation(
    answer: Any,
    run: Callable[[Any], object],
    holds: Callable[[Any], bool],
    right: dict[str, Any],
) -> str:
    """A sentence that is true of a wrong answer; empty where none was found.

    ``run`` calls an answer on inputs that stay the same, ``holds`` says whether it is
    right, and ``right`` is what :func:`facts` says of a right one.
    """
    watched, names, due = Watched(answer), right["takes"], right["calls"]
    run(watched)
    calls = watched.calls
    if not any(numeric(result) for *_, result in calls) or not names or drawn(calls):
        return ""
    found = [agree(call[2], parts) for call, parts in zip(calls, due, strict=False)]
    if len(found) == len(due) > 0 and all(map(all, found)):
        # something else is wrong: the memory, or an argument has changed
        return CHANGED if holds(partial(unchanged, answer)) else ""
    # where no probe is due, the checks decide alone, and they allow for rounding
    for sentence, repair in repairs(calls, due if right["probe"] else [], names):
        if holds(partial(repair, answer)):
            return sentence
    with isolated():
        for sentence in without(answer, calls, names):
            if sentence not in right["also"]:
                return sentence
        if not due or len(found) < len(due):
            return ""
        calls = calls[: len(due)]
        return wrong_inputs(calls, found) or wrong_parts(found) or in_part(calls, right)


def facts(answer: Any, run: Callable[[Any], object]) -> dict[str, Any]:
    """What is known of a right answer: hashes, its parameters, what holds of it too."""
    both = []
    for _ in range(2):
        watched = Watched(answer)
        run(watched)
        both.append([hashes(result) for *_, result in watched.calls])
    steady = [
        one
        for one, _ in itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(*both, strict=True)
        )
    ]
    names = list(inspect.signature(answer).parameters)
    with isolated():
        also = list(without(answer, watched.calls, names))
        seen = views(watched.calls[: len(steady)])
    return {"takes": names, "calls": steady, "also": also, "views": seen}


def drawn(calls: list[Call]) -> bool:
    """Whether random numbers have a part: trying again would take long, and vary."""
    return any(type(arg).__name__ == "Generator" for call in calls for arg in call[0])


def numeric(result: Any) -> bool:
    """Whether a result is an array, a tensor or a number, or a tuple of such."""
    if isinstance(result, tuple):
        return all(map(numeric, result)) and bool(result)
    return isinstance(result, float | np.ndarray | np.generic) or is_tensor(result)


# ------------------------------------------------------------------------- repairs


def repairs(
    calls: list[Call], due: list[list[str]], names: list[str]
) -> Iterator[tuple[str, Repair]]:
    """Sentences, and the repair that may prove each of them."""
    yield from of_arguments(calls, names)
    for sentence, repair in of_results(calls, names):
        if fits(repair, calls, due):
            yield sentence, repair


def fits(repair: Repair, calls: list[Call], due: list[list[str]]) -> bool:
    """Whether a repair of results makes right ones of those that have been kept.

    Most do not: so the answer, which may be behind a wall, need not be called for them.
    """
    with isolated():
        for (args, kwargs, result), parts in zip(calls, due, strict=False):
            if isinstance(result, BaseException):
                continue
            try:
                found = repair(lambda *_, kept=result, **__: kept, *args, **kwargs)
            except Exception:
                return False
            if not all(agree(found, parts)):
                return False
    return True


def of_results(calls: list[Call], names: list[str]) -> Iterator[tuple[str, Repair]]:
    """Answers that would be right with other results."""
    if any(isinstance(r, tuple) and len(r) == 2 for *_, r in calls):
        yield "Your two results are right, but in the other order.", reversed_pair
        return
    for said, change in [*CHANGES.items(), *scales(calls, names)]:
        yield f"Your result is {said}.", partial(repaired, change)


def reversed_pair(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """The last result first."""
    return answer(*args, **kwargs)[::-1]


def repaired(change: Change, answer: Any, *args: Any, **kwargs: Any) -> Any:
    """A result after a change."""
    return change(answer(*args, **kwargs), *args)


def scales(calls: list[Call], names: list[str]) -> Iterator[tuple[str, Change]]:
    """Small numbers, and sizes of arguments, by which results may be multiplied."""
    for said, number in SMALL.items():
        yield f"the right one times {said}", lambda r, *_, by=number: r / by
        yield f"the right one divided by {said}", lambda r, *_, by=number: r * by
    for i, (name, value) in enumerate(zip(names, calls[0][0], strict=False)):
        for axis in (-1, -2)[: getattr(value, "ndim", 0)]:
            for said, power in (("", 1.0), ("the square root of ", 0.5)):
                said += f"`{name}.shape[{axis}]`"
                for word, sign in (("times", -1), ("divided by", 1)):
                    change = partial(scaled, place=i, axis=axis, power=sign * power)
                    yield f"the right one {word} {said}", change


def scaled(result: Any, *args: Any, place: int, axis: int, power: float) -> Any:
    """A result times a power of the size that an argument has along an axis."""
    return result * float(args[place].shape[axis]) ** power


def of_arguments(calls: list[Call], names: list[str]) -> Iterator[tuple[str, Repair]]:
    """Answers that would be right for other arguments."""
    yield "Your result is right for each part of a batch alone.", one_by_one
    yield "Your result is right for one row at a time.", by_rows
    yield CHANGED, unchanged
    yield "Your result is right for float64 only.", in_double
    yield (
        "Your result is right where the last two axes of the first argument and of the "
        "result are exchanged.",
        crossed,
    )
    first = calls[0][0]
    kinds = [getattr(getattr(arg, "dtype", None), "kind", "") for arg in first]
    for i, name in enumerate(names[: len(first)]):
        if kinds[i] == "b":
            yield (
                f"Your result is right where True and False in `{name}` are exchanged.",
                exchanged(i, i),
            )
        for j in range(i + 1, min(len(first), len(names))):
            if kinds[i] and kinds[i] == kinds[j]:
                both = f"`{name}` and `{names[j]}`"
                yield (
                    f"Your result is right where {both} are exchanged.",
                    exchanged(i, j),
                )


def exchanged(i: int, j: int) -> Repair:
    """Exchange two arguments; for i == j, True and False in one."""

    def repair(answer: Any, *args: Any, **kwargs: Any) -> Any:
        given = list(args)
        given[i], given[j] = (~args[i],) * 2 if i == j else (args[j], args[i])
        return answer(*given, **kwargs)

    return repair


def unchanged(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Give an answer copies."""
    return answer(*copy.deepcopy(args), **kwargs)


def in_double(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Give an answer numbers of float64 for others, and give back their own dtype."""
    kinds = [getattr(arg, "dtype", np.dtype(object)) for arg in args]
    lower = [k for k in kinds if k in (np.float16, np.float32)]
    double = [
        arg.astype(np.float64) if kind in lower or kind == np.int64 else arg
        for arg, kind in zip(args, kinds, strict=True)
    ]
    result = answer(*double, **kwargs)
    return result.astype(lower[0]) if lower else result


def crossed(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Exchange the last two axes of the first argument, and of the result."""
    if getattr(args[0], "ndim", 0) < 2:
        return answer(*args, **kwargs)
    result = answer(args[0].swapaxes(-1, -2), *args[1:], **kwargs)
    return result.swapaxes(-1, -2)


def one_by_one(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Give an answer the parts of a batch one by one, down to tables."""
    most = max((getattr(arg, "ndim", 0) for arg in args), default=0)
    if most < 3:
        return answer(*args, **kwargs)
    size = next(len(arg) for arg in args if getattr(arg, "ndim", 0) == most)
    parts = [
        one_by_one(
            answer,
            *(arg[i] if getattr(arg, "ndim", 0) == most else arg for arg in args),
            **kwargs,
        )
        for i in range(size)
    ]
    return stacked(parts)


def by_rows(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Give an answer the rows of its first argument one by one."""
    if getattr(args[0], "ndim", 0) != 2:
        return answer(*args, **kwargs)
    parts = [
        answer(args[0][i : i + 1], *args[1:], **kwargs) for i in range(len(args[0]))
    ]
    return stacked([part[0] for part in parts])


def stacked(parts: list[Any]) -> Any:
    """Results in one array, or each part of tuples in one."""
    if isinstance(parts[0], tuple):
        return tuple(stacked(list(each)) for each in zip(*parts, strict=True))
    support = support_of(parts[0])
    return support.stack(parts) if support else np.stack(parts)


# ----------------------------------------------------------------- call by call


def arrays(call: Call) -> list[Any]:
    """The arrays and tensors among the arguments."""
    return [arg for arg in (*call[0], *call[1].values()) if hasattr(arg, "shape")]


def numbers(array: Any) -> np.ndarray:
    """Its numbers, without a gradient."""
    return np.asarray(as_array(array) if is_tensor(array) else array, dtype=float)


def kind(array: Any) -> str:
    """How its dtype is called."""
    return str(array.dtype).removeprefix("torch.")


# what an argument of a call may be
INPUTS: dict[str, Callable[[Any], Any]] = {
    "for a batch": lambda a: len(a.shape) > 2,
    "where a mask has False": lambda a: "bool" in kind(a) and not a.all(),
    "where all of a row is False in the mask": lambda a: (
        "bool" in kind(a) and not numbers(a).any(-1).all()
    ),
    "for large numbers": lambda a: "float" in kind(a) and largest(a) > 99,
    "for whole numbers": lambda a: "int" in kind(a),
    "for float32": lambda a: kind(a) == "float32",
}


def largest(array: Any) -> float:
    """Its largest finite number, whatever the sign."""
    values = np.abs(numbers(array))
    return float(values[np.isfinite(values)].max(initial=0))


def wrong_inputs(calls: list[Call], found: list[list[bool]]) -> str:
    """What all calls with a wrong result have and no other one."""
    wrong = [not all(parts) for parts in found]
    fits = [
        said
        for said, holds in INPUTS.items()
        if [any(map(holds, arrays(call))) for call in calls] == wrong
    ]
    if len({*wrong}) == 1 or len(fits) != 1:
        return ""
    return (
        f"Of the inputs that were tried, your result is wrong {fits[0]}, and right "
        "for all others."
    )


def wrong_parts(found: list[list[bool]]) -> str:
    """Which part of what is returned is right."""
    if len({*map(len, found)}) != 1:
        return ""
    parts = [*zip(WORDS, map(all, zip(*found, strict=True)), strict=False)]
    good = " and ".join(word for word, holds in parts if holds)
    bad = " and ".join(word for word, holds in parts if not holds)
    if not (good and bad):
        return ""
    return f"What you return is wrong in the {bad} place, but right in the {good}."


def views(calls: list[Call]) -> list[list[str]]:
    """For each part of the results, the hashes of what each of VIEWS sees in them.

    Empty where it sees nothing, or the same number everywhere.
    """
    results = [parts_of(result) for *_, result in calls]
    counts = {*map(len, results)}
    if len(counts) != 1:
        return []
    return [
        [hash_of(name, [parts[place] for parts in results]) for name in VIEWS]
        for place in range(counts.pop())
    ]


def hash_of(name: str, results: list[Any]) -> str:
    """The hash of what one of VIEWS sees in some results."""
    seen = []
    for result in results:
        try:
            part = VIEWS[name](numbers(result))
        except (TypeError, ValueError, IndexError, AttributeError):
            continue
        seen.append(np.asarray(part, dtype=float))
    flat = np.concatenate([np.ravel(part) for part in seen]) if seen else np.zeros(0)
    if not flat.size or ("sum" not in name and (flat == flat[0]).all()):
        return ""
    return hashed(seen)


def in_part(calls: list[Call], right: dict[str, Any]) -> str:
    """What of a wrong result is right: a part of it, or two things that hold of it."""
    found = views(calls)
    if len(found) != len(right["views"]):
        return ""
    for place, pair in enumerate(zip(found, right["views"], strict=True)):
        holds = [name for name, *both in zip(VIEWS, *pair, strict=True) if meet(*both)]
        told = [name for name in holds if name in PARTS][:1] or holds[:2]
        if told:
            which = f"{WORDS[place]} " if len(found) > 1 else ""
            return (
                "For the inputs that were tried, this is right in your "
                f"{which}result: {' and '.join(told)}."
            )
    return ""


# -------------------------------------------------------------------- independence


def without(answer: Any, calls: list[Call], names: list[str]) -> Iterator[str]:
    """The arguments on which no result depends, and those that come back unchanged."""
    for place, name in enumerate(names):
        there = [call for call in calls if len(call[0]) > place]
        there = [call for call in there if hasattr(call[0][place], "shape")]
        if not there:
            continue
        if all(same_as(call[2], call[0][place]) for call in there):
            yield f"Your result is `{name}` itself."
        if independent(answer, there[:TRIES], place):
            yield f"Your result does not depend on `{name}`."


def independent(answer: Any, calls: list[Call], place: int) -> bool:
    """Whether another argument in one place never changes a result.

    It is tried for the other arguments of the calls and for new ones. Exceptions, NaN
    and results that are all the same tell nothing.
    """
    rng, told, seen = np.random.default_rng(0), 0, set[str]()
    for (args, kwargs, _), number in itertools.product(calls, range(DRAWN)):
        given = [fresh(arg, rng, number) if number else arg for arg in args]
        other = [*given[:place], fresh(given[place], rng, number), *given[place + 1 :]]
        one, two = (
            result_of(answer, *copy.deepcopy((each, kwargs))) for each in (given, other)
        )
        if not (finite(one) and finite(two)):
            continue
        if not same_as(one, two):
            return False
        told += 1
        seen |= {*rounded(one)}
    return told >= FEWEST and len(seen) > 2


def fresh(value: Any, rng: np.random.Generator, number: int) -> Any:
    """New entries for an array or a tensor: of small numbers, at times below 0."""
    if not hasattr(value, "shape"):
        return value
    shape, old = tuple(value.shape), numbers(value)
    new: Any = rng.standard_normal(shape) if number % 2 else rng.uniform(0.1, 1, shape)
    if "bool" in kind(value):
        new = rng.random(shape) < 0.6
    elif "float" not in kind(value):
        new = rng.integers(old.min(initial=0), old.max(initial=0), shape, endpoint=True)
    if is_tensor(value):
        return value.new_tensor(new, dtype=value.dtype)
    return np.asarray(new, dtype=value.dtype)


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
