"""Measurement of the peak memory of a call to a student's function.

It runs in the process of the student's code, which could falsify the number. So checks
use it together with the function's results, which are compared outside.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

from autograder.checks.failures import CheckFailed

# as they are before any cell runs
START, STOP = tracemalloc.start, tracemalloc.stop
RESET, TRACING = tracemalloc.reset_peak, tracemalloc.is_tracing
PEAK = tracemalloc.get_traced_memory
MARK = 256 << 10  # held for a moment before the call; a peak below it was reset


def peak(answer: Any, *args: Any) -> tuple[Any, int]:
    """The result of a call, and the most bytes that were held at once meanwhile.

    Raises CheckFailed when the function stops or resets the measurement.
    """
    if hook := getattr(type(answer), "_wall_peak_", None):
        return undisturbed(*hook(answer, *args))
    return undisturbed(*measured(answer, *args))


def measured(answer: Any, *args: Any) -> tuple[Any, int]:
    """As :func:`peak`; -1 bytes where the measurement was stopped or reset."""
    ours = not TRACING()
    if ours:
        START()
    try:
        RESET()
        before = PEAK()[0]
        mark = bytearray(MARK)
        del mark
        result = answer(*args)
        held = PEAK()[1] - before if TRACING() else -1
    finally:
        if ours:
            STOP()
    return result, held if held >= MARK else -1


def undisturbed(result: Any, held: int) -> tuple[Any, int]:
    """A measurement that was not disturbed."""
    if held < 0:
        raise CheckFailed(
            "your function stops or resets `tracemalloc`, which measures its memory",
            "`tracemalloc` is left alone",
        )
    return result, held
