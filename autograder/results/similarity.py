"""Which submissions are alike. For a person to look at; it never changes points."""

from __future__ import annotations

import argparse
import io
import keyword
import math
import tokenize
from collections import Counter, defaultdict
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
from autograder.results.foreign import foreign
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
FEW = 6  # nobody can say what is common among fewer


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder similarity`."""
    describe(
        verb,
        "Lines that many of the class wrote are left out. Short answers are alike "
        "without copying: the page is for a person to look at, and changes no points. "
        "With variants, who has the numbers of another student's cards is listed too.",
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
    """A line of an answer: the other answer has it too, or many of the class have."""

    text: str
    both: bool
    common: bool


@dataclass(frozen=True)
class Pair:
    """Two students, how alike they are, and their answers line by line."""

    share: float
    one: str
    other: str
    answers: tuple[tuple[str, list[Line], list[Line]], ...] = ()


@dataclass(frozen=True)
class Own:
    """An answer: its lines, and the tokens of those that are not common."""

    source: str
    common: frozenset[Answer]

    @property
    def lines(self) -> list[tuple[str, Answer]]:
        """Each line with its shape."""
        return [(line, shape(line.strip())) for line in self.source.splitlines()]

    @property
    def tokens(self) -> Answer:
        """The shape of what nobody else, or not everybody, wrote."""
        kept = [line for line, form in self.lines if form and form not in self.common]
        return tuple(token for line in kept for token in shape(line.strip()))


def run(options: argparse.Namespace) -> None:
    """Print the pairs, and write the page that shows them."""
    course = Course.find()
    assignment = course.chosen([options.assignment])[0]
    pairs = similar(course, assignment, options.least)
    for pair in pairs:
        print(f"{pair.share:.0%}  {one_line(pair.one)}  {one_line(pair.other)}")
    print(f"Alike pairs: {len(pairs)}. No points were changed.")
    strange = foreign(course, assignment)
    for each in strange:
        names = ", ".join(map(one_line, each.owners))
        print(f"{one_line(each.student)} has the numbers of {names}: {each.place}")
    if pairs or strange:
        path = options.output or course.root / f"similarity-{assignment.name}.html"
        about = {"name": assignment.name, "pairs": pairs, "foreign": strange}
        page = render("similarity.html", **about)
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

    Lines of the students' notebook, and lines that many of the class wrote, are left
    out; each answer is compared with the same answer of the other. 1 means that all the
    rest is the same but for names.
    """
    works = answers_of(course, assignment)
    tokens = {
        student: {name: own.tokens for name, own in answers.items() if own.tokens}
        for student, answers in works.items()
    }
    pairs = []
    for one, other in combinations(sorted(works), 2):
        share = likeness(tokens[one], tokens[other])
        if share >= least:
            both = [name for name in tokens[one] if name in tokens[other]]
            answers = tuple(
                (name, *side_by_side(works[one][name], works[other][name]))
                for name in both
            )
            pairs.append(Pair(share, one, other, answers))
    return sorted(pairs, key=lambda pair: (-pair.share, pair.one, pair.other))


def answers_of(course: Course, assignment: Assignment) -> dict[str, dict[str, Own]]:
    """The answers that students wrote themselves, by student and question."""
    releases = plans(course, assignment)
    names = [f"{release.notebook}.ipynb" for release in releases]
    sources: dict[str, dict[str, str]] = defaultdict(dict)
    given: dict[str, str] = {}
    for release in releases:
        before = f"{release.notebook}/" if len(releases) > 1 else ""
        given |= {f"{before}{cell.grade_id}": cell.released for cell in release.cells}
        for submission in course.submissions([assignment]):
            try:
                data, _ = open_submission(submission, release, names)
                cells = match(release, read(data)).cells
            except Held:
                continue
            sources[submission.student] |= {
                f"{before}{cell.grade_id}": printable(cell.source)
                for cell in cells
                if cell.kind == "answer" and cell.grade_id and not cell.unanswered
            }
    common = {name: common_lines(name, given[name], sources) for name in given}
    return {
        student: {name: Own(text, common[name]) for name, text in answers.items()}
        for student, answers in sources.items()
    }


def common_lines(
    question: str, given: str, sources: dict[str, dict[str, str]]
) -> frozenset[Answer]:
    """Shapes of lines that were given, or that many wrote: more than √n of n.

    Such a line tells nothing about two of them, and short answers have no other.
    """
    texts = [own[question] for own in sources.values() if question in own]
    count = Counter(form for text in texts for form in set(line_shapes(text)))
    most = math.isqrt(len(texts)) if len(texts) >= FEW else len(texts)
    return frozenset(line_shapes(given)) | {f for f, n in count.items() if n > most}


def line_shapes(text: str) -> list[Answer]:
    """The shape of each line."""
    return [shape(line.strip()) for line in text.splitlines()]


def side_by_side(one: Own, other: Own) -> tuple[list[Line], list[Line]]:
    """The lines of two answers; a line is in both when its shape is."""
    shapes = [form for _, form in one.lines], [form for _, form in other.lines]
    same: tuple[set[int], set[int]] = (set(), set())
    matcher = SequenceMatcher(a=shapes[0], b=shapes[1], autojunk=False)
    for start, begin, length in matcher.get_matching_blocks():
        same[0].update(range(start, start + length))
        same[1].update(range(begin, begin + length))
    told = [
        [
            Line(text, n in same[side], form in own.common)
            for n, (text, form) in enumerate(own.lines)
        ]
        for side, own in enumerate((one, other))
    ]
    return told[0], told[1]


def likeness(one: dict[str, Answer], other: dict[str, Answer]) -> float:
    """The share of tokens in the same order, over the answers that both gave."""
    both = one.keys() & other.keys()
    total = sum(len(one[name]) + len(other[name]) for name in both)
    apart = sum(Indel.distance(one[name], other[name]) for name in both)
    return 1 - apart / total if total else 0.0
