"""`autograder check` says of every honest mistake what the judge says behind the wall.

What the judge says is in `test_corpus.py`. Hostile submissions are left out: nobody
should run them outside of the wall.
"""

import sys
from pathlib import Path

import pytest

from autograder.notebook.process import Plan, Runner

sys.path.insert(0, str(Path(__file__).parent))
from corpus.mistakes import MISTAKES


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    imports = Plan([(1, "import numpy\nimport matplotlib", None)], "numpy")
    with Runner(tmp_path_factory.mktemp("notebook"), imports, 10) as runner:
        yield runner


@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.id)
def test_check_says_what_is_due(case, runner):
    for name, content in case.files.items():
        (runner.folder / name).parent.mkdir(exist_ok=True)
        (runner.folder / name).write_bytes(content)
    cells = [
        (number, cell.source, cell.test and cell.test.removeprefix("test_"))
        for number, cell in enumerate(case.cells(), 1)
    ]
    holds = [
        outcome.problem is None
        for outcome in runner.outcomes(Plan(cells, "numpy"))
        if outcome.question
    ]
    assert holds == [points > 0 for points in case.points]
