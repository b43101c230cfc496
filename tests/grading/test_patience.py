"""Texts made to be slow to read: whoever reads them outside the wall has no limit."""

import json
import signal

import pytest

from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.text import printable


@pytest.fixture(autouse=True)
def _not_for_ever():
    """Each of these took hours once; the alarm is there to end a test that fails."""

    def stop(*_):
        raise AssertionError("it does not come to an end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def cell(source, grade_id=None):
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": "code", "source": source, "metadata": metadata}


def placed(release, cells):
    notebook = {"nbformat": 4, "cells": cells}
    return match(release, read(json.dumps(notebook).encode()))


def test_millions_of_empty_lines_where_an_answer_is_looked_for(release):
    test = next(c for c in release.cells if c.kind == "test")
    submitted = [cell("\n" * 1_000_000), cell(test.released)]
    result = placed(release, submitted)
    assert any("was missing" in note for note in result.notes)


def test_two_thousand_copies_of_a_long_answer(release):
    name = next(c.grade_id for c in release.cells if c.kind == "answer")
    submitted = [cell("x\n" * 1_000_000, name)] + [cell("y", name)] * 1900
    (note,) = [n for n in placed(release, submitted).notes if "more than once" in n]
    assert name in note


@pytest.mark.parametrize("last", ["\n", "é", "\x1b"])
def test_a_long_line_is_made_printable(last):
    assert printable("x" * 2_000_000 + last).startswith("x" * 2_000_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1/3\r2/3\r3/3\n", "3/3\n"),
        ("kept\r", "kept"),
        ("kept\r\r\nnext\r\n", "kept\nnext\n"),
        ("gone\rkept\r\r\n", "kept\n"),
        ("\r\r", ""),
    ],
)
def test_what_carriage_returns_overwrite_is_left_out(text, shown):
    assert printable(text) == shown
