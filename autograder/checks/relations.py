"""Relations of wrong results to right ones: transposed, halved, right but for a row.

No right answer is needed here, only hashes of what it gives on the probe. A relation is
proven by repair: results that are transposed are right once they are transposed back.
It is said where an answer that is repaired so passes all visible checks. Otherwise the
calls of the probe are compared one by one, and their arguments are changed: perhaps the
result for one text depends on the others, which that of a right answer does not.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from autograder.checks.failures import kind_of
from autograder.checks.fingerprints import rounded, short
from autograder.checks.isolation import isolated
from autograder.checks.trials import (
    TRIED,
    WORDS,
    Call,
    Run,
    View,
    calls_of,
    is_array,
    kind,
    like,
    line,
    numbers,
    numeric,
    parts_of,
    result_of,
    table,
    traits,
    unlike,
)
from autograder.libraries import as_array, is_tensor, support_of

Repair = Callable[..., Any]  # gets the answer and its arguments
Change = Callable[..., Any]  # gets a result, and perhaps the arguments of the call


CHANGED = "Your result is right, except that an argument was changed."
norm = np.linalg.norm
FACTORS = (1, 2, 3, 4, 6, 8)  # by which a product may be missing from a sum

# -------------------------------------------------------------------------- tables


# what a wrong result is, and the change that makes it right
CHANGES: dict[str, Change] = {
    "the right one with its last two axes exchanged": lambda r: r.swapaxes(-1, -2),
    "the right one with its first two axes exchanged": lambda r: r.swapaxes(0, 1),
    "the right one with the opposite sign": lambda r: -r,
    "the right one with True and False exchanged": lambda r: ~r,
    "the right one in reverse order along its last axis": lambda r: r[..., ::-1],
    "the square of the right one": lambda r: r**0.5,
    "the logarithm of the right one": np.exp,
    "the exponential of the right one": np.log,
    "the right one plus 1": lambda r: r - 1,
    "the right one minus 1": lambda r: r + 1,
    "the right one times 2": lambda r: r / 2,
    "the right one divided by 2": lambda r: r * 2,
    "the right one times log 2": lambda r: r / math.log(2),
    "the right one divided by log 2": lambda r: r * math.log(2),
    "the right one with one more axis, of size 1, at its end": lambda r: r.squeeze(-1),
    "the right one with one more axis, of size 1, in front": lambda r: r.squeeze(0),
    "the right one with NaN in the place of 0": lambda r: np.nan_to_num(r, nan=0.0),
    "the right one with a diagonal of False": lambda r: r | (np.eye(*r.shape) > 0),
    "right but for its dtype, which should be float64": lambda r: r.astype(float),
    "right but for its dtype, which should be bool": lambda r: r.astype(bool),
}
# what may be right in a wrong result: parts, the largest first, then what holds of it
PARTS: dict[str, View] = {
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
TRAITS: dict[str, View] = {
    "the numbers of each row, but not their order": lambda r: np.sort(table(r)),
    "the numbers, but not their places": lambda r: np.sort(r, axis=None),
    "the numbers without their signs": np.abs,
    "the rows up to a factor": lambda r: r / norm(r, axis=-1, keepdims=True),
    "the differences within each row": lambda r: r - r[..., :1],
    "the Euclidean lengths of the rows": lambda r: norm(r, axis=-1),
    "the sums of the rows": lambda r: table(r).sum(-1),
    "the sums of the columns": lambda r: table(r).sum(-2),
    "the sum": lambda r: line(r).sum(),
}
VIEWS = {**PARTS, **TRAITS}
# what an argument that is an array or a list may be instead
ARGUMENTS: dict[str, Change] = {
    "has the opposite sign": lambda a: -a,
    "is larger by 1": lambda a: a + 1,
    "is smaller by 1": lambda a: a - 1,
    "is in reverse order": lambda a: a[::-1],
}


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
    answer: Any, run: Run, holds: Callable[[Any], bool], right: dict[str, Any]
) -> str:
    """A sentence that is true of a wrong answer; empty where none was found.

    ``run`` calls an answer on inputs that stay the same, ``holds`` says whether it is
    right, and ``right`` is what :func:`facts` says of right ones.
    """
    names, due, makes = right["takes"], right["calls"], right["makes"]
    calls = calls_of(answer, run, makes)
    if not any(numeric(call.result) for call in calls):
        return ""
    found = [agree(call.result, parts) for call, parts in zip(calls, due, strict=False)]
    if len(found) == len(due) > 0 and all(map(all, found)):
        # something else is wrong: the memory, or an argument has changed
        return CHANGED if not makes and holds(mended(unchanged, answer)) else ""
    # where no probe is due, the checks decide alone, and they allow for rounding
    if not makes and calls[0].args:
        for sentence, repair in repairs(answer, calls, due, right):
            if holds(mended(repair, answer)):
                return sentence
    with isolated():
        told = [
            *unlike(traits(answer, run, makes), right, len(parts_of(calls[0].result)))
        ]
        if any(
            isinstance(call.result, BaseException) and not all(parts)
            for call, parts in zip(calls, found, strict=False)
        ):  # what holds of the few results that there are says nothing
            told = [said for said in told if not said.startswith(f"{TRIED}your")]
        # that a result has nothing to do with an argument says most
        for said in told:
            if said.startswith("Your "):
                return said
        if not due or len(found) < len(due):
            return next(iter(told), "")
        calls = calls[: len(due)]
        ways = [
            partial(wrong_inputs, calls, found),
            partial(wrong_parts, found),
            partial(in_part, calls, right, PARTS, 1),
            partial(str.strip, next(iter(told), "")),
            partial(wrong_inputs, calls, found, always=False),
            partial(in_part, calls, right, TRAITS, 2),
            partial(wrong_calls, calls, found, names),
        ]
        return next(filter(None, (way() for way in ways)), "")


def mended(repair: Repair, answer: Any) -> Repair:
    """An answer that is repaired."""
    made: Any = partial(repair, answer)
    made.__wrapped__ = answer
    return made


def facts(answers: list[Any], run: Run) -> dict[str, Any]:
    """What is known of right answers: hashes, parameters, what holds of all of them."""
    first, makes = answers[0], isinstance(answers[0], type)
    # of a class, what its objects are called with
    taking = getattr(first, "forward", None) if makes else first
    takes = inspect.signature(taking).parameters if taking else ()
    names = [name for name in takes if name != "self"]
    calls = calls_of(first, run, makes)
    # right answers may draw in several ways; else one answer tells all of them
    ways = answers if drawn(calls) else answers[:1]
    runs = [calls, *(calls_of(answer, run, makes) for answer in ways)]
    steady = [
        one[0]
        for one in itertools.takewhile(
            lambda each: all(met(each[0], other) for other in each),
            zip(
                *([hashes(call.result) for call in calls] for calls in runs),
                strict=False,
            ),
        )
    ]
    if not any(call.args for call in calls):  # an input that shows something
        steady = []
    with isolated():
        each = [traits(answer, run, makes) for answer in answers]
        return {
            "takes": names,
            "makes": makes,
            "calls": steady,
            "views": views(runs[0][: len(steady)]),
            "always": ",".join(sorted(set.intersection(*(one for one, _ in each)))),
            "not": ",".join(sorted(set.intersection(*(one for _, one in each)))),
        }


def met(one: list[str], other: list[str]) -> bool:
    """Whether all parts of two results agree."""
    return len(one) == len(other) and all(map(meet, one, other))


def drawn(calls: list[Call]) -> bool:
    """Whether random numbers have a part: trying again would take long, and vary."""
    return any("Generator" in type(arg).__name__ for call in calls for arg in call.args)


# ------------------------------------------------------------------------- repairs


def repairs(
    answer: Any, calls: list[Call], due: list[list[str]], right: dict[str, Any]
) -> Iterator[tuple[str, Repair]]:
    """Sentences, and the repair that may prove each of them."""
    names = right["takes"]
    if not drawn(calls):
        yield from of_arguments(calls, names)
    # where no probe is due, the checks decide alone, and they allow for rounding
    kept = due if right["probe"] else []
    for sentence, repair in of_results(calls, names):
        if fits(repair, calls, kept):
            yield sentence, repair
    call, parts = next(zip(calls, due, strict=False), (None, []))
    if call is None or drawn(calls):
        return
    for sentence, repair in of_others(call, names):
        with isolated():
            given = copy.deepcopy(call.args)
            result = result_of(mended(repair, answer), given, call.kwargs)
        if all(agree(result, parts)):
            yield sentence, repair


def fits(repair: Repair, calls: list[Call], due: list[list[str]]) -> bool:
    """Whether a repair of results makes right ones of those that have been kept.

    Most do not: so the answer, which may be behind a wall, need not be called for them.
    """
    with isolated():
        for (_, args, kwargs, result), parts in zip(calls, due, strict=False):
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
    several = max(len(parts_of(call.result)) for call in calls)
    if several == 2:
        yield "Your two results are right, but in the other order.", reversed_pair
    for said, change in itertools.chain(CHANGES.items(), scales(calls[0], names)):
        for place, word in enumerate(WORDS[:several]):
            which = f"{word} " if several > 1 else ""
            yield f"Your {which}result is {said}.", partial(repaired, change, place)


def reversed_pair(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """The last result first."""
    return answer(*args, **kwargs)[::-1]


def repaired(change: Change, place: int, answer: Any, *args: Any, **kwargs: Any) -> Any:
    """A result after a change, of one of its parts if it has several."""
    result = answer(*args, **kwargs)
    of = args if isinstance(change, partial) else ()  # the tables' take none
    if not isinstance(result, tuple):
        return changed(change, result, *of)
    part = changed(change, result[place], *of)
    return (*result[:place], part, *result[place + 1 :])


def changed(change: Change, part: Any, *args: Any) -> Any:
    """A result after a change; of a tensor, the numbers are changed."""
    if is_tensor(part):
        return like(part, change(as_array(part), *args))
    made = change(part, *args)
    return float(made) if type(part) is float else made


def scales(call: Call, names: list[str]) -> Iterator[tuple[str, Change]]:
    """Sizes by which results may be multiplied, and products that may be added."""
    sizes: dict[str, Change] = {}
    for i, (name, value) in enumerate(zip(names, call.args, strict=False)):
        if type(value) is int:
            sizes[f"`{name}`"] = lambda *args, i=i: args[i]
        for axis in (-1, -2)[: getattr(value, "ndim", 0)]:
            said = f"`{name}.shape[{axis}]`"
            sizes[said] = lambda *args, i=i, axis=axis: args[i].shape[axis]
    for said, size in sizes.items():
        for more, power in (("", 1.0), ("the square root of ", 0.5)):
            for word, sign in (("times", -power), ("divided by", power)):
                change = partial(scaled, size, sign)
                yield f"the right one {word} {more}{said}", change
    if isinstance(call.result, int):
        several = itertools.combinations_with_replacement(sizes.items(), 2)
        products = [[one] for one in sizes.items()] + [[*pair] for pair in several]
        for chosen, factor in itertools.product(products, FACTORS):
            said = " times ".join(one for one, _ in chosen)
            said = said if factor == 1 else f"{factor} times {said}"
            for word, sign in (("plus", -factor), ("minus", factor)):
                change = partial(more_by, [size for _, size in chosen], sign)
                yield f"the right one {word} {said}", change


def scaled(size: Change, power: float, result: Any, *args: Any) -> Any:
    """A result times a power of a size."""
    return result * float(size(*args)) ** power


def more_by(sizes: list[Change], factor: int, result: Any, *args: Any) -> Any:
    """A result and so many times a product of sizes."""
    return result + factor * math.prod(size(*args) for size in sizes)


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
    first = calls[0].args
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


def of_others(call: Call, names: list[str]) -> Iterator[tuple[str, Repair]]:
    """Answers that would be right for another array or list as an argument."""
    for (i, arg), name in zip(enumerate(call.args), names, strict=False):
        # a step of 0, or one below 0, could make a loop endless: no number is changed
        changes = is_array(arg) or isinstance(arg, list)
        for said, change in ARGUMENTS.items() if changes else ():
            if not isinstance(result_of(change, (arg,), {}), Exception):
                yield (
                    f"Your result is right where `{name}` {said}.",
                    partial(another, i, change),
                )


def exchanged(i: int, j: int) -> Repair:
    """Exchange two arguments; for i == j, True and False in one."""

    def repair(answer: Any, *args: Any, **kwargs: Any) -> Any:
        given = list(args)
        given[i], given[j] = (~args[i],) * 2 if i == j else (args[j], args[i])
        return answer(*given, **kwargs)

    return repair


def another(i: int, change: Change, answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Change one argument."""
    return answer(*args[:i], change(args[i]), *args[i + 1 :], **kwargs)


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
    """The arrays, tensors and floating-point numbers among the arguments."""
    given = (*call.args, *call.kwargs.values())
    given = tuple(np.asarray(arg) if isinstance(arg, float) else arg for arg in given)
    return [arg for arg in given if is_array(arg)]


# what an argument of a call may be
INPUTS: dict[str, Callable[[Any], Any]] = {
    "for a batch": lambda a: len(a.shape) > 2,
    "where a mask has False": lambda a: "bool" in kind(a) and not a.all(),
    "where all of a row is False in the mask": lambda a: (
        "bool" in kind(a) and not numbers(a).any(-1).all()
    ),
    "for large numbers": lambda a: "float" in kind(a) and largest(a) > 99,
    "where numbers are far apart": lambda a: "float" in kind(a) and spread(a) > 99,
    "for whole numbers": lambda a: "int" in kind(a),
    "for float32": lambda a: kind(a) == "float32",
}


def largest(array: Any) -> float:
    """Its largest finite number, whatever the sign."""
    values = np.abs(numbers(array))
    return float(values[np.isfinite(values)].max(initial=0))


def spread(array: Any) -> float:
    """The distance between its largest and its smallest finite number."""
    values = numbers(array)[np.isfinite(numbers(array))]
    return float(np.ptp(values)) if values.size else 0.0


def wrong_inputs(
    calls: list[Call], found: list[list[bool]], always: bool = True
) -> str:
    """What all calls with a wrong result have and no other one; or not ``always``."""
    wrong = [not all(parts) for parts in found]
    if len({*wrong}) == 1:
        return ""
    fits, some = [], []
    for said, holds in INPUTS.items():
        have = [any(map(holds, arrays(call))) for call in calls]
        if have == wrong:
            fits.append(said)
        elif not all(have) and all(map(operator.ge, have, wrong)):
            some.append((sum(have), said))
    if always and fits:
        said = f"wrong {' and '.join(fits[:2])}, and right for all others"
    elif some and not always:
        said = f"wrong only {min(some)[1]}, but not always"
    else:
        return ""
    return f"Of the inputs that were tried, your result is {said}."


def wrong_parts(found: list[list[bool]]) -> str:
    """Which part of what is returned is right."""
    if len({*map(len, found)}) != 1:
        return ""
    parts = [*zip(WORDS, map(all, zip(*found, strict=True)), strict=False)]
    good = " and ".join(word for word, holds in parts if holds)
    bad = " and ".join(word for word, holds in parts if not holds)
    if not (good and bad):
        return ""
    are = "are" if " and " in good else "is"
    return f"{TRIED}the {good} of what you return {are} right; not so the {bad}."


def views(calls: list[Call]) -> list[list[str]]:
    """For each part of the results, the hashes of what each of VIEWS sees in them.

    Empty where it sees the same number everywhere, or nothing in one of the results.
    """
    results = [parts_of(call.result) for call in calls]
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
            return ""
        seen.append(np.asarray(part, dtype=float))
    flat = np.concatenate([np.ravel(part) for part in seen]) if seen else np.zeros(0)
    if not flat.size or ("sum" not in name and (flat == flat[0]).all()):
        return ""
    return hashed(seen)


def in_part(
    calls: list[Call], right: dict[str, Any], told: dict[str, View], most: int
) -> str:
    """What of a wrong result is right: a part of it, or two things that hold of it."""
    found = views(calls)
    if len(found) != len(right["views"]):
        return ""
    for place, pair in enumerate(zip(found, right["views"], strict=True)):
        holds = [name for name, *both in zip(VIEWS, *pair, strict=True) if meet(*both)]
        said = " and ".join([name for name in holds if name in told][:most])
        if said:
            which = f"{WORDS[place]} " if len(found) > 1 else ""
            rest = "; the rest is not" if told is PARTS else ""
            return f"{TRIED}this is right in your {which}result: {said}{rest}."
    return ""


def wrong_calls(calls: list[Call], found: list[list[bool]], names: list[str]) -> str:
    """Arguments for which a result is wrong, and others for which it is right."""
    given = [described(call, names) for call in calls]
    raised = [isinstance(call.result, BaseException) for call in calls]
    right = [i for i, parts in enumerate(found) if all(parts) and not raised[i]]
    wrong = [i for i, parts in enumerate(found) if not all(parts)]
    for i, j in itertools.product(right, wrong):
        apart = [name for name in given[j] if given[i].get(name) != given[j][name]]
        if apart and all(name in given[i] for name in apart):
            told = [" and ".join(given[k][name] for name in apart) for k in (i, j)]
            return f"{TRIED}your result is right for {told[0]}, but not for {told[1]}."
    if right[:1] == [0] and wrong:
        return "Your result is right in the first call, but not in all calls after it."
    return ""


def described(call: Call, names: list[str]) -> dict[str, str]:
    """The arguments of a call: numbers, and the shapes of arrays."""
    said = {}
    for name, arg in zip(names, call.args, strict=False):
        if is_array(arg):
            said[name] = f"`{name}` of shape {tuple(arg.shape)}"
        elif isinstance(arg, int | float):
            said[name] = f"`{name}` = {arg:g}"
    return said
