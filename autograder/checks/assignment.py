"""Registry of an assignment's questions; loads hidden checks where they are installed.

Each package of checks makes one, and defines its questions with it. It also finds the
name of a known mistake for an answer.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from autograder import registry
from autograder.checks.cards import signatures
from autograder.checks.failures import Misconception
from autograder.checks.fingerprints import Trail, by_probe, fingerprints, table
from autograder.checks.published import source
from autograder.checks.question import Question, expect_fit, noticed, probed
from autograder.checks.relations import relation
from autograder.checks.visible_hunt import Game, HuntFunctions

if TYPE_CHECKING:
    from autograder.checks.catalog import Catalog


class Assignment:
    """The questions of one assignment; its package of checks starts with it::

        assignment = Assignment(__name__, page="01-means")
        __getattr__ = assignment.hidden_half

        row_means = assignment.question("row_means", 4, "means-of-rows")

    The package, ``visible``, holds what students install: visible checks, and in its
    module ``probes`` inputs that tell answers apart. The package ``hidden`` beside it
    has hidden checks and the folder ``catalog``; it is there for instructors only.
    """

    def __init__(self, package: str, page: str = "") -> None:
        due = "`__name__`, the package that it is written in"
        fits = getattr(sys.modules.get(package), "__file__", None) is not None
        expect_fit(fits, "Assignment's first argument", package, due)
        expect_fit(isinstance(page, str), "Assignment's page", page, "a text")
        self.package, self.page = package, page
        self.questions: dict[str, Question] = {}
        self.uses: dict[str, tuple[str, ...]] = {}

    @property
    def name(self) -> str:
        """The name under which notebooks import the checks."""
        return registry.short_name(self.package)

    @property
    def visible(self) -> Path:
        """The folder of what students install."""
        return Path(str(sys.modules[self.package].__file__)).parent

    @property
    def folder(self) -> Path:
        """The folder of the assignment."""
        return self.visible.parent

    def question(
        self, name: str, points: float, section: str = "", *, uses: tuple[str, ...] = ()
    ) -> Question:
        """A new question; ``section`` is the id of a heading on the page, or of one on
        another page, whose name and "#" stand before it then; empty: none.

        ``uses`` names earlier questions that answers to this one are built on, where
        the book or the visible checks publish a right answer. A mistake there costs no
        points here.
        """
        fits = isinstance(name, str) and name.isidentifier()
        expect_fit(fits, "the name of a question", name, "that of the answer")
        expect_fit(name not in self.questions, "the name of a question", name, "new")
        fits = isinstance(section, str)
        expect_fit(fits, f"section of the question {name}", section, "a heading's id")
        fits = isinstance(uses, tuple | list) and self.questions.keys() >= set(uses)
        due = 'a tuple of questions above it, such as ("first",)'
        expect_fit(fits, f"uses of the question {name}", uses, due)
        read = section if "#" in section else f"{self.page}#{section}".strip("#")
        by_name = partial(self.diagnose, name), partial(self.recognize, name)
        relate = partial(self.relate, name)
        cards = partial(signatures, self.name)
        promises, probe = partial(self.promises, name), partial(self.probe, name)
        question = Question(
            name, points, read, *by_name, cards, promises, probe, relate
        )
        self.questions[name], self.uses[name] = question, uses
        return question

    def hunt(self, name: str, points: float, section: str, subject: str) -> Question:
        """A new question in which the student writes the check of ``subject``."""
        question = self.question(name, points, section)
        question.visible(Game(name, subject, partial(self.half, name)))
        return question

    def half(self, name: str) -> HuntFunctions:
        """The visible half of a hunt's functions."""
        if catalog := self.catalog:  # from which the text is made
            return catalog.half(name)
        return HuntFunctions.unpacked(self.table["questions"][name]["half"])

    def builds_on(self, name: str) -> list[str]:
        """The questions that one is built on, directly or by way of others."""
        found: list[str] = []
        for used in self.uses.get(name, ()):
            found += [*self.builds_on(used), used]
        return list(dict.fromkeys(found))

    def load(self, part: str) -> ModuleType | None:
        """The package's module ``part``, or ``hidden`` beside it; None: not here."""
        beside = part.partition(".")[0] == "hidden"
        parent = self.package.rpartition(".")[0]
        home = parent if beside and parent else self.package
        name = f"{home}.{part}"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            return None

    def hidden_half(self, name: str) -> ModuleType:
        """``__getattr__`` of the package: loads ``.hidden`` when it is asked for."""
        if name != "hidden":
            raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
        if hidden := self.load("hidden"):
            return hidden
        raise AttributeError(
            "the hidden checks are not here; they run when your work is graded"
        )

    @cached_property
    def probes(self) -> ModuleType | None:
        """A function for each question, by its name: what tells its answers apart."""
        return self.load("probes")

    @cached_property
    def table(self) -> dict[str, Any]:
        """What the students' wheel knows of mistakes, by question."""
        return table(self.visible)

    @cached_property
    def catalog(self) -> Catalog | None:
        """What is known of right and wrong answers; None where it is not installed."""
        try:
            from autograder.checks.catalog import catalog_of
        except ModuleNotFoundError:
            return None
        return catalog_of(self)

    def diagnose(self, question: str, answer: Any) -> Misconception | None:
        """The known misconception that behaves like ``answer``, if there is one.

        None where nothing is known, as on machines without the catalog.
        """
        return self.catalog.diagnose(question, answer) if self.catalog else None

    def recognize(
        self, question: str, number: int, trail: Trail
    ) -> Misconception | None:
        """The known misconception with this fingerprint, from check ``number`` on.

        Where no mistake left all of these notes, the probe's alone may name it, and
        then two mistakes at once may.
        """
        known = self.table["questions"].get(question)
        if known is None:
            return None
        every, chance = list(trail), set(known["chance"])
        probe = by_probe(number + len(every) - 1, every[-1], chance)
        keys = [*fingerprints(number, every, chance), *probe]
        sentences = self.table["sentences"]
        for key in keys:
            if id := known["mistakes"].get(key):
                return Misconception(id, question, *sentences[id])
        for key in keys:
            if names := known.get("pairs", {}).get(key):
                ids = [f"{question}-{name}" for name in names.split()]
                says, read = zip(*(sentences[id] for id in ids), strict=True)
                return Misconception(ids[0], question, together(*says), read[0])
        return None

    def relate(self, question: str, answer: Any, number: int = 1) -> str:
        """How the results of an answer, which check ``number`` rejects, are related to
        right ones; empty where nothing is known.
        """
        right = self.table["questions"].get(question, {}).get("right")
        if right is None:
            return ""
        asked = self.questions[question]
        checks = [*asked.checks[number - 1 :], *asked.checks[: number - 1]]

        def holds(repaired: Any) -> bool:
            if any(noticed(check, repaired)[0] for check in checks):
                return False
            keys = fingerprints(0, [probed(asked.probe, repaired)], set())
            return not right["probe"] or bool({*keys} & {*right["probe"]})

        return relation(answer, asked.steady, holds, right)

    def probe(self, question: str, answer: Any) -> list | None:
        """What an answer does on inputs that tell mistakes apart; None without any."""
        function = getattr(self.probes, question, None)
        return function(answer) if function else None

    def promises(self, question: str) -> list[str]:
        """What hidden checks look at: a sentence each, without their inputs."""
        return self.table["questions"].get(question, {}).get("hidden", [])

    def prepare(self) -> None:
        """Load the instructor's side, and do now what each fork would repeat."""
        self.load("hidden")
        if self.catalog:
            self.catalog.prepare()
        for used in {one for name in self.questions for one in self.builds_on(name)}:
            with contextlib.suppress(KeyError):  # told when it is needed
                source(used, self.name)


def together(first: str, second: str = "") -> str:
    """The sentence about two mistakes at once; the second one may be unknown."""
    if second:
        return f"There are two mistakes. First: {first} Then: {second}"
    return f"There are two mistakes. One of them: {first}"
