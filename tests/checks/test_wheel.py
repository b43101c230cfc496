"""What students install holds the visible checks, and nothing hidden."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ["attention.py", "minilm.py"]
MODULES = ["__init__", "__main__", "check", "cli", "course", "submission"]
LIBRARY += [f"autograder/{name}.py" for name in MODULES]
CHECKS = ["__init__", "expect", "figures", "gradients", "library", "question"]
ASSIGNMENTS = ["attention", "encoder_layer", "masking", "multi_head"]
ASSIGNMENTS += ["positional_encoding", "real_model", "scaling"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_what_students_need_and_nothing_else(wheel):
    expected = LIBRARY + [f"autograder/checks/{name}.py" for name in CHECKS]
    expected += [f"autograder/checks/{name}/__init__.py" for name in ASSIGNMENTS]
    files = [name for name in wheel.namelist() if ".dist-info/" not in name]
    assert sorted(files) == sorted(expected)


def test_no_word_of_a_hidden_check_is_in_the_wheel(wheel):
    text = "".join(wheel.read(name).decode() for name in wheel.namelist())
    for secret in ("Misconception(", "BEGIN SOLUTION", "Hidden(", "def oracle_"):
        assert secret not in text
