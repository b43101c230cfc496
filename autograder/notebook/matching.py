"""From a submission's cells to the release's: what belongs where, and what was added.

Nothing that a submission says about itself is believed: not its metadata, tags, ids or
points. And nothing that a student did is thrown away: what was typed into a cell of the
course, into another cell or beside the card runs, or waits for a person.
"""

from __future__ import annotations

import re
from dataclasses import replace

from autograder.errors import Held
from autograder.notebook.finding import (
    find_answers,
    find_by_id,
    find_by_text,
    is_another,
    is_copy,
    rising,
)
from autograder.notebook.records import (
    GRADED,
    Matched,
    MatchedCell,
    Place,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.texts import (
    Added,
    alike,
    alike_key,
    defines,
    difference,
    is_stub,
    mentions,
    parses,
    without_block,
)
from autograder.notebook.words import words_near

IMPORT = re.compile(r"^(?:from|import) .*", re.MULTILINE)
BEFORE, HERE, AFTER = -2, -1, 0  # ranks of what a cell of the course held


def match(release: Release, submitted: list[SubmittedCell]) -> Matched:
    """Find the release's cells in the submission; Held when there are none."""
    found = find_by_id(release, submitted)
    known = len(found)
    find_by_text(release, submitted, found)
    find_answers(release, submitted, found)
    if is_another(release, submitted, found):
        raise Held(
            f"No question of {release.assignment} was found in this notebook; is it "
            "another assignment's?"
        )
    matching = Matching(release, submitted, found)
    if known == 0 and found:
        matching.note(
            "The notebook had lost nbgrader's metadata; its cells were found by "
            "their text."
        )
    return matching.result()


class Matching:
    """Puts together what runs: the course's cells, the answers, what was added.

    ``found`` tells where in the submission a cell of the release is.
    """

    def __init__(
        self, release: Release, submitted: list[SubmittedCell], found: dict[str, int]
    ) -> None:
        self.release, self.submitted, self.found = release, submitted, found
        self.cells: list[tuple[Place, MatchedCell]] = []
        self.notes: list[str] = []
        self.merged = [
            cell.released
            for cell in release.cells
            if cell.kind == "test" and cell.grade_id not in found
        ]
        self.own = self.extras()

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def result(self) -> Matched:
        """The cells in the order in which they run, and notes for the student."""
        self.cells += self.own
        in_order = rising(
            [
                self.found[c.grade_id]
                for c in self.release.cells
                if c.grade_id in self.found
            ]
        )
        locked: Place = (-1, 0)  # where the last cell of the course went
        before: Place = (-1, 0)  # where the cell before this one went
        for rank, cell in enumerate(self.release.cells, 1):
            there = self.found.get(cell.grade_id)
            here: Place = (before[0], rank) if there is None else (there, HERE)
            if cell.kind == "test":
                here = max(here, self.after_answer(cell, rank))
                if there is None:
                    self.note(
                        f"The cell {cell.grade_id} was missing; the course's own was "
                        "used."
                    )
            elif cell.kind not in GRADED:
                if there is None or there not in in_order:
                    here = (locked[0], rank)
                locked = here
            before = here
            self.cells.append((here, self.resolved(cell)))
        self.cells.sort(key=lambda entry: entry[0])
        return Matched([cell for _, cell in self.cells], self.notes)

    # ------------------------------------------------------------ what was added

    def extras(self) -> list[tuple[Place, MatchedCell]]:
        """What the student added, and where."""
        names = {place: name for name, place in self.found.items()}
        by_name = {cell.grade_id: cell for cell in self.release.cells}
        own: list[tuple[Place, MatchedCell]] = []
        for place, cell in enumerate(self.submitted):
            if place in names:
                released = by_name[names[place]]
                if released.kind not in ("answer", "written"):
                    added = self.added(cell, released)
                    for text, rank in ((added.before, BEFORE), (added.after, AFTER)):
                        if text.strip():
                            own.append(((place, rank), self.extra(cell, text)))
                continue
            if cell.grade_id in by_name:
                released = by_name[cell.grade_id]
                self.note(
                    f"The cell {cell.grade_id} was there more than once; "
                    + (
                        "the first one that is filled in counts."
                        if released.kind == "written"
                        else "all of them run, and the last definition counts."
                    )
                )
                if is_copy(cell, released):
                    continue
            own.append(((place, HERE), self.extra(cell, cell.source)))
        return own

    def added(self, cell: SubmittedCell, released: ReleasedCell) -> Added:
        """What a cell of the course has that the course did not write.

        It runs before the course's own or after it, where it stood. Of a locked cell
        that was rewritten so that the new lines make no sense alone, it is the whole
        cell.
        """
        if any(
            alike(cell.source, text) for text in (released.released, released.source)
        ):
            return Added()
        added = difference(cell.source, released.released)
        code = cell.cell_type == "code" and released.kind == "locked"
        if code and not (parses(added.before) and parses(added.after)):
            added = Added(cell.source)
        self.note(
            f"The cell {released.grade_id} had been changed; the course's own was "
            "used, and what was added is kept beside it."
        )
        if released.kind == "test" and added.after:  # a test's imports stay in the test
            imports = "\n".join(IMPORT.findall(released.released))
            return Added(added.before, f"{imports}\n{added.after}".lstrip())
        return added

    def extra(self, cell: SubmittedCell, text: str) -> MatchedCell:
        return MatchedCell(
            kind="extra",
            cell_type=cell.cell_type,
            source=self.without_tests(text) if cell.cell_type == "code" else text,
            attachments=cell.attachments,
        )

    def without_tests(self, source: str) -> str:
        """Code without the test cells that were merged into it, which run anyway."""
        for text in self.merged:
            source = without_block(source, text)
        return source

    # ------------------------------------------------------- cells of the course

    def resolved(self, cell: ReleasedCell) -> MatchedCell:
        """A cell of the release, with the student's text where it is an answer."""
        there = self.found.get(cell.grade_id)
        own = None if there is None else self.submitted[there]
        matched = MatchedCell(
            kind=cell.kind,
            cell_type=cell.cell_type,
            source=cell.source,
            grade_id=cell.grade_id,
            released=cell.released,
            points=cell.points,
            id=cell.id,
            metadata=cell.metadata,
            attachments=cell.attachments,
        )
        if cell.kind not in ("answer", "written"):
            return matched
        if own is not None and own.cell_type != cell.cell_type:
            self.note(
                f"The cell {cell.grade_id} had become a {own.cell_type} cell; it was "
                f"read as {cell.cell_type}."
            )
        empty = (
            own is None or alike(own.source, cell.released) or not own.source.strip()
        )
        if cell.kind == "written":
            return self.written(cell, matched, own, empty)
        hollow = empty or (own is not None and is_stub(own.source, cell.grade_id))
        places = self.definers(cell.grade_id) if hollow else []
        elsewhere = bool(places)
        if own is None:
            self.note(
                f"The cell {cell.grade_id} was missing; "
                + (
                    "an answer in another cell counts."
                    if elsewhere
                    else "it counts as not answered."
                )
            )
        return replace(
            matched,
            source="" if own is None else self.without_tests(own.source),
            unanswered=empty and not elsewhere,
            runs=own is not None
            and (not elsewhere or self.extends(cell.grade_id, there, places)),
        )

    def extends(self, name: str, stub: int | None, places: list[int]) -> bool:
        """Whether answers below an open one read it, so that it has to be there."""
        return stub is not None and all(
            place > stub and mentions(self.submitted[place].source, name)
            for place in places
        )

    def written(
        self,
        cell: ReleasedCell,
        matched: MatchedCell,
        own: SubmittedCell | None,
        empty: bool,
    ) -> MatchedCell:
        """A written answer: the student's text, or a place near which one may be."""
        near = empty and words_near(
            cell, self.release, self.submitted, self.found, self.own
        )
        if near:
            self.note(
                f"{cell.grade_id} was left open, but there is text near it; a person "
                "decides."
            )
        elif own is None:
            self.note(
                f"The cell {cell.grade_id} was missing; it counts as not answered."
            )
        return replace(
            matched,
            source=cell.released if own is None else own.source,
            attachments={} if own is None else own.attachments,
            unanswered=empty and not near,
        )

    # --------------------------------------------------------------------- order

    def definers(self, name: str) -> list[int]:
        """The submitted cells that define ``name``, other than as the release does."""
        pattern = defines(name)
        stubs = {alike_key(c.released) for c in self.release.cells}
        own: dict[int, str] = {}
        for (place, _), extra in self.own:
            own[place] = own.get(place, "") + "\n" + extra.source
        places = set(self.found.values())
        return [
            place
            for place, cell in enumerate(self.submitted)
            if cell.cell_type == "code"
            and (place in own or place in places)
            and pattern.search(own.get(place, cell.source))
            and not is_stub(cell.source, name)
            and alike_key(cell.source) not in stubs
        ]

    def after_answer(self, cell: ReleasedCell, rank: int) -> Place:
        """The first place where a test can run: after the cell with its answer."""
        answer = next(
            (c for c in reversed(self.release.cells[: rank - 1]) if c.kind == "answer"),
            None,
        )
        if answer is None:
            return (-1, rank)
        there = self.found.get(answer.grade_id)
        if there is not None:
            own = self.submitted[there].source
            if not (alike(own, answer.released) or is_stub(own, answer.grade_id)):
                return (there, rank)
        places = self.definers(answer.grade_id)
        return (places[0] if places else -1, rank)
