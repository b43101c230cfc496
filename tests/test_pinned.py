"""Pinned means pinned: what is imported is named, and what is installed is locked."""

import ast
import os
import re
import subprocess
import sys
import sysconfig
from functools import cache
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from urllib.request import urlopen

import pytest
from packaging import tags, utils
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("autograder", "book", "tests", "benchmarks")
ELSEWHERE = {"paying_attention", "pyodide"}  # the course; there in the page only
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SEED = {"pip", "setuptools"}  # every environment starts with them
FOR_GPUS = ("nvidia-", "cuda-", "triton")  # come with PyTorch's build for GPUs


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(name):
    """What a file of requirements names for this Python."""
    for line in (ROOT / name).read_text().splitlines():
        if re.match(r"[\w.-]+(?:\[\w+\])?==", line):
            one = Requirement(line.partition(" #")[0])
            if one.marker is None or one.marker.evaluate():
                yield one


def pins(name):
    """The versions that a file of requirements names for this Python."""
    return {
        plain(one.name): str(one.specifier).removeprefix("==") for one in pinned(name)
    }


@cache
def installed():
    """What lies in this environment: name, version, and the Pythons that it wants."""
    every = distributions(path=[sysconfig.get_path("purelib")])
    about = [found.metadata for found in every]
    return [(m["Name"], m["Version"], m.get("Requires-Python") or "") for m in about]


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
    for one in pinned("requirements.txt"):
        if one.marker is None:  # else it is for a Python that the lock was not made on
            assert f"=={locked.get(plain(one.name))}" == str(one.specifier), one.name


def test_what_is_installed_is_what_the_lock_says():
    locked = pins("requirements.lock") | pins("requirements-model.txt")
    locked |= pins("requirements.txt")
    for name, version, _ in installed():
        name, version = plain(name), version.removesuffix("+cpu")
        if name in {*SEED, "nbjudge", "paying-attention"} or name.startswith(FOR_GPUS):
            continue
        assert locked.get(name) == version, f"{name} {version}: make lock"


@pytest.mark.parametrize("python", PYTHONS)
def test_what_is_locked_says_that_it_runs_on_every_python_that_we_name(python):
    """Debian 12 has 3.11.2: a version that wants more has a marker, and another one."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    marked = {plain(line.partition("==")[0]) for line in lines if ";" in line}
    for name, _, wants in installed():
        fits = SpecifierSet(wants).contains(f"{python}.0") or plain(name) in marked
        assert fits, f"{name} wants Python {wants}"


def binary_pins():
    """What the lock pins and is built for one Python and one machine, as installed."""
    for found in distributions(path=[sysconfig.get_path("purelib")]):
        wheel = found.read_text("WHEEL") or ""
        if "Root-Is-Purelib: false" in wheel and plain(found.name) in pins(
            "requirements.lock"
        ):
            yield plain(found.name), found.version.removesuffix("+cpu")


@cache
def offered(name):
    """The names of the wheels that the index has of a package."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    own = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    index = os.environ.get("PIP_INDEX_URL") or own or "https://pypi.org/simple"
    try:
        with urlopen(f"{index.rstrip('/')}/{name}/", timeout=60) as answer:
            page = answer.read().decode()
    except OSError as error:
        pytest.skip(f"no package index: {error}")
    return set(re.findall(r">\s*([^<>\s]+\.whl)\s*<", page))


@pytest.mark.long  # it asks the package index
@pytest.mark.parametrize("python", PYTHONS)
def test_a_wheel_of_every_pin_can_be_had_for_each_python(python):
    number = tuple(map(int, python.split(".")))
    machines = [f"manylinux_2_{n}_x86_64" for n in range(36, 4, -1)]
    machines += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
    fit = {*tags.cpython_tags(number, platforms=machines)}
    fit |= {*tags.compatible_tags(number, f"cp{number[0]}{number[1]}", machines)}
    missing, seen = [], list(binary_pins())
    for name, version in seen:
        wheels = [utils.parse_wheel_filename(file) for file in offered(name)]
        if not any(str(v) == version and fit & kinds for _, v, _, kinds in wheels):
            missing.append(f"{name} {version}")
    assert len(seen) > 20 and not missing


def test_the_files_of_make_quick_are_there():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (listed,) = re.findall(r"^QUICK := .*?, (.*)\)$", makefile, re.M)
    assert len(listed.split()) > 10
    assert [f for f in listed.split() if not (ROOT / "tests" / f).is_file()] == []
