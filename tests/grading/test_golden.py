"""Verdicts and sentences stay as they are, in grading and in `autograder check`.

With ``WRITE=1`` in the environment a run writes golden.json; `git diff` shows what is
said in another way.
"""

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from classroom import Classroom

from autograder.cli import main
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.release.validation import catalog_of

GOLDEN = Path(__file__).with_name("golden.json")
NEWER = re.compile(r"You are using Python .*\n")
STUDENTS = {  # entries of the catalogs that stand in place of right answers
    "01-attention": {
        "ada": ["softmax-log-space", "check_softmax-known-values"],
        "bela": ["softmax-ignores-axis", "check_softmax-exact"],
        "chen": None,  # the notebook as it was released
    },
    "06-encoder-layer": {
        "dana": ["FeedForward-other-names", "check_feed_forward-gradients"],
        "emil": ["EncoderLayer-pre-norm", "check_feed_forward-loose"],
    },
}


@pytest.mark.parametrize("name", STUDENTS)
def test_verdicts_and_sentences_stay(name, tmp_path, repository, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    classroom = Classroom(tmp_path, repository, name)
    (assignment,) = repository.chosen([name])
    catalog = catalog_of(assignment.notebook)
    entries = {e.id: e for e in [*catalog.misconceptions, *catalog.styles]}
    released = notebook_text(students_notebook(repository, assignment))
    said, known = {}, json.loads(GOLDEN.read_text("utf-8"))
    for student, ids in STUDENTS[name].items():
        text = released
        if ids:
            # the notebook does not import the short name that catalogs have
            whole = partial(re.sub, r"\bF\.", "nn.functional.")
            other = {entries[id].question: whole(entries[id].code) for id in ids}
            answers = reference_answers(assignment) | other
            text = solved(json.loads(released), answers)
        folder = classroom.hand_in(student, text, assignment.source.name)
        capsys.readouterr()
        main(["check", str(folder / assignment.source.name)])
        said[f"{student} check"] = NEWER.sub("", capsys.readouterr().out)
    for student, result in classroom.grade().items():
        for each in result["questions"]:
            verdict = [each["score"], each["misconception"], each["message"]]
            said[f"{student} {each['id']}"] = verdict
    if os.environ.get("WRITE"):
        known |= said
        lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in known.items())
        GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    assert {key: value for key, value in known.items() if key in said} == said
