"""Shared by the tests of the wall: graders that stay warm, and small submissions."""

import pytest

from autograder.wall import Cell, Grader, Limits, available

SHORT = Limits(
    cell_seconds=1.0,
    patience=8.0,  # a busy machine gives a second of its time in fewer than eight
    question_seconds=1.0,
    total_seconds=30.0,
    memory_bytes=400 << 20,
    output_bytes=20_000,
    disk_bytes=4 << 20,
    file_bytes=2 << 20,
    files=200,
    processes=24,
    crashes=2,
)


@pytest.fixture(scope="session")
def _needs_namespaces():
    if reason := available():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def grader(_needs_namespaces):
    """A grader with the limits of real grading."""
    with Grader() as grader:
        yield grader


@pytest.fixture(scope="session")
def strict(_needs_namespaces):
    """A grader with limits that a test can wait for."""
    with Grader(limits=SHORT) as grader:
        yield grader


@pytest.fixture(scope="session")
def unprotected():
    """A grader without namespaces: what attacks do where there is no wall."""
    with Grader(sandbox=False, limits=SHORT) as grader:
        yield grader


@pytest.fixture
def run(grader):
    """Judge student cells and then one test cell; its result and the transcript."""

    def run(*cells, test="", points=1.0, by=grader, profile="numpy", files=None):
        student = [Cell(f"cell-{i}", source) for i, source in enumerate(cells, 1)]
        judged = [Cell("test", test, "test_it", points)] if test else []
        transcript = by.judge(student + judged, profile=profile, files=files)
        return transcript.results.get("test_it"), transcript

    return run
