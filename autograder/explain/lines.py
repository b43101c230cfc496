"""The line that raised an exception, parsed for the rules that explain it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from autograder.explain.values import ARRAYS, Value, names_in, parsed, statement

LONGEST = 40  # of a piece of code in a sentence
PRODUCTS = {"matmul", "dot", "bmm", "mm", "inner"}


@dataclass(frozen=True)
class Line:
    """The line that raised: ``part`` is what failed in it, as far as Python says."""

    text: str  # of the exception
    values: dict[str, Value]
    whole: Sequence[ast.AST]
    part: Sequence[ast.AST]
    around: ast.FunctionDef | None  # the function that it is in

    def named(self, *kinds: str) -> Value | None:
        """The first name of one of these kinds, in what failed or in the line."""
        for code in (self.part, self.whole):
            for name in names_in(code):
                value = self.values.get(name)
                if value and value.kind in kinds:
                    return value
        return None

    @property
    def operands(self) -> list[ast.AST]:
        """What failed was done to these: factors, arguments, the owner of a name."""
        found: list[ast.AST] = []
        for node in self.part:
            found += [
                child.value if isinstance(child, ast.keyword) else child
                for name, child in children(node)
                if not (isinstance(node, ast.Subscript) and name == "slice")
            ]
        return found

    def operand(self, *kinds: str) -> Value | None:
        """The first operand that is a name of one of these kinds.

        Where Python does not say what failed, the first such name of the line.
        """
        for node in self.operands:
            value = self.values.get(code(node))
            if value and value.kind in kinds:
                return value
        return self.named(*kinds) if self.part is self.whole else None

    @property
    def function(self) -> str:
        """The name of the function that the line is in."""
        return self.around.name if self.around else ""

    @property
    def parameters(self) -> set[str]:
        """The names that a call gives the function that the line is in."""
        nodes = ast.walk(self.around.args) if self.around else ()
        return {node.arg for node in nodes if isinstance(node, ast.arg)}

    @property
    def optional(self) -> set[str]:
        """The parameters of the function that are None when a call leaves them out."""
        if self.around is None:
            return set()
        arguments = self.around.args
        names = [*arguments.posonlyargs, *arguments.args][::-1]
        defaults: list[ast.expr | None] = [*arguments.defaults[::-1]]
        pairs = [*zip(names, defaults, strict=False)]
        pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return {name.arg for name, default in pairs if code(default) == "None"}

    def nodes(self) -> Iterator[ast.AST]:
        """All of what failed, from the outside to the inside."""
        for part in self.part:
            yield from ast.walk(part)

    def calls(self) -> Iterator[tuple[ast.Call, str, str]]:
        """The calls in it: what is called, as text, and its last name."""
        for node in self.nodes():
            if isinstance(node, ast.Call):
                of = node.func
                said = code(of)  # which may be cut
                yield node, said, of.attr if isinstance(of, ast.Attribute) else said

    def array(self, node: ast.AST | None) -> Value | None:
        """The array that a name is."""
        value = self.values.get(code(node)) if node else None
        return value if value and value.kind in ARRAYS else None

    def product(self) -> tuple[str, ast.expr, ast.expr] | None:
        """The matrix product that failed, if it was one: as text, and its factors."""
        for node in self.part:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                return code(node), node.left, node.right
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                factors = [node.func.value, *node.args]
                if node.func.attr in PRODUCTS and 2 <= len(factors) <= 3:
                    return code(node), factors[-2], factors[-1]
        return None


def children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The direct parts of a piece of code, by the field that they are in."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield name, child


def code(node: ast.AST | None) -> str:
    """A piece of code as text; what is too long for a sentence is cut."""
    if node is None:
        return ""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


Rule = Callable[[Line, "re.Match[str]"], str]
About = Callable[[Line], Value | None]


def operand(*kinds: str) -> About:
    """The first operand of one of these kinds, for :meth:`Rules.say`."""
    return lambda line: line.operand(*kinds)


def numbers(*starts: str) -> About:
    """The first array whose dtype begins so, for :meth:`Rules.say`."""

    def first(line: Line) -> Value | None:
        arrays = (value for value in line.values.values() if value.kind in ARRAYS)
        return next((one for one in arrays if one.dtype.startswith(starts)), None)

    return first


@dataclass(frozen=True)
class Rules:
    """Rules in order; the first that is sure speaks."""

    rules: list[tuple[re.Pattern[str], Rule]] = field(default_factory=list)

    def on(self, *patterns: str) -> Callable[[Rule], Rule]:
        """Register a rule for texts in which one of the patterns is found."""

        def register(rule: Rule) -> Rule:
            self.rules.extend((re.compile(pattern), rule) for pattern in patterns)
            return rule

        return register

    def say(self, *patterns: str, sentence: str, about: About | None = None) -> None:
        """Register a sentence for these texts, with `{match}` and `{value}` in it.

        It is right where ``about`` finds a value in the line, or always without it.
        """

        def said(line: Line, match: re.Match[str]) -> str:
            value = about(line) if about else None
            found = value is not None or about is None
            return sentence.format(match=match, value=value) if found else ""

        self.on(*patterns)(said)

    def first(self, line: Line) -> str:
        """What the first sure rule says of a line."""
        for pattern, rule in self.rules:
            match = pattern.search(line.text)
            if match and (sentence := rule(line, match)):
                return sentence
        return ""


def line_at(
    source: str,
    number: int,
    columns: tuple[int, int],
    text: str,
    values: Sequence[Value],
) -> Line | None:
    """The line of a cell that raised an exception of this text; None if unreadable.

    A line whose business is to raise is the student's own word, and has no reason.
    """
    tree = parsed(source)
    whole = statement(tree, number) if tree else []
    if tree is None or not whole or isinstance(whole[0], ast.Raise | ast.Assert):
        return None
    part = [
        node
        for one in whole
        for node in ast.walk(one)
        if isinstance(node, ast.expr | ast.stmt)
        and (node.lineno, node.col_offset) == (number, columns[0])
        and (node.end_lineno, node.end_col_offset) == (number, columns[1])
    ]
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= number <= (node.end_lineno or 0)
    ]
    known = {value.name: value for value in values}
    innermost = around[-1] if around else None
    return Line(text, known, whole, part[-1:] or whole, innermost)
