"""How the package's modules import each other: one way, and in no circle."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENTRY = {"__main__", "check", "cli"}  # modules of the command line
OTHERS = {"__init__", "course", "errors", "files", "libraries", "options", "registry"}
OTHERS |= {"settings", "text"}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted((ROOT / "autograder").rglob("*.py"))
}


def order() -> list[str]:
    """The rooms from the highest to the lowest, as CONTRIBUTING lists them."""
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    listed = re.search(r"the parts after it: command line, (.+?), then the", text)
    assert listed
    return ["command line", *re.findall(r"`(\w+)`", listed[1]), "all use"]


def room(module: str) -> str:
    """The package that a module is in; for those on top, what they are."""
    _, first, *more = module.split(".")
    if not more:
        assert first in ENTRY | OTHERS, f"{module} has no room in this test"
        return "command line" if first in ENTRY else "all use"
    return first


def named(module: str) -> str | None:
    """The module of ours that a dotted name means, if it means one."""
    return next((m for m in (module, f"{module}.__init__") if m in MODULES), None)


@cache
def imports(module: str) -> dict[str, bool]:
    """What a module imports of ours, functions' imports and names in texts included.

    True where it does when it runs, False for annotations alone.
    """
    tree = ast.parse(MODULES[module].read_text())
    typing = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and ast.unparse(test.test) == "TYPE_CHECKING"
        for node in ast.walk(test)
    }
    found: dict[str, bool] = {}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [one if named(one) else str(node.module) for one in inside]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "import_module"
        ):
            names = [str(getattr(one, "value", "")) for one in node.args]
        for name in filter(None, map(named, names)):
            found[name] = found.get(name, False) or id(node) not in typing
    return found


def test_every_folder_has_its_place_in_the_order():
    folders = {room(module) for module in MODULES}
    assert folders == set(order())


@pytest.mark.parametrize("name", sorted({room(module) for module in MODULES}))
def test_nothing_is_imported_from_above(name):
    height = {each: place for place, each in enumerate(reversed(order()))}
    above = [
        f"{module} imports {other}"
        for module in MODULES
        if room(module) == name
        for other in imports(module)
        if height[room(other)] > height[name]
    ]
    assert not above


def test_the_diagram_of_the_packages_is_what_the_imports_give():
    import packages

    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    shown = text.partition(packages.BEGIN)[2].partition(packages.END)[0]
    assert shown == packages.diagram(), "run python tests/packages.py --write"


def test_no_module_imports_what_imports_it():
    graph = {
        module: {other for other, runs in imports(module).items() if runs} - {module}
        for module in MODULES
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_torch_is_imported_by_its_support_alone():
    loads = re.compile(
        r"^\s*(import|from) torch\b|(modules\W+(get\W+)?|import_module\W+)torch\b", re.M
    )
    found = {room(m) for m, path in MODULES.items() if loads.search(path.read_text())}
    assert found == {"torch_support"}


def test_the_wall_imports_neither_nbgrader_nor_jupyter():
    apart = ("nbgrader", "nbformat", "nbconvert", "nbclient", "jupyter", "IPython")
    for module, path in MODULES.items():
        if module.startswith("autograder.wall."):
            tree = ast.parse(path.read_text())
            names = {
                alias.name
                for n in ast.walk(tree)
                if isinstance(n, ast.Import)
                for alias in n.names
            } | {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
            assert not [name for name in names if name.startswith(apart)], module


def test_the_sandbox_imports_nothing_of_the_judge():
    for module in MODULES:
        if module.startswith("autograder.wall.sandbox."):
            assert not [m for m in imports(module) if ".wall.judge" in m], module
