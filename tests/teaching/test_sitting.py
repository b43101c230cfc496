"""`autograder sitting`: papers whose keys hold, in versions that differ."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import numpy as np
import pytest
from autograder.checks.puzzles import right

from autograder.cli import main
from autograder.course import Course
from autograder.release.validation import catalog_of
from autograder.sitting.items import (
    code_questions,
    predictions,
    puzzle,
    puzzle_names,
    puzzles,
)
from autograder.sitting.paper import MINUTES, paper

COURSE = Course.find(Path(__file__).parent)
SHOWN = puzzle_names("00-puzzles")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of wrong functions


def plain(markup):
    return unescape(re.sub(r"<[^>]+>", "", markup))


def arrays(choice):
    """The arguments that a choice prints, as somebody types them in."""
    values = eval(f"dict({plain(choice)})")
    return {n: np.array(v) if isinstance(v, list) else v for n, v in values.items()}


def outcome(function, arguments):
    with np.errstate(all="ignore"):
        try:
            return np.asarray(function(**arguments), float).tolist()
        except Exception as error:
            return type(error).__name__


def same(one, other):
    return one == other or (
        not isinstance(one, str)
        and np.shape(one) == np.shape(other)
        and np.allclose(one, other, atol=1e-4)
    )


@pytest.mark.parametrize("name", SHOWN)
def test_one_printed_input_shows_the_mistake_and_it_is_the_key(name):
    """What is printed is run again, as text, against the oracle of the puzzle."""
    about = name.partition("_")[2]
    oracle = getattr(right, "softmax_row" if about == "softmax" else about)
    keys = set()
    for number in range(12):
        item = puzzle(name, Random(number), COURSE.exercises)
        program = {"np": np}
        exec(item.code, program)
        functions = {n: f for n, f in program.items() if re.match(r"wrong_|[ABC]$", n)}
        exposed = {
            f"{letter} {index}" if item.letter else str(index)
            for index, choice in enumerate(item.choices, 1)
            for letter, function in functions.items()
            if not same(
                outcome(function, arrays(choice)), outcome(oracle, arrays(choice))
            )
        }
        assert exposed == {item.key}, item
        keys.add(item.key)
    assert len(keys) > 2  # nobody can learn it from a neighbor


def test_every_puzzle_that_shows_a_function_can_be_drawn():
    assert {name.partition("_")[2] for name in SHOWN} == set(puzzles()[1])
    assert "break_masked_row" in puzzle_names("04-") and not puzzle_names("12-")


class Marked(HTMLParser):
    """The choices of a chapter that are marked as right, by quiz."""

    def __init__(self):
        super().__init__()
        self.found, self.quiz, self.open = {}, None, False

    def handle_starttag(self, tag, attributes):
        said = dict(attributes)
        if tag == "div" and "quiz" in said.get("class", "").split():
            self.quiz = said["id"]
        elif tag == "summary":
            self.open = self.right
        elif tag == "details":
            self.right = said.get("class") == "correct"

    def handle_endtag(self, tag):
        self.open = self.open and tag != "summary"

    def handle_data(self, data):
        if self.open:
            self.found[self.quiz] = self.found.get(self.quiz, "") + data


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_key_of_a_prediction_is_what_its_chapter_says(number):
    (chapter,) = COURSE.root.glob(f"book/text/0{number}-*.md")
    marked = Marked()
    marked.feed(chapter.read_text("utf-8"))
    items = list(predictions(chapter, Random(1)))
    assert len(items) >= 2
    for item in items:
        quiz = item.from_where.rpartition(", ")[2]
        assert plain(item.choices[item.right]) == marked.found[quiz]
        assert "Predict:" not in item.asked


def test_code_that_is_read_is_a_right_style_and_no_reference():
    catalog = catalog_of("masking")
    items = list(code_questions(catalog, Random(3)))
    assert len(items) >= 3
    for item in items:
        code = "\n".join(line[4:] for line in item.code.splitlines())
        assert code in {style.code.strip("\n") for style in catalog.styles}
        assert len(set(item.choices)) == len(item.choices) > item.right
        assert "your" not in plain(item.asked + item.because)


def test_a_paper_takes_half_an_hour_and_has_all_kinds():
    chosen = COURSE.chosen(["01-attention", "04-masking"])
    for version in range(3):
        items = paper(COURSE, chosen, 1, version)
        minutes = sum(item.minutes for item in items)
        assert MINUTES - 2 <= minutes <= MINUTES
        kinds = {item.kind for item in items}
        assert {"Predict", "Read the code"} < kinds
        assert {"Break it", "Spot it"} & kinds


@pytest.mark.parametrize("number", [457518775, 3, None])
def test_versions_have_as_many_questions_and_points(number, seed):
    chosen = COURSE.chosen(["01-attention", "04-masking"])
    number = seed if number is None else number
    papers = [paper(COURSE, chosen, number, version) for version in range(4)]
    shapes = {
        tuple(sorted((i.kind, i.minutes, i.points) for i in items)) for items in papers
    }
    assert len(shapes) == 1
    assert len({tuple(i.from_where for i in items) for items in papers}) == 4


@pytest.fixture
def sitting(tmp_path, monkeypatch):
    """Write papers; the text of the paper and of the key."""
    monkeypatch.chdir(COURSE.root)

    def write(*options):
        folder = tmp_path / "sitting"
        done = main(["sitting", "01-attention", "--output", str(folder), *options])
        assert done == 0
        return [
            (folder / f"{page}.html").read_text("utf-8") for page in ("paper", "key")
        ]

    return write


def test_versions_differ_and_a_seed_gives_the_same_papers_again(sitting):
    first, key = sitting("--versions", "3", "--seed", "7")
    assert (first, key) == tuple(sitting("--versions", "3", "--seed", "7"))
    papers = re.findall(r"<main.*?</main>", first, re.S)
    differing = {re.sub(r"Version \d", "", one) for one in papers}
    assert len(papers) == len(differing) == 3
    most = [re.findall(r"(\d+) points", plain(one))[0] for one in papers]
    choices, reasons = (len(re.findall(t, papers[0])) for t in ("<h2>", 'class="why"'))
    assert most == [str(choices + reasons)] * 3
    assert re.findall(r"Version \d, (\d+) points", plain(key)) == most
    assert "--seed 7" in plain(key) and "--seed" not in first
    assert (
        sitting("--versions", "1")[0] != sitting("--versions", "1")[0]
    )  # a new seed each time


def test_a_course_without_these_chapters_is_told_so(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "solutions/01-rows"
    folder.mkdir(parents=True)
    (folder / "rows.ipynb").write_text("{}")
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    monkeypatch.chdir(tmp_path)
    assert main(["sitting", "01-rows"]) == 2
    said = "There are 0 questions about 01-rows, and a paper has at least 5. Add"
    assert said in capsys.readouterr().err


def test_the_paper_does_not_give_the_key_away(sitting):
    text, key = sitting("--versions", "2", "--seed", "3")
    reasons = re.findall(r"<td>\d+\. .*?</td><td>.*?</td><td>(.*?)</td>", key, re.S)
    assert len(reasons) > 10
    assert [one for one in reasons if one in text or "correct" in text] == []
