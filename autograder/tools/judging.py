"""Grading of one answer in this process, without the sandbox, for developer tools."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from autograder import registry
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed

matplotlib.use("Agg")


def packages() -> list[ModuleType]:
    """The packages of visible checks, one for each assignment."""
    return [registry.checks_of(name) for name in registry.names()]


def catalog_of(package: ModuleType) -> Catalog:
    """The catalog of an assignment."""
    return package.assignment.catalog


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what an answer prints or draws, and NumPy's warnings."""
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        try:
            yield
        finally:
            plt.close("all")


def judge(
    package: ModuleType, question: str, answer: Any, seed: int | None = 0
) -> tuple[float, str | None, str | None]:
    """Points as the test cell gives them: visible first, then hidden.

    Returns (points, message, misconception id or None).
    """
    try:
        with quiet():
            getattr(package, question)(answer)
            score = getattr(package.hidden, question)(answer, seed)
    except CheckFailed as failure:
        named = failure.misconception
        return 0.0, str(failure), named.id if named else None
    named = score.misconception
    return float(score), score.message, named.id if named else None
