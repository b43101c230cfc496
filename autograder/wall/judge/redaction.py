"""Redaction of failure messages: they leave out hidden lines of a test.

A test cell may be released without some of its lines. Of those, students learn only
that a hidden check fails, unless the instructor ended the line with ``# printable``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from autograder.checks.failures import CheckFailed, failure_from
from autograder.text import lines_of
from autograder.wall.records import Cell

HIDDEN = "a hidden check of this question fails"
PRINTABLE = re.compile(r"#\s*printable\s*$")
LONGEST = 200


@dataclass(frozen=True)
class TestText:
    """The instructor's text of a test cell, and what students have of it."""

    __test__ = False  # pytest takes it for one of its own

    source: str
    released: str | None = None

    @classmethod
    def of(cls, cell: Cell) -> TestText:
        """The text of a test cell, as it goes to the wall."""
        return cls(cell.source, cell.released)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the instructor's text."""
        return lines_of(self.source)

    @cached_property
    def shown(self) -> set[int]:
        """The numbers of the lines that students have."""
        if self.released is None:
            return set(range(1, len(self.lines) + 1))
        theirs = [line.rstrip() for line in lines_of(self.released)]
        own = [line.rstrip() for line in self.lines]
        matcher = SequenceMatcher(None, theirs, own, autojunk=False)
        return {
            number + 1
            for _, start, size in matcher.get_matching_blocks()
            for number in range(start, start + size)
        }

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """Every statement; the inner ones after those around them."""
        try:
            tree = ast.parse(self.source)
        except (SyntaxError, ValueError):  # with magics, for one
            return []
        return [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]

    def around(self, line: int) -> tuple[range, ast.stmt | None]:
        """The lines of the innermost statement at a line, and the statement."""
        found = None
        for node in self.statements:
            if node.lineno <= line <= (node.end_lineno or node.lineno):
                found = node
        if found is None:
            return range(line, line + 1), None
        return range(found.lineno, (found.end_lineno or found.lineno) + 1), found

    def is_shown(self, line: int) -> bool:
        """Whether students have all of the statement at a line."""
        return all(number in self.shown for number in self.around(line)[0])

    def is_printable(self, line: int) -> bool:
        """Whether the instructor lets students read what is said at a line."""
        return any(
            PRINTABLE.search(self.lines[number - 1])
            for number in self.around(line)[0]
            if 0 < number <= len(self.lines)
        )

    def check(self, line: int) -> str:
        """In words, that the statement at a line does not hold, without values."""
        shown, marked = self.is_shown(line), self.is_printable(line)
        if not (shown or marked):
            return HIDDEN
        numbers, node = self.around(line)
        said = node.msg if isinstance(node, ast.Assert) else None
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            return said.value
        if not shown:
            return HIDDEN
        part = self.lines[numbers.start - 1 : numbers.stop - 1]
        text = " ".join(" ".join(part).split())
        cut = text[:LONGEST] + " …" if len(text) > LONGEST else text
        return f"the check `{cut}` fails"


def failure_of(
    cell: Cell,
    error: BaseException,
    tests: Mapping[str, Cell],
    sources: Mapping[int, str],
) -> CheckFailed:
    """What stopped a test cell, as a failed check; ``sources`` are the student's."""
    if isinstance(error, CheckFailed):
        return error
    unusual = not isinstance(error, Exception | SystemExit)
    if type(error) is AssertionError or unusual:  # a cell with plain asserts
        return CheckFailed(assertion(error, cell, tests))
    if name := missing_name(error, sources.values()):
        missing = f"uses `{name}`, which no cell before this one defines"
        if isinstance(error, ImportError):
            missing = f"needs the module `{name}`, which is not here"
        return CheckFailed(f"your code {missing}", kind="error", missing=name)
    return failure_from(error, hidden=True)


def assertion(error: BaseException, cell: Cell, tests: Mapping[str, Cell]) -> str:
    """What an assertion that the judge ran says; ``tests`` are cells by their files.

    A test may call what another one has defined: every line on the way counts.
    """
    places = list(test_lines(error, tests))
    if not places:
        return str(error) or "a check of this question fails"
    inner, line = places[-1]
    if inner.is_printable(line) or all(text.is_shown(at) for text, at in places):
        return str(error) or inner.check(line)
    return HIDDEN


def test_lines(
    error: BaseException, tests: Mapping[str, Cell]
) -> Iterator[tuple[TestText, int]]:
    """The lines of test cells that an error went through, the outermost first."""
    trace = error.__traceback__
    while trace is not None:
        cell = tests.get(trace.tb_frame.f_code.co_filename)
        if cell is not None:
            yield TestText.of(cell), trace.tb_lineno
        trace = trace.tb_next


def missing_name(error: BaseException, sources: Iterable[str]) -> str | None:
    """The name that an error misses, where students have written it themselves.

    Hidden lines stay hidden, so a name has to occur in a student's cell.
    """
    name = getattr(error, "name", None)
    if not isinstance(error, NameError | ImportError) or not isinstance(name, str):
        return None
    return name if is_written(name, sources) else None


def is_written(name: str, sources: Iterable[str]) -> bool:
    """Whether a name stands in one of these texts."""
    word = re.compile(rf"(?<![\w.]){re.escape(name)}\b")
    return bool(name) and any(word.search(source) for source in sources)


def readable(cells: Iterable[Cell]) -> list[str]:
    """What a student can read: their own cells, and what was released of the tests."""
    return [
        cell.source if cell.test is None or cell.released is None else cell.released
        for cell in cells
    ]
