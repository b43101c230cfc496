"""One-line mutants of an answer, for quizzes that ask what a changed line would do.

They take another axis, drop an operation or swap a name. Each replaces a span of the
source text, so the rest of the line reads as the student wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.text import lines_of

PAIRS = (
    "tril triu, max min, amax amin, maximum minimum, sum mean, zeros ones, sin cos, "
)
PAIRS += "zeros_like ones_like, any all, argmax argmin, var std, concatenate stack"
SWAPS = dict(pair.split() for pair in PAIRS.split(", "))
SWAPS |= {new: old for old, new in SWAPS.items()} | {"cat": "stack"}
LEFT_OUT = {"sqrt", "log", "exp", "square", "abs", "swapaxes", "transpose", "unsqueeze"}
LEFT_OUT |= {"tril", "triu", "flatten", "reshape", "view", "softmax", "log_softmax"}
MODULES = ("np", "numpy", "torch", "math")
SHARPER = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!="}
SHARPER |= {ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is"}
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
OPEN, CLOSE = "\x01", "\x02"  # parentheses that may be needed
DROPS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.BitAnd)


@dataclass(frozen=True)
class Change:
    """A line as it is and as it might be, and the whole source with it."""

    number: int
    old: str
    new: str
    source: str


def changes(source: str) -> list[Change]:
    """All changes of the functions in a source that can still be parsed."""
    lines: list[str] = lines_of(source)
    found: dict[str, Change] = {parsed(source): Change(0, "", "", source)}
    for node, new in edits(ast.parse(source), source):
        number = node.lineno
        if node.end_lineno != number:
            continue
        old = lines[number - 1].encode()
        before, after = old[: node.col_offset], old[node.end_col_offset :]
        line, meant = bare(lines, number, f"{before.decode()}{new}{after.decode()}")
        if meant and meant not in found:
            was, whole = lines[number - 1].strip(), with_line(lines, number, line)
            found[meant] = Change(number, was, line.strip(), whole)
    return list(found.values())[1:]


def bare(lines: list[str], number: int, line: str) -> tuple[str, str]:
    """A line without the parentheses of ours that it does not need; what it means."""
    meant = parsed(with_line(lines, number, line))
    while OPEN in line:
        start = line.rindex(OPEN)
        end = line.index(CLOSE, start)
        before, inner, after = line[:start], line[start + 1 : end], line[end + 1 :]
        line = before + inner + after
        if parsed(with_line(lines, number, line)) != meant:
            line = f"{before}({inner}){after}"
    return line, meant


def with_line(lines: list[str], number: int, line: str) -> str:
    """The source with another line."""
    line = line.replace(OPEN, "(").replace(CLOSE, ")")
    return "\n".join([*lines[: number - 1], line, *lines[number:]])


def parsed(source: str) -> str:
    """What a source means, as text; empty where it is no Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""


def edits(tree: ast.Module, source: str) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Nodes inside of functions, with another text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            node.said = ast.get_source_segment(source, node)  # type: ignore[union-attr]
    for function in ast.walk(tree):
        body = function.body if isinstance(function, ast.FunctionDef) else []
        if isinstance(function, ast.Lambda):
            body = [ast.Expr(function.body)]
        for statement in body:
            if isinstance(statement, ast.Raise | ast.FunctionDef | ast.Assert):
                continue
            if isinstance(statement, ast.Expr) and is_text(statement.value):
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.AugAssign) or once_more(node):
                    yield node, "pass"  # type: ignore[misc]
                if isinstance(node, ast.UnaryOp):
                    node.operand.negated = True  # type: ignore[attr-defined]
                if isinstance(node, ast.expr) and not hasattr(node, "negated"):
                    for new in others(node):
                        yield node, new


def once_more(node: ast.AST) -> bool:
    """Whether a statement gives a name another value that is made from its own."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return any(
                isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)
            )
    return False


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def others(node: ast.expr) -> Iterator[str]:
    """Other texts for an expression."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(size))):
            yield {1: "-2", 2: "-1"}.get(size, str(1 - size))
        case ast.UnaryOp(op=ast.Invert() | ast.Not() | ast.USub(), operand=inner):
            yield text(inner)
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(value)):
            yield str({0: 1, 1: 0}.get(value, value - 1))
        case ast.Constant(value=float(value)) if value:
            yield text(ast.Constant(2 * value))
        case ast.Constant(value=str(value)) if "->" in value:
            out = value.partition("->")[2]  # of einsum
            yield said(node).replace(f"->{out}", f"->{out[:-2]}{out[:-3:-1]}")
        case ast.Tuple(elts=[first, second], ctx=ast.Load()):
            yield f"{OPEN}{said(second)}, {said(first)}{CLOSE}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if sharper := SHARPER.get(type(op)):
                yield f"{text(left)} {sharper} {text(right)}"
        case ast.BinOp(left=left, op=op, right=right):
            yield from sums(node, left, op, right)
        case ast.Attribute(value=inner, attr="T" | "mT"):
            yield text(inner)
        case ast.Attribute(value=inner, attr=name) if name in SWAPS:
            yield f"{text(inner)}.{SWAPS[name]}"
        case ast.Call(func=function, args=arguments):
            if isinstance(function, ast.Attribute) and function.attr in LEFT_OUT:
                owner = function.value
                module = isinstance(owner, ast.Name) and owner.id in MODULES
                if not module or arguments:
                    yield text(arguments[0] if module else owner)
                if function.attr in ("tril", "triu") and not node.keywords:
                    yield f"{said(node)[:-1]}, k=-1)"
            yield from rearranged(node)


def sums(
    node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr
) -> Iterator[str]:
    """Other texts for an operation with two sides."""
    one, two = text(left), text(right)
    if isinstance(op, DROPS):
        yield one
    if isinstance(op, ast.MatMult):
        yield f"{OPEN}{two} @ {one}{CLOSE}"
    if sign := SIGNS.get(type(op)):
        yield f"{OPEN}{one} {sign} {two}{CLOSE}"


def rearranged(node: ast.Call) -> Iterator[str]:
    """A call with its first arguments swapped, or with one keyword less."""
    args, keywords = list(map(said, node.args)), list(map(said, node.keywords))
    match node.args:
        case [ast.Name(), ast.Name(), *_]:
            swapped = [args[1], args[0], *args[2:], *keywords]
            yield f"{text(node.func)}({', '.join(swapped)})"
    for keyword in node.keywords:
        if keyword.arg in ("axis", "dim", "dtype"):
            less = [*args, *(one for one in keywords if one != said(keyword))]
            yield f"{text(node.func)}({', '.join(less)})"


def said(node: ast.expr | ast.keyword) -> str:
    """An expression as the student wrote it."""
    return getattr(node, "said", None) or ast.unparse(node)


def text(node: ast.expr) -> str:
    """An expression that can stand anywhere."""
    simple = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript
    simple |= ast.List | ast.ListComp
    return said(node) if isinstance(node, simple) else f"{OPEN}{said(node)}{CLOSE}"
