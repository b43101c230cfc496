"""The command line: ``autograder VERB``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

from autograder.course import Course, CourseError, printable, write_whole

# jsonschema would compile a grammar for two seconds, for a format no file of ours has
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

UNPROTECTED = (
    "Without the sandbox, the code of students runs as you: it can read and change "
    "your files, use the network, and see other submissions. Only its points are still "
    "decided in another process."
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 when it did what it was asked to do."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except CourseError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nautograder: stopped; run it again to go on.", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `autograder … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a full disk, a name that is too long, no permission
        print(f"autograder: {printable(str(error))}", file=sys.stderr)
        return 2


# -------------------------------------------------------------------- verbs
# Each imports what it needs: `check` runs where nbgrader is not installed.


def run_release(options: argparse.Namespace) -> None:
    from autograder.release import release

    course = Course.find()
    for assignment in course.chosen(options.assignments):
        path = release(course, assignment)
        print(f"{assignment.name}: released to {path.relative_to(course.root)}")


def run_check(options: argparse.Namespace) -> int:
    from autograder.check import check

    return check(options.notebook, options.seconds)


def run_grade(options: argparse.Namespace) -> None:
    from autograder import wall

    course = Course.find()
    assignments = course.chosen(options.assignments)
    submissions = course.submissions(assignments, options.student)
    if options.no_sandbox:
        print(UNPROTECTED, file=sys.stderr)
    elif missing := wall.available():
        raise CourseError(f"{missing} Nothing was graded. {NO_SANDBOX_HINT}")

    from autograder.grading.driver import Driver, alone
    from autograder.grading.store import Store
    from autograder.progress import Progress

    with alone(course), Store(course, create=not options.dry_run) as store:
        driver = Driver(
            course,
            store,
            workers=options.workers,
            sandbox=not options.no_sandbox,
            force=options.force,
            scheduler=options.scheduler,
            dry_run=options.dry_run,
        )
        counts = driver.grade(submissions, Progress(len(submissions)))
        if options.dry_run:
            return show_changes(store, driver.judged, options.json)
        chosen = {(s.assignment, s.student) for s in submissions}
        summaries = []
        for assignment in assignments:
            results = [
                result
                for result in store.results(assignment.name)
                if (assignment.name, result["student"]) in chosen
            ]
            summaries.append(summary(assignment.name, assignment.notebook, results))
    if options.json:
        content = summaries[0] if len(summaries) == 1 else summaries
        write_whole(options.json, json.dumps(content, indent=1) + "\n")
    for held in (s for a in summaries for s in a["submissions"] if s["reason"]):
        print(f"held: {printable(held['student'])}: {printable(held['reason'])}")
    before = f", {counts['before']} of them before" if counts["before"] else ""
    total = counts["graded"] + counts["held"]
    print(
        f"{total} submission{'s' if total != 1 else ''}{before}: "
        f"{counts['graded']} graded, {counts['held']} held."
    )


def show_changes(store: Any, judged: list, target: Path | None) -> None:
    """What would change; nothing was stored."""
    from autograder.grading.changes import changes, told

    found = changes(store, judged)
    for change in found:
        student = printable(change["student"])
        print(f"{change['assignment']}, {student}: {printable(told(change))}")
    if target:
        write_whole(target, json.dumps({"changes": found}, indent=1) + "\n")
    students = len({(change["assignment"], change["student"]) for change in found})
    print(
        f"{len(judged)} judged again; {students} of them would change. Nothing was "
        "stored."
    )


NO_SANDBOX_HINT = "`--no-sandbox` grades without protection; see `--help`."


def summary(
    assignment: str, notebook: str, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """What --json writes for one assignment."""
    return {
        "assignment": assignment,
        "submissions": [
            {
                "student": result["student"],
                "notebook": notebook,
                "status": result["status"],
                "reason": result["reason"],
                "score": result["score"],
                "max_score": result["max_score"],
                "questions": [
                    {
                        "id": question["id"],
                        "score": question["score"],
                        "max_score": question["max_score"],
                        "message": message_of(question),
                        "misconception": question["misconception"],
                    }
                    for question in result["questions"]
                ],
            }
            for result in results
        ],
    }


def message_of(question: dict[str, Any]) -> str | None:
    """The message of a question; an answer that waits for a person says so."""
    if question["message"] is None and question["needs_manual_grade"]:
        return "waits to be graded by hand"
    return question["message"]


def run_collect(options: argparse.Namespace) -> None:
    from autograder.collect import Collector
    from autograder.roster import read_roster

    course = Course.find()
    roster = read_roster(options.roster) if options.roster else None
    collector = Collector(
        course, roster=roster, assignment=options.assignment, keep=options.keep
    )
    counts = collector.collect(options.archive)
    for line in collector.lines:
        print(printable(line))
    print(
        f"{counts['new']} new, {counts['replaced']} replaced, "
        f"{counts['kept'] + counts['there before']} as before, "
        f"{counts['left']} files not collected."
    )


def run_feedback(options: argparse.Namespace) -> None:
    from autograder.feedback import write_feedback

    course = Course.find()
    assignments, book = course.chosen(options.assignments), options.book
    pages = write_feedback(course, assignments, options.student, book or course.book())
    print(f"{pages} feedback pages are in {course.feedback}.")


def run_export(options: argparse.Namespace) -> None:
    from autograder.export import export

    course = Course.find()
    assignments, lines = course.chosen(options.assignments), []
    if options.format == "csv":
        paths = export(course, assignments, options.folder)
    else:
        from autograder.lms import export_lms

        paths, lines = export_lms(
            course, assignments, options.folder, options.format, options.roster
        )
    for line in lines:
        print(printable(line))
    for path in paths:
        print(f"wrote {printable(str(path))}")


def run_similarity(options: argparse.Namespace) -> None:
    from autograder.similarity import alike

    course = Course.find()
    pairs = alike(course, course.chosen([options.assignment])[0], options.least)
    for share, one, other in pairs:
        print(f"{share:.0%}  {printable(one)}  {printable(other)}")
    print(f"Alike pairs: {len(pairs)}. No points were changed.")


def run_certificate(options: argparse.Namespace) -> None:
    from autograder.certificate import issue

    course = Course.find()
    name = options.name or options.student
    for path in issue(course, options.student, name, options.least):
        print(f"wrote {printable(str(path))}")


def run_verify(options: argparse.Namespace) -> None:
    from autograder.certificate import PUBLIC, verify

    try:
        path = options.key or Course.find().root / PUBLIC
        key, text = path.read_text().strip(), options.file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"Nothing was checked: {error}.") from None
    found = verify(text, key)
    name = found["credentialSubject"]["identifier"][0]["identityHash"]
    print(f"Signed by this course: {printable(found['name'])}, {printable(name)}.")


def run_report(options: argparse.Namespace) -> None:
    from autograder.report import write_report

    course = Course.find()
    path = options.output or course.root / "report.html"
    book = options.book or course.book()
    write_report(course, course.chosen(options.assignments), path, book)
    print(f"wrote {printable(str(path))}")


# ------------------------------------------------------------------ options


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="autograder",
        description="Release, check and grade the exercises of a course.",
        epilog="Each verb has its own --help with an example.",
    )
    verbs = top.add_subparsers(metavar="VERB", required=True)

    release = verb(
        verbs,
        "release",
        run_release,
        "Make the students' notebooks in exercises/ from those in solutions/. A "
        "notebook that would leak an answer is not written.",
        "autograder release 01-attention",
    )
    add_assignments(release)

    check = verb(
        verbs,
        "check",
        run_check,
        "Run a notebook from top to bottom in a fresh process and say which visible "
        "checks hold. For students. The exit code is 0 when all hold.",
        "autograder check exercises/01-attention/attention.ipynb",
    )
    check.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    check.add_argument(
        "--seconds", type=float, default=60.0, help="time limit (default: 60)"
    )

    collect = verb(
        verbs,
        "collect",
        run_collect,
        "Sort a download of Moodle or Canvas, a zip or a folder with a folder for each "
        "student into submitted/. Notebooks are told apart by their cells, not by "
        "their names. Every version is kept in collected/. The time of a submission "
        "is that of the archive, in the zone of this machine.",
        "autograder collect submissions.zip --roster students.csv",
    )
    collect.add_argument("archive", type=Path, metavar="ARCHIVE")
    collect.add_argument(
        "--roster",
        type=Path,
        metavar="FILE",
        help="CSV with the students: ours, Canvas's gradebook or Moodle's worksheet",
    )
    collect.add_argument(
        "--assignment",
        metavar="NAME",
        help="for notebooks that do not tell, such as damaged ones",
    )
    collect.add_argument(
        "--keep",
        choices=("latest", "first"),
        default="latest",
        help="which of several versions counts (default: latest)",
    )

    grade = verb(
        verbs,
        "grade",
        run_grade,
        "Grade what lies in submitted/<student>/<assignment>/. Verdicts go into the "
        "gradebook, notebooks with outputs into autograded/. What has a verdict "
        "already is not graded again; a run that was stopped goes on where it was. "
        "What cannot be judged is held for you, with the reason.",
        "autograder grade 01-attention --json results.json",
    )
    add_assignments(grade)
    grade.add_argument("--student", metavar="ID", help="only this student")
    grade.add_argument(
        "--workers",
        type=at_least_one,
        metavar="N",
        default=len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        help="processes that grade at the same time (default: one a processor)",
    )
    grade.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="grade on the workers of a Dask cluster, such as tcp://10.0.0.5:8786; "
        "start them with `dask worker ADDRESS --nthreads 1`",
    )
    grade.add_argument(
        "--force", action="store_true", help="grade again what has a verdict"
    )
    grade.add_argument(
        "--dry-run",
        action="store_true",
        help="show which points would change, and store nothing; with --json as a "
        "list of changes (exit code 0, also when there are some)",
    )
    grade.add_argument("--no-sandbox", action="store_true", help=UNPROTECTED)
    grade.add_argument(
        "--json", type=Path, metavar="FILE", help="write scores and messages there"
    )

    feedback = verb(
        verbs,
        "feedback",
        run_feedback,
        "Make a page for each student in feedback/<student>/<assignment>/: the "
        "notebook with points and messages, without any text of hidden checks.",
        "autograder feedback 01-attention",
    )
    add_assignments(feedback)
    feedback.add_argument("--student", metavar="ID", help="only this student")
    add_book(feedback)

    export = verb(
        verbs,
        "export",
        run_export,
        "Write the scores as tables that a spreadsheet opens: one line a student, and "
        "one line a question. For Canvas and Moodle, write the file that it imports; "
        "points that are not final are left out and named.",
        "autograder export --format canvas --roster gradebook-of-canvas.csv",
    )
    add_assignments(export)
    export.add_argument(
        "--format",
        choices=("csv", "canvas", "moodle"),
        default="csv",
        help="who reads it (default: csv, for people)",
    )
    export.add_argument(
        "--roster",
        type=Path,
        metavar="FILE",
        help="Canvas's gradebook or Moodle's grading worksheet, as exported there",
    )
    export.add_argument(
        "--folder", type=Path, default=Path(), help="where to (default: here)"
    )

    report = verb(
        verbs,
        "report",
        run_report,
        "Write one page about the class: scores, questions, misconceptions with "
        "counts, and the held submissions.",
        "autograder report --output report.html",
    )
    add_assignments(report)
    report.add_argument(
        "--output", type=Path, metavar="FILE", help="default: report.html of the course"
    )
    add_book(report)

    similarity = verb(
        verbs,
        "similarity",
        run_similarity,
        "List pairs of submissions whose code is alike, names of variables and the "
        "students' notebook left out. Short answers are alike without copying: the "
        "list is for a person to look at, and changes no points.",
        "autograder similarity 01-attention --least 0.95",
    )
    similarity.add_argument("assignment", metavar="ASSIGNMENT")
    similarity.add_argument(
        "--least",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="of the tokens of both (default: 0.9)",
    )

    certificate = verb(
        verbs,
        "certificate",
        run_certificate,
        "Write a signed certificate (Open Badges 3.0) and a page to print for a "
        "student who has completed every assignment. The key is made on first use: "
        "keep certificate.key secret, give certificate.pub to everyone.",
        'autograder certificate ada --name "Ada Lovelace"',
    )
    certificate.add_argument("student", metavar="STUDENT")
    certificate.add_argument("--name", help="the name on it (default: the id)")
    certificate.add_argument(
        "--least",
        type=float,
        default=0.6,
        metavar="SHARE",
        help="of all points (default: 0.6)",
    )

    check_it = verb(
        verbs,
        "verify",
        run_verify,
        "Check a certificate against the course's public key, without a network. The "
        "exit code is 0 when the course signed exactly this.",
        "autograder verify certificates/ada.json --key certificate.pub",
    )
    check_it.add_argument("file", type=Path, metavar="FILE")
    check_it.add_argument(
        "--key", type=Path, metavar="FILE", help="default: the course's certificate.pub"
    )
    return top


def verb(verbs: Any, name: str, run: Any, text: str, example: str):
    """A verb with its description and an example."""
    added = verbs.add_parser(
        name,
        help=text.split(". ")[0].rstrip(".") + ".",
        description=textwrap.fill(text, 78),
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(run=run)
    return added


def add_assignments(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "assignments",
        nargs="*",
        metavar="ASSIGNMENT",
        help="names of folders in solutions/ (default: all)",
    )


def add_book(added: argparse.ArgumentParser) -> None:
    added.add_argument(
        "--book",
        metavar="ADDRESS",
        type=lambda address: f"{address.rstrip('/')}/",
        help="where the book's chapters are, for links (default: html.baseurl of "
        "_config.yml; without it there are no links)",
    )


def at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
