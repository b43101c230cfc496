"""The history of points, an append-only log: who had what, when, and why it changed.

``history.jsonl`` is beside the gradebook. Whenever a command reads results, it adds
what differs from the last line about a student, before it shows or sends any points.
It skips a line that a kill cut off, and adds the same again the next time.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from autograder.checks.fingerprints import short
from autograder.course import Course
from autograder.grading.verdict import Verdict

RECORD = "history.jsonl"
FACTS = ("score", "final", "held", "questions", "by_hand", "late", "penalty")
SENT = ("answers", "comments", *FACTS)  # what a feedback page shows
Line = dict[str, Any]


def lines(course: Course) -> list[Line]:
    """Everything in the record, in the order in which it was written."""
    try:
        text = (course.root / RECORD).read_bytes()
    except FileNotFoundError:
        return []
    return list(whole(text))


def whole(text: bytes) -> Iterator[Line]:
    """The lines that can be read; one that was cut off is passed over."""
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict) and "student" in found:
            yield found


def states(found: Iterable[Line], assignment: str) -> dict[str, list[Line]]:
    """By student: what they had for an assignment, one line after the other."""
    mine: dict[str, list[Line]] = defaultdict(list)
    for line in found:
        if line["assignment"] == assignment and "score" in line:
            mine[line["student"]].append(line)
    return mine


def note(
    course: Course,
    assignment: str,
    verdicts: Mapping[str, Verdict],
    comments: Mapping[str, str],
) -> None:
    """Add what has changed since the last line about each of these students.

    ``comments`` are those that people wrote, by student.
    """
    with opened(course) as (add, found):
        known = states(found, assignment)
        given = by_hand_since(found, assignment)
        more = []
        for student, verdict in verdicts.items():
            before = known[student][-1] if student in known else None
            now = state(verdict, comments.get(student, ""))
            if before and all(before[fact] == now[fact] for fact in SENT):
                continue
            hand = given.get(student) if before else None
            about = {"student": student, "assignment": assignment}
            more.append(about | occasion(before, now, verdict, hand) | now)
        add(more)


def state(verdict: Verdict, comments: str) -> Line:
    """What somebody has, in short."""
    return {
        "score": verdict.score,
        "max_score": verdict.max_score,
        "final": verdict.final,
        "held": verdict.reason,
        "questions": {
            q.id: None if q.waiting and not q.by_hand else q.score
            for q in verdict.questions
        },
        "by_hand": [q.id for q in verdict.questions if q.by_hand],
        "late": verdict.late or 0.0,
        "penalty": verdict.penalty,
        "answers": short(json.dumps(dict(verdict.answers), sort_keys=True)),
        "comments": short(comments) if comments else "",
        "release": (verdict.run.release if verdict.run else "")[:16],
        "run": verdict.run.started if verdict.run else 0,
    }


def occasion(
    before: Line | None, now: Line, verdict: Verdict, hand: Line | None
) -> Line:
    """When it changed, why, and who did it where a person did."""
    why = list(causes(before, now))
    time = datetime.now(UTC)
    if verdict.run and (before is None or before["run"] != now["run"]):
        time = datetime.fromtimestamp(verdict.run.started + verdict.run.seconds, UTC)
    line: Line = {"time": time.isoformat(timespec="seconds"), "why": why}
    if hand and {"by hand", "comment"} & set(why):
        line |= {"time": hand["time"], "by": hand["by"]}
    elif verdict.run and {"checks", "graded again"} & set(why):
        line |= {"by": verdict.run.by, "because": verdict.run.because}
    return line


def user() -> str:
    """Who works here, on a JupyterHub as well."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.getuid())


def causes(before: Line | None, now: Line) -> Iterator[str]:
    """Why a student has something else now."""
    if before is None:
        yield "held" if now["held"] else "graded"
        return
    if now["held"] != before["held"]:
        yield "held" if now["held"] else "no longer held"
    other_work = now["answers"] != before["answers"]
    if other_work:
        yield "other work"
    old, new = before["questions"], now["questions"]
    changed = {q for q in old.keys() | new.keys() if old.get(q) != new.get(q)}
    hands_on = set(now["by_hand"]), set(before["by_hand"])
    by_hand = hands_on[0] ^ hands_on[1] | (changed & hands_on[0])
    if changed - by_hand and not other_work and not now["held"]:
        same = before["release"] == now["release"]
        yield "graded again" if same else "checks"
    if by_hand:
        yield "by hand"
    if now["late"] != before["late"]:
        yield "lateness"
    if now["comments"] != before["comments"]:
        yield "comment"


def by_hand_since(found: Iterable[Line], assignment: str) -> dict[str, Line]:
    """Who graded by hand since the last line of points, by student."""
    last: dict[str, Line] = {}
    for line in found:
        if line["assignment"] == assignment:
            if "score" in line:
                last.pop(line["student"], None)
            elif "given" in line:
                last[line["student"]] = line
    return last


def given(course: Course, lines: list[Line]) -> None:
    """Add who gave points or comments; what they come to is added with the results."""
    with opened(course) as (add, _):
        add(lines)


# ------------------------------------------------------------- feedback pages


def sent(course: Course, assignment: str, students: Iterable[str]) -> None:
    """Note that these students' feedback pages show what they have now."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with opened(course) as (add, found):
        known = states(found, assignment)
        about = {"time": now, "assignment": assignment}
        add(
            [
                about | {"student": student, "page": page(known[student][-1])}
                for student in students
                if student in known
            ]
        )


def to_send(found: Iterable[Line], assignment: str) -> dict[str, str]:
    """Whose feedback page has to go out: it shows what they no longer have, or is new.

    By student, with the words of a list. Before the first pages go out, nobody's.
    """
    found = list(found)
    pages = {
        line["student"]: line["page"]
        for line in found
        if line["assignment"] == assignment and "page" in line
    }
    return {
        who: who if who in pages else f"{who} (first page)"
        for who, mine in sorted(states(found, assignment).items())
        if pages and not mine[-1]["held"] and pages.get(who) != page(mine[-1])
    }


def page(line: Line) -> str:
    """A fingerprint of what a feedback page shows."""
    return short(json.dumps([line[fact] for fact in SENT]))


# ------------------------------------------------------------------- the file


@contextmanager
def opened(course: Course) -> Iterator[tuple[Callable[[list[Line]], None], list[Line]]]:
    """The record for one process at a time: what appends to it, and its lines."""
    with open(course.root / RECORD, "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        torn = bool(text) and not text.endswith(b"\n")

        def add(more: list[Line]) -> None:
            if more:
                new = "".join(json.dumps(line) + "\n" for line in more)
                file.write(("\n" * torn + new).encode())
                file.flush()
                os.fsync(file.fileno())

        yield add, list(whole(text))
