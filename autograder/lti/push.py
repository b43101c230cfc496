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

from pylti1p3.lineitem import LineItem

from autograder.course import Course
from autograder.grading.store import Store
from autograder.grading.verdict import Verdict
from autograder.intake.columns import parse_columns
from autograder.intake.roster import read_roster
from autograder.lti.files import Folder
from autograder.lti.journal import PENDING, Entry, Journal, opened
from autograder.lti.people import People
from autograder.lti.sentences import Refused, sentence
from autograder.lti.service import Cell, Service
from autograder.text import one_line

ENOUGH = 3  # students in a row whose scores were not taken
CLOSE = 1e-4  # platforms round a share of the maximum


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
        there, place = most, ""
        cells: dict[str, Cell] = {}
        if column:
            cells, place = self.service.results(column), str(column.get_id())
            there = column.get_score_maximum() or most

        def ours(user: str) -> list[Entry]:
            return self.journal.ours[one_line(place), one_line(user)]

        steps = []
        for student, user in known.items():
            score = verdicts[student].score if verdicts[student].final else None
            score = score and max(score, 0.0)
            step = Step(student, user, people.shown(user), score, most)
            step = planned(step, cells.get(user), there, ours(user))
            if step.what == "kept" and student in self.over:
                step = replace(step, what="send", why="")
            steps.append(step)
        for user in sorted(cells.keys() - known.values()):
            if sent(cells[user], ours(user)):
                points = f"{cells[user].score:g} of {there:g}"
                told = sentence("stray", points=points)
                self.say("left there", people.shown(user), told)
        if column is None:
            print(f"{name}: a new column of {most:g} points")
            column = None if self.dry else self.service.new_column(name, most)
        elif there != most:
            print(
                f"{name}: {there:g} points in the column, {most:g} here; the points "
                "are converted"
            )
        in_a_row = 0
        for step in steps:
            if step.what != "send" or self.dry or column is None:
                word = "would be sent" if step.what == "send" else step.what
                self.say(word, step.whose, step.why or step.points)
                continue
            error = self.send(name, column, step, there, cells.get(step.user))
            if error is None:
                in_a_row = 0
            elif error.name != "locked":  # that is one student's alone
                in_a_row += 1
            if in_a_row == ENOUGH:
                raise Refused("stopped", count=ENOUGH, error=error) from None
        told = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        print(f"{name}: {told}.")
        return self.counts["not sent"]

    def send(
        self, name: str, column: LineItem, step: Step, there: float, cell: Cell | None
    ) -> Refused | None:
        """Send one score, with its lines before and after; why it was not taken."""
        place = str(column.get_id())
        self.journal.begin(name, place, step.student, step.user, step.points)
        score = step.score and step.score * (there / step.most)
        note = cell.comment if cell else ""
        try:
            self.service.send(column, step.user, score, there, note)
        except Refused as error:
            kind = "unknown" if error.unknown else "refused"
            self.journal.end(f"{kind}: {error}")
            self.say("not sent", step.whose, str(error))
            return error
        self.journal.end("sent")
        self.say("sent", step.whose, step.points)
        return None

    def say(self, word: str, student: str, more: str) -> None:
        """A line about a student; those that are as before are only counted."""
        self.counts[word] += 1
        if word != "as before":
            print(one_line(f"{word}: {student} {more}"), flush=True)


def planned(step: Step, cell: Cell | None, most: float, ours: Sequence[Entry]) -> Step:
    """What to do for one student; never over a grade that is not ours.

    ``cell`` is None where there is no place for a grade yet; ``most`` is the column's
    maximum now, which may differ from that of the day when a grade was stored.
    """
    share = None if step.score is None else step.score / step.most
    told = {"told": step.points, "student": step.student}
    if cell and cell.score is not None:
        if same(cell.score / most, share):
            return replace(step, what="as before")
        if sent(cell, ours):
            return step
        told |= {"there": f"{cell.score:g}", "most": f"{most:g}"}
        return replace(step, what="kept", why=sentence("typed", **told))
    # no grade there: pending, or one that somebody has taken out
    pending = [entry for entry in ours if entry.share is None]
    arrived = pending and (pending[-1].sure or (cell and len(pending) == 1))
    if arrived and share is None:
        return replace(step, what="as before")
    if cell and not pending:
        return replace(step, what="kept", why=sentence("taken-out", **told))
    return step


def sent(cell: Cell, ours: Sequence[Entry]) -> bool:
    """Whether the grade there is one that we sent."""
    return cell.score is not None and any(
        same(entry.share, cell.score / cell.most) for entry in ours
    )


def same(one: float | None, other: float | None) -> bool:
    """Whether two shares are the same grade."""
    if one is None or other is None:
        return one is other
    return abs(one - other) < CLOSE
