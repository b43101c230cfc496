"""Tracing of an answer as it runs: which values its lines had, how often they ran.

The answer's source is parsed and every expression in its functions is passed through
a :class:`Watch`, which notes the first value and counts. A visible check is then run on
it: the calls that the check makes are the calls that quiz questions are about.
"""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.checks.isolation import isolated, quiet, seed
from autograder.checks.question import failure_of
from autograder.code_questions.values import Seen, seen

NAME = "_watch_"
STEPS, SECONDS = 200_000, 3.0  # of one check; of processor time
CALLS = 8  # of a check that are kept
EXPRESSIONS = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.UnaryOp)
EXPRESSIONS += (ast.Attribute, ast.IfExp)  # type: ignore[assignment]
UNWATCHED = {"super", "locals", "globals", "vars", "print", "range", "len", "int"}
UNNOTED = ("annotation", "target", "targets")  # these have no value to tell
UNSET = re.compile(r"empty(_like)?\(")  # whatever was in memory before
Check = Callable[..., None]
Key = tuple[int, str]  # a line, and the name that it assigns or the expression in it


class Endless(BaseException):
    """An answer has taken too many steps. Not an Exception: few programs catch it."""


@dataclass(eq=False)
class Call:
    """A call that a check made: its arguments, and what its lines did."""

    function: str
    owner: str  # the class, of a method
    made: dict[str, Seen]  # and the arguments that its constructor had
    arguments: dict[str, Seen]
    values: dict[Key, Seen] = field(default_factory=dict)
    counts: Counter[Key] = field(default_factory=Counter)
    lines: Counter[int] = field(default_factory=Counter)
    result: Seen | None = None  # None: it was left by an exception
    error: str = ""
    place: tuple[int, int] = (0, 0)  # the numbers of the check, and of the call in it


class Watch:
    """Recorder of a run: lines, values and calls."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what was noted, and allow new steps."""
        self.steps, self.end = 0, time.process_time() + SECONDS
        self.calls: list[Call] = []
        self.made: dict[int, dict[str, Seen]] = {}
        self.depth = 0
        self.current: Call | None = None

    def line(self, number: int) -> None:
        """Count a line that is about to run. Raises Endless if there were too many."""
        self.steps += 1
        if self.steps > STEPS or time.process_time() > self.end:
            raise Endless
        if self.current:
            self.current.lines[number] += 1

    def value(self, number: int, label: str, value: Any) -> Any:
        """Record the first value of an expression, and return the value."""
        if self.current:
            key = number, label
            self.current.counts[key] += 1
            if key not in self.current.values:
                self.current.values[key] = seen(value)
        return value

    def result(self, value: Any) -> Any:
        """Record what a function returns, and return it; the call's own comes last."""
        if self.current and self.depth == 1:
            self.current.result = seen(value)
        return value

    def enter(self, function: str, names: dict[str, Any]) -> None:
        """Begin the record of a call; calls made inside it belong to it."""
        self.depth += 1
        if self.depth > 1 or len(self.calls) == CALLS:
            return
        given = {k: v for k, v in names.items() if k not in ("self", "__class__")}
        shown, own = {k: seen(v) for k, v in given.items()}, id(names.get("self"))
        owner = type(names["self"]).__name__ if "self" in names else ""
        if function == "__init__":
            self.made[own] = shown
            return
        if owner and own not in self.made:
            return  # what earlier calls have left in an object is not told
        made = self.made.pop(own, {})
        self.current = Call(function, owner, made, shown)
        self.calls.append(self.current)

    def leave(self) -> None:
        """End the record of a call."""
        self.depth -= 1
        if self.current and not self.depth:
            self.current.error = str(sys.exc_info()[1] or "")
            self.current = None


class Instrument(ast.NodeTransformer):
    """A visitor of the AST that passes all expressions of functions through a watch."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        for place, one in enumerate(node.body):
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as it):
                    body = [ast.copy_location(ast.Return(it.body), it.body)]
                    node.body[place] = ast.FunctionDef(name, it.args, [*body], [])
        return self.visit_ClassDef(node)

    def visit_ClassDef(self, node: ast.Module | ast.ClassDef) -> ast.AST:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.visit(statement)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(node)):
            return node
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        if body := [new for old in node.body[start:] for new in self.noted(old)]:
            enter = ask("enter", ast.Constant(node.name), call("locals"))
            body.append(ast.Expr(ask("result", ast.Constant(None))))  # if none is given
            guarded = ast.Try(body, [], [], [ast.Expr(ask("leave"))])
            node.body[start:] = [ast.Expr(enter), guarded]
        return node

    def visit_JoinedStr(self, node: ast.AST) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_arguments = visit_JoinedStr

    def noted(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement behind a note of its line, and before notes of its names."""
        number, names = ast.Constant(node.lineno), assigned(node)
        if UNSET.search(ast.unparse(node)):
            names = []
        given = [(ast.Constant(f"{n} ="), ast.Name(n, ast.Load())) for n in names]
        after = [ast.Expr(ask("value", number, *one)) for one in given]
        new = self.visit(node)
        if isinstance(node, ast.Return) and node.value is not None:
            node.value = ask("result", node.value)
        return [ast.Expr(ask("line", number)), new, *after]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        text = label(node)
        for name, part in ast.iter_fields(node):
            if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                part[:] = [new for old in part for new in self.noted(old)]
            elif isinstance(part, list) and name not in UNNOTED:
                part[:] = [
                    self.visit(one) if isinstance(one, ast.AST) else one for one in part
                ]
            elif isinstance(part, ast.AST) and name not in UNNOTED:
                setattr(node, name, self.visit(part))
        if not text or not isinstance(node, ast.expr):
            return node
        number = ast.Constant(node.lineno)
        return ast.copy_location(ask("value", number, ast.Constant(text), node), node)


def label(node: ast.AST) -> str:
    """The text of an expression that is worth a note; empty for others."""
    if not isinstance(node, EXPRESSIONS):
        return ""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return ""
    match node:
        case ast.Attribute(attr=name) if name not in ("T", "mT"):
            return ""
        case ast.Call(func=ast.Name(id=name)) if name in UNWATCHED:
            return ""
        case ast.UnaryOp(operand=ast.Constant() | ast.Attribute()):
            return ""
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return ""
    text = ast.unparse(node)
    return "" if UNSET.search(text) else text


def assigned(node: ast.stmt) -> list[str]:
    """The names that a statement gives a value to."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case ast.AugAssign(target=ast.Name(id=name)):
            return [name]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name]
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            return [part.id for part in parts if isinstance(part, ast.Name)]
    return []


def call(name: str) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [], [])


def ask(method: str, *arguments: ast.expr) -> ast.Call:
    """A call of a method of the watch."""
    watch = ast.Attribute(ast.Name(NAME, ast.Load()), method, ast.Load())
    return ast.Call(watch, list(arguments), [])


def defines(statement: ast.stmt, name: str) -> bool:
    """Whether a statement is part of the program; what else a cell does has been done.

    Functions are, imports, and what gives the name its value.
    """
    match statement:
        case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=targets, value=value):
            named = [one.id for one in targets if isinstance(one, ast.Name)]
            return name in named or isinstance(value, ast.Lambda)
    return False


class Watched:
    """A program whose functions are watched; ``answer`` is what it defines.

    Raises whatever the program raises when it is defined.
    """

    def __init__(self, source: str, name: str, names: dict[str, Any]) -> None:
        self.watch = Watch()
        tree = ast.parse(source)
        tree.body = [one for one in tree.body if defines(one, name)]
        tree = ast.fix_missing_locations(Instrument().visit(tree))
        space = {**names, NAME: self.watch}
        with quiet():
            exec(compile(tree, "<own code>", "exec", dont_inherit=True), space)
        self.answer = space[name]

    def tried(self, checks: Iterable[Check]) -> tuple[list[int], list[list[Call]]]:
        """The numbers of the visible checks that fail, and the calls of each check.

        Raises ValueError where one takes too long.
        """
        failed, calls = [], []
        for number, check in enumerate(checks):
            with quiet(), repeatable(), isolated():
                self.watch.begin()
                try:
                    fails = failure_of(check, self.answer) is not None
                except Endless:  # what it would come to is not known
                    raise ValueError("it takes too long") from None
            failed += [number] * fails
            calls.append(self.watch.calls)
        return failed, calls


@contextlib.contextmanager
def repeatable() -> Iterator[None]:
    """Random numbers that are the same in every run, also where no seed is given."""
    original = np.random.default_rng
    np.random.default_rng = lambda seed=None: original(0 if seed is None else seed)
    seed()
    try:
        yield
    finally:
        np.random.default_rng = original
