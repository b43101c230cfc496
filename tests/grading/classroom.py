"""A course folder to grade, and what one does in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from shared import UNPROTECTED

from autograder.cli import main
from autograder.course import CONFIG, Course

ASSIGNMENT = "01-attention"


class Classroom:
    """A course folder of its own, and what one does in it."""

    def __init__(
        self, root: Path, repository: Course, assignment: str = ASSIGNMENT
    ) -> None:
        shutil.copy(repository.root / CONFIG, root / CONFIG)
        source = repository.solutions / assignment
        shutil.copytree(source, root / "solutions" / assignment)
        self.course = Course(root)
        self.root, self.assignment = root, assignment

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / ASSIGNMENT / "attention.ipynb"

    def hand_in(
        self, student: str, text: str | bytes, name: str = "attention.ipynb"
    ) -> Path:
        folder = self.root / "submitted" / student / self.assignment
        folder.mkdir(parents=True, exist_ok=True)
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(data)
        return folder

    def grade(self, *options: str) -> dict:
        """What --json says of each student after a successful `autograder grade`."""
        results = json.loads(self.graded(*options).read_text())
        return {each["student"]: each for each in results["submissions"]}

    def graded(self, *options: str) -> Path:
        """The file of --json after a successful `autograder grade`."""
        target = self.root / "results.json"
        command = ["grade", "--workers", "1", "--json", str(target)]
        assert main([*command, *UNPROTECTED, *options]) == 0
        return target

    def let_nbgrader_grade(self) -> None:
        """Without the lines that put our grader in the place of nbgrader's steps."""
        lines = (self.root / CONFIG).read_text().splitlines()
        kept = [line for line in lines if not line.startswith("c.Autograde.")]
        assert len(kept) == len(lines) - 2
        (self.root / CONFIG).write_text("\n".join(kept) + "\n")

    def autograded(self, student: str) -> dict:
        path = self.root / "autograded" / student / ASSIGNMENT / "attention.ipynb"
        return json.loads(path.read_text())
