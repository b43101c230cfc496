"""A small course, and archives as learning platforms make them."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.course import CONFIG, Course
from autograder.release import notebook_text, students_notebook
from autograder.sample_class import reference_answers, solved

ASSIGNMENT = "01-attention"


@pytest.fixture(scope="session")
def repository() -> Course:
    return Course.find(Path(__file__).parent)


@pytest.fixture(scope="session")
def attention(repository):
    return repository.chosen([ASSIGNMENT])[0]


@pytest.fixture(scope="session")
def untouched(repository, attention) -> str:
    """The students' notebook as it was released."""
    return notebook_text(students_notebook(repository, attention))


@pytest.fixture(scope="session")
def right(untouched, attention) -> str:
    return solved(json.loads(untouched), reference_answers(attention))


@pytest.fixture
def course(tmp_path, repository, monkeypatch) -> Course:
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(repository.root / CONFIG, root / CONFIG)
    source = repository.solutions / ASSIGNMENT
    shutil.copytree(source, root / "solutions" / ASSIGNMENT)
    monkeypatch.chdir(root)
    return Course(root)


@pytest.fixture
def archive(tmp_path):
    """Write a zip: path -> text, or path -> (text, time)."""

    def write(files: dict, name: str = "download.zip") -> Path:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as target:
            for path, content in files.items():
                text, time = (
                    content
                    if isinstance(content, tuple)
                    else (content, (2026, 3, 4, 5, 6, 8))
                )
                info = zipfile.ZipInfo(path, time)
                info.compress_type = zipfile.ZIP_DEFLATED
                target.writestr(info, text)
        return tmp_path / name

    return write
