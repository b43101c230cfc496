"""Search for an assignment's cells in a submission: by id, by text, by position."""

from __future__ import annotations

import bisect
from collections import defaultdict

from autograder.notebook.records import (
    BY_POINTS,
    GRADED,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.text_diff import same_text, text_key
from autograder.notebook.time_limit import READING, at_most


def find_by_id(release: Release, submitted: list[SubmittedCell]) -> dict[str, int]:
    """Places by grade_id. Of several, the first that is no copy of the release."""
    by_id = {cell.grade_id: cell for cell in release.cells}
    found: dict[str, int] = {}
    for place, cell in enumerate(submitted):
        released = by_id.get(cell.grade_id or "")
        if released is None:
            continue
        earlier = found.get(released.grade_id)
        untouched = earlier is not None and same_text(
            submitted[earlier].source, released.released
        )
        if earlier is None or (untouched and released.kind in ("answer", "written")):
            found[released.grade_id] = place
    return found


def find_by_text(
    release: Release, submitted: list[SubmittedCell], found: dict[str, int]
) -> None:
    """Cells without metadata whose text is that of the release."""
    taken = set(found.values())
    free: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in reversed(range(len(submitted))):
        if place not in taken:
            free[submitted[place].key].append(place)
    for cell in release.cells:
        if cell.grade_id not in found and (places := free[text_key(cell.released)]):
            found[cell.grade_id] = places.pop()


def find_answers(
    release: Release, submitted: list[SubmittedCell], found: dict[str, int]
) -> None:
    """Answers without metadata: by the name they define, or by their place."""
    taken = set(found.values())
    answers = {cell.grade_id for cell in release.cells if cell.kind == "answer"}
    for index, cell in enumerate(release.cells):
        name = cell.grade_id
        if name in found or cell.kind not in ("answer", "written"):
            continue
        free = [place for place in range(len(submitted)) if place not in taken]
        if cell.kind == "answer":
            # a cell that answers several questions is nobody's own: it is an extra one
            places = [p for p in free if submitted[p].names & answers == {name}]
        else:
            places = between(release, index, submitted, found, free)
        if places:
            found[name] = places[0]
            taken.add(places[0])


def between(
    release: Release,
    index: int,
    submitted: list[SubmittedCell],
    found: dict[str, int],
    free: list[int],
) -> list[int]:
    """Free places where a written answer can be: after the cell that comes before it.

    Only cells of its own type, and none after the next known cell.
    """
    cells = release.cells
    previous = found.get(cells[index - 1].grade_id) if index else None
    if previous is None:
        return []
    later = [place for place in found.values() if place > previous]
    return [
        place
        for place in free
        if previous < place < min(later, default=len(submitted))
        and submitted[place].cell_type == cells[index].cell_type
        and submitted[place].grade_id is None
    ]


@at_most(READING)
def resemblance(release: Release, submitted: list[SubmittedCell]) -> int:
    """How many cells of the release are in these cells; to recognise a renamed file."""
    found = find_by_id(release, submitted)
    find_by_text(release, submitted, found)
    names = {cell.grade_id for cell in release.cells if cell.kind == "answer"}
    return len(found) or len(names & {n for cell in submitted for n in cell.names})


def is_copy(cell: SubmittedCell, released: ReleasedCell) -> bool:
    """A repeated cell that holds nothing of the student's own."""
    return released.kind in ("test", "locked") or same_text(
        cell.source, released.released
    )


def rising(numbers: list[int]) -> set[int]:
    """The members of a longest rising subsequence: the cells that nobody moved."""
    ends: list[int] = []  # the smallest end of a rising run of each length
    runs: list[tuple[int, ...]] = []
    for number in numbers:
        place = bisect.bisect_left(ends, number)
        run = (*(runs[place - 1] if place else ()), number)
        ends[place : place + 1] = [number]
        runs[place : place + 1] = [run]
    return set(runs[-1]) if runs else set()


def is_another(
    release: Release, submitted: list[SubmittedCell], found: dict[str, int]
) -> bool:
    """Whether this is the notebook of another assignment, by its names.

    Assignments share names such as "introduction", and the names of helpers.
    """
    own = {cell.grade_id for cell in release.cells}
    named = {cell.grade_id for cell in submitted if cell.grade_id}
    if len(named - own) > len(named & own):
        return True
    graded = [cell for cell in release.cells if cell.kind in (*GRADED, *BY_POINTS)]
    defined = {name for one in submitted for name in one.names}
    return not any(
        cell.grade_id in found or (cell.kind == "answer" and cell.grade_id in defined)
        for cell in graded
    )
