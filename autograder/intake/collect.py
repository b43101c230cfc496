"""``autograder collect``: sort a download of Moodle or Canvas into submitted/.

It takes a zip or a folder. Every version that ever came is kept in collected/;
submitted/ has the one that counts.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from autograder.course import Assignment, Course
from autograder.errors import CourseError, Held
from autograder.intake.archive import PACKED, Entry, Left, opened
from autograder.intake.columns import parse_columns
from autograder.intake.names import hidden, safe
from autograder.intake.owners import ASKED, Owners, Pattern
from autograder.intake.roster import Person, Roster, read_roster
from autograder.intake.submissions import Submissions
from autograder.intake.versions import REOPENED, Version, hours_apart, other_work
from autograder.notebook.cell_search import resemblance
from autograder.notebook.reading import read_cells
from autograder.notebook.records import Release
from autograder.options import add_columns, add_file, add_flag, describe
from autograder.release.dates import course_zone
from autograder.release.grading_plan import plan
from autograder.text import listed, one_line

TEST_STUDENT = "Student, Test"  # Canvas's own, in each course
MOST = 500_000_000  # bytes of notebooks of one student that one archive may hold
DRAFT = (
    "saved a draft and did not submit it, so that it can still change; --no-drafts "
    "leaves it out"
)
EARLIER = "submitted nothing in a reopened attempt; submitted/ has earlier work"


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
    words = "CSV with the students: your own, Canvas's gradebook or Moodle's worksheet"
    add_file(verb, "--roster", words)
    words = (
        "CSV with the members of teams, such as Canvas's list of groups: the columns "
        "student_id and team"
    )
    add_file(verb, "--teams", words)
    add_columns(verb)
    words = (
        "which part of the paths in the archive names the student, such as "
        "'{assignment}_{student}_{file}'; fields: student, first_name, last_name, "
        "email, timestamp, assignment, file"
    )
    verb.add_argument("--pattern", metavar="TEXT", help=words)
    words = "assignment to use when it cannot be detected (such as for damaged files)"
    verb.add_argument("--assignment", metavar="NAME", help=words)
    words = "which of several versions counts (default: latest)"
    rules = ("latest", "first")
    verb.add_argument("--keep", choices=rules, default="latest", help=words)
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
    collector = Collector(course, roster, options)
    counts = collector.collect(options.archive)
    known = counts["kept"] + counts["there before"]
    files = "file" if counts["left"] == 1 else "files"
    sums = (
        f"{counts['new']} new, {counts['replaced']} replaced, {known} as before, "
        f"{counts['left']} {files} not collected."
    )
    for line in (*collector.lines, sums, *collector.without_work()):
        print(one_line(line))
    return 0 if counts["new"] + counts["replaced"] + known else 1


class Collector:
    """Sorts what an archive holds into submitted/; ``options`` are those of the verb.

    ``lines`` are remarks to print.
    """

    def __init__(
        self, course: Course, roster: Roster | None, options: argparse.Namespace
    ) -> None:
        self.course, self.roster, self.options = course, roster, options
        # each with one of its notebooks
        parts = [part for one in course.assignments() for part in one.parts]
        pattern = Pattern(options.pattern) if options.pattern else None
        names = {part.name for part in parts}
        self.owners = Owners(names, roster, pattern, course_zone(course))
        chosen = course.chosen([options.assignment]) if options.assignment else []
        self.given = next(iter(chosen), None)
        self.found: set[str] = set()  # assignments
        self.numbered: set[str] = set()
        self.newest: datetime | None = None  # time of a file in the archive
        self.unpacked: Counter[str] = Counter()  # bytes, by student
        self.releases: dict[Assignment, Release] = {}
        self.stored = Submissions(course, options.keep, self.releases)
        self.lines = self.stored.lines
        if roster and roster.unread:
            self.lines.append(
                "unreadable times in the roster, which make nobody late: "
                f"{len(roster.unread)}, such as {roster.unread[0]!r}"
            )
        for part in parts:
            try:
                self.releases[part] = plan(course, part)
            except CourseError as error:  # it stops no other
                self.lines.append(f"{part.name} cannot be collected: {error}")
        if not self.releases:
            raise CourseError(self.lines[0])

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
                    self.stored.put(groups[key])
                except Left as why:  # it has changed meanwhile
                    self.leave(groups[key][0].entry, str(why))
        self.stored.conclude()
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
        if not self.stored.counts:
            raise CourseError(f"{archive} contains no notebook of this course.")
        return self.stored.counts

    def without_work(self) -> Iterator[str]:
        """For each assignment in the archive, who of the roster handed in nothing."""
        people = self.roster.people if self.roster else []
        people = [person for person in people if person.name != TEST_STUDENT]
        for name in sorted(self.found) if self.roster else ():
            missing = [
                person.student
                for person in people
                if not (self.course.submitted / safe(person.student) / name).is_dir()
                and not self.blind(person, name)
            ]
            yield (
                f"{name}: {len(missing)} of {len(people)} students on the roster "
                f"submitted nothing{': ' if missing else ''}{listed(missing)}."
            )

    # ------------------------------------------------------------ whose, what

    def identify(self, entry: Entry) -> list[Version]:
        """The students and the assignment of a file; Left when nobody knows."""
        if why := entry.refused or self.owners.unread.get(entry.path):
            raise Left(why)
        if entry.path.suffix.lower() in PACKED:
            raise Left(
                "is an archive inside the archive; unpack it, and collect the folder"
            )
        if entry.path.suffix.lower() != ".ipynb":
            raise Left("is not a notebook")
        owners = self.owners.owners(entry.path)
        for owner in owners:
            if self.options.no_drafts and self.has_status(owner.person, "draft"):
                raise Left("is a draft that was not submitted")
            if self.unpacked[owner.student] > MOST:
                most = f"{MOST // 1_000_000} MB of notebooks"
                raise Left(f"comes after {most} of the same student")
        data = entry.read()
        self.unpacked.update({owner.student: len(data) for owner in owners})
        assignment = self.assignment_of(entry.path, data)
        if assignment is None:
            empty = "" if data else "is empty, and "
            raise Left(
                f"{empty}cannot be matched to an assignment; give it with --assignment"
            )
        digest = hashlib.sha256(data).hexdigest()
        if any(one.label and one.label.platform for one in owners):
            entry = entry.in_zone(self.owners.zone)
        versions = []
        for one in owners:
            student = one.student
            if one.person and self.blind(one.person, assignment.name):
                self.numbered.add(one.person.number)
                student = f"participant-{one.person.number}"
            whose = one.label, one.person, one.own, self.newest
            versions.append(Version(student, assignment, entry, digest, *whose))
        return versions

    def assignment_of(self, path: PurePosixPath, data: bytes) -> Assignment | None:
        """By its cells; of a file that cannot be read, as told or by its name."""
        try:
            cells = read_cells(data)
        except Held:
            cells = []
        known = {one: resemblance(plan, cells) for one, plan in self.releases.items()}
        best = max(known, key=lambda one: known[one])
        if known[best]:
            return best
        if self.given:
            parts = self.given.parts
            return next((p for p in parts if p.notebook in path.name), parts[0])
        folders = [one for one in known if one.name in path.parts]
        named = [one for one in known if one.notebook in path.name]
        longest = sorted(named, key=lambda one: -len(one.notebook))
        return next(iter(folders + longest), None)

    def blind(self, person: Person, assignment: str) -> bool:
        """Whether work was collected while Moodle's worksheet had no names.

        Moodle's numbers are of one assignment alone, and are never given again.
        """
        folder = self.course.submitted / f"participant-{person.number}" / assignment
        moodle = self.roster and self.roster.moodle and person.number
        return bool(moodle) and folder.is_dir()

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
        for students, text in ((drafts, DRAFT), (earlier, EARLIER)):
            if students:
                self.lines.append(f"{len(students)} {text}: {listed(sorted(students))}")

    def has_status(self, person: Person | None, status: str) -> bool:
        """What Moodle's worksheet says of a student's work."""
        roster = self.roster
        return bool(person and roster and roster.has_status(person, status))

    def leave(self, entry: Entry, why: str) -> None:
        """Do not collect a file, and say so."""
        self.lines.append(f"not collected: {one_line(str(entry.path))[:200]} {why}")
        self.stored.counts["left"] += 1
