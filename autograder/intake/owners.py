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
from autograder.intake.pattern import Pattern
from autograder.intake.roster import Person, Roster, Unknown, invented
from autograder.release.dates import moment, platform_time
from autograder.text import one_line

GRADESCOPE = re.compile(
    r"(?P<outer>assignment_\d+_export/)?"
    r"(?:(?P<list>submission_metadata\.yml)|submission_\d+/.*)",
    re.S,
)
LONGEST_LIST = 2_000_000  # bytes; one takes YAML's reader 15 microseconds
ASKED = (
    "Pass a list of the students with --roster, or say with --pattern where their "
    "names are, for example --pattern '{example}'."
)


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
        self.find_form(paths)
        if not self.form and not self.start:
            self.start = int(self.wrapped(paths, class_folder))
        for parts in books:
            if label := label_of(parts[min(self.start, len(parts) - 1)], self.platform):
                self.numbers.setdefault(label.name, set()).add(label.number)
        if self.roster or self.pattern:
            return
        if self.form in ("Blackboard", "Brightspace"):
            asked = ASKED.format(example=EXAMPLES[self.form])
            raise CourseError(f"This was downloaded from {self.form}. {asked}")
        for parts in books:
            top = parts[self.start]
            told = label_of(top) or self.form
            if told or top in self.assignments or len(parts) == self.start + 1:
                continue
            for name in self.assignments:
                if within(tokens(name), tokens(top)):
                    asked = ASKED.format(example="{assignment}-{student}")
                    raise CourseError(
                        f"The folder {one_line(top)} names an assignment, so the "
                        "same student would count as a different person in each "
                        f"assignment. {asked}"
                    )

    def find_form(self, paths: list[PurePosixPath]) -> None:
        """Which platform wrote all paths; what is inside such a name is not read."""
        books = [path.parts for path in paths if path.suffix.lower() == ".ipynb"]
        for start in (0, 1) if self.around(paths) else (0,):
            inner = ["/".join(parts[start:]) for parts in books if len(parts) > start]
            tops = {path.partition("/")[0] for path in inner}
            if not tops or (
                self.platform and any(label_of(top, self.platform) for top in tops)
            ):
                continue
            for form, expression in FORMS.items():
                if start and form == "the exchange" and not self.roster:
                    continue  # the one folder may be a student's
                if all(map(expression.fullmatch, inner)):
                    self.start, self.form = start, form
                    return

    def around(self, paths: list[PurePosixPath]) -> bool:
        """Whether all is in one folder, and that is not known to be a student's."""
        tops = {path.parts[0] for path in paths}
        top = min(tops, default="")
        label = label_of(top, self.platform)
        of_moodle = label is not None and label.platform == "moodle"
        return len(tops) == 1 and not (of_moodle or (self.roster and self.knows(top)))

    def read_submitters(self, entries: Sequence[Entry]) -> None:
        """Gradescope's own list of who handed in what, where there is one.

        It counts at its place in an archive that is Gradescope's as a whole: anywhere
        else, a student may have written it.
        """
        import yaml

        found = {entry: GRADESCOPE.fullmatch(str(entry.path)) for entry in entries}
        lists = [entry for entry, match in found.items() if match and match["list"]]
        if not lists:
            return
        place = GRADESCOPE.fullmatch(str(lists[0].path))
        assert place
        for entry, match in found.items():
            if not match or match["outer"] != place["outer"]:
                other = one_line(str(entry.path))[:200]
                self.unread = {
                    one.path: f"is not used, since {other} is not Gradescope's"
                    for one in lists
                }
                return
        try:
            data = lists[0].read(LONGEST_LIST)
            content = yaml.load(data, Loader=yaml.BaseLoader)
            self.submitters = {
                folder: submitters(about) for folder, about in content.items()
            }
            self.start = 1 if place["outer"] else 0
        except Left as why:
            self.unread[lists[0].path] = str(why)
        except (
            *(yaml.YAMLError, RecursionError),
            *(AttributeError, KeyError, TypeError, ValueError),
        ) as error:
            self.unread[lists[0].path] = (
                f"does not have Gradescope's form: {one_line(str(error))[:200]}"
            )

    def wrapped(self, paths: list[PurePosixPath], class_folder: str) -> bool:
        """Whether one folder holds the whole class, not the work of one student."""
        tops = {path.parts[0] for path in paths}
        deep = [path.parts for path in paths if len(path.parts) > 1]
        if len(tops) != 1 or not deep:
            return False
        top = tops.pop()
        inside = {p[1] for p in deep if len(p) > 2 or label_of(p[1], self.platform)}
        if self.roster:
            inside = {p[1] if len(p) > 2 else PurePosixPath(p[1]).stem for p in deep}
        if not inside - self.assignments:
            return False
        if top == class_folder:
            return True
        if label_of(top, self.platform) or (self.roster and self.knows(top)):
            return False
        if self.roster:
            return any(self.knows(name) for name in inside)
        if self.pattern:
            return True
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
            found = self.pattern.label(str(path), self.zone)
            if found is None and self.start:
                found = self.pattern.label(inner, self.zone)
            if found is None:
                raise Left("does not match --pattern")
            return found
        if self.form and (match := FORMS[self.form].fullmatch(inner)):
            written = match.groupdict().get("time")
            time = platform_time(written, self.zone) if written else None
            return Label("", match["whose"], time=time)
        label = label_of(parts[0], self.platform)
        if label is None and (other := label_of(parts[0])):
            raise Left(
                f"was downloaded from {other.platform.title()}, but the roster is "
                "from elsewhere"
            )
        folders = [part for part in parts[:-1] if part not in self.assignments]
        if label is None and not folders and self.roster is None:
            raise Left("cannot be matched to a student")
        return label or Label("", folders[0] if folders else path.stem)

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
        for name in others:
            if found[name] != found[first]:
                why = f"and {one_line(name)[:80]} are different students in the roster"
                found = {}
        people = found.get(first)
        if not people:
            raise Left(f": {one_line(first)[:80]} {why}")
        if not (label.platform and self.roster.is_team(first, people)):
            return [Owner(safe(one.student), kept, one) for one in people]
        if len(self.numbers.get(first, ())) > 1:
            raise Left(
                f": {one_line(first)[:80]} is the name of several teams, whose members "
                "cannot be told apart; give each its own name there"
            )
        if self.roster.individual:  # Moodle knows of no team
            return [Owner(safe(one.student), self.own(one), one) for one in people]
        return [Owner(safe(one.student), kept, one, self.own(one)) for one in people]

    def own(self, person: Person) -> Label:
        """The label of one member of a team.

        Only Moodle's worksheet has the number by which Moodle knows a participant.
        """
        number = person.number if self.platform == "moodle" else ""
        return Label(self.platform, person.name or person.word, number)

    def knows(self, name: str) -> bool:
        """Whether the roster has a student or a team that a platform calls so."""
        assert self.roster
        try:
            label = label_of(name, self.platform) or Label("", name)
            return bool(self.roster.find(label))
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


EXAMPLES = {
    "Blackboard": "{assignment}_{student}_attempt_{timestamp}_{file}",
    "Brightspace": "{file_id} - {student} - {timestamp}",
}
