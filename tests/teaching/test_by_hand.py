"""Formgrader's saved grades: for a whole team."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from nbgrader.api import Gradebook

from autograder.grading import by_hand
from autograder.grading.store import Store

NAME = "01-attention"
TEAM = {"ada": "Rocket", "bob": "Rocket", "cy": "Rocket", "dan": "Comet", "eve": ""}


@pytest.fixture
def team(course, marked):
    """A class with a team of three, of whom the last handed in something else."""
    marked(dict.fromkeys(TEAM))
    for student, name in TEAM.items():
        folder = course.collected / student / NAME
        folder.mkdir(parents=True)
        origin = {"platform": "", "label": "", "version": "", "team": name}
        (folder / "origin.json").write_text(json.dumps(origin))
    with Store(course) as store:
        for student, text in (("cy", "of her own"), ("dan", "as it was")):
            old = store.verdict(student, NAME).verdict
            answers = {question.id: text for question in old.questions}
            store.gradebook.db.execute(
                by_hand.VERDICTS.update()
                .filter_by(student=student)
                .values(verdict=replace(old, answers=answers).to_json())
            )
        store.gradebook.db.commit()
    by_hand.watch(course)
    return course


@pytest.fixture
def enter(team):
    """Save a field as formgrader's handlers do."""

    def save(student, score=None, comment=None):
        where = ("explain_roles", "attention", NAME, student)
        with Gradebook(f"sqlite:///{team.root}/gradebook.db") as book:
            if score is not None:
                grade = book.find_grade(*where)
                grade.manual_score, grade.needs_manual_grade = score, False
                book.db.commit()
            if comment is not None:
                row = book.find_comment(*where)
                row.manual_comment = comment
                book.db.commit()
                return row.manual_comment

    return save


def given(course):
    """Points and comment of everybody."""
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        where = [("explain_roles", "attention", NAME, student) for student in TEAM]
        return [
            (book.find_grade(*w).manual_score, book.find_comment(*w).manual_comment)
            for w in where
        ]


def test_a_team_is_graded_once_where_its_answer_is_the_same(team, enter):
    enter("ada", 3.0, "Two effects.")
    both, nobody = (3.0, "Two effects."), (None, None)
    assert given(team) == [both, both, nobody, nobody, nobody]
    with Store(team) as store:
        found = store.results(NAME)
    assert [who for who in TEAM if found[who].final] == ["ada", "bob"]
    enter("bob", 2.0)
    assert [score for score, _ in given(team)] == [2.0, 2.0, None, None, None]
    for student, score in (("cy", 1.0), ("eve", 4.0)):
        enter(student, score)
    assert [score for score, _ in given(team)] == [2.0, 2.0, 1.0, None, 4.0]
