"""Data classes of a grading in the sandbox: cells and limits in, a transcript out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Wall = Literal["namespaces", "landlock", "none"]


@dataclass(frozen=True)
class Cell:
    """One code cell, in execution order.

    ``test`` is None for student code, which runs in the sandbox. Else it is the id of a
    question, and ``source`` is the instructor's cell, which the judge runs. ``key`` is
    echoed in the transcript. ``released`` is what students have of a test; None: all of
    it. With ``inside`` the test runs in the student's process, as in nbgrader.
    ``imports`` are those of the course's own cells: a test has them, too.
    """

    key: str
    source: str
    test: str | None = None
    max_score: float = 0.0
    released: str | None = None
    inside: bool = False
    imports: str = ""


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Seconds of a cell and of a question are of processor time; waiting is bounded by
    ``patience`` times as many seconds of the clock, and all together by the total.
    """

    cell_seconds: float = 30.0
    question_seconds: float = 20.0
    patience: float = 5.0
    total_seconds: float = 600.0
    memory_bytes: int = 1 << 30  # for one process, beyond the libraries
    output_bytes: int = 900_000  # for one cell: with errors and notes, it has to cross
    figure_bytes: int = 4 << 20  # for the figures of one cell
    question_bytes: int = 256 << 20  # all that crosses the wall for one question
    judge_bytes: int = 2 << 30  # memory of a judge, beyond the libraries
    disk_bytes: int = 64 << 20
    file_bytes: int = 32 << 20
    files: int = 4096
    processes: int = 32
    crashes: int = 5  # a sandbox that died so often is not started again
    submission_bytes: int = 3 << 30  # of all its processes, where a cgroup is lent

    def of(self, seconds: float | None, files: Mapping[str, bytes]) -> Limits:
        """The limits of one submission: a course's time for a cell; its own files.

        A course that sets the time thinks of a clock, as nbgrader does; a busy machine
        has twice as long.
        """
        sizes = [self.file_bytes, *map(len, files.values())]
        limits = replace(self, file_bytes=max(sizes))
        if seconds is None:
            return limits
        return replace(
            limits,
            cell_seconds=seconds,
            question_seconds=seconds,
            patience=2.0,
            total_seconds=max(self.total_seconds, 10 * seconds),
        )


@dataclass(frozen=True)
class QuestionResult:
    """What one question earned, from the judge to the report.

    ``score`` is None as long as nobody has decided. ``waiting``: a person has to look,
    for the first time or again. ``by_hand``: a person gave the points.
    ``misconception`` is an id of the catalog.
    """

    id: str
    score: float | None
    max_score: float
    message: str | None = None
    misconception: str | None = None
    seconds: float = 0.0
    waiting: bool = False
    by_hand: bool = False

    @property
    def full(self) -> bool:
        """Whether it earned all its points."""
        return (self.score or 0.0) >= self.max_score

    @property
    def said(self) -> str | None:
        """The message; an answer that waits for a person says so."""
        if self.message is None and self.waiting:
            return "waits to be graded by hand"
        return self.message


@dataclass
class Transcript:
    """What running a submission gave.

    ``outputs`` are nbformat-4 outputs of the student's cells by key, ``results`` are by
    the id of the question. ``held`` is the reason why a human has to look, else None;
    with a reason, no score counts. ``timed_out_under_load``: time ran out while the
    machine was busy. ``wall`` is what the student's code ran behind.
    """

    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    results: dict[str, QuestionResult] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    held: str | None = None
    timed_out_under_load: bool = False
    wall: Wall | None = None

    def to_json(self) -> dict[str, Any]:
        """Dicts, lists, strings and numbers only."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Transcript:
        """The inverse of :meth:`to_json`."""
        results = {k: QuestionResult(**v) for k, v in data["results"].items()}
        return cls(**(data | {"results": results}))
