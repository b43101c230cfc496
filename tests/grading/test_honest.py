"""Honest work in every shape gets its points, and `check` says what grading says."""

import json
import sys
from pathlib import Path

import pytest
from shared import drawn

from autograder.check import plan_of, report
from autograder.grading.job import grade
from autograder.notebook.process import Runner

sys.path.insert(0, str(Path(__file__).parent))
from honest import NAMES, WRITTEN
from honest.cases import CASES


def made(case, right):
    """The case's notebook as a file's bytes."""
    notebook = json.loads(right)
    notebook["cells"] = case.change(notebook["cells"])
    return json.dumps(notebook).encode()


def checked(data, folder, capsys):
    """What `autograder check` says: which questions hold, and all of its text."""
    path = folder / "attention.ipynb"
    path.write_bytes(data)
    plan = plan_of(path)
    holds = {}

    def watched(outcomes):
        for outcome in outcomes:
            if outcome.question:
                holds[outcome.question] = outcome.problem is None
            yield outcome

    with Runner(folder, plan, 30) as runner:
        report(plan, watched(runner.outcomes(plan)))
    return holds, capsys.readouterr().out


@pytest.mark.parametrize("case", drawn(CASES, 10), ids=lambda case: case.id)
def test_honest_work_gets_its_points_and_check_agrees(
    case, right, release, grader, tmp_path, capsys
):
    data = made(case, right)
    verdict = grade(release, data, grader)
    assert verdict.status == "graded", verdict.reason
    score = {question.id: question for question in verdict.questions}
    points = tuple(score[f"test_{name}"].score for name in NAMES)
    messages = [score[f"test_{name}"].message for name in NAMES]
    assert points == case.points, messages
    assert (score[WRITTEN].score is None) == case.waits
    assert case.says in verdict.notebook
    assert not case.never or case.never not in verdict.notebook
    holds, said = checked(data, tmp_path, capsys)
    assert [holds.get(name) for name in NAMES] == [p > 0 for p in case.points], said
