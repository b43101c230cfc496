"""Helpers of the checks of 08-cost: partial results of blocks, and measured calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks import expect
from autograder.checks.accepted_results import a_kind
from autograder.checks.failures import CheckFailed
from autograder.checks.memory import peak

NAMES = ("m", "s", "o")
Block = tuple[np.ndarray, np.ndarray, np.ndarray]


def block(value: Any, shape: tuple[int, ...], d_v: int) -> Block:
    """The arrays of a block, ``m`` and ``s`` of this shape.

    Raises CheckFailed where they are not three arrays of the right shapes and kind.
    """
    if not isinstance(value, tuple | list) or len(value) != 3:
        seen = f"a {type(value).__name__}"
        if isinstance(value, tuple | list):
            seen += f" of {len(value)}"
        told = f"your function returned {seen}"
        raise CheckFailed(told, "the tuple (m, s, o)", kind="type")
    shapes = (shape, shape, (*shape, d_v))
    m, s, o = (
        expect.array(part, size, name)
        for part, size, name in zip(value, shapes, NAMES, strict=True)
    )
    return m, s, o


def of_one(m: float, s: float, o: float) -> Block:
    """A block of one query and d_v = 1."""
    return np.array([1.0 * m]), np.array([1.0 * s]), np.array([[1.0 * o]])


def empty(*shape: int, d_v: int = 1) -> Block:
    """The block over no keys."""
    return np.full(shape, -np.inf), np.zeros(shape), np.zeros((*shape, d_v))


def shown(parts: Block) -> str:
    """The numbers of a small block, in a row."""
    return ", ".join(
        f"{name} = [{', '.join(f'{number:.4g}' for number in part.ravel())}]"
        for name, part in zip(NAMES, parts, strict=True)
    )


def same_block(
    seen: Block, wanted: Block, case: str = "", tolerance: float = 1e-6
) -> None:
    """Two blocks agree; -inf agrees with itself."""
    hollow = np.isneginf(wanted[0])
    if not np.array_equal(np.isneginf(seen[0]), hollow):
        case = case and f"{case} gave {shown(seen)}"
        raise CheckFailed(case or "different numbers", case and shown(wanted))
    firm = [np.where(hollow, 0, each[0]) for each in (seen, wanted)]
    pairs = zip((firm[0], *seen[1:]), (firm[1], *wanted[1:]), strict=True)
    for value, right in pairs:
        told = (f"{case} gave {shown(seen)}", shown(wanted)) if case else ()
        expect.close(value, right, *told, tolerance=tolerance)


def merged(answer: Any, a: Block, b: Block) -> Block:
    """What a student's merge makes of two blocks, without a warning."""
    value = expect.quiet_call(answer, a, b)
    return block(value, a[0].shape, a[2].shape[-1])


def whole(value: Any) -> int:
    """``value`` as the integer that it has to be."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        seen = f"your function returned {value!r}, {a_kind(value)}"
        raise CheckFailed(seen, "an integer number of bytes", kind="type")
    return int(value)


def held(answer: Any, *inputs: Any) -> tuple[Any, int]:
    """What a call returns, and the bytes that it held at its peak."""
    found: list[int] = []

    def call(*args: Any) -> Any:
        result, size = peak(answer, *args)
        found.append(size)
        return result

    return expect.call(call, *inputs), found[0]


def keeps_no_table(
    answer: Any, rng: np.random.Generator, n_q: int, n_k: int, size: int
) -> tuple[Any, np.ndarray, list[np.ndarray]]:
    """The output of a call whose peak is below 0.4 of the table of scores.

    Returns the output and the inputs. Raises CheckFailed where it is not below.
    """
    inputs = [rng.standard_normal((n, 1)) for n in (n_q, n_k, n_k)]
    result, most = held(answer, *inputs, size)
    table = 8 * n_q * n_k
    if most > 0.4 * table:
        times = round(most / table)
        seen = f"{times} times" if times > 1 else "about" if times else "about half"
        raise CheckFailed(
            f"your function's peak memory was {seen} that of the whole table of scores",
            "at most 0.4 of it: only one block's scores exist at a time",
        )
    return result, inputs[0], inputs[1:]
