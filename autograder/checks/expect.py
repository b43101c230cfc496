"""Assertions for writing checks: call a student's function, compare shape and values.

They work on local answers and, in grading, on objects in the sandbox. Each raises
:class:`CheckFailed` with what was seen, what was expected, and a ``kind``: "type",
"shape", "value", "changed" or "error"; types and shapes are compared before values.
Each also notes what it saw, from which a known mistake is recognized later.

In all of them ``what`` is the subject of the sentence about a failure: "the result",
"the weights". A plural ends in s, and the verb agrees.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from autograder.checks.accepted_results import a_kind, expect_crossing, odd
from autograder.checks.drawing import beside
from autograder.checks.failures import (
    NO_EXCEPTION,
    CheckFailed,
    failure_from,
    is_stub,
    kind_of,
)
from autograder.checks.figures import in_colors
from autograder.checks.fingerprints import note
from autograder.checks.isolation import NUMPY_ERRORS
from autograder.libraries import as_array, dtype_name, is_tensor


def call(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a student's function and return its result.

    Args:
        answer: the student's function or module, here or behind the wall.
        args, kwargs: passed on; arrays and tensors in them have to stay as they are.

    Raises:
        CheckFailed: it has no answer yet ("unanswered"), returned None ("type"), or
            changed an argument ("changed").
        Exception: whatever the function raised; who runs the check explains it.
    """
    before = copy.deepcopy((args, kwargs))
    try:
        result = answer(*args, **kwargs)
    except Exception as error:
        if is_stub(error):
            raise failure_from(error) from None
        note(kind_of(error)[0])
        raise
    expect_crossing(result)
    note(result)
    if result is None:
        raise CheckFailed(
            "your function returned None; did you forget `return`?",
            "the result, returned",
            kind="type",
        )
    if not same(before, (args, kwargs)):
        note("changed")
        several = len(args) + len(kwargs) > 1
        which = f" as {changed(before, args, kwargs)}" if several else ""
        raise CheckFailed(
            f"your function changed what it was given{which}",
            "inputs should not change: work on a copy",
            kind="changed",
        )
    return result


def changed(before: tuple[tuple, dict], args: tuple, kwargs: dict) -> str:
    """The first argument that is not as it was before, as a call would count it."""
    for number, (old, new) in enumerate(zip(before[0], args, strict=True), 1):
        if not same(old, new):
            return f"argument {number}"
    return next(f"`{key}`" for key in kwargs if not same(before[1][key], kwargs[key]))


def quiet_call(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Like :func:`call`, with NumPy's default error settings.

    Raises:
        CheckFailed: as ``call`` does, and when the function gave a warning ("value").
    """
    with warnings.catch_warnings(record=True) as caught, np.errstate(**NUMPY_ERRORS):
        warnings.simplefilter("always")
        result = call(answer, *args, **kwargs)
    if caught:
        raise CheckFailed(
            f"your function gave a {caught[0].category.__name__}: {caught[0].message}",
            "no warning",
        )
    return result


VALUE_ERROR = "a ValueError, which callers can catch; `assert` raises an AssertionError"
LISTED = "`np.array([...])` makes an array of the numbers in a list"
KINDS = {"f": "floating-point numbers", "b": "booleans"}


def ending(what: str) -> str:
    """The end of a verb: the output contains NaN, the weights contain it."""
    return "" if what.endswith("s") and not what.endswith("ss") else "s"


def has(what: str) -> str:
    """What is named and its verb: the output has a shape, the weights have one."""
    return f"{what} {'has' if ending(what) else 'have'}"


def array(
    value: Any, shape: tuple[int, ...], what: str = "the result", kind: str = "f"
) -> np.ndarray:
    """Check the type, shape and kind of a NumPy array, and return it.

    Args:
        value: what the student's function returned.
        shape: all sizes; () for a single number, which may be a NumPy scalar.
        kind: ``dtype.kind`` of its numbers: "f" (any floating point) or "b" (booleans).

    Raises:
        CheckFailed: another type or kind of numbers ("type"), or shape ("shape").
    """
    note(value)
    if not isinstance(value, np.ndarray | np.generic) or odd(value):
        raise CheckFailed(
            f"{what} is {a_kind(value)}",
            "a NumPy array",
            kind="type",
            reason=LISTED if isinstance(value, list | tuple) else "",
        )
    if value.shape != tuple(shape):
        raise CheckFailed(
            f"{has(what)} shape {value.shape}", f"shape {tuple(shape)}", kind="shape"
        )
    if value.dtype.kind != kind:
        seen = f"{has(what)} dtype {value.dtype}"
        raise CheckFailed(seen, KINDS[kind], kind="type")
    return np.asarray(value)


def dtype(value: Any, wanted: str, what: str = "the result") -> None:
    """Check the dtype of an array or tensor by its name, such as "float32".

    Raises:
        CheckFailed: it is another one ("type").
    """
    seen = dtype_name(value.dtype)
    note(seen)
    if seen != wanted:
        raise CheckFailed(f"{has(what)} dtype {seen}", wanted, kind="type")


def tensor(value: Any, shape: tuple[int, ...], what: str = "the result") -> np.ndarray:
    """Check the type and shape of a floating-point tensor; its numbers as an array.

    Raises:
        CheckFailed: as :func:`array` does.
    """
    if not is_tensor(value) or odd(value):
        raise CheckFailed(f"{what} is {a_kind(value)}", "a torch tensor", kind="type")
    if tuple(value.shape) != tuple(shape):
        raise CheckFailed(
            f"{has(what)} shape {tuple(value.shape)}",
            f"shape {tuple(shape)}",
            kind="shape",
        )
    return array(as_array(value), shape, what)


def refused(answer: Any, *args: Any, what: str) -> None:
    """Check that a function raises ValueError for these arguments.

    Args:
        what: the arguments in words: "a mask of another shape".

    Raises:
        CheckFailed: it returned, or raised something else.
    """
    try:
        answer(*args)
    except ValueError:
        return
    except AssertionError as error:
        raise CheckFailed(f"{what} raised an AssertionError", VALUE_ERROR) from error
    except Exception as error:
        failure = failure_from(error)
        if failure.expected != NO_EXCEPTION:  # a stub, a name, the wall's own words
            raise
        raise CheckFailed(
            f"{what} raised {kind_of(error)[0]}",
            "a ValueError",
            kind="error",
            place=failure.place,
        ) from error
    raise CheckFailed(f"{what} was accepted", "a ValueError")


def pair(value: Any, names: str) -> tuple[Any, Any]:
    """Check that a function returned two values, and return them.

    Args:
        names: what they are, as the card calls them: "output, weights".

    Raises:
        CheckFailed: another type or length ("type").
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        seen = a_kind(value)
        if isinstance(value, tuple | list):
            seen += f" of {len(value)}"
        raise CheckFailed(
            f"your function returned {seen}", f"the pair ({names})", kind="type"
        )
    return value[0], value[1]


def finite(value: np.ndarray, what: str = "the result") -> None:
    """Check that there is no NaN and no infinity; else CheckFailed ("value")."""
    if np.isnan(value).any():
        raise CheckFailed(f"{what} contain{ending(what)} NaN", "finite numbers")
    if np.isinf(value).any():
        raise CheckFailed(f"{what} contain{ending(what)} an infinity", "finite numbers")


def close(
    value: Any,
    expected: np.ndarray | float,
    seen: str = "different numbers",
    wanted: str = "",
    *,
    tolerance: float = 1e-6,
    whole: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """Check that numbers agree with the expected ones.

    Args:
        value: an array, already of the right shape, or a number.
        expected: an array, or one number for all.
        seen, wanted: the two halves of the message, as sentences without values; hidden
            checks, whose values stay hidden, leave them out.
        tolerance: largest difference, relative to the largest expected number, or to 1
            where all are smaller; at least 1e-4 for single precision and below.
        whole: tables (the student's, the expected) that these numbers are part of; they
            are drawn side by side in place of ``value`` and ``expected``.

    Raises:
        CheckFailed: a difference, NaN or infinity ("value"), with the drawing.
    """
    note(value)
    if type(value) in (int, float):  # as SciPy returns some results
        value = np.float64(value)
    finite(value)
    expected = np.asarray(expected)
    if value.dtype.itemsize < 8:
        tolerance = max(tolerance, 1e-4)
    room = tolerance * max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not (np.abs(value - expected) <= room).all():
        yours, right = whole or (value, expected)
        drawing = beside(yours, right, room)
        seen += apart(value, expected) if wanted else ""  # a hidden value stays hidden
        raise CheckFailed(seen, wanted, drawing=drawing)


def apart(value: Any, expected: Any) -> str:
    """The end of a sentence that shows numbers: how far they are from the expected.

    Empty where they are so far that rounding for a message cannot hide it.
    """
    gap = float(np.abs(np.asarray(value, float) - expected).max(initial=0.0))
    room = 0.02 * max(1.0, float(np.abs(expected).max(initial=0.0)))
    return f"; the largest difference is {gap:.1g}" if 0 < gap <= room else ""


def number(value: Any, what: str = "the result") -> float:
    """Check that this is one number, Python's or NumPy's, and return it.

    Raises:
        CheckFailed: anything else ("type").
    """
    note(value)
    scalar = isinstance(value, np.ndarray | np.generic) and value.shape == ()
    if not ((scalar and value.dtype.kind in "fiu") or type(value) in (int, float)):
        raise CheckFailed(f"{what} is {a_kind(value)}", "a number", kind="type")
    return float(value)


def agree(
    value: Any, expected: Any, what: str = "the result", *, tolerance: float = 1e-6
) -> None:
    """Check type, shape and numbers against an oracle's array, tensor or float.

    Raises:
        CheckFailed: as :func:`array`, :func:`tensor`, :func:`number` and :func:`close`.
    """
    if isinstance(expected, int | float):
        close(number(value, what), expected, tolerance=tolerance)
        return
    shape = tuple(expected.shape)
    if isinstance(expected, np.ndarray):
        value = array(value, shape, what)
    else:
        value, expected = tensor(value, shape, what), as_array(expected)
    close(value, expected, tolerance=tolerance)


def agree_pair(
    result: Any,
    expected: tuple[Any, Any],
    names: str = "output, weights",
    *,
    tolerance: float = 1e-6,
) -> None:
    """:func:`agree` for both parts of a :func:`pair`."""
    parts = zip(pair(result, names), expected, names.split(", "), strict=True)
    for value, wanted, name in parts:
        agree(value, wanted, f"the {name}", tolerance=tolerance)


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, arrays and tensors inside containers included."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if is_tensor(a) or is_tensor(b):
        if type(a) is not type(b):
            return False
        a, b = as_array(a), as_array(b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, bool | int | float | str | bytes | type(None)):
        return a == b
    return True  # generators and other handles: nothing to compare


def readable(grid: dict[str, Any]) -> None:
    """Check that the color scale of a heat map spans at least 60 % of its values.

    Args:
        grid: a heat map as ``figures.describe_axes`` gives it.
    """
    if in_colors(grid) < 0.6:
        low, high = grid["limits"]
        raise CheckFailed(
            "most values lie outside the colors",
            f"a color scale that spans them; this one goes from {low:g} to {high:g}",
        )
