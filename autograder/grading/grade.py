"""``autograder grade``: its options, a run over the submissions, and what it prints."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder import wall
from autograder.course import Assignment, Course, Submission
from autograder.errors import CourseError
from autograder.files import expect_writable, write_whole
from autograder.grading.verdict import Verdict
from autograder.options import (
    add_assignments,
    add_file,
    add_flag,
    add_student,
    at_least_one,
    describe,
)
from autograder.text import one_line

WEAKER = ("landlock", "none")
UNPROTECTED = (
    "Without the sandbox, students' code runs with your rights: it can read and "
    "change your files, use the network, and see other submissions. Only the points "
    "are still decided in another process."
)
BEHIND: dict[wall.Wall, str] = {
    "namespaces": "Students' code runs in its own Linux namespaces.",
    "landlock": "Students' code runs behind Landlock, since namespaces are forbidden "
    "here. Points are protected as well as in namespaces. But disk space is watched, "
    "not limited, and students' code can find out which file names exist (see the page "
    "on the wall).",
}
GROUPS = (
    "Each submission has limits for its memory, its processes and its share of "
    "the processors."
)
NO_SANDBOX_HINT = "`--no-sandbox` grades without protection; see `--help`."


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder grade`."""
    describe(
        verb,
        "Verdicts go into the gradebook, and notebooks with outputs into "
        "autograded/. Submissions that already have a verdict are skipped, so an "
        "interrupted run resumes where it stopped. Submissions that cannot be judged "
        "are held until you have looked at them; the reason is printed.",
        "autograder grade 01-means --json results.json",
    )
    add_assignments(verb)
    add_student(verb)
    verb.add_argument(
        "--workers",
        type=at_least_one,
        metavar="N",
        default=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        help="number of parallel processes (default: one for each processor)",
    )
    verb.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="grade on the workers of a Dask cluster, such as tcp://10.0.0.5:8786; "
        "start them with `dask worker ADDRESS --nthreads 1`",
    )
    add_flag(verb, "--force", "regrade submissions that already have a verdict")
    add_flag(
        verb,
        "--dry-run",
        "show which points would change, and store nothing; --json writes the "
        "list of changes (the exit code is 0 either way)",
    )
    verb.add_argument(
        "--because",
        metavar="TEXT",
        default="",
        help="why points change; `autograder history` shows this reason with your name",
    )
    add_flag(
        verb,
        "--unproven",
        "grade even if checks take points from the course's own solution",
    )
    add_flag(verb, "--no-sandbox", UNPROTECTED)
    add_file(verb, "--json", "write scores and messages to FILE")


def run(options: argparse.Namespace) -> int:
    """Grade, and print the results; 1 when an assignment could not be graded."""
    course = Course.find()
    assignments = course.chosen(options.assignments)
    if options.json:
        expect_writable(options.json)
    submissions = handed_in(course, assignments, options.students)
    for line in course.without_effect():
        print(line, file=sys.stderr)
    say_wall(course, options.no_sandbox)

    from autograder.grading.driver import Driver, grading_lock
    from autograder.grading.gradebook import NOTHING
    from autograder.grading.missing_work import unused
    from autograder.grading.progress import Progress
    from autograder.grading.store import Store

    with grading_lock(course), Store(course, create=not options.dry_run) as store:
        driver = Driver(
            course,
            store,
            workers=options.workers,
            sandbox=not options.no_sandbox,
            force=options.force,
            scheduler=options.scheduler,
            dry_run=options.dry_run,
            unproven=options.unproven,
            because=options.because,
        )
        # what is overwritten now is in the record
        before = [store.results(assignment.name) for assignment in assignments]
        if options.dry_run and not any(before):
            raise CourseError(NOTHING)
        counts = driver.grade(submissions, Progress(len(submissions)))
        if options.dry_run:
            show_changes(store, driver.judged, options.json)
            return 1 if driver.broken or driver.refused else 0
        submissions = [s for s in submissions if s.student not in driver.refused]
        deadlines = driver.deadlines  # of those who were graded before, too
        deadlines.enter(store, submissions)
        for assignment in assignments:
            mine = {s.student for s in submissions if s.assignment == assignment.name}
            store.enter_penalties(assignment.name, mine)
        results = {a: store.results(a.name) for a in assignments}
        said = [*driver.remarks(results)]
        said += deadlines.unused(course, store.students())
    chosen = {(s.assignment, s.student) for s in submissions}
    results = {
        assignment: {
            student: verdict
            for student, verdict in verdicts.items()
            if (assignment.name, student) in chosen
        }
        for assignment, verdicts in results.items()
    }
    if options.json:
        summaries = [summary(*result) for result in results.items()]
        content = summaries[0] if len(summaries) == 1 else summaries
        write_whole(options.json, json.dumps(content, indent=1) + "\n")
    for verdicts in results.values():
        say_verdicts(verdicts)
        if waiting := sum(bool(v.waiting) for v in verdicts.values() if not v.held):
            said.insert(0, f"waiting for a grade by hand: {waiting}")
    said += [f"not used: {place}" for place in unused(course, options.students)]
    for line in said:
        print(line)
    broken = driver.broken | ({} if options.assignments else course.broken())
    broken |= {one_line(name): why for name, why in driver.refused.items()}
    for name, why in broken.items():
        print(f"not graded: {name}: {why}", file=sys.stderr)
    old = f", {counts['before']} of them done before" if counts["before"] else ""
    total = counts["graded"] + counts["held"]
    print(
        f"{total} submission{'s' if total != 1 else ''}{old}: "
        f"{counts['graded']} graded, {counts['held']} held."
    )
    return 1 if broken else 0


def handed_in(
    course: Course, assignments: list[Assignment], students: list[str]
) -> list[Submission]:
    """The submissions to grade; CourseError, with a hint, when there are none."""
    try:
        return course.submissions(assignments, students)
    except CourseError as error:
        from autograder.grading.missing_work import unused

        lost = next(unused(course), None) if course.submitted.is_dir() else None
        raise CourseError(f"{error} {lost}." if lost else str(error)) from None


def say_wall(course: Course, no_sandbox: bool) -> None:
    """Print which sandbox holds students' code; CourseError when there is none."""
    if no_sandbox:
        print(UNPROTECTED, file=sys.stderr)
    elif missing := wall.available():
        raise CourseError(f"{missing} Nothing was graded. {NO_SANDBOX_HINT}")
    elif tree := wall.holds(course.root):
        raise CourseError(
            f"The course is in {tree}. Students' code can read that folder because "
            "Python's libraries are there. Move the course. Nothing was graded."
        )
    else:
        print(BEHIND[wall.best()], file=sys.stderr)
        if wall.claim():
            print(GROUPS, file=sys.stderr)


def say_verdicts(verdicts: Mapping[str, Verdict]) -> None:
    """Print who is held, and who is late."""
    for student, verdict in verdicts.items():
        if verdict.reason:
            print(f"held: {one_line(student)}: {one_line(verdict.reason)}")
        elif verdict.lateness:
            points = "point" if verdict.penalty == 1 else "points"
            cost = f", {verdict.penalty:g} {points} less" if verdict.penalty else ""
            print(f"late: {one_line(student)}: {verdict.lateness}{cost}")


def show_changes(
    store: Any, judged: list[tuple[Submission, Verdict]], target: Path | None
) -> None:
    """Print what a dry run would change, and for how many students."""
    stored = {s.assignment: store.results(s.assignment) for s, _ in judged}
    found = [
        {"assignment": s.assignment, "student": s.student, **change}
        for s, verdict in judged
        for change in changes(stored[s.assignment].get(s.student), verdict)
    ]
    for one in found:
        before, after = (
            f"{one[when]:g}" if isinstance(one[when], float) else one[when] or "none"
            for when in ("before", "after")
        )
        held = f"held: {after}" if one["after"] else f"no longer held ({before})"
        name = str(one["question"]).removeprefix("test_")
        said = f"{name}: {before} -> {after}" if one["question"] else held
        print(f"{one['assignment']}, {one_line(one['student'])}: {one_line(said)}")
    if target:
        write_whole(target, json.dumps({"changes": found}, indent=1) + "\n")
    students = len({(one["assignment"], one["student"]) for one in found})
    print(f"{len(judged)} judged again; {students} would change. Nothing was stored.")


def changes(old: Verdict | None, new: Verdict) -> Iterator[dict[str, Any]]:
    """What a verdict has in place of the stored one, by question.

    Points that a person gave do not change. For a submission that is held, before or
    after, there is no question, and the reasons stand in place of points.
    """
    reason = old.reason if old else None
    if reason != new.reason:
        yield {"question": None, "before": reason, "after": new.reason}
    known = {question.id: question for question in old.questions} if old else {}
    for question in new.questions:
        before = known.get(question.id)
        points = before.score if before else None
        by_hand = question.score is None or (before and before.by_hand)
        if points != question.score and not by_hand:
            yield {"question": question.id, "before": points, "after": question.score}


def summary(assignment: Assignment, verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """What --json writes for one assignment; of points that are not final, why."""
    return {
        "assignment": assignment.name,
        "submissions": [
            {
                "student": student,
                "notebook": assignment.notebooks,
                "status": verdict.status,
                "reason": verdict.reason or verdict.unfinished,
                "score": verdict.score,
                "max_score": verdict.max_score,
                **({"wall": verdict.wall} if verdict.wall in WEAKER else {}),
                "questions": [
                    {
                        "id": question.id,
                        "score": question.score,
                        "max_score": question.max_score,
                        "message": question.said,
                        "misconception": question.misconception,
                    }
                    for question in verdict.questions
                ],
            }
            for student, verdict in verdicts.items()
        ],
    }
