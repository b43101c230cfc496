"""A course folder of somebody else, graded by nbgrader and by us."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook
from shared import UNPROTECTED

from autograder.cli import main
from autograder.course import CONFIG, Course

BIN = Path(sys.executable).parent
Points = dict[tuple[str, str, str], float]  # (student, notebook, question)


class ForeignCourse:
    """A folder with a configuration of its own; the current folder."""

    def __init__(self, root: Path, config: str = "", source: str = "source") -> None:
        self.root, self.source = root, root / source
        self.config = f"c.CourseDirectory.source_directory = {source!r}\n{config}"
        self.configure()
        self.course = Course(root)

    def configure(self, more: str = "") -> None:
        """Write the configuration, with one more line perhaps."""
        text = f"c = get_config()\n{self.config}\n{more}\n"
        (self.root / CONFIG).write_text(text)

    def write(self, notebook: nbformat.NotebookNode, assignment: str, name: str):
        """Put an instructor's notebook into an assignment."""
        folder = self.source / assignment
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
        return folder

    def hand_in(self, student: str, assignment: str, name: str, text: str) -> None:
        folder = self.root / "submitted" / student / assignment
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.ipynb").write_text(text)

    def grade(self, *options: str) -> list[dict]:
        """The submissions in what --json says."""
        target = self.root / "results.json"
        command = ["grade", "--workers", "1", "--json", str(target)]
        assert main([*command, *UNPROTECTED, *options]) == 0
        content = json.loads(target.read_text())
        whole = content if isinstance(content, list) else [content]
        return [each for one in whole for each in one["submissions"]]

    def nbgrader(self, assignment: str, failing: tuple[str, ...] = ()) -> Points:
        """The points that `nbgrader autograde` gives; ours must be first.

        ``failing`` are the students whose work nbgrader cannot grade.
        """
        environment = os.environ | {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(self.root),
            "OMP_NUM_THREADS": "1",
        }
        command = [str(BIN / "nbgrader"), "autograde", assignment, "--force"]
        run = subprocess.run(
            command, env=environment, cwd=self.root, capture_output=True, text=True
        )
        failed = set(
            re.findall(r"processing assignment '.*' for student '(.*)'", run.stderr)
        )
        assert failed == set(failing), run.stderr[-3000:]
        with Gradebook(f"sqlite:///{self.root}/gradebook.db") as book:
            return {
                (submission.student_id, notebook.name, grade.name): grade.auto_score
                for submission in book.assignment_submissions(assignment)
                if submission.student_id not in failing
                for notebook in submission.notebooks
                for grade in notebook.grades
            }


def table(rows: list[tuple]) -> str:
    """Rows of short texts in columns."""
    texts = [[f"{x:g}" if isinstance(x, float) else str(x) for x in r] for r in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip()
        for row in texts
    )
