"""Copies are found though names differ; the course's own text makes nobody alike."""

from __future__ import annotations

import pytest

from autograder.cli import main
from autograder.results.similarity import (
    LONGEST,
    answers_of,
    cliques,
    similar_groups,
)


def test_a_copy_is_found_and_untouched_notebooks_are_not(
    hand_in, right, untouched, course, capsys
):
    hand_in("ada", right)
    hand_in("bob", right.replace("weights", "copied"))
    hand_in("eve", untouched)
    hand_in("zoe", untouched)
    hand_in("tom", "<html>")
    assert main(["similarity", "01-attention"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[1:] == ["ada", "bob"]
    assert lines[1] == "Alike: 1 group, 2 students. No points were changed."
    assert lines[2] == "Not compared: 1 submission that cannot be read (tom)."
    assert not (course.root / "gradebook.db").exists()


def test_names_count_for_nothing_in_calls_over_several_lines_either():
    """A line that ends in an open bracket is no whole statement."""
    code = (
        "{0} = np.exp(\n    {1} - {1}.max(\n        axis={2}))\nreturn {0} + \\\n  {1}"
    )
    sources = {
        "ada": {"softmax": code.format("e", "x", "axis")},
        "bob": {"softmax": code.format("power", "score", "along")},
    }
    (group,) = similar_groups(sources, GIVEN, 0.9)
    assert group.share == 1


@pytest.mark.parametrize("least", ["90", "-0.1", "nan", "all"])
def test_a_share_that_is_none_finds_nobody_innocent(hand_in, right, capsys, least):
    hand_in("ada", right)
    hand_in("bob", right)
    with pytest.raises(SystemExit, match="2"):
        main(["similarity", "01-attention", f"--least={least}"])
    assert "argument --least" in capsys.readouterr().err


def test_of_an_answer_without_end_the_beginning_is_compared(hand_in, right, course):
    """Two of them, each of millions of tokens, would take hours."""
    text = right.replace("def softmax", "y = 1 + 2\\n" * 200_000 + "def softmax", 1)
    assert len(text) > 2_000_000
    hand_in("ada", text)
    (assignment,) = course.chosen(["01-attention"])
    sources, *_ = answers_of(course, assignment)
    assert max(map(len, sources["ada"].values())) == LONGEST


QUESTIONS = ("softmax", "attention_scores", "scaled_dot_product_attention")
GIVEN = dict.fromkeys(QUESTIONS, "")


def different(number, usual="x"):
    """Answers that nobody else wrote, but for a line of the first that is usual."""
    answers = {
        name: f"y = {number}.{place} * {number}.5\nz = {number}{place} / {number}.25"
        for place, name in enumerate(QUESTIONS)
    }
    answers["softmax"] += f"\n{usual} = np.exp(x) / np.exp(x).sum(axis=-1)"
    return answers


def test_what_many_wrote_makes_no_pair_and_what_two_wrote_does():
    sources = {
        f"own{number}": different(number, "xyz"[number % 3]) for number in range(9)
    }
    mine = {"softmax": "a = np.exp(x) / np.exp(x).sum(axis=-1)"}
    sources |= {"ada": mine, "bob": mine}  # nothing but what all wrote
    assert similar_groups(sources, GIVEN, 0.9) == []
    mine = {"softmax": f"{mine['softmax']}\nreturn xx - np.tanh(x) ** 3"}
    theirs = {"softmax": mine["softmax"].replace("xx", "yy")}
    sources |= {"ada": mine, "bob": theirs}
    (group,) = similar_groups(sources, GIVEN, 0.9)
    assert (group.students, group.share) == (("ada", "bob"), 1.0)


def test_a_ring_in_a_large_class_is_listed_once_as_a_group():
    sources = {f"own{number:03}": different(number) for number in range(275)}
    leader = {
        name: f"{text}\nreturn np.tanh(x) ** 3" for name, text in different(0).items()
    }
    ring = {f"ring{number:02}": dict(leader) for number in range(25)}
    ring["ring07"]["softmax"] += "\nz = 1"  # as somebody does who wants to hide it
    found = similar_groups(sources | ring, GIVEN, 0.9)
    assert found[0].students == tuple(sorted(ring))
    assert len(found[0].pairs) == 24
    assert not any(set(group.students) & ring.keys() for group in found[1:])


def test_work_that_most_hand_in_makes_no_ring():
    """What follows from the card, or from a book that all have, is not copied."""
    sources = {f"same{number}": different(0) for number in range(7)}
    sources |= {f"own{number}": different(number) for number in range(1, 6)}
    assert similar_groups(sources, GIVEN, 0.9) == []


def test_everybody_in_a_group_is_like_everybody_else():
    shares = {("a", "b"): 1.0, ("b", "c"): 0.95, ("c", "d"): 0.97}
    shares |= {(two, one): share for (one, two), share in shares.items()}
    assert cliques(shares) == [["a", "b"], ["c", "d"]]


def test_the_page_shows_a_group_as_one(hand_in, right, course, capsys):
    for student in ("ada", "bob", "cleo"):
        hand_in(student, right)
    assert main(["similarity", "01-attention"]) == 0
    first, count, _ = capsys.readouterr().out.splitlines()
    assert first == "100%  3 students: ada  bob  cleo"
    assert count == "Alike: 1 group, 3 students. No points were changed."
    page = (course.root / "similarity-01-attention.html").read_text()
    assert page.count("<details") == 3 and "ada · bob · cleo" in page
