"""Assignments of other nbgrader courses, brought here by the guide alone.

    python -m benchmarks.courses COURSE/ASSIGNMENT ...

Each folder holds an assignment's notebooks as they stand in the course's ``source``.
A row says which settings of the guide it needed, and compares the points of each test
cell with those of nbgrader by itself for four submissions: the course's own solution,
the notebook as released, every second answer, and answers with their numbers changed.
nbgrader runs the course's code as you, without a sandbox: look at it first.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import MetadataValidator, write
from traitlets.config import Config

from autograder.cli import main as autograder

GUIDE = Path(__file__).parents[1] / "book" / "from-nbgrader.md"
NAME = "assignment"  # whatever it is called
UNPROVEN = "--unproven"
CONFIG = "nbgrader_config.py"
INSIDE = f'c.Autograder.tests = {{"{NAME}": "inside"}}\n'
GIVEN = f'c.Autograder.given = {{"{NAME}": "all"}}\n'
STUDENTS = ("own", "empty", "half", "wrong")
MARKS = re.compile(r"^\s*### (BEGIN|END) SOLUTION.*\n?", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
Points = dict[tuple[str, str, str], float | None]  # (student, notebook, test cell)


def call(folder: Path, *command: str) -> tuple[int, str]:
    """The exit status of a command of ours, and all that it printed."""
    said = io.StringIO()
    with chdir(folder), redirect_stdout(said), redirect_stderr(said):
        return autograder(list(command)), said.getvalue()


def settings() -> str:
    """The settings of the guide's first step, without its example for a test mode."""
    block = GUIDE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    return re.sub(r"^c.Autograder.tests.*\n", "", block, flags=re.MULTILINE)


def bring(folder: Path) -> list[str]:
    """Release as the guide says; what each refusal asked for."""
    did: list[str] = []
    config = "c = get_config()\n" + settings()
    while "refused" not in did:
        (folder / CONFIG).write_text(config)
        unproven = [UNPROVEN] if UNPROVEN in did else []
        status, said = call(folder, "release", NAME, *unproven)
        if status == 0:
            break
        if "nbgrader update" in said and "update" not in did:
            update(folder / "source" / NAME)
            did.insert(0, "update")
        elif "c.Autograder.given" in said and "given" not in did:
            config += GIVEN
            did.insert(0, "given")
        elif '"inside"' in said and "inside" not in did:
            config += INSIDE
            did.insert(0, "inside")
        else:
            print(said.strip(), file=sys.stderr)
            did.append("refused" if UNPROVEN in did else UNPROVEN)
    return did


def update(folder: Path) -> None:
    """What ``nbgrader update`` does with old metadata."""
    for path in folder.glob("*.ipynb"):
        notebook = nbformat.read(path, nbformat.current_nbformat)
        write(MetadataValidator().upgrade_notebook_metadata(notebook), str(path))


def meta(cell: NotebookNode) -> dict:
    """nbgrader's metadata of a cell."""
    return cell.metadata.get("nbgrader", {})


def changed(source: str) -> str:
    """A wrong answer that runs: each number is one more."""
    return NUMBER.sub(lambda number: str(int(number[0]) + 1), source)


def answered(given: Path, source: Path, student: str) -> str:
    """What a student hands in: the released notebook with answers in its cells."""
    notebook = nbformat.read(given, nbformat.NO_CONVERT)
    solved = {
        meta(cell)["grade_id"]: MARKS.sub("", cell.source)
        for cell in nbformat.read(source, nbformat.NO_CONVERT).cells
        if meta(cell).get("solution")
    }
    answers = [c for c in notebook.cells if meta(c).get("grade_id") in solved]
    for number, cell in enumerate(answers):
        answer = solved[cell.metadata.nbgrader.grade_id]
        if student == "own" or (student == "half" and number % 2 == 0):
            cell.source = answer
        elif student == "wrong":
            cell.source = changed(answer) if cell.cell_type == "code" else answer
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT)


def hand_in(folder: Path) -> None:
    """Four submissions of each notebook, with the assignment's other files."""
    released = folder / "release" / NAME
    for student in STUDENTS:
        home = folder / "submitted" / student / NAME
        shutil.copytree(released, home)
        for given in released.glob("*.ipynb"):
            text = answered(given, folder / "source" / NAME / given.name, student)
            (home / given.name).write_text(text)


def graded_here(folder: Path) -> tuple[Points, dict[str, str]]:
    """The points of each question, and who is held, with the reason."""
    status, said = call(
        folder, "grade", NAME, "--unproven", "--workers", "1", "--json", "results.json"
    )
    if status:
        raise RuntimeError(said)
    results = json.loads((folder / "results.json").read_text())["submissions"]
    points: Points = {}
    for result in results:
        for question in result["questions"]:
            name = question["id"].rpartition("/")
            notebook = name[0] or result["notebook"]
            points[result["student"], notebook, name[2]] = question["score"]
    return points, {r["student"]: r["reason"] for r in results if r["status"] == "held"}


def graded_there(folder: Path) -> tuple[Points, Points]:
    """nbgrader's points of each test cell, and the most that it is worth."""
    tests = {
        (path.stem, meta(cell)["grade_id"])
        for path in (folder / "source" / NAME).glob("*.ipynb")
        for cell in nbformat.read(path, nbformat.NO_CONVERT).cells
        if meta(cell).get("grade") and not meta(cell).get("solution")
    }
    plain = Config()
    plain.Execute.kernel_name = "python3"  # it refuses kernels that are not there
    plain.CourseDirectory.root = str(folder)
    api = NbGraderAPI(CourseDirectory(config=plain), config=plain)
    told = api.generate_assignment(NAME, force=True, create=True)
    if not told["success"]:
        raise RuntimeError(told["log"])
    for student in STUDENTS:  # its mistakes show in the points
        api.autograde(NAME, student, force=True, create=True)
    points: Points = {}
    most: Points = {}
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        for submission in book.assignment_submissions(NAME):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    if (notebook.name, grade.name) in tests:
                        where = submission.student_id, notebook.name, grade.name
                        points[where] = grade.auto_score
                        most[where] = grade.max_score
    return points, most


def same_release(ours: Path, theirs: Path) -> bool:
    """Whether both released the same bytes."""
    return all(
        path.read_bytes() == (theirs / path.name).read_bytes()
        for path in ours.glob("*.ipynb")
    )


def row(source: Path, folder: Path) -> dict:
    """What happened with one assignment."""
    ours, theirs = folder / "ours", folder / "theirs"
    shutil.copytree(source, ours / "source" / NAME)
    found: dict = {"course": source.parent.name, "assignment": source.name}
    found["needed"] = bring(ours)
    if "refused" in found["needed"]:
        return found
    hand_in(ours)
    shutil.copytree(ours / "source", theirs / "source")
    shutil.copytree(ours / "submitted", theirs / "submitted")
    here, found["held"] = graded_here(ours)
    there, most = graded_there(theirs)
    found["bytes"] = same_release(ours / "release" / NAME, theirs / "release" / NAME)
    found["tests"] = sum(key[0] == "own" for key in most)
    found["most"] = sum(v or 0 for key, v in most.items() if key[0] == "own")
    for student in STUDENTS:
        keys = [key for key in most if key[0] == student]
        found[student] = [sum(one.get(k) or 0 for k in keys) for one in (here, there)]
    found["cells"] = len(most)
    found["differ"] = [
        (*key, here.get(key), there[key])
        for key in sorted(most)
        if abs((here.get(key) or 0) - (there[key] or 0)) > 1e-9
    ]
    return found


def main() -> None:
    """A line of JSON for each assignment."""
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = row(Path(name).resolve(), Path(folder))
            except Exception as error:  # the others go on
                found = {"assignment": name, "failed": str(error)[-3000:]}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
