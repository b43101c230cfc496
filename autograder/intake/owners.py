"""The owner of a file: which student or team, by its path in an archive.

The path is read as a platform wrote it, as --pattern says, or by the class list.
Nothing that could be read in two ways is guessed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import Any

from autograder.errors import CourseError
from autograder.intake.archive import Entry, Left
from autograder.intake.names import FORMS, Label, label_of, safe, tokens, within
from autograder.intake.roster import Person, Roster, Unknown, invented
from autograder.release.dates import moment, platform_time
from autograder.text import meant, one_line

GRADESCOPE = re.compile(
    r"(?P<outer>assignment_\d+_export/)?"
    r"(?:(?P<list>submission_metadata\.yml)|submission_\d+/.*)",
    re.S,
)
LONGEST_LIST = 2_000_000  # bytes; one takes YAML's reader 15 microseconds
LONGEST_NAME = 300  # characters, of what a platform writes before a student's own
FIELDS = [
    *("student", "student_id", "first_name", "last_name", "email"),
    *("assignment", "timestamp", "file", "file_id"),
]
ASKED = (
    "Pass a list of the students with --roster, or say with --pattern where their "
    "names are, for example --pattern '{example}'."
)
EXAMPLES = {
    "Blackboard": "{assignment}_{student}_attempt_{timestamp}_{file}",
    "Brightspace": "{file_id} - {student} - {timestamp}",
}


class Pattern:
    """A pattern of paths, such as ``{assignment}_{student}_{file}``.

    A field is the shortest text without a slash that fits. A regular expression with
    named groups, as nbgrader's collector takes it, is a pattern too.
    """

    def __init__(self, text: str) -> None:
        parts = re.split(r"\{(\w*)\}", text)
        parts[::2] = map(re.escape, parts[::2])
        parts[1::2] = [f"(?P<{field}>[^/]+?)" for field in parts[1::2]]
        expression = text if "(?P<" in text else "".join(parts)
        try:
            self.expression = re.compile(f"(?:{expression})(?:/.*)?", re.S)
        except re.error as error:
            raise CourseError(f"--pattern {text!r} cannot be used: {error}.") from None
        fields = self.expression.groupindex
        for field in fields:
            if field not in FIELDS:
                hint = meant(field, FIELDS)
                raise CourseError(f"--pattern has the unknown field {field!r}; {hint}")
        if not {"student", "student_id"} & fields.keys():
            raise CourseError(f"--pattern {text!r} has no {{student}}.")
        self.who = "student" if "student" in fields else "student_id"

    def label(self, path: str, zone: tzinfo) -> Label | None:
        """Whose the file is, and when it came; None when the path has another form."""
        match = self.expression.fullmatch(path)
        if match is None:
            return None
        # an expression may take its text from what a student has put behind the name
        ends = range(min(len(path), LONGEST_NAME))
        begun = (self.expression.fullmatch(path[:end]) for end in ends)
        if any(one and one.start(self.who) < match.start(self.who) for one in begun):
            raise Left("can be read in two ways by --pattern; write .*? instead of .*")
        found = {field: text or "" for field, text in match.groupdict().items()}
        student = found.get("student") or found.get("student_id")
        if not student:
            return None
        full = f"{found.get('first_name', '')} {found.get('last_name', '')}"
        names = (student, found.get("email", ""), full)
        time = None
        if written := found.get("timestamp"):
            time = platform_time(written, zone)
            if time is None:
                raise Left(f"has a timestamp that cannot be read: {written[:60]!r}")
        return Label("", student, names=tuple(filter(str.strip, names)), time=time)


@dataclass(frozen=True)
class Owner:
    """Owner of a file: the name of the folder, and what is known of the student.

    Where ``label`` is the one of a team, ``own`` is the student's, for that platform.
    """

    student: str
    label: Label | None = None
    person: Person | None = None
    own: Label | None = None


class Owners:
    """Tells the owners of an archive's files."""

    def __init__(
        self,
        assignments: Iterable[str],
        roster: Roster | None = None,
        pattern: Pattern | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        self.assignments = set(assignments)
        self.roster, self.pattern, self.zone = roster, pattern, zone
        self.platform = roster.columns.platform if roster else ""
        self.start, self.form = 0, ""
        self.submitters: dict[str, list[Label]] = {}  # of Gradescope, by folder
        self.taken: dict[str, str] = {}  # whose the folders are, as far as we know
        self.unread: dict[PurePosixPath, str] = {}  # lists, and why they are not used
        self.numbers: dict[str, set[str]] = {}  # of one name in the archive

    # --------------------------------------------------------- the whole archive

    def look(self, entries: Sequence[Entry], class_folder: str) -> None:
        """Find out what kind of archive this is; CourseError when nobody can tell.

        ``class_folder`` is a name for a folder that never is a student's.
        """
        self.read_submitters(entries)
        if self.submitters:
            return
        paths = [entry.path for entry in entries if not entry.refused]
        books = [path.parts for path in paths if path.suffix.lower() == ".ipynb"]
        tops = {path.parts[0] for path in paths}
        top = tops.pop() if len(tops) == 1 else None
        self.find_form(books, top)
        if not self.form and top is not None:
            self.start = int(self.wrapped(top, paths, class_folder))
        for parts in books:
            if label := label_of(parts[min(self.start, len(parts) - 1)], self.platform):
                self.numbers.setdefault(label.name, set()).add(label.number)
        if self.roster or self.pattern:
            return
        if self.form in EXAMPLES:
            asked = ASKED.format(example=EXAMPLES[self.form])
            raise CourseError(f"This was downloaded from {self.form}. {asked}")
        for parts in books:
            folder = parts[self.start]
            told = self.form or label_of(folder) or folder in self.assignments
            words = tokens(folder)
            if told or len(parts) == self.start + 1:
                continue
            if any(within(tokens(name), words) for name in self.assignments):
                raise CourseError(
                    f"The folder {one_line(folder)} names an assignment, so the same "
                    "student would count as a different person in each assignment. "
                    f"{ASKED.format(example='{assignment}-{student}')}"
                )

    def find_form(self, books: list[tuple[str, ...]], top: str | None) -> None:
        """Which platform wrote all paths; what is inside such a name is not read.

        ``top`` is the one folder that all is in; it may be a student's.
        """
        label = label_of(top or "", self.platform)
        of_moodle = label is not None and label.platform == "moodle"
        around = top is not None and not of_moodle and not self.knows(top)
        for start in (0, 1) if around else (0,):
            inner = ["/".join(parts[start:]) for parts in books if len(parts) > start]
            tops = {path.partition("/")[0] for path in inner}
            labeled = self.platform and any(label_of(t, self.platform) for t in tops)
            for form, expression in FORMS.items():
                if start and form == "the exchange" and not self.roster:
                    continue  # the one folder may be a student's
                if tops and not labeled and all(map(expression.fullmatch, inner)):
                    self.start, self.form = start, form
                    return

    def read_submitters(self, entries: Sequence[Entry]) -> None:
        """Gradescope's own list of who handed in what, where there is one.

        It counts at its place in an archive that is Gradescope's as a whole: anywhere
        else, a student may have written it.
        """
        import yaml

        found = {entry: GRADESCOPE.fullmatch(str(entry.path)) for entry in entries}
        lists = [(entry, m["outer"]) for entry, m in found.items() if m and m["list"]]
        if not lists:
            return
        listing, outer = lists[0]
        for entry, match in found.items():
            if not match or match["outer"] != outer:
                other = one_line(str(entry.path))[:200]
                why = f"is not used, since {other} is not Gradescope's"
                self.unread = {one.path: why for one, _ in lists}
                return
        try:
            data = listing.read(LONGEST_LIST)
            content = yaml.load(data, Loader=yaml.BaseLoader)
            self.submitters = {
                folder: submitters(about) for folder, about in content.items()
            }
            self.start = 1 if outer else 0
        except Left as why:
            self.unread[listing.path] = str(why)
        except (
            *(yaml.YAMLError, RecursionError),
            *(AttributeError, KeyError, TypeError, ValueError),
        ) as error:
            told = one_line(str(error))[:200]
            self.unread[listing.path] = f"does not have Gradescope's form: {told}"

    def wrapped(self, top: str, paths: list[PurePosixPath], class_folder: str) -> bool:
        """Whether one folder holds the whole class, not the work of one student."""
        deep = [path.parts for path in paths if len(path.parts) > 1]
        inside = {p[1] for p in deep if len(p) > 2 or label_of(p[1], self.platform)}
        if self.roster:
            inside = {p[1] if len(p) > 2 else PurePosixPath(p[1]).stem for p in deep}
        if not inside - self.assignments:
            return False
        if top == class_folder:
            return True
        if label_of(top, self.platform) or self.knows(top):
            return False
        if self.roster or self.pattern:
            return not self.roster or any(map(self.knows, inside))
        raise CourseError(
            f"Everything is in one folder, {one_line(top)}. Is it one student's "
            f"folder, or the class's? {ASKED.format(example='{student}_{file}')} You "
            "can also collect that folder itself."
        )

    # ---------------------------------------------------------------- one file

    def owners(self, path: PurePosixPath) -> list[Owner]:
        """The owners of a file. Left when nobody knows.

        Only the outermost name counts: what is inside it, the student has chosen.
        """
        parts = path.parts[self.start :]
        if not parts:
            raise Left("cannot be matched to a student")
        if not self.submitters:
            return self.of(self.label(path))
        if parts[0] not in self.submitters:
            raise Left("is not in Gradescope's list")
        found = [owner for one in self.submitters[parts[0]] for owner in self.of(one)]
        if not found:
            raise Left("has no student in Gradescope's list")
        for owner in found:  # it has one submission of each
            other = self.taken.setdefault(owner.student, parts[0])
            if other != parts[0]:
                raise Left(
                    f"is {one_line(owner.student)}'s by Gradescope's list, as "
                    f"{other} is; look at both"
                )
        return found

    def label(self, path: PurePosixPath) -> Label:
        """What the path says of the student. Left when it says nothing."""
        parts = path.parts[self.start :]
        inner = "/".join(parts)
        if self.pattern:
            for text in (str(path), inner):
                if found := self.pattern.label(text, self.zone):
                    return found
            raise Left("does not match --pattern")
        if self.form and (match := FORMS[self.form].fullmatch(inner)):
            written = match.groupdict().get("time")
            time = platform_time(written, self.zone) if written else None
            return Label("", match["whose"], time=time)
        if label := label_of(parts[0], self.platform):
            return label
        if other := label_of(parts[0]):
            raise Left(
                f"was downloaded from {other.platform.title()}, but the roster is "
                "from elsewhere"
            )
        folders = [part for part in parts[:-1] if part not in self.assignments]
        if not folders and self.roster is None:
            raise Left("cannot be matched to a student")
        return Label("", folders[0] if folders else path.stem)

    def of(self, label: Label) -> list[Owner]:
        """The students whom a label means."""
        # what is kept of the label is for feedback that goes back to a platform
        kept = label if label.platform or label.time else None
        if self.roster is None:
            return [Owner(invented(label), kept)]
        why = "is not in the roster"
        found: dict[str, list[Person]] = {}
        for name in label.names or (label.name,):
            try:
                found[name] = self.roster.find(replace(label, name=name))
            except Unknown as error:
                why = str(error)
        first, *others = found or [label.name]
        people = found.get(first)
        for name in others:
            if found[name] != people:
                why = f"and {one_line(name)[:80]} are different students in the roster"
                people = None
                break
        if not people:
            raise Left(f": {one_line(first)[:80]} {why}")
        if not (label.platform and self.roster.is_team(first, people)):
            return [Owner(safe(one.student), kept, one) for one in people]
        if len(self.numbers.get(first, ())) > 1:
            raise Left(
                f": {one_line(first)[:80]} is the name of several teams, whose members "
                "cannot be told apart; give each its own name there"
            )
        owners = []
        for one in people:
            # only Moodle's worksheet has the number by which it knows a participant
            number = one.number if self.platform == "moodle" else ""
            own = Label(self.platform, one.name or one.word, number)
            whose = Owner(safe(one.student), kept, one, own)
            if self.roster.individual:  # Moodle knows of no team
                whose = Owner(whose.student, own, one)
            owners.append(whose)
        return owners

    def knows(self, name: str) -> bool:
        """Whether the roster has a student or a team that a platform calls so."""
        try:
            label = label_of(name, self.platform) or Label("", name)
            return bool(self.roster and self.roster.find(label))
        except Unknown:
            return False


def submitters(about: dict[str, Any]) -> list[Label]:
    """Who handed in one folder, and when, as Gradescope's list tells."""
    time = None
    with contextlib.suppress(CourseError):
        # it has more digits of a second than Python reads
        time = moment(re.sub(r"\.\d+", "", str(about.get(":created_at"))), UTC)
    people = [
        [str(one[key]) for key in (":sid", ":email", ":name") if one.get(key)]
        for one in about[":submitters"]
    ]
    return [
        Label("", names[0], names=tuple(names), time=time) for names in people if names
    ]
