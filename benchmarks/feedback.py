"""What messages say of wrong answers: a name, a reason, a relation, or only values.

    python -m benchmarks.feedback [--every N] [--unnamed] [--list] [ASSIGNMENT ...]

Three sets: answers of outsiders, catalogs, and two catalogued mistakes at once.
``--unnamed`` takes all names away, as if nobody had met these mistakes; ``--list``
prints the message for each answer. Right answers of outsiders are counted as well.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any
from unittest.mock import patch

from autograder.checks.failures import CheckFailed
from autograder.checks.isolation import seed as seed_all
from autograder.checks.question import Question
from autograder.notebook.time_limit import at_most
from autograder.release.mistakes import two_at_once
from autograder.tools.judging import quiet
from autograder.tools.mutants import SECONDS
from benchmarks.outside import answers, titles

TOLD = ["name", "reason", "relation", "type", "besides", "values"]
KINDS = [*TOLD, "hidden", "all points"]


def told(package: ModuleType, question: str, answer: Any) -> tuple[str, str]:
    """The kind of message that an answer gets, and its text."""
    asked: Question = package.assignment.questions[question]
    related: list[str] = []
    relate = asked.relate

    def kept(*given: Any) -> str:
        related.append(relate(*given))
        return related[-1]

    seed_all(0)
    try:
        with patch.object(asked, "relate", kept), quiet():
            asked(answer)
            score = getattr(package.hidden, question)(answer, 0)
    except CheckFailed as failure:
        found = {
            "name": failure.misconception,
            "relation": any(related),
            "reason": failure.reason,
            "type": failure.kind != "value",
            "besides": failure.others,
        }
        kind = next((kind for kind, holds in found.items() if holds), "values")
        return kind, str(failure)
    if score == asked.points:
        return "all points", ""
    return "name" if score.misconception else "hidden", score.message or ""


def all_answers(package: ModuleType, name: str) -> Iterator[tuple[str, str, str, str]]:
    """The set, the question, the id and the code of each answer."""
    catalog = package.assignment.catalog
    for one in answers(name):
        if not one.passes:
            kind = "outsiders" if one.wrong else "right ones"
            yield kind, one.question, one.id, one.code
    for question, entries in catalog.entries.items():
        for entry in catalog.every(question):
            yield "catalogs", question, entry.id, entry.code
        if not entries.hunts and not question.startswith("plot_"):
            every = catalog.of(question)
            for one, other, code in two_at_once(entries.reference.code, every):
                yield "pairs", question, f"{one.id} and {other.id}", code


def defined(package: ModuleType, question: str, code: str) -> Any:
    """The answer, in a notebook whose other answers are right."""
    catalog = package.assignment.catalog
    names = dict(catalog.prelude_names)
    names |= vars(getattr(package, "shown", None) or object)  # what cards define
    for other, reference in catalog.references.items():
        if other not in {question, *names} and not other.startswith("check_"):
            exec(compile(reference.code, other, "exec", dont_inherit=True), names)
    exec(compile(code, "<cell 1>", "exec", dont_inherit=True), names)
    return names[question]


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    options.add_argument("--every", type=int, default=4, help="one answer in N")
    options.add_argument("--unnamed", action="store_true")
    options.add_argument("--list", action="store_true")
    options.add_argument("--set", default="", help="one of the sets alone")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name in given.assignments or titles():
        package = titles()[name]
        if given.unnamed:
            for question in package.assignment.questions.values():
                question.recognize = question.diagnose = lambda *_: None
        for number, (kind, question, id, code) in enumerate(all_answers(package, name)):
            if number % given.every or given.set not in ("", kind):
                continue
            said = "values", ""
            with suppress(TimeoutError), at_most(SECONDS):
                said = told(package, question, defined(package, question, code))
            counts[kind][said[0]] += 1
            if given.list:
                print(name, kind, id, *said, sep="\t", flush=True)
    for kind, count in counts.items():
        shares = (f"{each} {count[each]}" for each in KINDS if count[each])
        print(f"{kind}, {count.total()}: {', '.join(shares)}")


if __name__ == "__main__":
    main()
