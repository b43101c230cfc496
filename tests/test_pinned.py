"""Pinned means pinned: what is imported is named, and what is installed is locked."""

import ast
import re
import sys
import sysconfig
from importlib.metadata import distributions, packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("autograder", "book", "tests", "benchmarks")
ELSEWHERE = {"pyodide"}  # there in the page only
SEED = {"pip", "setuptools"}  # every environment starts with them


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name):
    """The versions that a file of requirements names, by distribution."""
    lines = (ROOT / name).read_text().splitlines()
    found = [re.match(r"([\w.-]+)(?:\[\w+\])?==([\w.!+]+)", line) for line in lines]
    return {plain(match[1]): match[2] for match in found if match}


def imported():
    """The top-level modules that our code imports."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    yield from (alias.name.split(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    yield (node.module or "").split(".")[0]


def test_every_package_that_we_import_is_pinned_by_name():
    named = pins("requirements.txt") | pins("requirements-model.txt")
    ours = {path.stem for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    ours |= {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*/")}
    providers = packages_distributions()
    unnamed = {
        module
        for module in set(imported()) - ours - {*FOLDERS} - sys.stdlib_module_names
        if not {plain(name) for name in providers.get(module, [])} & named.keys()
    }
    assert unnamed == ELSEWHERE


def test_the_lock_holds_every_requirement_in_its_version():
    locked = pins("requirements.lock")
    for name, version in pins("requirements.txt").items():
        assert locked.get(name) == version, name


def test_what_is_installed_is_what_the_lock_says():
    locked = pins("requirements.lock") | pins("requirements-model.txt")
    for found in distributions(path=[sysconfig.get_path("purelib")]):
        name, version = plain(found.name), found.version.removesuffix("+cpu")
        if name in SEED or name == "paying-attention" or name.startswith("nvidia"):
            continue
        assert locked.get(name) == version, f"{name} {version}: make lock"
