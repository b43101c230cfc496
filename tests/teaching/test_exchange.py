"""nbgrader's exchange, as on a JupyterHub, and then `autograder grade`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import wall
from autograder.cli import main

UNPROTECTED = ["--no-sandbox"] if wall.available() else []
EXCHANGE = """
c = get_config()
c.Exchange.root = {root!r}
c.CourseDirectory.course_id = "paying-attention"
"""


@pytest.fixture
def nbgrader(course, tmp_path):
    """Run an nbgrader command, as the instructor or as a student."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    config = course.root / "nbgrader_config.py"
    setting = f"c.Exchange.root = {str(exchange)!r}\n"
    config.write_text(f"{config.read_text()}\n{setting}")
    student = tmp_path / "student"
    student.mkdir()
    text = EXCHANGE.format(root=str(exchange))
    (student / "nbgrader_config.py").write_text(text)

    def run(folder: Path, *command: str) -> str:
        # the exchange knows people by the name of their account
        person = {"HOME": str(tmp_path), "JUPYTER_CONFIG_DIR": str(tmp_path / "none")}
        # nbgrader itself starts a program that lies beside it
        programs = Path(sys.executable).parent
        person["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=folder,
            env=os.environ | person,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    run.student = student
    return run


def test_what_the_exchange_collects_is_graded(course, nbgrader, right):
    assert main(["release"]) == 0
    nbgrader(course.root, "db", "assignment", "add", "01-attention")
    nbgrader(course.root, "release_assignment", "01-attention")
    nbgrader(nbgrader.student, "fetch_assignment", "01-attention")
    fetched = nbgrader.student / "01-attention" / "attention.ipynb"
    released = course.exercises / "01-attention" / "attention.ipynb"
    assert json.loads(fetched.read_text()) == json.loads(released.read_text())
    fetched.write_text(right)
    nbgrader(nbgrader.student, "submit", "01-attention")
    nbgrader(course.root, "collect", "01-attention")
    (folder,) = course.submitted.iterdir()
    assert (folder / "01-attention" / "timestamp.txt").is_file()

    assert main(["grade", "--workers", "1", "--json", "r.json", *UNPROTECTED]) == 0
    (graded,) = json.loads(Path("r.json").read_text())["submissions"]
    assert (graded["student"], graded["score"]) == (folder.name, 20.0)
