"""CSV editor that keeps bytes: cells are read or replaced, all else stays as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.errors import CourseError

MARK = "\ufeff"  # tells spreadsheets that a file is UTF-8
DELIMITERS = (",", ";", "\t")
KINDS = {  # what a table is that begins so
    b"PK": "a workbook or another archive, not a CSV file",
    b"\xff\xfe": "in UTF-16, not in UTF-8",
    b"\xfe\xff": "in UTF-16, not in UTF-8",
}
Span = tuple[int, int]


class Sheet:
    """Rows of cells; the first row is the header."""

    def __init__(self, text: str, name: str = "the table") -> None:
        self.name = name
        self.mark = MARK if text.startswith(MARK) else ""
        self.source = text.removeprefix(MARK)
        self.delimiter = max(
            DELIMITERS, key=lambda sign: len(next(iter(spans(self.source, sign)), ()))
        )
        self.spans = spans(self.source, self.delimiter)
        self.changes: dict[Span, str] = {}

    @classmethod
    def read(cls, path: Path) -> Sheet:
        """The sheet in a file; CourseError when it is no text in UTF-8."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise CourseError(f"The table {path} cannot be read: {error}.") from None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            other = next(
                (k for start, k in KINDS.items() if data.startswith(start)), ""
            )
            raise CourseError(
                f"The table {path} is {other or 'not in UTF-8'}; save it as CSV in "
                'UTF-8 (in Excel: "CSV UTF-8").'
            ) from None
        if not text.strip(f"{MARK}\r\n\t ,;"):
            raise CourseError(f"The table {path} is empty.")
        return cls(text, str(path))

    @property
    def columns(self) -> list[str]:
        """The headings."""
        return self.row(0) if self.spans else []

    @property
    def rows(self) -> range:
        """The numbers of the rows below the header."""
        return range(1, len(self.spans))

    def row(self, number: int) -> list[str]:
        """The values of a row."""
        return [self.unquoted(span) for span in self.spans[number]]

    def value(self, row: int, column: int | None) -> str:
        """A cell without spaces around it; empty where the row is shorter."""
        if column is None or column >= len(self.spans[row]):
            return ""
        return self.unquoted(self.spans[row][column]).strip()

    def values(self, column: int) -> list[str]:
        """A column without its heading, blank rows left out."""
        return [self.value(row, column) for row in self.rows if any(self.row(row))]

    def find(self, heading: str) -> int:
        """The number of a column; CourseError, naming those there are."""
        for number, column in enumerate(self.columns):
            if column.strip() == heading.strip():
                return number
        known = ", ".join(repr(column) for column in self.columns)
        raise CourseError(
            f"{self.name} has no column {heading!r}; its columns are {known}."
        )

    def change(self, row: int, column: int, value: str) -> None:
        """Replace one cell."""
        if column >= len(self.spans[row]):
            raise CourseError(f"{self.name}: line {row + 1} has too few cells.")
        start, end = self.spans[row][column]
        quoted = self.source[start : start + 1] == '"'
        if quoted or set(value) & {self.delimiter, '"', "\n", "\r"}:
            value = '"' + value.replace('"', '""') + '"'
        self.changes[start, end] = value

    def text(self) -> str:
        """The whole file with what was replaced."""
        parts, place = [self.mark], 0
        for (start, end), value in sorted(self.changes.items()):
            parts += [self.source[place:start], value]
            place = end
        return "".join([*parts, self.source[place:]])

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> str:
        """The header and these rows, with these columns alone, written as they were."""
        end = "\r\n" if "\r\n" in self.source else "\n"
        lines = []
        for number in (0, *rows):
            there = self.spans[number]
            cells = (there[column] for column in columns if column < len(there))
            texts = (self.changes.get(s, self.source[slice(*s)]) for s in cells)
            lines.append(self.delimiter.join(texts) + end)
        return "".join([self.mark, *lines])

    def unquoted(self, span: Span) -> str:
        raw = self.source[slice(*span)]
        if len(raw) > 1 and raw[0] == raw[-1] == '"':
            return raw[1:-1].replace('""', '"')
        return raw


def spans(text: str, delimiter: str) -> list[list[Span]]:
    """Where the cells are, row by row."""
    cell = re.compile(rf'((?:"(?:[^"]|"")*")?[^{delimiter}\r\n]*)(\r\n|.?)', re.S)
    rows: list[list[Span]] = []
    place, after = 0, ""
    while place < len(text) or after == delimiter:
        found = cell.match(text, place)
        assert found  # the pattern takes an empty text too
        if after != delimiter:
            rows.append([])
        rows[-1].append(found.span(1))
        place, after = found.end(), found[2]
    return rows
