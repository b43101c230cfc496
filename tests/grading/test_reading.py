"""Untrusted bytes become cells, or a sentence that says why not."""

import json

import pytest

from autograder.course import Submission
from autograder.errors import Held
from autograder.intake.notebook_file import open_submission
from autograder.notebook.reading import MAX_BYTES, read_cells


def notebook(**changes) -> bytes:
    cell = {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": []}
    content = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content | changes, indent=1).encode()


CONFLICT = notebook().replace(b'"x = 1"', b'\n<<<<<<< HEAD\n"x"\n=======\n>>>>>>> b\n')
BROKEN = {  # besides those in odd_notebooks.json
    "cut off in a string": (notebook()[:60], r"cut off at line \d"),
    "conflict": (CONFLICT, r"conflict markers in lines \d+, \d+, \d+"),
    "prose": (b"my answers are below", "not valid JSON at line 1"),
    "format 3": (notebook(nbformat=3), "format '3'; this course reads format 4"),
    "format that is a list": (notebook(nbformat=[4]), "format"),
    "too many cells": (
        notebook(cells=[{"cell_type": "raw", "source": ""}] * 2001),
        "more than 2000 cells",
    ),
    "too large": (b" " * MAX_BYTES + b"{}", "larger than 20 MB"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_held_with_a_sentence(case):
    data, reason = BROKEN[case]
    with pytest.raises(Held, match=reason):
        read_cells(data)


def test_a_picture_that_is_not_there_is_named():
    links = '![](attachment:a.png) ![two\nlines](attachment:b.png "a title")'
    cell = {"cell_type": "markdown", "source": links}
    assert read_cells(notebook(cells=[cell]))[0].source == (
        "(a picture that cannot be shown: a.png) "
        "(a picture that cannot be shown: b.png)"
    )


def test_a_byte_order_mark_is_no_harm():
    assert read_cells(b"\xef\xbb\xbf" + notebook())[0].source == "x = 1"


def test_a_source_may_be_a_list_of_lines():
    cell = {"cell_type": "code", "source": ["a = 1\n", "b = 2"]}
    assert read_cells(notebook(cells=[cell]))[0].source == "a = 1\nb = 2"


def test_half_a_character_is_replaced():
    cell = {"cell_type": "code", "source": "x = '\ud800'"}
    assert read_cells(notebook(cells=[cell]))[0].source == "x = '\ufffd'"


def test_metadata_of_the_wrong_shape_is_passed_over():
    strange = [
        {"cell_type": "code", "source": "1", "metadata": metadata}
        for metadata in (None, 3, [], {"nbgrader": 1}, {"nbgrader": {"grade_id": []}})
    ]
    assert [cell.grade_id for cell in read_cells(notebook(cells=strange))] == [None] * 5


def handed_in(folder, **files):
    for name, data in files.items():
        (folder / f"{name}.ipynb").write_bytes(data)
    return Submission("ada", "01-attention", folder)


def test_of_several_notebooks_the_one_with_the_right_name_counts(
    release, right, tmp_path
):
    mine = notebook()
    files = {"attention": mine, "attention (1)": right.encode(), "Untitled": b"{}"}
    data, notes, *_ = open_submission(handed_in(tmp_path, **files), release)
    assert data == mine
    (note,) = notes
    assert note.startswith("Files next to the notebook were not used: Untitled.ipynb, ")
    assert note.endswith("attention (1).ipynb.")


def test_of_other_names_the_notebook_with_most_of_the_assignment_counts(
    release, right, tmp_path
):
    files = {"final": right.encode(), "scratch": notebook(), "Untitled": b"{}"}
    data, notes, *_ = open_submission(handed_in(tmp_path, **files), release)
    assert data == right.encode()
    assert notes == (
        "The notebook was handed in as final.ipynb.",
        "Files next to the notebook were not used: Untitled.ipynb, scratch.ipynb.",
    )
