"""``autograder report``: a page about the class: scores, mistakes, every student."""

from __future__ import annotations

import argparse
from pathlib import Path

from autograder.course import Assignment, Course
from autograder.errors import CourseError
from autograder.files import write_whole
from autograder.options import add_assignments, add_book, add_file, add_flag, describe
from autograder.results.assignment_statistics import Section
from autograder.results.history import sentences
from autograder.results.templates import render
from autograder.results.term import write_term
from autograder.text import listed, one_line


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder report`."""
    describe(verb, "", "autograder report --output report.html")
    add_assignments(verb)
    words = (
        "a line for each student instead, with their points in every assignment; "
        "first, who has submitted nothing for the last two that are due"
    )
    add_flag(verb, "--term", words)
    words = "output file (default: report.html or term.html of the course)"
    add_file(verb, "--output", words)
    add_book(verb)


def run(options: argparse.Namespace) -> None:
    """Write the report."""
    course = Course.find()
    page = "term.html" if options.term else "report.html"
    path = options.output or course.root / page
    assignments = course.chosen(options.assignments)
    if options.term:
        for line in write_term(course, assignments, path):
            print(one_line(line))
    else:
        write_report(course, assignments, path, options.book or course.book())
    print(f"wrote {one_line(str(path))}")


def write_report(
    course: Course, assignments: list[Assignment], path: Path, book: str
) -> None:
    """Write the page; ``book`` is the address before the pages' names, or empty."""
    from autograder.grading import point_history
    from autograder.grading.missing_work import remarks, unused
    from autograder.grading.store import Store
    from autograder.release.grading_plan import one_hash, plans

    sections: list[Section] = []
    with Store(course) as store:
        for assignment in assignments:
            verdicts = store.results(assignment.name)
            if not verdicts:
                continue
            try:
                release = one_hash(r.hash for r in plans(course, assignment))
            except CourseError:  # what was graded can be told all the same
                release = ""
            said = list(remarks(course, store, assignment, verdicts, release))
            found = point_history.lines(course)
            if old := point_history.to_send(found, assignment.name):
                command = f"`autograder feedback {assignment.name} --again`"
                pages = listed(list(old.values()))
                said.append(f"pages to send: {pages}; {command} writes them")
            mine = point_history.states(found, assignment.name).items()
            history = {who: list(sentences(each)) for who, each in mine}
            sections.append(Section(assignment, verdicts, book, said, history))
        people = store.names()
    if not sections:
        raise CourseError("Nothing is graded yet, so there is nothing to report.")
    lost = list(unused(course))
    about = {"sections": sections, "unused": lost, "people": people}
    write_whole(path, render("report.html", **about))
