"""Shared by the tests of the wall: graders that stay warm, and small submissions."""

import sys
from pathlib import Path

import pytest

from autograder.wall import Cell, Grader

sys.path.insert(0, str(Path(__file__).parent))
from machine import SHORT, WALLS, missing


@pytest.fixture(scope="session", params=WALLS)
def wall(request):
    """Each wall in turn, also the second one where the first is at hand."""
    if reason := missing(request.param):
        pytest.skip(reason)
    return request.param


@pytest.fixture(scope="session")
def grader(wall):
    """A grader with the limits of real grading."""
    with Grader(wall=wall) as grader:
        yield grader


@pytest.fixture(scope="session")
def strict(wall):
    """A grader with limits that a test can wait for."""
    with Grader(wall=wall, limits=SHORT) as grader:
        yield grader


@pytest.fixture(scope="session")
def unprotected():
    """A grader without a wall: what attacks do where there is no wall."""
    with Grader(wall="none", limits=SHORT) as grader:
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
