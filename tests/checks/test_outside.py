"""Answers by people who knew the cards and had read neither checks nor catalogs.

The catalogs have learned from each round before the next was asked. At first, of 494
wrong answers to 01 to 12 of round 2, 483 lost points and 359 had a name; of the 167
wrong functions of the puzzles 105 had one. Of the 550 wrong ones of round 4 all lost
points and 482 had a name. What is said here is what holds now.
"""

import json
from collections import Counter

import pytest
from shared import drawn

from autograder.checks import puzzles
from autograder.checks.expect import LISTED
from autograder.errors import CourseError
from autograder.notebook.running import seed as seed_all
from autograder.tools.judging import judge
from benchmarks import outside
from benchmarks.feedback import defined
from benchmarks.outside import answers, titles

SHARES = 20  # into which the answers about an assignment are dealt


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("share", drawn(range(SHARES)))
@pytest.mark.parametrize("name", titles())
def test_what_others_write_is_judged_rightly(name, share, capsys):
    package = titles()[name]
    surprises = []
    for one in answers(name)[share::SHARES]:
        answer = defined(package, one.question, one.code)
        seed_all(0)  # dropout, among others
        points, message, named = judge(package, one.question, answer)
        full = points == getattr(package, one.question).points
        expected = (not one.wrong or one.passes != "", one.name or None)
        if (full, named) != expected:
            surprises.append((one.round, one.id, expected, points, message))
    assert surprises == []


WRONG = {  # round: answers, of which some pass and some have a name
    1: (630, 3, 604),  # where the probe does not prove a name, none is given
    2: (494, 1, 480),
    3: (550, 1, 495),
    4: (550, 1, 495),
}


@pytest.fixture(scope="module")
def every():
    """Each answer, after the name of its assignment."""
    return [(name, answer) for name in titles() for answer in answers(name)]


@pytest.mark.parametrize("round", WRONG)
def test_they_are_many_and_most_mistakes_have_a_name(every, round):
    every = [one for name, one in every if one.round == round and name != "00-puzzles"]
    wrong = [one for one in every if one.wrong]
    number, passing, named = WRONG[round]
    assert len(wrong) >= number and len(every) - len(wrong) > 120
    assert sum(one.passes != "" for one in wrong) <= passing
    assert sum(one.name != "" for one in wrong) >= named


def test_each_question_has_right_answers_in_several_styles(every):
    styles = Counter((name, one.question) for name, one in every if not one.wrong)
    few = {name for (name, _), count in styles.items() if count < 5}
    assert len(styles) == 92 and few == {"00-puzzles"} and min(styles.values()) == 2


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_input_that_breaks_nothing_is_told_why():
    for one in answers("00-puzzles"):
        if one.wrong and one.question.startswith("break"):
            answer = defined(puzzles, one.question, one.code)
            message = str(judge(puzzles, one.question, answer)[1])
            same = "gives what a right function gives" in message
            listed = LISTED in message  # how to make an array of a list
            assert not (same or listed) or "\n  likely:" in message, message
            assert not (same and listed)


def test_an_answer_that_was_printed_can_be_added(tmp_path, capsys):
    first, second = answers("04-masking")[:2]
    text, line = outside.python(second), json.dumps(outside.asdict(first))
    (tmp_path / "04-masking.jsonl").write_text(line + "\n")
    assert outside.add("04-masking", text, tmp_path) == second
    assert answers("04-masking", tmp_path) == [first, second]
    with pytest.raises(CourseError, match=f"{second.id}: round 1 has two"):
        outside.add("04-masking", text, tmp_path)
    assert outside.main(["04-masking", second.id]) == 0
    assert capsys.readouterr().out == text + "\n"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"more": 1}, "an answer has the keys round, who, seen, "),
        ({"round": "1"}, "b: `round` is no int"),
        ({"question": "softmax"}, "b: 04-masking has no question softmax"),
        ({"says": ""}, "b is right, or it is wrong and `says`"),
        ({"code": "x = 1 +"}, "b: not Python"),
        ({"code": "x = 1"}, "b: its code does not define causal_mask"),
    ],
)
def test_a_line_that_does_not_fit_is_reported_with_its_entry(tmp_path, change, says):
    row = dict.fromkeys(outside.KEYS, "") | {"round": 1, "id": "a", "says": "No."}
    row |= {"question": "causal_mask", "verdict": "wrong", "code": "causal_mask = 1"}
    lines = [json.dumps(row), json.dumps(row | {"id": "b"} | change), "{"]
    (tmp_path / "04-masking.jsonl").write_text("\n".join(lines))
    with pytest.raises(CourseError) as error:
        answers("04-masking", tmp_path)
    second, third = str(error.value).splitlines()
    assert second.startswith(f"04-masking.jsonl, line 2: {says}")
    assert third.startswith("04-masking.jsonl, line 3: ")
