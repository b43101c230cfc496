"""How many minutes a chapter takes: one formula for all of them.

    python book/minutes.py [--write]

prints what each chapter has, and the minutes that its head must name. With --write
they are written there, and into the totals and plans of index.md and a-term.md. A
reader is taken to read 200 words and 12 lines of code a minute, without what is folded,
and to spend a minute on each question of a quiz, on each displayed formula and on each
blank; to this comes the time that cells run.
"""

import argparse
import re
from typing import NamedTuple

import nbformat
import notebooks
from nbformat import NotebookNode

WORDS_A_MINUTE, LINES_A_MINUTE = 200, 12
FOLDED = {"hide-input", "hide-cell"}  # tags of code that a page shows on request
RUNNING: dict[str, int] = {}  # minutes on two cores, of the chapters that train longer
HEAD = re.compile(r"\bAbout (\d+) minutes\b")
# what is in a text cell and is not read as prose, line by line or as a whole
NOT_PROSE = [
    re.compile(r"<(div|[a-z]+-[a-z]+)\b.*?</\1>", re.DOTALL),  # elements of ours
    re.compile(r"^(`{3,}|~{3,})\{math\}.*?^\1", re.DOTALL | re.MULTILINE),
    re.compile(r"!\[[^\]]*\]\([^)]*\)"),
    re.compile(r"^\$\$.*?\$\$", re.DOTALL | re.MULTILINE),
    re.compile(r"^(`{3,}.*|:{3,}.*|:[\w-]+:.*|\([\w-]+\)=)$", re.MULTILINE),
]
FORMULA = re.compile(r"^\$\$.*?\$\$|^`{3,}\{math\}", re.DOTALL | re.MULTILINE)
BLANK = re.compile(r"^[^#\n]*\.\.\.[ \t]*(#.*)?$", re.MULTILINE)


class Size(NamedTuple):
    """What a chapter has: words, code, formulas, questions, boxes of claims."""

    words: int
    cells: int
    lines: int
    formulas: int
    questions: int
    boxes: int


def chapters() -> list[str]:
    """The names of all chapters, in alphabetical order."""
    return sorted(path.stem for path in notebooks.TEXT.glob("*.md"))


def prose(text: str) -> str:
    """What one reads of a text cell: no quizzes, displayed formulas, directives."""
    for pattern in NOT_PROSE:
        text = pattern.sub("", text)
    return text


def folded(cell: NotebookNode) -> bool:
    """Whether a page shows the code of a cell on request only."""
    return bool(FOLDED & {*cell.metadata.get("tags", [])})


def measure(notebook: NotebookNode) -> Size:
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    cells = notebooks.code_cells(notebook)
    codes = [cell.source for cell in cells if not folded(cell)]
    return Size(
        words=sum(len(prose(text).split()) for text in texts),
        cells=len(cells),
        lines=sum(bool(line.strip()) for code in codes for line in code.split("\n")),
        formulas=sum(len(FORMULA.findall(text)) for text in texts),
        questions=sum(text.count('<div class="quiz') for text in texts)
        + sum(len(BLANK.findall(code)) for code in codes),
        boxes=sum(text.count(":class: myth") for text in texts),
    )


def minutes(chapter: str, size: Size) -> int:
    """Rounded to five, as nobody's reading is more exact."""
    reading = size.words / WORDS_A_MINUTE + size.lines / LINES_A_MINUTE
    total = reading + size.formulas + size.questions + RUNNING.get(chapter, 1)
    return max(5, 5 * round(total / 5))


def named(notebook: NotebookNode) -> int | None:
    """The minutes that stand in the head of the chapter."""
    head = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    found = HEAD.search(head.source)
    return int(found[1]) if found else None


def chapter_minutes() -> dict[str, int]:
    """By chapter, computed."""
    return {
        name: minutes(name, measure(notebooks.read_text(name))) for name in chapters()
    }


def exercise_minutes() -> dict[str, int]:
    """By assignment of a chapter, from its first cell; the cards add up to it."""
    found = {}
    for path in sorted(notebooks.BOOK.parent.glob("solutions/*/*.ipynb")):
        if not list(notebooks.TEXT.glob(f"{path.parent.name[:2]}-*.md")):
            continue
        first = nbformat.read(path, as_version=4).cells[0].source
        found[path.parent.name] = int(re.search(r"About (\d+) minutes", first)[1])
    return found


def write() -> None:
    """Put the minutes where readers look for them."""
    read, solve = chapter_minutes(), exercise_minutes()
    for name, count in read.items():
        path = notebooks.TEXT / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(HEAD.sub(f"About {count} minutes", text, count=1), "utf-8")

    def plan(row: re.Match) -> str:
        names = re.findall(r"\(([\w-]+)\.ipynb\)|`([\w-]+)`", row[0])
        total = sum(read.get(name) or solve[task] for name, task in names)
        return row[1] + (
            f"{round(total / 30) / 2:.1f}" if "." in row[2] else f"{total}"
        )

    hours = [round(sum(each.values()) / 60) for each in (read, solve)]
    for name in "index", "a-term":
        path = notebooks.BOOK / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        text = re.sub(r"^(\|.*\.ipynb\).*\| )([\d.]+)(?= \|$)", plan, text, flags=re.M)
        totals = "warm-up take about {} hours, the exercises about {} hours"
        text = re.sub(totals.format(r"\d+", r"\d+"), totals.format(*hours), text)
        path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="into heads and plans")
    if parser.parse_args().write:
        write()
    heads = "words cells lines formulas questions boxes minutes (in its head)"
    print(f"{'chapter':26} {heads}")
    for chapter in chapters():
        notebook = notebooks.read_text(chapter)
        size = measure(notebook)
        print(
            f"{chapter:26} {size.words:5} {size.cells:5} {size.lines:5} "
            f"{size.formulas:8} {size.questions:9} {size.boxes:5} "
            f"{minutes(chapter, size):7} ({named(notebook)})"
        )


if __name__ == "__main__":
    main()
