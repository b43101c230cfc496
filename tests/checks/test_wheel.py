"""What students install holds the visible checks, and nothing hidden."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.checks.surroundings import BOOK_MODULES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "autograder"
INSTRUCTORS = {"catalog.py", "hidden.py", "hunt.py", "tensors.py"}


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
    for secret in ("Misconception(", "BEGIN SOLUTION", "Hidden(", "def oracle_"):
        assert secret not in text
