"""Small errors put into the reference solutions: the checks have to notice each.

    python tests/checks/mutants.py [--every N] [ASSIGNMENT ...]

A mutant that keeps all points survives. It is either listed in EQUIVALENT, with the
reason why it is right, or the command fails: a check has to become sharper.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent))

from test_catalog import judge

from autograder.course import Course
from autograder.sample_class import reference_answers

SECONDS = 5

# (question, the line and what it became) -> why it is no error
# ruff: noqa: E501
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "scaled_dot_product_attention",
        "shares = softmax(attention_scores(Q, K), axis=-1) -> "
        "shares = softmax(attention_scores(Q, K))",
    ): "-1 is the default of softmax",
    (
        "masked_softmax",
        "peak[np.isneginf(peak)] = 0 -> peak[np.isneginf(peak)] = 1",
    ): "any finite number will do",
    (
        "score_std",
        "return float(np.std(np.sum(queries * keys, axis=-1))) -> return float(np.std(np.sum(queries * keys, axis=1)))",
    ): "the array has two axes",
    (
        "split_heads",
        "return blocks.movedim(2, 1) -> return blocks.movedim(1, 2)",
    ): "neighboring axes change places",
    (
        "merge_heads",
        "return x.movedim(1, 2).flatten(start_dim=2) -> return x.movedim(2, 1).flatten(start_dim=2)",
    ): "neighboring axes change places",
    (
        "sentence_embedding",
        "average = total / mask.sum(dim=1, keepdim=True) -> average = total * mask.sum(dim=1, keepdim=True)",
    ): "the norm divides a positive factor out",
    (
        "sentence_embedding",
        "return average / average.norm(dim=-1, keepdim=True) -> return average / average.norm(dim=1, keepdim=True)",
    ): "the array has two axes",
    (
        "entropy",
        "harmless = np.where(weights > 0, weights, 1) -> harmless = np.where(weights > 0, weights, 2)",
    ): "the logarithm is multiplied by 0",
    (
        "plot_saturation",
        "_, ax = plt.subplots(layout='constrained') -> _, ax = plt.subplots()",
    ): "a matter of taste",
    (
        "plot_saturation",
        "ax.set(xscale='log', xlabel='width d_k', ylabel='mean largest weight') -> ax.set(xlabel='width d_k', ylabel='mean largest weight')",
    ): "the axis may be linear",
    (
        "plot_saturation",
        "powers = np.exp((scores - scores.max(-1, keepdims=True)) / divisor) -> powers = np.exp((scores - scores.max(1, keepdims=True)) / divisor)",
    ): "the array has two axes",
    (
        "plot_saturation",
        "largest[name].append(np.mean(1 / powers.sum(-1))) -> largest[name].append(np.mean(1 / powers.sum(1)))",
    ): "the array has two axes",
    (
        "padding_mask",
        "sizes = np.array(lengths).reshape(-1, 1, 1) -> sizes = np.array(lengths).reshape(-2, 1, 1)",
    ): "NumPy takes any negative size for the rest",
    (
        "masked_softmax",
        "total[total == 0] = 1 -> total[total == 0] = 2",
    ): "a row without a key is divided by any number",
    (
        "positional_encoding",
        "if d_model % 2 == 1: -> if d_model % 2 == 2:",
    ): "NumPy itself raises ValueError for an odd width",
    (
        "positional_encoding",
        "if d_model % 2 == 1: -> if d_model % 1 == 1:",
    ): "NumPy itself raises ValueError for an odd width",
    (
        "positional_encoding",
        "turns = np.arange(n_positions).reshape(-1, 1) / wavelengths -> turns = np.arange(n_positions).reshape(-2, 1) / wavelengths",
    ): "NumPy takes any negative size for the rest",
    (
        "plot_encoding_heatmap",
        "figure, ax = plt.subplots(layout='constrained') -> figure, ax = plt.subplots()",
    ): "a matter of taste",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, vmin=-1, vmax=1, aspect='auto')",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, cmap='RdBu_r', vmax=1, aspect='auto')",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, aspect='auto')",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1)",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_heatmap",
        "figure.colorbar(picture, ax=ax, label='value') -> figure.colorbar(picture, label='value')",
    ): "the label and the place of the color bar are free",
    (
        "plot_encoding_heatmap",
        "figure.colorbar(picture, ax=ax, label='value') -> figure.colorbar(picture, ax=ax)",
    ): "the label and the place of the color bar are free",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=2, aspect='auto')",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_heatmap",
        "picture = ax.imshow(pe, cmap='RdBu_r', vmin=-1, vmax=1, aspect='auto') -> picture = ax.imshow(pe, cmap='RdBu_r', vmin=-2, vmax=1, aspect='auto')",
    ): "colors are free as long as they span the values",
    (
        "plot_encoding_waves",
        "_, ax = plt.subplots(layout='constrained') -> _, ax = plt.subplots()",
    ): "a matter of taste",
    (
        "plot_attention",
        "figure.colorbar(picture, ax=ax, label='weight') -> pass",
    ): "no color bar is asked for",
    (
        "plot_attention",
        "figure, ax = plt.subplots(layout='constrained') -> figure, ax = plt.subplots()",
    ): "a matter of taste",
    (
        "plot_attention",
        "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = ax.imshow(weights, vmin=0, vmax=1)",
    ): "a matter of taste",
    (
        "plot_attention",
        "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = ax.imshow(weights, cmap='viridis', vmax=1)",
    ): "colors are free as long as they span the values",
    (
        "plot_attention",
        "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = ax.imshow(weights, cmap='viridis', vmin=0)",
    ): "colors are free as long as they span the values",
    (
        "plot_attention",
        "figure.colorbar(picture, ax=ax, label='weight') -> figure.colorbar(picture, label='weight')",
    ): "the label and the place of the color bar are free",
    (
        "plot_attention",
        "figure.colorbar(picture, ax=ax, label='weight') -> figure.colorbar(picture, ax=ax)",
    ): "the label and the place of the color bar are free",
    (
        "plot_attention",
        "picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=1) -> picture = ax.imshow(weights, cmap='viridis', vmin=0, vmax=2)",
    ): "colors are free as long as they span the values",
}

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
            for value in CONSTANTS.get(node.value, ()):
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
            rest = node.keywords[:number] + node.keywords[number + 1 :]
            yield changed(node, keywords=rest)
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


def points_of(package, question: str, answer: object) -> float:
    """The points alone: naming the misconception takes long and is not needed."""
    catalog = importlib.import_module(f"{package.__name__}.catalog").catalog
    with patch.object(catalog, "diagnose", lambda *_: None):
        return judge(package, question, answer)[0]


def survives(package, question: str, namespace: dict, code: str) -> bool:
    """Whether the mutant keeps all points, within the time limit."""
    names = dict(namespace)
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)  # again for each check that loops
    try:
        exec(compile(code, f"<{question}>", "exec"), names)
        points = points_of(package, question, names[question])
    except Exception:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return points == getattr(package, question).points


def run(assignment, every: int = 1) -> tuple[int, int, list[str]]:
    """How many mutants, how many equivalent ones, and the unknown survivors."""
    package = importlib.import_module(f"autograder.checks.{assignment.notebook}")
    catalog = importlib.import_module(f"{package.__name__}.catalog").catalog
    answers = reference_answers(assignment)
    namespace: dict = {"__name__": "mutant"}
    exec("\n\n".join([catalog.prelude, *answers.values()]), namespace)
    total, known, unknown = 0, 0, []
    for question, code in answers.items():
        if not hasattr(package, question):
            continue
        if not survives(package, question, namespace, code):
            unknown.append(f"{question}: the reference itself")
            print(f"  loses points: {unknown[-1]}", flush=True)
        for name, mutant in list(mutants(code))[::every]:
            total += 1
            if survives(package, question, namespace, mutant):
                if (question, name) in EQUIVALENT:
                    known += 1
                else:
                    unknown.append(f"{question}: {name}")
                    print(f"  survives: {unknown[-1]}", flush=True)
    return total, known, unknown


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    options.add_argument("--every", type=int, default=1, help="only every Nth mutant")
    given = options.parse_args()
    course = Course.find()
    failed = False
    for assignment in course.chosen(given.assignments):
        total, known, unknown = run(assignment, given.every)
        killed = total - known - len(unknown)
        print(
            f"{assignment.name}: {total} mutants, {killed} killed, "
            f"{known} equivalent, {len(unknown)} unknown",
            flush=True,
        )
        failed = failed or bool(unknown)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
