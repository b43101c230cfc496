"""Mutation testing: the checks have to notice small errors in reference solutions.

The errors are those of the quizzes on students' own code, one line each. A mutant that
keeps all points survives: a check has to become sharper, unless the catalog says why
this mutant is no error. If a mutant that the catalog explains no longer survives, its
explanation has to go.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any
from unittest.mock import patch

from autograder import registry
from autograder.checks.hunt import Hunt
from autograder.checks.puzzle import Exposes
from autograder.code_questions.line_mutants import changes
from autograder.course import Assignment
from autograder.notebook.time_limit import at_most
from autograder.release.sample_class import reference_answers
from autograder.tools.judging import judge

SECONDS = 5


def points_of(package: ModuleType, name: str, answer: Any) -> float:
    """The points alone: naming the misconception takes long and is not needed."""
    question = package.assignment.questions[name]
    with patch.object(question, "diagnose", lambda _: None):
        return judge(package, name, answer)[0]


def survives(
    package: ModuleType, question: str, namespace: dict[str, Any], code: str
) -> bool:
    """Whether the mutant keeps all points, within the limit of processor time."""
    names = dict(namespace)
    try:
        with at_most(SECONDS):
            exec(compile(code, f"<{question}>", "exec"), names)
            points = points_of(package, question, names[question])
    except Exception:
        return False
    return points == package.assignment.questions[question].points


def run(assignment: Assignment) -> tuple[int, list[tuple[str, str]], list[str]]:
    """How many mutants were killed, the equivalent ones, and what nobody explained.

    The numbers are printed as well, and each mutant that nobody explained.
    """
    package = registry.checks_of(assignment.notebook)
    catalog = package.assignment.catalog
    answers = reference_answers(assignment)
    namespace: dict[str, Any] = {"__name__": "mutant"}
    exec("\n\n".join([catalog.prelude, *answers.values()]), namespace)
    killed, equivalent, unknown = 0, [], []
    for question, code in answers.items():
        if question not in package.assignment.questions:
            continue
        hidden = getattr(package.hidden, question)
        if isinstance(hidden, Hunt) or isinstance(hidden.question.checks[0], Exposes):
            continue  # with another number in it, it is another good check, or input
        for change in changes(code):
            name = f"{change.old} -> {change.new}"
            if not survives(package, question, namespace, change.source):
                killed += 1
            elif (question, name) in catalog.equivalents:
                equivalent.append((question, name))
            else:
                unknown.append(f"{question}: {name}")
                print(f"  survives: {unknown[-1]}", flush=True)
    for question, name in catalog.equivalents.keys() - set(equivalent):
        unknown.append(f"{question}: {name}")
        print(f"  explained, but no survivor: {unknown[-1]}", flush=True)
    numbers = f"{len(equivalent)} equivalent, {len(unknown)} unknown"
    print(f"{assignment.name}: {killed} mutants killed, {numbers}", flush=True)
    return killed, equivalent, unknown
