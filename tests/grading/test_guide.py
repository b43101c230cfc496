"""The guide for other courses: its commands work where only the grader is installed."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "book/other-courses.md").read_text("utf-8")
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_THERE = re.compile(r"torch|paying|nbjudge|autograder|__editable__|.*\.pth$")


@pytest.fixture(scope="module")
def python(tmp_path_factory, wheels):
    """An environment with the grader's wheel, without PyTorch or this course."""
    root, installed = tmp_path_factory.mktemp("other"), Path(pytest.__file__).parents[1]
    venv.create(root, symlinks=True)
    site = root / installed.relative_to(sys.prefix)
    for path in installed.iterdir():
        if not NOT_THERE.match(path.name):
            (site / path.name).symlink_to(path)
    zipfile.ZipFile(wheels[0]).extractall(site)
    return root / "bin/python"


def test_each_command_of_the_guide_does_what_it_says(python, tmp_path):
    where, said = tmp_path, {}
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    options = {"env": environment, "text": True, "capture_output": True}
    for language, text in BLOCK.findall(GUIDE):
        if language == "python":
            half = "visible" if ".visible" in text else "hidden"
            path = where / f"solutions/02-roots/{half}/__init__.py"
            code = path.read_text().replace("core=0.5", "core=0.4")
            path.write_text(f"{code}\n\n{text}")
            continue
        for command, verb, *words in map(str.split, text.splitlines()):
            if command == "cd":
                where /= verb
                continue
            if verb == "grade":  # who waits for an endless loop
                shutil.rmtree(where / "submitted/emil")
            run = [python, "-m", command, verb, *words]
            done = subprocess.run(run, cwd=where, **options)
            assert done.returncode == (verb == "check"), done.stdout + done.stderr
            said[verb] = done.stdout
    assert "ada: 4 of 4" in said["grade"] and "4 graded, 0 held" in said["grade"]
    assert "5 seeds: all entries pass" in said["try"] and "0 of 1" in said["check"]
    names = zipfile.ZipFile(where / "dist/numerics-1.0-py3-none-any.whl").namelist()
    parts = {"exercises/02-roots/roots.ipynb", "roots/visible/__init__.py"}
    assert {f"numerics/{part}" for part in parts} < set(names)
    assert not [name for name in names if "hidden" in name or "solutions" in name]
    assert not re.search(r"attention|torch|paying", GUIDE, re.IGNORECASE)
