"""The data set: its rows are wrong answers alone."""

from pathlib import Path

import dataset
import pytest

from autograder.checks import masking
from autograder.tools.judging import catalog_of, judge

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"


@pytest.fixture(scope="module")
def rows():
    return list(dataset.rows(masking, EXERCISES))


def test_each_row_is_whole_and_has_an_id_of_its_own(rows):
    assert len(rows) > 100 and len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row.keys() == dataset.FIELDS.keys()
        assert row["statement"].startswith("## ") and row["diagnosis"].endswith(
            (".", ".)")
        )
        assert row["question"] in row["statement"] and row["question"] in row["code"]
        assert (row["kind"] == "") == (row["visible"] == "")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_row_is_wrong_when_it_is_run_again(rows):
    names = dict(catalog_of(masking).prelude_names)
    for right in catalog_of(masking).references.values():
        exec(right.code, names)
    for row in rows:
        mine = dict(names)
        exec(row["code"], mine)
        question = getattr(masking, row["question"])
        points, _, _ = judge(masking, row["question"], mine[row["question"]])
        assert points < question.points, row["id"]


def test_no_right_answer_and_nothing_that_a_hunt_plants_is_in_it(rows):
    catalog = catalog_of(masking)
    codes = {row["code"] for row in rows}
    right = [*catalog.references.values(), *catalog.styles]
    planted = [entry for entry in catalog.misconceptions if entry.planted]
    assert right and planted
    assert codes.isdisjoint(entry.code for entry in (*right, *planted))


def test_what_outsiders_wrote_is_marked_and_knows_its_mistake(rows):
    others = [row for row in rows if row["source"] == dataset.OTHERS]
    ours = {row["mistake"] for row in rows if row["source"] == dataset.OURS}
    assert len(others) > 20 and ours.issuperset(
        r["mistake"] for r in others if r["mistake"]
    )


@pytest.mark.parametrize("change", [lambda code: code, lambda code: f"# wrong\n{code}"])
def test_the_baseline_finds_a_mistake_by_its_text(rows, change):
    ours = [row for row in rows if row["source"] == dataset.OURS]
    first = {row["mistake"]: row for row in ours}
    other = {"source": dataset.OTHERS}
    asked = [row | other | {"code": change(row["code"])} for row in first.values()]
    right, of = dataset.baseline([*first.values(), *asked])
    assert of == len(first) and right == of
