"""``autograder similarity``: groups of submissions with similar code, for a person.

Answers are compared by their tokens. Names of variables do not count, nor do lines that
were given or that many wrote.
"""

from __future__ import annotations

import argparse
import io
import keyword
import math
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import NamedTuple

from rapidfuzz.distance import Indel

from autograder.course import Assignment, Course
from autograder.errors import Held
from autograder.files import write_whole
from autograder.grading.gradebook import known_names
from autograder.intake.notebook_file import MISSING, open_submission
from autograder.notebook.matching import match
from autograder.notebook.reading import read_cells
from autograder.options import add_file, describe, share
from autograder.release.grading_plan import plans
from autograder.results.templates import counted, render
from autograder.text import lines_of, one_line, printable

LONGEST = 20_000  # characters of an answer: comparing two takes their product
FEW = 6  # nobody can say what is common among fewer
SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
Tokens = tuple[str, ...]
Sources = dict[str, dict[str, str]]  # answers by student and question
Shares = dict[tuple[str, str], float]  # of pairs of students, in both orders


class Line(NamedTuple):
    """A line of an answer: the other answer has it too, or many of the class have."""

    text: str
    both: bool
    common: bool


class Pair(NamedTuple):
    """Two students, how alike they are, and their answers line by line."""

    share: float
    one: str
    other: str
    answers: list[tuple[str, list[Line], list[Line]]]


class Group(NamedTuple):
    """Students whose answers are alike, any two of them at least by ``share``.

    ``pairs`` shows the one who is like most of them beside each of the others.
    """

    share: float
    students: tuple[str, ...]
    pairs: list[Pair]


def command(verb: argparse.ArgumentParser) -> None:
    """The options of `autograder similarity`."""
    describe(
        verb,
        "Lines that many otherwise different submissions share are ignored. "
        "Submissions that share most of their code are listed once, as a group. "
        "Short answers can resemble each other by chance, so check before you accuse "
        "anyone. No points are changed.",
        "autograder similarity 01-means --least 0.95",
    )
    verb.add_argument("assignment", metavar="ASSIGNMENT")
    words = "minimum share of common tokens (default: 0.9)"
    verb.add_argument("--least", type=share, default=0.9, metavar="SHARE", help=words)
    words = (
        "page with the submissions side by side (default: similarity-NAME.html of the "
        "course)"
    )
    add_file(verb, "--output", words)


def run(options: argparse.Namespace) -> None:
    """Print the groups, and write the page that shows them."""
    course = Course.find()
    (assignment,) = course.chosen([options.assignment])
    sources, given, unread = answers_of(course, assignment)
    groups = similar_groups(sources, given, options.least)
    for group in groups:
        names = "  ".join(one_line(student) for student in group.students)
        size = f"{len(group.students)} students: " if len(group.students) > 2 else ""
        print(f"{group.share:.0%}  {size}{names}")
    students = counted(sum(len(group.students) for group in groups), "student")
    found = f"{counted(len(groups), 'group')}, {students}" if groups else "nobody"
    print(f"Alike: {found}. No points were changed.")
    if unread:
        names = ", ".join(map(one_line, unread))
        files = counted(len(unread), "submission")
        print(f"Not compared: {files} that cannot be read ({names}).")
    if groups:
        path = options.output or course.root / f"similarity-{assignment.name}.html"
        about = {"name": assignment.name, "people": known_names(course)}
        write_whole(path, render("similarity.html", groups=groups, **about))
        print(f"wrote {one_line(str(path))}")


def answers_of(
    course: Course, assignment: Assignment
) -> tuple[Sources, dict[str, str], list[str]]:
    """The answers that students wrote, by student and question; and what was given.

    And the students of whom a notebook cannot be read.
    """
    releases = plans(course, assignment)
    names = [f"{release.notebook}.ipynb" for release in releases]
    sources: Sources = defaultdict(dict)
    given: dict[str, str] = {}
    unread: set[str] = set()
    for release in releases:
        before = f"{release.notebook}/" if len(releases) > 1 else ""
        given |= {f"{before}{cell.grade_id}": cell.released for cell in release.cells}
        for submission in course.submissions([assignment]):
            try:
                data = open_submission(submission, release, names).data
                cells = match(release, read_cells(data)).cells
            except Held as reason:
                if str(reason) != MISSING:
                    unread.add(submission.student)
                continue
            sources[submission.student] |= {
                f"{before}{cell.grade_id}": printable(cell.source[:LONGEST])
                for cell in cells
                if cell.kind == "answer" and cell.grade_id and not cell.unanswered
            }
    return sources, given, sorted(unread)


def similar_groups(
    sources: Sources, given: Mapping[str, str], least: float
) -> list[Group]:
    """Groups of students whose answers are alike, from answers by student and question.

    Lines that were ``given``, and lines that many wrote, are left out; each answer is
    compared with the same answer of the other. A share of 1 means that all the rest is
    the same but for names.
    """
    common = common_lines(sources, given, (1 + least) / 2)
    own = {student: own_tokens(mine, common) for student, mine in sources.items()}
    shares: Shares = {}
    for one, other in combinations(sorted(own), 2):
        if (alike := likeness(own[one], own[other])) >= least:
            shares[one, other] = shares[other, one] = alike

    def pair(one: str, other: str) -> Pair:
        names = [n for n in own[one] if own[one][n] and own[other].get(n)]
        mine, theirs = sources[one], sources[other]
        sides = [(n, *side_by_side(mine[n], theirs[n], common[n])) for n in names]
        return Pair(shares[one, other], one, other, sides)

    groups = []
    for students in cliques(shares):
        like = {a: sum(shares.get((a, b), 0.0) for b in students) for a in students}
        middle = max(like, key=like.__getitem__)
        pairs = [pair(middle, other) for other in students if other != middle]
        smallest = min(shares[two] for two in combinations(students, 2))
        groups.append(Group(smallest, tuple(students), pairs))
    return sorted(groups, key=lambda g: (-len(g.students), -g.share, g.students))


def cliques(shares: Shares) -> list[list[str]]:
    """Groups in which everybody is like everybody else, the most alike joined first."""
    group: dict[str, list[str]] = {}
    for one, other in sorted(shares, key=lambda pair: (-shares[pair], pair)):
        mine, theirs = group.setdefault(one, [one]), group.setdefault(other, [other])
        if mine is not theirs and all((a, b) in shares for a in mine for b in theirs):
            mine += theirs
            group.update(dict.fromkeys(theirs, mine))
    return [
        sorted(mine) for one, mine in group.items() if len(mine) > 1 and mine[0] == one
    ]


def common_lines(
    sources: Sources, given: Mapping[str, str], least: float
) -> dict[str, frozenset[Tokens]]:
    """Boilerplate: lines that say nothing about copying, by question.

    That is every line that was given, and every line that is too frequent: more than √n
    of n students wrote it. Students whose whole work is alike are counted once for
    that, since a group that copied wrote its lines once. A line in more than half of
    all submissions is boilerplate however they are counted.
    """
    known = {name: frozenset(shapes(text)) for name, text in given.items()}
    different: Sources = {}
    own: list[dict[str, Tokens]] = []
    for student, answers in sorted(sources.items()):
        mine = own_tokens(answers, known)
        if all(likeness(mine, other, apart=True) < least for other in own):
            different[student] = answers
            own.append(mine)
    return {
        name: lines
        | frequent(name, different, math.isqrt)
        | frequent(name, sources, lambda number: number // 2)
        for name, lines in known.items()
    }


def frequent(
    name: str, sources: Sources, most: Callable[[int], int]
) -> frozenset[Tokens]:
    """Shapes of lines of a question that more wrote than ``most`` of so many."""
    texts = [answers[name] for answers in sources.values() if name in answers]
    if len(texts) < FEW:
        return frozenset()
    count = Counter(form for text in texts for form in set(shapes(text)))
    return frozenset(f for f, times in count.items() if times > most(len(texts)))


def own_tokens(
    answers: Mapping[str, str], common: Mapping[str, frozenset[Tokens]]
) -> dict[str, Tokens]:
    """The tokens of a student's own lines, those that are not common, by question."""
    return {
        name: tuple(
            t for form in shapes(text) if form not in common[name] for t in form
        )
        for name, text in answers.items()
    }


def likeness(
    one: Mapping[str, Tokens], other: Mapping[str, Tokens], *, apart: bool = False
) -> float:
    """The share of tokens in the same order, over the answers that both gave.

    With ``apart``, answers that only one of them gave make them differ.
    """
    names = one.keys() | other.keys() if apart else one.keys() & other.keys()
    pairs = [(one.get(name, ()), other.get(name, ())) for name in names]
    total = sum(len(mine) + len(theirs) for mine, theirs in pairs)
    distance = sum(Indel.distance(mine, theirs) for mine, theirs in pairs)
    return 1 - distance / total if total else 0.0


def side_by_side(
    one: str, other: str, common: frozenset[Tokens]
) -> tuple[list[Line], list[Line]]:
    """The lines of two answers; a line is in both when its shape is."""
    mine, theirs = shapes(one), shapes(other)
    same: tuple[set[int], set[int]] = (set(), set())
    # difflib would compare each of ten thousand lines with each
    for start, begin, length in Indel.opcodes(mine, theirs).as_matching_blocks():
        same[0].update(range(start, start + length))
        same[1].update(range(begin, begin + length))

    def lines(text: str, forms: list[Tokens], both: set[int]) -> list[Line]:
        pairs = enumerate(zip(lines_of(text), forms, strict=True))
        return [Line(line, n in both, form in common) for n, (line, form) in pairs]

    return lines(one, mine, same[0]), lines(other, theirs, same[1])


def shapes(text: str) -> list[Tokens]:
    """The shape of each line."""
    return [shape(line.strip()) for line in lines_of(text)]


def shape(source: str) -> Tokens:
    """The tokens of code with every name alike, so that renaming hides nothing.

    A line that opens a bracket ends in an error, after its last token.
    """
    tokens: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in SKIPPED:
                continue
            name = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
            tokens.append("name" if name else token.string)
    except (tokenize.TokenError, SyntaxError):
        tokens = tokens or source.split()
    return tuple(tokens)
