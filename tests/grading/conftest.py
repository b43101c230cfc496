"""A small course to grade: 01-attention, and hands that hand in work."""

from __future__ import annotations

import functools
import json
import shutil
from concurrent.futures import Executor, Future
from pathlib import Path

import nbgrader.api
import pytest

from autograder import wall
from autograder.cli import main
from autograder.course import CONFIG, Course
from autograder.grading import driver
from autograder.release import notebook_text, plan, students_notebook
from autograder.sample_class import reference_answers, solved

ASSIGNMENT = "01-attention"


UNPROTECTED = ["--no-sandbox"] if wall.available() else []


class Classroom:
    """A course folder of its own, and what one does in it."""

    def __init__(self, root: Path, repository: Course) -> None:
        shutil.copy(repository.root / CONFIG, root / CONFIG)
        source = repository.solutions / ASSIGNMENT
        shutil.copytree(source, root / "solutions" / ASSIGNMENT)
        self.course = Course(root)
        self.root = root

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / ASSIGNMENT / "attention.ipynb"

    def hand_in(
        self, student: str, text: str | bytes, name: str = "attention.ipynb"
    ) -> Path:
        folder = self.root / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(data)
        return folder

    def grade(self, *options: str) -> dict:
        """What --json says after a successful `autograder grade`."""
        target = self.root / "results.json"
        command = ["grade", "--workers", "1", "--json", str(target)]
        assert main([*command, *UNPROTECTED, *options]) == 0
        results = json.loads(target.read_text())
        return {each["student"]: each for each in results["submissions"]}

    def autograded(self, student: str) -> dict:
        path = self.root / "autograded" / student / ASSIGNMENT / "attention.ipynb"
        return json.loads(path.read_text())


@pytest.fixture(scope="session", autouse=True)
def one_look_at_alembic():
    """nbgrader asks a program for its schema's version for each new gradebook."""
    with pytest.MonkeyPatch.context() as patch:
        once = functools.cache(nbgrader.api.get_alembic_version)
        patch.setattr(nbgrader.api, "get_alembic_version", once)
        yield


class Inline(Executor):
    """Does jobs at once, in this process, where one grader stays warm."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def pool(monkeypatch):
    """Most tests are not about worker processes, and do without."""
    monkeypatch.setattr(driver, "new_pool", lambda workers: Inline())


@pytest.fixture(scope="session")
def repository() -> Course:
    return Course.find(Path(__file__).parent)


@pytest.fixture
def classroom(tmp_path, repository, monkeypatch) -> Classroom:
    monkeypatch.chdir(tmp_path)
    return Classroom(tmp_path, repository)


@pytest.fixture(scope="session")
def attention(repository):
    return repository.chosen([ASSIGNMENT])[0]


@pytest.fixture(scope="session")
def release(repository, attention) -> dict:
    return plan(repository, attention)


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
