"""Shared by the tests of the wall: graders that stay warm, and small submissions."""

import contextlib
import os
import sys
import zlib
from pathlib import Path

import pytest

from autograder.grading.jobs import grader_of
from autograder.wall import Cell, Grader, available
from autograder.wall.backend_choice import best

sys.path.insert(0, str(Path(__file__).parent))
from machine import HASTY, SHORT, WALLS, missing


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items):
    """What is the same behind each wall is seen behind the best one first; what waits
    for its limit, behind one that the run's seed chooses."""
    for item in items:
        wall = getattr(item, "callspec", None) and item.callspec.params.get("wall")
        if wall == WALLS[1] and item.get_closest_marker("best_wall"):
            item.add_marker(pytest.mark.long)
        if wall and item.get_closest_marker("either_wall"):
            case = item.name.replace(wall, "")
            turn = zlib.crc32(case.encode()) + int(os.environ["SEED"])
            if wall != WALLS[turn % 2]:
                item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", params=WALLS)
def wall(request):
    """Each wall in turn, also the second one where the first is at hand."""
    if reason := missing(request.param):
        pytest.skip(reason)
    return request.param


@pytest.fixture(scope="session")
def graders():
    """Graders by wall and limits, which go with each submission.

    Those of one wall have the same warm parents: the ones of grading, if it has them.
    """
    with contextlib.ExitStack() as stack:
        made, parents = {}, {"none": grader_of(False)._parents}
        if not available():
            parents[best()] = grader_of(True)._parents

        def grader(wall, limits=None):
            if (wall, limits) not in made:
                new = Grader(wall=wall, limits=limits)
                new._parents = parents.setdefault(wall, new._parents)
                made[wall, limits] = stack.enter_context(new)
            return made[wall, limits]

        yield grader


@pytest.fixture(scope="session")
def grader(wall, graders):
    """A grader with the limits of real grading."""
    return graders(wall)


@pytest.fixture(scope="session")
def best_grader(graders):
    """A grader behind the best wall here, for what is the same behind each."""
    if reason := available():
        pytest.skip(reason)
    return graders(best())


@pytest.fixture(scope="session")
def strict(wall, graders):
    """A grader with limits that a test can wait for."""
    return graders(wall, SHORT)


@pytest.fixture(scope="session")
def hasty(wall, graders):
    """A grader for what never ends: it takes all the time that it gets."""
    return graders(wall, HASTY)


@pytest.fixture(scope="session")
def unprotected(graders):
    """A grader without a wall: what attacks do where there is no wall."""
    return graders("none", SHORT)


@pytest.fixture
def run(grader):
    """Judge student cells and then one test cell; its result and the transcript."""

    def run(*cells, test="", points=1.0, by=grader, profile="numpy", files=None):
        student = [Cell(f"cell-{i}", source) for i, source in enumerate(cells, 1)]
        judged = [Cell("test", test, "test_it", points)] if test else []
        transcript = by.judge(student + judged, profile=profile, files=files)
        return transcript.results.get("test_it"), transcript

    return run
