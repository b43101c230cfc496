"""A server for coding agents that coach students: it runs checks and quotes the book.

It speaks the Model Context Protocol over standard input and output. An agent can ask
for four things: which questions there are, what the visible checks say, one diagnosis
in full, and what a chapter writes under a heading. Notebooks and headings are chosen
from lists: no request is opened as a path, and none is run.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path

from autograder import registry
from autograder.check import plan_of, verdict
from autograder.course import CONFIG
from autograder.errors import CourseError, Held
from autograder.notebook.chapters import chapters
from autograder.notebook.process import Runner
from autograder.notebook.reading import read
from autograder.notebook.records import Release
from autograder.notebook.release import release_of
from autograder.options import add_seconds, describe
from autograder.text import one_line

GUIDE = "AGENTS.md"  # what is asked of agents


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder tutor`."""
    describe(
        verb,
        "This command is for students: their coding agent starts it. The command "
        "ends when its input ends.",
        "autograder tutor exercises/",
    )
    verb.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder with the notebooks (default: here)",
    )
    add_seconds(verb)


def run(options: argparse.Namespace) -> None:
    """Serve until the input ends."""
    folder = options.folder.resolve()
    if not folder.is_dir():
        raise CourseError(f"{options.folder} is not a folder.")
    if (folder / CONFIG).exists():
        raise CourseError(
            f"{folder} is a course folder, which contains solutions. Start the tutor "
            "in a folder of exercises."
        )
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise CourseError(
            'The tutor needs a package that is not installed here: pip install "mcp>=2"'
        ) from None

    tutor = Tutor(folder, options.seconds)
    server = MCPServer("paying-attention", instructions=guide(), log_level="ERROR")
    for ask in (tutor.list_questions, tutor.check, tutor.diagnosis, tutor.paragraphs):
        server.add_tool(refusing(ask, ToolError), structured_output=False)
    server.run("stdio")


def guide() -> str:
    """What is asked of agents: the file that lies beside the exercises."""
    paths = [course.exercises / GUIDE for course in registry.courses()]
    return next((p.read_text("utf-8") for p in paths if p.is_file()), "")


def refusing(ask: Callable[..., str], error: type[Exception]) -> Callable[..., str]:
    """Decorator: what is wrong with a request becomes an error that the agent reads."""

    @wraps(ask)
    def answer(**arguments: str) -> str:
        try:
            return ask(**arguments)
        except (CourseError, Held) as wrong:
            raise error(str(wrong)) from None

    return answer


class Tutor:
    """What an agent may ask about the notebooks of one folder."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self.one_at_a_time = threading.Lock()

    def list_questions(self) -> str:
        """List the student's notebooks, their questions, and the chapter of each."""
        lines = []
        for name, release in self._notebooks().items():
            number = release.assignment[:3]
            about = ", ".join(one for one in chapters() if one.startswith(number))
            lines.append(f"{name} ({release.assignment}; chapter: {about or 'none'})")
            lines += [f"  {question}" for question in questions(release)]
        return "\n".join(lines) or "There is no notebook of the course in this folder."

    def check(self, notebook: str) -> str:
        """Run a notebook as `autograder check` does: a line for each question.

        `notebook` is a name from list_questions.
        """
        return "\n".join(text.splitlines()[0] for _, text in self._run(notebook))

    def diagnosis(self, notebook: str, question: str) -> str:
        """What the visible checks say of one answer: seen, expected, likely, read.

        `notebook` and `question` are names from list_questions.
        """
        found, what = self._notebooks(), "question of this notebook"
        release = found[chosen(notebook, list(found), "notebook here")]
        chosen(question, questions(release), what)  # before anything is run
        told = dict(self._run(notebook))
        return told[chosen(question, [q for q in told if q], what)]

    def paragraphs(self, place: str) -> str:
        """What the book writes at a place that a diagnosis names behind `read:`.

        `place` is a chapter and a heading, such as "02-roots#minus-infinity". Code
        is left out: the student finds it on the page.
        """
        chapter, _, heading = place.partition("#")
        sections = chapters()[chosen(chapter, list(chapters()), "chapter")]
        return sections[chosen(heading, list(sections), f"heading of {chapter}")]

    def _notebooks(self) -> dict[str, Release]:
        """The exercises here and one folder below, by name; no link leads out."""
        found = {}
        for path in sorted(
            [*self.folder.glob("*.ipynb"), *self.folder.glob("*/*.ipynb")]
        ):
            try:
                if not path.resolve().is_relative_to(self.folder):
                    continue
                now = path.stat()
                release = release_at(path, now.st_mtime_ns, now.st_size)
            except (Held, OSError):
                continue
            if release is not None:
                found[path.relative_to(self.folder).as_posix()] = release
        return found

    def _run(self, notebook: str) -> list[tuple[str, str]]:
        """What is said of each question; of a cell that failed, without a question."""
        path = self.folder / chosen(notebook, list(self._notebooks()), "notebook here")
        with self.one_at_a_time:
            plan = plan_of(path)
            with Runner(path.parent, plan, self.seconds) as runner:
                return [
                    (one.question or "", verdict(one))
                    for one in runner.outcomes(plan)
                    if one.question or one.problem
                ]


@lru_cache
def release_at(path: Path, changed: int, size: int) -> Release | None:
    """What a notebook was released as, read again after each change."""
    return release_of(read(path.read_bytes()))


def questions(release: Release) -> list[str]:
    """The names of its questions."""
    tests = [cell.grade_id for cell in release.cells if cell.kind == "test"]
    return [name.removeprefix("test_") for name in tests]


def chosen(name: str, there: list[str], what: str) -> str:
    """``name``, if it is one of those that are there; CourseError else."""
    if name not in there:
        raise CourseError(
            f"There is no {what} {one_line(name[:80])!r}; choose one of "
            f"{', '.join(there)}."
        )
    return name
