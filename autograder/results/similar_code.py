"""Code similarity of answers, by tokens; names and common lines do not count."""

from __future__ import annotations

import io
import keyword
import math
import tokenize
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from rapidfuzz.distance import Indel

from autograder.text import lines_of

SKIPPED = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)
Answer = tuple[str, ...]
Sources = dict[str, dict[str, str]]  # answers by student and question
Shares = dict[tuple[str, str], float]  # of pairs of students, in both orders
FEW = 6  # nobody can say what is common among fewer


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
class Group:
    """Students whose answers are alike, any two of them at least by ``share``.

    ``pairs`` shows the one who is like most of them beside each of the others.
    """

    share: float
    students: tuple[str, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Own:
    """An answer: its lines, and the tokens of those that are not common."""

    source: str
    common: frozenset[Answer]

    @property
    def lines(self) -> list[tuple[str, Answer]]:
        """Each line with its shape."""
        return [(line, shape(line.strip())) for line in lines_of(self.source)]

    @cached_property
    def tokens(self) -> Answer:
        """Those of the lines that are not common."""
        kept = [line for line, form in self.lines if form and form not in self.common]
        return tuple(token for line in kept for token in shape(line.strip()))


def similar_groups(
    sources: Sources, given: Mapping[str, str], least: float
) -> list[Group]:
    """Groups of students whose answers are alike, from answers by student and question.

    Lines that were ``given``, and lines that many wrote, are left out; each answer is
    compared with the same answer of the other. A share of 1 means that all the rest is
    the same but for names.
    """
    common = common_lines(sources, given, (1 + least) / 2)
    works = {
        student: {name: Own(text, common[name]) for name, text in answers.items()}
        for student, answers in sources.items()
    }
    tokens = {student: tokens_of(answers) for student, answers in works.items()}
    shares: Shares = {}
    for one, other in combinations(sorted(works), 2):
        share = likeness(tokens[one], tokens[other])
        if share >= least:
            shares[one, other] = shares[other, one] = share
    groups = [group_of(students, shares, works) for students in cliques(shares)]
    return sorted(groups, key=lambda g: (-len(g.students), -g.share, g.students))


def group_of(
    students: list[str], shares: Shares, works: Mapping[str, Mapping[str, Own]]
) -> Group:
    """Students who are alike, with the one who is like all the others most."""
    middle = max(
        students, key=lambda one: sum(shares.get((one, o), 0.0) for o in students)
    )
    pairs = [
        Pair(shares[middle, other], middle, other, shown(works[middle], works[other]))
        for other in students
        if other != middle
    ]
    least = min(shares[pair] for pair in combinations(students, 2))
    return Group(least, tuple(students), tuple(pairs))


def shown(
    one: Mapping[str, Own], other: Mapping[str, Own]
) -> tuple[tuple[str, list[Line], list[Line]], ...]:
    """The answers in which both have something of their own, side by side."""
    both = [n for n in one if n in other and one[n].tokens and other[n].tokens]
    return tuple((name, *side_by_side(one[name], other[name])) for name in both)


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


def tokens_of(answers: Mapping[str, Own]) -> dict[str, Answer]:
    """What is a student's own, by question."""
    return {name: own.tokens for name, own in answers.items()}


def common_lines(
    sources: Sources, given: Mapping[str, str], least: float
) -> dict[str, frozenset[Answer]]:
    """Boilerplate: lines that say nothing about copying, by question.

    That is every line that was given, and every line that is too frequent: more than √n
    of n students wrote it. Students whose whole work is alike are counted once for
    that, since a group that copied wrote its lines once. A line in more than half of
    all submissions is boilerplate however they are counted.
    """
    known = {name: frozenset(line_shapes(text)) for name, text in given.items()}
    different: Sources = {}
    own: dict[str, dict[str, Answer]] = {}
    for student, answers in sorted(sources.items()):
        mine = tokens_of({name: Own(answers[name], known[name]) for name in answers})
        if all(likeness(mine, other, apart=True) < least for other in own.values()):
            different[student], own[student] = answers, mine
    return {
        name: lines | many(name, different, math.isqrt) | many(name, sources, half)
        for name, lines in known.items()
    }


def many(name: str, sources: Sources, most: Callable[[int], int]) -> frozenset[Answer]:
    """Shapes of lines of a question that more wrote than ``most`` of so many."""
    texts = [answers[name] for answers in sources.values() if name in answers]
    if len(texts) < FEW:
        return frozenset()
    count = Counter(form for text in texts for form in set(line_shapes(text)))
    return frozenset(f for f, times in count.items() if times > most(len(texts)))


def half(number: int) -> int:
    """More than this is most of a class."""
    return number // 2


def line_shapes(text: str) -> list[Answer]:
    """The shape of each line."""
    return [shape(line.strip()) for line in lines_of(text)]


def side_by_side(one: Own, other: Own) -> tuple[list[Line], list[Line]]:
    """The lines of two answers; a line is in both when its shape is."""
    shapes = [form for _, form in one.lines], [form for _, form in other.lines]
    same: tuple[set[int], set[int]] = (set(), set())
    # difflib would compare each of ten thousand lines with each
    for start, begin, length in Indel.opcodes(*shapes).as_matching_blocks():
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


def likeness(
    one: Mapping[str, Answer], other: Mapping[str, Answer], *, apart: bool = False
) -> float:
    """The share of tokens in the same order, over the answers that both gave.

    With ``apart``, answers that only one of them gave make them differ.
    """
    names = one.keys() | other.keys() if apart else one.keys() & other.keys()
    pairs = [(one.get(name, ()), other.get(name, ())) for name in names]
    total = sum(len(mine) + len(theirs) for mine, theirs in pairs)
    distance = sum(Indel.distance(mine, theirs) for mine, theirs in pairs)
    return 1 - distance / total if total else 0.0


def shape(source: str) -> Answer:
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
