"""``autograder lti push``: send points to the platform's gradebook, final or pending.

The grades there are read first. A score is sent where there is none, or one that we
sent; what somebody typed stays. So a push can be repeated, and resumed, at any time.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autograder.course import Course
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict
from autograder.intake.columns import parse_columns
from autograder.intake.roster import read_roster
from autograder.lti.files import Folder
from autograder.lti.journal import PENDING, Entry, Journal, opened
from autograder.lti.people import People
from autograder.lti.sentences import Refused, sentence
from autograder.lti.service import Service
from autograder.text import one_line

ENOUGH = 3  # students in a row whose scores were not taken
CLOSE = 1e-4  # platforms round a share of the maximum


@dataclass(frozen=True)
class Seen:
    """What the platform has for a student, and what of it may be ours.

    ``share`` is None where there is no grade, and ``entry`` tells whether there is a
    place for one.
    """

    entry: bool
    share: float | None
    ours: Sequence[Entry]


@dataclass(frozen=True)
class Step:
    """What is to be done for one student; ``score`` is None where it is not final.

    ``shown`` is whom the platform has under the user's id.
    """

    student: str
    user: str
    shown: str
    score: float | None
    most: float
    what: Literal["send", "as before", "kept"] = "send"
    why: str = ""

    @property
    def whose(self) -> str:
        """The student's id here, and who that is on the platform."""
        return f"{self.student}, {self.shown}:"

    @property
    def points(self) -> str:
        """The points as the journal writes them."""
        return PENDING if self.score is None else f"{self.score:g}/{self.most:g}"


def push(course: Course, options: argparse.Namespace) -> int:
    """Send the scores of assignments; 1 when some were not sent."""
    names = [a.name for a in course.chosen(options.assignments)]
    with Store(course) as store:
        results = {name: store.results(name) for name in names}
    if empty := [name for name in names if not results[name]]:
        raise Refused("ungraded", names=", ".join(empty))
    for name in names:
        if unknown := set(options.replace) - results[name].keys():
            raise Refused("no-work", names=", ".join(sorted(unknown)), name=name)
    given = parse_columns(options.columns)
    roster = read_roster(options.roster, given) if options.roster else None
    folder = Folder(course)
    service = Service(folder)
    people = People(service.members(), service.platform.kind, roster)
    with opened(folder.path / "pushed.log") as journal:
        pushing = Pushing(service, journal, set(options.replace), options.dry_run)
        failed = [pushing.run(n, results[n], people) for n in names]
    return 1 if any(failed) else 0


class Pushing:
    """Assignments on their way into their columns."""

    def __init__(
        self, service: Service, journal: Journal, over: set[str], dry: bool
    ) -> None:
        self.service, self.journal, self.over, self.dry = service, journal, over, dry
        self.counts: Counter[str] = Counter()

    def run(self, name: str, verdicts: Mapping[str, Verdict], people: People) -> int:
        """Plan, then send; how many were not sent though they should have been."""
        self.counts.clear()
        known, refused = people.matched(verdicts)
        for student, why in refused.items():
            self.say("not sent", student, str(why))
        if not known:
            raise Refused("nobody", name=name, title=self.service.link.title)
        most = next((v.max_score for v in verdicts.values() if v.max_score), 1.0)
        column = self.service.column(name)
        found = self.service.results(column) if column else {}
        place = str(column.get_id()) if column else ""
        steps = []
        for student, user in known.items():
            ours = self.journal.ours[one_line(place), one_line(user)]
            score = verdicts[student].score if verdicts[student].final else None
            step = Step(
                student, user, people.shown(user), score and max(score, 0.0), most
            )
            step = planned(step, Seen(user in found, found.get(user), ours))
            if step.what == "kept" and student in self.over:
                step = replace(step, what="send", why="")
            steps.append(step)
        if column is None:
            print(f"{name}: a new column of {most:g} points")
            column = None if self.dry else self.service.new_column(name, most)
        elif (there := column.get_score_maximum()) not in (None, most):
            print(
                f"{name}: {there:g} points in the column, {most:g} here; the "
                "platform converts the points"
            )
        place, in_a_row = str(column.get_id()) if column else "", 0
        for step in steps:
            if step.what != "send" or self.dry or column is None:
                word = "would be sent" if step.what == "send" else step.what
                self.say(word, step.whose, step.why or step.points)
                continue
            self.journal.begin(name, place, step.student, step.user, step.points)
            try:
                self.service.send(column, step.user, step.score, most)
            except Refused as error:
                kind = "unknown" if error.unknown else "refused"
                self.journal.end(f"{kind}: {error}")
                self.say("not sent", step.whose, str(error))
                in_a_row += 1
                if in_a_row == ENOUGH:
                    raise Refused("stopped", count=ENOUGH, error=error) from None
                continue
            in_a_row = 0
            self.journal.end("sent")
            self.say("sent", step.whose, step.points)
        told = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        print(f"{name}: {told}.")
        return self.counts["not sent"]

    def say(self, word: str, student: str, more: str) -> None:
        """A line about a student; those that are as before are only counted."""
        self.counts[word] += 1
        if word != "as before":
            print(one_line(f"{word}: {student} {more}"), flush=True)


def planned(step: Step, seen: Seen) -> Step:
    """What to do for one student; never over a grade that is not ours."""
    share = None if step.score is None else step.score / step.most
    there, values = seen.share, {"told": step.points, "student": step.student}
    if there is not None:
        if same(there, share):
            return replace(step, what="as before")
        if any(same(entry.share, there) for entry in seen.ours):
            return step
        points = {"there": f"{there * step.most:g}", "most": f"{step.most:g}"}
        return replace(step, what="kept", why=sentence("typed", **points, **values))
    # no grade there: pending, Moodle's zero, or one that somebody has taken out
    blank = [entry for entry in seen.ours if (entry.share or 0.0) < CLOSE]
    arrived = blank and (blank[-1].sure or (seen.entry and len(blank) == 1))
    if arrived and same(blank[-1].share, share):
        return replace(step, what="as before")
    if seen.entry and not blank:
        return replace(step, what="kept", why=sentence("taken-out", **values))
    return step


def same(one: float | None, other: float | None) -> bool:
    """Whether two shares are the same grade."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < CLOSE
