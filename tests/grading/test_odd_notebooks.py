"""Files that are odd as JSON or as notebooks: judged as they stand, or held with why.

The cases are data, made from the format's schema.
"""

import json
from pathlib import Path

import pytest
from shared import drawn

from autograder.grading.job import grade

CASES = json.loads(Path(__file__).with_name("odd_notebooks.json").read_text("utf-8"))
NAMES = ["softmax", "attention_scores", "scaled_dot_product_attention"]
JUDGED = [case for case in CASES if case.get("points") != "held"]
LONG = 100_000  # what @ repeats


def places(notebook, path):
    """What holds the end of a path; ``*`` is each code cell, ``#id`` one by its id."""
    *before, last = path
    found = [notebook]
    for step in before:
        if step == "*":
            cells = notebook["cells"]
            found = [cell for cell in cells if cell["cell_type"] == "code"]
        elif isinstance(step, str) and step[0] == "#":
            found = [
                cell
                for cell in notebook["cells"]
                if cell["metadata"].get("nbgrader", {}).get("grade_id") == step[1:]
            ]
        else:
            found = [place[step] for place in found]
    assert found
    return found, last


def made(case, right):
    """The bytes of a case, from the right notebook."""
    notebook = json.loads(right)
    for path, value in case.get("set", []):
        for place in (found := places(notebook, path))[0]:
            place[found[1]] = value
    if "drop" in case:
        for place in (found := places(notebook, case["drop"]))[0]:
            if isinstance(place, list):
                del place[found[1]]
            else:
                place.pop(found[1], None)
    ascii = case.get("encoding") == "ascii" or case["id"].startswith("surrogates")
    text = case.get("whole", json.dumps(notebook, indent=1, ensure_ascii=ascii))
    for old, new in case.get("replace", []):
        assert old in text
        if "@" in new:
            where, character = new.index("@"), new[-1] if new[-1] != "@" else "5"
            new = new[:where] + character * LONG
        text = text.replace(old, new)
    text = case.get("head", "") + text + case.get("tail", "")
    text = text[: int(len(text) * case.get("cut", 1))]
    return text.encode(case.get("encoding", "utf-8"), "ignore")


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.get("points") == "held"] + drawn(JUDGED, 8),
    ids=lambda case: case["id"],
)
def test_an_odd_file_is_judged_or_held_with_the_reason(case, right, release, grader):
    verdict = grade(release, made(case, right), grader)
    due = case.get("points", [4, 4, 8])
    if due == "held":
        assert verdict.status == "held" and case["says"] in verdict.reason
        return
    assert verdict.status == "graded", verdict.reason
    score = {question.id: question.score for question in verdict.questions}
    assert [score[f"test_{name}"] for name in NAMES] == due
    assert sum(q.max_score for q in verdict.questions) == release.max_score
