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


class Sheet:
    """Rows of cells as they are written; the first row is the header."""

    def __init__(self, text: str, name: str = "the table") -> None:
        self.name = name
        self.mark = MARK if text.startswith(MARK) else ""
        source = text.removeprefix(MARK)
        self.delimiter = max(
            DELIMITERS, key=lambda sign: len(next(iter(lines(source, sign)), ()))
        )
        self.lines = lines(source, self.delimiter)  # cells, and the end of the line

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
        return self.row(0) if self.lines else []

    @property
    def rows(self) -> range:
        """The numbers of the rows below the header."""
        return range(1, len(self.lines))

    def row(self, number: int) -> list[str]:
        """The values of a row."""
        return list(map(unquoted, self.lines[number][:-1]))

    def value(self, row: int, column: int | None) -> str:
        """A cell without spaces around it; empty where the row is shorter."""
        if column is None or column >= len(self.lines[row]) - 1:
            return ""
        return unquoted(self.lines[row][column]).strip()

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
        line = self.lines[row]
        if column >= len(line) - 1:
            raise CourseError(f"{self.name}: line {row + 1} has too few cells.")
        quoted = line[column].startswith('"')
        if quoted or set(value) & {self.delimiter, '"', "\n", "\r"}:
            value = '"' + value.replace('"', '""') + '"'
        line[column] = value

    def text(self) -> str:
        """The whole file with what was replaced."""
        texts = (self.delimiter.join(cells) + end for *cells, end in self.lines)
        return "".join([self.mark, *texts])

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> str:
        """The header and these rows, with these columns alone, written as they were."""
        end = "\r\n" if any(line[-1] == "\r\n" for line in self.lines) else "\n"
        texts = []
        for *cells, _ in (self.lines[number] for number in (0, *rows)):
            chosen = (cells[column] for column in columns if column < len(cells))
            texts.append(self.delimiter.join(chosen) + end)
        return "".join([self.mark, *texts])


def unquoted(raw: str) -> str:
    """What a cell says."""
    if len(raw) > 1 and raw[0] == raw[-1] == '"':
        return raw[1:-1].replace('""', '"')
    return raw


def lines(text: str, delimiter: str) -> list[list[str]]:
    """The lines: the cells as they are written, and at last what ends the line."""
    cell = re.compile(rf'((?:"(?:[^"]|"")*")?[^{delimiter}\r\n]*)(\r\n|.?)', re.S)
    found: list[list[str]] = []
    place, sign = 0, ""
    while place < len(text) or sign == delimiter:
        match = cell.match(text, place)
        assert match  # the pattern takes an empty text too
        if sign != delimiter:
            found.append([])
        found[-1].append(match[1])
        place, sign = match.end(), match[2]
        if sign != delimiter:
            found[-1].append(sign)
    return found
