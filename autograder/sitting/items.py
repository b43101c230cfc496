"""Multiple-choice questions of a paper quiz; each key comes from running code.

Puzzles ask which input shows a mistake, with inputs drawn now. Questions on code come
from right answers of the catalogs, and predictions from the quizzes of the book.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from markupsafe import Markup

from autograder import registry
from autograder.checks.assignment import Assignment
from autograder.checks.catalog import Catalog
from autograder.checks.failures import CheckFailed
from autograder.checks.puzzle import Exposes, Inputs, differ, result_of
from autograder.checks.question import Question
from autograder.own_code import questions
from autograder.results.templates import paragraphs, ticked
from autograder.text import lines_of

LETTERS = "ABC"
CARD = re.compile(r"\((?:\d+ points?), (\d+) minutes?\)\s+\*(?:Break|Spot) it\*\s+(.+)")
QUIZ = re.compile(r'^<div class="quiz[^"]*" id="([\w-]+)">\n(.*?)^</div>', re.M | re.S)
ASKED = re.compile(r"<p>(?:Predict: )?(.*?)</p>", re.S)
CHOICE = re.compile(
    r"<details( class=\"correct\")?><summary>(.*?)</summary><p>(.*?)</p></details>"
)
# questions about an output that is not on the paper
ELSEWHERE = re.compile(
    r"next cell|that row|the curve|four differences|zero after|double"
)
WITH_REASON = ("Break it", "Spot it")
PREDICTION, READING = 2, 3  # minutes
TRIES = 400  # draws until there are four inputs


@dataclass(frozen=True)
class Item:
    """A question with its choices; ``right`` is the number of the right one."""

    kind: str
    minutes: int
    asked: Markup
    code: str
    choices: tuple[Markup, ...]
    right: int
    because: Markup
    from_where: str

    letter: str = ""  # of the wrong function, where several are shown

    @property
    def points(self) -> int:
        """One for the right choice; another one where the reason is asked for."""
        return 2 if self.kind in WITH_REASON else 1

    @property
    def key(self) -> str:
        """What is marked on the paper: the number of a choice, after a letter."""
        return f"{self.letter} {self.right + 1}".strip()


def shuffled(choices: list[Any], rng: Random) -> tuple[list[Any], int]:
    """The choices in another order, and where the first one is now."""
    order = rng.sample(range(len(choices)), len(choices))
    return [choices[n] for n in order], order.index(0)


# ---- puzzles


@cache
def puzzles() -> tuple[Assignment, dict[str, Any]] | None:
    """The assignment that offers puzzles for paper, and what draws their inputs.

    It is the one with a module ``paper`` in ``hidden``; None where there is none.
    """
    for name in registry.names():
        if (folder := registry.folder_of(name)) and (
            folder / "hidden/paper.py"
        ).exists():
            assignment: Assignment = registry.checks_of(name).assignment
            if paper := assignment.load("hidden.paper"):
                return assignment, paper.DRAWS
    return None


def has_puzzles(exercises: Path) -> bool:
    """Whether the course that these are of has released that assignment."""
    found = puzzles()
    return found is not None and (exercises / found[0].folder.name).is_dir()


def asked() -> dict[str, Question]:
    """The questions of that assignment."""
    found = puzzles()
    return found[0].questions if found else {}


def puzzle_names(assignment: str) -> list[str]:
    """The puzzles that show a wrong function, and that an assignment's number leads to.

    These are the ones that send readers to the page with that number; of the
    assignment of puzzles itself, all.
    """
    found = puzzles()
    whole = found is not None and found[0].folder.name == assignment
    return [
        name
        for name, question in asked().items()
        if name.startswith(("break_", "spot_"))
        and (whole or question.read.startswith(assignment[:3]))
    ]


def of_same_worth(name: str, names: list[str], exercises: Path) -> list[str]:
    """The puzzles of the same page, kind and minutes, itself among them."""

    def sort(name: str) -> tuple[str, str, str]:
        read = asked()[name].read
        card = CARD.search(cards(exercises)[f"card_{name}"])
        assert card is not None, name
        return read[:3], name.partition("_")[0], card[1]

    return [other for other in names if sort(other) == sort(name)]


def puzzle(name: str, rng: Random, exercises: Path) -> Item:
    """A puzzle with four inputs, of which one shows the mistake."""
    kind, _, about = name.partition("_")
    found = puzzles()
    assert found is not None
    assignment, draws = found
    check: Any = assignment.questions[name].checks[0]
    letter, inputs = exposing(check, draws[about], rng)
    seen, due = (result_of(f, inputs[0]) for f in (check.shown[letter], check.right))
    card = CARD.search(cards(exercises)[f"card_{name}"])
    assert card is not None, name
    sentence = re.split(r" (?:A is|For some inputs)", card[2])[0]
    code, ask, who = cards(exercises)[f"shown_{name}"], "For", "It"
    if kind == "spot":  # whoever remembers a letter has the functions in another order
        order = rng.sample(list(check.shown), len(check.shown))
        letter = LETTERS[order.index(letter)]
        code = "\n\n".join(
            re.sub(
                r"^def \w+", f"def {new}", inspect.getsource(check.shown[old])
            ).strip()
            for new, old in zip(LETTERS, order, strict=True)
        )
        ask, who = "Which one is it, and for", f"`{letter}`"
    choices, right = shuffled([ticked(f"`{written(one)}`") for one in inputs], rng)
    return Item(
        f"{kind.title()} it",
        int(card[1]),
        paragraphs(
            f"{sentence} {'One of them is' if kind == 'spot' else 'It is'} wrong for "
            f"some inputs. {ask} which of these is the result wrong? Say why in "
            "one line."
        ),
        code,
        tuple(choices),
        right,
        ticked(
            f"{who} returns `{plain(seen)}`; a right function returns `{plain(due)}`."
        ),
        f"{assignment.folder.name}, {name}",
        letter if kind == "spot" else "",
    )


def exposing(check: Exposes, draw: Any, rng: Random) -> tuple[str, list[Inputs]]:
    """The letter of the wrong function; an input that exposes it, then three others."""
    wrong: list[tuple[str, Inputs]] = []
    silent: dict[str, Inputs] = {}
    for _ in range(TRIES):
        try:
            inputs = check.allowed(*draw(rng))
        except CheckFailed:  # the card rules it out
            continue
        due = result_of(check.right, inputs)
        shows = [a for a, f in check.shown.items() if differ(result_of(f, inputs), due)]
        if shows:
            wrong.append((shows[0], inputs))
        else:
            silent[written(inputs)] = inputs
        if wrong and len(silent) >= 3:
            break
    letter, first = wrong[0]
    return letter, [first, *rng.sample(list(silent.values()), 3)]


def written(inputs: Inputs) -> str:
    """Arguments on one line."""
    return ", ".join(f"{name} = {plain(value)}" for name, value in inputs.items())


def plain(value: Any) -> str:
    """A value on one line, with three decimals and whole numbers as such."""
    if isinstance(value, str):  # the name of an exception
        return value
    rounded = np.round(np.asarray(value, float), 3) + 0.0
    if np.asarray(value).dtype.kind == "b" and rounded.ndim == 1:
        return str(np.asarray(value).tolist())
    whole = bool((rounded == np.round(rounded)).all())
    return str((rounded.astype(int) if whole else rounded).tolist())


@cache
def cards(exercises: Path) -> dict[str, str]:
    """The cells of the released puzzles, by name."""
    found = puzzles()
    assert found is not None
    (path,) = (exercises / found[0].folder.name).glob("*.ipynb")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in cells
        if "nbgrader" in cell["metadata"]
    }


# ---- predictions


def predictions(page: Path, rng: Random) -> Iterator[Item]:
    """The quizzes of a page that need nothing beside them; predictions first."""
    found = QUIZ.findall(page.read_text("utf-8"))
    rng.shuffle(found)
    found.sort(key=lambda quiz: not quiz[0].startswith("predict"))
    for name, text in found:
        asked = ASKED.search(text)
        choices = CHOICE.findall(text)
        if asked is None or ELSEWHERE.search(asked[1]):
            continue
        choices.sort(key=lambda choice: not choice[0])  # the right one first
        mixed, right = shuffled(choices, rng)
        yield Item(
            "Predict" if name.startswith("predict") else "Choose",
            PREDICTION,
            Markup(f"<p>{capital(asked[1])}</p>"),  # the book's own HTML
            "",
            tuple(Markup(choice) for _, choice, _ in mixed),
            right,
            Markup(capital(choices[0][2].removeprefix("Yes: "))),
            f"{page.stem}, {name}",
        )


def capital(sentence: str) -> str:
    """A sentence whose beginning was cut off."""
    return sentence[:1].upper() + sentence[1:]


# ---- questions on code


def code_questions(catalog: Catalog, rng: Random) -> Iterator[Item]:
    """Questions on right answers of the catalog, each on the code of another one."""
    seen = set()
    for style in rng.sample(catalog.styles, len(catalog.styles)):
        if style.question in seen:
            continue
        question = catalog.assignment.questions[style.question]
        code = style.code.strip("\n")
        names, seed = catalog.prelude_names, rng.randrange(10**6)
        found = questions(question, code, names, seed)
        if not found:
            continue
        seen.add(style.question)
        one = rng.choice(found)
        yield Item(
            "Read the code",
            READING,
            paragraphs(anybodys(one.text)),
            "\n".join(f"{n:2}  {ln}" for n, ln in enumerate(lines_of(code), 1)),
            tuple(ticked(choice) for choice in one.choices),
            one.key,
            paragraphs(anybodys(one.why)),
            f"{style.id}, {one.kind}",
        )


def anybodys(text: str) -> str:
    """A text about one's own code, for those who did not write it."""
    return text.replace("your code", "this code")
