"""Relations of wrong results to right ones: transposed, halved, right but for batches.

No right answer is needed here. A relation is proven by repair: results that are
transposed are right once they are transposed back. It is said where an answer that is
repaired so passes all visible checks and gives what a right one gives on the probe.
Otherwise the calls of the probe are compared one by one with hashes of right results:
perhaps all those with a batch are wrong, and no others.
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
from autograder.libraries import is_tensor, support_of

Call = tuple[tuple, dict[str, Any], Any]  # arguments, and the result or the exception
Repair = Callable[..., Any]  # gets the answer and its arguments
Change = tuple[str, Callable[[Any, tuple], Any]]  # gets a result and the arguments
Factor = Callable[[tuple], float]

WORDS = ("first", "second", "third")
CHANGED = "Your result is right, except that an argument was changed."
SMALL = {"2": 2.0, "√2": math.sqrt(2), "log 2": math.log(2), "log 10": math.log(10)}
CHANGES: tuple[Change, ...] = (
    ("the right one with its last two axes exchanged", lambda r, _: r.swapaxes(-1, -2)),
    ("the right one with its first two axes exchanged", lambda r, _: r.swapaxes(0, 1)),
    ("the right one with the opposite sign", lambda r, _: -r),
    ("the right one with True and False exchanged", lambda r, _: ~r),
    ("the right one in reverse order along its last axis", lambda r, _: flipped(r, -1)),
    ("the right one in reverse order along its first axis", lambda r, _: flipped(r, 0)),
    (
        "the right one moved one place on along its last axis",
        lambda r, _: rolled(r, -1, -1),
    ),
    (
        "the right one moved one place back along its last axis",
        lambda r, _: rolled(r, 1, -1),
    ),
    (
        "the right one moved one place on along its first axis",
        lambda r, _: rolled(r, -1, 0),
    ),
    (
        "the right one moved one place back along its first axis",
        lambda r, _: rolled(r, 1, 0),
    ),
    ("the right one plus 1", lambda r, _: r - 1),
    ("the right one minus 1", lambda r, _: r + 1),
    ("1 minus the right one", lambda r, _: 1 - r),
    ("the square of the right one", lambda r, _: r**0.5),
    ("the square root of the right one", lambda r, _: r**2),
    ("the logarithm of the right one", lambda r, _: np.exp(r)),
    ("the exponential of the right one", lambda r, _: np.log(r)),
    ("1 divided by the right one", lambda r, _: 1 / r),
    (
        "the right one with one more axis, of size 1, at its end",
        lambda r, _: r.squeeze(-1),
    ),
    (
        "the right one with one more axis, of size 1, in front",
        lambda r, _: r.squeeze(0),
    ),
    ("the right one without an axis of size 1 at its end", lambda r, _: r[..., None]),
    ("the right one without an axis of size 1 in front", lambda r, _: r[None]),
    (
        "the right one with NaN in the place of 0",
        lambda r, _: np.nan_to_num(r, nan=0.0),
    ),
    (
        "the right one with rows that do not sum to 1",
        lambda r, _: r / r.sum(-1)[..., None],
    ),
    (
        "the right one with columns that do not sum to 1",
        lambda r, _: r / r.sum(-2)[..., None, :],
    ),
    ("the right one with other entries above its diagonal", lambda r, _: np.tril(r)),
    ("the right one with a diagonal of False", lambda r, _: r | (np.eye(*r.shape) > 0)),
    ("the right one with another dtype", lambda r, _: r.astype(float)),
    ("the right one with another dtype", lambda r, _: r.astype(bool)),
    ("the right one with another dtype", lambda r, _: r.astype(np.float32)),
)


def flipped(result: Any, axis: int) -> Any:
    """An array or a tensor in reverse order along an axis."""
    return result.flip(axis) if is_tensor(result) else np.flip(result, axis)


def rolled(result: Any, by: int, axis: int) -> Any:
    """An array or a tensor, moved along an axis; the last comes first."""
    return result.roll(by, axis) if is_tensor(result) else np.roll(result, by, axis)


class Watched:
    """An answer whose calls are kept."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls: list[Call] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = copy.deepcopy((args, kwargs))
        try:
            result = self.answer(*args, **kwargs)
        except Exception as error:
            self.calls.append((*before, error))
            raise
        self.calls.append((*before, result))
        return result


def hashes(result: Any) -> list[str]:
    """Each part of a result, or the kind of an exception, in short.

    A part has one hash for each shift, with a space between them.
    """
    if isinstance(result, BaseException):
        result = f"raised {kind_of(result)[0]}"
    parts = result if isinstance(result, tuple) else (result,)
    return [" ".join(short(text)[:10] for text in rounded(part)) for part in parts]


def agree(result: Any, due: list[str]) -> list[bool]:
    """Which parts of a result are right."""
    found = hashes(result)
    if len(found) != len(due):
        return [False] * len(due)
    pairs = zip(found, due, strict=True)
    return [bool({*one.split()} & {*other.split()}) for one, other in pairs]


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
    watched, names = Watched(answer), right["takes"]
    run(watched)
    calls, due = watched.calls, right["calls"]
    if not any(numeric(result) for *_, result in calls) or not names or drawn(calls):
        return ""
    if len(calls) >= len(due) > 0 and all(
        all(agree(call[2], parts)) for call, parts in zip(calls, due, strict=False)
    ):
        # something else is wrong: the memory, or an argument has changed
        return CHANGED if holds(partial(unchanged, answer)) else ""
    # where no probe is due, the checks decide alone, and they allow for rounding
    for sentence, repair in repairs(calls, due if right["probe"] else [], names):
        if holds(partial(repair, answer)):
            return sentence
    with isolated():
        for sentence in without(answer, watched.calls, names):
            if sentence not in right["also"]:
                return sentence
        return where_wrong(watched.calls, right["calls"])


def facts(answer: Any, run: Callable[[Any], object]) -> dict[str, Any]:
    """What is known of a right answer: hashes, its parameters, what holds of it too."""
    both = []
    for _ in range(2):
        watched = Watched(answer)
        run(watched)
        both.append([hashes(result) for *_, result in watched.calls])
    steady = itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(*both, strict=True)
    )
    names = list(inspect.signature(answer).parameters)
    with isolated():
        also = list(without(answer, watched.calls, names))
    return {"takes": names, "calls": [one for one, _ in steady], "also": also}


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
                repaired = repair(lambda *_, kept=result, **__: kept, *args, **kwargs)
            except Exception:
                return False
            if not all(agree(repaired, parts)):
                return False
    return True


def of_results(calls: list[Call], names: list[str]) -> Iterator[tuple[str, Repair]]:
    """Answers that would be right with other results."""
    results = [result for *_, result in calls]
    parts = next((len(r) for r in results if isinstance(r, tuple)), 0)
    if parts == 2:
        yield "Your two results are right, but in the other order.", reversed_pair
    subjects: dict[str, int | None] = {"Your result": None}
    if parts:
        subjects = {f"Your {word} result": i for i, word in enumerate(WORDS[:parts])}
    for subject, place in subjects.items():
        for said, change in [*CHANGES, *scales(calls, names)]:
            yield f"{subject} is {said}.", on_result(change, place)


def reversed_pair(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """The last result first."""
    return answer(*args, **kwargs)[::-1]


def on_result(change: Callable[[Any, tuple], Any], place: int | None) -> Repair:
    """The repair of a result, or of one part of a tuple."""

    def repair(answer: Any, *args: Any, **kwargs: Any) -> Any:
        result = answer(*args, **kwargs)
        if place is None:
            return change(result, args)
        parts = list(result)
        parts[place] = change(parts[place], args)
        return tuple(parts)

    return repair


def scales(calls: list[Call], names: list[str]) -> Iterator[Change]:
    """Products and quotients with small numbers, and with the sizes of arguments."""
    factors = [(said, constant(number)) for said, number in SMALL.items()]
    first = calls[0][0]
    for i, name in enumerate(names[: len(first)]):
        for axis in (-1, -2, 0)[: getattr(first[i], "ndim", 0)]:
            said = f"`{name}.shape[{axis}]`"
            factors.append((said, size(i, axis, 1)))
            factors.append((f"the square root of {said}", size(i, axis, 0.5)))
    for said, factor in factors:
        yield f"the right one times {said}", scaled(factor, -1)
        yield f"the right one divided by {said}", scaled(factor, 1)


def constant(number: float) -> Factor:
    """The same factor for every call."""
    return lambda _: number


def size(place: int, axis: int, power: float) -> Factor:
    """A power of the size that an argument has along an axis."""
    return lambda args: float(args[place].shape[axis]) ** power


def scaled(factor: Factor, power: int) -> Callable[[Any, tuple], Any]:
    """A result times a power of a factor."""
    return lambda result, args: result * factor(args) ** power


def of_arguments(calls: list[Call], names: list[str]) -> Iterator[tuple[str, Repair]]:
    """Answers that would be right for other arguments."""
    yield "Your result is right for each part of a batch alone.", alone
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


def alone(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Give an answer the parts of a batch one by one, down to tables."""
    most = max((getattr(arg, "ndim", 0) for arg in args), default=0)
    if most < 3:
        return answer(*args, **kwargs)
    size = next(len(arg) for arg in args if getattr(arg, "ndim", 0) == most)
    parts = [
        alone(
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
    return np.asarray(array.detach() if is_tensor(array) else array, dtype=float)


def kind(array: Any) -> str:
    """How its dtype is called."""
    return str(array.dtype).removeprefix("torch.")


WHERE: tuple[tuple[str, Callable[[Call], bool]], ...] = (
    ("for a batch", lambda call: any(len(a.shape) > 2 for a in arrays(call))),
    ("without a batch", lambda call: all(len(a.shape) < 3 for a in arrays(call))),
    ("for two axes and more", lambda call: any(len(a.shape) > 1 for a in arrays(call))),
    ("for a single row", lambda call: any(len(a.shape) == 1 for a in arrays(call))),
    (
        "where the sizes of an argument differ",
        lambda call: any(len({*a.shape}) > 1 for a in arrays(call)),
    ),
    (
        "where an argument is square",
        lambda call: any(
            len(a.shape) > 1 and len({*a.shape}) == 1 for a in arrays(call)
        ),
    ),
    (
        "where a mask has False",
        lambda call: any("bool" in kind(a) and not a.all() for a in arrays(call)),
    ),
    (
        "where all of a row is False in the mask",
        lambda call: any(
            "bool" in kind(a) and not numbers(a).any(-1).all() for a in arrays(call)
        ),
    ),
    (
        "for large numbers",
        lambda call: any(
            np.abs(numbers(a)[np.isfinite(numbers(a))]).max(initial=0) > 99
            for a in arrays(call)
            if "float" in kind(a)
        ),
    ),
    (
        "for infinite numbers",
        lambda call: any(not np.isfinite(numbers(a)).all() for a in arrays(call)),
    ),
    ("for whole numbers", lambda call: any("int" in kind(a) for a in arrays(call))),
    ("for float32", lambda call: any(kind(a) == "float32" for a in arrays(call))),
    ("with optional arguments", lambda call: bool(call[1])),
)


def where_wrong(calls: list[Call], due: list[list[str]]) -> str:
    """What all wrong calls have and no right one; else, which part is right."""
    if len(calls) < len(due) or not due:
        return ""
    found = [agree(call[2], parts) for call, parts in zip(calls, due, strict=False)]
    wrong = [not all(parts) for parts in found]
    fits = [said for said, holds in WHERE if [*map(holds, calls[: len(due)])] == wrong]
    if len({*wrong}) > 1 and len(fits) == 1:
        return (
            f"Of the inputs that were tried, your result is wrong {fits[0]}, and right "
            "for all others."
        )
    if len({*map(len, due)}) == 1 and len(due[0]) > 1:
        parts = [*zip(WORDS, map(all, zip(*found, strict=True)), strict=False)]
        good = " and ".join(word for word, holds in parts if holds)
        bad = " and ".join(word for word, holds in parts if not holds)
        if good and bad:
            return (
                f"What you return is wrong in the {bad} place, but right in the {good}."
            )
    return ""


def without(answer: Any, calls: list[Call], names: list[str]) -> Iterator[str]:
    """The arguments on which no result depends, and those that come back unchanged."""
    for place, name in enumerate(names):
        there = [call for call in calls if len(call[0]) > place]
        there = [call for call in there if hasattr(call[0][place], "shape")]
        if not there or len({kind(call[0][place]) for call in there}) > 2:
            continue
        if all(same_as(call[2], call[0][place]) for call in there):
            yield f"Your result is `{name}` itself."
        if all(same_as(call[2], again(answer, call, place)) for call in there):
            yield f"Your result does not depend on `{name}`."


def again(answer: Any, call: Call, place: int) -> Any:
    """The result of the same call with other numbers in one argument."""
    args = list(copy.deepcopy(call[0]))
    args[place] = other(args[place])
    try:
        return answer(*args, **copy.deepcopy(call[1]))
    except Exception as error:
        return error


def other(array: Any) -> Any:
    """An array or a tensor of the same kind with other entries."""
    if "bool" in kind(array):
        return ~array
    if "float" not in kind(array):
        return (array + 1) // 2  # no id is larger than before
    noise = np.random.default_rng(0).uniform(0.5, 2, size=tuple(array.shape))
    if is_tensor(array):
        return array * array.new_tensor(noise) + 0.1
    return (array * noise + 0.1).astype(array.dtype)


def same_as(one: Any, other: Any) -> bool:
    """Whether two results agree; exceptions never do."""
    if isinstance(one, BaseException) or isinstance(other, BaseException):
        return False
    return bool({*rounded(one)} & {*rounded(other)})
