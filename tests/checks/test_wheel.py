"""What students install holds the visible checks, and nothing hidden."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.checks.surroundings import BOOK_MODULES
from autograder.tools.judging import catalog_of, packages

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "autograder"
INSTRUCTORS = {"catalog.py", "hidden.py", "hunt.py", "outcomes.py"}
INSTRUCTORS |= {"tensors.py"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def is_library(path):
    """Whether chapters and exercises import it."""
    return path.stem in BOOK_MODULES


def test_the_wheel_holds_what_students_need_and_nothing_else(wheel):
    kept = [*PACKAGE.glob("*.py"), *PACKAGE.glob("notebook/*.py")]
    kept += [p for p in PACKAGE.glob("checks/**/*.py") if p.name not in INSTRUCTORS]
    kept += PACKAGE.glob("checks/*/known.json")  # names of mistakes, without their code
    expected = [path.relative_to(ROOT).as_posix() for path in kept]
    expected += [path.name for path in (ROOT / "book").glob("*.py") if is_library(path)]
    expected += [
        f"autograder/{path.relative_to(ROOT)}"
        for path in ROOT.glob("exercises/*/*.ipynb")
    ]
    files = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert sorted(files) == sorted(expected)


def test_no_word_of_a_hidden_check_is_in_the_wheel(wheel):
    text = "".join(wheel.read(name).decode() for name in wheel.namelist())
    for secret in ("Mistake(", ".wrong(", "BEGIN SOLUTION", "Hidden(", "def oracle_"):
        assert secret not in text


def test_no_code_of_a_catalog_is_in_the_wheel(wheel):
    """What a mistake or another right way returns is not to be read there."""
    names = [n for n in wheel.namelist() if "autograder/checks/" in n]
    text = "".join(wheel.read(name).decode() for name in names)
    found = []
    for package in packages():
        catalog = catalog_of(package)
        found += [s for s in catalog.differences.values() if s in text]
        wrong = [*catalog.misconceptions, *catalog.variants]
        for entry in [*wrong, *catalog.styles]:
            lines = [line.strip() for line in entry.code.splitlines()]
            body = [line for line in lines if "return" in line and len(line) > 25]
            found += [(entry.id, line) for line in body if line in text]
    assert not found
