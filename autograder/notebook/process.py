"""Supervisor of the child process in which ``autograder check`` runs a notebook."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder import registry
from autograder.libraries import SUPPORT
from autograder.notebook.exit_reason import ending
from autograder.notebook.running import FORKS, Job, Outcome
from autograder.notebook.test_cells import CHECKS

HOME = str(Path(__file__).resolve().parents[2])
LIBRARIES = "|".join(["numpy", "matplotlib", "seaborn", *SUPPORT])
IMPORTED = re.compile(rf"^\s*(?:import|from)\s+({LIBRARIES})\b", re.M)
WARM = {"matplotlib": "matplotlib.pyplot", "numpy": "numpy.random"}
MANY_HANGS = 10
BRIEF = 2.0  # seconds for a question that is built on one that did not finish
START_SECONDS = 300.0  # for libraries to be imported, before the first cell


@dataclass
class Plan:
    """Plan of a run: a notebook's cells, and notes to print besides the outcomes."""

    cells: list[tuple[int, str, str | None]]
    profile: str
    books: tuple[str, ...] = ()  # modules of the book that the assignment comes with
    notes: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)  # questions in words, left open

    @property
    def questions(self) -> list[str]:
        return [question for _, _, question in self.cells if question]


class Runner:
    """A process that runs the notebook, watched from here; a context manager."""

    def __init__(self, folder: Path, plan: Plan, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        found = set(IMPORTED.findall("\n".join(source for _, source, _ in plan.cells)))
        found &= {"numpy", "matplotlib", plan.profile, "seaborn"}
        self.imports = sorted(WARM.get(name, name) for name in found)
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def outcomes(self, plan: Plan, ask: int = 0) -> Iterator[Outcome]:
        """The outcome of each cell. One that never ends costs itself alone.

        What is built on it is not waited for as long. With ``ask``, up to so many
        questions about each answer that passes.
        """
        done = 0
        skipped: tuple[int, ...] = ()
        self.doubtful: dict[int, str] = {}  # cells, and what they are built on
        names = {number: question for number, _, question in plan.cells}
        while True:
            job = Job(plan.cells, plan.profile, plan.books, done, skipped, ask)
            at, how = None, ""
            for line in self._answers(job):
                at = line.get("at", at)
                if "number" in line:
                    at = None
                    if line["number"] > done:
                        done = line["number"]
                        yield Outcome(**line)
                elif "fork" in line and at is not None:
                    done = at
                    yield stopped(at, names[at], ending(line["fork"]))
                    at = None
                elif "dead" in line:
                    how = ending(line["dead"])
            if at is None or len(skipped) == MANY_HANGS:
                return
            done, skipped = max(done, at), (*skipped, at)
            if how:
                yield stopped(at, names[at], how)
                continue
            how, used = f"did not finish in {self._patience(at):g} s", self.doubtful
            yield stopped(at, names[at], how, used.get(at))
            if name := names[at]:
                self.doubtful |= dict.fromkeys(built_on(name, plan), name)

    def _patience(self, at: int | None) -> float:
        """How many seconds a cell has."""
        return min(self.seconds, BRIEF) if at in self.doubtful else self.seconds

    def _answers(self, job: Job) -> Iterator[dict]:
        """The lines that a job sends; fewer if a cell hangs or ends the process.

        Then the last one says how the process ended, if it did.
        """
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(asdict(job)) + "\n")
        process.stdin.flush()
        child, ended, patience = None, False, START_SECONDS
        try:
            while not ended:
                line = self.lines.get(timeout=patience)
                if line is None:
                    ended = True
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(1)  # it may live on and have closed its output
                    self.close()
                    yield {"dead": process.returncode}
                    return
                told = json.loads(line)
                child, patience = told.get("pid", child), self._patience(told.get("at"))
                ended = "dead" in told or ("end" in told and not FORKS)
                yield told
            if not FORKS:
                self.close()
        except queue.Empty:  # a cell hangs
            return
        finally:
            if not ended:  # also when nobody wants to know the rest
                self._stop(child)

    def _start(self) -> subprocess.Popen:
        if self.process is not None:
            return self.process
        paths = [HOME, os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONIOENCODING": "utf-8",
        }
        engine = "autograder.notebook.running"
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", engine, str(self.folder)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(
            target=forward, args=(self.process.stdout, self.lines), daemon=True
        ).start()
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(self.imports) + "\n")
        self.process.stdin.flush()
        return self.process

    def _stop(self, child: int | None) -> None:
        """End a job that hangs: its fork, or the whole process where there is none."""
        if child is None:
            self.close()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        while (line := self.lines.get()) is not None and "dead" not in line:
            pass


def built_on(name: str, plan: Plan) -> Iterator[int]:
    """The test cells of the questions that are built on this one, by their checks."""
    for number, source, question in plan.cells:
        for short in CHECKS.findall(source) if question else ():
            with contextlib.suppress(Exception):  # of checks that cannot be imported
                if name in registry.checks_of(short).assignment.builds_on(question):
                    yield number


def stopped(
    number: int, question: str | None, how: str, used: str | None = None
) -> Outcome:
    """The outcome of a cell that did not come to its end.

    ``used``: a question that it is built on, which did not finish either.
    """
    if question is None:
        problem = f"{how}; the cells after it ran without it"
    elif used:
        problem = f"{question}: {how}; it is built on {used}, which did not finish"
    elif how.startswith("did not finish"):
        problem = f"{question}: {how}; is there a loop that never ends?"
    else:
        problem = f"{question}: your code {how}"
    return Outcome(number, question, problem=problem)


def forward(stream: object, lines: queue.Queue[str | None]) -> None:
    """Lines of another process into a queue, so that waiting for them can end."""
    for line in stream:  # type: ignore[attr-defined]
        lines.put(line)
    lines.put(None)
