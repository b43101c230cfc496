"""``autograder check``: run a student's notebook and say which visible checks pass.

Students use it while they work: the notebook is run from the top, and each question
gets a line or a message. It needs neither a kernel nor nbgrader. Grading runs notebooks
with the same engine, so that both say the same about a visible check.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from autograder import registry
from autograder.checks.drawing import Drawing
from autograder.checks.published import books_of, module_file
from autograder.errors import CourseError, Held
from autograder.notebook.matching import match
from autograder.notebook.process import IMPORTED, Plan, Runner
from autograder.notebook.reading import MAX_BYTES, read_cells
from autograder.notebook.release import release_of
from autograder.notebook.running import Outcome
from autograder.notebook.test_cells import CHECKED, imported, not_there, profile_of
from autograder.options import add_flag, add_seconds, describe
from autograder.text import printable

GRADED_WITH = (3, 11)
MOST_LINES = 8  # about a wrong answer and all others
BESIDES = re.compile(r"  (?:in it|read): |  expected: no exception$")
GATHERED = "# My answers"  # so begins the page's notebook of all answers


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder check`."""
    describe(
        verb,
        "This command is for students. The exit code is 0 when all visible checks "
        "pass.",
        "autograder check exercises/01-means/means.ipynb",
    )
    verb.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    add_seconds(verb)
    add_flag(
        verb,
        "--watch",
        "check again whenever the notebook is saved; stop at the first question "
        "that does not pass",
    )
    add_flag(
        verb,
        "--all",
        "tell everything about each question, even where an answer is wrong",
    )
    add_flag(
        verb,
        "--ask",
        "then ask two questions about your own code for each answer that passes "
        "(no points; Ctrl-D stops the questions)",
    )


def run(options: argparse.Namespace) -> int:
    """Check once, or whenever the notebook is saved."""
    registry.work_on(registry.enclosing(options.notebook.resolve().parent))
    if options.watch:
        return watch(options.notebook, options.seconds)
    return check(options.notebook, options.seconds, options.ask, options.all)


def check(path: Path, seconds: float, ask: bool = False, every: bool = False) -> int:
    """Print what came of the questions; 0 when every check passes.

    ``every``: a line or a message for each of them, even where one is wrong.
    ``ask``: then questions about the answers that pass, which change nothing of it.
    """
    plan = plan_of(path)
    with Runner(path.resolve().parent, plan, seconds) as runner:
        outcomes = runner.outcomes(plan)
        code = report(plan, outcomes) if every else in_short(plan, list(outcomes))
        if ask:
            from autograder.code_questions.terminal_quiz import dialog

            dialog((o.question, o.asked) for o in runner.outcomes(plan, ask=2))
        elif code == 0 and sys.stdin.isatty() and sys.stdout.isatty():
            print(f"Questions about your own code: autograder check --ask {path}")
    return code


def watch(path: Path, seconds: float, rounds: int | None = None) -> int:
    """Check again whenever the file is saved: the verdict of the next open question.

    Libraries are imported once. Ends with Ctrl-C, when all hold, or after ``rounds``.
    """
    runner, stamp, held = None, None, False
    try:
        while not held and rounds != 0:
            stamp = wait_for_change(path, stamp)
            rounds = None if rounds is None else rounds - 1
            try:
                plan = plan_of(path)
            except CourseError as error:  # half saved, perhaps
                print(error)
                continue
            if runner is None:
                runner = Runner(path.resolve().parent, plan, seconds)
            held = report(plan, until_open(runner.outcomes(plan)), brief=True) == 0
    except KeyboardInterrupt:
        print()
    finally:
        if runner is not None:
            runner.close()
    return 0 if held else 1


def wait_for_change(path: Path, before: int | None) -> int:
    """The time of the file's last change, once it is another one than ``before``."""
    while True:
        try:
            stamp = path.stat().st_mtime_ns
        except OSError:  # editors replace files
            stamp = before if before is not None else -1
        if stamp == -1:
            raise CourseError(f"{path} cannot be opened: there is no such file.")
        if stamp != before:
            return stamp
        time.sleep(0.1)


def until_open(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    """The outcomes up to the first question whose check fails."""
    for outcome in outcomes:
        yield outcome
        if outcome.question and outcome.problem:
            return


def plan_of(path: Path) -> Plan:
    """What is run: the release's cells with the student's answers in them.

    A notebook of a course that is not known here runs as it is.
    """
    try:
        with path.open("rb") as file:
            submitted = read_cells(file.read(MAX_BYTES + 1))
        mine = bool(submitted) and submitted[0].source.startswith(GATHERED)
        release = None if mine else release_of(submitted)
        matched = match(release, submitted) if release else None
    except OSError as error:
        raise CourseError(f"{path} cannot be opened: {error.strerror}.") from None
    except Held as held:
        raise CourseError(f"{path}: {held}") from None
    if release is None or matched is None:
        sources = [c.source for c in submitted if c.cell_type == "code"]
        named = [CHECKED.search(source) for source in sources]
        questions = [match[1] if match else None for match in named]
        books = books_of(sources)
        texts = [module_file(book).read_text(encoding="utf-8") for book in books]
        profile = profile_of([*sources, *texts])  # what a book's module needs, too
        plan = Plan(numbered(sources, questions), profile, books)
        given = set[str]()
    else:
        code = [c for c in matched.cells if c.cell_type == "code" and c.runs]
        names = [
            c.grade_id.removeprefix("test_") if c.kind == "test" else None for c in code
        ]
        open_ones = [
            c.grade_id for c in matched.cells if c.kind == "written" and c.unanswered
        ]
        cells = numbered([c.source for c in code], names)
        books = books_of([c.released for c in release.cells])
        given = imported([c.released for c in release.cells])
        plan = Plan(cells, release.profile, books, matched.notes, open_ones)
    if not plan.questions:
        raise CourseError(f"{path} has no checks of this course.")
    expect_installed(path.name, plan)
    sources = [source for _, source, question in plan.cells if question is None]
    folder = path.resolve().parent
    plan.notes += not_there(sources, folder, plan.profile, [*plan.books, *given])
    if sys.version_info[:2] > GRADED_WITH:
        plan.notes.append(
            "You are using Python {}.{}, but grading may use {}.{}, which lacks "
            "newer features.".format(*sys.version_info[:2], *GRADED_WITH)
        )
    return plan


def expect_installed(name: str, plan: Plan) -> None:
    """CourseError, once, for libraries without which every question would fail."""
    sources = "\n".join(source for _, source, _ in plan.cells)
    needed = {"matplotlib"} & set(IMPORTED.findall(sources))
    needed |= {plan.profile}
    missing = " ".join(sorted(one for one in needed if find_spec(one) is None))
    if missing:
        raise CourseError(
            f"{name} was not checked, because it needs packages that are not "
            f"installed here. Install them, and check again: pip install {missing}"
        )


def numbered(
    sources: list[str], questions: list[str | None]
) -> list[tuple[int, str, str | None]]:
    """The code cells with the numbers that they are called by."""
    return [
        (number, source, question)
        for number, (source, question) in enumerate(
            zip(sources, questions, strict=True), 1
        )
    ]


def verdict(outcome: Outcome) -> str:
    """What the visible checks say of an answer, with what they drew.

    Of another cell, what went wrong.
    """
    if outcome.question is None:
        return f"Code cell {outcome.number}: {printable(outcome.problem or '')}"
    said = outcome.problem or outcome.said.strip() or f"{outcome.question}: passes"
    said = printable(said)
    return f"{said}\n\n{Drawing(**outcome.drawing)}\n" if outcome.drawing else said


def told(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """The outcomes to print: a failed cell is left out if a question reports it."""
    before = None
    for outcome in outcomes:
        if before and f"because cell {before.number} failed" not in str(
            outcome.problem
        ):
            yield before
        before = None if outcome.question or not outcome.problem else outcome
        if outcome.question is not None:
            yield outcome
    if before:
        yield before


def report(plan: Plan, outcomes: Iterable[Outcome], brief: bool = False) -> int:
    """Print what came of the cells, as it comes; 0 when every check passes."""
    for note in plan.notes:
        print(printable(note))
    held = 0
    for outcome in told(outcomes):
        held += outcome.question is not None and outcome.problem is None
        if outcome.problem or not brief:
            print(verdict(outcome), flush=True)
    for name in plan.written:
        print(f"{name}: not answered yet (graded by hand)")
    print(f"{counted(plan, held)}.", flush=True)
    return 0 if held == len(plan.questions) else 1


def counted(plan: Plan, held: int) -> str:
    """How many questions pass."""
    verb = "passes" if held == 1 else "pass"
    return f"{held} of {len(plan.questions)} questions {verb} all visible checks"


def in_short(plan: Plan, outcomes: list[Outcome]) -> int:
    """Print the first wrong answer, and lists of the others; 0 when all checks pass.

    Where no answer is wrong, everything is printed.
    """
    still = [o for o in outcomes if is_open(o)]
    wrong = [o for o in outcomes if o.question and o.problem and o not in still]
    if not wrong:
        return report(plan, outcomes)
    for note in plan.notes:
        print(printable(note))
    for outcome in told(outcomes):
        if outcome.question is None:
            print(verdict(outcome))
    right = [str(o.question) for o in outcomes if o.question and not o.problem]
    calls = [str(o.question) for o in still if ": calls `" in str(o.problem)]
    blank = [str(o.question) for o in still if str(o.question) not in calls]
    lists = [
        ("wrong, too", [str(o.question) for o in wrong[1:]]),
        ("no answer yet", blank + plan.written),
        ("calls an answer that is missing", calls),
        ("pass", right),
    ]
    lines = [f"{said}: {', '.join(names)}" for said, names in lists if names]
    message = essence(printable(wrong[0].problem or ""))
    if len(message) + len(lines) >= MOST_LINES:
        lines = ["; ".join(lines)]
    print("\n".join([*message, *lines]))
    print(
        f"{counted(plan, len(right))}; look at {wrong[0].question} first "
        "(--all tells everything)."
    )
    return 1


def is_open(outcome: Outcome) -> bool:
    """Whether an answer is not written yet, or calls one that is not."""
    return bool(outcome.question) and str(outcome.problem).endswith("no answer yet")


def essence(problem: str) -> list[str]:
    """The lines of a message, without what is only to be read or known besides."""
    found, kept = [], True
    for line in problem.splitlines():
        if not line.startswith("      "):  # else it goes on from the one before
            kept = not BESIDES.match(line)
        found += [line] if kept else []
    return found
