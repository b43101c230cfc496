"""The cases that are kept as data: cells as other programs save them, and harm.

They come from the guides and the notebook format. The seed draws a share of them, all
run on both walls in `make test-long`.
"""

import io
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from autograder.notebook.process import Plan, Runner

sys.path.insert(0, str(Path(__file__).parent))
from corpus.collected import HARM, HONEST, OPEN, due_on
from corpus.mistakes import MISTAKES
from shared import drawn
from test_corpus import assert_due

ROOT = Path(__file__).resolve().parents[2]


def ids(case):
    return case.id


@pytest.mark.either_wall
@pytest.mark.parametrize("case", drawn(HONEST, 15), ids=ids)
def test_cells_as_other_programs_save_them_have_their_points(wall, strict, case):
    assert_due(due_on(case, wall), strict.judge(case.cells(), files=case.files))


@pytest.mark.either_wall
@pytest.mark.parametrize("case", drawn(HARM, 12), ids=ids)
def test_harm_earns_nothing_and_costs_nobody_else(hasty, case):
    transcript = hasty.judge(case.cells())
    if OPEN.get(case.id) in (True, transcript.wall):
        wrong = transcript.results.get("test_square")
        assert transcript.held or (wrong and wrong.score == 0)
    else:
        assert_due(case, transcript)
    after = MISTAKES[0].__class__("right")
    assert_due(after, hasty.judge(after.cells()))


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    imports = Plan([(1, "import numpy\nimport matplotlib", None)], "numpy")
    with Runner(tmp_path_factory.mktemp("notebook"), imports, 10) as runner:
        yield runner


@pytest.mark.parametrize("case", [*MISTAKES, *drawn(HONEST, 15)], ids=ids)
def test_check_says_the_same_of_honest_cells(case, runner):
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


def test_each_case_has_a_name_and_cells_of_its_own():
    for cases in (HONEST, HARM):
        assert len({case.id for case in cases}) == len(cases) > 100
        cells = {(case.first, case.square, case.total, case.last) for case in cases}
        assert len(cells) == len(cases)


def test_the_page_tells_how_many_cases_each_file_has():
    page = (ROOT / "book" / "the-wall.md").read_text("utf-8")
    rows = re.findall(r"\(`(tests/[^`]+)`\) \| (\d+) \|", page)
    assert len(rows) == 6
    forms = {"json": json.loads, "toml": tomllib.loads, "jsonl": io.StringIO}
    for name, told in rows:
        read = forms[name.rpartition(".")[2]]
        assert len([*read((ROOT / name).read_text("utf-8"))]) == int(told), name
    assert f"| {len(HARM)} and 98 |" in page and f"| {len(HONEST)} |" in page
