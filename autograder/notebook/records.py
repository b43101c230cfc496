"""Data classes of cells: as released, submitted and matched; and of an assignment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from autograder.notebook.text_diff import defined_names, stub_of, text_key

CellType = Literal["code", "markdown", "raw"]
# answer: code that is graded by tests; written: graded by a person; test: grades code;
# locked: the course's own text; task: a person grades what the student adds below it;
# extra: the student added it
Kind = Literal["answer", "written", "test", "locked", "task", "extra"]
BY_POINTS = ("test", "written", "task")  # kinds of cells that have points
Tests = Literal["remote", "inside"]
OWN_CODE = ("locked", "code")
IMPORT = re.compile(r"(?:from [\w.]+ )?import [\w., ]+\s*(?:#.*)?")
GRADED = ("answer", "written", "test")
# a sort key: the index of the submitted cell that this follows, and the order there
Position = tuple[int, int]
Attachments = Mapping[str, Mapping[str, str]]  # name → type of content → base64


@dataclass(frozen=True)
class SubmittedCell:
    """What we keep of a cell that a student handed in.

    An ``untouched`` one is a card as some release had it, perhaps an earlier one.
    """

    cell_type: CellType
    source: str
    grade_id: str | None = None
    untouched: bool = False
    attachments: Attachments = field(default_factory=dict)

    # each is asked for by every question of every assignment

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The text as it is compared."""
        return text_key(self.source)

    @cached_property
    def names(self) -> frozenset[str]:
        """What it defines."""
        return defined_names(self.source)

    @cached_property
    def stub(self) -> str | None:
        """The name that it leaves open, if it does nothing else."""
        return stub_of(self.source)


@dataclass(frozen=True)
class ReleasedCell:
    """One cell of the students' notebook. ``source`` is what grading runs or shows.

    For a test, that is the instructor's text, else the same as ``released``.
    ``attachments`` are pictures of the course's own.
    """

    kind: Kind
    grade_id: str
    cell_type: CellType
    released: str
    source: str
    points: float = 0.0
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attachments: Attachments = field(default_factory=dict)


@dataclass(frozen=True)
class Release:
    """Everything that grading needs to know about a notebook of an assignment.

    ``profile`` names the libraries it may use, ``files`` lie beside the notebook,
    ``nameless`` are the texts of cells that nbgrader does not know, and ``hash``
    changes when a verdict could. ``tests`` tells where test cells run: in the
    judge, where answers are remote, or inside the student's process. Of ``files``,
    students write those in ``own`` themselves; all files of a submission together have
    at most ``room`` bytes. A cell may run for ``seconds``, if the course says so.
    """

    assignment: str
    notebook: str
    cells: tuple[ReleasedCell, ...]
    profile: str = "numpy"
    tests: Tests = "remote"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    room: int = 100_000_000
    seconds: float | None = None
    nameless: tuple[str, ...] = ()
    hash: str = ""

    def beside(self, handed_in: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files that a submission runs with: the course's, and the student's."""
        fixed = {n: data for n, data in self.files.items() if n not in self.own}
        return {**fixed, **handed_in}

    @property
    def imports(self) -> str:
        """The imports of the cells that students are given, one a line."""
        given = [c.source for c in self.cells if (c.kind, c.cell_type) == OWN_CODE]
        lines = "\n".join([*given, *self.nameless]).splitlines()
        return "\n".join(line for line in lines if IMPORT.fullmatch(line))

    @property
    def max_score(self) -> float:
        """The points of the whole notebook."""
        return sum(cell.points for cell in self.cells)

    @property
    def judged(self) -> bool:
        """Whether there is a question in it; a lesson beside them has none."""
        return any(cell.kind in (*GRADED, *BY_POINTS) for cell in self.cells)


@dataclass(frozen=True)
class MatchedCell(ReleasedCell):
    """A cell of the submission in its place in the release.

    ``source`` is the student's in an answer or an extra cell, the course's in a test or
    a locked cell. An ``unanswered`` cell has nothing of the student's. A cell with
    ``runs=False`` is shown and not executed: it was missing in the submission, or it is
    an empty answer cell and the answer was found in another cell. An extra cell has no
    ``grade_id``.
    """

    unanswered: bool = False
    runs: bool = True


@dataclass
class Matched:
    """The submission's cells, in the order in which they run."""

    cells: list[MatchedCell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
