"""Grading of one answer in this process, without the sandbox, for developer tools."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import matplotlib

from autograder import registry
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed
from autograder.checks.isolation import quiet

matplotlib.use("Agg")


def packages() -> list[ModuleType]:
    """The packages of visible checks, one for each assignment."""
    return [registry.checks_of(name) for name in registry.names()]


def catalog_of(package: ModuleType) -> Catalog:
    """The catalog of an assignment."""
    return package.assignment.catalog


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
