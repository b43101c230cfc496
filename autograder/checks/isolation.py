"""Isolation of a check: default settings of NumPy and torch, no code of the book's.

Checks see the same whatever a cell has set, and an answer that was imported from the
book is recognized as such.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

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
# what students may import, to use
BOOK_MODULES = ("attention", "minilm", "payoff", "smollm2")


def borrowed(value: Any) -> str | None:
    """The module of the book that an answer was imported from, if it was.

    A class that extends the book's class of the same name is that class.
    """
    kinds = value.__mro__ if isinstance(value, type) else (value,)
    name = getattr(value, "__name__", None)
    for kind in kinds:
        module = getattr(kind, "__module__", None)
        same = kind is value or getattr(kind, "__name__", None) == name
        if module in BOOK_MODULES and same:
            return module
    return None


def not_written(name: str, module: str) -> str:
    """What is said of a borrowed answer."""
    return (
        f"`{name}` is imported from the book's `{module}`; the answer to this question "
        "is written in this notebook"
    )


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """NumPy and torch as they are at the start, whatever a cell has set.

    So that checks see the same on a laptop, in the page and in grading, where they and
    the answer run in different processes. Afterwards all is as the cells left it.
    """
    with contextlib.ExitStack() as undo:
        if numpy := sys.modules.get("numpy"):
            undo.enter_context(numpy.errstate(**NUMPY_ERRORS))
            undo.enter_context(numpy.printoptions(**NUMPY_PRINTS))
        if torch := sys.modules.get("torch"):
            undo.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(torch.float32)
            undo.enter_context(torch.enable_grad())
        yield
