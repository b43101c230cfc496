"""Catalog of an assignment: known wrong and right answers to its questions, as code.

It names a mistake in feedback, it tests the checks, and it counts for the instructor's
report. It stays on the instructor's side; ``entries`` reads its files.
"""

from __future__ import annotations

import contextlib
import io
import operator
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks.entries import Entries, Mistake, Style, read
from autograder.checks.failures import Misconception
from autograder.checks.fingerprints import rounded, short
from autograder.checks.isolation import isolated
from autograder.checks.planted import ACCEPTS, REJECTS, Verdict, verdicts
from autograder.checks.visible_hunt import HuntFunctions
from autograder.errors import CourseError

if TYPE_CHECKING:
    from autograder.checks.assignment import Assignment


def catalog_of(assignment: Assignment) -> Catalog | None:
    """The catalog of an assignment; None where it has none.

    Raises CourseError, with file and line, for all that does not fit in its files.
    """
    folder = assignment.folder / "hidden" / "catalog"
    if not folder.is_dir():
        return None
    entries, broken = {}, []
    for path in sorted(folder.glob("*.toml")):
        question = assignment.questions.get(path.stem)
        if question is None:
            broken.append(f"{path}: {assignment.package} has no question of this name.")
            continue
        file = str(path.relative_to(assignment.folder.parent))
        try:
            found = read(path.read_text("utf-8"), path.stem, question.read, file)
        except CourseError as error:
            broken.append(str(error))
        else:
            entries[path.stem] = found
    if broken:
        raise CourseError("\n".join(broken))
    prelude = (folder / "prelude.py").read_text("utf-8")
    return Catalog(assignment, prelude, entries)


class Catalog:
    """The misconceptions and correct styles of one assignment.

    ``prelude`` is code that every entry may use: the notebook's imports, and the
    functions that earlier questions ask for.
    """

    def __init__(
        self, assignment: Assignment, prelude: str, entries: dict[str, Entries]
    ) -> None:
        self.assignment, self.prelude = assignment, prelude
        names = [name for name in assignment.questions if name in entries]
        self.entries = {name: entries[name] for name in names}
        self._planted: dict[str, dict[str, Any]] = {}
        self._easy: dict[str, set[str]] = {}
        self._known: dict[str, dict[str, dict[str, Mistake]]] = {}
        self._said: dict[str, list[tuple[Mistake, list]]] = defaultdict(list)

    @property
    def misconceptions(self) -> list[Mistake]:
        """All mistakes, each in one way to make it."""
        return [m for about in self.entries.values() for m in about.mistakes]

    @property
    def variants(self) -> list[Mistake]:
        """The other ways to make mistakes, by the same ids."""
        return [m for about in self.entries.values() for m in about.also]

    @property
    def styles(self) -> list[Style]:
        """Right answers beside the references."""
        return [s for about in self.entries.values() for s in about.styles]

    @property
    def references(self) -> dict[str, Style]:
        """A right answer to each question."""
        return {name: about.reference for name, about in self.entries.items()}

    @property
    def equivalents(self) -> dict[tuple[str, str], str]:
        """Why mutants of the solution are no errors, by question and change."""
        return {
            (name, change): why
            for name, about in self.entries.items()
            for change, why in about.equivalents.items()
        }

    @cached_property
    def prelude_names(self) -> dict[str, Any]:
        """What the prelude defines."""
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
        about = self.entries.get(question)
        return about.mistakes if about else []

    def every(self, question: str) -> list[Mistake]:
        """The misconceptions about one question, in all ways to make them."""
        return self.of(question) + self.entries[question].also

    def hunted(self, subject: str) -> list[Mistake]:
        """The misconceptions that a student's own check about ``subject`` meets."""
        return [entry for entry in self.of(subject) if entry.planted]

    def right(self, question: str) -> list[Style]:
        """The right answers to one question."""
        about = self.entries[question]
        return [about.reference, *about.styles]

    def ways(self, question: str) -> list[tuple[str, str]]:
        """The right answers that have a sentence: their code, and the sentence."""
        about = self.entries.get(question)
        styles = about.styles if about else []
        return [(style.code, style.differs) for style in styles if style.differs]

    def probe(self, question: str, answer: Any) -> list | None:
        """What an answer does on fixed inputs; None where nothing tells answers apart.

        For a check that a student writes: its verdicts on the mistakes it hunts.
        """
        if subject := self.entries[question].hunts:
            tried = self.tried(answer, subject, np.random.default_rng(0))
            return [verdict.outcome for verdict in tried.values()]
        return self.assignment.probe(question, answer)

    def diagnose(self, question: str, answer: Any) -> Misconception | None:
        """The misconception whose outcomes are those of ``answer``, if any."""
        if question not in self.entries:
            return None
        try:
            with isolated():
                outcomes = self.probe(question, answer)
        except Exception:  # the answer's own, and its points are decided already
            return None
        return None if outcomes is None else self.named(question, outcomes)

    def named(self, question: str, outcomes: list) -> Misconception | None:
        """The misconception with these outcomes; None where several have them."""
        known = self.known(question)
        for text in rounded(outcomes):
            if len(found := known.get(short(text), {})) == 1:
                return next(iter(found.values()))
        return self.between(question, outcomes)

    def between(self, question: str, outcomes: list) -> Misconception | None:
        """The mistake of a student's check that lies between two known ways to make it.

        Both say of right functions what the check says, and it says of each wrong one
        what one of them says. They have something in common: a right function that they
        do not accept, or a wrong one that they do. None where that is so of several
        mistakes.
        """
        if not (subject := self.entries[question].hunts):
            return None
        rights, found = len(self.right(subject)), dict[str, Mistake]()
        said = [x for x in self._said[question] if x[1][:rights] == outcomes[:rights]]
        for (one, first), (other, second) in combinations(said, 2):
            if one.id != other.id or not all(
                map(operator.contains, zip(first, second, strict=True), outcomes)
            ):
                continue
            misses = {*outcomes[:rights]} != {ACCEPTS} or (ACCEPTS, ACCEPTS) in zip(
                first[rights:], second[rights:], strict=True
            )
            if misses:
                found[one.id] = one
        return next(iter(found.values())) if len(found) == 1 else None

    def known(self, question: str) -> dict[str, dict[str, Mistake]]:
        """The mistakes of a question by the fingerprint of their outcomes; cached."""
        if question not in self._known:
            found: dict[str, dict[str, Mistake]] = defaultdict(dict)
            with isolated():
                for entry in self.every(question):
                    outcomes = self.probe(question, self.answer(entry))
                    if outcomes is None:
                        break
                    if self.entries[question].hunts:
                        self._said[question].append((entry, outcomes))
                    for text in rounded(outcomes):
                        found[short(text)][entry.id] = entry
            self._known[question] = dict(found)
        return self._known[question]

    def tried(
        self,
        check: Any,
        subject: str,
        rng: np.random.Generator,
        without: Collection[str] = (),
    ) -> dict[str, Verdict]:
        """What a student's own check says of entries about ``subject``, by id."""
        right, wrong = self.right(subject), self.hunted(subject)
        entries = [*right, *wrong]
        if subject not in self._planted:
            made = {entry.id: self.answer(entry) for entry in entries}
            self._planted[subject] = made
        planted = self._planted[subject]
        both = [
            [entry.id for entry in part if entry.id not in without]
            for part in (right, wrong)
        ]
        functions = [[planted[id] for id in part] for part in both]
        said = verdicts(check, *functions, subject, rng)
        return dict(zip([*both[0], *both[1]], said, strict=True))

    def half(self, question: str) -> HuntFunctions:
        """What the students' wheel has of the functions that a question hunts.

        Every other one: they are in the order of the files.
        """
        subject = self.entries[question].hunts
        right = self.right(subject)[::2]
        return HuntFunctions(
            self.prelude,
            {one.id: (words(one), one.code) for one in right},
            {m.id: (m.diagnosis, m.code) for m in self.hunted(subject)[::2]},
        )

    def easy(self, question: str) -> set[str]:
        """The mistakes that the example on the card of a check catches."""
        if question not in self._easy:
            entries = self.entries[question]
            example = replace(entries.reference, code=entries.example)
            rng = np.random.default_rng(0)
            said = self.tried(self.answer(example), entries.hunts, rng)
            self._easy[question] = {i for i, one in said.items() if one.said == REJECTS}
        return self._easy[question]

    def prepare(self) -> None:
        """Find all outcomes and rehearse the checks: forks then need not do it.

        Oracles may import a great deal when they are first used.
        """
        for question in self.entries:
            self.known(question)
        hidden = self.assignment.load("hidden")
        for name, reference in self.references.items():
            # a check says what is wrong with it when it is asked in earnest
            silent = contextlib.redirect_stdout(io.StringIO())
            with silent, contextlib.suppress(Exception):
                self.assignment.questions[name](self.answer(reference))
                getattr(hidden, name)(self.answer(reference), seed=0)


def words(style: Style) -> str:
    """A right style in a few words: its name."""
    return style.id.partition("-")[2].replace("-", " ")


def compiled(code: str, name: str) -> Any:
    """Code as a student would run it: without the ``__future__`` of this file."""
    return compile(code, name, "exec", dont_inherit=True)
