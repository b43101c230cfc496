"""Write what the visible checks note of each known mistake, for the students' wheel.

    python -m autograder.tools.fingerprints [NAME ...]

NAME is a package of checks, such as attention. A mistake of which the checks see the
same as of another one, or something else in every run, is listed and not named.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from autograder.checks.known import fingerprints
from autograder.checks.question import noticed
from autograder.tools.judging import catalog_of, packages

Table = dict[str, dict[str, Any]]


def notes_of(package: ModuleType, question: str, answer: Any) -> list[list[str]]:
    """What each visible check notes of an answer."""
    checks = package.assignment.questions[question].checks
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, np.errstate(all="ignore"):
        notes = [noticed(check, answer)[1] for check in checks]
    plt.close("all")
    return notes


def by_chance(package: ModuleType, question: str) -> set[str]:
    """The places where a right answer, too, leaves other numbers in every run.

    The sentence of a check (note 1) tells such numbers when it fails.
    """
    catalog = catalog_of(package)
    right = catalog.references[question]
    runs = [notes_of(package, question, catalog.answer(right)) for _ in range(2)]
    places = set()
    for check, (one, two) in enumerate(zip(*runs, strict=True), 1):
        differ = {i for i, (a, b) in enumerate(zip(one, two, strict=True)) if a != b}
        places |= {f"{check}.{i}" for i in differ | ({1} if differ else set())}
    return places


def table_of(package: ModuleType, question: str) -> tuple[dict[str, Any], list[str]]:
    """The table of a question, and the mistakes that it cannot name."""
    catalog, chance = catalog_of(package), by_chance(package, question)
    trails, unnamed = [], []
    leads: defaultdict[str, set[str]] = defaultdict(set)  # to which mistakes
    for entry in catalog.every(question):
        left = []
        for _ in range(3):  # some mistakes do something else in every run
            notes = notes_of(package, question, catalog.answer(entry))
            failing = next((i for i, n in enumerate(notes) if n[0] != "holds"), None)
            if failing is not None:
                left.append(list(fingerprints(failing + 1, notes[failing:], chance)))
        for key in {key for trail in left for key in trail}:
            leads[key].add(entry.id)
        if left and left.count(left[0]) == len(left):
            trails.append((entry, left[0]))
        elif left:
            unnamed.append(entry.id)
    table: dict[str, Any] = {"chance": sorted(chance)} if chance else {}
    for entry, trail in trails:
        alone = next((i for i, key in enumerate(trail) if len(leads[key]) == 1), None)
        if alone is None:
            unnamed.append(entry.id)
            continue
        # Another mistake may do the same on one input; on two it hardly does.
        alone = max(alone, min(1, len(trail) - 1))
        table |= dict.fromkeys(trail[:alone])
        table[trail[alone]] = [entry.id, entry.diagnosis, entry.read]
    return dict(sorted(table.items())), unnamed


def made(package: ModuleType) -> tuple[Table, list[str]]:
    """The tables of an assignment, and the mistakes that they cannot name."""
    tables, unnamed = {}, []
    for question in package.assignment.questions:
        tables[question], missing = table_of(package, question)
        unnamed += missing
        if catalog_of(package).entries[question].hunts:
            tables[question]["half"] = catalog_of(package).half(question).packed()
    return tables, unnamed


def path_of(package: ModuleType) -> Path:
    """Where the table lies, beside the visible checks."""
    return Path(str(package.__file__)).parent / "known.json"


def text_of(table: Table) -> str:
    """The table as it is stored."""
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*", metavar="NAME")
    names = options.parse_args().names
    for package in packages():
        short = package.__name__.rpartition(".")[2]
        if names and short not in names:
            continue
        table, unnamed = made(package)
        path_of(package).write_text(text_of(table), encoding="utf-8")
        keys = [key for each in table.values() for key in each if each[key]]
        count = len([key for key in keys if key != "chance"])
        print(f"{short}: {count} are named; not: {', '.join(unnamed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
