"""From a submission's cells to the release's: what belongs where, and what was added.

Nothing that a submission says about itself is believed: not its metadata, tags, ids or
points. And nothing that a student did is thrown away: what was typed into a cell of the
course, into another cell or beside the card runs, or waits for a person.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.errors import Held
from autograder.notebook.finding import (
    find_answers,
    find_by_id,
    find_by_text,
    is_copy,
    rising,
)
from autograder.notebook.records import (
    Matched,
    MatchedCell,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.texts import (
    alike,
    alike_key,
    defines,
    difference,
    has_comment,
    is_stub,
    parses,
    without_block,
)

GRADED = ("answer", "written", "test")
Place = tuple[int, int]  # the submitted cell that something follows, and a rank there


def match(release: Release, submitted: list[SubmittedCell]) -> Matched:
    """Find the release's cells in the submission; Held when there are none."""
    found = find_by_id(release, submitted)
    known = len(found)
    find_by_text(release, submitted, found)
    find_answers(release, submitted, found)
    if not found:
        raise Held(
            f"No cell of {release.assignment} was found in this notebook; is it "
            "another assignment's?"
        )
    matching = Matching(release, submitted, found)
    if known == 0:
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
        for number, own in self.own:
            self.cells.append(((number, -1), own))
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
            here: Place = (before[0], rank) if there is None else (there, 0)
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

    def extras(self) -> list[tuple[int, MatchedCell]]:
        """What the student added, with the number of the cell that it stands in."""
        names = {place: name for name, place in self.found.items()}
        by_name = {cell.grade_id: cell for cell in self.release.cells}
        own = []
        for place, cell in enumerate(self.submitted):
            if place not in names:
                if cell.grade_id in by_name:
                    self.note(
                        f"The cell {cell.grade_id} was there more than once; the first "
                        "one that is filled in counts."
                    )
                    if is_copy(cell, by_name[cell.grade_id]):
                        continue
                text = cell.source
            elif by_name[names[place]].kind in ("answer", "written"):
                continue
            else:
                text = self.added(cell, by_name[names[place]])
                if not text.strip():
                    continue
            own.append((place, self.extra(cell, text)))
        return own

    def added(self, cell: SubmittedCell, released: ReleasedCell) -> str:
        """What a cell of the course has that the course did not write.

        Of a locked cell that was rewritten so that the new lines make no sense alone,
        it is the whole cell.
        """
        if any(
            alike(cell.source, text) for text in (released.released, released.source)
        ):
            return ""
        self.note(
            f"The cell {released.grade_id} had been changed; the course's own was "
            "used, and what was added is kept before it."
        )
        text = difference(cell.source, released.released)
        if cell.cell_type == "code" and released.kind == "locked" and not parses(text):
            return cell.source
        return text

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
        elsewhere = hollow and bool(self.definers(cell.grade_id))
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
            runs=own is not None and not elsewhere,
        )

    def written(
        self,
        cell: ReleasedCell,
        matched: MatchedCell,
        own: SubmittedCell | None,
        empty: bool,
    ) -> MatchedCell:
        """A written answer: the student's text, or a place near which one may be."""
        near = empty and any(self.may_answer(cell, *entry) for entry in self.own)
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

    def may_answer(self, cell: ReleasedCell, place: int, own: MatchedCell) -> bool:
        """Whether what a student added may be the answer to a written question.

        Any text may; a comment in code, from the graded cell before the question to
        the one after it.
        """
        if own.cell_type != "code":
            return bool(own.source.strip())
        index = self.release.cells.index(cell)
        places = [
            [
                self.found[other.grade_id]
                for other in cells
                if other.kind in GRADED and other.grade_id in self.found
            ]
            for cells in (self.release.cells[:index], self.release.cells[index + 1 :])
        ]
        start = max(places[0], default=-1)
        end = min((p for p in places[1] if p > start), default=len(self.submitted))
        return start <= place <= end and has_comment(own.source)

    # --------------------------------------------------------------------- order

    def definers(self, name: str) -> list[int]:
        """The submitted cells that define ``name``, other than as the release does."""
        pattern = defines(name)
        stubs = {alike_key(c.released) for c in self.release.cells}
        own = {place: extra.source for place, extra in self.own}
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
