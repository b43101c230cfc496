"""Which submissions are alike. For a person to look at; it never changes points."""

from __future__ import annotations

import argparse
import io
import keyword
import tokenize
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path

from rapidfuzz.distance import Indel

from autograder.course import Assignment, Course
from autograder.errors import Held
from autograder.files import write_whole
from autograder.intake.opening import open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read
from autograder.options import describe
from autograder.release.plan import plans
from autograder.results.templates import render
from autograder.text import one_line, printable

SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
Answer = tuple[str, ...]
COMMON = 0.5  # an answer that more of the class gave tells nothing about two of them
FEW = 6  # nobody can say what is common among fewer


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder similarity`."""
    describe(
        verb,
        "What most of the class wrote is left out. Short answers are alike without "
        "copying: the page is for a person to look at, and changes no points.",
        "autograder similarity 01-attention --least 0.95",
    )
    verb.add_argument("assignment", metavar="ASSIGNMENT")
    verb.add_argument(
        "--least",
        type=float,
        default=0.9,
        metavar="SHARE",
        help="of the tokens of both (default: 0.9)",
    )
    verb.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="the page that shows them side by side (default: similarity-NAME.html of "
        "the course)",
    )
    verb.set_defaults(run=run)


@dataclass(frozen=True)
class Line:
    """A line of an answer, and whether the other answer has it too, names aside."""

    text: str
    both: bool


@dataclass(frozen=True)
class Pair:
    """Two students, how alike they are, and their answers line by line."""

    share: float
    one: str
    other: str
    answers: tuple[tuple[str, list[Line], list[Line]], ...] = ()


@dataclass(frozen=True)
class Work:
    """A student's answers by question: their code, and its shape."""

    student: str
    sources: dict[str, str]

    @property
    def shapes(self) -> dict[str, Answer]:
        """The tokens of each answer."""
        return {name: shape(source) for name, source in self.sources.items()}


def run(options: argparse.Namespace) -> None:
    """Print the pairs, and write the page that shows them."""
    course = Course.find()
    assignment = course.chosen([options.assignment])[0]
    pairs = similar(course, assignment, options.least)
    for pair in pairs:
        print(f"{pair.share:.0%}  {one_line(pair.one)}  {one_line(pair.other)}")
    print(f"Alike pairs: {len(pairs)}. No points were changed.")
    if pairs:
        path = options.output or course.root / f"similarity-{assignment.name}.html"
        page = render("similarity.html", name=assignment.name, pairs=pairs)
        write_whole(path, page)
        print(f"wrote {one_line(str(path))}")


def shape(source: str) -> Answer:
    """The tokens of code with every name alike, so that renaming hides nothing."""
    tokens = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in SKIPPED:
                continue
            name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
            tokens.append("name" if name else token.string)
    except (tokenize.TokenError, SyntaxError):
        return tuple(source.split())
    return tuple(tokens)


def similar(course: Course, assignment: Assignment, least: float) -> list[Pair]:
    """Pairs of students whose answers are alike, the most alike first.

    Only answers that differ from the students' notebook and from what most of the class
    wrote are compared, each with the same answer of the other; 1 means that all are the
    same but for names.
    """
    works = answers_of(course, assignment)
    left = unusual({work.student: work.shapes for work in works})
    sources = {work.student: work.sources for work in works}
    pairs = []
    for one, other in combinations(sorted(left), 2):
        share = likeness(left[one], left[other])
        if share >= least:
            both = [name for name in left[one] if name in left[other]]
            answers = tuple(
                (name, *side_by_side(sources[one][name], sources[other][name]))
                for name in both
            )
            pairs.append(Pair(share, one, other, answers))
    return sorted(pairs, key=lambda pair: (-pair.share, pair.one, pair.other))


def answers_of(course: Course, assignment: Assignment) -> list[Work]:
    """The answers that students wrote themselves."""
    releases = plans(course, assignment)
    names = [f"{release.notebook}.ipynb" for release in releases]
    works = []
    for submission in course.submissions([assignment]):
        own: dict[str, str] = {}
        for release in releases:
            before = f"{release.notebook}/" if len(releases) > 1 else ""
            try:
                data, _ = open_submission(submission, release, names)
                cells = match(release, read(data)).cells
            except Held:
                continue
            own |= {
                f"{before}{cell.grade_id}": cell.source
                for cell in cells
                if cell.kind == "answer" and cell.grade_id and not cell.unanswered
            }
        if own:
            works.append(Work(submission.student, own))
    return works


def unusual(answers: dict[str, dict[str, Answer]]) -> dict[str, dict[str, Answer]]:
    """The answers that most of the class did not give in the very same shape."""
    count = Counter(item for own in answers.values() for item in own.items())
    most = COMMON * len(answers) if len(answers) >= FEW else len(answers)
    left = {
        student: {name: a for name, a in own.items() if count[name, a] <= most}
        for student, own in answers.items()
    }
    return {student: own for student, own in left.items() if own}


def side_by_side(one: str, other: str) -> tuple[list[Line], list[Line]]:
    """The lines of two answers; a line is in both when its shape is."""
    texts = [printable(source).splitlines() for source in (one, other)]
    shapes = [[shape(line.strip()) for line in lines] for lines in texts]
    same: tuple[set[int], set[int]] = (set(), set())
    matcher = SequenceMatcher(a=shapes[0], b=shapes[1], autojunk=False)
    for start, begin, length in matcher.get_matching_blocks():
        same[0].update(range(start, start + length))
        same[1].update(range(begin, begin + length))
    return (
        [Line(text, n in same[0]) for n, text in enumerate(texts[0])],
        [Line(text, n in same[1]) for n, text in enumerate(texts[1])],
    )


def likeness(one: dict[str, Answer], other: dict[str, Answer]) -> float:
    """The share of tokens in the same order, over the answers that both gave."""
    both = one.keys() & other.keys()
    total = sum(len(one[name]) + len(other[name]) for name in both)
    apart = sum(Indel.distance(one[name], other[name]) for name in both)
    return 1 - apart / total if total else 0.0
