"""A data set of the catalogs: wrong answers, each one executed, as JSON Lines.

A row has a task, an answer, what is wrong with it, and what the visible checks say.
Left out are right answers, hidden checks, and the mistakes that students' own checks
hunt.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

from autograder.checks.question import failure_of
from autograder.course import Course
from autograder.files import write_whole
from autograder.tools.judging import catalog_of, packages
from benchmarks.outside import answers

OURS, OTHERS = "authors", "outsider"
FIELDS = {
    "id": "a name of the row",
    "assignment": "the assignment",
    "question": "the function or class that is asked for",
    "statement": "the task, as students read it",
    "code": "the wrong answer",
    "diagnosis": "what is wrong, in a sentence",
    "mistake": "the id of the mistake; rows with the same id make the same mistake",
    "kind": "what the visible checks notice first: shape, value, …; empty if nothing",
    "visible": "what the first visible check that fails says; empty if all pass",
    "source": "authors: invented by the course's authors; outsider: by somebody who "
    "knew the tasks and had seen neither checks nor catalog",
}


def rows(package: ModuleType, exercises: Path) -> Iterator[dict[str, str]]:
    """The wrong answers to one assignment. Each one is executed."""
    catalog, assignment = catalog_of(package), package.assignment
    notebook = assignment.name
    (released,) = exercises.glob(f"*/{notebook}.ipynb")
    tasks = statements(released)
    hunted = {entry.id for entry in catalog.misconceptions if entry.planted}
    every = [
        (one, one.id, one.diagnosis, OURS)
        for one in catalog.misconceptions + catalog.variants
    ] + [
        (one, one.name, one.says, OTHERS)
        for one in answers(released.parent.name)
        if one.wrong and not one.passes and "author" not in one.who
    ]
    count: Counter[str] = Counter()
    for entry, mistake, diagnosis, source in every:
        if hunted & {entry.id, mistake}:
            continue
        count[entry.id] += 1
        kind, visible = noticed(package, entry.question, entry.code)
        yield {
            "id": f"{released.parent.name}/{entry.id}/{count[entry.id]}",
            "assignment": released.parent.name,
            "question": entry.question,
            "statement": tasks[entry.question],
            "code": entry.code,
            "diagnosis": diagnosis,
            "mistake": mistake,
            "kind": kind,
            "visible": visible,
            "source": source,
        }


def statements(notebook: Path) -> dict[str, str]:
    """By answer: the text above it in the students' notebook."""
    found, text = {}, ""
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        role = cell["metadata"].get("nbgrader", {})
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
        elif role.get("solution"):
            found[role["grade_id"]] = text
    return found


def noticed(package: ModuleType, question: str, code: str) -> tuple[str, str]:
    """The kind of the first visible failure, and what it says; empty when all pass."""
    catalog = catalog_of(package)
    names = dict(catalog.prelude_names)
    for other, right in catalog.references.items():
        if other != question and other not in names:
            exec(compile(right.code, f"<{other}>", "exec", dont_inherit=True), names)
    exec(compile(code, "<answer>", "exec", dont_inherit=True), names)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        for check in package.assignment.questions[question].checks:
            if failure := failure_of(check, names[question]):
                return failure.kind, failure.seen
    return "", ""


def pieces(code: str) -> Counter[str]:
    """How often each run of four characters stands in the code, spaces left out."""
    text = "".join(code.split())
    return Counter(text[at : at + 4] for at in range(len(text) - 3))


def baseline(data: list[dict[str, str]]) -> tuple[int, int]:
    """Diagnose without a model: the mistake of the authors' most similar text.

    Returns how many of the outsider's answers get their mistake, and of how many.
    """
    known = [(row, pieces(row["code"])) for row in data if row["source"] == OURS]
    asked = [row for row in data if row["source"] == OTHERS and row["mistake"]]
    right = 0
    for row in asked:
        mine = pieces(row["code"])
        alike = {
            other["mistake"]: (mine & theirs).total() / (mine | theirs).total()
            for other, theirs in known
            if other["question"] == row["question"]
        }
        right += max(alike, key=lambda mistake: alike[mistake]) == row["mistake"]
    return right, len(asked)


def main() -> int:
    """Write the data set into a folder; with --baseline, try the simplest diagnosis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--baseline", action="store_true")
    options = parser.parse_args()
    exercises = Course.find().exercises
    data = [row for package in packages() for row in rows(package, exercises)]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in data]
    options.folder.mkdir(parents=True, exist_ok=True)
    write_whole(options.folder / "answers.jsonl", "".join(lines).encode())
    print(f"{len(data)} wrong answers, in {options.folder}/answers.jsonl")
    if options.baseline:
        right, asked = baseline(data)
        print(
            f"The most similar answer makes the same mistake in {right} of {asked} "
            "cases."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
