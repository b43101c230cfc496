"""Answers by people who had read neither checks nor catalogs, as JSON Lines.

``tests/outside/NN-name.jsonl`` has an answer in each line. ``python -m
benchmarks.outside`` counts them; with an assignment it lists its answers, and with an
id after it prints them as Python, with what is known of each in comments. ``--add
FILE`` reads such Python and appends the answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from types import ModuleType

from autograder.checks.entries import Broken, parsed
from autograder.errors import CourseError
from autograder.tools.judging import packages

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "outside"


@dataclass(frozen=True)
class Answer:
    """What somebody answered to a question: a line of a file.

    ``round`` counts the times that people were asked, ``seen`` is what they knew, and
    ``says`` their own sentence. ``name`` is the catalogued mistake that somebody else
    found in a wrong answer by comparing both sentences; where ``passes`` is not empty,
    it says why an answer that its writer called wrong earns all points.
    """

    round: int
    who: str
    seen: str
    written: str
    question: str
    id: str
    verdict: str
    says: str
    name: str
    passes: str
    code: str

    @property
    def wrong(self) -> bool:
        """Whether its writer called it wrong."""
        return self.verdict == "wrong"


KEYS = [field.name for field in fields(Answer)]


@cache
def titles() -> dict[str, ModuleType]:
    """The packages of checks by the folders of their assignments."""
    found = {package.assignment.name: package for package in packages()}
    notebooks = sorted((ROOT / "solutions").glob("*/*.ipynb"))
    return {p.parent.name: found[p.stem] for p in notebooks if p.stem in found}


def answers(assignment: str, folder: Path = FOLDER) -> list[Answer]:
    """The answers to an assignment. Raises CourseError for a line that does not fit."""
    path = folder / f"{assignment}.jsonl"
    found: list[Answer] = []
    broken: list[str] = []
    if not path.exists():  # a new assignment
        return found
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                found.append(answer_of(assignment, json.loads(line), found))
            except (json.JSONDecodeError, Broken) as error:
                broken.append(f"{path.name}, line {number}: {error}")
    if broken:
        raise CourseError("\n".join(broken))
    return found


def answer_of(assignment: str, row: object, others: list[Answer]) -> Answer:
    """The answer in a line. Raises Broken for what does not fit."""
    if not isinstance(row, dict) or list(row) != KEYS:
        raise Broken(f"an answer has the keys {', '.join(KEYS)}, in this order")
    found = Answer(**row)
    for key in KEYS:
        kind = int if key == "round" else str
        if not isinstance(row[key], kind):
            raise Broken(f"{found.id}: `{key}` is no {kind.__name__}")
    if found.question not in titles()[assignment].assignment.questions:
        raise Broken(f"{found.id}: {assignment} has no question {found.question}")
    if found.verdict not in ("wrong", "right") or (found.wrong and not found.says):
        raise Broken(f"{found.id} is right, or it is wrong and `says` what is wrong")
    if any((found.round, found.id) == (one.round, one.id) for one in others):
        raise Broken(f"{found.id}: round {found.round} has two answers of this id")
    try:
        parsed(found.code, found.question)
    except Broken as error:
        raise Broken(f"{found.id}: {error}") from None
    return found


def python(answer: Answer) -> str:
    """The answer as Python: a comment for each key, and its code."""
    known = asdict(answer)
    code = known.pop("code")
    return "".join(f"# {key}: {value}\n" for key, value in known.items()) + "\n" + code


def add(assignment: str, text: str, folder: Path = FOLDER) -> Answer:
    """Append the answer that such Python describes."""
    head, _, code = text.partition("\n\n")
    said = dict(line[2:].partition(":")[::2] for line in head.splitlines())
    row: dict[str, object] = {key: said.get(key, "").strip() for key in KEYS}
    number = str(row["round"])
    row |= {"round": int(number) if number.isdecimal() else number, "code": code}
    try:
        found = answer_of(assignment, row, answers(assignment, folder))
    except Broken as error:
        raise CourseError(f"Not added: {error}") from None
    with (folder / f"{assignment}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return found


def main(given: list[str] | None = None) -> int:
    """Count, list, print or add."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignment", nargs="?", choices=sorted(titles()))
    parser.add_argument("id", nargs="?")
    parser.add_argument("--add", type=Path, metavar="FILE")
    options = parser.parse_args(given)
    try:
        work(options)
    except (CourseError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def work(options: argparse.Namespace) -> None:
    """What the options ask for."""
    if options.assignment is None:
        for assignment in titles():
            count = Counter(answer.verdict for answer in answers(assignment))
            print(f"{assignment}: {count['wrong']} wrong, {count['right']} right")
    elif options.add:
        added = add(options.assignment, options.add.read_text("utf-8"))
        print(f"Added {added.id} to {options.assignment}.")
    elif options.id:
        known = [a for a in answers(options.assignment) if a.id == options.id]
        print("\n\n".join(python(answer) for answer in known) or "No such answer.")
    else:
        for one in answers(options.assignment):
            print(one.round, one.verdict, one.id, one.name, sep="\t")


if __name__ == "__main__":
    sys.exit(main())
