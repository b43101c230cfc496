"""The catalogs of misconceptions, found by the name of their assignment's checks."""

from __future__ import annotations

import importlib

from autograder.checks.catalog import Catalog


def catalog_of(checks: str) -> Catalog | None:
    """The catalog in ``autograder/checks/<checks>/``; None where there is none."""
    name = f"autograder.checks.{checks}.catalog"
    try:
        catalog: Catalog = importlib.import_module(name).catalog
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        return None
    return catalog
