"""The command line: ``autograder VERB``. What a verb can is written beside its work."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError
from autograder.text import one_line

# jsonschema would compile a grammar for two seconds, for a format no file of ours has
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Each module has ``command(verb)``, which adds the verb's options and ``run``. Only the
# module of the chosen verb is imported: `check` runs where nbgrader is not installed.
VERBS = {
    "new": (
        "autograder.release.new",
        "Make a new assignment that works: a notebook with one question, its checks.",
    ),
    "release": (
        "autograder.release.students",
        "Make the students' notebooks in exercises/ from those in solutions/.",
    ),
    "check": (
        "autograder.check",
        "Run a notebook from top to bottom in a fresh process and say which visible "
        "checks hold.",
    ),
    "collect": (
        "autograder.intake.collect",
        "Sort a download of Moodle or Canvas, a zip or a folder with a folder for each "
        "student into submitted/.",
    ),
    "names": (
        "autograder.grading.names",
        "Write the names of a roster into the gradebook.",
    ),
    "grade": (
        "autograder.grading.grade",
        "Grade what lies in submitted/<student>/<assignment>/.",
    ),
    "feedback": (
        "autograder.results.feedback",
        "Make a page for each student in feedback/<student>/<assignment>/: the "
        "notebook with points and messages, without any text of hidden checks.",
    ),
    "export": (
        "autograder.results.export",
        "Write the scores as tables that a spreadsheet opens: one line a student, and "
        "one line a question.",
    ),
    "report": (
        "autograder.results.report",
        "Write one page about the class: scores, questions, misconceptions with "
        "counts, every student, and what is late, held or missing.",
    ),
    "similarity": (
        "autograder.results.similarity",
        "List groups of submissions whose code is alike, names of variables and the "
        "students' notebook left out, and show them side by side.",
    ),
    "certificate": (
        "autograder.results.certificate",
        "Write a signed certificate (Open Badges 3.0) and a page to print for a "
        "student who has completed every assignment.",
    ),
    "verify": (
        "autograder.results.verify",
        "Check a certificate against the course's public key, without a network.",
    ),
}
DISTRIBUTION = "paying-attention"
log = logging.getLogger("autograder")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 when it did what it was asked to do."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser(arguments).parse_args(arguments)
    try:
        with logged(options.log, arguments):
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
        print(f"autograder: {one_line(str(error))}", file=sys.stderr)
        return 2


def parser(arguments: list[str]) -> argparse.ArgumentParser:
    """All verbs that are installed; the first one in ``arguments`` with its options."""
    top = argparse.ArgumentParser(
        prog="autograder",
        description="Release, check and grade the exercises of a course.",
        epilog="Each verb has its own --help with an example.",
    )
    top.add_argument("--version", action=Version)
    verbs = top.add_subparsers(metavar="VERB", required=True)
    chosen = next((word for word in arguments if word in VERBS), None)
    for name, (module, sentence) in VERBS.items():
        if not installed(module):
            continue
        verb = verbs.add_parser(name, help=sentence, description=sentence)
        if name == chosen:
            importlib.import_module(module).command(verb)
            verb.add_argument(
                "--log",
                type=Path,
                metavar="FILE",
                help="append what is done there, and every failure with its traceback",
            )
    return top


class Version(argparse.Action):
    """Prints the installed version, which pyproject.toml alone says."""

    def __init__(self, option_strings: list[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"{DISTRIBUTION} {version(DISTRIBUTION)}")
        parser.exit()


def installed(module: str) -> bool:
    """Students install `check` alone."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


@contextmanager
def logged(path: Path | None, arguments: list[str]) -> Iterator[None]:
    """Log one command to a file; what ends it is logged as well."""
    handler: logging.Handler = logging.NullHandler()
    if path:
        handler = logging.FileHandler(path, encoding="utf-8")
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(logging.Formatter(form))
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    log.info("autograder %s", " ".join(map(repr, arguments)))
    try:
        yield
    except BaseException as error:
        log.exception("ended by %s", type(error).__name__)
        raise
    finally:
        log.removeHandler(handler)
        handler.close()
