"""Mutation testing: the checks have to notice small errors in reference solutions.

A mutant that keeps all points survives: a check has to become sharper, unless the
catalog says why this mutant is no error. A mutant that the catalog explains and that no
longer survives is an error as well.
"""

from __future__ import annotations

import ast
import copy
import signal
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest.mock import patch

from autograder import registry
from autograder.checks.hunt import Hunt
from autograder.checks.puzzle import Exposes
from autograder.course import Assignment
from autograder.release.sample_class import reference_answers
from autograder.tools.judging import catalog_of, judge

SECONDS = 5

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
CONSTANTS = {0: (1,), 1: (0, 2), 2: (1, 3), 10000: (1000,)}
TRANSPOSES = ("T", "mT")
TRANSPOSING = ("swapaxes", "transpose", "moveaxis", "permute", "contiguous")


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one small error, in each way we know."""
    if isinstance(node, ast.BinOp | ast.BoolOp):
        for op in OPERATORS.get(type(node.op), ()):
            yield changed(node, op=op())
    elif isinstance(node, ast.Compare):
        for op in OPERATORS.get(type(node.ops[0]), ()):
            yield changed(node, ops=[op(), *node.ops[1:]])
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield changed(node, value=not node.value)
        elif isinstance(node.value, int | float):
            for value in CONSTANTS.get(node.value, ()):  # type: ignore[arg-type]
                yield changed(node, value=value)
    elif isinstance(node, ast.Attribute) and node.attr in TRANSPOSES:
        yield node.value
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in TRANSPOSING:
            yield node.func.value
        if len(node.args) > 1 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
            first, second, *rest = node.args
            yield changed(node, args=[second, first, *rest])
        for number in range(len(node.keywords)):
            kept = node.keywords[:number] + node.keywords[number + 1 :]
            yield changed(node, keywords=kept)
    elif isinstance(
        node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return
    ) and not isinstance(node.value, ast.Constant):  # docstrings stay
        yield ast.copy_location(ast.Pass(), node)


def changed(node: ast.AST, **fields: object) -> ast.AST:
    twin = copy.copy(node)
    for name, value in fields.items():
        setattr(twin, name, value)
    return twin


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every place of a tree where a node stands: parent, field, index, node."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns"):
                continue
            for index, node in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(node, ast.AST):
                    yield (
                        parent,
                        field,
                        index if isinstance(value, list) else None,
                        node,
                    )


def put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def mutants(code: str) -> Iterator[tuple[str, str]]:
    """Each mutant's name, "old line -> new line", and its code."""
    tree = ast.parse(code)
    plain = ast.unparse(tree).splitlines()
    for parent, field, index, node in list(places(tree)):
        for variant in variants(node):
            put(parent, field, index, variant)
            mutant = ast.unparse(ast.fix_missing_locations(tree))
            put(parent, field, index, node)
            pairs = zip(plain, mutant.splitlines(), strict=False)
            old, new = next(((a, b) for a, b in pairs if a != b), (plain[-1], "gone"))
            yield f"{old.strip()} -> {new.strip()}", mutant


def too_long(*_: object) -> None:
    raise TimeoutError


def points_of(package: ModuleType, name: str, answer: Any) -> float:
    """The points alone: naming the misconception takes long and is not needed."""
    question = package.assignment.questions[name]
    with patch.object(question, "diagnose", lambda _: None):
        return judge(package, name, answer)[0]


def survives(
    package: ModuleType, question: str, namespace: dict[str, Any], code: str
) -> bool:
    """Whether the mutant keeps all points, within the limit of processor time."""
    names = dict(namespace)
    signal.signal(signal.SIGPROF, too_long)
    # again, and sooner, for each check that loops
    signal.setitimer(signal.ITIMER_PROF, SECONDS, SECONDS / 5)
    try:
        exec(compile(code, f"<{question}>", "exec"), names)
        points = points_of(package, question, names[question])
    except Exception:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return points == package.assignment.questions[question].points


def run(assignment: Assignment) -> tuple[int, list[tuple[str, str]], list[str]]:
    """How many mutants were killed, the equivalent ones, and what nobody explained."""
    package = registry.checks_of(assignment.notebook)
    catalog = catalog_of(package)
    answers = reference_answers(assignment)
    namespace: dict[str, Any] = {"__name__": "mutant"}
    exec("\n\n".join([catalog.prelude, *answers.values()]), namespace)
    killed, equivalent, unknown = 0, [], []
    for question, code in answers.items():
        if question not in package.assignment.questions:
            continue
        hidden = getattr(package.hidden, question)
        if isinstance(hidden, Hunt) or isinstance(hidden.question.checks[0], Exposes):
            continue  # with another number in it, it is another good check, or input
        if not survives(package, question, namespace, code):
            unknown.append(f"{question}: the reference itself")
            print(f"  loses points: {unknown[-1]}", flush=True)
            answers_here = dict(namespace)
            exec(code, answers_here)
            _, message, _ = judge(package, question, answers_here[question])
            print(f"    {message}", flush=True)
        for name, mutant in mutants(code):
            if not survives(package, question, namespace, mutant):
                killed += 1
            elif (question, name) in catalog.equivalents:
                equivalent.append((question, name))
            else:
                unknown.append(f"{question}: {name}")
                print(f"  survives: {unknown[-1]}", flush=True)
    for question, name in catalog.equivalents.keys() - set(equivalent):
        unknown.append(f"{question}: {name}")
        print(f"  explained, but no survivor: {unknown[-1]}", flush=True)
    return killed, equivalent, unknown


def report(assignment: Assignment) -> list[str]:
    """Print the numbers of an assignment; what nobody explained."""
    killed, equivalent, unknown = run(assignment)
    print(
        f"{assignment.name}: {killed} mutants killed, "
        f"{len(equivalent)} equivalent, {len(unknown)} unknown",
        flush=True,
    )
    return unknown
