"""Texts that take whoever reads them a long time, as large as a submission may be.

    python -m benchmarks.greedy [SIZE]

prints the seconds that each costs a grader outside of the sandbox.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator

from autograder.course import Course
from autograder.errors import Held
from autograder.notebook.matching import match
from autograder.notebook.reading import CELL_LIMIT, MAX_BYTES, read_cells
from autograder.notebook.records import Release
from autograder.release.grading_plan import plan
from autograder.release.solutions import students_notebook
from autograder.results.feedback import safe_markdown
from autograder.results.similarity import LONGEST, similar_groups
from autograder.text import printable

NAME = "softmax"
STUB = f"def {NAME}(x):\n    pass\n"


def steps(line: str, size: int) -> str:
    """A line, again and again, each one step further to the right."""
    number = int((2 * size) ** 0.5)
    return "\n".join(" " * n + line for n in range(number))[:size]


def words(text: str) -> Callable[[int], str]:
    """A text again and again."""
    return lambda size: text * (size // len(text))


def short(text: str) -> Callable[[int], str]:
    """The same, short enough for Markdown."""
    return lambda size: words(text)(min(size, 45_000))


# the whole file
FILES: dict[str, Callable[[int], str]] = {
    "conflict marks": words("<<<<<<< a\n"),
    "conflict marks of all kinds": words("<<<<<<< a\n=======\n>>>>>>> b\n"),
    "brackets": words("["),
    "empty lists": lambda size: f"[{words('[],')(size)}[]]",
    "blank lines": lambda size: "\n" * (size - 1) + "{",
    "digits": lambda size: f'{{"cells": [{"9" * size}]}}',
    "open texts": words('"a\n'),
}
# a text cell; beside it, the answer is open
TEXTS: dict[str, Callable[[int], str]] = {
    "functions, each further right": lambda size: steps(f"def {NAME}(x):", size),
    "functions in one block": words(f"def {NAME}(x):\n"),
    "stubs": words(STUB),
    "stubs with a long end": lambda size: words(STUB)(size // 2) + " a\n" * (size // 6),
    "classes that do not end": lambda size: steps(f"class {NAME}: (", size),
    "carriage returns": words(f"def {NAME}(x):\r"),
    "pictures that do not end": words("![x](attachment:a "),
    "due dates": words("\n\n**Due: Monday, 1 May 2026, 10:00 (UTC)**\n"),
    # as long as Markdown is read
    "brackets of links": short("["),
    "links in links": short("[a]("),
    "emphasis": short("*a"),
    "headings": short("# a\n"),
    "elements": short("<div>"),
    "codes": short("```\n"),
    "formulas": short("$x_1$ "),
    "commands": short("\\\\("),
}
# many code cells: the text of one
CELLS: dict[str, Callable[[int], str]] = {
    "names of all answers": words(f"{NAME} = attention = masked_softmax = 1\n"),
    "assignments": words(f"{NAME} = 1\n"),
    "nearly a stub": lambda size: (STUB + "    pass\n" * size)[: min(size, 4_999)],
    "spaces": lambda size: " " * (size - 1) + "a",
    "lines of the course": words("import numpy as np\n\n"),
    "quotes": words("'''\"\"\""),
}
# a cell of the course that was changed
LOCKED: dict[str, Callable[[int], str]] = {
    "blank lines in a cell of the course": lambda size: "\n" * 4_999,
    "its own lines": lambda size: "import numpy as np\n\n" * 2_400,
    "lines of numbers": lambda size: "1,\n" * 4_999,
}


def submissions(untouched: dict, size: int) -> Iterator[tuple[str, bytes]]:
    """Each of them as a file of about so many bytes."""
    for name, make in FILES.items():
        yield name, make(size).encode()
    rooms = [(TEXTS, 1), (CELLS, CELL_LIMIT - 100), (LOCKED, 0)]
    for kinds, number in rooms:
        for name, make in kinds.items():
            notebook = json.loads(json.dumps(untouched))
            if number:
                source = make(int(0.9 * size / number / (1.4 if number > 1 else 1.15)))
                kind = "code" if number > 1 else "markdown"
                cell = {"cell_type": kind, "source": source, "metadata": {}}
                notebook["cells"] += [cell] * number
            for cell in [] if number else notebook["cells"]:
                about = cell["metadata"].get("nbgrader", {})
                if not about.get("solution"):
                    cell["source"] = make(size)
            yield name, json.dumps(notebook).encode()


def seconds(release: Release, data: bytes) -> tuple[float, str]:
    """How long everything takes that reads one, and what comes of it."""
    start, said = time.process_time(), "read"
    try:
        cells = match(release, read_cells(data)).cells
        for cell in cells:
            if cell.cell_type == "markdown":
                safe_markdown({}, cell.source)
        extra = {str(n): c.source for n, c in enumerate(cells) if c.kind == "extra"}
        texts = {name: printable(extra[name][:LONGEST]) for name in list(extra)[:3]}
        similar_groups({"ada": texts, "eve": texts}, dict.fromkeys(texts, ""), 0.9)
    except Held as held:
        said = str(held)[:60]
    return time.process_time() - start, said


def prepared() -> tuple[dict, Release]:
    """The students' notebook of the first assignment, and its release."""
    course = Course.find()
    assignment = course.chosen(["01-attention"])[0]
    return students_notebook(course, assignment), plan(course, assignment)


def main() -> None:
    """Print a line for each."""
    size = int(sys.argv[1]) if sys.argv[1:] else MAX_BYTES - 100_000
    untouched, release = prepared()
    for name, data in submissions(untouched, size):
        used, said = seconds(release, data)
        print(f"{used:7.1f} s  {len(data) / 1e6:5.1f} MB  {name}: {said}", flush=True)


if __name__ == "__main__":
    main()
