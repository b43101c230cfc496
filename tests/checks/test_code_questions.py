"""Questions about one's own code: on the right answers of everybody, in all styles."""

import json
import os
import random
import subprocess
import sys

import answered_again
import numpy as np
import pytest

from autograder.checks.puzzle import Exposes
from autograder.checks.question import Question
from autograder.checks.visible_hunt import Game
from autograder.code_questions import questions
from autograder.code_questions.answer_record import Subject
from autograder.code_questions.kinds import change, posed
from autograder.code_questions.values import array
from autograder.tools.judging import catalog_of
from benchmarks.outside import answers as outside
from benchmarks.outside import titles

# the result is a figure, or tensors are copied and nothing is computed: few questions
LEFT_OUT = ("plot_", "load_")
SEED = int(os.environ["SEED"])


def right_answers(assignment):
    """(name of the checks, question, code, names of the notebook) of each one."""
    package = titles()[assignment]
    catalog, name = catalog_of(package), package.assignment.name
    right = [*catalog.references.values(), *catalog.styles]
    right += [answer for answer in outside(assignment) if not answer.wrong]
    for answer in right:
        question = package.assignment.questions[answer.question]
        made_up = any(isinstance(c, Game | Exposes) for c in question.checks)
        if not made_up and not question.name.startswith(LEFT_OUT):
            names = answered_again.notebook(catalog, question.name)
            yield name, question, answer.code, names


def asked_of(answers, seed):
    """For each answer, its assignment, name and code, and the questions about it."""
    return [
        {
            "package": package,
            "name": question.name,
            "code": code,
            "asked": [one.plain() for one in questions(question, code, names, seed)],
        }
        for package, question, code, names in answers
    ]


def answered(rows):
    """What another program says: (answer, question, the choices that are right)."""
    command = [sys.executable, answered_again.__file__]
    text = json.dumps(rows)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for row, found in zip(rows, json.loads(done.stdout), strict=True):
        assert isinstance(found, list), (row, found)
        for asked, right in zip(row["asked"], found, strict=True):
            yield row, asked, right


def wrong_keys(rows):
    """Questions with another key than was found; the share where none was found."""
    said = list(answered(rows))
    wrong = [
        (row["code"], asked, right)
        for row, asked, right in said
        if right is not None and right != [asked["choices"][asked["key"]]]
    ]
    return wrong, sum(right is None for _, _, right in said) / len(said)


BLEND = """def blend(weights, scale=None, power=2):
    total = weights * power
    return total if scale is None else total * scale
"""


HALVES = """def halves(n):
    found = 0
    while n > 0:
        n = n // 2
        found = found + 1
    return found
"""


def drawn(kind, code, checks):
    """Questions of a kind about an answer; ``checks``: a sentence, and what holds."""
    question = Question(code.removeprefix("def ").partition("(")[0], 1, "x#y")
    for sentence, holds in checks.items():

        def check(answer, holds=holds):
            assert holds(answer)

        check.__doc__ = sentence
        question.visible(check)
    return list(posed(Subject(question, code, {"np": np}, random.Random(0)), kind))


def test_a_call_is_printed_with_what_is_none():
    """As it is printed, the call can be made."""
    holds = {"Doubled.": lambda answer: answer(np.ones(3), None, 2).tolist() == [2] * 3}
    asked = drawn(change, BLEND, holds)
    words = "`blend(weights, scale=None, power=2)`, with `weights = [1, 1, 1]`"
    assert asked and all(words in one.text for one in asked)


def test_a_change_that_never_ends_is_not_asked_about():
    """Nobody could find its answer; it is not an error that is raised."""
    asked = drawn(change, HALVES, {"Counted.": lambda answer: answer(5) == 3})
    assert asked and not any("is\n\n    n = n // 2" in one.text for one in asked)


def test_a_choice_is_no_rounding_of_another():
    one, near, other = (array(np.array(x), "float64") for x in ([1.0], [0.999], [0.9]))
    assert not one.far(near) and one.far(other)
    assert array(np.array([100]), "int64").far(array(np.array([101]), "int64"))
    assert not one.far(array(np.ones((1, 1)), "float64"))


@pytest.fixture(scope="module")
def sample():
    print(f"seed {SEED}")
    answers = [one for name in titles() for one in right_answers(name)]
    return asked_of(random.Random(SEED).sample(answers, 10), SEED)


def test_keys_are_the_only_right_choices_of_a_sample(sample):
    wrong, unseen = wrong_keys(sample)
    assert not wrong and unseen <= 0.1
    assert sum(len(row["asked"]) == 2 for row in sample) >= 7


def test_a_key_that_is_wrong_would_be_seen(sample):
    row = next(row for row in sample if row["asked"])
    others = [
        one | {"key": (one["key"] + 1) % len(one["choices"])} for one in row["asked"]
    ]
    wrong, unseen = wrong_keys([row | {"asked": others}])
    assert len(wrong) + unseen * 2 == 2


@pytest.mark.long
@pytest.mark.parametrize("assignment", titles())
def test_keys_are_the_only_right_choices(assignment):
    rows = asked_of(right_answers(assignment), SEED)
    wrong, unseen = wrong_keys(rows)
    two = sum(len(row["asked"]) == 2 for row in rows)
    print(f"{len(rows)} answers, {two} with two questions; {unseen:.0%} not found")
    assert not wrong and unseen <= 0.1
    assert two >= 0.9 * len(rows)
