"""When a chapter is executed again, and what is taken over without it."""

import shutil
from contextlib import contextmanager

import nbformat
import notebooks
import pytest

TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Sums

One and one.

```{code-cell} ipython3
print(1 + 1)
```
"""


@contextmanager
def instead(folder):
    """The folder is the book."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebooks, "BOOK", folder)
        patch.setattr(notebooks, "TEXT", folder / "text")
        yield folder


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A book of one small chapter, executed once."""
    folder = tmp_path_factory.mktemp("executed")
    (folder / "text").mkdir()
    (folder / "attention.py").write_text("# nothing\n")
    (folder / "matplotlibrc").write_text("image.cmap: Purples\n")
    (folder / "text/sums.md").write_text(TEXT)
    with instead(folder):
        notebooks.execute("sums")
    return folder


@pytest.fixture
def book(executed, tmp_path):
    with instead(shutil.copytree(executed, tmp_path / "book")) as folder:
        yield folder


def test_new_prose_is_taken_over_and_the_outputs_stay(book):
    before = nbformat.read(book / "sums.ipynb", as_version=4)
    (book / "text/sums.md").write_text(TEXT.replace("One and one.", "Add.\n\n# More"))
    assert notebooks.is_fresh("sums")
    assert notebooks.renew("sums")
    after = nbformat.read(book / "sums.ipynb", as_version=4)
    assert "Add." in after.cells[0].source
    assert after.cells[-1].outputs == before.cells[-1].outputs
    assert after.cells[-1].outputs[0].text == "2\n"
    nbformat.validate(after)


def test_nothing_new_leaves_every_byte(book):
    before = (book / "sums.ipynb").read_bytes()
    assert not notebooks.renew("sums")
    assert (book / "sums.ipynb").read_bytes() == before


@pytest.mark.parametrize("file", ["text/sums.md", "attention.py"])
def test_new_code_has_to_be_executed(book, file):
    path = book / file
    path.write_text(path.read_text().replace("1 + 1", "1 + 2") + "\n# new\n")
    assert not notebooks.is_fresh("sums")


@pytest.mark.parametrize(("changed", "fresh"), [("bars", False), ("maps", True)])
def test_a_chapter_depends_on_the_figures_that_it_imports(book, changed, fresh):
    """And on no other function of plots.py."""
    drawn = (
        "def plot_bars():\n    return 'bars'\n\n\ndef plot_maps():\n    return 'maps'\n"
    )
    (book / "plots.py").write_text(drawn)
    code = "from plots import plot_bars\nprint(1 + 1)"
    (book / "text/sums.md").write_text(TEXT.replace("print(1 + 1)", code))
    before = notebooks.fingerprint("sums")
    (book / "plots.py").write_text(drawn.replace(f"'{changed}'", "'other'"))
    assert (notebooks.fingerprint("sums") == before) is fresh


def test_what_depends_on_the_machine_stays_while_the_code_is_the_same(book):
    """Executing twice gives the same bytes."""
    text, published = book / "text/sums.md", book / "sums.ipynb"
    timed = "import time\nprint(time.perf_counter())\n"
    cell = f"\n```{{code-cell}} ipython3\n:tags: [nbval-ignore-output]\n\n{timed}```\n"
    text.write_text(TEXT + cell)
    notebooks.execute("sums")
    first = published.read_bytes()
    notebooks.execute("sums")
    assert published.read_bytes() == first
    text.write_text(TEXT.replace("1 + 1", "1 + 2") + cell)
    notebooks.execute("sums")
    new = nbformat.read(published, as_version=4).cells
    old = nbformat.reads(first.decode(), as_version=4).cells
    assert new[-1].source == old[-1].source and new[-1].outputs != old[-1].outputs
