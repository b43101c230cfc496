"""The catalog of misconceptions: wrong answers that people really give, as code.

It stays on the instructor's side. It names a mistake in feedback, it tests the tests,
and it counts for the instructor's report.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from autograder.checks.assignment import Assignment
from autograder.checks.failures import Misconception
from autograder.checks.outcomes import alike
from autograder.checks.planted import Verdict, verdicts
from autograder.checks.question import Question
from autograder.checks.surroundings import settled

# why a mistake may pass all visible checks
LARGE = "the card warns of large numbers; trying them is left to the student"
BATCHES = "the card says that any batch works; trying one is left to the student"

NOTHING = (
    "Nothing is returned: the word `return` is missing before the result, which "
    "printing does not hand over."
)


@dataclass(frozen=True)
class Mistake(Misconception):
    """A misconception as code that defines the name of its question.

    ``unseen`` is the reason why it may pass all visible checks, if it does. Checks that
    students write are tried on it where it is ``planted``.
    """

    code: str
    unseen: str = ""
    planted: bool = True


@dataclass(frozen=True)
class Style:
    """One more right answer, written differently; it must earn all points."""

    id: str
    question: str
    code: str


class Catalog:
    """The misconceptions and correct styles of one assignment.

    ``prelude`` is code that every entry may use: the notebook's imports, and the
    functions that earlier questions ask for.
    """

    def __init__(self, assignment: Assignment, prelude: str) -> None:
        self.assignment, self.prelude = assignment, prelude
        self.misconceptions: list[Mistake] = []
        self.variants: list[Mistake] = []  # other ways to make one, by the same id
        self.styles: list[Style] = []
        self.references: dict[str, Style] = {}
        self.differences: dict[str, str] = {}
        self.equivalents: dict[tuple[str, str], str] = {}
        self._probes: dict[str, Callable[[Any], list]] = {}
        self._planted: dict[str, list[tuple[Style | Mistake, Any]]] = {}
        self._known: dict[str, list[tuple[Mistake, list]]] = {}
        assignment.known = self

    def about(self, question: Question, reference: str) -> About:
        """Start the entries about a question with a right answer to it."""
        about = About(self, question, reference)
        self.references[question.name] = Style(
            f"{question.name}-reference", question.name, about.reference
        )
        return about

    @cached_property
    def prelude_names(self) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compiled(self.prelude, "<prelude>"), names)
        return names

    def answer(self, entry: Mistake | Style) -> Any:
        """The object that the entry's code defines under its question's name."""
        names = dict(self.prelude_names)
        exec(compiled(entry.code, f"<{entry.id}>"), names)
        return names[entry.question]

    def of(self, question: str) -> list[Mistake]:
        """The misconceptions about one question."""
        return [m for m in self.misconceptions if m.question == question]

    def every(self, question: str) -> list[Mistake]:
        """The misconceptions about one question, in all ways to make them."""
        return [
            *self.of(question),
            *(m for m in self.variants if m.question == question),
        ]

    def hunted(self, subject: str) -> list[Mistake]:
        """The misconceptions that a student's own check about ``subject`` meets."""
        return [entry for entry in self.of(subject) if entry.planted]

    def diagnose(self, question: str, answer: Any) -> Misconception | None:
        """The misconception whose outcomes are those of ``answer``, if any."""
        if question not in self._probes:
            return None
        try:
            with settled():
                outcomes = self._probes[question](answer)
        except Exception:  # the answer's own, and its points are decided already
            return None
        return self.named(question, outcomes)

    def named(self, question: str, outcomes: list) -> Misconception | None:
        """The misconception with these outcomes, if there is one."""
        for entry, known in self.known(question):
            if alike(outcomes, known):
                return entry
        return None

    def known(self, question: str) -> list[tuple[Mistake, list]]:
        """The misconceptions about one question with their outcomes, found once."""
        if question not in self._known:
            probe = self._probes[question]
            with settled():
                self._known[question] = [
                    (entry, probe(self.answer(entry))) for entry in self.every(question)
                ]
        return self._known[question]

    def right(self, question: str) -> list[Style]:
        """The right answers to one question."""
        styles = [style for style in self.styles if style.question == question]
        return [self.references[question], *styles]

    def differ(self, sentences: dict[str, str]) -> None:
        """What students who passed read about styles, by id: one sentence each."""
        if unknown := sentences.keys() - {style.id for style in self.styles}:
            raise ValueError(f"no such styles: {', '.join(sorted(unknown))}")
        self.differences |= sentences

    def ways(self, question: str) -> list[tuple[str, str]]:
        """The right answers that have a sentence: their code, and the sentence."""
        return [
            (style.code, self.differences[style.id])
            for style in self.styles
            if style.question == question and style.id in self.differences
        ]

    def tried(
        self, check: Any, subject: str, rng: np.random.Generator
    ) -> dict[str, Verdict]:
        """What a student's own check says of each entry about ``subject``, by id.

        They are planted in random order, a few wrong ones first: what a check is tried
        on at the beginning tells it nothing of what is right.
        """
        if subject not in self._planted:
            entries = [*self.right(subject), *self.hunted(subject)]
            self._planted[subject] = [(each, self.answer(each)) for each in entries]
        planted = self._planted[subject]
        order = [int(i) for i in rng.permutation(len(planted))]
        wrong = [i for i in order if isinstance(planted[i][0], Mistake)]
        first = wrong[: rng.integers(5)]
        order = [*first, *(i for i in order if i not in first)]
        said = verdicts(check, [planted[i][1] for i in order], subject)
        found = {planted[i][0].id: one for i, one in zip(order, said, strict=True)}
        return {entry.id: found[entry.id] for entry, _ in planted}

    def prepare(self) -> None:
        """Find all outcomes and rehearse the checks: forks then need not do it.

        Oracles may import a great deal when they are first used.
        """
        for question in self._probes:
            self.known(question)
        hidden = self.assignment.load("hidden")
        for name, reference in self.references.items():
            # what is wrong with a check is told when it is asked in earnest
            silent = contextlib.redirect_stdout(io.StringIO())
            with silent, contextlib.suppress(Exception):
                self.assignment.questions[name](self.answer(reference))
                getattr(hidden, name)(self.answer(reference), seed=0)


class About:
    """What the catalog holds about one question; each method adds an entry.

    An indented ``code`` is the body of a function: it stands below the first line of
    the reference.
    """

    def __init__(self, catalog: Catalog, question: Question, reference: str) -> None:
        self.catalog, self.question = catalog, question
        self.reference = reference.lstrip("\n")

    def wrong(
        self,
        name: str,
        diagnosis: str,
        code: str,
        *,
        unseen: str = "",
        planted: bool = True,
    ) -> None:
        """A wrong answer; ``diagnosis`` is the sentence that students read."""
        question = self.question
        told = self._id(name), question.name, diagnosis, question.read
        entry = Mistake(*told, self._whole(code), unseen, planted)
        self.catalog.misconceptions.append(entry)

    def edit(
        self,
        name: str,
        diagnosis: str,
        *edits: tuple[str, str],
        unseen: str = "",
        planted: bool = True,
    ) -> None:
        """A wrong answer that is the reference, :meth:`edited`."""
        code = self.edited(*edits)
        self.wrong(name, diagnosis, code, unseen=unseen, planted=planted)

    def also(self, name: str, code: str, *, unseen: str = "") -> None:
        """Another way to make the mistake ``name``, which has other outcomes.

        Raises ValueError where that mistake is unknown.
        """
        id = self._id(name)
        entry = next((m for m in self.catalog.misconceptions if m.id == id), None)
        if entry is None:
            raise ValueError(f"another way to make {id}, which is no mistake yet")
        other = replace(entry, code=self._whole(code), unseen=unseen, planted=False)
        self.catalog.variants.append(other)

    def edited(self, *edits: tuple[str, str]) -> str:
        """The reference with each ``(old, new)`` applied, one after the other.

        Raises ValueError unless each old text occurs exactly once.
        """
        code = self.reference
        for old, new in edits:
            if (hits := code.count(old)) != 1:
                name = self.question.name
                raise ValueError(f"an edit of {name}: {old!r} occurs {hits} times")
            code = code.replace(old, new)
        return code

    def nothing(self) -> None:
        """The reference without its last ``return``; no check has to hunt that."""
        before, _, value = self.reference.rpartition("return ")
        self.wrong("nothing", NOTHING, f"{before}result = {value}", planted=False)

    def right(self, name: str, code: str) -> None:
        """A right answer in another style."""
        style = Style(self._id(name), self.question.name, self._whole(code))
        self.catalog.styles.append(style)

    def equivalent(self, reason: str, *changes: str) -> None:
        """Mutants of the solution, "old line -> new line", that are no errors."""
        for change in changes:
            self.catalog.equivalents[self.question.name, change] = reason

    def probe(self, function: Callable[[Any], list]) -> Callable[[Any], list]:
        """Register what tells answers apart; a decorator.

        The function gets an answer and returns a list of outcomes, by :func:`outcome`.
        """
        self.catalog._probes[self.question.name] = function
        return function

    def hunts(self, subject: Question) -> None:
        """Tell checks that students write apart by their verdicts on ``subject``."""

        def said(answer: Any) -> list[str]:
            rng = np.random.default_rng(0)
            tried = self.catalog.tried(answer, subject.name, rng)
            return [verdict.outcome for verdict in tried.values()]

        self.probe(said)

    def _id(self, name: str) -> str:
        return f"{self.question.name}-{name}"

    def _whole(self, code: str) -> str:
        code = code.lstrip("\n")
        if not code.startswith(" "):
            return code
        return f"{self.reference.splitlines()[0]}\n{code}"


def compiled(code: str, name: str) -> Any:
    """Code as a student would run it: without the ``__future__`` of this file."""
    return compile(code, name, "exec", dont_inherit=True)
