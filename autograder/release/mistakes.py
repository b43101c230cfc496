"""Generator of ``known.json``, the table by which students' computers name mistakes.

It is made from the catalog of wrong answers: each one is run on the visible checks, and
hashes of what it gives are kept. The table is the same in every run, and is made only
when the checks or the catalog have changed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checks import known
from autograder.checks.catalog import Catalog
from autograder.checks.isolation import seed
from autograder.checks.puzzle import Redrawn
from autograder.checks.question import first_line
from autograder.files import write_whole
from autograder.release.plan import DOCUMENTED

SEEDS = (0, 1, 2)  # some mistakes do something else in every run
Notes = list[list[known.Note]]


def notes_of(package: ModuleType, question: str, answer: Any, number: int) -> Notes:
    """What each visible check and the probe note, with random numbers of that seed."""
    asked = package.assignment.questions[question]
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seed(number)
        notes = list(asked.trail(answer))
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")
    return notes


def by_chance(package: ModuleType, question: str) -> set[str]:
    """The places where a right answer, too, leaves other numbers in every run.

    The sentence of a check (note 1) tells such numbers when it fails.
    """
    catalog: Catalog = package.assignment.catalog
    right = catalog.answer(catalog.references[question])
    one, two = (notes_of(package, question, right, number) for number in SEEDS[:2])
    places = set()
    for check, pair in enumerate(zip(one, two, strict=True), 1):
        differ = {i for i, (a, b) in enumerate(zip(*pair, strict=True)) if a != b}
        places |= {f"{check}.{i}" for i in differ | ({1} if differ else set())}
    return places


def table_of(package: ModuleType, question: str) -> tuple[dict[str, Any], list[str]]:
    """The table of a question, and the mistakes that it cannot name.

    Those are what does not do the same in every run, and what does the same as another
    mistake.
    """
    catalog: Catalog = package.assignment.catalog
    chance = by_chance(package, question)
    leads: defaultdict[str, set[str]] = defaultdict(set)  # to which mistakes
    found, unnamed = [], []
    for entry in catalog.every(question):
        left = []
        for number in SEEDS:
            notes = notes_of(package, question, catalog.answer(entry), number)
            probe = known.by_probe(len(notes), notes[-1], chance)
            for key in probe:
                leads[key].add(entry.id)
            failing = (i for i, one in enumerate(notes[:-1]) if one[0][0] != "holds")
            if (first := next(failing, None)) is not None:
                trail = known.fingerprints(first + 1, notes[first:], chance)
                left.append({*trail, *probe})
        for key in {key for keys in left for key in keys}:
            leads[key].add(entry.id)
        always = set.intersection(*left) if len(left) == len(SEEDS) else set()
        if always:
            found.append((entry.id, sorted(always)))
        elif left:
            unnamed.append(entry.id)
    alone = {key: id for id, keys in found for key in keys if len(leads[key]) == 1}
    unnamed += [id for id, _ in found if id not in alone.values()]
    return {"chance": sorted(chance), "mistakes": dict(sorted(alone.items()))}, unnamed


def promised(package: ModuleType, question: str) -> dict[str, list[str]]:
    """The sentences of its hidden checks; none where these repeat the visible ones."""
    half = getattr(package.hidden, question)
    again = isinstance(half, Redrawn)
    found = [] if again else [first_line(check) for _, check in half.checks]
    return {"hidden": found} if found else {}


def made(package: ModuleType) -> tuple[dict[str, Any], list[str]]:
    """The table of an assignment, and the mistakes that it cannot name."""
    catalog: Catalog = package.assignment.catalog
    halves = {
        name: {"half": catalog.half(name).packed()}
        for name, entries in catalog.entries.items()
        if entries.hunts
    }
    # visible checks play with the halves of now
    package.assignment.table = {"questions": halves, "sentences": {}}
    questions, unnamed = {}, []
    for question in catalog.entries:
        found, missing = table_of(package, question)
        questions[question] = (
            found | halves.get(question, {}) | promised(package, question)
        )
        unnamed += missing
    named = {id for each in questions.values() for id in each["mistakes"].values()}
    sentences = {
        entry.id: [entry.diagnosis, entry.read]
        for entry in catalog.misconceptions
        if entry.id in named
    }
    table = {"made_from": key(package), "questions": questions, "sentences": sentences}
    package.assignment.table = table
    return table, unnamed


# what else the notes of an answer depend on: the sentence of a wrong type is one
SHARED = (
    *("shared.toml", "known.py", "outcomes.py"),
    *("expect.py", "crossing.py", "puzzle.py", "figures.py", "memory.py", "half.py"),
    *("planted.py", "../torch_support/modules.py", "../torch_support/values.py"),
)


def key(package: ModuleType) -> str:
    """A hash of what the table is made from; docstrings but promises are left out."""
    home: Path = package.assignment.folder
    shared = [Path(known.__file__).parent / name for name in SHARED]
    promises = [promised(package, name) for name in package.assignment.questions]
    digest = hashlib.sha256(repr(promises).encode())
    own = [*home.glob("visible/**/*.py"), *home.glob("hidden/catalog/*")]
    for path in [*sorted(own), *shared]:
        if path.suffix in (".py", ".toml"):
            code = path.suffix == ".py"
            data = undocumented(path).encode() if code else path.read_bytes()
            digest.update(f"{path.name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:16]


def undocumented(path: Path) -> str:
    """The text of a module without the lines of its docstrings."""
    text = path.read_text(encoding="utf-8")
    lines: list[str | None] = [*text.splitlines()]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [None] * (last - first + 1)
    return "\n".join(line for line in lines if line is not None)


def path_of(package: ModuleType) -> Path:
    """Where the table lies, beside the visible checks."""
    return package.assignment.visible / "known.json"


def text_of(table: dict[str, Any]) -> str:
    """The table as it is stored."""
    parts = []
    for part, rows in table.items():  # a line for each question
        text = json.dumps(rows, ensure_ascii=False)
        if part == "questions":
            lines = (f"{json.dumps(n)}: {json.dumps(rows[n])}" for n in rows)
            text = "{\n" + ",\n".join(lines) + "}"
        parts.append(f'"{part}": {text}')
    return "{" + ",\n".join(parts) + "}\n"


def write_known(package: ModuleType) -> list[str] | None:
    """Write the table if it is not fresh; then, the mistakes that it cannot name."""
    if package.assignment.catalog is None or not stale(package):
        return None
    table, unnamed = made(package)
    write_whole(path_of(package), text_of(table))
    return unnamed


def stale(package: ModuleType) -> bool:
    """Whether checks or catalog have changed since the table was made."""
    path = path_of(package)
    if not path.exists():
        return True
    return json.loads(path.read_text("utf-8")).get("made_from") != key(package)
