"""Classes of students to measure with: right work, and what else they hand in."""

from __future__ import annotations

import json
import os
import platform
import random
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder import registry
from autograder.course import CONFIG, Assignment, Course
from autograder.release.sample_class import answers, reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.tools.judging import catalog_of

ROOT = Path(__file__).resolve().parents[1]

# Of 300 students. Two fifths are right, and two fifths have mistakes: rather one than
# several. The others stopped early and handed in what was there. What ends a cell, or
# never ends, is rare: whoever ran the notebook before handing it in has seen it.
SHARES = {
    "right": 120,
    "one mistake": 80,
    "several mistakes": 40,
    "unfinished": 47,
    "exception": 10,
    "too much output": 2,
    "endless loop": 1,
}
CHECKS = re.compile(r"autograder\.checks import (\w+)")
LOOP = "\n\ndef {0}(*args, **kwargs):\n    while True:\n        pass\n"
PRINTS = "for _ in range(200):\n    print('x' * 100_000)\n"


def answered(notebook: dict, others: dict[str, str]) -> str:
    """The notebook with other answers, by question."""
    cells = [
        cell | {"source": others.get(name_of(cell), cell["source"])}
        if cell["cell_type"] == "code"
        else cell
        for cell in notebook["cells"]
    ]
    return json.dumps(notebook | {"cells": cells})


def name_of(cell: dict) -> str:
    """The name of the question that a cell answers."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def kinds(course: Course, assignment: Assignment) -> dict[str, list[str]]:
    """Notebooks of each kind; there is one with each mistake of the catalog."""
    given = json.loads(notebook_text(students_notebook(course, assignment)))
    own = reference_answers(assignment)
    right = json.loads(solved(given, own))
    checks = CHECKS.search(json.dumps(right))
    assert checks, f"{assignment.name} has no checks"
    catalog = catalog_of(registry.checks_of(checks[1]))
    names = [name for name in catalog.assignment.questions if catalog.of(name)]
    stubs = {name_of(cell): cell["source"] for cell in given["cells"]}
    first, second = names[:2]
    several = [catalog.of(name)[0] for name in names[:3]]
    return {
        "right": [answered(right, {})],
        "one mistake": [
            answered(right, answers(catalog, [entry]))
            for name in names
            for entry in catalog.of(name)
        ],
        "several mistakes": [answered(right, answers(catalog, several))],
        "unfinished": [
            answered(right, {name: stubs[name] for name in names[start:]})
            for start in range(1, len(names))
        ],
        "exception": [answered(right, {second: f"1 / 0\n{own[second]}"})],
        "too much output": [answered(right, {first: PRINTS + own[first]})],
        "endless loop": [answered(right, {first: own[first] + LOOP.format(first)})],
    }


def mixed(found: dict[str, list[str]], size: int) -> Iterator[str]:
    """So many of these in those shares, in an order that is the same each time."""
    rng, whole = random.Random(0), sum(SHARES.values())
    names = [
        kind
        for kind, share in SHARES.items()
        if kind in found
        for _ in range(round(size * share / whole))
    ]
    names += ["right"] * (size - len(names))
    rng.shuffle(names)
    for kind in names[:size]:
        yield rng.choice(found[kind])


def classroom(folder: Path, assignment: Assignment, texts: Iterable[str]) -> Path:
    """A course with these submissions; each has bytes of its own."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / CONFIG, folder)
    shutil.copytree(assignment.source.parent, folder / "solutions" / assignment.name)
    for number, text in enumerate(texts):
        home = folder / "submitted" / f"student-{number:05}" / assignment.name
        home.mkdir(parents=True)
        mine = text.replace("your answer", f"your answer {number}")
        notebook = json.loads(mine)
        notebook["cells"].append(
            {
                "cell_type": "markdown",
                "id": "signature",
                "metadata": {},
                "source": f"submission {number}",
            }
        )
        (home / assignment.source.name).write_text(json.dumps(notebook))
    return folder


def machine() -> str:
    """What this was measured on."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}"
