"""Questions about one's own code: on the right answers of everybody, in all styles."""

import os
import random
from collections import Counter
from pathlib import Path

import numpy as np
import own_code
import pytest

from autograder.checks.entries import read
from autograder.checks.half import Game
from autograder.checks.puzzle import Exposes
from autograder.checks.question import Question
from autograder.own_code import questions
from autograder.own_code.subject import Subject, told
from autograder.tools.judging import catalog_of, packages

FOLDER = Path(__file__).parent / "outside"
# the result is a figure, or tensors are copied and nothing is computed: few questions
LEFT_OUT = ("plot_", "load_")
SEED = int(os.environ["SEED"])


def right_answers(package):
    """(question, code, names of the notebook) of each right answer."""
    catalog, name = catalog_of(package), package.__name__.rpartition(".")[2]
    for question in package.assignment.questions.values():
        made_up = any(isinstance(c, Game | Exposes) for c in question.checks)
        odd = made_up or question.name.startswith(LEFT_OUT)
        if odd or question.name not in catalog.references:
            continue
        entries, path = catalog.right(question.name), FOLDER / name / "x"
        path = path.with_name(f"{question.name}.toml")
        if path.exists():
            code = catalog.references[question.name].code
            text = path.read_text("utf-8")
            entries += read(text, question.name, question.read, path.name, code).styles
        for entry in entries:
            yield question, entry.code, notebook(catalog, question.name)


def notebook(catalog, question):
    """The names of a notebook whose other answers are right."""
    names = dict(catalog.prelude_names)
    for other, reference in catalog.references.items():
        if other != question and other not in names and not other.startswith("check_"):
            exec(compile(reference.code, other, "exec", dont_inherit=True), names)
    return names


def keys_that_are_wrong(answers, seed):
    """How many answers have two questions, and questions whose key is not the only one.

    Every question is answered by another mechanism; those it cannot find are counted.
    """
    counts, wrong = Counter(), []
    for question, source, names in answers:
        found = questions(question, source, names, seed)
        counts["answers"] += 1
        counts["two"] += len(found) == 2
        for asked in found:
            right = own_code.right(asked, question, source, names)
            counts["unseen" if right is None else "seen"] += 1
            if right is not None and right != [asked.choices[asked.key]]:
                wrong.append((question.name, seed, asked, right, source))
    return counts, wrong


BLEND = """def blend(weights, scale=None, power=2):
    total = weights * power
    return total if scale is None else total * scale
"""


def test_a_call_without_its_none_says_which_arguments_come_after():
    """As it is printed, the call can be made."""
    question = Question("blend", 1, "x#y")

    @question.visible
    def blend_doubles(answer):
        """The weights are doubled."""
        assert answer(np.ones(3), None, 2).tolist() == [2, 2, 2]

    subject = Subject(question, BLEND, {}, random.Random(0))
    ((_, call),) = subject.scenes()
    assert told(call) == "`blend(weights, power=2)`, with `weights` of shape (3,)"


@pytest.mark.filterwarnings("ignore")
def test_keys_are_the_only_right_choices_of_a_sample():
    print(f"seed {SEED}")
    answers = [one for package in packages() for one in right_answers(package)]
    counts, wrong = keys_that_are_wrong(random.Random(SEED).sample(answers, 30), SEED)
    assert not wrong and counts["two"] >= 24
    assert counts["unseen"] <= 0.1 * counts["seen"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_keys_are_the_only_right_choices(package):
    answers = list(right_answers(package))
    counts, wrong = keys_that_are_wrong(answers, SEED)
    assert not wrong
    assert counts["two"] >= 0.9 * counts["answers"]
    assert counts["unseen"] <= 0.1 * counts["seen"]
