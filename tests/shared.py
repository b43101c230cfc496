"""What one process of a run makes for all of them: whichever needs it first."""

import fcntl
import json
import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest

from autograder.checks.catalog import Mistake, Style
from autograder.tools.judging import catalog_of, judge

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


def entries(package: ModuleType, question: str) -> list[Mistake | Style]:
    """All that the catalog has about a question: mistakes, reference, styles."""
    catalog = catalog_of(package)
    right = [catalog.references[question], *catalog.styles]
    return catalog.every(question) + [e for e in right if e.question == question]


class Verdicts:
    """Entries of the catalogs, judged in this process or another one, once in a run."""

    def __init__(self, factory: pytest.TempPathFactory, seed: int) -> None:
        self.factory, self.seed = factory, seed
        self.read: dict[str, list[Verdict]] = {}

    def of(self, package: ModuleType, entry: Mistake | Style) -> Verdict:
        """Points, message and name that an entry gets."""
        every = entries(package, entry.question)
        number = next(n for n, other in enumerate(every) if other is entry)
        return self.about(package, entry.question)[number]

    def about(self, package: ModuleType, question: str) -> list[Verdict]:
        """The verdicts on all entries about a question."""

        def make(place: Path) -> None:
            catalog = catalog_of(package)
            found = [
                judge(package, question, catalog.answer(entry), self.seed)
                for entry in entries(package, question)
            ]
            place.write_text(json.dumps(found), encoding="utf-8")

        name = f"{package.assignment.name}.{question}"
        if name not in self.read:
            text = once(self.factory, name, make).read_text(encoding="utf-8")
            self.read[name] = [tuple(verdict) for verdict in json.loads(text)]
        return self.read[name]
