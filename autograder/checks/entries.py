"""Parser of a catalog file: one question's known right and wrong answers, in TOML.

Entries are checked when they are read. What does not fit is reported with its file, its
line and its id, all of it at once.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from autograder.checks.failures import Misconception
from autograder.errors import CourseError

SHARED = Path(__file__).with_name("shared.toml")
TABLE, KEY = re.compile(r"\[+ *([\w.-]+)"), re.compile(r"([\w-]+)(\.\w+)? *=")
KEYS = {
    "wrong": {"says", "code", "edit", "of", "unseen", "also"},
    "also": {"code", "edit", "of", "unseen"},
    "right": {"differs", "code", "edit", "of"},
    "equivalent": {"why", "changes"},
    "file": {"reference", "hunts", "example", "planted"}
    | {"wrong", "right", "equivalent"},
}


@dataclass(frozen=True)
class Mistake(Misconception):
    """A misconception as code that defines the name of its question.

    ``unseen`` is the reason why it may pass all visible checks, if it does. Checks that
    students write are tried on it where it is ``planted``.
    """

    code: str
    unseen: str = ""
    planted: bool = False


@dataclass(frozen=True)
class Style:
    """One more right answer, written differently; it must earn all points.

    ``differs`` is a sentence about it for students who passed.
    """

    id: str
    question: str
    code: str
    differs: str = ""


@dataclass
class Entries:
    """What is known about one question.

    ``also`` are other ways to make a mistake, by the same id. ``hunts`` names the
    question whose functions an answer to this one is tried on, and ``example`` is the
    check on its card.
    """

    reference: Style
    mistakes: list[Mistake] = field(default_factory=list)
    also: list[Mistake] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)
    equivalents: dict[str, str] = field(default_factory=dict)
    hunts: str = ""
    example: str = ""


class Broken(ValueError):
    """One thing in a file that does not fit."""


@cache
def shared() -> dict[str, Any]:
    """Sentences that several questions use, by the name of what they are about."""
    return tomllib.loads(SHARED.read_text("utf-8"))


def read(text: str, question: str, section: str, file: str) -> Entries:
    """The entries of a file about ``question``, whose ``section`` of the book is read.

    Raises CourseError with all that is wrong, each with its line.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{file} is not TOML: {error}") from None
    reader = Reader(text, question, section, file)
    return reader.entries(tables)


class Reader:
    """Reads one file, and collects what is wrong with it."""

    def __init__(self, text: str, question: str, section: str, file: str) -> None:
        self.lines, self.question = text.splitlines(), question
        self.section, self.file = section, file
        self.reference = ""
        self.programs: dict[str, str] = {}  # by the entries' names
        self.broken: list[tuple[int, str]] = []

    def entries(self, tables: dict[str, Any]) -> Entries:
        """All entries, or CourseError."""
        self.reference = ended(tables.get("reference", ""))
        right = Style(f"{self.question}-reference", self.question, self.reference)
        example = ended(tables.get("example", ""))
        found = Entries(right, hunts=tables.get("hunts", ""), example=example)
        self.attempt("reference", 0, self.head, tables, found)
        for name, table in tables.get("right", {}).items():
            self.attempt(f"right.{name}", 0, self.right, name, table, found)
        for name, table in tables.get("wrong", {}).items():
            planted = name in tables.get("planted", ())
            self.attempt(f"wrong.{name}", 0, self.wrong, name, table, planted, found)
        for number, table in enumerate(tables.get("equivalent", ())):
            self.attempt("equivalent", number, self.equivalent, table, found)
        if self.broken:
            raise CourseError("\n".join(text for _, text in sorted(self.broken)))
        return found

    def attempt(self, header: str, number: int, read: Any, *parts: Any) -> None:
        """Read a table; what is wrong with it is noted with its line."""
        try:
            read(*parts)
        except Broken as error:
            name = header.partition(".")[2]
            id = f"{self.question}-{name}" if name else header
            line = self.line_of(header, number)
            self.broken.append((line, f"{self.file}, line {line}, {id}: {error}"))

    def line_of(self, header: str, number: int) -> int:
        """The line of the ``number``-th table or key of that name; 1 if it has none."""
        hits, table = [], ""
        for i, line in enumerate(self.lines, 1):
            if found := TABLE.match(line):
                name = table = found[1]
            elif found := KEY.match(line):
                name = f"{table}.{found[1]}".lstrip(".")
            if found and name == header:
                hits.append(i)
        return hits[number] if number < len(hits) else 1

    def head(self, tables: dict[str, Any], found: Entries) -> None:
        """The reference, and the names that are planted."""
        known("file", tables)
        parsed(self.reference, self.question)
        if tables.get("hunts"):
            parsed(tables.get("example", ""), self.question)
        if unknown := set(tables.get("planted", ())) - set(tables.get("wrong", ())):
            raise Broken(f"planted, but no mistake here: {', '.join(sorted(unknown))}")

    def wrong(
        self, name: str, table: dict[str, Any], planted: bool, found: Entries
    ) -> None:
        """A mistake, and the other ways to make it."""
        known("wrong", table)
        table = shared()["wrong"].get(name, {}) | table
        if name == "nothing" and not table.keys() & {"code", "edit"}:
            table["code"] = returns_nothing(self.reference)
        if not (says := table.get("says")):
            raise Broken("no sentence says what is wrong; add it as `says`")
        about = f"{self.question}-{name}", self.question, says, self.section
        code, unseen = self.code(table), reason(table)
        own = code if "code" in table else self.reference
        self.programs[name] = code
        found.mistakes.append(Mistake(*about, code, unseen, planted))
        for way in table.get("also", ()):  # with other results
            kind = "code" if isinstance(way, str) else "edit"
            other = way if isinstance(way, dict) else {kind: way}
            known("also", other)
            found.also.append(Mistake(*about, self.code(other, own), reason(other)))

    def right(self, name: str, table: dict[str, Any], found: Entries) -> None:
        """A right answer in another style."""
        known("right", table)
        id, code = f"{self.question}-{name}", self.code(table)
        self.programs[name] = code
        differs = table.get("differs", "")
        found.styles.append(Style(id, self.question, code, differs))

    def equivalent(self, table: dict[str, Any], found: Entries) -> None:
        """Mutants of the solution, "old line -> new line", that are no errors."""
        known("equivalent", table)
        found.equivalents |= dict.fromkeys(table["changes"], table["why"])

    def code(self, table: dict[str, Any], base: str = "") -> str:
        """The program of an entry: its ``code``, or another one with its ``edit``.

        The other one is that of the entry ``of``, else ``base``, else the reference.

        A ``code`` of one line, or an indented one, is the body of a function: it stands
        below the first line of the reference.
        """
        if ("code" in table) == ("edit" in table):
            raise Broken("an entry takes either `code` or `edit`")
        if name := table.get("of"):
            if name not in self.programs:
                raise Broken(f"`of` is {name}, but no entry above has this name")
            base = self.programs[name]
        if "edit" in table:
            code = edited(base or self.reference, table["edit"])
        else:
            code = table["code"]
            code = ended(code if "\n" in code else f"    {code.lstrip()}")
            if code.startswith(" "):
                code = f"{self.reference.splitlines()[0]}\n{code}"
        return parsed(code, self.question)


def known(kind: str, table: dict[str, Any]) -> None:
    """Raises Broken for a key that means nothing there."""
    if unknown := table.keys() - KEYS[kind]:
        raise Broken(
            f"{', '.join(sorted(unknown))} is unknown here; "
            f"the known keys are {', '.join(sorted(KEYS[kind]))}"
        )


def ended(code: str) -> str:
    """Code whose last line ends, as it need not in a file."""
    return f"{code}\n" if code and not code.endswith("\n") else code


def reason(table: dict[str, Any]) -> str:
    """Why an entry may pass all visible checks: a sentence, or the name of one."""
    given = table.get("unseen", "")
    return shared()["unseen"].get(given, given)


def edited(code: str, edits: list[str]) -> str:
    """``code`` with each old text replaced, wherever it is, by the one that follows it.

    Raises Broken where an old text does not occur.
    """
    if len(edits) % 2:
        raise Broken("`edit` lists pairs of an old and a new text; one is missing")
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if old not in code:
            raise Broken(f"{old!r} is not in the program that is changed")
        code = code.replace(old, new)
    return code


def returns_nothing(code: str) -> str:
    """The code without its last ``return``."""
    before, _, value = code.rpartition("return ")
    return f"{before}result = {value}"


def parsed(code: str, name: str) -> str:
    """The code itself.

    Raises Broken where it is not Python, or does not define ``name``.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        line = (error.text or "").strip()
        raise Broken(f"not Python, {error.msg}: {line}") from None
    if not any(name in defined(node) for node in tree.body):
        raise Broken(f"its code does not define {name}")
    return code


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement gives to something."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
