"""A class of 300 with ten odd files in it: what it costs, and whom it touches.

    python -m benchmarks.odd_class [STUDENTS]

Collects and grades one assignment in a folder of its own. Prints seconds and memory,
and ends with 1 if a right notebook beside the ten lost a point.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from autograder.cli import main
from autograder.course import CONFIG, Course
from autograder.release.sample_class import reference_answers, solved
from autograder.release.solutions import notebook_text, students_notebook

NAME = "01-attention"
QUEUE = """import queue, threading
todo, done = queue.Queue(), queue.Queue()
def work():
    while True: done.put(todo.get())
threading.Thread(target=work, daemon=True).start()
def softmax(x, axis=-1):
    todo.put(x)
    return done.get()"""
CELLS = {  # run last in a notebook that is right otherwise, or as its softmax
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(999)",
    "forks": "import os\nwhile True: os.fork()",
    "locks": "import fcntl\nf = open('a', 'w')\nfor i in range(300000):\n"
    "    fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * i)",
    "memory": "kept = []\nwhile True: kept.append(bytearray(10**7))",
    "queue": QUEUE,
    "zeros": "print('0.0 ' * 3_000_000)",
}


def with_cell(right: str, source: str) -> str:
    """The notebook with one more cell, or with another ``softmax``."""
    notebook = json.loads(right)
    if "def softmax" in source:
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "softmax":
                cell["source"] = source
        return json.dumps(notebook)
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    notebook["cells"].append({**cell, "id": "last", "execution_count": None})
    return json.dumps(notebook)


def write(path: Path, right: str, students: int) -> list[str]:
    """The archive; the names of the students whose notebooks are right."""
    names = [f"student-{n:03}" for n in range(students - 10)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(f"{name}/attention.ipynb", right)
        for name, source in CELLS.items():
            archive.writestr(f"odd-{name}/attention.ipynb", with_cell(right, source))
        archive.writestr("odd-spaces/attention.ipynb", right + " " * 100_000_000)
        archive.writestr("odd-model/model.pt", bytes(100_000_000))
        archive.writestr("odd-path/../../attention.ipynb", right)
        archive.writestr("odd-locked/attention.ipynb", right)
        archive.filelist[-1].flag_bits |= 1
    return names


def run(students: int) -> int:
    course = Course.find(Path(__file__).parent)
    assignment = course.chosen([NAME])[0]
    released = json.loads(notebook_text(students_notebook(course, assignment)))
    right = solved(released, reference_answers(assignment))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(course.root / CONFIG, folder)
        shutil.copytree(course.solutions / NAME, Path(folder, "solutions", NAME))
        names = write(Path(folder, "all.zip"), right, students)
        os.chdir(folder)
        for command in (["collect", "all.zip"], ["grade", "--json", "all.json"]):
            began = time.monotonic()
            main(command)
            own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(
                f"{command[0]}: {time.monotonic() - began:.0f} s, {own} MB", flush=True
            )
        found = json.loads(Path("all.json").read_text("utf-8"))["submissions"]
        os.chdir("/")
    score = {one["student"]: (one["status"], one["score"]) for one in found}
    best = max(points or 0.0 for _, points in score.values())
    touched = [name for name in names if score.get(name) != ("graded", best)]
    print({name: one for name, one in score.items() if name.startswith("odd")})
    print(f"{len(names)} right notebooks, {len(touched)} of them touched {touched[:5]}")
    return bool(touched)


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
