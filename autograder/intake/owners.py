"""The owner of a file: which student or team, by its path in an archive.

The path is read as a platform wrote it, as --pattern says, or by the class list.
Nothing that could be read in two ways is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import PurePosixPath

from autograder.errors import CourseError
from autograder.intake.archive import Entry, Left
from autograder.intake.names import FORMS, Label, label_of, safe, tokens, within
from autograder.intake.pattern import Pattern
from autograder.intake.roster import Person, Roster, Unknown, invented
from autograder.release.times import platform_time
from autograder.text import one_line

GRADESCOPE = "submission_metadata.yml"
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
        self.numbers: dict[str, set[str]] = {}  # of one name in the archive

    # --------------------------------------------------------- the whole archive

    def look(self, entries: Sequence[Entry], class_folder: str) -> None:
        """Find out what kind of archive this is; CourseError when nobody can tell.

        ``class_folder`` is a name for a folder that never is a student's.
        """
        self.read_submitters(entries)
        paths = [entry.path for entry in entries if not entry.refused]
        books = [path.parts for path in paths if path.suffix.lower() == ".ipynb"]
        alone = len({path.parts[0] for path in paths}) == 1
        for start in (0, 1) if alone else (0,):
            outer = {parts[start] for parts in books if len(parts) > start}
            known = {p for p in outer if self.platform and label_of(p, self.platform)}
            if outer & self.submitters.keys():
                self.start = start
            for form, expression in FORMS.items() if outer and not known else ():
                inner = [p for p in books if len(p) > start]
                if all(expression.fullmatch("/".join(p[start:])) for p in inner):
                    self.start, self.form = start, form
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
            told = label_of(top) or self.form or top in self.submitters
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

    def read_submitters(self, entries: Sequence[Entry]) -> None:
        """Gradescope's own list of who handed in what, where there is one."""
        import yaml

        lists = [e for e in entries if e.path.name == GRADESCOPE]
        for entry in lists:
            if len(entry.path.parts) > 2:
                continue  # a student's
            try:
                found = yaml.safe_load(entry.read())
                for folder, about in found.items():
                    time = about.get(":created_at")
                    when = time if isinstance(time, datetime) else None
                    self.submitters[folder] = [
                        Label(
                            "",
                            str(one.get(":sid") or one.get(":email") or one[":name"]),
                            names=tuple(str(value) for value in one.values() if value),
                            time=when and when.replace(tzinfo=when.tzinfo or UTC),
                        )
                        for one in about[":submitters"]
                    ]
            except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
                raise CourseError(
                    f"{entry.path} does not have Gradescope's form: {error}."
                ) from None

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
        if not inside - self.assignments or top in self.submitters:
            return False
        if top == class_folder:
            return True
        if label_of(top, self.platform) or (self.roster and self.knows(top)):
            return False
        if self.roster:
            return any(self.knows(name) for name in inside)
        if self.pattern or inside & self.submitters.keys():
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
        labels = self.submitters.get(parts[0]) or [self.label(path)]
        return [owner for label in labels for owner in self.of(label)]

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
        why = Unknown("is not in the roster")
        for name in label.names or (label.name,):
            try:
                people = self.roster.find(replace(label, name=name))
                team = label.platform and self.roster.is_team(name, people)
                if team and len(self.numbers[label.name]) > 1:
                    raise Unknown(
                        "is the name of several teams, whose members cannot be told "
                        "apart; give each its own name there"
                    )
                found = []
                for person in people:
                    own = self.own(person) if team else None
                    mine = kept
                    if own and self.roster.individual:  # Moodle knows of no team
                        mine, own = own, None
                    found.append(Owner(safe(person.student), mine, person, own))
                return found
            except Unknown as error:
                why = error
        raise Left(f": {one_line(label.name)[:80]} {why}") from None

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


EXAMPLES = {
    "Blackboard": "{assignment}_{student}_attempt_{timestamp}_{file}",
    "Brightspace": "{file_id} - {student} - {timestamp}",
}
