"""The catalogs of misconceptions, found by the name of their assignment's checks."""

from __future__ import annotations

import importlib

from autograder.checks.catalog import Catalog


def catalog_of(checks: str) -> Catalog | None:
    """The catalog in ``autograder/checks/<checks>/``; None where there is none."""
    name = f"autograder.checks.{checks}"
    try:
        package = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    return package.assignment.catalog
