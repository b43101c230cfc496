"""exercises/attention_practice.py: the notebooks' questions as one file."""

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRACTICE = ROOT / "exercises" / "attention_practice.py"
PARTS = ["01-attention", "03-multi-head", "04-masking", "05-positional-encoding"]


def definitions(source):
    """The source of each function and class, by name."""
    nodes = ast.parse(source).body
    found = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    return {node.name: ast.get_source_segment(source, node) for node in found}


def cells(folder, part):
    path = next((ROOT / folder / part).glob("*.ipynb"))
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def run(path):
    command = [sys.executable, "-W", "error", str(path)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_the_file_as_it_is_says_that_every_answer_is_open():
    finished = run(PRACTICE)
    assert finished.returncode == 1, finished.stderr
    assert finished.stdout.count("no answer yet") == 11


def test_right_answers_pass(tmp_path):
    source = PRACTICE.read_text(encoding="utf-8")
    answers = []
    for part in PARTS:
        answers += [c for c in cells("solutions", part) if "autograder" not in c]
    start = source.index("PARTS = {")
    filled = tmp_path / "attention_practice.py"
    text = source[:start] + "\n\n".join(answers) + "\n\n\n" + source[start:]
    filled.write_text(text, encoding="utf-8")
    finished = run(filled)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout.count("hidden checks run after you submit") == 11
