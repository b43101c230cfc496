"""What one process of a run makes for all of them: whichever needs it first."""

import ast
import fcntl
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext
import nbformat
import pytest

from autograder import wall
from autograder.checks.catalog import Mistake, Style
from autograder.tools.judging import catalog_of, judge

UNPROTECTED = ["--no-sandbox"] if wall.available() else []
GRADE = ["grade", "--workers", "1", "--json", "results.json", *UNPROTECTED]
Verdict = tuple[float, str | None, str | None]  # points, message, name of the mistake


def numbers(every: list, count: int) -> set[int]:
    """The places that the run's seed draws in a list, apart from other lists' places:
    a color scheme says nothing of a width."""
    names = [str(getattr(value, "id", value)) for value in every]
    draw = random.Random(f"{os.environ['SEED']} {names}")
    return set(draw.sample(range(len(every)), min(count, len(every))))


def drawn(values: Iterable, count: int = 1) -> list:
    """Parameters of which the run's seed draws some; the long run has the others."""
    every = list(values)
    now = numbers(every, count)
    return [
        value if n in now else pytest.param(value, marks=pytest.mark.long)
        for n, value in enumerate(every)
    ]


def of_each(kinds: Iterable[Iterable], count: int = 1) -> list:
    """Parameters of which the run's seed draws some of each kind."""
    return [value for kind in kinds for value in drawn(kind, count)]


def some(values: Iterable, count: int) -> list:
    """One parameter: a list of what the seed draws; the long run has all of them."""
    every = list(values)
    few = [every[n] for n in sorted(numbers(every, count))]
    return [
        pytest.param(few, id=f"{len(few)}-drawn"),
        pytest.param(every, id="all", marks=pytest.mark.long),
    ]


def rows(text: str, **names: str) -> dict[str, list[str]]:
    """The cells of a table by the first of each row; {name} stands for a text."""
    lines = text.strip().format(**names).splitlines()
    cells = ([cell.strip() for cell in line.split("|")] for line in lines)
    return {first: others for first, *others in cells}


def once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """A path that lives as long as the run; one process calls ``make`` for it."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # then each process has its own below it
        base = base.parent
    place, made = base / name, base / f"{name}.made"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(place)
            made.touch()
    return place


class Verdicts:
    """Entries of the catalogs, judged when they are asked for, once in a process."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.found: dict[tuple[str, Mistake | Style], Verdict] = {}

    def of(self, package: ModuleType, entry: Mistake | Style) -> Verdict:
        """Points, message and name that an entry gets."""
        key = package.assignment.name, entry
        if key not in self.found:
            answer = catalog_of(package).answer(entry)
            self.found[key] = judge(package, entry.question, answer, self.seed)
        return self.found[key]


BOOK = Path(__file__).parents[1] / "book"


def outputs(chapter: str) -> list[str]:
    """What the cells of a chapter printed, output by output."""
    cells = nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4).cells
    found = [output for cell in cells for output in cell.get("outputs", [])]
    return [output.get("text", "") for output in found]


def defined(chapter: str) -> dict[str, Any]:
    """The functions and classes that a chapter defines itself, by name."""
    names: dict[str, Any] = {}
    for cell in jupytext.read(BOOK / f"text/{chapter}.md").cells:
        if cell.cell_type == "code":
            kinds = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
            body = [n for n in ast.parse(cell.source).body if isinstance(n, kinds)]
            exec(compile(ast.Module(body, []), cell.source[:40], "exec"), names)
    return names
