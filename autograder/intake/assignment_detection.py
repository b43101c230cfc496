"""Recognition of a submitted notebook's assignment: by its cells, else by its path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from autograder.course import Assignment
from autograder.errors import Held
from autograder.notebook.cell_search import resemblance
from autograder.notebook.reading import read_cells
from autograder.notebook.records import Release


def assignment_of(
    path: PurePosixPath,
    data: bytes,
    releases: Mapping[Assignment, Release],
    given: Assignment | None = None,
) -> Assignment | None:
    """By its cells; of a file that cannot be read, as ``given`` or by its name."""
    try:
        cells = read_cells(data)
    except Held:
        cells = []
    known = {one: resemblance(release, cells) for one, release in releases.items()}
    best = max(known, key=lambda one: known[one])
    if known[best]:
        return best
    if given:
        named = [part for part in given.parts if part.notebook in path.name]
        return (named or list(given.parts))[0]
    folders = [one for one in releases if one.name in path.parts]
    named = [one for one in releases if one.notebook in path.name]
    longest = sorted(named, key=lambda one: -len(one.notebook))
    return next(iter(folders + longest), None)
