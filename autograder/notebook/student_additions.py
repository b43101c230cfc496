"""Search for what a student added: own cells, and lines in cells of the course."""

from __future__ import annotations

import re
from collections.abc import Callable

from autograder.notebook.cell_search import is_copy
from autograder.notebook.records import (
    MatchedCell,
    Position,
    Release,
    ReleasedCell,
    SubmittedCell,
)
from autograder.notebook.text_diff import (
    Lines,
    difference,
    parsed,
    same_text,
    without_block,
    without_due,
)

IMPORT = re.compile(r"^(?:from|import) .*", re.MULTILINE)
BEFORE, HERE, AFTER = -2, -1, 0  # ranks of what a cell of the course held


class Added:
    """Finds what the course did not write; ``note`` takes the message for the student.

    ``found`` tells where in the submission a cell of the release is.
    """

    def __init__(
        self,
        release: Release,
        submitted: list[SubmittedCell],
        found: dict[str, int],
        note: Callable[[str], None],
    ) -> None:
        self.release, self.submitted, self.found = release, submitted, found
        self.note = note
        self.merged = [
            cell.released
            for cell in release.cells
            if cell.kind == "test" and cell.grade_id not in found
        ]

    def cells(self) -> list[tuple[Position, MatchedCell]]:
        """What the student added, and where."""
        names = {place: name for name, place in self.found.items()}
        by_name = {cell.grade_id: cell for cell in self.release.cells}
        own: list[tuple[Position, MatchedCell]] = []
        for place, cell in enumerate(self.submitted):
            if place in names:
                released = by_name[names[place]]
                if released.kind not in ("answer", "written"):
                    added = self.lines(cell, released)
                    for text, rank in ((added.before, BEFORE), (added.after, AFTER)):
                        if text.strip():
                            own.append(((place, rank), self.extra(cell, text)))
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
            own.append(((place, HERE), self.extra(cell, cell.source)))
        return own

    def lines(self, cell: SubmittedCell, released: ReleasedCell) -> Lines:
        """What a cell of the course has that the course did not write.

        It runs before the course's own or after it, where it stood. Of a locked cell
        that was rewritten so that the new lines make no sense alone, it is the whole
        cell.
        """
        if any(
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
            cell_type=cell.cell_type,
            source=self.without_tests(text) if cell.cell_type == "code" else text,
            attachments=cell.attachments,
        )

    def without_tests(self, source: str) -> str:
        """Code without the test cells that were merged into it, which run anyway."""
        for text in self.merged:
            source = without_block(source, text)
        return source
