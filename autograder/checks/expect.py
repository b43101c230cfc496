"""The expectations that checks are written with: call, array, close.

They work on local answers and on answers behind the wall alike. Shapes come before
types, types before values. Each raises CheckFailed with what was seen and expected.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Set
from typing import Any

import numpy as np

from autograder.checks.drawing import beside
from autograder.checks.failures import (
    NO_EXCEPTION,
    CheckFailed,
    is_stub,
    kind_of,
    told,
)
from autograder.checks.figures import in_colors
from autograder.checks.known import note
from autograder.checks.surroundings import NUMPY_ERRORS


def call(answer: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a student's function and return its result.

    Fails when it has no answer yet, raises, returns None or changes its arguments.
    """
    before = copy.deepcopy((args, kwargs))
    try:
        result = answer(*args, **kwargs)
    except Exception as error:
        if is_stub(error):
            raise told(error) from None
        note(type(error).__name__)
        raise
    note(result)
    if result is None:
        raise CheckFailed(
            "your function returned None; did you mean `return`?",
            "the result, returned",
            kind="type",
        )
    if not same(before, (args, kwargs)):
        note("changed")
        several = len(args) + len(kwargs) > 1
        which = f" as {changed(before, args, kwargs)}" if several else ""
        raise CheckFailed(
            f"your function changed the array that it was given{which}",
            "inputs stay as they were: work on a copy",
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
    """Like :func:`call`, and fails when the function gives a warning."""
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
KINDS = {"f": "floating-point numbers", "b": "booleans"}


def once(what: str) -> str:
    """The end of a verb: the output contains NaN, the weights contain it."""
    return "" if what.endswith("s") and not what.endswith("ss") else "s"


def has(what: str) -> str:
    """What is named and its verb: the output has a shape, the weights have one."""
    return f"{what} {'has' if once(what) else 'have'}"


def array(
    value: Any, shape: tuple[int, ...], what: str = "the result", kind: str = "f"
) -> np.ndarray:
    """``value`` as the array of ``shape`` and ``kind`` that it has to be."""
    note(value)
    if not isinstance(value, np.ndarray | np.generic):
        raise CheckFailed(
            f"{what} is a {type(value).__name__}", "a NumPy array", kind="type"
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
    """``value``, an array or a tensor, has the dtype of that name."""
    seen = str(value.dtype).removeprefix("torch.")
    note(seen)
    if seen != wanted:
        raise CheckFailed(f"{has(what)} dtype {seen}", wanted, kind="type")


def tensor(value: Any, shape: tuple[int, ...], what: str = "the result") -> np.ndarray:
    """The numbers of the floating-point tensor of ``shape`` that this has to be."""
    torch = sys.modules.get("torch")  # where it is not loaded, nothing is a tensor
    if torch is None or not isinstance(value, torch.Tensor):
        raise CheckFailed(
            f"{what} is a {type(value).__name__}", "a torch tensor", kind="type"
        )
    if tuple(value.shape) != tuple(shape):
        raise CheckFailed(
            f"{has(what)} shape {tuple(value.shape)}",
            f"shape {tuple(shape)}",
            kind="shape",
        )
    if value.dtype == torch.bfloat16:  # NumPy has no such numbers
        value = value.float()
    return array(value.numpy(force=True), shape, what)


def parameters(module: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """The module has exactly the parameters that ``shapes`` names, of these shapes."""
    found = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    if has_second_names(module, found.keys(), shapes.keys()):
        found = {name: found[name] for name in shapes}
    note(found)
    missing, extra = shapes.keys() - found.keys(), found.keys() - shapes.keys()
    if missing or extra:
        seen = [f"no {name}" for name in sorted(missing)]
        seen += [f"an extra {name}" for name in sorted(extra)]
        wanted = "no other parameter than the card names"
        if missing:
            wanted = f"the parameters {shortened([n for n in shapes if n in missing])}"
        raise CheckFailed(f"your module has {shortened(seen)}", wanted, kind="type")
    for name, shape in shapes.items():
        if found[name] != tuple(shape):
            raise CheckFailed(
                f"{name} has shape {found[name]}", f"shape {tuple(shape)}", kind="shape"
            )


def shortened(words: list[str], most: int = 6) -> str:
    """A list in words, without what is too much to read."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def has_second_names(module: Any, found: Set[str], due: Set[str]) -> bool:
    """Whether all that is found beyond what is due are second names of these."""
    if not found > due:
        return False
    every = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    return found - due <= every and len(list(module.named_parameters())) <= len(due)


def load(module: Any, state: dict[str, Any]) -> None:
    """Give a module these parameters; it may have second names for some of them."""
    second = has_second_names(module, module.state_dict().keys(), state.keys())
    module.load_state_dict(state, strict=not second)


def refused(answer: Any, *args: Any, what: str) -> None:
    """The answer raises a ValueError for these arguments, which are ``what``."""
    try:
        answer(*args)
    except ValueError:
        return
    except AssertionError as error:
        raise CheckFailed(f"{what} raised an AssertionError", VALUE_ERROR) from error
    except Exception as error:
        failure = told(error)
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
    """``value`` as the pair ``names`` ("output, weights") that it has to be."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        seen = f"a {type(value).__name__}"
        if isinstance(value, tuple | list):
            seen += f" of {len(value)}"
        raise CheckFailed(
            f"your function returned {seen}", f"the pair ({names})", kind="type"
        )
    return value[0], value[1]


def finite(value: np.ndarray, what: str = "the result") -> None:
    """No NaN and no infinity."""
    if np.isnan(value).any():
        raise CheckFailed(f"{what} contain{once(what)} NaN", "finite numbers")
    if np.isinf(value).any():
        raise CheckFailed(f"{what} contain{once(what)} an infinity", "finite numbers")


def close(
    value: np.ndarray,
    expected: np.ndarray | float,
    seen: str = "different numbers",
    wanted: str = "",
    *,
    tolerance: float = 1e-6,
    whole: tuple[np.ndarray, np.ndarray] | None = None,
) -> None:
    """Numbers agree up to ``tolerance``, relative to the largest expected one.

    Single precision is given the room it needs. ``seen`` and ``wanted`` are the
    sentences of the message; hidden checks, which tell no values, leave them out.
    A table is drawn beside the expected one; so is ``whole``, of which it is a part.
    """
    note(value)
    finite(value)
    expected = np.asarray(expected)
    if value.dtype.itemsize < 8:
        tolerance = max(tolerance, 1e-4)
    room = tolerance * max(1.0, float(np.abs(expected).max(initial=0.0)))
    if not (np.abs(value - expected) <= room).all():
        drawing = beside(*(whole or (value, expected)), room)
        raise CheckFailed(seen, wanted, drawing=drawing)


def agree(
    value: Any, expected: Any, what: str = "the result", *, tolerance: float = 1e-6
) -> None:
    """``value`` has type, shape and numbers of the oracle's array or tensor."""
    shape = tuple(expected.shape)
    if isinstance(expected, np.ndarray):
        value = array(value, shape, what)
    else:
        value, expected = tensor(value, shape, what), expected.detach().numpy()
    close(value, expected, tolerance=tolerance)


def agree_pair(
    result: Any,
    expected: tuple[Any, Any],
    names: str = "output, weights",
    *,
    tolerance: float = 1e-6,
) -> None:
    """Both parts of the pair ``names`` agree with the oracle's."""
    parts = zip(pair(result, names), expected, names.split(", "), strict=True)
    for value, wanted, name in parts:
        agree(value, wanted, f"the {name}", tolerance=tolerance)


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, arrays and tensors inside containers included."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "detach"):  # a torch tensor, without importing torch
        a, b = a.detach().numpy(), b.detach().numpy()
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, bool | int | float | str | bytes | type(None)):
        return a == b
    return True  # generators and other handles: nothing to compare


def readable(grid: dict[str, Any]) -> None:
    """The color scale of a heat map spans most of its values."""
    if in_colors(grid) < 0.6:
        low, high = grid["limits"]
        raise CheckFailed(
            f"the colors go from {low:g} to {high:g}, and most values lie outside",
            "a color scale that spans the values",
        )
