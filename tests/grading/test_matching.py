"""Cells of a submission find their place in the release."""

import copy
import json
import textwrap
from dataclasses import replace

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from autograder.errors import Held
from autograder.notebook.cell_search import resemblance
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.notebook.text_diff import parsed, with_due
from autograder.release.sample_class import delete_tests, without_metadata


@pytest.fixture
def cells(right):
    """The cells of a right notebook, to be changed."""
    return json.loads(right)["cells"]


def place(cells, name):
    ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells]
    return ids.index(name)


def matched(release, cells):
    notebook = {"nbformat": 4, "cells": cells}
    return match(release, read_cells(json.dumps(notebook).encode()))


def by_name(result):
    return {cell.grade_id: cell for cell in result.cells if cell.grade_id}


def test_a_right_notebook_matches_without_a_note(release, cells):
    result = matched(release, cells)
    assert result.notes == []
    assert [c.grade_id for c in result.cells] == [c.grade_id for c in release.cells]


def test_the_card_of_an_earlier_release_is_no_answer(release, untouched):
    cells = copy.deepcopy(untouched["cells"])
    card = cells[place(cells, "card_roles")]
    card["source"] = "## Why three projections?\n\nA card of last year."
    mine = by_name(matched(release, cells))
    assert not mine["explain_roles"].unanswered  # a student's words may be the answer
    about = card["metadata"]["nbgrader"]
    about["checksum"] = compute_checksum(nbformat.from_dict(card))
    result = matched(release, cells)
    assert result.notes == []
    assert by_name(result)["explain_roles"].unanswered


def test_a_due_date_is_no_change_and_no_answer_whenever_it_was_set(release, untouched):
    for due in (
        "Monday, 16 November 2026, 23:59 (Europe/Berlin)",
        "Friday, 1 January 2027, 08:00 (+02:00)",
    ):
        cells = copy.deepcopy(untouched["cells"])
        cells[0]["source"] = with_due("".join(cells[0]["source"]), due)
        result = matched(release, cells)
        assert result.notes == []
        assert [c.grade_id for c in result.cells] == [c.grade_id for c in release.cells]
        assert by_name(result)["explain_roles"].unanswered
        cells[0]["source"] += "\n\nMy own words."
        result = matched(release, cells)
        (extra,) = [cell for cell in result.cells if cell.kind == "extra"]
        assert extra.source == "My own words."
        assert "introduction had been changed" in result.notes[0]


def test_the_courses_own_words_are_no_answer_where_their_cell_has_no_name(
    release, untouched
):
    release = replace(release, nameless=("Think of a library.",))
    prompt = {"cell_type": "markdown", "source": "Think of a library.", "metadata": {}}
    cells = [*untouched["cells"], prompt]
    assert by_name(matched(release, cells))["explain_roles"].unanswered
    cells[-1] = prompt | {"source": "Think of a library. I do: a key is a title."}
    assert not by_name(matched(release, cells))["explain_roles"].unanswered


def test_test_cells_come_from_the_instructor(release, cells):
    cells[place(cells, "test_softmax")]["source"] = "pass"
    result = matched(release, cells)
    assert "check.hidden.softmax" in by_name(result)["test_softmax"].source
    assert result.notes == [
        "The cell test_softmax had been changed; the course's own cell was used, "
        "and the lines that were added are kept next to it."
    ]


def test_a_deleted_test_cell_is_still_judged(release, cells):
    result = matched(release, delete_tests(cells))
    assert by_name(result)["test_softmax"].kind == "test"


def test_a_deleted_answer_runs_nothing_and_counts_as_not_answered(release, cells):
    del cells[place(cells, "softmax")]
    result = matched(release, cells)
    missing = by_name(result)["softmax"]
    assert missing.unanswered and not missing.runs
    assert "softmax was missing; it counts as not answered" in result.notes[0]


def test_an_answer_in_a_new_cell_is_found_by_its_name(release, cells):
    cell = cells.pop(place(cells, "softmax"))
    cells.insert(0, {"cell_type": "code", "source": cell["source"], "metadata": {}})
    result = matched(release, cells)
    assert by_name(result)["softmax"].source == cell["source"]


def test_what_an_answer_cell_defines_runs_though_the_answer_is_elsewhere(
    release, cells
):
    where = place(cells, "softmax")
    answer = {"cell_type": "code", "source": cells[where]["source"], "metadata": {}}
    cells[where]["source"] = "class Odd(Exception):\n    pass"
    cells.insert(where + 1, answer)
    assert by_name(matched(release, cells))["softmax"].runs


def test_cells_without_metadata_are_found_by_their_text(release, right):
    result = match(release, read_cells(without_metadata(right).encode()))
    found = by_name(result)
    assert "powers" in found["softmax"].source
    assert not found["explain_roles"].unanswered
    assert len(result.cells) == len(release.cells)
    assert "lost nbgrader's metadata" in result.notes[0]


def test_moved_cells_run_as_the_student_sees_them_and_tests_after_answers(
    release, cells
):
    result = matched(release, cells[::-1])
    names = [cell.grade_id for cell in result.cells]
    answers = [cell.grade_id for cell in release.cells if cell.kind == "answer"]
    assert [name for name in names if name in answers] == answers[::-1]
    for name in answers:
        assert names.index("imports") < names.index(name)
        assert names.index(name) < names.index(f"test_{name}")


def test_a_pasted_test_cell_is_dropped_with_a_note(release, cells):
    cells.append(copy.deepcopy(cells[place(cells, "test_softmax")]))
    result = matched(release, cells)
    assert len(result.cells) == len(release.cells)
    assert "more than once" in result.notes[0]


def test_of_two_answer_cells_the_first_filled_in_one_counts(release, cells, untouched):
    where = place(cells, "softmax")
    stub = untouched["cells"][where]
    cells[where : where + 1] = [stub, cells[where], stub]
    result = matched(release, cells)
    assert "powers" in by_name(result)["softmax"].source
    assert len(result.cells) == len(release.cells)


def test_a_split_answer_keeps_both_halves_in_order(release, cells):
    where = place(cells, "softmax")
    half = dict(copy.deepcopy(cells[where]), source="helper = 1")
    cells.insert(where + 1, half)
    result = matched(release, cells)
    names = [cell.grade_id for cell in result.cells]
    following = result.cells[names.index("softmax") + 1]
    assert (following.kind, following.source) == ("extra", "helper = 1")


def test_own_cells_stay_where_they_are(release, cells):
    where = place(cells, "test_softmax")
    cells.insert(where, {"cell_type": "code", "source": "mine = 1", "metadata": {}})
    result = matched(release, cells)
    names = [cell.grade_id or cell.source for cell in result.cells]
    assert names[names.index("softmax") + 1 :][:2] == ["mine = 1", "test_softmax"]


@pytest.mark.parametrize("other", ["markdown", "raw"])
def test_an_answer_that_became_another_type_is_code_again(release, cells, other):
    cells[place(cells, "softmax")]["cell_type"] = other
    result = matched(release, cells)
    assert by_name(result)["softmax"].cell_type == "code"
    assert f"become a {other} cell" in result.notes[0]


TYPED = "def softmax(x, axis=-1):\n    e = np.exp(x)\n\n    return e / e.sum()"
STUB = "def softmax(x, axis=-1):\n    pass"


def into_a_card(cells, text):
    cells[place(cells, "card_softmax")]["source"] += f"\n\n{text}"


def below_the_card(cells, text, kind="markdown"):
    where = place(cells, "card_softmax") + 1
    cells.insert(where, {"cell_type": kind, "source": text, "metadata": {}})


def into_the_words(cells, text):
    cells[place(cells, "explain_roles")]["source"] = f"As I wrote:\n\n{text}"


IN_TEXT = {
    "in the card": lambda cells: into_a_card(cells, TYPED),
    "in the card, as code": lambda cells: into_a_card(
        cells, f"```python\n{TYPED}\n```"
    ),
    "in a cell of its own": lambda cells: below_the_card(cells, TYPED),
    "in a raw cell": lambda cells: below_the_card(cells, TYPED, "raw"),
    "indented, after words": lambda cells: below_the_card(
        cells, "Mine:\n\n" + textwrap.indent(TYPED, "    ") + "\n\nThat is all."
    ),
    "in the written answer": lambda cells: into_the_words(cells, TYPED),
}


def open_again(cells):
    cells[place(cells, "softmax")]["source"] = STUB
    return cells


@pytest.mark.parametrize("where", IN_TEXT)
def test_code_that_stands_in_a_text_cell_alone_is_for_a_person(release, cells, where):
    IN_TEXT[where](open_again(cells))
    with pytest.raises(Held, match="The code of `softmax` is only in a text cell"):
        matched(release, cells)


def test_code_in_a_text_cell_beside_an_answer_is_a_text(release, cells):
    into_the_words(cells, TYPED)
    assert not by_name(matched(release, cells))["softmax"].unanswered


@pytest.mark.parametrize("text", [STUB, "I know def softmax(x): well", "softmax = 1"])
def test_what_is_no_code_of_the_answer_holds_nothing_up(release, cells, text):
    below_the_card(open_again(cells), text)
    assert by_name(matched(release, cells))["softmax"].source == STUB


@pytest.mark.parametrize("text", ["-" * 9000 + "1", "a, " * 100_000, "'", "\0"])
def test_what_python_cannot_read_or_needs_gigabytes_for_is_no_code(
    release, cells, text
):
    assert parsed(text) is None
    cell = cells[place(cells, "imports")]
    cell["source"] += f"\n{text}"
    assert matched(release, cells).notes == [
        "The cell imports had been changed; the course's own cell was used, "
        "and the lines that were added are kept next to it."
    ]


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_an_answer_merged_with_its_test_keeps_its_characters(release, cells, sign):
    """Python ends no line there, so a text may have it."""
    test = cells.pop(place(cells, "test_softmax"))
    answer = cells[place(cells, "softmax")]
    answer["source"] = "".join(answer["source"]) + f"\nNOTE = 'a{sign}b'\n\n"
    expected = answer["source"].rstrip()
    answer["source"] += "".join(test["source"])
    assert by_name(matched(release, cells))["softmax"].source.rstrip() == expected
    cell = cells[place(cells, "imports")]
    cell["source"] = [*cell["source"], f"\nNOTE = 'c{sign}d'"]
    (extra,) = [c for c in matched(release, cells).cells if c.kind == "extra"]
    assert extra.source == f"NOTE = 'c{sign}d'"


def test_points_and_kinds_of_the_submission_are_ignored(release, cells):
    about = cells[place(cells, "test_softmax")]["metadata"]["nbgrader"]
    about.update(points=1000, solution=True, grade=False)
    cells[place(cells, "test_softmax")]["metadata"]["tags"] = ["skip-execution"]
    cell = by_name(matched(release, cells))["test_softmax"]
    assert (cell.kind, cell.points) == ("test", 4.0)
    assert "tags" not in cell.metadata


def test_swapped_ids_of_tests_change_nothing(release, cells):
    one, two = place(cells, "test_softmax"), place(cells, "test_attention_scores")
    first, second = cells[one]["metadata"], cells[two]["metadata"]
    cells[one]["metadata"], cells[two]["metadata"] = second, first
    found = by_name(matched(release, cells))
    assert "check.hidden.softmax(softmax)" in found["test_softmax"].source


def test_an_untouched_written_answer_is_unanswered(release, untouched):
    found = by_name(matched(release, copy.deepcopy(untouched["cells"])))
    assert found["explain_roles"].unanswered


OPEN = ["asdf", "TODO: write this later", "the card", "its heading"]
WRITTEN = ["The keys are compared.", "因为查询", "$$ $$"]


@pytest.mark.parametrize("text", OPEN + WRITTEN)
def test_what_is_no_written_answer_yet_is_noted_and_waits(release, cells, text):
    card = "".join(cells[place(cells, "card_roles")]["source"])
    said = {"the card": card, "its heading": card.split("\n")[0]}.get(text, text)
    cells[place(cells, "explain_roles")]["source"] = said
    result = matched(release, cells)
    assert not by_name(result)["explain_roles"].unanswered
    noted = [one for one in result.notes if "explain_roles: not answered yet" in one]
    assert len(noted) == (text in OPEN)


def test_another_assignment_s_notebook_is_held(release):
    with pytest.raises(Held, match="another assignment"):
        matched(release, [{"cell_type": "code", "source": "1", "metadata": {}}])


def test_another_assignment_s_notebook_is_held_by_its_names(release, repository):
    """They share the names of an introduction and of helpers."""
    (other,) = repository.chosen(["04-masking"])
    released = repository.exercises / other.name / other.source.name
    with pytest.raises(Held, match="another assignment"):
        match(release, read_cells(released.read_bytes()))


def test_a_notebook_resembles_its_own_assignment(release, right):
    assert resemblance(release, read_cells(right.encode())) == len(release.cells)
