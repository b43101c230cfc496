"""Moodle's grading worksheet: which rows go back, and which of them Moodle would skip.

Its importer (mod/assign/feedback/offline) compares each cell with what it holds. A cell
of the comments that goes back as it came would replace the formatted comment by its
plain text, so that column stays out, and so do rows without a change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from autograder.course import Course
from autograder.errors import CourseError
from autograder.intake.names import plain
from autograder.intake.roster import Person, Roster
from autograder.text import listed, one_line

# PHP's strtotime, by which Moodle reads a time, knows no other language
ENGLISH = re.compile(
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|"
    "july|august|september|october|november|december|am|pm"
)
EMPTY = ("", "-")
NEWER = (
    '"Allow updating records that have been modified more recently in Moodle than in '
    'the spreadsheet"'
)
SIGNS = {";": "Semicolon", "\t": "Tab"}


class Worksheet:
    """The rows that go back to Moodle, for one assignment."""

    def __init__(self, course: Course, roster: Roster, assignment: str) -> None:
        self.course, self.roster, self.assignment = course, roster, assignment
        self.sheet = roster.sheet
        self.changed: list[Person] = []
        self.commented: list[Person] = []  # with a comment of ours there, or none
        self.kept: list[str] = []  # whose comment there stays

    def comment(self, person: Person, text: Mapping[str, str], replace: bool) -> None:
        """Put comments, by question, into a row; another one there stays unless told.

        Moodle shows a comment without its HTML, so letters and digits are compared.
        """
        place = self.roster.columns["comments"]
        if place is None:
            raise CourseError(
                f"{self.sheet.name} has no column for comments; turn on the feedback "
                "type Feedback comments in Moodle, and download the worksheet again."
            )
        there = self.sheet.value(person.row, place)
        known = plain(there) == plain(" ".join(f"{q} {t}" for q, t in text.items()))
        if there and text and not (known or replace):
            self.kept.append(person.student)
        elif text or not there:
            self.commented.append(person)
        if text and person in self.commented:
            self.sheet.change(person.row, place, html(text))
            if not known and person not in self.changed:
                self.changed.append(person)

    def files(self, path: Path, comments: bool) -> dict[Path, str]:
        """The files to import: with the column of comments, and without it.

        A row whose comment there stays is in a file without that column.
        """
        place, graded = (self.roster.columns[kind] for kind in ("comments", "graded"))
        others = [n for n in range(len(self.sheet.columns)) if n != place]
        if graded is not None:  # Moodle's feedback follows
            others = [n for n in others if n <= graded]
        rows = {True: [], False: []}  # type: dict[bool, list[int]]
        for person in self.changed:
            rows[comments and person in self.commented].append(person.row)
        found = {path: self.sheet.part(sorted(rows[False]), others)}
        if comments and place is not None:
            other = path.with_stem(f"{path.stem}-without-comments")
            found = {other: found[path]} if rows[False] else {}
            with_it = self.sheet.part(sorted(rows[True]), [*others, place])
            found = {path: with_it} | found
        return found

    def skipped(self) -> Iterator[str]:
        """Lines about rows that Moodle would skip without a word."""
        place = self.roster.columns["graded"]
        cells = [(self.sheet.value(p.row, place), p.student) for p in self.changed]
        unread = [
            pair for pair in cells if pair[0] not in EMPTY and not readable(pair[0])
        ]
        if unread and place is not None:
            yield (
                f"Moodle will skip {len(unread)} of these rows, because it cannot read "
                f"{unread[0][0]!r} in {self.sheet.columns[place]!r}. Set Moodle's "
                "language to English and download the worksheet again, or tick "
                f"{NEWER} at the import, which also overwrites grades that are newer "
                f"there: {listed([student for _, student in unread])}"
            )
        before = Path(self.sheet.name).stat().st_mtime
        sent = re.compile(rf"feedback-moodle.*-{self.assignment}(-again)?\.zip")
        newer = sorted(
            path.name
            for path in self.course.root.glob("feedback-moodle*.zip")
            if sent.fullmatch(path.name) and path.stat().st_mtime > before
        )
        if newer and self.changed:
            yield (
                f"{newer[-1]} is newer than {self.sheet.name}. If it is uploaded, "
                f"Moodle will skip all {len(self.changed)} rows: download the "
                "worksheet again, in English, and export into that"
            )

    def steps(self, paths: Sequence[Path]) -> Iterator[str]:
        """What to do in Moodle, and what a person would not see there."""
        if not self.changed:
            yield "there is nothing to import: no final points differ from Moodle's."
            return
        names = " and ".join(one_line(path.name) for path in paths)
        sign = SIGNS.get(self.sheet.delimiter)
        separator = f" with the separator {sign}" if sign else ""
        yield (
            f"next: in Moodle, import {names} (Upload grading worksheet){separator}, "
            "and after that upload the zip of `autograder feedback "
            f"{self.assignment} --zip moodle`. In the other order Moodle finds no "
            "modified grades."
        )
        if (place := self.roster.columns["workflow"]) is not None:
            states = Counter(self.sheet.value(p.row, place) for p in self.changed)
            there = ", ".join(f"{one_line(s)} ({n})" for s, n in states.items())
            yield (
                "marking workflow: students see grades and pages once Moodle's state "
                f"is Released; now it is {there}"
            )
        if pushed(self.course, self.assignment):
            yield (
                f"`lti push` has made a second column for {self.assignment}, and "
                "Moodle's course total counts both: use one of the two ways"
            )


def readable(text: str) -> bool:
    """Whether Moodle's importer can read a time: in English, or written as ISO."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    iso = bool(re.match(r"\d{4}-\d\d-\d\d", text))
    return all(map(ENGLISH.fullmatch, words)) and (bool(words) or iso)


def html(text: Mapping[str, str]) -> str:
    """Comments as the HTML that Moodle stores: a paragraph for each question."""
    return "".join(
        f"<p><strong>{escape(question)}</strong> "
        f"{'<br>'.join(escape(line) for line in comment.strip().splitlines())}</p>"
        for question, comment in text.items()
    )


def pushed(course: Course, assignment: str) -> bool:
    """Whether scores of an assignment went out with `lti push`."""
    try:
        lines = (course.root / "lti" / "pushed.log").read_text("utf-8").splitlines()
    except OSError:
        return False
    return any(line.split("\t")[1:2] == [assignment] for line in lines)
