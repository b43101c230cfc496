"""Other right ways: for whom they are, and when they are held back."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest

from autograder.checks import attention
from autograder.cli import main
from autograder.course import CONFIG
from autograder.grading.store import Store
from autograder.results.other_answers import last_moment, may_be_shown
from autograder.tools.judging import catalog_of, packages

CATALOG = catalog_of(attention)
PAST, FUTURE = "2020-03-02 12:00", "2999-03-02 12:00"


@pytest.mark.parametrize("package", packages(), ids=lambda p: p.assignment.name)
def test_every_question_has_two_other_ways_with_a_sentence_each(package):
    for name in package.assignment.questions:
        ways = catalog_of(package).ways(name)
        assert len(ways) >= 2 and len(set(ways)) == len(ways), name
        for code, sentence in ways:
            assert code.strip() and sentence.endswith(".") and len(sentence) > 20


def shown(classroom, student="ada"):
    """Which questions have other ways on a feedback page, and its text."""
    assert main(["feedback"]) == 0
    folder = classroom.root / "feedback" / student / "01-attention"
    page = html.unescape((folder / "attention.html").read_text(encoding="utf-8"))
    return re.findall(r"Other right ways to write (\w+)", page), page


def setting(classroom, line):
    path = classroom.root / CONFIG
    path.write_text(f"{path.read_text()}\n{line}\n")


def test_who_passed_a_question_reads_two_ways_below_its_check(classroom, ada):
    questions, page = shown(classroom)
    assert questions == [
        *("softmax", "attention_scores", "scaled_dot_product_attention"),
        "check_softmax",
    ]
    fold = page[page.index("Other right ways to write softmax") :]
    fold = fold[: fold.index("</details>")]
    text = re.sub("<[^>]*>", "", fold)
    for code, sentence in CATALOG.ways("softmax")[:2]:
        assert sentence.replace("`", "") in text
        assert code.strip() in text
    assert page.index('name="test_softmax"') < page.index("write softmax")
    assert page.index("write softmax") < page.index('name="test_attention_scores"')


def test_who_did_not_pass_a_question_reads_no_answer_to_it(classroom, wrong):
    classroom.hand_in("ada", wrong)
    classroom.grade()
    questions, page = shown(classroom)
    assert "attention_scores" not in questions and "softmax" in questions
    for _, sentence in CATALOG.ways("attention_scores"):
        assert sentence.replace("`", "") not in re.sub("<[^>]*>", "", page)


@pytest.mark.parametrize(
    ("lines", "extensions", "open_"),
    [
        ("", "", True),
        (f'c.Autograder.due = {{"01-attention": "{PAST}"}}', "", True),
        (f'c.Autograder.due = {{"01-attention": "{FUTURE}"}}', "", False),
        (f'c.Autograder.due = {{"01-attention": "{PAST}"}}', FUTURE, False),
        (f'c.Autograder.due = {{"01-attention": "{PAST}"}}', PAST, True),
        ("c.Autograder.other_ways = False", "", False),
    ],
    ids=["no date", "past", "not yet", "an extension", "one that ended", "never"],
)
def test_nobody_reads_answers_while_somebody_may_hand_in(
    classroom, right, lines, extensions, open_
):
    """An extension of a student who has not handed in anything counts, too."""
    setting(classroom, lines)
    if extensions:
        table = f"student_id,assignment,due\nbela,01-attention,{extensions}\n"
        (classroom.root / "extensions.csv").write_text(table, encoding="utf-8")
    classroom.hand_in("ada", right)
    classroom.grade()
    assert bool(shown(classroom)[0]) is open_


def test_dates_that_were_set_in_formgrader_count(classroom, ada, gradebook):
    due = datetime(2020, 3, 2, 12)
    with gradebook() as book:
        book.find_assignment("01-attention").duedate = due
        book.db.commit()
    with Store(classroom.course) as store:
        last = last_moment(classroom.course, store, "01-attention")
        assert last == due.replace(tzinfo=UTC)
        assert may_be_shown(classroom.course, store, "01-attention")
    longer = timedelta(days=365_000)
    with gradebook() as book:
        book.find_submission("01-attention", "ada").extension = longer
        book.db.commit()
    with Store(classroom.course) as store:
        last = last_moment(classroom.course, store, "01-attention")
        assert last == (due + longer).replace(tzinfo=UTC)
        assert not may_be_shown(classroom.course, store, "01-attention")
