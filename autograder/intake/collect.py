"""``autograder collect``: sort a download of Moodle or Canvas into submitted/.

It takes a zip or a folder. Every version that ever came is kept in collected/;
submitted/ has the one that counts.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.intake.archive import PACKED, Entry, Left, opened
from autograder.intake.assignment_detection import assignment_of
from autograder.intake.columns import parse_columns
from autograder.intake.names import hidden, safe
from autograder.intake.owners import ASKED, Owner, Owners
from autograder.intake.pattern import Pattern
from autograder.intake.roster import Person, Roster, read_roster
from autograder.intake.submissions import Submissions
from autograder.intake.versions import (
    REOPENED,
    Version,
    hours_apart,
    other_work,
)
from autograder.notebook.records import Release
from autograder.options import add_columns, add_file, add_flag, describe
from autograder.release.dates import course_zone
from autograder.release.grading_plan import plan
from autograder.text import listed, one_line


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder collect`."""
    describe(
        verb,
        "Notebooks are recognized by their cells, not by their file names. Every "
        "version is kept in collected/. With a roster, only the work of students on "
        "it is collected; anything ambiguous is skipped and listed. Submission times "
        "come from Moodle's worksheet or from a plain zip; the archives of Moodle "
        "and Canvas do not contain them. The exit code is 1 when nothing was "
        "collected.",
        "autograder collect submissions.zip --roster students.csv",
    )
    verb.add_argument("archive", type=Path, metavar="ARCHIVE")
    add_file(
        verb,
        "--roster",
        "CSV with the students: your own, Canvas's gradebook or Moodle's worksheet",
    )
    add_file(
        verb,
        "--teams",
        "CSV with the members of teams, such as Canvas's list of groups: the "
        "columns student_id and team",
    )
    add_columns(verb)
    verb.add_argument(
        "--pattern",
        metavar="TEXT",
        help="which part of the paths in the archive names the student, such as "
        "'{assignment}_{student}_{file}'; fields: student, first_name, last_name, "
        "email, timestamp, assignment, file",
    )
    verb.add_argument(
        "--assignment",
        metavar="NAME",
        help="assignment to use when it cannot be detected (such as for damaged files)",
    )
    verb.add_argument(
        "--keep",
        choices=("latest", "first"),
        default="latest",
        help="which of several versions counts (default: latest)",
    )
    add_flag(verb, "--no-drafts", "leave out what Moodle's worksheet calls a draft")


def run(options: argparse.Namespace) -> int:
    """Sort in one archive; 1 when nothing of it could be collected."""
    course = Course.find()
    roster = None
    if options.roster:
        columns = parse_columns(options.columns)
        roster = read_roster(options.roster, columns, course_zone(course))
        if options.teams:
            roster = roster.with_teams(options.teams)
    elif options.teams or options.columns:
        raise CourseError("--teams and --columns need --roster.")
    collector = Collector(
        course,
        roster=roster,
        assignment=options.assignment,
        keep=options.keep,
        pattern=Pattern(options.pattern) if options.pattern else None,
        drafts=not options.no_drafts,
    )
    counts = collector.collect(options.archive)
    for line in collector.lines:
        print(one_line(line))
    known = counts["kept"] + counts["there before"]
    files = "file" if counts["left"] == 1 else "files"
    print(
        f"{counts['new']} new, {counts['replaced']} replaced, {known} as before, "
        f"{counts['left']} {files} not collected."
    )
    for line in collector.without_work():
        print(one_line(line))
    return 0 if counts["new"] + counts["replaced"] + known else 1


TEST_STUDENT = "Student, Test"  # Canvas's own, in each course
MOST = 500_000_000  # bytes of notebooks of one student that one archive may hold


class Collector:
    """Sorts what an archive holds into submitted/."""

    def __init__(
        self,
        course: Course,
        *,
        roster: Roster | None = None,
        assignment: str | None = None,
        keep: str = "latest",
        pattern: Pattern | None = None,
        drafts: bool = True,
    ) -> None:
        self.course, self.roster, self.drafts = course, roster, drafts
        self.platform = roster.columns.platform if roster else ""
        # each with one of its notebooks
        self.assignments = [p for a in course.assignments() for p in a.parts]
        names = {assignment.name for assignment in self.assignments}
        self.owners = Owners(names, roster, pattern, course_zone(course))
        self.given = course.chosen([assignment])[0] if assignment else None
        self.found: set[str] = set()
        self.numbered: set[str] = set()
        self.newest: datetime | None = None  # time of a file in the archive
        self.unpacked: Counter[str] = Counter()  # bytes, by student
        self.releases: dict[Assignment, Release] = {}
        self.keeper = Submissions(course, keep, self.releases)
        if roster and roster.unread:
            self.lines.append(
                "unreadable times in the roster, which make nobody late: "
                f"{len(roster.unread)}, such as {roster.unread[0]!r}"
            )
        for one in list(self.assignments):
            try:
                self.releases[one] = plan(course, one)
            except CourseError as error:  # it stops no other
                self.lines.append(f"{one.name} cannot be collected: {error}")
                self.assignments.remove(one)
        if not self.assignments:
            raise CourseError(self.lines[0])

    @property
    def lines(self) -> list[str]:
        """Remarks to print, one a line."""
        return self.keeper.lines

    def collect(self, archive: Path) -> Counter[str]:
        """Sort in the files of one archive; what cannot be used is left out by name."""
        groups: dict[tuple[str, str, str], list[Version]] = defaultdict(list)
        with opened(archive) as entries:
            entries = [entry for entry in entries if not hidden(entry.path)]
            self.owners.look(entries, self.course.submitted.name)
            times = (entry.in_zone(self.owners.zone).time for entry in entries)
            self.newest = max(times, default=None)
            for entry in entries:
                try:
                    for version in self.identify(entry):
                        what = version.assignment
                        key = version.student, what.name, what.notebook
                        groups[key].append(version)
                except Left as why:
                    self.leave(entry, str(why))
            self.ask_about_crowds(groups)
            for key in sorted(groups):
                try:
                    self.keeper.put(groups[key])
                except Left as why:  # it has changed meanwhile
                    self.leave(groups[key][0].entry, str(why))
        self.keeper.conclude()
        versions = [version for group in groups.values() for version in group]
        self.look_at_status(versions)
        if hours := hours_apart(versions):
            self.lines.append(
                f"the worksheet's times are {abs(hours):g} hours "
                f"{'before' if hours > 0 else 'after'} those of the files, so your "
                "Moodle profile and its server seem to be in different time zones; "
                "set c.Exchange.timezone to that of your profile, and collect again"
            )
        if self.numbered:
            self.lines.append(
                f"students who kept the number from blind marking: {len(self.numbered)}"
            )
        self.found = {assignment for _, assignment, _ in groups}
        if not self.keeper.counts:
            raise CourseError(f"{archive} contains no notebook of this course.")
        return self.keeper.counts

    def without_work(self) -> list[str]:
        """For each assignment in the archive, who of the roster handed in nothing."""
        lines = []
        for name in sorted(self.found) if self.roster else []:
            assert self.roster
            people = [p for p in self.roster.people if p.name != TEST_STUDENT]
            missing = [
                person.student
                for person in people
                if not (self.course.submitted / safe(person.student) / name).is_dir()
                and not self.blind(person, name)
            ]
            lines.append(
                f"{name}: {len(missing)} of {len(people)} students on the roster "
                f"submitted nothing{': ' if missing else ''}{listed(missing)}."
            )
        return lines

    # ------------------------------------------------------------ whose, what

    def identify(self, entry: Entry) -> list[Version]:
        """The students and the assignment of a file; Left when nobody knows."""
        if entry.refused:
            raise Left(entry.refused)
        if entry.path in self.owners.unread:
            raise Left(self.owners.unread[entry.path])
        if entry.path.suffix.lower() in PACKED:
            raise Left(
                "is an archive inside the archive; unpack it, and collect the folder"
            )
        if entry.path.suffix.lower() != ".ipynb":
            raise Left("is not a notebook")
        owners = self.owners.owners(entry.path)
        for owner in owners:
            if not self.drafts and self.has_status(owner.person, "draft"):
                raise Left("is a draft that was not submitted")
            if self.unpacked[owner.student] > MOST:
                most = f"{MOST // 1_000_000} MB of notebooks"
                raise Left(f"comes after {most} of the same student")
        data = entry.read()
        self.unpacked.update({owner.student: len(data) for owner in owners})
        assignment = assignment_of(entry.path, data, self.releases, self.given)
        if assignment is None:
            empty = "" if data else "is empty, and "
            raise Left(
                f"{empty}cannot be matched to an assignment; give it with --assignment"
            )
        digest = hashlib.sha256(data).hexdigest()
        if any(one.label and one.label.platform for one in owners):
            entry = entry.in_zone(self.owners.zone)
        return [
            Version(
                self.student(one, assignment),
                assignment,
                entry,
                digest,
                one.label,
                one.person,
                one.own,
                self.newest,
            )
            for one in owners
        ]

    def student(self, owner: Owner, assignment: Assignment) -> str:
        """What the student is called: by the number, if marking was blind before."""
        if owner.person and self.blind(owner.person, assignment.name):
            self.numbered.add(owner.person.number)
            return f"participant-{owner.person.number}"
        return owner.student

    def blind(self, person: Person, assignment: str) -> bool:
        """Whether work was collected while Moodle's worksheet had no names.

        Moodle's numbers are of one assignment alone, and are never given again.
        """
        folder = self.course.submitted / f"participant-{person.number}" / assignment
        moodle = self.platform == "moodle" and bool(person.number)
        return moodle and folder.is_dir()

    def ask_about_crowds(
        self, groups: Mapping[tuple[str, str, str], list[Version]]
    ) -> None:
        """Raise CourseError if a folder may hold a class, not a student's versions."""
        if self.roster or self.owners.pattern:
            return
        crowds: dict[str, bool] = {}
        for (student, *_), versions in groups.items():
            told = any(v.label or len(v.entry.path.parts) != 2 for v in versions)
            several = len({version.digest for version in versions}) > 1
            crowds[student] = crowds.get(student, False) or (several and not told)
        if crowds and all(crowds.values()):
            folder = next(iter(groups.values()))[0].entry.path.parts[0]
            raise CourseError(
                f"The folder {one_line(folder)} has several notebooks of one "
                "assignment. Are they one student's versions, or the work of a "
                "class? " + ASKED.format(example=f"{folder}/{{student}} - {{file}}")
            )

    def look_at_status(self, found: Iterable[Version]) -> None:
        """Say whose work is a draft, and whose is of an earlier attempt."""
        if self.roster is None:
            return
        came = {(v.student, v.assignment.name): v.person for v in found}
        drafts = [who for (who, _), p in came.items() if self.has_status(p, "draft")]
        earlier = [
            path.parent.name
            for name in {assignment for _, assignment in came}
            for path in self.course.submitted.glob(f"*/{name}")
            if (path.parent.name, name) not in came
            and other_work(self.course, self.roster, path.parent.name, name) == REOPENED
        ]
        for students, text in (
            (
                drafts,
                "saved a draft and did not submit it, so that it can still change; "
                "--no-drafts leaves it out",
            ),
            (
                earlier,
                "submitted nothing in a reopened attempt; submitted/ has earlier work",
            ),
        ):
            if students:
                self.lines.append(f"{len(students)} {text}: {listed(sorted(students))}")

    def has_status(self, person: Person | None, status: str) -> bool:
        """What Moodle's worksheet says of a student's work."""
        roster = self.roster
        return bool(person and roster and roster.has_status(person, status))

    def leave(self, entry: Entry, why: str) -> None:
        """Do not collect a file, and say so."""
        self.lines.append(f"not collected: {one_line(str(entry.path))[:200]} {why}")
        self.keeper.counts["left"] += 1
