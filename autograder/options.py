"""Command-line options that several verbs of ``autograder`` share, for argparse."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path


def describe(verb: argparse.ArgumentParser, more: str, example: str) -> None:
    """Add to the sentence about a verb, and give an example."""
    verb.description = textwrap.fill(f"{verb.description} {more}".strip(), 78)
    verb.epilog = f"example:\n  {example}"
    verb.formatter_class = argparse.RawDescriptionHelpFormatter


def add_file(
    verb: argparse.ArgumentParser, name: str, words: str, default: Path | None = None
) -> None:
    """An option that names a file; in ``words``, what for."""
    verb.add_argument(name, type=Path, metavar="FILE", default=default, help=words)


def add_flag(verb: argparse._ActionsContainer, name: str, words: str) -> None:
    """An option that is given or not; in ``words``, what it does."""
    verb.add_argument(name, action="store_true", help=words)


def add_several(
    verb: argparse.ArgumentParser, name: str, metavar: str, words: str
) -> None:
    """An option that may be repeated; in ``words``, what for."""
    verb.add_argument(name, action="append", default=[], metavar=metavar, help=words)


def add_seconds(verb: argparse.ArgumentParser) -> None:
    """How long code may run for a student."""
    words = "time limit for each cell and each question, in seconds (default: 30)"
    verb.add_argument("--seconds", type=float, default=30.0, help=words)


def add_assignments(verb: argparse.ArgumentParser) -> None:
    """Names of assignments; none of them means all."""
    verb.add_argument(
        "assignments",
        nargs="*",
        metavar="ASSIGNMENT",
        help="folder names in solutions/ (default: all)",
    )


def add_student(verb: argparse.ArgumentParser) -> None:
    """Some students alone; none of them means all."""
    verb.add_argument(
        "--student",
        dest="students",
        action="append",
        default=[],
        metavar="ID",
        help="only this student; may be repeated",
    )


def add_book(verb: argparse.ArgumentParser) -> None:
    """Where the book is, for links."""
    verb.add_argument(
        "--book",
        metavar="ADDRESS",
        type=lambda address: f"{address.rstrip('/')}/",
        help="address of the book, for links (default: html.baseurl of _config.yml; "
        "without an address there are no links)",
    )


def add_columns(verb: argparse.ArgumentParser) -> None:
    """Headings of a roster that is in another language."""
    verb.add_argument(
        "--columns",
        default="",
        metavar="KIND=HEADING,…",
        help="which columns of the roster to use when the headings are not recognized; "
        "kinds: student, number, name, team, status, grade, most (the highest grade), "
        "time, graded (the time of the grade), comments, workflow",
    )


def share(text: str) -> float:
    """A part of a whole."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError("give a number from 0 to 1, such as 0.9")
    return number


def at_least_one(text: str) -> int:
    """A number of things that are needed."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number, at least 1")
    return int(text)
