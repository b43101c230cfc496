"""A small course to grade: 01-attention, and hands that hand in work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
from classroom import Classroom
from nbgrader.api import Gradebook

from autograder import registry
from autograder.grading.jobs import grader_of
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook
from autograder.wall import Grader, available


@pytest.fixture(autouse=True)
def pool(inline):
    """Most tests are not about worker processes, and do without."""
    inline(most=sys.maxsize)


@pytest.fixture
def classroom(tmp_path, repository, monkeypatch) -> Iterator[Classroom]:
    monkeypatch.chdir(tmp_path)
    yield Classroom(tmp_path, repository)
    registry.work_on(None)


@pytest.fixture(scope="session")
def grader() -> Grader:
    """A grader behind the wall."""
    if reason := available():
        pytest.skip(reason)
    return grader_of(True)


@pytest.fixture
def gradebook(classroom):
    """nbgrader's own view of the gradebook."""

    def opened():
        return Gradebook(f"sqlite:///{classroom.root}/gradebook.db", "paying-attention")

    return opened


@pytest.fixture(scope="session")
def untouched(repository, attention) -> dict:
    """The students' notebook as it was released."""
    return json.loads(notebook_text(students_notebook(repository, attention)))


@pytest.fixture(scope="session")
def answers(attention) -> dict[str, str]:
    return reference_answers(attention)


@pytest.fixture(scope="session")
def right(untouched, answers) -> str:
    """A notebook with every answer right."""
    return solved(untouched, answers)


@pytest.fixture(scope="session")
def wrong(untouched, answers) -> str:
    """A notebook whose attention scores are not scaled."""
    unscaled = "def attention_scores(Q, K):\n    return Q @ np.swapaxes(K, -2, -1)\n"
    return solved(untouched, answers | {"attention_scores": unscaled})


@pytest.fixture
def ada(classroom, right) -> None:
    """Ada has handed in a notebook with every answer right, and it is graded."""
    classroom.hand_in("ada", right)
    classroom.grade()
