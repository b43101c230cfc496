"""Which chapters `make test` replays: those that could give another result."""

import json

import pytest
import replayed


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of two chapters that were replayed; one uses a module and a file."""
    monkeypatch.setattr(replayed, "BOOK", tmp_path / "book")
    monkeypatch.setattr(replayed, "NOTED", tmp_path / "book/replayed.txt")
    monkeypatch.setattr(replayed, "ROOT", tmp_path)
    (tmp_path / "book").mkdir()
    (tmp_path / "requirements.txt").write_text("numpy==1\nruff==1\n")
    (tmp_path / "requirements-model.txt").write_text("my-model==1\n")
    (tmp_path / "book/ours.py").write_text("import deeper\n")
    (tmp_path / "book/deeper.py").write_text("import numpy\n")
    (tmp_path / "book/words.txt").write_text("a b")
    code = ["from ours import f\n", "open('words.txt'), 'my_model'"]
    write(tmp_path / "book/one.ipynb", code)
    write(tmp_path / "book/two.ipynb", ["print(1)"])
    replayed.note(["one", "two"])
    assert replayed.stale() == []
    return tmp_path


def write(path, source, output="1"):
    cells = [
        {"cell_type": "code", "source": source, "outputs": [output]},
        {"cell_type": "markdown", "source": ["Prose"]},
    ]
    path.write_text(json.dumps({"cells": cells}))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("book/one.ipynb", "import f", "import g"),
        ("book/one.ipynb", '["1"]', '["2"]'),  # an output that nobody computed
        ("book/ours.py", "deeper", "deeper, os"),
        ("book/deeper.py", "numpy", "numpy as np"),
        ("book/words.txt", "a b", "a c"),
        ("requirements.txt", "numpy==1", "numpy==2"),
        ("requirements-model.txt", "my-model==1", "my-model==2"),
    ],
)
def test_what_a_chapter_uses_makes_it_stale_and_no_other(book, name, old, new):
    path = book / name
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    assert replayed.stale() == ["one"]
    path.write_text(before)
    assert replayed.stale() == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("book/one.ipynb", "Prose", "More"), ("requirements.txt", "ruff==1", "ruff==2")],
)
def test_prose_and_tools_make_no_chapter_stale(book, name, old, new):
    (book / name).write_text((book / name).read_text().replace(old, new))
    assert replayed.stale() == []


def test_a_merge_that_keeps_the_keys_of_both_sides_is_understood(book):
    noted = replayed.NOTED.read_text()
    replayed.NOTED.write_text(f"two 0123\n{noted}one 4567\n")
    assert replayed.stale() == []
    replayed.note(["one"])
    assert replayed.NOTED.read_text().count("one") == 1


def test_a_chapter_without_a_note_is_replayed(book):
    replayed.NOTED.unlink()
    assert replayed.stale() == ["one", "two"]
