"""Quiz questions about a student's own passing code; keys come from running the code.

Such a question is what shape a name has, or what a changed line would do. `autograder
check --ask`, interviews and papers ask them. The answer and its one-line changes run on
the visible checks; ``kinds`` lists what is asked. No language model, no hidden
check and no reference solution is involved.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from autograder import registry
from autograder.checks.puzzle import Exposes
from autograder.checks.question import Question
from autograder.checks.visible_hunt import Game
from autograder.code_questions.answer_record import Subject
from autograder.code_questions.kinds import KINDS, Asked, fails, posed

TRIED = 6  # questions of a kind, from which one is drawn
CHECKS = re.compile(r"^from autograder\.checks import (\w+) as check$", re.MULTILINE)
__all__ = ["CHECKS", "Asked", "defining", "in_notebook", "questions"]


def questions(
    question: Question, source: str, names: dict[str, Any], seed: int = 0, most: int = 2
) -> list[Asked]:
    """Up to ``most`` questions about the answer that ``source`` defines; [] below two.

    ``source`` is the cell of the answer, and ``names`` what the notebook defines
    besides. The same arguments give the same questions. Nothing is asked about an
    answer that does not pass, nor about checks and inputs that students make up.
    """
    if any(isinstance(check, Game | Exposes) for check in question.checks):
        return []
    draw = random.Random(f"{seed} {question.name} {source}")
    try:
        subject = Subject(question, source, names, draw)
        found = list(chosen(subject, most))
    except (Exception, SystemExit):  # code that cannot be taken apart
        return []
    return found if len(found) > 1 else []


def chosen(subject: Subject, most: int) -> Iterator[Asked]:
    """Questions of different kinds first, then others with other answers."""
    drawn: list[list[Asked]] = []
    for kind in sorted(subject.some(KINDS), key=lambda kind: kind is fails):
        found = list(islice(posed(subject, kind), TRIED))
        if found:
            drawn.append(subject.some(found))
        if len(drawn) == most:
            break
    spare = [one for found in drawn for one in found[1:]]
    texts = {found[0].text for found in drawn}
    answers = {found[0].choices[found[0].key] for found in drawn}
    more = [one for one in spare if one.text not in texts]
    more.sort(key=lambda one: one.choices[one.key] in answers)
    yield from islice([*(found[0] for found in drawn), *more], most)


def in_notebook(
    name: str, test: str, sources: list[str], names: dict[str, Any], most: int = 2
) -> list[dict[str, Any]]:
    """Questions about the answer called ``name`` in a notebook that has been run.

    ``test`` is the source of its test cell, ``sources`` are those of the other cells.
    """
    found = CHECKS.search(test)
    if not found:
        return []
    checks = registry.checks_of(found[1])
    question, source = getattr(checks, name, None), defining(name, sources)
    if source is None or not isinstance(question, Question):
        return []
    return [one.plain() for one in questions(question, source, names, 0, most)]


def defining(name: str, sources: list[str]) -> str | None:
    """The last of these cells that defines ``name``; None where there is none."""
    for source in reversed(sources):
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError):  # a magic, or nonsense
            continue
        if any(own(statement, name) for statement in body):
            return source
    return None


def own(statement: ast.stmt, name: str) -> bool:
    """Whether a statement defines this name."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
    return getattr(statement, "name", None) == name
