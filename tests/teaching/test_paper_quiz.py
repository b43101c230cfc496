"""`autograder sitting`: papers whose keys hold, in versions that differ."""

import re
from html import unescape
from pathlib import Path
from random import Random

import pytest

from autograder.cli import main
from autograder.course import Course
from autograder.release.validation import catalog_of
from autograder.results.paper_quiz import MINUTES, READING, about_catalog, versions

COURSE = Course.find(Path(__file__).parent)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of changed lines


def plain(markup):
    return unescape(re.sub(r"<[^>]+>", "", markup))


def test_code_that_is_read_is_a_right_style_and_no_reference():
    catalog = catalog_of("masking")
    items = list(about_catalog(catalog, Random(3)))
    assert len(items) >= 3
    for item in items:
        code = "\n".join(line[4:] for line in item.code.splitlines())
        assert code in {style.code.strip("\n") for style in catalog.styles}
        asked = item.asked
        assert len(set(asked.choices)) == len(asked.choices) > asked.key
        assert "your" not in asked.text + asked.why


def test_versions_have_as_many_questions_and_take_half_an_hour():
    chosen = COURSE.chosen(["01-attention", "04-masking"])
    papers = versions(chosen, 1, 3)
    assert [len(items) for items in papers] == [MINUTES // READING] * 3
    assert len({tuple(i.source for i in items) for items in papers}) == 3


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
    assert most == [str(papers[0].count("<h2>"))] * 3
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
    reasons = re.findall(r"<td>\d+\.</td><td>\d</td><td>(.*?)</td>", key, re.S)
    assert len(reasons) > 10
    assert [one for one in reasons if one in text or "correct" in text] == []
