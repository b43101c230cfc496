"""Matching of a submission's cells with the assignment's: what is run, in which order.

Nothing that a submission says about itself is believed: not its metadata, tags, ids or
points; only that a card is as it was released, which gains nobody anything. And nothing
that a student did is thrown away: what was typed into a cell of the course, into
another cell or beside the question runs, or waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from autograder.errors import Held
from autograder.notebook.cell_search import (
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
    Position,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.text_diff import (
    Lines,
    defined_names,
    difference,
    holds_code,
    is_stub,
    mentions,
    parsed,
    same_text,
    text_key,
    without_block,
    without_due,
)
from autograder.notebook.time_limit import READING, at_most
from autograder.notebook.written_answers import why_open, words_near

IMPORT = re.compile(r"^(?:from|import) .*", re.MULTILINE)
BEFORE, HERE, AFTER = -2, -1, 0  # ranks of what a cell of the course held


@at_most(READING)
def match(release: Release, submitted: list[SubmittedCell]) -> Matched:
    """Find the release's cells in the submission; Held when there are none."""
    found = find_by_id(release, submitted)
    known = len(found)
    find_by_text(release, submitted, found)
    find_answers(release, submitted, found)
    if release.judged and is_another(release, submitted, found):
        raise Held(
            f"No question of {release.assignment} was found in this notebook; does it "
            "belong to another assignment?"
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
        self.cells: list[tuple[Position, MatchedCell]] = []
        self.notes: list[str] = []
        self.merged = [  # tests that may stand in another cell
            cell.released
            for cell in release.cells
            if cell.kind == "test" and cell.grade_id not in found
        ]
        self.own = [*self.added()]
        self.names: dict[int, frozenset[str]] = {}  # that were added, by place
        for (place, _), extra in self.own:
            more = defined_names(extra.source)
            self.names[place] = self.names.get(place, frozenset()) | more
        self.stubs = {text_key(cell.released) for cell in release.cells}

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
        locked: Position = (-1, 0)  # where the last cell of the course went
        before: Position = (-1, 0)  # where the cell before this one went
        for rank, cell in enumerate(self.release.cells, 1):
            there = self.found.get(cell.grade_id)
            here: Position = (before[0], rank) if there is None else (there, HERE)
            if cell.kind == "test":
                here = max(here, self.after_answer(cell, rank))
                if there is None:
                    self.note(
                        f"The cell {cell.grade_id} was missing; the course's own cell "
                        "was used."
                    )
            elif cell.kind not in GRADED:
                if there is None or there not in in_order:
                    here = (locked[0], rank)
                locked = here
            before = here
            self.cells.append((here, self.resolved(cell)))
        self.cells.sort(key=lambda entry: entry[0])
        return Matched([cell for _, cell in self.cells], self.notes)

    # ------------------------------------------------------- cells of the course

    def resolved(self, cell: ReleasedCell) -> MatchedCell:
        """A cell of the release, with the student's text where it is an answer."""
        there = self.found.get(cell.grade_id)
        own = None if there is None else self.submitted[there]
        matched = MatchedCell(**vars(cell))
        if cell.kind not in ("answer", "written"):
            return matched
        if own is not None and own.cell_type != cell.cell_type:
            self.note(
                f"The cell {cell.grade_id} had become a {own.cell_type} cell; it was "
                f"read as a {cell.cell_type} cell."
            )
        empty = (
            own is None
            or same_text(own.source, cell.released)
            or not own.source.strip()
        )
        if cell.kind == "written":
            return self.written(cell, matched, own, empty)
        hollow = empty or (own is not None and is_stub(own.source, cell.grade_id))
        places = self.definers(cell.grade_id) if hollow else []
        elsewhere = bool(places)
        if hollow and not elsewhere:
            self.refuse_code_in_text(cell.grade_id)
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

    def refuse_code_in_text(self, name: str) -> None:
        """An answer that is typed into a text cell, and nowhere else, is for a person.

        It does not run there, and is not nothing.
        """
        texts = [extra.source for _, extra in self.own if extra.cell_type != "code"]
        texts += [
            self.submitted[self.found[cell.grade_id]].source
            for cell in self.release.cells
            if cell.kind == "written" and cell.grade_id in self.found
        ]
        if any(holds_code(text, name) for text in texts):
            raise Held(
                f"The code of `{name}` is only in a text cell, where it does not "
                "run: move it into its answer cell."
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
                f"{cell.grade_id} was left blank, but there is text near it; a person "
                "has to look at it."
            )
        elif own is None:
            self.note(
                f"The cell {cell.grade_id} was missing; it counts as not answered."
            )
        elif not (empty or own.attachments) and (
            why := why_open(own.source, self.release)
        ):
            self.note(f"{cell.grade_id}: not answered yet, as it seems; {why}.")
        return replace(
            matched,
            source=cell.released if own is None else own.source,
            attachments={} if own is None else own.attachments,
            unanswered=empty and not near,
        )

    # --------------------------------------------------------------------- order

    def definers(self, name: str) -> list[int]:
        """The submitted cells that define ``name``, other than as the release does."""
        places = set(self.found.values())
        return [
            place
            for place, cell in enumerate(self.submitted)
            if cell.cell_type == "code"
            and (place in self.names or place in places)
            and name in self.names.get(place, cell.names)
            and cell.stub != name
            and cell.key not in self.stubs
        ]

    def after_answer(self, cell: ReleasedCell, rank: int) -> Position:
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
            if not (same_text(own, answer.released) or is_stub(own, answer.grade_id)):
                return (there, rank)
        places = self.definers(answer.grade_id)
        return (places[0] if places else -1, rank)

    # ------------------------------------------------------ what the student added

    def added(self) -> Iterator[tuple[Position, MatchedCell]]:
        """Own cells, and lines in cells of the course, each with its place."""
        names = {place: name for name, place in self.found.items()}
        by_name = {cell.grade_id: cell for cell in self.release.cells}
        for place, cell in enumerate(self.submitted):
            if place in names:
                released = by_name[names[place]]
                if released.kind not in ("answer", "written"):
                    added = self.lines(cell, released)
                    for text, rank in ((added.before, BEFORE), (added.after, AFTER)):
                        if text.strip():
                            yield (place, rank), self.extra(cell, text)
                continue
            if cell.grade_id in by_name:
                released = by_name[cell.grade_id]
                self.note(
                    f"The cell {cell.grade_id} occurs more than once; "
                    + (
                        "the first one that is filled in counts."
                        if released.kind == "written"
                        else "all of them run, and the last definition counts."
                    )
                )
                if is_copy(cell, released):
                    continue
            yield (place, HERE), self.extra(cell, cell.source)

    def lines(self, cell: SubmittedCell, released: ReleasedCell) -> Lines:
        """What a cell of the course has that the course did not write.

        It runs before the course's own or after it, where it stood. Of a locked cell
        that was rewritten so that the new lines make no sense alone, it is the whole
        cell.
        """
        if cell.untouched or any(
            same_text(cell.source, text)
            for text in (released.released, released.source)
        ):
            return Lines()
        texts = (cell.source, released.released)
        added = difference(*map(without_due, texts))
        code = cell.cell_type == "code" and released.kind == "locked"
        if code and not (parsed(added.before) and parsed(added.after)):
            added = Lines(cell.source)
        self.note(
            f"The cell {released.grade_id} had been changed; the course's own cell "
            "was used, and the lines that were added are kept next to it."
        )
        if released.kind == "test" and added.after:  # a test's imports stay in the test
            imports = "\n".join(IMPORT.findall(released.released))
            return Lines(added.before, f"{imports}\n{added.after}".lstrip())
        return added

    def extra(self, cell: SubmittedCell, text: str) -> MatchedCell:
        return MatchedCell(
            kind="extra",
            grade_id="",
            cell_type=cell.cell_type,
            released="",
            source=self.without_tests(text) if cell.cell_type == "code" else text,
            attachments=cell.attachments,
        )

    def without_tests(self, source: str) -> str:
        """Code without the test cells that were merged into it, which run anyway."""
        for text in self.merged:
            source = without_block(source, text)
        return source
