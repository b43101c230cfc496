"""The practice file: the same four parts and checks, without a notebook."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course import Course
from autograder.sample_class import reference_answers

ROOT = Path(__file__).parents[2]
FILE = ROOT / "exercises" / "attention_practice.py"
SOURCES = ["01-attention", "03-multi-head", "04-masking", "05-positional-encoding"]


def practice(folder, text, *parts):
    path = folder / FILE.name
    path.write_text(text)
    return subprocess.run(
        [sys.executable, str(path), *parts],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"MPLBACKEND": "agg", "PYTHONPATH": str(ROOT), "PATH": ""},
    )


@pytest.fixture(scope="module")
def solved():
    """The file with the reference answers, each in the place of its stub."""
    course, text = Course(ROOT), FILE.read_text()
    answers = {}
    for assignment in course.chosen(SOURCES):
        answers |= reference_answers(assignment)
    for name in re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE):
        if name in answers:
            stub = rf"^(?:def|class) {name}\b.*?(?=^(?:def|class|#) )"
            code = answers[name].rstrip() + "\n\n\n"
            if name == "causal_mask":  # the reference answer of part 3 uses it
                code = answers["masked_softmax"].rstrip() + "\n\n\n" + code
            text = re.sub(
                stub, lambda _, code=code: code, text, flags=re.MULTILINE | re.DOTALL
            )
    return "import math\n" + text


def test_an_untouched_file_has_no_answers_yet(tmp_path):
    run = practice(tmp_path, FILE.read_text())
    assert run.returncode == 1
    assert run.stdout.count("no answer yet") == 10
    assert "Traceback" not in run.stdout + run.stderr


def test_right_answers_hold_and_are_shown(tmp_path, solved):
    run = practice(tmp_path, solved, "1", "2", "3", "4")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "upper triangle is 0: True" in run.stdout


def test_a_wrong_answer_is_explained(tmp_path, solved):
    upper = "\ndef causal_mask(n):\n    return np.triu(np.ones((n, n), dtype=bool))\n"
    text = solved.replace("\nPARTS = {", upper + "\n\nPARTS = {")
    run = practice(tmp_path, text, "3")
    assert run.returncode == 1
    assert "causal_mask, visible check" in run.stdout


def test_an_unknown_part_is_refused(tmp_path):
    run = practice(tmp_path, FILE.read_text(), "5")
    assert run.returncode == 2
    assert "There is no part 5" in run.stdout
