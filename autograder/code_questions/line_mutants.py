"""One-line mutants of an answer, for quizzes that ask what a changed line would do.

They take another axis, drop an operation or swap a name. Each replaces a span of the
source text, so the rest of the line reads as the student wrote it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder.text import lines_of

PAIRS = (
    "tril triu, max min, amax amin, maximum minimum, sum mean, zeros ones, sin cos, "
    "zeros_like ones_like, any all, argmax argmin, var std, concatenate stack"
)
SWAPS = dict(pair.split() for pair in PAIRS.split(", "))
SWAPS |= {new: old for old, new in SWAPS.items()} | {"cat": "stack"}
LEFT_OUT = {"sqrt", "log", "exp", "square", "abs", "swapaxes", "transpose", "unsqueeze"}
LEFT_OUT |= {"tril", "triu", "flatten", "reshape", "view", "softmax", "log_softmax"}
MODULES = ("np", "numpy", "torch", "math")
OPERATORS = "Lt LtE, Gt GtE, Eq NotEq, Is IsNot, Add Sub, Mult Div"
OTHER: dict[type, Any] = {
    getattr(ast, one): getattr(ast, other)()
    for pair in OPERATORS.split(", ")
    for one, other in (pair.split(), pair.split()[::-1])
}
DROPS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.BitAnd)
Node = ast.expr | ast.stmt


@dataclass(frozen=True)
class Change:
    """A line as it is and as it might be, and the whole source with it."""

    number: int
    old: str
    new: str
    source: str


def changes(source: str) -> list[Change]:
    """All changes of the functions in a source that can still be parsed."""
    lines, tree = lines_of(source), ast.parse(source)
    seen, found = {"", ast.dump(tree)}, []
    for node, other in edits(tree):
        number = node.lineno
        if node.end_lineno != number:
            continue
        old = lines[number - 1].encode()
        before, after = (
            part.decode()
            for part in (old[: node.col_offset], old[node.end_col_offset :])
        )
        text = ast.unparse(other)
        bare, enclosed = (
            "\n".join([*lines[: number - 1], f"{before}{new}{after}", *lines[number:]])
            for new in (text, f"({text})")
        )
        meant = parsed(enclosed if isinstance(other, ast.expr) else bare)
        if meant not in seen:
            seen.add(meant)
            whole = bare if parsed(bare) == meant else enclosed
            new = whole.split("\n")[number - 1].strip()
            found.append(Change(number, lines[number - 1].strip(), new, whole))
    return found


def parsed(source: str) -> str:
    """What a source means, as text; empty where it is no Python."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""


def edits(tree: ast.Module) -> Iterator[tuple[Node, Node]]:
    """Nodes inside of functions, with another one for each."""
    for function in ast.walk(tree):
        body = function.body if isinstance(function, ast.FunctionDef) else []
        if isinstance(function, ast.Lambda):
            body = [ast.Expr(function.body)]
        for statement in body:
            if isinstance(statement, ast.Raise | ast.FunctionDef | ast.Assert):
                continue
            match statement:
                case ast.Expr(value=ast.Constant()):  # a docstring
                    continue
            negated = set()
            for node in ast.walk(statement):
                if isinstance(node, ast.stmt) and once_more(node):
                    yield node, ast.Pass()
                if isinstance(node, ast.UnaryOp):
                    negated.add(node.operand)
                if isinstance(node, ast.expr) and node not in negated:
                    for other in others(node):
                        yield node, other


def once_more(node: ast.stmt) -> bool:
    """Whether a statement gives a name another value that is made from its own."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return any(
                isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)
            )
    return isinstance(node, ast.AugAssign)


def others(node: ast.expr) -> Iterator[ast.expr]:
    """Other expressions in place of one."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(size))):
            yield ast.Constant({1: -2, 2: -1}.get(size, 1 - size))
        case ast.UnaryOp(op=ast.Invert() | ast.Not() | ast.USub(), operand=inner):
            yield inner
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant({0: 1, 1: 0}.get(value, value - 1))
        case ast.Constant(value=float(value)) if value:
            yield ast.Constant(2 * value)
        case ast.Constant(value=str(value)) if "->" in value:
            out = value.partition("->")[2]  # of einsum
            yield ast.Constant(value.replace(f"->{out}", f"->{out[:-2]}{out[:-3:-1]}"))
        case ast.Tuple(elts=[first, second], ctx=ast.Load()):
            yield ast.Tuple([second, first], ast.Load())
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in OTHER:
            yield ast.Compare(left, [OTHER[type(op)]], right)
        case ast.BinOp(left=left, op=op, right=right):
            if isinstance(op, DROPS):
                yield left
            if isinstance(op, ast.MatMult):
                yield ast.BinOp(right, op, left)
            if sign := OTHER.get(type(op)):
                yield ast.BinOp(left, sign, right)
        case ast.Attribute(value=inner, attr="T" | "mT"):
            yield inner
        case ast.Attribute(value=inner, attr=name) if name in SWAPS:
            yield ast.Attribute(inner, SWAPS[name], ast.Load())
        case ast.Call():
            yield from other_calls(node)


def other_calls(node: ast.Call) -> Iterator[ast.expr]:
    """A call that is left out, has its first arguments swapped, or a keyword less."""
    function, args, keywords = node.func, node.args, node.keywords
    if isinstance(function, ast.Attribute) and function.attr in LEFT_OUT:
        owner = function.value
        module = isinstance(owner, ast.Name) and owner.id in MODULES
        if not module or args:
            yield args[0] if module else owner
        if function.attr in ("tril", "triu") and not keywords:
            yield ast.Call(function, args, [ast.keyword("k", ast.Constant(-1))])
    match args:
        case [ast.Name() as first, ast.Name() as second, *rest]:
            yield ast.Call(function, [second, first, *rest], keywords)
    for keyword in keywords:
        if keyword.arg in ("axis", "dim", "dtype"):
            less = [one for one in keywords if one is not keyword]
            yield ast.Call(function, args, less)
