"""Outcomes of calls as comparable data: a value, an exception, a changed argument.

Probes return them: answers with equal outcomes are taken to make the same mistake.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.checks.failures import CheckFailed, kind_of
from autograder.libraries import as_array, is_tensor

_watching: list[Callable[[Any], Any]] = []


@contextlib.contextmanager
def watching(watched: Callable[[Any], Any]) -> Iterator[None]:
    """Call what ``watched`` makes of each callable instead of it."""
    _watching.append(watched)
    try:
        yield
    finally:
        _watching.pop()


def outcome(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """What calling ``answer`` does: its value, and whether it changed its arguments.

    An exception is an outcome too: its type's name and what it says.
    """
    # changes are seen in `args` themselves, so the caller passes fresh arrays
    before = [numbers_of(arg) for arg in args]
    try:
        value = (_watching[-1](answer) if _watching else answer)(*args, **kwargs)
    except CheckFailed:
        raise
    except (Exception, SystemExit) as error:
        # what raised for another reason is another mistake; behind the wall NumPy's
        # own kinds of exceptions are Python's, with the kind's name in the text
        kind, own = kind_of(error)
        return ("raised", kind, " ".join(f"{own}{error}".split())[:200])
    after = [numbers_of(arg) for arg in args]
    changed = any(
        a is not None and b is not None and not np.array_equal(a, b, equal_nan=True)
        for a, b in zip(after, before, strict=True)
    )
    return ("returned", value, changed)


def numbers_of(value: Any) -> np.ndarray | None:
    """A copy of the numbers of an array or a tensor; None of anything else."""
    if is_tensor(value):
        return as_array(value).copy()
    return np.array(value) if isinstance(value, np.ndarray) else None


def any_error(result: Any) -> Any:
    """An outcome without the type of its exception: any two exceptions are equal."""
    return "raised" if result[0] == "raised" else result


def close_to(a: Any, b: Any, tolerance: float = 1e-5) -> bool:
    """Two outcomes agree: types of containers, shapes, and numbers up to rounding."""
    if isinstance(a, tuple | list) or isinstance(b, tuple | list):
        return (
            isinstance(a, tuple | list)
            and isinstance(b, tuple | list)
            and len(a) == len(b)
            and all(close_to(x, y, tolerance) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and a.keys() == b.keys()
            and all(close_to(a[key], b[key], tolerance) for key in a)
        )
    if is_tensor(a):
        a = as_array(a)
    if is_tensor(b):
        b = as_array(b)
    if isinstance(a, str | bool | type(None)) or isinstance(b, str | bool | type(None)):
        return type(a) is type(b) and a == b
    try:
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        return type(a) is type(b)
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    )


def added(result: Any, totals: np.ndarray) -> bool:
    """Whether one small number was added to ``totals`` before weights were divided.

    It may be too small for :func:`alike` to see.
    """
    if getattr(result[1], "shape", ())[:-1] != totals.shape:
        return False
    with np.errstate(all="ignore"):
        more = totals / result[1].sum(axis=-1) - totals
    return bool(more.min() > 1e-10 and np.allclose(more, more[0], rtol=1e-3, atol=0))
