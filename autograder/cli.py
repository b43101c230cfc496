"""Command line ``autograder VERB``: finds a verb's module, runs it, reports errors."""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.util
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from autograder import registry
from autograder.errors import CourseError
from autograder.options import add_file
from autograder.text import one_line

# jsonschema would compile a grammar for two seconds, for a format no file of ours has
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# A verb, its module, and what it does. The module has ``command(verb)``, which adds the
# verb's options, and ``run``. Only the one of the chosen verb is imported: `check` runs
# where nbgrader is not installed.
TABLE = """
init        release.init              Make a small course to start from.
new         release.new               Make a small working assignment to start from.
pack        release.pack              Build the wheel that students install.
release     release.students_version  Make the students' notebooks from solutions/.
try         tools.trial               Try an assignment, its checks and its catalog.
check       check                     Run a notebook and show which visible checks pass.
collect     intake.collect            Sort submissions of a download into submitted/.
names       grading.names             Write the names of a roster into the gradebook.
grade       grading.grade             Grade the submissions in submitted/.
history     results.history           Show how students' points changed, when and why.
feedback    results.feedback          Make a page with points and messages per student.
export      results.export            Write the scores as tables for a spreadsheet.
lti         lti.command               Send scores to Moodle or Canvas over LTI 1.3.
report      results.report            Write a page about the class.
interview   results.interview         Write questions about each student's own code.
sitting     results.paper_quiz        Write a 30-minute paper for the classroom.
similarity  results.similarity        List groups of submissions with similar code.
certificate results.certificate       Write a signed certificate, or check one.
"""
ROWS = [line.split(maxsplit=2) for line in TABLE.strip().splitlines()]
VERBS = {verb: (f"autograder.{module}", sentence) for verb, module, sentence in ROWS}
# what each extra installs beside [grade], which has all else
EXTRAS = {
    "lti": {"pylti1p3", "jwt", "jwcrypto", "requests"},
    "cluster": {"distributed"},
    "postgres": {"psycopg2"},
}
log = logging.getLogger("autograder")

SEE_LOG = "Add `--log FILE` to record where the error occurred."
NO_ROOM = (
    "Free some space there, and run the same command again: it continues where it "
    "stopped."
)
NO_RIGHT = "Give yourself permission, or choose another place."
WHAT_TO_DO = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), NO_ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), NO_RIGHT),
    errno.ENAMETOOLONG: "Use a shorter name.",
    errno.EMFILE: "Raise the limit of open files: `ulimit -n 4096`.",
    errno.EAGAIN: "Raise the limit of processes: `ulimit -u 4096`.",
    errno.ENOMEM: "Free some memory, or use fewer `--workers`.",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 when it did what it was asked to do."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser(arguments).parse_args(arguments)
        with logged(options.log, arguments):
            return options.run(options) or 0
    except CourseError as error:
        said = str(error)
    except ImportError as error:
        said = missing(error)
    except KeyboardInterrupt:
        print(
            "\nautograder: interrupted. Run the same command again to resume.",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:  # `autograder … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # a full disk, a name that is too long, no permission
        said = one_line(refused(error))
    print(f"autograder: {said}", file=sys.stderr)
    return 2


def missing(error: ImportError) -> str:
    """Which extra has a package that is not installed, or which folder is closed.

    Raises the error again where it is about one of ours.
    """
    package = (error.name or "").partition(".")[0]
    if package in ("", "autograder"):
        raise error
    spec = importlib.util.find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        if not os.access(place, os.R_OK | os.X_OK):
            return (
                f"this account cannot read {one_line(place)}; whoever installed it "
                f"can change that: chmod -R a+rX {one_line(sys.prefix)}"
            )
    if not isinstance(error, ModuleNotFoundError):
        raise error
    extra = next((e for e, names in EXTRAS.items() if package in names), "grade")
    return (
        f"the package {package} is not installed here, and this command needs it: "
        f'pip install "{registry.ENGINE}[{extra}]"'
    )


def refused(error: OSError) -> str:
    """What the system refused: which file, or where that was asked; and what to do."""
    text = str(error)
    if error.filename is None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text += f", in `{frame.line}` ({Path(frame.filename).name}:{frame.lineno})"
    return f"{text}. {WHAT_TO_DO.get(error.errno or 0, SEE_LOG)}"


def parser(arguments: list[str]) -> argparse.ArgumentParser:
    """All verbs that are installed; the first one in ``arguments`` with its options."""
    top = argparse.ArgumentParser(
        prog="autograder",
        description="Release, check and grade the exercises of a course.",
        epilog="Each verb has its own --help with an example.",
    )
    version = f"{registry.ENGINE} {metadata.version(registry.ENGINE)}"
    top.add_argument("--version", action="version", version=version)
    verbs = top.add_subparsers(metavar="VERB", required=True)
    chosen = next((word for word in arguments if word in VERBS), None)
    for name, (module, sentence) in VERBS.items():
        verb = verbs.add_parser(name, help=sentence, description=sentence)
        if name == chosen:
            work = importlib.import_module(module)
            work.command(verb)
            verb.set_defaults(run=work.run)
            add_file(verb, "--log", "append a log, including tracebacks, to FILE")
    return top


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
