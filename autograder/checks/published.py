"""Lookup of published code: the source of a right function, by its name.

Checks compare with such functions, and grading puts one in place of a wrong helper.
The text is cut out of the course's library module, which cannot be imported everywhere:
it may need a library that the exercise page does not have.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import re
from collections.abc import Iterable
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from autograder import registry
from autograder.text import lines_of


def module_file(name: str) -> Path:
    """The file of a library module; other packages may have the same name."""
    return registry.library()[name]


def books_of(sources: Iterable[str]) -> tuple[str, ...]:
    """The library modules that some code imports, and those that these import."""
    found: list[str] = []
    todo = list(sources)
    while todo:
        text = todo.pop()
        for name in registry.library().keys() - set(found):
            if re.search(rf"^\s*(?:import|from) {name}\b", text, re.MULTILINE):
                found.append(name)
                todo.append(module_file(name).read_text(encoding="utf-8"))
    return tuple(sorted(found))


class BookModules(importlib.abc.MetaPathFinder):
    """Finder of library modules: by their files, whatever else has their names."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = names

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> ModuleSpec | None:
        if name not in self.names:
            return None
        return importlib.util.spec_from_file_location(name, module_file(name))


@cache
def definitions(file: Path) -> tuple[str, dict[str, str]]:
    """The imports of a module, and its functions and classes by name."""
    text = file.read_text(encoding="utf-8")
    lines = lines_of(text)
    imports, found = [], {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
    return "\n".join(imports), found


def constant(module: str, name: str) -> Any:
    """A constant of a library module, which need not be imported for it.

    Raises KeyError where the module assigns no such name.
    """
    for node in ast.parse(module_file(module).read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return ast.literal_eval(node.value)
    raise KeyError(f"{module}.{name}")


@cache
def source(name: str, short: str = "") -> str:
    """A program that defines ``name``, with all that it uses.

    Where no published module has one, it is the one that the visible checks of
    assignment ``short`` compare with. Raises KeyError for a name that none defines.
    """
    files = [module_file(module) for module in registry.published()]
    if folder := registry.folder_of(short) if short else None:
        files.append(folder / "visible" / "cases.py")
    pairs = map(definitions, filter(Path.is_file, files))
    imports, found = next((pair for pair in pairs if name in pair[1]), ("", {}))
    needed = {name: found[name]}
    words: set[str] = set()
    todo = [name]
    while todo:
        tree = ast.walk(ast.parse(found[todo.pop()]))
        used = {node.id for node in tree if isinstance(node, ast.Name)}
        words |= used
        new = sorted(used & found.keys() - needed.keys())
        needed |= {one: found[one] for one in new}
        todo += new
    lines = [line for line in imports.splitlines() if line.split()[-1] in words]
    return "\n\n\n".join(["\n".join(lines), *needed.values()]) + "\n"


def defined(program: str, name: str) -> Any:
    """What a program has under ``name`` when it has run, by itself."""
    names: dict[str, Any] = {"__name__": "published"}
    exec(compile(program, f"<{name}>", "exec", dont_inherit=True), names)
    return names[name]


def published(name: str, short: str = "") -> Any:
    """The published function or class of that name, made from its source."""
    return defined(source(name, short), name)
