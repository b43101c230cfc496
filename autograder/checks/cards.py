"""Function signatures that an exercise asks for, from its notebook, for messages."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache

from autograder import registry


@cache
def signatures(notebook: str) -> dict[str, str]:
    """The functions and methods that an exercise asks for, as its cards write them.

    By the names of tracebacks: "softmax", "Head.__init__", "Head.forward". Empty where
    the exercise is not at hand.
    """
    found: dict[str, str] = {}
    for course in registry.courses():
        for path in course.exercises.glob(f"*/{notebook}.ipynb"):
            for cell in json.loads(path.read_text("utf-8"))["cells"]:
                if cell["metadata"].get("nbgrader", {}).get("solution"):
                    found |= dict(written("".join(cell["source"])))
    return found


def written(source: str) -> Iterator[tuple[str, str]]:
    """The signatures in the cell of an answer."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # an answer in words
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, f"{node.name}({ast.unparse(node.args)})"
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    said = f"{method.name}({ast.unparse(method.args)})"
                    yield f"{node.name}.{method.name}", said
