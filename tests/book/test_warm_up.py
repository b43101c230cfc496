"""The blanks of the warm-up: quiet as they are, right with the answers of the folds."""

import re
from pathlib import Path

import jupytext
import matplotlib.pyplot as plt
import pytest

TEXT = Path(__file__).parents[2] / "book" / "text" / "warm-up.md"
BLANK = re.compile(r"^( *)(\w+ = |return )\.\.\.", re.M)


def answers():
    """What the folds say, in order: one assignment each, or a function."""
    folds = re.findall(
        r"^(`{3,})\{dropdown\} The answer\n(.*?)^\1$",
        TEXT.read_text(encoding="utf-8"),
        re.M | re.S,
    )
    for _, fold in folds:
        function = re.search(r"^```python\n(.*?)^```$", fold, re.M | re.S)
        yield function[1] if function else re.search(r"^`(\w+ = .*?)`", fold)[1]


def run(fill, capsys):
    """Run the page, its blank cells filled or not; return the lines of ``look``."""
    plt.switch_backend("Agg")
    names, said, left = {}, [], list(answers())
    for cell in jupytext.read(TEXT).cells:
        if cell.cell_type != "code":
            continue
        source = cell.source
        if BLANK.search(source) and fill:
            answer = left.pop(0)
            whole = answer.startswith("def ")
            line = re.compile(r"^\w+ = \.\.\..*$", re.M)
            source = answer if whole else line.sub(lambda _, a=answer: a, source)
        exec(source, names)
        said += capsys.readouterr().out.splitlines()
    plt.close("all")
    assert not fill or left == []
    return [line for line in said if re.match("Right|Not yet|Your turn", line)]


def test_a_page_that_nobody_filled_in_runs_and_waits(capsys):
    assert {line.split(":")[0] for line in run(False, capsys)} == {"Your turn"}


def test_the_answers_in_the_folds_are_right(capsys):
    lines = run(True, capsys)
    assert len(lines) == 5
    assert all(line.startswith("Right") for line in lines), lines


@pytest.mark.parametrize("wrong", ["[0.3, 0.3, 0.4]", "0.24", "[0.24, 0.09]"])
def test_a_wrong_answer_is_told_so(wrong, capsys):
    cells = [c.source for c in jupytext.read(TEXT).cells if c.cell_type == "code"]
    names = {}
    for source in cells[: next(i for i, s in enumerate(cells) if BLANK.search(s))]:
        exec(source, names)
    capsys.readouterr()
    names["look"](eval(wrong), [0.24, 0.09, 0.67])
    assert capsys.readouterr().out.startswith("Not yet")
