"""Names are tested by mutation: what gets a name does what the name says.

    python -m benchmarks.proven_names [--share N] [--seed N] [ASSIGNMENT ...]

Checks name known mistakes. Here each known mistake and right answer is changed a
little. A changed one that loses points and gets a name must give what the named mistake
gives, alone or with a second one, on the hidden checks' inputs; otherwise the name is
wrong, and is printed. One that gets the name of what was changed may have a second
mistake: then it suffices that one hidden check fails for it and gives what the named
mistake gives.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import pickle
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from autograder import registry
from autograder.checks import fingerprints
from autograder.checks.catalog import Catalog
from autograder.checks.entries import Mistake, Style
from autograder.checks.fingerprints import noted
from autograder.checks.hunt import Hunt
from autograder.checks.isolation import isolated
from autograder.checks.isolation import seed as seed_all
from autograder.checks.outcomes import close_to
from autograder.checks.question import failure_of
from autograder.code_questions.line_mutants import changes
from autograder.course import Course
from autograder.libraries import is_tensor
from autograder.notebook.time_limit import at_most
from autograder.release.mistakes import two_at_once
from autograder.tools.judging import judge
from autograder.tools.mutants import SECONDS

SEEDS = (11, 12)  # of the fresh inputs
DRAWN = {"sample"}  # questions whose results are random


@dataclass
class Count:
    """What became of the changed answers of one or more questions."""

    tried: int = 0
    named: int = 0
    untrue: list[str] = field(default_factory=list)


def given(package: ModuleType, question: str, answer: Any) -> list:
    """What an answer gives on fresh inputs: what each hidden check notes of it."""
    half, found = getattr(package.hidden, question), list[Any]()
    for number in SEEDS:
        seed_all(number)
        rng = np.random.default_rng(number)
        if isinstance(half, Hunt):
            tried = half.game.tried(answer)  # all that its names speak of
            found.append([tried[id].outcome for id in sorted(tried)])
            continue
        for _, check in half.checks:
            # the values themselves, since fingerprints of other dtypes are others
            with (
                isolated(),
                noted() as notes,
                patch.object(fingerprints, "rounded", kept),
            ):
                failure = failure_of(check, answer, rng)
            # names speak of one part of a figure, and notes describe all of it;
            # what is drawn is other for each way to draw
            if question.startswith("plot_"):
                found.append([failure.seen if failure else ""])
            elif question in DRAWN:
                found.append([failure is not None])
            else:
                found.append([failure.kind if failure else "", *notes])
    return found


def confirmed(mine: list, named: list) -> bool:
    """One of the checks fails for both answers alike, or none does for either."""
    if close_to(mine, named):  # where visible checks alone notice the mistake
        return True
    pairs = zip(mine, named, strict=True)
    return any(
        one[:1] not in ([""], [False]) and close_to(one, two) for one, two in pairs
    )


def kept(value: Any) -> Any:
    """A copy of a result, since some answers change later what they have returned."""
    if is_tensor(value):
        return value.detach().clone()
    if isinstance(value, list | tuple):
        return [kept(part) for part in value]
    if isinstance(value, dict):
        return {key: kept(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy()
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return value
    return type(value).__name__  # of an object, as a cache or a module


def apart(work: Callable[[], Any]) -> Any:
    """The result of a function in a process of its own; None where the process ends.

    Some of torch's kernels do not compare the lengths of keys and values, so a
    changed answer may write where it should not.
    """
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def send() -> None:
        theirs.send_bytes(pickle.dumps(work()))

    child = multiprocessing.get_context("fork").Process(target=send)
    child.start()
    theirs.close()  # so that reading ends with the child
    try:
        return pickle.loads(ours.recv_bytes())
    except EOFError:
        return None
    finally:
        child.join()
        ours.close()


class Names:
    """The names that changed answers to the questions of an assignment get."""

    def __init__(self, package: ModuleType) -> None:
        self.package = package
        self.catalog: Catalog = package.assignment.catalog
        self.fresh: dict[str, list[list]] = {}  # of each mistake, by id

    def of(self, id: str, question: str) -> list[list]:
        """What a named mistake gives on fresh inputs, in each way to make it."""
        if id not in self.fresh:
            ways = [m for m in self.catalog.every(question) if m.id == id]
            self.fresh[id] = [
                given(self.package, question, self.catalog.answer(way)) for way in ways
            ]
        return self.fresh[id]

    def of_two(self, id: str, question: str) -> Iterator[list]:
        """What a named mistake gives on fresh inputs together with each other one."""
        reference = self.catalog.references[question]
        named = self.package.assignment.table["questions"][question]["mistakes"]
        every = self.catalog.every(question)
        entries = [each for each in every if each.id in named.values()]
        for one, other, code in two_at_once(reference.code, entries):
            if id in (one.id, other.id):
                found = None
                # not every two run; the clock stops before others get the result
                with contextlib.suppress(Exception), at_most(SECONDS):
                    answer = self.catalog.answer(replace(reference, code=code))
                    found = given(self.package, question, answer)
                if found is not None:
                    yield found

    def changed(self, question: str) -> Iterator[tuple[Mistake | Style, str, str]]:
        """Each entry with a change to it: the entry, the change, the code."""
        seen = set()
        entries: list[Mistake | Style] = [*self.catalog.every(question)]
        for entry in [*entries, *self.catalog.right(question)]:
            for change in changes(entry.code):
                if change.source not in seen:
                    seen.add(change.source)
                    yield entry, f"{change.old} -> {change.new}", change.source

    def judged(self, entry: Mistake | Style, code: str) -> tuple[str | None, bool]:
        """The id that a changed answer gets, and whether fresh inputs refute it."""
        found = apart(lambda: self.named(entry, code))
        if found is None:
            return None, False
        id, mine = found
        agree = confirmed if id == entry.id else close_to
        named = self.of(id, entry.question)
        true = any(agree(mine, one) for one in named)
        two = () if true else self.of_two(id, entry.question)
        return id, not (true or any(confirmed(mine, one) for one in two))

    def named(self, entry: Mistake | Style, code: str) -> tuple[str, list] | None:
        """The id that a changed answer gets, and what it gives on fresh inputs."""
        question, names = entry.question, dict(self.catalog.prelude_names)
        quiet = contextlib.redirect_stdout(io.StringIO())
        try:
            with at_most(SECONDS), quiet, np.errstate(all="ignore"):
                exec(compile(code, f"<{entry.id}>", "exec", dont_inherit=True), names)
                _, _, id = judge(self.package, question, names[question])
            if id is None:
                return None
            with at_most(SECONDS), quiet, np.errstate(all="ignore"):
                # again, since a class may remember what the judge gave it
                exec(compile(code, f"<{entry.id}>", "exec", dont_inherit=True), names)
                return id, given(self.package, question, names[question])
        except Exception:  # it is no answer at all, or never ends
            return None

    def count(self, question: str, share: int, rng: random.Random) -> Count:
        """Try one in ``share`` of the changed answers to a question."""
        found = Count()
        for entry, change, code in list(self.changed(question)):
            if rng.randrange(share):
                continue
            found.tried += 1
            id, refuted = self.judged(entry, code)
            found.named += id is not None
            if refuted:
                found.untrue.append(f"{entry.id}: {change}\n    gets the name {id}")
        return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    options.add_argument("--share", type=int, default=1, help="one in N changes")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--question", default="", help="one question alone")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rng, total, untrue = random.Random(given.seed), 0, 0
    for assignment in Course.find().chosen(given.assignments):
        package = registry.checks_of(assignment.notebook)
        names = Names(package)
        for question in names.catalog.entries:
            if given.question in ("", question):
                found = names.count(question, given.share, rng)
                total, untrue = total + found.tried, untrue + len(found.untrue)
                print(
                    f"{assignment.name} {question}: {found.tried} changed, "
                    f"{found.named} named, {len(found.untrue)} untrue",
                    flush=True,
                )
                for line in found.untrue:
                    print(f"  {line}", flush=True)
    print(f"{total} changed answers, {untrue} untrue names")
    return int(untrue > 0)


if __name__ == "__main__":
    sys.exit(main())
