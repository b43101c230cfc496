"""Answers by somebody who knew the cards and had read neither checks nor catalogs.

``outside/`` has 593 wrong ones, each with the mistake in a sentence, and 242 right ones
in at least six styles of each name. ``named`` is the catalogued mistake that a wrong
answer was found to make, by a person who compared both sentences; ``passes`` says why
an answer that its writer called wrong earns all points.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from autograder.tools.judging import catalog_of, judge, packages

FOLDER = Path(__file__).parent / "outside"
PACKAGES = {p.__name__.rpartition(".")[2]: p for p in packages()}
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def answers(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def defined(catalog, question, code):
    """The answer, in a notebook whose other answers are right."""
    names = dict(catalog.prelude_names)
    for other, reference in catalog.references.items():
        if other != question and other not in names and not other.startswith("check_"):
            exec(compile(reference.code, other, "exec", dont_inherit=True), names)
    exec(compile(code, "<cell 1>", "exec", dont_inherit=True), names)
    return names[question]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_what_others_write_is_judged_rightly(name, capsys):
    package = PACKAGES[name]
    catalog, surprises = catalog_of(package), []
    for entry in answers(name):
        question = entry["question"]
        answer = defined(catalog, question, entry["code"])
        points, message, named = judge(package, question, answer)
        full = points == getattr(package, question).points
        expected = (entry["right"] or "passes" in entry, entry.get("named"))
        if (full, named) != expected:
            surprises.append((question, entry["what"], expected, points, message))
    assert surprises == []


def test_they_are_many_and_most_mistakes_have_a_name():
    every = [entry for name in NAMES for entry in answers(name)]
    styles = Counter(entry["question"] for entry in every if entry["right"])
    assert len(styles) == 36 and min(styles.values()) >= 6
    wrong = [entry for entry in every if not entry["right"]]
    assert len(wrong) == 593 and sum("passes" in entry for entry in wrong) == 4
    assert sum(entry["named"] is not None for entry in wrong) >= 575
