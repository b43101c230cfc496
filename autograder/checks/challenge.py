"""Open challenges: a number of one's own for an answer that holds, and no points.

Three kinds: the fewest Python tokens, the least memory, the shortest time. Tokens and
memory are the same wherever they are counted; a time is a ratio to a yardstick in the
same run, so it is told on laptops only.
"""

from __future__ import annotations

import ast
import io
import sys
import time
import tokenize
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.values import parsed

TITLE = "## Open challenge, no points"
QUIET = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
QUIET |= {tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
PARTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
ROOM, LENGTH, SMALL, WIDTH = 512, 2048, 512, 64
MOST_SECONDS = 3.0  # that one call of an answer may take
NOT_COUNTED = "not counted, as it is defined inside of something else"
Sources = dict[int, str]


@dataclass(frozen=True)
class Challenge:
    """``score`` is told of an answer to ``question`` once its visible checks hold.

    ``rule`` says what is counted, ``ours`` what the course's own answer has.
    """

    question: str
    rule: str
    ours: str
    score: Callable[[Any, dict[str, Any], Sources], str]

    def card(self) -> str:
        """What the exercise says of it."""
        return f"{TITLE}\n\n{self.rule} Ours: {self.ours}."

    def told(self, names: dict[str, Any], sources: Sources) -> str:
        """A line about the student's answer, which is one of ``names``."""
        try:
            own = self.score(names[self.question], names, sources)
        except Exception as error:  # it holds, and what is asked here is more
            own = f"not measured, it raised {type(error).__name__}"
        return f"open challenge: your {self.question}: {own}; ours: {self.ours}"


def shortest(question: str, ours: int, *given: str) -> Challenge:
    """The fewest Python tokens; the names in ``given`` count nothing."""
    free = f", `{'`, `'.join(given)}` aside" if given else ""
    rule = (
        f"Write `{question}` with as few Python tokens as you can: names, numbers, "
        "operators and brackets count one each, a text one for every four characters; "
        "comments, docstrings, line breaks and the length of names do not count. "
        f"Functions of yours that it uses count too{free}. "
        "When its checks hold, `autograder check` tells your number."
    )

    def score(answer: Any, names: dict[str, Any], sources: Sources) -> str:
        total = tokens_of(question, names, sources, set(given))
        return f"{total} tokens" if total else NOT_COUNTED

    return Challenge(question, rule, f"{ours} tokens", score)


def leanest(question: str, ours: str) -> Challenge:
    """The least memory of a function of (Q, K, V) that returns weights."""
    rule = (
        f"Write `{question}` so that it needs as little memory as you can. For "
        f"{ROOM} tokens we look at the most memory that is in use at once, as a "
        "multiple of the table of weights that it has to return. When its checks hold, "
        "`autograder check` tells your number."
    )

    def score(answer: Any, names: dict[str, Any], sources: Sources) -> str:
        return f"{memory(answer):.1f} times the table of weights"

    return Challenge(question, rule, f"{ours} times", score)


def fastest(question: str, ours: str) -> Challenge:
    """The shortest time of a function of (Q, K, V)."""
    rule = (
        f"Write `{question}` so that it is as fast as you can at n = {LENGTH}. We take "
        "the time as a multiple of what its two matrix products alone take, in the "
        "same run. When its checks hold, `autograder check` on your computer tells "
        "your number."
    )

    def score(answer: Any, names: dict[str, Any], sources: Sources) -> str:
        if sys.platform == "emscripten":
            return "`autograder check` tells its time, on your computer"
        return speed(answer)

    return Challenge(question, rule, f"{ours} times", score)


# --------------------------------------------------------------------------- tokens


def tokens_of(
    question: str, names: dict[str, Any], sources: Sources, free: set[str]
) -> int:
    """The tokens of a definition, and of those of the student's that it uses."""
    total, due, seen = 0, [question], set(free)
    while due:
        name = due.pop()
        found = definition(name, sources) if callable(names.get(name)) else None
        if name in seen or found is None:
            continue
        seen.add(name)
        source, node = found
        total += count(source, node)
        due += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return total


def definition(name: str, sources: Sources) -> tuple[str, ast.stmt] | None:
    """The last cell that defines a name, and the def, class or assignment there."""
    for _, source in sorted(sources.items(), reverse=True):
        tree = parsed(source)
        for node in tree.body[::-1] if tree else []:
            kinds = ast.FunctionDef | ast.ClassDef
            if isinstance(node, kinds) and node.name == name:
                return source, node
            if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets):
                return source, node
    return None


def count(source: str, node: ast.stmt) -> int:
    """The tokens of a definition, without its docstrings; an f-string is one."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    text = "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    docstrings = {(line - first + 1, column) for line, column in quiet(node)}
    starts, ends = ({getattr(tokenize, f"FSTRING_{w}", -1)} for w in ("START", "END"))
    total = inside = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        inside -= token.type in ends
        if not inside and token.type not in QUIET | ends:
            total += weight(token) * (token.start not in docstrings)
        inside += token.type in starts
    return total


def weight(token: tokenize.TokenInfo) -> int:
    """One; more for a text, in which code could hide."""
    formatted = "f" in token.string.lower().partition(token.string[-1])[0]
    if token.type != tokenize.STRING or formatted:
        return 1
    return max(1, len(token.string) // 4)


def quiet(node: ast.AST) -> Iterator[tuple[int, int]]:
    """Where docstrings stand in a definition."""
    for part in ast.walk(node):
        if isinstance(part, PARTS) and ast.get_docstring(part, clean=False) is not None:
            yield part.body[0].lineno, part.body[0].col_offset


# ------------------------------------------------------------------ memory and time


def inputs(n: int) -> list[np.ndarray]:
    """Queries, keys and values of n tokens."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, WIDTH)) for _ in range(3)]


def memory(answer: Callable[..., Any]) -> float:
    """The most memory in use at once, in tables of weights."""
    given = inputs(ROOM)
    answer(*given)  # what is made once and kept is not counted
    tracemalloc.start()
    try:
        answer(*given)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return most / (ROOM * ROOM * 8)


def speed(answer: Callable[..., Any]) -> str:
    """The time as a multiple of that of two matrix products, for long inputs."""
    if seconds(answer, inputs(SMALL)) * (LENGTH / SMALL) ** 2 > MOST_SECONDS:
        return f"too slow to be measured at n = {LENGTH}"
    given = inputs(LENGTH)
    ratio = seconds(answer, given) / seconds(products, given)
    return f"{ratio:.1f} times its two matrix products"


def products(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """What attention cannot do without."""
    return np.asarray((Q @ K.T) @ V)


def seconds(function: Callable[..., Any], given: list[np.ndarray]) -> float:
    """The shortest of three runs."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(*given)
        times.append(time.perf_counter() - start)
    return min(times)
