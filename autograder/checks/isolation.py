"""Isolation of checks from settings that a student's cells have changed.

While a check runs, NumPy's errors and printing and torch's dtype are at their defaults,
and no warning is printed; afterwards all is as before. It also seeds and restores
random numbers.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from autograder.libraries import loaded

# NumPy's own defaults
NUMPY_ERRORS: dict[str, Any] = {
    "divide": "warn",
    "over": "warn",
    "under": "ignore",
    "invalid": "warn",
}
NUMPY_PRINTS: dict[str, Any] = {
    "precision": 8,
    "threshold": 1000,
    "edgeitems": 3,
    "linewidth": 75,
    "suppress": False,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "floatmode": "maxprec",
    "formatter": None,
    "legacy": False,
}


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """NumPy and torch as they are at the start, whatever a cell has set.

    So that checks see the same on a laptop, in the page and in grading, where they and
    the answer run in different processes. Afterwards all is as the cells left it.
    Warnings are for checks that record them: one that is printed, by an answer or by a
    known mistake that is compared with it, costs all points in nbgrader.
    """
    with contextlib.ExitStack() as undo:
        undo.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if numpy := sys.modules.get("numpy"):
            undo.enter_context(numpy.errstate(**NUMPY_ERRORS))
            undo.enter_context(numpy.printoptions(**NUMPY_PRINTS))
        for support in loaded():
            support.settle(undo)
        yield


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what an answer prints or draws, and NumPy's warnings."""
    out = io.StringIO()
    with contextlib.ExitStack() as undo:
        undo.enter_context(contextlib.redirect_stdout(out))
        undo.enter_context(contextlib.redirect_stderr(out))
        undo.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        if numpy := sys.modules.get("numpy"):
            undo.enter_context(numpy.errstate(all="ignore"))
        try:
            yield
        finally:
            if plt := sys.modules.get("matplotlib.pyplot"):
                plt.close("all")


def seed(number: int = 0) -> None:
    """Unseeded random numbers are the same in every run: verdicts can be repeated."""
    random.seed(number)
    modules: dict[str, Any] = sys.modules
    if numpy := modules.get("numpy"):
        numpy.random.seed(number)
    for support in loaded():
        support.seed(number)


def random_state() -> Callable[[], None]:
    """What brings all random numbers back to where they are now."""
    modules: dict[str, Any] = sys.modules
    undo = [partial(random.setstate, random.getstate())]
    if numpy := modules.get("numpy"):
        undo.append(partial(numpy.random.set_state, numpy.random.get_state()))
    undo += [support.random_state() for support in loaded()]

    def restore() -> None:
        for one in undo:
            one()

    return restore
