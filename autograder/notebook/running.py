"""Runs the cells and tests of a notebook: the child process of ``autograder check``.

``python -m autograder.notebook.running FOLDER`` reads jobs as lines of JSON and writes
an outcome for each cell as soon as there is one. On Linux it imports the libraries
once and forks for every job, and in a job for every test cell, as grading does; where
there is no fork, a process does one job.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from autograder import libraries
from autograder.checks.failures import CheckFailed, failure_from
from autograder.checks.isolation import isolated, seed
from autograder.checks.published import BookModules
from autograder.notebook import threads
from autograder.notebook.cells import Notebook
from autograder.notebook.test_cells import (
    Failed,
    Missing,
    NotOffered,
    TestNames,
    expect_answer,
    explained,
    reason,
    value_of,
    why_missing,
)

FORKS = sys.platform == "linux"
MAX_SAID = 10_000


@dataclass(frozen=True)
class Job:
    """Cells to run: (number, source, name of the question or None).

    Test cells up to ``done`` have been judged, and cells in ``skipped`` never end.
    ``books``: the modules of the book that these cells may import.
    With ``ask``, up to so many questions about each answer that passes are made, and
    nothing is judged.
    """

    cells: list[tuple[int, str, str | None]]
    profile: str = "numpy"
    books: tuple[str, ...] = ()
    done: int = 0
    skipped: tuple[int, ...] = ()
    ask: int = 0


@dataclass(frozen=True)
class Outcome:
    """What came of a cell; ``problem`` is what went wrong, in words.

    ``drawing`` has the fields of a Drawing, where a wrong table is shown beside the
    right one. ``asked`` are questions about the answer, as data.
    """

    number: int
    question: str | None = None
    said: str = ""
    problem: str | None = None
    drawing: dict[str, Any] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)


class Run:
    """One run of a notebook from the top."""

    def __init__(self) -> None:
        self.notebook = Notebook()
        self.failed: list[Failed] = []
        self.questions: set[str] = set()
        self.sources: dict[int, str] = {}

    def cell(self, number: int, source: str) -> tuple[list, Outcome]:
        """Run a student's cell: its outputs, and what stopped it, if something did."""
        self.sources[number] = source
        outputs, failed = self.notebook.run(number, source)
        if failed is None:
            return outputs, Outcome(number)
        text = next((o[2] for o in reversed(outputs) if o[0] == "error"), "")
        why = reason(failed, text)
        cell = Failed(number, source, why, self.notebook.place, text)
        self.failed.append(cell)
        return outputs, Outcome(number, problem=cell.reason + cell.where)

    def question(self, number: int, source: str, name: str) -> Outcome:
        """Run a test cell: what it said, or the message of the check that failed."""
        said, problem, drawing = io.StringIO(), None, None
        names = TestNames(self.find)
        try:
            with contextlib.redirect_stdout(said), isolated(), threads.watched():
                value_of(source, f"test_{name}", names)
        except CheckFailed as failure:
            problem = str(explained(failure, self.failed, self.questions))
            drawing = asdict(failure.drawing) if failure.drawing else None
        except (Exception, SystemExit) as error:
            problem = str(failure_from(error).about(name))
        return Outcome(number, name, said.getvalue()[-MAX_SAID:], problem, drawing)

    def asked(self, number: int, source: str, name: str, most: int) -> Outcome:
        """Questions about an answer, if it passes."""
        from autograder.code_questions import in_notebook

        names, cells = dict(self.notebook.names), list(self.sources.values())
        found = in_notebook(name, source, cells, names, most)
        return Outcome(number, name, asked=found)

    def find(self, name: str) -> Any:
        """What the student has defined under a name."""
        above, there = [*self.sources.values()][-1:], name in self.notebook.names
        expect_answer(name, there, self.failed, *above)
        if not there:
            defined = self.notebook.defined()
            raise Missing(why_missing(name, defined, self.failed, *above))
        return self.notebook.names[name]


def work(job: Job, send: Any) -> None:
    """Do a job; ``send`` gets a line for each cell when it begins and when it ends.

    And one for each fork, which may have ended without an outcome.
    """
    sys.meta_path[:0] = [NotOffered(job.profile, job.books), BookModules(job.books)]
    for name in libraries.SUPPORT.keys() - {job.profile}:
        sys.modules.pop(name, None)
    seed()
    run = Run()
    run.questions = {question for _, _, question in job.cells if question}
    ask = partial(run.asked, most=job.ask) if job.ask else run.question
    for number, source, question in job.cells:
        if number in job.skipped or (question and number <= job.done):
            continue
        send({"at": number})
        if question is None:
            _, outcome = run.cell(number, source)
            send(asdict(outcome))
        else:
            act = partial(ask, number, source, question)
            if FORKS:
                send({"fork": in_fork(partial(tell, act, send))})
            else:
                tell(act, send)
    send({"end": True})


def tell(act: Callable[[], Outcome], send: Any) -> None:
    """Send what came of a test cell."""
    send(asdict(act()))


def in_fork(act: Callable[[], None]) -> int:
    """Do something in a fork, and wait for it: how the fork ended."""
    state = random.getstate()
    threads.before_fork()
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        random.setstate(state)  # Python seeds this generator again in every fork
        threads.after_fork()
        act()
    finally:
        os._exit(0)


def warm(imports: list[str]) -> None:
    """Import what the cells will import, before there are forks."""
    for name in imports:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    for support in libraries.loaded() if FORKS else ():
        support.warm()


def main() -> None:
    """Serve jobs until there are no more."""
    os.environ["MPLBACKEND"] = "agg"
    os.chdir(sys.argv[1])
    sys.path.append(sys.argv[1])  # last: a file called random.py shadows nothing
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):  # what programs print there is nobody's
        os.dup2(null, descriptor)

    def send(line: dict[str, Any]) -> None:
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    warm(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        job = Job(**json.loads(line))
        if not FORKS:
            work(job, send)
            return
        child = os.fork()
        if child:
            send({"pid": child})
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            send({"dead": status})
            continue
        try:
            os.setsid()
            sys.stdin = io.StringIO()
            work(job, send)
        finally:
            os._exit(0)


if __name__ == "__main__":
    main()
